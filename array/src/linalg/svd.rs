//! Singular values: reduction to bidiagonal form (`dgebd2`) and implicit QR iterations
//! (`dbdsqr`), put together as in LAPACK's `dgesdd`. Beyond 25 singular values LAPACK
//! divides and conquers, and the signs of pairs of vectors may differ.

use super::bidiagonal::{Bidiagonal, diagonalise};
use super::kernels::{Matrix, Reflections, reflect_columns, reflect_rows, reflection};
use super::qr::Qr;

/// `A = U diag(s) V'`, singular values falling.
pub(super) struct Svd {
    pub u: Matrix,
    pub s: Vec<f64>,
    /// V transposed.
    pub vt: Matrix,
}

/// Which of the vectors are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Vectors {
    None,
    /// As many as there are singular values.
    Thin,
    /// Whole orthogonal bases.
    Full,
}

impl Svd {
    /// `None` when the iterations do not converge.
    pub fn new(a: Matrix, vectors: Vectors) -> Option<Svd> {
        if a.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let (rows, columns) = a.shape();
        // Much longer than wide: first make it square.
        let slim = |long: usize, short: usize| long >= short * 11 / 6;
        if rows >= columns {
            if slim(rows, columns) { slim_svd(a, vectors) } else { direct_svd(a, vectors) }
        } else if slim(columns, rows) {
            let turned = a.transpose();
            let qr = Qr::new(turned);
            let l = qr.r.rows(0, rows).transpose();
            let inner = direct_svd(l, vectors)?;
            Some(Svd { vt: widened(&qr, inner.vt.transpose(), vectors).transpose(), ..inner })
        } else {
            direct_svd(a, vectors)
        }
    }
}

fn slim_svd(a: Matrix, vectors: Vectors) -> Option<Svd> {
    let columns = a.ncols();
    let qr = Qr::new(a);
    let inner = direct_svd(qr.r.rows(0, columns).into_owned(), vectors)?;
    Some(Svd { u: widened(&qr, inner.u.clone(), vectors), ..inner })
}

/// Q times the square vectors of R, and for a full basis the rest of Q.
fn widened(qr: &Qr, inner: Matrix, vectors: Vectors) -> Matrix {
    let (rows, n) = qr.r.shape();
    let columns = match vectors {
        Vectors::None => return inner,
        Vectors::Thin => n,
        Vectors::Full => rows,
    };
    let mut q = Matrix::identity(rows, columns);
    q.view_mut((0, 0), (n, n)).copy_from(&inner);
    qr.reflections.apply(&mut q);
    q
}

fn direct_svd(mut a: Matrix, vectors: Vectors) -> Option<Svd> {
    let (rows, columns) = a.shape();
    let n = rows.min(columns);
    let (mut b, left, right) = bidiagonal(&mut a);
    let (mut u, mut vt) = if vectors == Vectors::None {
        (Matrix::zeros(0, n), Matrix::zeros(n, 0))
    } else {
        (Matrix::identity(n, n), Matrix::identity(n, n))
    };
    diagonalise(&mut b, &mut u, &mut vt)?;
    if vectors == Vectors::None {
        return Some(Svd { u, s: b.d, vt });
    }
    let full = vectors == Vectors::Full;
    let widen = |inner: Matrix, size: usize, reflections: &Reflections| {
        let mut whole = Matrix::identity(size, if full { size } else { n });
        whole.view_mut((0, 0), (n, n)).copy_from(&inner);
        reflections.apply(&mut whole);
        whole
    };
    let u = widen(u, rows, &left);
    let vt = widen(vt.transpose(), columns, &right).transpose();
    Some(Svd { u, s: b.d, vt })
}

/// `A = Q B P'` with `B` upper bidiagonal when there are at least as many rows as columns,
/// else lower.
fn bidiagonal(a: &mut Matrix) -> (Bidiagonal, Reflections, Reflections) {
    let (rows, columns) = a.shape();
    let (mut left, mut right) = (Reflections::default(), Reflections::default());
    let (mut d, mut e) = (Vec::new(), Vec::new());
    let from_left = |a: &mut Matrix, row: usize, column: usize, left: &mut Reflections| {
        let mut v = a.column(column).as_slice()[row..].to_vec();
        let (tau, beta) = reflection(&mut v);
        reflect_rows(a, &v, tau, row, column + 1);
        left.push(row, v, tau);
        beta
    };
    let from_right = |a: &mut Matrix, row: usize, column: usize, right: &mut Reflections| {
        let mut v: Vec<f64> = (column..columns).map(|j| a[(row, j)]).collect();
        let (tau, beta) = reflection(&mut v);
        reflect_columns(a, &v, tau, row + 1, column);
        right.push(column, v, tau);
        beta
    };
    let upper = rows >= columns;
    for i in 0..rows.min(columns) {
        if upper {
            d.push(from_left(a, i, i, &mut left));
            if i + 1 < columns {
                e.push(from_right(a, i, i + 1, &mut right));
            }
        } else {
            d.push(from_right(a, i, i, &mut right));
            if i + 1 < rows {
                e.push(from_left(a, i + 1, i, &mut left));
            }
        }
    }
    (Bidiagonal { d, e, upper }, left, right)
}
