//! Means and variances, in numpy's order of operations.

use super::{Options, Over, Reduction, simple};
use crate::array::Array;
use crate::dtype::DType;
use crate::error::Result;
use crate::ufunc::{self, Binary, Unary, map2};
use crate::warn::{Warning, warn};

pub(super) fn mean(array: &Array, over: &Over, options: &Options<'_>) -> Result<Array> {
    let count = count(array, over, options)?;
    if any_below(&count, f64::EPSILON)? {
        warn(Warning::Runtime, "Mean of empty slice")?;
    }
    // `float16` is summed in `float32`; what comes out is `float16` all the same.
    let (dtype, result) = match (options.dtype, array.dtype()) {
        (Some(dtype), _) => (dtype, dtype),
        (None, DType::F16) => (DType::F32, DType::F16),
        (None, dtype) if dtype.is_float() => (dtype, dtype),
        (None, _) => (DType::F64, DType::F64),
    };
    let sum = simple(Reduction::Sum, array, over, &summing(options, Some(dtype)))?;
    divided(&sum, &count)?.cast(result)
}

pub(super) fn var(array: &Array, over: &Over, options: &Options<'_>) -> Result<Array> {
    let whole = over.keeping();
    let count = count(array, &whole, options)?;
    if any_below(&count, options.ddof + f64::EPSILON)? {
        warn(Warning::Runtime, "Degrees of freedom <= 0 for slice")?;
    }
    let dtype = match (options.dtype, array.dtype().is_float()) {
        (None, false) => Some(DType::F64),
        (dtype, _) => dtype,
    };
    let summing = summing(options, dtype);
    let mean = divided(&simple(Reduction::Sum, array, &whole, &summing)?, &count)?;
    let deviation = map2(Binary::Subtract, array, &mean)?;
    ufunc::unary(
        Unary::Square,
        &(&deviation).into(),
        &ufunc::Options { out: Some(&deviation), ..Default::default() },
    )?;
    let sum = simple(Reduction::Sum, &deviation, over, &summing)?;
    divided(&sum, &freedom(&count, options.ddof)?.reshaped(over.shape.clone())?)
}

/// Options for the sums inside.
fn summing<'a>(options: &Options<'a>, dtype: Option<DType>) -> Options<'a> {
    Options { dtype, mask: options.mask, ..Options::default() }
}

/// Elements that come together in each result.
fn count(array: &Array, over: &Over, options: &Options<'_>) -> Result<Array> {
    match options.mask {
        None => Array::full(&over.shape, crate::Scalar::I64(over.count as i64)),
        Some(mask) => {
            let mask = mask.broadcast_to(array.shape())?;
            simple(Reduction::CountNonzero, &mask, over, &Options::default())
        }
    }
}

/// Elements less `ddof`, no less than zero.
pub(super) fn freedom(count: &Array, ddof: f64) -> Result<Array> {
    map2(Binary::Maximum, map2(Binary::Subtract, count, ddof)?, 0.0)
}

fn any_below(count: &Array, limit: f64) -> Result<bool> {
    Ok(count.cast(DType::F64)?.iter::<f64>().any(|count| count < limit))
}

/// Sums over counts, divided in `float64` and brought back to the type of the sums, integers
/// too: `np.true_divide(sum, count, out=sum, casting="unsafe")`.
pub(super) fn divided(sum: &Array, count: &Array) -> Result<Array> {
    let quotient = map2(Binary::Divide, sum.cast(DType::F64)?, count.cast(DType::F64)?)?;
    // Without a warning: a mean too large for a small float has overflowed in its sum.
    let out = Array::uninit(quotient.shape(), sum.dtype())?;
    out.fill_from(&quotient)?;
    Ok(out)
}
