//! Places in sorted arrays.

use super::ranks;
use crate::array::Array;
use crate::error::{Result, bail};
use crate::promote::promote;

/// Before or behind equal elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

impl Side {
    /// # Errors
    /// [`crate::Error::Value`] for another word than `left` and `right`.
    pub fn from_name(name: &str) -> Result<Side> {
        match name {
            "left" | "l" => Ok(Side::Left),
            "right" | "r" => Ok(Side::Right),
            _ => bail!(Value, "search side must be 'left' or 'right' (got '{name}')"),
        }
    }
}

/// Where each of `values` would have to be inserted into the sorted vector `array`; with a
/// `sorter`, into the vector that this order sorts.
///
/// # Errors
/// [`crate::Error::Value`] when `array` is not one-dimensional or the sorter does not fit.
pub fn searchsorted(
    array: &Array,
    values: &Array,
    side: Side,
    sorter: Option<&Array>,
) -> Result<Array> {
    if array.ndim() != 1 {
        bail!(
            Value,
            "{}",
            if array.ndim() > 1 {
                "object too deep for desired array"
            } else {
                "object of too small depth for desired array"
            }
        );
    }
    let order = sorter.map(|sorter| sorter.to_vec::<i64>()).transpose()?;
    if order.as_ref().is_some_and(|order| order.len() != array.size()) {
        bail!(Value, "sorter.size must equal a.size");
    }
    let dtype = promote(array.dtype(), values.dtype());
    let mut keys = ranks(&array.cast(dtype)?)?;
    if let Some(order) = order {
        let picked = order.iter().map(|&i| keys.get(usize::try_from(i).ok()?).copied());
        match picked.collect() {
            Some(sorted) => keys = sorted,
            None => bail!(Value, "Sorter index out of range."),
        }
    }
    let places = ranks(&values.cast(dtype)?)?.into_iter().map(|value| match side {
        Side::Left => keys.partition_point(|&key| key < value) as i64,
        Side::Right => keys.partition_point(|&key| key <= value) as i64,
    });
    Array::from_vec(places.collect(), values.shape())
}

/// The number of the bin that holds each element: `np.digitize`.
///
/// # Errors
/// [`crate::Error::Value`] when the bins neither rise nor fall.
pub fn digitize(values: &Array, bins: &Array, right: bool) -> Result<Array> {
    let edges = ranks(bins)?;
    let side = if right { Side::Left } else { Side::Right };
    if edges.is_sorted() {
        return searchsorted(bins, values, side, None);
    }
    if !edges.iter().rev().is_sorted() || bins.ndim() != 1 {
        bail!(Value, "bins must be monotonically increasing or decreasing");
    }
    let reversed = bins.with_layout(
        bins.shape().to_vec(),
        vec![-bins.strides()[0]],
        (bins.offset() as isize + (edges.len() as isize - 1) * bins.strides()[0]) as usize,
    );
    let places = searchsorted(&reversed, values, side, None)?;
    let count = edges.len() as i64;
    let flipped = places.to_vec::<i64>()?.into_iter().map(|place| count - place).collect();
    Array::from_vec(flipped, values.shape())
}
