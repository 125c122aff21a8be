//! Factorisations and eigenvalues.

use super::general::{self, Failure};
use super::kernels::Matrix;
use super::lu;
use super::qr::Qr;
use super::stack::Stack;
use super::svd::{Svd, Vectors};
use super::symmetric;
use crate::array::Array;
use crate::error::{Error, Result, bail};

/// The lower triangular `L` with `A = L L'`, from the lower triangle of `A`; with `upper`
/// the upper one, from the upper triangle.
///
/// # Errors
/// [`Error::LinAlg`] when a matrix is not square or not positive definite, [`Error::Type`]
/// for `float16`.
pub fn cholesky(a: &Array, upper: bool) -> Result<Array> {
    let stack = Stack::square(a)?;
    let mut factors = Vec::new();
    for matrix in stack.matrices() {
        let matrix = matrix?;
        let factor = lu::cholesky(&if upper { matrix.transpose() } else { matrix });
        let Some(factor) = factor else { bail!(LinAlg, "Matrix is not positive definite") };
        factors.push(if upper { factor.transpose() } else { factor });
    }
    stack.stack(stack.rows, stack.rows, &factors)
}

/// How much of a QR factorisation is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QrMode {
    /// Q with as many columns as R has rows, the smaller side.
    Reduced,
    /// A square Q.
    Complete,
    /// Only R.
    R,
}

impl QrMode {
    /// # Errors
    /// [`Error::Value`] for an unknown name, [`Error::NotImplemented`] for `raw`.
    pub fn from_name(name: &str) -> Result<QrMode> {
        match name {
            "reduced" => Ok(QrMode::Reduced),
            "complete" => Ok(QrMode::Complete),
            "r" => Ok(QrMode::R),
            "raw" => bail!(NotImplemented, "qr mode 'raw' is not implemented; use 'reduced'"),
            _ => bail!(Value, "Unrecognized mode '{name}'"),
        }
    }
}

/// Q (unless only R is wanted) and R with `A = Q R`.
///
/// # Errors
/// [`Error::LinAlg`] with fewer than two dimensions, [`Error::Type`] for `float16`.
pub fn qr(a: &Array, mode: QrMode) -> Result<(Option<Array>, Array)> {
    let stack = Stack::new(a)?;
    let (rows, columns) = (stack.rows, stack.columns);
    let inner = if mode == QrMode::Complete { rows } else { rows.min(columns) };
    let (mut q, mut r) = (Vec::new(), Vec::new());
    for matrix in stack.matrices() {
        let factors = Qr::new(matrix?);
        if mode != QrMode::R {
            q.push(factors.reflections.columns(rows, inner));
        }
        r.push(factors.r.rows(0, inner).into_owned());
    }
    let r = stack.stack(inner, columns, &r)?;
    if mode == QrMode::R {
        return Ok((None, r));
    }
    Ok((Some(stack.stack(rows, inner, &q)?), r))
}

/// `(U, S, Vh)` with `A = U diag(S) Vh`; thin unless `full_matrices`.
///
/// # Errors
/// [`Error::LinAlg`] with fewer than two dimensions or for NaN, [`Error::Type`] for
/// `float16`.
pub fn svd(a: &Array, full_matrices: bool) -> Result<(Array, Array, Array)> {
    let stack = Stack::new(a)?;
    let (rows, columns) = (stack.rows, stack.columns);
    let n = rows.min(columns);
    let vectors = if full_matrices { Vectors::Full } else { Vectors::Thin };
    if full_matrices {
        // The square bases of a long matrix can be huge: fail before computing.
        Array::zeros(&[rows.max(columns), rows.max(columns)], stack.dtype)?;
    }
    let (mut u, mut s, mut vt) = (Vec::new(), Vec::new(), Vec::new());
    for matrix in stack.matrices() {
        let svd = decomposed(matrix?, vectors)?;
        u.push(svd.u);
        s.extend(svd.s);
        vt.push(svd.vt);
    }
    let (wide_u, wide_v) = if full_matrices { (rows, columns) } else { (n, n) };
    let u = stack.stack(rows, wide_u, &u)?;
    Ok((u, stack.collect(&[n], s)?, stack.stack(wide_v, columns, &vt)?))
}

/// The singular values alone.
///
/// # Errors
/// As [`svd`].
pub fn svdvals(a: &Array) -> Result<Array> {
    let stack = Stack::new(a)?;
    let mut s = Vec::new();
    for matrix in stack.matrices() {
        s.extend(decomposed(matrix?, Vectors::None)?.s);
    }
    stack.collect(&[stack.rows.min(stack.columns)], s)
}

pub(super) fn decomposed(matrix: Matrix, vectors: Vectors) -> Result<Svd> {
    Svd::new(matrix, vectors).ok_or_else(|| Error::LinAlg("SVD did not converge".to_owned()))
}

/// Eigenvalues of symmetric matrices, rising, and their vectors as columns, from the lower
/// triangle, or from the upper one.
///
/// # Errors
/// [`Error::LinAlg`] when a matrix is not square or holds NaN, [`Error::Type`] for
/// `float16`.
pub fn eigh(a: &Array, upper: bool) -> Result<(Array, Array)> {
    eigen(a, |matrix| symmetric_eigen(matrix, upper, true))
}

/// Eigenvalues of symmetric matrices alone.
///
/// # Errors
/// As [`eigh`].
pub fn eigvalsh(a: &Array, upper: bool) -> Result<Array> {
    eigenvalues(a, |matrix| symmetric_eigen(matrix, upper, false))
}

/// Eigenvalues of general matrices and unit eigenvectors as columns.
///
/// # Errors
/// [`Error::LinAlg`] when a matrix is not square or holds NaN, [`Error::NotImplemented`]
/// when eigenvalues are complex, [`Error::Type`] for `float16`.
pub fn eig(a: &Array) -> Result<(Array, Array)> {
    eigen(a, |matrix| general_eigen(matrix, true))
}

/// Eigenvalues of general matrices alone.
///
/// # Errors
/// As [`eig`].
pub fn eigvals(a: &Array) -> Result<Array> {
    eigenvalues(a, |matrix| general_eigen(matrix, false))
}

/// Eigenvalues, and vectors as columns if they are wanted.
type Eigen = (Vec<f64>, Matrix);

fn eigen(a: &Array, of: impl Fn(Matrix) -> Result<Eigen>) -> Result<(Array, Array)> {
    let stack = Stack::square(a)?;
    let n = stack.rows;
    let pairs = stack.matrices().map(|matrix| of(matrix?)).collect::<Result<Vec<Eigen>>>()?;
    let (values, vectors): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    Ok((stack.collect(&[n], values.concat())?, stack.stack(n, n, &vectors)?))
}

fn eigenvalues(a: &Array, of: impl Fn(Matrix) -> Result<Eigen>) -> Result<Array> {
    let stack = Stack::square(a)?;
    let values = stack.matrices().map(|matrix| Ok(of(matrix?)?.0)).collect::<Result<Vec<_>>>()?;
    stack.collect(&[stack.rows], values.concat())
}

fn symmetric_eigen(matrix: Matrix, upper: bool, vectors: bool) -> Result<Eigen> {
    let matrix = if upper { matrix.transpose() } else { matrix };
    let eigen = symmetric::eigen(matrix, vectors);
    eigen.ok_or_else(|| Error::LinAlg("Eigenvalues did not converge".to_owned()))
}

fn general_eigen(matrix: Matrix, vectors: bool) -> Result<Eigen> {
    if matrix.iter().any(|value| !value.is_finite()) {
        bail!(LinAlg, "Array must not contain infs or NaNs");
    }
    general::eigen(matrix, vectors).map_err(|failure| match failure {
        Failure::NoConvergence => Error::LinAlg("Eigenvalues did not converge".to_owned()),
        Failure::Complex => Error::NotImplemented(
            "the matrix has complex eigenvalues, and complex arrays are not implemented; for a \
             symmetric matrix use eigh"
                .to_owned(),
        ),
    })
}
