//! `PA = LU` with partial pivoting: solving, inverses and determinants.

use super::kernels::Matrix;

/// The factors in one matrix, and the row that was taken at each step.
pub(super) struct Lu {
    lu: Matrix,
    pivots: Vec<usize>,
}

impl Lu {
    /// Factors a square matrix.
    pub fn new(mut a: Matrix) -> Lu {
        let n = a.nrows();
        let mut pivots = Vec::with_capacity(n);
        for k in 0..n {
            let mut pivot = k;
            for i in k + 1..n {
                if a[(i, k)].abs() > a[(pivot, k)].abs() {
                    pivot = i;
                }
            }
            pivots.push(pivot);
            a.swap_rows(k, pivot);
            if a[(k, k)] == 0.0 {
                continue;
            }
            let inverse = 1.0 / a[(k, k)];
            for i in k + 1..n {
                a[(i, k)] *= inverse;
            }
            let (done, rest) = a.as_mut_slice().split_at_mut((k + 1) * n);
            let factors = &done[k * n + k + 1..];
            for column in rest.chunks_exact_mut(n) {
                let (top, below) = column.split_at_mut(k + 1);
                for (x, factor) in below.iter_mut().zip(factors) {
                    *x -= factor * top[k];
                }
            }
        }
        Lu { lu: a, pivots }
    }

    /// Whether a pivot is exactly zero.
    pub fn is_singular(&self) -> bool {
        (0..self.lu.nrows()).any(|i| self.lu[(i, i)] == 0.0)
    }

    /// Solves for several right-hand sides in place.
    pub fn solve(&self, b: &mut Matrix) {
        let n = self.lu.nrows();
        for (k, &pivot) in self.pivots.iter().enumerate() {
            b.swap_rows(k, pivot);
        }
        if n == 0 {
            return;
        }
        for x in b.as_mut_slice().chunks_exact_mut(n) {
            for k in 0..n {
                let value = x[k];
                for i in k + 1..n {
                    x[i] -= value * self.lu[(i, k)];
                }
            }
            for k in (0..n).rev() {
                x[k] /= self.lu[(k, k)];
                let value = x[k];
                for i in 0..k {
                    x[i] -= value * self.lu[(i, k)];
                }
            }
        }
    }

    /// Sign and logarithm of the size of the determinant.
    pub fn slogdet(&self) -> (f64, f64) {
        let swaps = self.pivots.iter().enumerate().filter(|&(k, &pivot)| k != pivot).count();
        let mut sign = if swaps % 2 == 0 { 1.0 } else { -1.0 };
        let mut log = 0.0;
        for i in 0..self.lu.nrows() {
            let pivot = self.lu[(i, i)];
            if pivot == 0.0 {
                return (0.0, f64::NEG_INFINITY);
            }
            sign *= pivot.signum();
            log += pivot.abs().ln();
        }
        (sign, log)
    }
}

/// The lower Cholesky factor, from the lower triangle; `None` when the matrix is not
/// positive definite.
pub(super) fn cholesky(a: &Matrix) -> Option<Matrix> {
    let n = a.nrows();
    let mut l = Matrix::zeros(n, n);
    for j in 0..n {
        let square = a[(j, j)] - (0..j).map(|k| l[(j, k)] * l[(j, k)]).sum::<f64>();
        if square.is_nan() || square <= 0.0 {
            return None;
        }
        l[(j, j)] = square.sqrt();
        for i in j + 1..n {
            let dot: f64 = (0..j).map(|k| l[(i, k)] * l[(j, k)]).sum();
            l[(i, j)] = (a[(i, j)] - dot) / l[(j, j)];
        }
    }
    Some(l)
}
