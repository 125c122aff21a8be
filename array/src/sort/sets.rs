//! Arrays as sets.

use super::order::Ordered;
use super::ranks;
use super::unique::{unique, unique_values};
use crate::array::Array;
use crate::blocks;
use crate::dtype::{DType, Element as _, with_dtype};
use crate::error::Result;
use crate::promote::promote;

/// Whether each element of `array` is among `test`; with `invert`, whether it is not.
///
/// # Errors
/// [`crate::Error::Memory`], [`crate::Error::Interrupted`].
pub fn isin(array: &Array, test: &Array, invert: bool) -> Result<Array> {
    if array.dtype() == DType::U8 && array.size() > 256 {
        // There are but so many bytes to look for.
        let every =
            isin(&Array::vector((0..=u8::MAX).collect()), test, invert)?.to_vec::<bool>()?;
        let out = Array::zeros(array.shape(), DType::Bool)?;
        blocks::map([array], &out, &mut |[bytes]: [&[u8]; 1], out: &mut [bool]| {
            for (out, &byte) in out.iter_mut().zip(bytes) {
                *out = every[usize::from(byte)];
            }
            Ok(())
        })?;
        return Ok(out);
    }
    let dtype = promote(array.dtype(), test.dtype());
    let mut test = ranks(&test.cast(dtype)?)?;
    test.sort_unstable();
    with_dtype!(dtype, T => {
        let among = array.to_vec::<T>()?.into_iter().map(|value| {
            // NaN equals nothing.
            (!value.is_nan() && test.binary_search(&value.rank()).is_ok()) != invert
        });
        Array::from_vec(among.collect(), array.shape())
    })
}

/// The sorted elements of both, once each.
///
/// # Errors
/// As [`isin`].
pub fn union1d(a: &Array, b: &Array) -> Result<Array> {
    unique_values(&joined(a, b)?)
}

/// The sorted elements that both have, with the indices of their first occurrence in each.
///
/// # Errors
/// As [`isin`].
pub fn intersect1d(a: &Array, b: &Array) -> Result<(Array, Array, Array)> {
    let (a_set, b_set) = (unique(a, None)?, unique(b, None)?);
    let common = isin(&a_set.values, &b_set.values, false)?;
    let in_a = picked(&a_set.index, &common)?;
    let values = picked(&a_set.values, &common)?.cast(promote(a.dtype(), b.dtype()))?;
    let in_b = picked(&b_set.index, &isin(&b_set.values, &a_set.values, false)?)?;
    Ok((values, in_a, in_b))
}

/// The sorted elements of `a` that are not in `b`.
///
/// # Errors
/// As [`isin`].
pub fn setdiff1d(a: &Array, b: &Array) -> Result<Array> {
    let values = unique_values(a)?;
    picked(&values, &isin(&values, b, true)?)
}

/// The sorted elements that only one of both has.
///
/// # Errors
/// As [`isin`].
pub fn setxor1d(a: &Array, b: &Array) -> Result<Array> {
    unique_values(&joined(&setdiff1d(a, b)?, &setdiff1d(b, a)?)?)
}

/// Both, flattened, one behind the other.
fn joined(a: &Array, b: &Array) -> Result<Array> {
    let dtype: DType = promote(a.dtype(), b.dtype());
    with_dtype!(dtype, T => {
        let mut values = a.to_vec::<T>()?;
        values.extend(b.to_vec::<T>()?);
        Ok(Array::vector(values))
    })
}

/// The elements of a vector under a mask.
fn picked(values: &Array, mask: &Array) -> Result<Array> {
    with_dtype!(values.dtype(), T => {
        let chosen = values.iter::<T>().zip(mask.iter::<bool>());
        Ok(Array::vector(chosen.filter(|(_, keep)| *keep).map(|(value, _)| value).collect()))
    })
}
