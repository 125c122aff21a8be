//! The inverse by elimination (LAPACK's `dgetrf` and `dgetri`).

use nalgebra::SMatrix;

use super::gemv_n;

/// The inverse; none when the matrix is singular.
#[inline(always)]
pub fn inverse<const N: usize>(matrix: &SMatrix<f64, N, N>) -> Option<SMatrix<f64, N, N>> {
    let mut a = *matrix;
    let pivots = factorize(&mut a)?;
    invert_upper(&mut a);
    for j in (0..N).rev() {
        let mut lower = [0.0; N];
        for i in j + 1..N {
            lower[i] = std::mem::take(&mut a[(i, j)]);
        }
        if j + 1 < N {
            let mut column: [f64; N] = std::array::from_fn(|i| a[(i, j)]);
            let view = |i: usize, k: usize| a[(i, j + 1 + k)];
            gemv_n((N, N - j - 1), -1.0, view, |k| lower[j + 1 + k], true, &mut column);
            for (i, value) in column.into_iter().enumerate() {
                a[(i, j)] = value;
            }
        }
    }
    for j in (0..N).rev() {
        a.swap_columns(j, pivots[j]);
    }
    Some(a)
}

/// Lower and upper factor in one matrix, column by column, and the row that each pivot came from.
#[inline(always)]
fn factorize<const N: usize>(a: &mut SMatrix<f64, N, N>) -> Option<[usize; N]> {
    let mut pivots = [0; N];
    for j in 0..N {
        for (i, &pivot) in pivots[..j].iter().enumerate() {
            a.swap((i, j), (pivot, j));
        }
        for i in 1..j {
            let product = strided_dot(i, |k| a[(i, k)], |k| a[(k, j)]);
            a[(i, j)] -= product;
        }
        let mut column: [f64; N] = std::array::from_fn(|i| a[(i, j)]);
        if j > 0 {
            let view = |i: usize, k: usize| a[(j + i, k)];
            gemv_n((N - j, j), -1.0, view, |k| a[(k, j)], true, &mut column[j..]);
            for i in j..N {
                a[(i, j)] = column[i];
            }
        }
        let greater = |best: usize, i: usize| match column[i].abs() > column[best].abs() {
            true => i,
            false => best,
        };
        let pivot = (j + 1..N).fold(j, greater);
        if column[pivot] == 0.0 || !column[pivot].is_finite() {
            return None;
        }
        pivots[j] = pivot;
        for k in 0..=j {
            a.swap((j, k), (pivot, k));
        }
        let scale = 1.0 / column[pivot];
        for i in j + 1..N {
            a[(i, j)] *= scale;
        }
    }
    Some(pivots)
}

#[inline(always)]
fn invert_upper<const N: usize>(a: &mut SMatrix<f64, N, N>) {
    for j in 0..N {
        let pivot = 1.0 / a[(j, j)];
        a[(j, j)] = pivot;
        for i in 0..j {
            let factor = a[(i, j)];
            for k in 0..i {
                let addend = factor * a[(k, i)];
                a[(k, j)] += addend;
            }
            a[(i, j)] *= a[(i, i)];
        }
        for i in 0..j {
            a[(i, j)] *= -pivot;
        }
    }
}

/// A scalar product whose first vector is a row: two sums, none fused.
#[inline(always)]
fn strided_dot(length: usize, x: impl Fn(usize) -> f64, y: impl Fn(usize) -> f64) -> f64 {
    let product = |i: usize| y(i) * x(i);
    let (mut even, mut odd) = (0.0, 0.0);
    let whole = length & !3;
    for i in (0..whole).step_by(4) {
        even += product(i) + product(i + 2);
        odd += product(i + 1) + product(i + 3);
    }
    (whole..length).fold(even, |sum, i| sum + product(i)) + odd
}
