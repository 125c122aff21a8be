//! Reductions that pass over NaN.

use super::moments::divided;
use super::{Options, Over, Reduction, simple};
use crate::array::Array;
use crate::error::{Result, bail};
use crate::index::Index;
use crate::promote::Operand;
use crate::ufunc::{self, Binary, Unary, map1, map2, nan_to_num};
use crate::warn::{Warning, warn};

pub(super) fn reduce(
    op: Reduction,
    array: &Array,
    over: &Over,
    options: &Options<'_>,
) -> Result<Array> {
    let plain = match op {
        Reduction::NanSum => Reduction::Sum,
        Reduction::NanProd => Reduction::Prod,
        Reduction::NanMin => Reduction::Fmin,
        Reduction::NanMax => Reduction::Fmax,
        Reduction::NanMean => Reduction::Mean,
        Reduction::NanVar => Reduction::Var,
        _ => Reduction::Std,
    };
    match op {
        Reduction::NanSum => simple(plain, &replaced(array, 0.0)?, over, options),
        Reduction::NanProd => simple(plain, &replaced(array, 1.0)?, over, options),
        Reduction::NanMin | Reduction::NanMax => {
            let result = simple(plain, array, over, options)?;
            if result.dtype().is_float() && any(&map1(Unary::Isnan, &result)?) {
                warn(Warning::Runtime, "All-NaN slice encountered")?;
            }
            Ok(result)
        }
        _ if !array.dtype().is_float() => super::reduce(plain, array, Some(&axes(over)), options)
            .and_then(|result| result.reshaped(over.shape.clone())),
        Reduction::NanMean => mean(array, over, options),
        Reduction::NanVar => var(array, over, options),
        _ => map1(Unary::Sqrt, var(array, over, options)?),
    }
}

/// A copy with a number in place of NaN; integers have none.
pub(super) fn replaced(array: &Array, value: f64) -> Result<Array> {
    if array.dtype().is_float() {
        nan_to_num(array, value, Some(f64::INFINITY), Some(f64::NEG_INFINITY))
    } else {
        Ok(array.clone())
    }
}

fn mean(array: &Array, over: &Over, options: &Options<'_>) -> Result<Array> {
    let summing = require_float(options)?;
    let count = present(array, over, &summing)?;
    let sum = simple(Reduction::Sum, &replaced(array, 0.0)?, over, &summing)?;
    let mean = quietly_divided(&sum, &count)?;
    if any(&map2(Binary::Equal, &count, 0i64)?) {
        warn(Warning::Runtime, "Mean of empty slice")?;
    }
    Ok(mean)
}

fn var(array: &Array, over: &Over, options: &Options<'_>) -> Result<Array> {
    let summing = require_float(options)?;
    let whole = over.keeping();
    let count = present(array, &whole, &summing)?;
    let work = replaced(array, 0.0)?;
    let sum = simple(Reduction::Sum, &work, &whole, &summing)?;
    let mean = quietly_divided(&sum, &count)?;
    let into = || ufunc::Options { out: Some(&work), ..Default::default() };
    ufunc::binary(Binary::Subtract, &(&work).into(), &mean.into(), &into())?;
    let absent = map1(Unary::Isnan, array)?;
    work.assign(&[Index::Mask(absent)], &Operand::from(0.0))?;
    ufunc::unary(Unary::Square, &(&work).into(), &into())?;
    let sum = simple(Reduction::Sum, &work, over, &summing)?;
    let freedom = map2(Binary::Subtract, count.reshaped(over.shape.clone())?, options.ddof)?;
    let var = quietly_divided(&sum, &freedom)?;
    let bad = map2(Binary::LessEqual, &freedom, 0.0)?;
    if any(&bad) {
        warn(Warning::Runtime, "Degrees of freedom <= 0 for slice.")?;
        var.assign(&[Index::Mask(bad)], &Operand::from(f64::NAN))?;
    }
    Ok(var)
}

fn require_float<'a>(options: &Options<'a>) -> Result<Options<'a>> {
    if options.dtype.is_some_and(|dtype| !dtype.is_float()) {
        bail!(Type, "If a is inexact, then dtype must be inexact");
    }
    Ok(Options { dtype: options.dtype, mask: options.mask, ..Options::default() })
}

/// Elements that are numbers, for each result.
fn present(array: &Array, over: &Over, options: &Options<'_>) -> Result<Array> {
    let present = map1(Unary::LogicalNot, map1(Unary::Isnan, array)?)?;
    let options = Options { mask: options.mask, ..Options::default() };
    simple(Reduction::CountNonzero, &present, over, &options)
}

/// [`divided`], where a division by nothing is NaN without a warning.
fn quietly_divided(sum: &Array, count: &Array) -> Result<Array> {
    let nothing = [Index::Mask(map2(Binary::LessEqual, count, 0i64)?)];
    let count = count.copy()?;
    count.assign(&nothing, &Operand::from(1i64))?;
    let quotient = divided(sum, &count)?;
    quotient.assign(&nothing, &Operand::from(f64::NAN))?;
    Ok(quotient)
}

fn any(mask: &Array) -> bool {
    mask.iter::<bool>().any(|value| value)
}

fn axes(over: &Over) -> Vec<i64> {
    (0..over.reduced.len()).filter(|&axis| over.reduced[axis]).map(|axis| axis as i64).collect()
}
