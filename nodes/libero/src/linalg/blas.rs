//! Products of matrices and vectors in the order of OpenBLAS's Haswell kernels.

// Matrix code reads as its formulas do, by index.
#![allow(clippy::needless_range_loop)]

use nalgebra::SMatrix;

/// `a * b`: each element is one chain of fused operations.
#[inline(always)]
pub fn gemm<const M: usize, const K: usize, const N: usize>(
    a: &SMatrix<f64, M, K>,
    b: &SMatrix<f64, K, N>,
) -> SMatrix<f64, M, N> {
    let mut product = SMatrix::zeros();
    for column in 0..N {
        for k in 0..K {
            for row in 0..M {
                let sum = &mut product[(row, column)];
                *sum = a[(row, k)].mul_add(b[(k, column)], *sum);
            }
        }
    }
    product
}

/// `y += alpha * a * x` for an `a` of `rows` x `columns`, stored by columns.
/// `unit` tells whether `x` lies in one piece.
///
/// Four rows at a time are fused; the rows that remain are not.
#[inline(always)]
pub fn gemv_n(
    (rows, columns): (usize, usize),
    alpha: f64,
    a: impl Fn(usize, usize) -> f64,
    x: impl Fn(usize) -> f64,
    unit: bool,
    y: &mut [f64],
) {
    let whole = rows & !3;
    let mut j = 0;
    if whole > 0 {
        while j + 4 <= columns {
            for (i, y) in y[..whole].iter_mut().enumerate() {
                let even = a(i, j + 2).mul_add(x(j + 2), a(i, j) * x(j));
                let odd = a(i, j + 3).mul_add(x(j + 3), a(i, j + 1) * x(j + 1));
                *y = alpha.mul_add(even + odd, *y);
            }
            j += 4;
        }
        if unit && j + 2 <= columns {
            for (i, y) in y[..whole].iter_mut().enumerate() {
                *y = alpha.mul_add(a(i, j) * x(j) + a(i, j + 1) * x(j + 1), *y);
            }
            j += 2;
        }
        while j < columns {
            for (i, y) in y[..whole].iter_mut().enumerate() {
                *y += a(i, j) * (x(j) * alpha);
            }
            j += 1;
        }
    }
    for i in whole..rows {
        let sum = (0..columns).fold(0.0, |sum, k| sum + a(i, k) * x(k));
        y[i] += alpha * sum;
    }
}

/// `y += transpose(a) * x` for an `a` of `rows` x `columns`, stored by columns.
///
/// Four columns at a time are fused; of those that remain, two at a time and then one
/// are not, and they add up their products in different orders.
#[inline(always)]
pub fn gemv_t(
    (rows, columns): (usize, usize),
    a: impl Fn(usize, usize) -> f64,
    x: impl Fn(usize) -> f64,
    y: &mut [f64],
) {
    let (whole, fused, paired) = (rows & !3, columns & !3, columns & !1);
    for j in 0..columns {
        if whole > 0 {
            let mut lanes = [0.0_f64; 4];
            for i in 0..whole {
                if j < fused {
                    lanes[i & 3] = a(i, j).mul_add(x(i), lanes[i & 3]);
                } else {
                    // A pair of columns has two lanes.
                    let lane = if j < paired { i & 1 } else { i & 3 };
                    lanes[lane] += a(i, j) * x(i);
                }
            }
            y[j] += (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
        }
        let at = |i: usize| (a(whole + i, j), x(whole + i));
        let pair = |(a0, x0): (f64, f64), (a1, x1): (f64, f64)| a0.mul_add(x0, a1 * x1);
        match rows - whole {
            1 => y[j] = a(whole, j).mul_add(x(whole), y[j]),
            2 => y[j] += pair(at(0), at(1)),
            3 => y[j] += a(whole + 2, j).mul_add(x(whole + 2), pair(at(0), at(1))),
            _ => {}
        }
    }
}
