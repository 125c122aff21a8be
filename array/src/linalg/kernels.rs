//! Reflections and rotations, with LAPACK's choice of signs, so that the factors built
//! from them have numpy's signs.

use nalgebra::DMatrix;

/// A dense column-major matrix.
pub(super) type Matrix = DMatrix<f64>;

/// The reflection `I - tau v v'`, `v[0] = 1`, that maps a vector to its first axis
/// (LAPACK's `dlarfg`). The vector becomes `v`; also gives what its first element becomes.
pub(super) fn reflection(x: &mut [f64]) -> (f64, f64) {
    let Some((first, rest)) = x.split_first_mut() else { return (0.0, 0.0) };
    let alpha = *first;
    *first = 1.0;
    let norm = norm(rest);
    if norm == 0.0 {
        return (0.0, alpha);
    }
    let beta = -alpha.hypot(norm).copysign(alpha);
    let scale = 1.0 / (alpha - beta);
    for value in rest {
        *value *= scale;
    }
    ((beta - alpha) / beta, beta)
}

/// The Euclidean norm, safe from overflow.
pub(super) fn norm(x: &[f64]) -> f64 {
    let sum: f64 = x.iter().map(|value| value * value).sum();
    if sum.is_finite() && sum > 1e-280 {
        return sum.sqrt();
    }
    let largest = x.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return if x.iter().any(|value| value.is_nan()) { f64::NAN } else { largest };
    }
    largest * x.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
}

/// Applies a reflection from the left to the rows from `row` on of the columns from
/// `column` on.
pub(super) fn reflect_rows(a: &mut Matrix, v: &[f64], tau: f64, row: usize, column: usize) {
    if tau == 0.0 {
        return;
    }
    let rows = a.nrows();
    for column in a.as_mut_slice().chunks_exact_mut(rows).skip(column) {
        let part = &mut column[row..row + v.len()];
        let dot: f64 = part.iter().zip(v).map(|(x, v)| x * v).sum();
        for (x, v) in part.iter_mut().zip(v) {
            *x -= tau * dot * v;
        }
    }
}

/// Applies a reflection from the right to the columns from `column` on of the rows from
/// `row` on.
pub(super) fn reflect_columns(a: &mut Matrix, v: &[f64], tau: f64, row: usize, column: usize) {
    if tau == 0.0 {
        return;
    }
    let rows = a.nrows();
    let part = &mut a.as_mut_slice()[column * rows..(column + v.len()) * rows];
    let mut dots = vec![0.0; rows - row];
    for (column, v) in part.chunks_exact(rows).zip(v) {
        for (dot, x) in dots.iter_mut().zip(&column[row..]) {
            *dot += x * v;
        }
    }
    for (column, v) in part.chunks_exact_mut(rows).zip(v) {
        for (dot, x) in dots.iter().zip(&mut column[row..]) {
            *x -= tau * dot * v;
        }
    }
}

/// The rotation `(c, s)` with `c f + s g = r` and `-s f + c g = 0` (`dlartg`).
pub(super) fn rotation(f: f64, g: f64) -> (f64, f64, f64) {
    if g == 0.0 {
        (1.0, 0.0, f)
    } else if f == 0.0 {
        (0.0, 1f64.copysign(g), g.abs())
    } else {
        let r = f.hypot(g).copysign(f);
        (f.abs() / r.abs(), g / r, r)
    }
}

/// Rotates columns `j` and `j + 1`.
pub(super) fn rotate_columns(a: &mut Matrix, j: usize, c: f64, s: f64) {
    let rows = a.nrows();
    let (left, right) = a.as_mut_slice()[j * rows..(j + 2) * rows].split_at_mut(rows);
    for (x, y) in left.iter_mut().zip(right) {
        (*x, *y) = (s * *y + c * *x, c * *y - s * *x);
    }
}

/// A product of reflections, each acting from its row on.
#[derive(Default)]
pub(super) struct Reflections {
    /// Start, vector and factor.
    parts: Vec<(usize, Vec<f64>, f64)>,
}

impl Reflections {
    pub fn push(&mut self, start: usize, v: Vec<f64>, tau: f64) {
        self.parts.push((start, v, tau));
    }

    /// The product times a matrix.
    pub fn apply(&self, a: &mut Matrix) {
        for (start, v, tau) in self.parts.iter().rev() {
            reflect_rows(a, v, *tau, *start, 0);
        }
    }

    /// The first columns of the product, `rows` long.
    pub fn columns(&self, rows: usize, columns: usize) -> Matrix {
        let mut q = Matrix::identity(rows, columns);
        self.apply(&mut q);
        q
    }
}
