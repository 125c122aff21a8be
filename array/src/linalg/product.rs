//! Products of vectors, matrices and stacks of matrices.

use super::gemm::{Factor, multiply};
use super::solve::inv;
use crate::array::{Array, normalize_axis};
use crate::dtype::{DType, with_dtype};
use crate::error::{Error, Result, bail};
use crate::interrupt;
use crate::promote::promote;
use crate::reduce::{Options, Reduction, reduce};
use crate::shape::{broadcast_shapes, tight_text};
use crate::ufunc::{Binary, map2};

/// `a @ b`: products of matrices in the last two dimensions, the others repeated as
/// needed; one-dimensional operands are a row, or a column.
///
/// # Errors
/// [`Error::Value`] when inner lengths differ or an operand has no dimensions.
pub fn matmul(a: &Array, b: &Array) -> Result<Array> {
    const SIGNATURE: &str = "(n?,k),(k,m?)->(n?,m?)";
    for (number, operand) in [a, b].into_iter().enumerate() {
        if operand.ndim() == 0 {
            bail!(
                Value,
                "matmul: Input operand {number} does not have enough dimensions (has 0, gufunc \
                 core with signature {SIGNATURE} requires 1)"
            );
        }
    }
    let (row, column) = (a.ndim() == 1, b.ndim() == 1);
    let dtype = promote(a.dtype(), b.dtype());
    let left = if row { a.expand_dims(&[0])? } else { a.clone() };
    let right = if column { b.expand_dims(&[1])? } else { b.clone() };
    let (m, k) = last_two(&left);
    let (inner, n) = last_two(&right);
    if inner != k {
        bail!(
            Value,
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc \
             signature {SIGNATURE} (size {inner} is different from {k})"
        );
    }
    let (a_outer, b_outer) = (&left.shape()[..left.ndim() - 2], &right.shape()[..right.ndim() - 2]);
    let outer = broadcast_shapes(&[a_outer, b_outer]).map_err(|_| {
        let remapped = |shape: &[usize], outer: &[usize]| {
            let dims: String = outer.iter().map(|n| format!("{n},")).collect();
            format!("{}->({dims}newaxis,newaxis)", tight_text(shape))
        };
        Error::Value(format!(
            "operands could not be broadcast together with remapped shapes \
             [original->remapped]: {} {}  and requested shape ({m},{n})",
            remapped(left.shape(), a_outer),
            remapped(right.shape(), b_outer)
        ))
    })?;
    // A transposed matrix times a vector is summed column by column, as a vector times a
    // matrix is.
    let by_columns = n == 1 && m > 1 && outer.is_empty() && !left.is_c_contiguous();
    let mut shape = outer.clone();
    shape.extend((!row).then_some(m));
    shape.extend((!column).then_some(n));
    with_dtype!(dtype, T => {
        let left = left.cast(dtype)?.broadcast_to(&[&outer[..], &[m, k]].concat())?;
        let right = right.cast(dtype)?.broadcast_to(&[&outer[..], &[k, n]].concat())?;
        Array::build(&shape, |out: &mut [T]| {
            if by_columns {
                let turned = left.swapaxes(0, 1)?;
                return stacked::<T>(&right.reshape(&[1, k as i64])?, &turned, out, k, m);
            }
            stacked::<T>(&left, &right, out, k, n)
        })
    })
}

/// Products of all matrices in C order of their outer dimensions.
fn stacked<T: Factor>(a: &Array, b: &Array, out: &mut [T], k: usize, n: usize) -> Result<()> {
    /// Products between two checks for an interrupt.
    const PIECE: usize = 1 << 26;
    let outer = a.ndim() - 2;
    let m = a.shape()[outer];
    if out.is_empty() {
        return Ok(());
    }
    let count = out.len() / (m * n);
    // A matrix that meets a whole stack is read only once.
    let same_b = b.ndim() > 2 && b.strides()[..b.ndim() - 2].iter().all(|&stride| stride == 0);
    let b = if same_b { first_matrix(b) } else { b.clone() };
    let (a, b) = (a.contiguous()?, b.contiguous()?);
    // SAFETY: `out` is new, and nothing else is written meanwhile.
    let (Some(a), Some(b)) = (unsafe { (a.as_slice::<T>(), b.as_slice::<T>()) }) else {
        bail!(Type, "matrices of unlike types");
    };
    if m == 1 && outer == 0 && n > 1 {
        return row_by_matrix(a, b, out, n);
    }
    let rows = (PIECE / (k * n).max(1)).clamp(1, m);
    for i in 0..count {
        let b = &b[if same_b { 0 } else { i * k * n }..][..k * n];
        let a = &a[i * m * k..][..m * k];
        let out = &mut out[i * m * n..][..m * n];
        for (piece, out) in out.chunks_mut(rows * n).enumerate() {
            if m * k * n > PIECE {
                interrupt::check()?;
            }
            let start = piece * rows * k;
            multiply(&a[start..start + out.len() / n * k], b, out, k, n);
        }
    }
    Ok(())
}

/// One row times a matrix: row by row of the matrix, without fused multiplications.
fn row_by_matrix<T: Factor>(a: &[T], b: &[T], out: &mut [T], n: usize) -> Result<()> {
    out.fill(T::ZERO);
    if !T::DTYPE.is_float() || T::DTYPE == DType::F16 {
        if !a.is_empty() {
            T::rows(a, b, out, a.len(), n);
        }
        return Ok(());
    }
    for (a, b) in a.iter().zip(b.chunks_exact(n)) {
        for (out, b) in out.iter_mut().zip(b) {
            *out = T::from_f64(out.to_f64() + T::from_f64(a.to_f64() * b.to_f64()).to_f64());
        }
    }
    Ok(())
}

fn first_matrix(stack: &Array) -> Array {
    let outer = stack.ndim() - 2;
    stack.with_layout(
        stack.shape()[outer..].to_vec(),
        stack.strides()[outer..].to_vec(),
        stack.offset(),
    )
}

fn last_two(array: &Array) -> (usize, usize) {
    let n = array.ndim();
    (array.shape()[n - 2], array.shape()[n - 1])
}

/// `np.dot`: sums over the last axis of `a` and the second last of `b`, or the only one.
///
/// # Errors
/// [`Error::Value`] when their lengths differ.
pub fn dot(a: &Array, b: &Array) -> Result<Array> {
    if a.ndim() == 0 || b.ndim() == 0 {
        return map2(Binary::Multiply, a, b);
    }
    let b_axis = b.ndim().saturating_sub(2);
    aligned(a, a.ndim() - 1, b, b_axis)?;
    if a.ndim() <= 2 && b.ndim() <= 2 {
        return matmul(a, b);
    }
    contracted(a, &[a.ndim() - 1], b, &[b_axis])
}

fn aligned(a: &Array, a_axis: usize, b: &Array, b_axis: usize) -> Result<()> {
    let (m, n) = (a.shape()[a_axis], b.shape()[b_axis]);
    if m == n {
        return Ok(());
    }
    bail!(
        Value,
        "shapes {} and {} not aligned: {m} (dim {a_axis}) != {n} (dim {b_axis})",
        tight_text(a.shape()),
        tight_text(b.shape())
    )
}

/// Sums over pairs of axes by one product of matrices.
fn contracted(a: &Array, a_axes: &[usize], b: &Array, b_axes: &[usize]) -> Result<Array> {
    let free = |array: &Array, axes: &[usize]| -> Vec<usize> {
        (0..array.ndim()).filter(|axis| !axes.contains(axis)).collect()
    };
    let (a_free, b_free) = (free(a, a_axes), free(b, b_axes));
    let length: usize = a_axes.iter().map(|&axis| a.shape()[axis]).product();
    let dims = |array: &Array, axes: &[usize]| -> Vec<usize> {
        axes.iter().map(|&axis| array.shape()[axis]).collect()
    };
    let (a_dims, b_dims) = (dims(a, &a_free), dims(b, &b_free));
    let flat =
        |array: Array, rows: usize, columns: usize| array.reshape(&[rows as i64, columns as i64]);
    let a = a.permuted(&[&a_free[..], a_axes].concat());
    let b = b.permuted(&[b_axes, &b_free[..]].concat());
    let a = flat(a, a_dims.iter().product(), length)?;
    let b = flat(b, length, b_dims.iter().product())?;
    let shape: Vec<i64> = [a_dims, b_dims].concat().into_iter().map(|n| n as i64).collect();
    matmul(&a, &b)?.reshape(&shape)
}

/// `np.tensordot` over the axes of each.
///
/// # Errors
/// [`Error::Value`] when lengths differ, [`Error::Index`] for an axis that there is not.
pub fn tensordot(a: &Array, b: &Array, a_axes: &[i64], b_axes: &[i64]) -> Result<Array> {
    let resolve = |array: &Array, axes: &[i64]| -> Result<Vec<usize>> {
        axes.iter()
            .map(|&axis| {
                normalize_axis(axis, array.ndim())
                    .map_err(|_| Error::Index("tuple index out of range".to_owned()))
            })
            .collect()
    };
    if a_axes.len() != b_axes.len() {
        bail!(Value, "shape-mismatch for sum");
    }
    let (a_axes, b_axes) = (resolve(a, a_axes)?, resolve(b, b_axes)?);
    if a_axes.iter().zip(&b_axes).any(|(&i, &j)| a.shape()[i] != b.shape()[j]) {
        bail!(Value, "shape-mismatch for sum");
    }
    contracted(a, &a_axes, b, &b_axes)
}

/// `np.inner`: sums over the last axes of both.
///
/// # Errors
/// [`Error::Value`] when their lengths differ.
pub fn inner(a: &Array, b: &Array) -> Result<Array> {
    if a.ndim() == 0 || b.ndim() == 0 {
        return map2(Binary::Multiply, a, b);
    }
    let turned = if b.ndim() > 1 { b.swapaxes(-1, -2)? } else { b.clone() };
    aligned(a, a.ndim() - 1, &turned, turned.ndim().saturating_sub(2))?;
    dot(a, &turned)
}

/// `np.vdot`: the scalar product of the flattened arrays.
///
/// # Errors
/// [`Error::Value`] when their sizes differ.
pub fn vdot(a: &Array, b: &Array) -> Result<Array> {
    if a.size() != b.size() {
        bail!(
            Value,
            "cannot reshape array of size {} into shape {}",
            b.size(),
            tight_text(&[a.size()])
        );
    }
    matmul(&a.ravel()?, &b.ravel()?)
}

/// `np.vecdot`: scalar products along the last axis.
///
/// # Errors
/// [`Error::Value`] when shapes do not fit.
pub fn vecdot(a: &Array, b: &Array) -> Result<Array> {
    let (a, b) = (a.expand_dims(&[-2])?, b.expand_dims(&[-1])?);
    matmul(&a, &b)?.squeeze(Some(&[-1, -2]))
}

/// `np.matvec`: matrices times vectors in the last axis.
///
/// # Errors
/// [`Error::Value`] when shapes do not fit.
pub fn matvec(a: &Array, b: &Array) -> Result<Array> {
    matmul(a, &b.expand_dims(&[-1])?)?.squeeze(Some(&[-1]))
}

/// `np.outer`: every element of one times every element of the other.
///
/// # Errors
/// [`Error::Memory`].
pub fn outer(a: &Array, b: &Array) -> Result<Array> {
    map2(Binary::Multiply, a.ravel()?.expand_dims(&[1])?, b.ravel()?.expand_dims(&[0])?)
}

/// `np.kron`: blocks of `b`, scaled by the elements of `a`.
///
/// # Errors
/// [`Error::Memory`].
pub fn kron(a: &Array, b: &Array) -> Result<Array> {
    let ndim = a.ndim().max(b.ndim());
    let padded =
        |array: &Array| -> Vec<usize> { [&vec![1; ndim - array.ndim()], array.shape()].concat() };
    let (a_dims, b_dims) = (padded(a), padded(b));
    let spread = |array: &Array, dims: &[usize], first: bool| {
        let shape: Vec<i64> =
            dims.iter().flat_map(|&n| if first { [n as i64, 1] } else { [1, n as i64] }).collect();
        array.reshape(&shape)
    };
    let shape: Vec<i64> = a_dims.iter().zip(&b_dims).map(|(m, n)| (m * n) as i64).collect();
    map2(Binary::Multiply, spread(a, &a_dims, true)?, spread(b, &b_dims, false)?)?.reshape(&shape)
}

/// Sums of diagonals: `np.trace`. Small integers are summed as `int64`.
///
/// # Errors
/// [`Error::Value`] with fewer than two dimensions.
pub fn trace(
    a: &Array,
    offset: i64,
    axis1: i64,
    axis2: i64,
    dtype: Option<DType>,
) -> Result<Array> {
    if a.ndim() < 2 {
        bail!(Value, "diag requires an array of at least two dimensions");
    }
    let options = Options { dtype, ..Options::default() };
    reduce(Reduction::Sum, &a.diagonal(offset, axis1, axis2)?, Some(&[-1]), &options)
}

/// The cross product of vectors along an axis of each. Two-dimensional vectors have a zero
/// third component; of two such only the third component of the product is given.
///
/// # Errors
/// [`Error::Value`] for vectors of other lengths, [`Error::Axis`].
pub fn cross(a: &Array, b: &Array, a_axis: i64, b_axis: i64, out_axis: i64) -> Result<Array> {
    let a = a.moveaxis(&[a_axis], &[-1])?;
    let b = b.moveaxis(&[b_axis], &[-1])?;
    let length = |array: &Array| array.shape()[array.ndim() - 1];
    if ![2, 3].contains(&length(&a)) || ![2, 3].contains(&length(&b)) {
        bail!(Value, "incompatible dimensions for cross product\n(dimension must be 2 or 3)");
    }
    if length(&a) == 2 || length(&b) == 2 {
        crate::warn::warn(
            crate::warn::Warning::Deprecation,
            "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors \
             instead. (deprecated in NumPy 2.0)",
        )?;
    }
    let part = |array: &Array, i: usize| {
        (i < length(array)).then(|| array.index_axis(array.ndim() - 1, i))
    };
    // a[i] b[j] - a[j] b[i]; a component that is not there is zero.
    let component = |i: usize, j: usize| -> Result<Array> {
        let times = |i: usize, j: usize| match (part(&a, i), part(&b, j)) {
            (Some(x), Some(y)) => map2(Binary::Multiply, x, y).map(Some),
            _ => Ok(None),
        };
        match (times(i, j)?, times(j, i)?) {
            (Some(x), Some(y)) => map2(Binary::Subtract, x, y),
            (Some(x), None) => Ok(x),
            (None, Some(y)) => crate::ufunc::map1(crate::ufunc::Unary::Negative, y),
            (None, None) => {
                Err(Error::Value("incompatible dimensions for cross product".to_owned()))
            }
        }
    };
    if length(&a) == 2 && length(&b) == 2 {
        return component(0, 1);
    }
    let parts = [component(1, 2)?, component(2, 0)?, component(0, 1)?];
    let shape = [parts[0].shape(), &[3]].concat();
    let out = Array::zeros(&shape, parts[0].dtype())?;
    for (i, part) in parts.iter().enumerate() {
        out.index_axis(out.ndim() - 1, i).fill_from(part)?;
    }
    out.moveaxis(&[-1], &[out_axis])
}

/// A square matrix times itself, or its inverse for a negative exponent.
///
/// # Errors
/// [`Error::LinAlg`] when it is not square, or singular.
pub fn matrix_power(a: &Array, exponent: i64) -> Result<Array> {
    if a.ndim() < 2 {
        bail!(
            LinAlg,
            "{}-dimensional array given. Array must be at least two-dimensional",
            a.ndim()
        );
    }
    let (rows, columns) = last_two(a);
    if rows != columns {
        bail!(LinAlg, "Last 2 dimensions of the array must be square");
    }
    if exponent == 0 {
        let ones = crate::create::eye(rows, rows, 0, a.dtype())?;
        return ones.broadcast_to(a.shape())?.copy();
    }
    let mut square = if exponent < 0 { inv(a)? } else { a.clone() };
    let mut left = exponent.unsigned_abs();
    if left == 3 {
        return matmul(&matmul(&square, &square)?, &square);
    }
    let mut power: Option<Array> = None;
    loop {
        if left % 2 == 1 {
            power = Some(match power {
                None => square.clone(),
                Some(power) => matmul(&power, &square)?,
            });
        }
        left /= 2;
        if left == 0 {
            return power.unwrap_or(square).copy();
        }
        square = matmul(&square, &square)?;
    }
}

/// The product of several matrices, in the order that costs least. The first and the last
/// may be vectors.
///
/// # Errors
/// [`Error::Value`] for fewer than two or shapes that do not fit, [`Error::LinAlg`] for
/// other dimensions.
pub fn multi_dot(arrays: &[Array]) -> Result<Array> {
    let n = arrays.len();
    if n < 2 {
        bail!(Value, "Expecting at least two arrays.");
    }
    let mut matrices = arrays.to_vec();
    let (row, column) = (arrays[0].ndim() == 1, arrays[n - 1].ndim() == 1);
    if row {
        matrices[0] = arrays[0].expand_dims(&[0])?;
    }
    if column {
        matrices[n - 1] = arrays[n - 1].expand_dims(&[1])?;
    }
    for matrix in &matrices {
        if matrix.ndim() != 2 {
            bail!(
                LinAlg,
                "{}-dimensional array given. Array must be two-dimensional",
                matrix.ndim()
            );
        }
    }
    let sides: Vec<usize> = [matrices[0].shape()[0]]
        .into_iter()
        .chain(matrices.iter().map(|matrix| matrix.shape()[1]))
        .collect();
    // The cheapest split of each run of matrices, shorter runs first.
    let mut cost = vec![vec![0.0f64; n]; n];
    let mut split = vec![vec![0; n]; n];
    for length in 1..n {
        for i in 0..n - length {
            let j = i + length;
            cost[i][j] = f64::INFINITY;
            for k in i..j {
                let product = sides[i] as f64 * sides[k + 1] as f64 * sides[j + 1] as f64;
                let total = cost[i][k] + cost[k + 1][j] + product;
                if total < cost[i][j] {
                    (cost[i][j], split[i][j]) = (total, k);
                }
            }
        }
    }
    let mut product = chained(&matrices, &split, 0, n - 1)?;
    if row {
        product = product.squeeze(Some(&[0]))?;
    }
    if column {
        product = product.squeeze(Some(&[-1]))?;
    }
    Ok(product)
}

fn chained(matrices: &[Array], split: &[Vec<usize>], i: usize, j: usize) -> Result<Array> {
    if i == j {
        return Ok(matrices[i].clone());
    }
    let k = split[i][j];
    dot(&chained(matrices, split, i, k)?, &chained(matrices, split, k + 1, j)?)
}
