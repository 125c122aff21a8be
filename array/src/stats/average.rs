//! Weighted means and covariances.

use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Error, Result, bail};
use crate::join::concatenate;
use crate::linalg::dot;
use crate::promote::{Operand, promote};
use crate::reduce::{Options, Reduction, reduce};
use crate::ufunc::{Binary, Unary, map1, map2};
use crate::warn::{Warning, warn};

/// `np.average`: the mean with weights, and the sum of the weights.
///
/// # Errors
/// [`Error::ZeroDivision`] when weights sum to zero, [`Error::Type`] or [`Error::Value`]
/// when their shape does not fit, [`Error::Axis`].
pub fn average(
    array: &Array,
    axes: Option<&[i64]>,
    weights: Option<&Array>,
    keepdims: bool,
) -> Result<(Array, Array)> {
    let options = Options { keepdims, ..Options::default() };
    let Some(weights) = weights else {
        let mean = reduce(Reduction::Mean, array, axes, &options)?;
        let count = array.size() as f64 / mean.size() as f64;
        let counts = Array::full(mean.shape(), crate::Scalar::F64(count))?.cast(mean.dtype())?;
        return Ok((mean, counts));
    };
    let mut dtype = promote(array.dtype(), weights.dtype());
    if !dtype.is_float() {
        dtype = DType::F64;
    }
    let weights = aligned(array, axes, weights)?;
    let typed = Options { dtype: Some(dtype), ..options };
    let scale = reduce(Reduction::Sum, &weights, axes, &typed)?;
    if scale.to_vec::<f64>()?.contains(&0.0) {
        return Err(Error::ZeroDivision("Weights sum to zero, can't be normalized".to_owned()));
    }
    let weighted = map2(Binary::Multiply, array.cast(dtype)?, weights.cast(dtype)?)?;
    let sum = reduce(Reduction::Sum, &weighted, axes, &typed)?;
    let mean = map2(Binary::Divide, sum, &scale)?;
    let scale = scale.broadcast_to(mean.shape())?.copy()?;
    Ok((mean, scale))
}

/// Weights in the shape of the array: one-dimensional ones belong to the only axis.
fn aligned(array: &Array, axes: Option<&[i64]>, weights: &Array) -> Result<Array> {
    if weights.shape() == array.shape() {
        return Ok(weights.clone());
    }
    let Some(axes) = axes else {
        bail!(Type, "Axis must be specified when shapes of a and weights differ.");
    };
    let axes = axes.iter().map(|&axis| array.axis(axis)).collect::<Result<Vec<usize>>>()?;
    let lengths: Vec<usize> = axes.iter().map(|&axis| array.shape()[axis]).collect();
    if weights.shape() != lengths {
        bail!(Value, "Shape of weights must be consistent with shape of a along specified axis.");
    }
    let mut order: Vec<usize> = (0..axes.len()).collect();
    order.sort_by_key(|&i| axes[i]);
    let spread: Vec<i64> = (0..array.ndim())
        .map(|axis| if axes.contains(&axis) { array.shape()[axis] as i64 } else { 1 })
        .collect();
    weights.permuted(&order).reshape(&spread)?.broadcast_to(array.shape())
}

/// The covariance matrix of variables in rows (in columns unless `rowvar`) of `m`, and of
/// `y` as further variables. `ddof` is subtracted from the number of observations, 1 by
/// default.
///
/// # Errors
/// [`Error::Value`] for more than two dimensions.
pub fn cov(m: &Array, y: Option<&Array>, rowvar: bool, ddof: Option<f64>) -> Result<Array> {
    if m.ndim() > 2 {
        bail!(Value, "m has more than 2 dimensions");
    }
    if y.is_some_and(|y| y.ndim() > 2) {
        bail!(Value, "y has more than 2 dimensions");
    }
    let rows = |array: &Array| -> Result<Array> {
        let array = array.cast(DType::F64)?;
        let array = if !rowvar && array.ndim() == 2 { array.transposed() } else { array };
        array.at_least(2)
    };
    let mut x = rows(m)?;
    if x.shape()[0] == 0 {
        return Array::zeros(&[0, 0], DType::F64);
    }
    if let Some(y) = y {
        x = concatenate(&[x, rows(y)?], Some(0), None)?;
    }
    let keep = Options { keepdims: true, ..Options::default() };
    let mean = reduce(Reduction::Mean, &x, Some(&[1]), &keep)?;
    let mut freedom = x.shape()[1] as f64 - ddof.unwrap_or(1.0);
    if freedom <= 0.0 {
        warn(Warning::Runtime, "Degrees of freedom <= 0 for slice")?;
        freedom = 0.0;
    }
    let x = map2(Binary::Subtract, x, mean)?;
    let products = dot(&x, &x.transposed().contiguous()?)?;
    let factor = map2(Binary::Divide, 1.0, Array::scalar(crate::Scalar::F64(freedom)))?;
    map2(Binary::Multiply, products, factor)?.squeeze(None)
}

/// The correlation coefficients of variables, as [`cov`].
///
/// # Errors
/// As [`cov`].
pub fn corrcoef(m: &Array, y: Option<&Array>, rowvar: bool) -> Result<Array> {
    let c = cov(m, y, rowvar, None)?;
    if c.ndim() == 0 {
        return map2(Binary::Divide, &c, &c);
    }
    let deviation = map1(Unary::Sqrt, c.diagonal(0, 0, 1)?)?;
    let c = map2(Binary::Divide, c, deviation.expand_dims(&[1])?)?;
    let c = map2(Binary::Divide, c, deviation.expand_dims(&[0])?)?;
    let one: Operand = 1.0.into();
    map2(Binary::Minimum, map2(Binary::Maximum, c, -1.0)?, one)
}
