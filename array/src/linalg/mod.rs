//! Products and linear algebra, with numpy's conventions: batches of matrices in the last
//! two dimensions, `float16` refused, and LAPACK's signs of vectors.
//!
//! Matrices are computed in double precision; a `float32` argument gives a `float32` result.

// Matrix code reads as its formulas do, by index.
#![allow(clippy::needless_range_loop)]

mod bidiagonal;
mod einsum;
mod factor;
mod gemm;
mod general;
mod kernels;
mod lu;
mod norm;
mod product;
mod qr;
mod solve;
mod stack;
mod svd;
mod symmetric;
#[cfg(test)]
mod tests;

pub use einsum::einsum;
pub use factor::{QrMode, cholesky, eig, eigh, eigvals, eigvalsh, qr, svd, svdvals};
pub(crate) use gemm::Factor;
pub use norm::{Order, cond, norm};
pub use product::{
    cross, dot, inner, kron, matmul, matrix_power, matvec, multi_dot, outer, tensordot, trace,
    vdot, vecdot,
};
pub use solve::{LeastSquares, det, inv, lstsq, matrix_rank, pinv, slogdet, solve};
