//! A matrix turned into one with two diagonals by reflections (LAPACK's `dgebd2`, `dormbr`).

use nalgebra::SMatrix;

use super::{extended, gemv_n, gemv_t, sign};

/// `q * bidiagonal * p`; `q` and `p` are products of reflections.
pub(super) struct Bidiagonal<const N: usize> {
    pub diagonal: [f64; N],
    /// The diagonal above; its last number means nothing.
    pub above: [f64; N],
    /// Of every column, then of every row.
    columns: [Reflection<N>; N],
    rows: [Reflection<N>; N],
}

/// `1 - tau * v * transpose(v)`; `v` begins with 1 at `first`.
#[derive(Clone, Copy)]
struct Reflection<const N: usize> {
    first: usize,
    tau: f64,
    v: [f64; N],
}

impl<const N: usize> Bidiagonal<N> {
    #[inline(always)]
    pub fn new(matrix: &SMatrix<f64, N, N>) -> Self {
        let mut a = *matrix;
        let none = Reflection { first: 0, tau: 0.0, v: [0.0; N] };
        let mut reduced =
            Bidiagonal { diagonal: [0.0; N], above: [0.0; N], columns: [none; N], rows: [none; N] };
        for i in 0..N {
            let (beta, column) = Reflection::new(i, |row| a[(row, i)]);
            reduced.diagonal[i] = beta;
            reduced.columns[i] = column;
            if i + 1 == N {
                break;
            }
            column.apply_left(&mut a, i + 1);
            let (beta, row) = Reflection::new(i + 1, |column| a[(i, column)]);
            reduced.above[i] = beta;
            reduced.rows[i] = row;
            row.apply_right(&mut a, i + 1);
        }
        reduced
    }

    /// Turns singular vectors of the two diagonals into those of the matrix.
    #[inline(always)]
    pub fn turn_back(&self, u: &mut SMatrix<f64, N, N>, vt: &mut SMatrix<f64, N, N>) {
        for column in self.columns.iter().rev() {
            column.apply_left(u, 0);
        }
        for row in self.rows[..N - 1].iter().rev() {
            row.apply_right(vt, 0);
        }
    }
}

impl<const N: usize> Reflection<N> {
    /// The reflection that leaves of `x`, from `first` on, its first number alone, and
    /// what that becomes (`dlarfg`).
    #[inline(always)]
    fn new(first: usize, x: impl Fn(usize) -> f64) -> (f64, Self) {
        let mut v = [0.0; N];
        for (i, v) in v.iter_mut().enumerate().skip(first + 1) {
            *v = x(i);
        }
        let alpha = x(first);
        let rest = match first + 1 < N {
            true => extended::norm(&v[first + 1..]),
            false => 0.0,
        };
        v[first] = 1.0;
        if rest == 0.0 {
            return (alpha, Reflection { first, tau: 0.0, v });
        }
        let beta = -sign(hypotenuse(alpha, rest), alpha);
        let scale = 1.0 / (alpha - beta);
        for v in &mut v[first + 1..] {
            *v *= scale;
        }
        (beta, Reflection { first, tau: (beta - alpha) / beta, v })
    }

    /// Reflects the columns from `from` on.
    #[inline(always)]
    fn apply_left(&self, a: &mut SMatrix<f64, N, N>, from: usize) {
        let first = self.first;
        let Some(last) = self.last() else { return };
        let zero = |j: usize| (first..=last).all(|i| a[(i, j)] == 0.0);
        let Some(end) = (from..N).rev().find(|&j| !zero(j)) else { return };
        let (rows, columns) = (last - first + 1, end - from + 1);
        let mut product = [0.0; N];
        let view = |i: usize, j: usize| a[(first + i, from + j)];
        gemv_t((rows, columns), view, |i| self.v[first + i], &mut product);
        for (j, &factor) in product[..columns].iter().enumerate() {
            let factor = -self.tau * factor;
            for i in first..=last {
                a[(i, from + j)] += factor * self.v[i];
            }
        }
    }

    /// Reflects the rows from `from` on.
    #[inline(always)]
    fn apply_right(&self, a: &mut SMatrix<f64, N, N>, from: usize) {
        let first = self.first;
        let Some(last) = self.last() else { return };
        let zero = |i: usize| (first..=last).all(|j| a[(i, j)] == 0.0);
        let Some(end) = (from..N).rev().find(|&i| !zero(i)) else { return };
        let (rows, columns) = (end - from + 1, last - first + 1);
        let mut product = [0.0; N];
        let view = |i: usize, j: usize| a[(from + i, first + j)];
        gemv_n((rows, columns), 1.0, view, |j| self.v[first + j], false, &mut product);
        for j in first..=last {
            let factor = -self.tau * self.v[j];
            for (i, &product) in product[..rows].iter().enumerate() {
                a[(from + i, j)] += factor * product;
            }
        }
    }

    /// Where the vector's last number lies that is not zero; none without a reflection.
    #[inline(always)]
    fn last(&self) -> Option<usize> {
        match self.tau == 0.0 {
            true => None,
            false => self.v.iter().rposition(|&v| v != 0.0),
        }
    }
}

/// `sqrt(x^2 + y^2)` (`dlapy2`).
#[inline(always)]
fn hypotenuse(x: f64, y: f64) -> f64 {
    let (great, small) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
    match small == 0.0 {
        true => great,
        false => great * (1.0 + (small / great) * (small / great)).sqrt(),
    }
}
