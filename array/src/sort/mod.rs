//! Sorting, partial sorting and searching. NaN counts as larger than every number.

pub(crate) mod order;
mod radix;
mod search;
pub(crate) mod select;
mod sets;
pub(crate) mod tally;
mod unique;

pub use search::{Side, digitize, searchsorted};
pub use sets::{intersect1d, isin, setdiff1d, setxor1d, union1d};
pub use unique::{Unique, unique, unique_values};

use std::cmp::Ordering;

use order::Ordered;
use tally::Tally;

use crate::array::{Array, normalize_axis};
use crate::dtype::with_dtype;
use crate::error::{Error, Result, bail};
use crate::interrupt;
use crate::lanes::{Lanes, from_lanes};

/// A sorted copy along an axis, or of the flattened array.
///
/// # Errors
/// [`Error::Axis`].
pub fn sort(array: &Array, axis: Option<i64>) -> Result<Array> {
    let Some(axis) = axis else {
        return sort(&flat(array)?, Some(0));
    };
    let (lanes, at) = (Lanes::along(array, axis)?, normalize_axis(axis, array.ndim())?);
    with_dtype!(array.dtype(), T => {
        let mut values = lanes.values::<T>()?;
        let mut sorter = Sorter::<T>::default();
        for_lanes(&mut values, lanes.length, |lane| sorter.sort(lane))?;
        from_lanes(values, lanes.length, array.shape(), at)
    })
}

/// Sorts along an axis in place: `ndarray.sort`.
///
/// # Errors
/// [`Error::Axis`], [`Error::Value`] when the array is read-only.
pub fn sort_in_place(array: &Array, axis: i64) -> Result<()> {
    array.require_writeable()?;
    array.fill_from(&sort(array, Some(axis))?)
}

/// The indices that sort an array along an axis, or flattened; equals keep their order.
///
/// # Errors
/// [`Error::Axis`].
pub fn argsort(array: &Array, axis: Option<i64>) -> Result<Array> {
    if axis.is_none() || array.ndim() == 0 {
        return argsort(&flat(array)?, Some(0));
    }
    let mut spare = Vec::new();
    by_lanes(array, axis.unwrap_or(0), |ranks| radix::sort(ranks, &mut spare))
}

/// A copy in which the elements numbered `kth` along the axis (or flattened) are where
/// sorting would put them, smaller ones before and larger ones behind.
///
/// # Errors
/// [`Error::Axis`], [`Error::Value`] for a number outside.
pub fn partition(array: &Array, kth: &[i64], axis: Option<i64>) -> Result<Array> {
    let Some(axis) = axis else {
        return partition(&flat(array)?, kth, Some(0));
    };
    let (lanes, at) = (Lanes::along(array, axis)?, normalize_axis(axis, array.ndim())?);
    let kth = places(kth, lanes.length)?;
    with_dtype!(array.dtype(), T => {
        let mut values = lanes.values::<T>()?;
        let mut keys = Vec::new();
        for_lanes(&mut values, lanes.length, |lane| {
            keys.clear();
            keys.extend(lane.iter().map(|value| value.key()));
            select::partition_at(&mut keys, &kth);
            for (value, &key) in lane.iter_mut().zip(&keys) {
                *value = T::from_key(key);
            }
            Ok(())
        })?;
        from_lanes(values, lanes.length, array.shape(), at)
    })
}

/// Partitions in place: `ndarray.partition`.
///
/// # Errors
/// As [`partition`], and [`Error::Value`] when the array is read-only.
pub fn partition_in_place(array: &Array, kth: &[i64], axis: i64) -> Result<()> {
    array.require_writeable()?;
    array.fill_from(&partition(array, kth, Some(axis))?)
}

/// The indices of a [`partition`].
///
/// # Errors
/// As [`partition`].
pub fn argpartition(array: &Array, kth: &[i64], axis: Option<i64>) -> Result<Array> {
    if axis.is_none() || array.ndim() == 0 {
        return argpartition(&flat(array)?, kth, Some(0));
    }
    let axis = axis.unwrap_or(0);
    let kth = places(kth, array.shape()[normalize_axis(axis, array.ndim())?])?;
    by_lanes(array, axis, |ranks| {
        select::partition_at(ranks, &kth);
        Ok(())
    })
}

/// The order that sorts by several keys, the last one first: `np.lexsort`.
///
/// # Errors
/// [`Error::Type`] without keys, [`Error::Value`] for keys of different lengths.
pub fn lexsort(keys: &[Array]) -> Result<Array> {
    let Some(first) = keys.first() else {
        bail!(Type, "need sequence of keys with len > 0 in lexsort");
    };
    if keys.iter().any(|key| key.shape() != first.shape()) {
        bail!(Value, "all keys need to be the same shape");
    }
    if first.ndim() != 1 {
        bail!(NotImplemented, "lexsort is only implemented for one-dimensional keys");
    }
    let ranks = keys.iter().rev().map(ranks).collect::<Result<Vec<_>>>()?;
    let mut order: Vec<usize> = (0..first.size()).collect();
    order.sort_by(|&a, &b| {
        ranks.iter().map(|key| key[a].cmp(&key[b])).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    });
    Ok(Array::vector(order.into_iter().map(|index| index as i64).collect()))
}

/// One-dimensional, in C order.
pub(crate) fn flat(array: &Array) -> Result<Array> {
    let array = array.contiguous()?;
    Ok(array.with_layout(vec![array.size()], vec![1], array.offset()))
}

/// Each element's place in the order.
pub(crate) fn ranks(array: &Array) -> Result<Vec<u64>> {
    Lanes::new(array, Some(&[]))?.ranks()
}

/// Sorts lanes, with memory that it uses again.
struct Sorter<T: Ordered> {
    keys: Vec<T::Key>,
    spare: Vec<T::Key>,
}

impl<T: Ordered> Default for Sorter<T> {
    fn default() -> Self {
        Sorter { keys: Vec::new(), spare: Vec::new() }
    }
}

impl<T: Ordered> Sorter<T> {
    fn sort(&mut self, lane: &mut [T]) -> Result<()> {
        /// So few are compared as they are.
        const FEW: usize = 24;
        if lane.len() <= FEW {
            lane.sort_unstable_by_key(|value| value.key());
            return Ok(());
        }
        if T::DTYPE.itemsize() == 1 {
            let mut tally = Tally::new();
            tally.add(lane);
            tally.write(lane);
            return Ok(());
        }
        self.keys.clear();
        self.keys.extend(lane.iter().map(|value| value.key()));
        radix::sort(&mut self.keys, &mut self.spare)?;
        for (value, &key) in lane.iter_mut().zip(&self.keys) {
            *value = T::from_key(key);
        }
        Ok(())
    }
}

/// Calls `body` for each lane, with checks for an interrupt.
pub(crate) fn for_lanes<T>(
    values: &mut [T],
    length: usize,
    mut body: impl FnMut(&mut [T]) -> Result<()>,
) -> Result<()> {
    let mut passed = 0;
    for lane in values.chunks_exact_mut(length.max(1)) {
        body(lane)?;
        passed += length;
        if passed >= interrupt::STRIDE {
            interrupt::check()?;
            passed = 0;
        }
    }
    Ok(())
}

/// The order that `arrange` gives the elements of each lane, which it gets as their ranks with
/// their numbers.
fn by_lanes(
    array: &Array,
    axis: i64,
    mut arrange: impl FnMut(&mut [(u64, u32)]) -> Result<()>,
) -> Result<Array> {
    let (lanes, at) = (Lanes::along(array, axis)?, normalize_axis(axis, array.ndim())?);
    if u32::try_from(lanes.length).is_err() {
        return Err(Error::Memory("too many elements to sort by index".to_owned()));
    }
    let ranks = lanes.ranks()?;
    let mut lane_ranks = ranks.chunks_exact(lanes.length.max(1));
    let mut indices = vec![0i64; ranks.len()];
    let mut pairs = Vec::new();
    for_lanes(&mut indices, lanes.length, |indices| {
        pairs.clear();
        pairs.extend(lane_ranks.next().unwrap_or_default().iter().copied().zip(0u32..));
        arrange(&mut pairs)?;
        for (index, &(_, number)) in indices.iter_mut().zip(&pairs) {
            *index = number.into();
        }
        Ok(())
    })?;
    from_lanes(indices, lanes.length, array.shape(), at)
}

/// Numbers of elements, which may count from the end.
fn places(kth: &[i64], length: usize) -> Result<Vec<usize>> {
    kth.iter()
        .map(|&kth| {
            let place = if kth < 0 { kth + length as i64 } else { kth };
            match usize::try_from(place) {
                Ok(place) if place < length => Ok(place),
                _ => bail!(Value, "kth(={place}) out of bounds ({length})"),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
