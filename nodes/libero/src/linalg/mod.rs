//! Small linear algebra, rounded as the reference's.
//!
//! The reference's controller inverts matrices through NumPy and Numba, that is, through
//! OpenBLAS and the LAPACK in it. Its last bits decide, after a few hundred substeps in
//! contact, where an object lies; so the order of operations is repeated here, down to
//! which of them are fused. These are the rules of OpenBLAS 0.3.30's kernels for Haswell
//! and Zen processors (`dgemm`, `dgemv`, `dger`, `dgetrf`, `dtrtri`, `dnrm2`) and of LAPACK
//! 3.12 (`dgetri`, `dgesdd` and what it calls) for the sizes that an arm needs. On other
//! processors the reference itself rounds otherwise, unless `OPENBLAS_CORETYPE=Haswell`.

mod blas;
mod extended;
mod householder;
mod inverse;
mod qr;

pub use self::{
    blas::{gemm, gemv_n, gemv_t},
    inverse::inverse,
};

use nalgebra::SMatrix;

/// The pseudo-inverse by singular values, without those below `1e-15` of the largest
/// (Numba's `pinv`).
#[inline(always)]
pub fn pseudo_inverse<const N: usize>(matrix: &SMatrix<f64, N, N>) -> SMatrix<f64, N, N> {
    let Svd { u, singular, vt } = Svd::new(matrix);
    let cut = singular[0] * 1e-15;
    let rank = singular.iter().rposition(|&value| value > cut).map_or(1, |last| last + 1);
    let mut scaled = vt.transpose();
    for column in 0..rank {
        let factor = if singular[column] > cut { 1.0 / singular[column] } else { singular[column] };
        for row in 0..N {
            scaled[(row, column)] *= factor;
        }
    }
    SMatrix::from_fn(|row, column| {
        (0..rank).fold(0.0, |sum, k| scaled[(row, k)].mul_add(u[(column, k)], sum))
    })
}

/// Singular value decomposition of a square matrix, `u * diagonal(singular) * vt`;
/// singular values from the greatest to the least (`dgesdd`).
struct Svd<const N: usize> {
    u: SMatrix<f64, N, N>,
    singular: [f64; N],
    vt: SMatrix<f64, N, N>,
}

impl<const N: usize> Svd<N> {
    #[inline(always)]
    fn new(matrix: &SMatrix<f64, N, N>) -> Self {
        let reduced = householder::Bidiagonal::new(matrix);
        let (mut u, mut v) = (SMatrix::identity(), SMatrix::identity());
        let (mut singular, mut above) = (reduced.diagonal, reduced.above);
        qr::diagonalize(&mut singular, &mut above, &mut v, &mut u);
        let mut vt = v.transpose();
        reduced.turn_back(&mut u, &mut vt);
        Svd { u, singular, vt }
    }
}

/// The magnitude of `a` with the sign of `b` (Fortran's `SIGN`).
#[inline(always)]
fn sign(a: f64, b: f64) -> f64 {
    a.abs().copysign(b)
}
