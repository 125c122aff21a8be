//! Weighted means.

use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Error, Result, bail};
use crate::promote::promote;
use crate::reduce::{Options, Reduction, reduce};
use crate::ufunc::{Binary, map2};

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
    let natural = promote(array.dtype(), weights.dtype());
    let dtype = if array.dtype().is_float() { natural } else { promote(natural, DType::F64) };
    let weights = aligned(array, axes, weights)?.cast(dtype)?;
    let scale = reduce(Reduction::Sum, &weights, axes, &options)?;
    if scale.to_vec::<f64>()?.contains(&0.0) {
        return Err(Error::ZeroDivision("Weights sum to zero, can't be normalized".to_owned()));
    }
    let weighted = map2(Binary::Multiply, array.cast(dtype)?, weights)?;
    let mean = map2(Binary::Divide, reduce(Reduction::Sum, &weighted, axes, &options)?, &scale)?;
    let scale = scale.broadcast_to(mean.shape())?.copy()?;
    Ok((mean, scale))
}

/// Weights with the dimensions of the array, of length one where they are all the same.
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
    weights.permuted(&order).reshape(&spread)
}
