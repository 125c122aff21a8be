//! Matrix products of plain slices.
//!
//! Small products have the bits of numpy with OpenBLAS on AVX2: a matrix times a matrix
//! sums along the inner dimension with fused multiplications, scalar products and products
//! with vectors in their own orders. Others agree to rounding.

use half::f16;
use multiversion::multiversion;

use crate::dtype::Element;

/// An element type that can be multiplied and summed.
pub(crate) trait Factor: Element {
    /// `sum(a[i] * b[i])`.
    fn dot(a: &[Self], b: &[Self]) -> Self;
    /// One row of `a` times a vector, as `dgemv` sums it.
    fn row_dot(a: &[Self], b: &[Self]) -> Self {
        Self::dot(a, b)
    }
    /// `out += a[0] b[0,:] + a[1] b[1,:] + ...` for rows of `b`, for several rows of `a`
    /// and `out`, `k` and `n` long.
    fn rows(a: &[Self], b: &[Self], out: &mut [Self], k: usize, n: usize);
}

/// `out = a b` for C-ordered `a` of `m` by `k`, `b` of `k` by `n`.
pub(super) fn multiply<T: Factor>(a: &[T], b: &[T], out: &mut [T], k: usize, n: usize) {
    if n == 1 && k > 0 {
        for (out, row) in out.iter_mut().zip(a.chunks_exact(k)) {
            *out = T::row_dot(row, b);
        }
        return;
    }
    out.fill(T::ZERO);
    if k > 0 && n > 0 {
        T::rows(a, b, out, k, n);
    }
}

macro_rules! integer_factor {
    ($($type:ty)*) => {$(
        impl Factor for $type {
            fn dot(a: &[Self], b: &[Self]) -> Self {
                a.iter().zip(b).fold(0, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(*b)))
            }

            fn rows(a: &[Self], b: &[Self], out: &mut [Self], k: usize, n: usize) {
                for (a, out) in a.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
                    for (a, b) in a.iter().zip(b.chunks_exact(n)) {
                        for (out, b) in out.iter_mut().zip(b) {
                            *out = out.wrapping_add(a.wrapping_mul(*b));
                        }
                    }
                }
            }
        }
    )*};
}
integer_factor! { u8 i32 i64 }

impl Factor for bool {
    fn dot(a: &[Self], b: &[Self]) -> Self {
        a.iter().zip(b).any(|(a, b)| *a && *b)
    }

    fn rows(a: &[Self], b: &[Self], out: &mut [Self], k: usize, n: usize) {
        for (a, out) in a.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
            for (a, b) in a.iter().zip(b.chunks_exact(n)) {
                for (out, b) in out.iter_mut().zip(b) {
                    *out |= a & b;
                }
            }
        }
    }
}

/// Sums in single precision and rounds once.
impl Factor for f16 {
    fn dot(a: &[Self], b: &[Self]) -> Self {
        f16::from_f32(a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a.to_f32() * b.to_f32()))
    }

    fn rows(a: &[Self], b: &[Self], out: &mut [Self], k: usize, n: usize) {
        let mut sums = vec![0.0f32; n];
        for (a, out) in a.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
            sums.fill(0.0);
            for (a, b) in a.iter().zip(b.chunks_exact(n)) {
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum += a.to_f32() * b.to_f32();
                }
            }
            for (out, sum) in out.iter_mut().zip(&sums) {
                *out = f16::from_f32(*sum);
            }
        }
    }
}

impl Factor for f32 {
    /// Short products are summed in double precision, as OpenBLAS does.
    fn dot(a: &[Self], b: &[Self]) -> Self {
        a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>() as f32
    }

    fn rows(a: &[Self], b: &[Self], out: &mut [Self], k: usize, n: usize) {
        fused::<f32, 16>(a, b, out, k, n);
    }
}

impl Factor for f64 {
    fn dot(a: &[Self], b: &[Self]) -> Self {
        if a.len() < LANES {
            return a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b);
        }
        long_dot(a, b)
    }

    fn row_dot(a: &[Self], b: &[Self]) -> Self {
        match (a, b) {
            (&[a0, a1], &[b0, b1]) => a0.mul_add(b0, a1 * b1),
            (&[a0, a1, a2], &[b0, b1, b2]) => a2.mul_add(b2, a0.mul_add(b0, a1 * b1)),
            (&[a0, a1, a2, a3], &[b0, b1, b2, b3]) => (a0 * b0 + a2 * b2) + (a1 * b1 + a3 * b3),
            _ => Self::dot(a, b),
        }
    }

    fn rows(a: &[Self], b: &[Self], out: &mut [Self], k: usize, n: usize) {
        fused::<f64, 8>(a, b, out, k, n);
    }
}

/// Sums that a long scalar product is made of.
const LANES: usize = 16;

#[multiversion(targets("x86_64+avx+avx2"))]
fn long_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a_blocks, b_blocks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a_blocks.remainder().iter().zip(b_blocks.remainder());
    for (a, b) in a_blocks.zip(b_blocks) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    rest.fold(lanes.iter().sum(), |sum, (a, b)| sum + a * b)
}

/// A float with a fused multiply-add.
trait Fused: Element {
    fn mul_add(self, a: Self, b: Self) -> Self;
}

impl Fused for f32 {
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self.mul_add(a, b)
    }
}

impl Fused for f64 {
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self.mul_add(a, b)
    }
}

fn fused<T: Fused, const LANES: usize>(a: &[T], b: &[T], out: &mut [T], k: usize, n: usize) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has both.
        return unsafe { fused_avx2::<T, LANES>(a, b, out, k, n) };
    }
    fused_rows::<T, LANES>(a, b, out, k, n);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fused_avx2<T: Fused, const LANES: usize>(a: &[T], b: &[T], out: &mut [T], k: usize, n: usize) {
    fused_rows::<T, LANES>(a, b, out, k, n);
}

/// Strip by strip of columns, so that a piece of `b` stays in the cache for all rows.
#[inline(always)]
fn fused_rows<T: Fused, const LANES: usize>(a: &[T], b: &[T], out: &mut [T], k: usize, n: usize) {
    let mut column = 0;
    while n - column >= LANES {
        strip::<T, LANES>(a, b, out, k, n, column);
        column += LANES;
    }
    while n - column >= 4 {
        strip::<T, 4>(a, b, out, k, n, column);
        column += 4;
    }
    match n - column {
        3 => strip::<T, 3>(a, b, out, k, n, column),
        2 => strip::<T, 2>(a, b, out, k, n, column),
        1 => strip::<T, 1>(a, b, out, k, n, column),
        _ => {}
    }
}

/// `WIDTH` columns of the product, four rows at a time.
#[inline(always)]
fn strip<T: Fused, const WIDTH: usize>(
    a: &[T],
    b: &[T],
    out: &mut [T],
    k: usize,
    n: usize,
    column: usize,
) {
    const ROWS: usize = 4;
    let a_blocks = a.chunks_exact(ROWS * k);
    let (a_rest, done) = (a_blocks.remainder(), a.len() / (ROWS * k) * ROWS);
    for (block, rows) in a_blocks.zip(out.chunks_exact_mut(ROWS * n)) {
        let mut sums = [[T::ZERO; WIDTH]; ROWS];
        for (i, b) in b.chunks_exact(n).enumerate() {
            let b = &b[column..column + WIDTH];
            for (row, sums) in sums.iter_mut().enumerate() {
                let a = block[row * k + i];
                for (sum, &b) in sums.iter_mut().zip(b) {
                    *sum = a.mul_add(b, *sum);
                }
            }
        }
        for (row, sums) in rows.chunks_exact_mut(n).zip(sums) {
            row[column..column + WIDTH].copy_from_slice(&sums);
        }
    }
    for (a, row) in a_rest.chunks_exact(k).zip(out[done * n..].chunks_exact_mut(n)) {
        let mut sums = [T::ZERO; WIDTH];
        for (&a, b) in a.iter().zip(b.chunks_exact(n)) {
            for (sum, &b) in sums.iter_mut().zip(&b[column..column + WIDTH]) {
                *sum = a.mul_add(b, *sum);
            }
        }
        row[column..column + WIDTH].copy_from_slice(&sums);
    }
}
