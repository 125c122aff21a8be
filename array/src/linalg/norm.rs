//! Norms and condition numbers.

use super::factor::svdvals;
use super::product::matmul;
use super::solve::inv;
use crate::array::{Array, normalize_axis};
use crate::dtype::DType;
use crate::error::{Error, Result, bail};
use crate::reduce::{Options, Reduction, reduce};
use crate::scalar::Scalar;
use crate::ufunc::{Binary, Unary, map1, map2};

/// Which norm.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// `None`: the 2-norm of a vector, the Frobenius norm of a matrix.
    Default,
    Number(f64),
    /// `fro`, `nuc` or another word.
    Name(String),
}

/// Norms of vectors or matrices along one or two axes; of everything as one vector when
/// neither order nor axes are given.
///
/// # Errors
/// [`Error::Value`] for an order that there is not, or another number of axes,
/// [`Error::Axis`].
pub fn norm(x: &Array, order: &Order, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
    let x = if x.dtype().is_float() { x.clone() } else { x.cast(DType::F64)? };
    let frobenius = |name: &str| name == "fro" || name == "f";
    if axes.is_none() {
        let plain = match order {
            Order::Default => true,
            Order::Number(number) => *number == 2.0 && x.ndim() == 1,
            Order::Name(name) => frobenius(name) && x.ndim() == 2,
        };
        if plain {
            let flat = x.ravel()?;
            let norm = map1(Unary::Sqrt, matmul(&flat, &flat)?)?;
            return if keepdims { norm.reshape(&vec![1; x.ndim()]) } else { Ok(norm) };
        }
    }
    let all: Vec<i64> = (0..x.ndim() as i64).collect();
    let axes = axes.unwrap_or(&all);
    match axes {
        [_] => vector_norm(&x, order, axes, keepdims),
        [row, column] => {
            let (row, column) =
                (normalize_axis(*row, x.ndim())?, normalize_axis(*column, x.ndim())?);
            if row == column {
                bail!(Value, "Duplicate axes given.");
            }
            let norm = matrix_norm(&x, order, row, column)?;
            if !keepdims {
                return Ok(norm);
            }
            let kept: Vec<i64> = (0..x.ndim())
                .map(|axis| if [row, column].contains(&axis) { 1 } else { x.shape()[axis] as i64 })
                .collect();
            norm.reshape(&kept)
        }
        _ => bail!(Value, "Improper number of dimensions to norm."),
    }
}

fn vector_norm(x: &Array, order: &Order, axes: &[i64], keepdims: bool) -> Result<Array> {
    let options = Options { keepdims, ..Options::default() };
    let sizes = || map1(Unary::Absolute, x);
    let number = match order {
        Order::Default => 2.0,
        Order::Number(number) => *number,
        Order::Name(name) => bail!(Value, "Invalid norm order '{name}' for vectors"),
    };
    if number == f64::INFINITY {
        let zero = Some(Scalar::F64(0.0).cast(x.dtype()));
        reduce(Reduction::Max, &sizes()?, Some(axes), &Options { initial: zero, ..options })
    } else if number == f64::NEG_INFINITY {
        reduce(Reduction::Min, &sizes()?, Some(axes), &options)
    } else if number == 0.0 {
        let there = map2(Binary::NotEqual, x, 0.0)?.cast(x.dtype())?;
        reduce(Reduction::Sum, &there, Some(axes), &options)
    } else if number == 1.0 {
        reduce(Reduction::Sum, &sizes()?, Some(axes), &options)
    } else if number == 2.0 {
        let squares = map2(Binary::Multiply, x, x)?;
        map1(Unary::Sqrt, reduce(Reduction::Sum, &squares, Some(axes), &options)?)
    } else {
        let powers = map2(Binary::Power, sizes()?, number)?;
        let sum = reduce(Reduction::Sum, &powers, Some(axes), &options)?;
        map2(Binary::Power, sum, 1.0 / number)
    }
}

fn matrix_norm(x: &Array, order: &Order, row: usize, column: usize) -> Result<Array> {
    let plain = Options::default();
    let zero = Options { initial: Some(Scalar::F64(0.0).cast(x.dtype())), ..plain };
    // The sums along one axis, and of those the largest or smallest along the other.
    let sums = |summed: usize, other: usize, op: Reduction, options: &Options<'_>| {
        let sums =
            reduce(Reduction::Sum, &map1(Unary::Absolute, x)?, Some(&[summed as i64]), &plain)?;
        let other = if other > summed { other - 1 } else { other };
        reduce(op, &sums, Some(&[other as i64]), options)
    };
    let singular = |op: Reduction, options: &Options<'_>| {
        let moved = x.moveaxis(&[row as i64, column as i64], &[-2, -1])?;
        reduce(op, &svdvals(&moved)?, Some(&[-1]), options)
    };
    match order {
        Order::Number(2.0) => singular(Reduction::Max, &zero),
        Order::Number(-2.0) => singular(Reduction::Min, &plain),
        Order::Number(1.0) => sums(row, column, Reduction::Max, &zero),
        Order::Number(-1.0) => sums(row, column, Reduction::Min, &plain),
        Order::Number(f64::INFINITY) => sums(column, row, Reduction::Max, &zero),
        Order::Number(f64::NEG_INFINITY) => sums(column, row, Reduction::Min, &plain),
        Order::Name(name) if name == "nuc" => singular(Reduction::Sum, &plain),
        Order::Name(name) if name != "fro" && name != "f" => {
            bail!(Value, "Invalid norm order for matrices.")
        }
        Order::Number(_) => bail!(Value, "Invalid norm order for matrices."),
        Order::Default | Order::Name(_) => {
            let squares = map2(Binary::Multiply, x, x)?;
            let axes = [row as i64, column as i64];
            map1(Unary::Sqrt, reduce(Reduction::Sum, &squares, Some(&axes), &plain)?)
        }
    }
}

/// Condition numbers in a norm: by default the largest over the smallest singular value.
///
/// # Errors
/// As [`norm`], [`Error::LinAlg`] for arrays that are no matrices.
pub fn cond(x: &Array, order: &Order) -> Result<Array> {
    if x.is_empty() {
        bail!(LinAlg, "cond is not defined on empty arrays");
    }
    let n = x.ndim();
    let result = match order {
        Order::Default | Order::Number(2.0 | -2.0) => {
            let s = svdvals(x)?;
            let last = s.shape()[s.ndim() - 1] - 1;
            let (first, last) = (s.index_axis(s.ndim() - 1, 0), s.index_axis(s.ndim() - 1, last));
            if *order == Order::Number(-2.0) {
                quotient(last, first)?
            } else {
                quotient(first, last)?
            }
        }
        _ => {
            let axes = [n as i64 - 2, n as i64 - 1];
            let inverse = match inv(x) {
                Err(Error::LinAlg(text)) if text == "Singular matrix" && n == 2 => {
                    return Ok(Array::scalar(Scalar::F64(f64::INFINITY)));
                }
                inverse => inverse?,
            };
            let norms =
                (norm(x, order, Some(&axes), false)?, norm(&inverse, order, Some(&axes), false)?);
            map2(Binary::Multiply, norms.0, norms.1)?
        }
    };
    Ok(result)
}

/// A quotient where 0/0 is infinite, without warnings.
fn quotient(a: Array, b: Array) -> Result<Array> {
    let values = a.to_vec::<f64>()?.into_iter().zip(b.to_vec::<f64>()?);
    let quotients = values.map(|(a, b)| if b == 0.0 { f64::INFINITY } else { a / b }).collect();
    Array::from_vec::<f64>(quotients, a.shape())?.cast(a.dtype())
}
