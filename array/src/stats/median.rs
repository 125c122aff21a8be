//! Medians, by selection.

use half::f16;

use crate::array::Array;
use crate::dtype::{Element, with_dtype};
use crate::error::Result;
use crate::lanes::Lanes;
use crate::sort::order::Ordered;
use crate::sort::select::Selector;
use crate::warn::{Warning, warn};

/// The median along axes (all for `None`): NaN where there is a NaN.
///
/// # Errors
/// [`crate::Error::Axis`], [`crate::Error::Value`] for a repeated axis.
pub fn median(array: &Array, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
    with_dtype!(array.dtype(), T => {
        let lanes = Lanes::new(array, axes)?;
        if lanes.length == 0 && lanes.count() > 0 {
            warn(Warning::Runtime, "Mean of empty slice")?;
            let scalar = if lanes.outer.is_empty() { "scalar " } else { "" };
            warn(Warning::Runtime, &format!("invalid value encountered in {scalar}divide"))?;
        }
        medians::<T>(&lanes, keepdims, &mut |lane| {
            Ok(if lane.nans() > 0 { 0 } else { lane.len() })
        })
    })
}

/// The median of what is not NaN.
///
/// # Errors
/// As [`median`].
pub fn nanmedian(array: &Array, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
    with_dtype!(array.dtype(), T => {
        let lanes = Lanes::new(array, axes)?;
        if lanes.length == 0 && lanes.count() > 0 {
            warn(Warning::Runtime, "Mean of empty slice")?;
        }
        medians::<T>(&lanes, keepdims, &mut |lane| {
            let length = lane.len() - lane.nans();
            if length == 0 && lane.nans() > 0 {
                warn(Warning::Runtime, "All-NaN slice encountered")?;
            }
            Ok(length)
        })
    })
}

/// The median of the first elements of each lane's sorted order; `length` tells how many.
fn medians<T: Middle>(
    lanes: &Lanes,
    keepdims: bool,
    // Not generic: one copy of the loops serves both.
    length: &mut dyn FnMut(&Selector<T>) -> Result<usize>,
) -> Result<Array> {
    let mut medians = Vec::with_capacity(lanes.count());
    if lanes.length == 0 {
        medians.resize(lanes.count(), T::Mean::from_f64(f64::NAN));
    }
    Selector::<T>::for_each(lanes, |lane| {
        medians.push(match length(lane)? {
            0 => T::Mean::from_f64(f64::NAN),
            n if n % 2 == 1 => {
                lane.select(&[n / 2]);
                T::mean(lane.get(n / 2), None)
            }
            n => {
                lane.select(&[n / 2 - 1, n / 2]);
                T::mean(lane.get(n / 2 - 1), Some(lane.get(n / 2)))
            }
        });
        Ok(())
    })?;
    Array::from_vec(medians, lanes.result_shape(keepdims))
}

/// The mean of one element or two.
trait Middle: Ordered {
    type Mean: Element;

    fn mean(first: Self, second: Option<Self>) -> Self::Mean;
}

macro_rules! middle_of {
    ($($type:ty, $mean:ty, $wide:ty, $widen:expr, $narrow:expr;)*) => {$(
        impl Middle for $type {
            type Mean = $mean;

            fn mean(first: Self, second: Option<Self>) -> $mean {
                let widen: fn($type) -> $wide = $widen;
                let mean = match second {
                    None => widen(first),
                    Some(second) => (widen(first) + widen(second)) / 2.0,
                };
                $narrow(mean)
            }
        }
    )*};
}

middle_of! {
    bool, f64, f64, |x| f64::from(u8::from(x)), std::convert::identity;
    u8, f64, f64, f64::from, std::convert::identity;
    i32, f64, f64, f64::from, std::convert::identity;
    i64, f64, f64, |x| x as f64, std::convert::identity;
    f16, f16, f32, f16::to_f32, f16::from_f32;
    f32, f32, f32, std::convert::identity, std::convert::identity;
    f64, f64, f64, std::convert::identity, std::convert::identity;
}
