//! Linear systems.

use super::factor::decomposed;
use super::kernels::Matrix;
use super::lu::Lu;
use super::stack::{Stack, by_rows, collect, empty, epsilon};
use super::svd::Vectors;
use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::promote::promote;
use crate::shape::broadcast_shapes;

/// The inverses of square matrices.
///
/// # Errors
/// [`crate::Error::LinAlg`] when a matrix is singular or not square,
/// [`crate::Error::Type`] for `float16`.
pub fn inv(a: &Array) -> Result<Array> {
    let stack = Stack::square(a)?;
    let n = stack.rows;
    let mut inverses = Vec::new();
    for matrix in stack.matrices() {
        let mut inverse = Matrix::identity(n, n);
        factored(matrix?)?.solve(&mut inverse);
        inverses.push(inverse);
    }
    stack.stack(n, n, &inverses)
}

fn factored(matrix: Matrix) -> Result<Lu> {
    let lu = Lu::new(matrix);
    if lu.is_singular() {
        bail!(LinAlg, "Singular matrix");
    }
    Ok(lu)
}

/// `x` with `a x = b`. A one-dimensional `b` is one right-hand side, else its last two
/// dimensions are columns of them.
///
/// # Errors
/// As [`inv`], and [`crate::Error::Value`] for shapes that do not fit.
pub fn solve(a: &Array, b: &Array) -> Result<Array> {
    let n = Stack::square(a)?.rows;
    let vector = b.ndim() == 1;
    let b_matrix = if vector { b.expand_dims(&[1])? } else { b.clone() };
    let rows = b_matrix.shape().iter().rev().nth(1).copied().unwrap_or(1);
    if rows != n || b_matrix.ndim() < 2 {
        let (name, signature) =
            if vector { ("solve1", "(m,m),(m)->(m)") } else { ("solve", "(m,m),(m,n)->(m,n)") };
        bail!(
            Value,
            "{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc \
             signature {signature} (size {rows} is different from {n})"
        );
    }
    let outer = |array: &Array| array.shape()[..array.ndim() - 2].to_vec();
    let outer_shape = broadcast_shapes(&[&outer(a), &outer(&b_matrix)])?;
    let spread = |array: &Array| {
        array.broadcast_to(&[&outer_shape, &array.shape()[array.ndim() - 2..]].concat())
    };
    let (a, b_stack) = (Stack::square(&spread(a)?)?, Stack::new(&spread(&b_matrix)?)?);
    let mut solutions = Vec::new();
    for (i, matrix) in a.matrices().enumerate() {
        let mut x = b_stack.matrix(i);
        factored(matrix?)?.solve(&mut x);
        solutions.push(x);
    }
    let mut shape = [&outer_shape, &[n][..]].concat();
    if !vector {
        shape.push(b_stack.columns);
    }
    collect(&shape, by_rows(&solutions), promote(a.dtype, b_stack.dtype))
}

/// Determinants of square matrices.
///
/// # Errors
/// [`crate::Error::LinAlg`] when a matrix is not square, [`crate::Error::Type`] for
/// `float16`.
pub fn det(a: &Array) -> Result<Array> {
    let stack = Stack::square(a)?;
    let mut values = Vec::new();
    for matrix in stack.matrices() {
        let (sign, log) = Lu::new(matrix?).slogdet();
        values.push(sign * log.exp());
    }
    stack.collect(&[], values)
}

/// Signs of determinants, and logarithms of their sizes.
///
/// # Errors
/// As [`det`].
pub fn slogdet(a: &Array) -> Result<(Array, Array)> {
    let stack = Stack::square(a)?;
    let (mut signs, mut logs) = (Vec::new(), Vec::new());
    for matrix in stack.matrices() {
        let (sign, log) = Lu::new(matrix?).slogdet();
        signs.push(sign);
        logs.push(log);
    }
    Ok((stack.collect(&[], signs)?, stack.collect(&[], logs)?))
}

/// The Moore-Penrose inverses. Singular values up to `rcond` times the largest count as
/// zero; numpy's default is `1e-15`.
///
/// # Errors
/// [`crate::Error::LinAlg`] with fewer than two dimensions or for NaN,
/// [`crate::Error::Type`] for `float16`.
pub fn pinv(a: &Array, rcond: f64) -> Result<Array> {
    let stack = Stack::new(a)?;
    let (rows, columns) = (stack.rows, stack.columns);
    if rows * columns == 0 {
        return empty(&[&stack.outer[..], &[columns, rows]].concat(), stack.dtype);
    }
    let mut inverses = Vec::new();
    for matrix in stack.matrices() {
        let svd = decomposed(matrix?, Vectors::Thin)?;
        let cutoff = rcond * svd.s[0];
        let mut scaled = svd.u.transpose();
        for (mut row, &s) in scaled.row_iter_mut().zip(&svd.s) {
            row *= if s > cutoff { 1.0 / s } else { 0.0 };
        }
        inverses.push(svd.vt.transpose() * scaled);
    }
    stack.stack(columns, rows, &inverses)
}

/// What [`lstsq`] finds.
pub struct LeastSquares {
    pub x: Array,
    /// Sums of squared residuals for each right-hand side; empty unless the matrix has
    /// full column rank and more rows than columns.
    pub residuals: Array,
    pub rank: usize,
    /// Singular values of the matrix.
    pub s: Array,
}

/// The shortest `x` that minimises `|a x - b|`. Singular values below `rcond` times the
/// largest count as zero; `None` is machine precision times the longer side.
///
/// # Errors
/// [`crate::Error::LinAlg`] when the shapes do not fit or for NaN, [`crate::Error::Type`]
/// for `float16`.
pub fn lstsq(a: &Array, b: &Array, rcond: Option<f64>) -> Result<LeastSquares> {
    let vector = b.ndim() == 1;
    let b_matrix = if vector { b.expand_dims(&[1])? } else { b.clone() };
    for array in [a, &b_matrix] {
        if array.ndim() != 2 {
            bail!(
                LinAlg,
                "{}-dimensional array given. Array must be two-dimensional",
                array.ndim()
            );
        }
    }
    let (a, b) = (Stack::new(a)?, Stack::new(&b_matrix)?);
    let (rows, columns) = (a.rows, a.columns);
    if rows != b.rows {
        bail!(LinAlg, "Incompatible dimensions");
    }
    let dtype = promote(a.dtype, b.dtype);
    let rcond = rcond.unwrap_or(epsilon(dtype) * rows.max(columns) as f64);
    let (matrix, right) = (a.matrix(0), b.matrix(0));
    let svd = decomposed(matrix.clone(), Vectors::Thin).map_err(|_| {
        crate::Error::LinAlg("SVD did not converge in Linear Least Squares".to_owned())
    })?;
    let cutoff = rcond.max(0.0) * svd.s.first().copied().unwrap_or(0.0);
    let rank = svd.s.iter().filter(|&&s| s > cutoff).count();
    let mut projected = svd.u.transpose() * &right;
    for (mut row, &s) in projected.row_iter_mut().zip(&svd.s) {
        row *= if s > cutoff { 1.0 / s } else { 0.0 };
    }
    let x = svd.vt.transpose() * projected;
    let residuals: Vec<f64> = if rank == columns && rows > columns {
        (matrix * &x - right).column_iter().map(|column| column.norm_squared()).collect()
    } else {
        Vec::new()
    };
    let shape: &[usize] = if vector { &[columns] } else { &[columns, b.columns] };
    Ok(LeastSquares {
        x: collect(shape, by_rows(&[x]), dtype)?,
        residuals: collect(&[residuals.len()], residuals, dtype)?,
        rank,
        s: collect(&[svd.s.len()], svd.s, dtype)?,
    })
}

/// Numbers of singular values above `tol`, or above `rtol` times the largest; by default
/// machine precision times the longer side. Of fewer than two dimensions: whether anything
/// is not zero.
///
/// # Errors
/// [`crate::Error::LinAlg`] for NaN, [`crate::Error::Type`] for `float16`.
pub fn matrix_rank(a: &Array, tol: Option<f64>, rtol: Option<f64>) -> Result<Array> {
    if a.ndim() < 2 {
        let any = a.to_vec::<f64>()?.iter().any(|&value| value != 0.0);
        return Ok(Array::scalar(crate::Scalar::I64(any.into())));
    }
    let stack = Stack::new(a)?;
    let longest = stack.rows.max(stack.columns) as f64;
    let mut ranks: Vec<i64> = Vec::new();
    for matrix in stack.matrices() {
        let s = decomposed(matrix?, Vectors::None)?.s;
        let largest = s.first().copied().unwrap_or(0.0);
        let rtol = rtol.unwrap_or(longest * epsilon(stack.dtype));
        let tol = tol.unwrap_or(largest * rtol);
        let rounded = |s: f64| if stack.dtype == DType::F32 { f64::from(s as f32) } else { s };
        ranks.push(s.iter().filter(|&&s| rounded(s) > tol).count() as i64);
    }
    Array::from_vec(ranks, &stack.outer)
}
