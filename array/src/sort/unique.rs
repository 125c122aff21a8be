//! Different elements.

use super::order::Ordered;
use super::tally::Tally;
use super::{Sorter, argsort, flat, ranks};
use crate::array::{Array, normalize_axis};
use crate::blocks;
use crate::dtype::{Element as _, with_dtype};
use crate::error::Result;
use crate::lanes::Lanes;
use crate::rearrange::take;

/// The different elements of an array, or its different slices along an axis, sorted.
pub struct Unique {
    pub values: Array,
    /// Where each occurs first.
    pub index: Array,
    /// For each element of the input its number in `values`: in the input's shape, or
    /// along the axis.
    pub inverse: Array,
    /// How often each occurs.
    pub counts: Array,
}

/// `np.unique` with all of its results. NaN are equal to each other, except in slices.
///
/// # Errors
/// [`crate::Error::Axis`].
pub fn unique(array: &Array, axis: Option<i64>) -> Result<Unique> {
    match axis {
        None => unique_elements(array),
        Some(axis) => unique_slices(array, axis),
    }
}

/// Only the values, which is quicker.
///
/// # Errors
/// [`crate::Error::Memory`], [`crate::Error::Interrupted`].
pub fn unique_values(array: &Array) -> Result<Array> {
    with_dtype!(array.dtype(), T => {
        if T::DTYPE.itemsize() == 1 {
            let mut tally = Tally::new();
            blocks::visit::<T>(array, &mut |block| {
                tally.add(block);
                Ok(())
            })?;
            let present = tally.counts().filter(|&(_, count)| count > 0);
            return Ok(Array::vector(present.map(|(value, _)| T::from_i64(value)).collect()));
        }
        let mut values = array.to_vec::<T>()?;
        Sorter::default().sort(&mut values)?;
        values.dedup_by_key(|value| value.rank());
        Ok(Array::vector(values))
    })
}

fn unique_elements(array: &Array) -> Result<Unique> {
    let flat = flat(array)?;
    let order: Vec<usize> =
        argsort(&flat, None)?.to_vec::<i64>()?.into_iter().map(|i| i as usize).collect();
    let ranks = ranks(&flat)?;
    Groups::new(&order, |a, b| ranks[a] == ranks[b]).unique(&flat, 0, array.shape())
}

fn unique_slices(array: &Array, axis: i64) -> Result<Unique> {
    let axis = normalize_axis(axis, array.ndim())?;
    let others: Vec<i64> = (0..array.ndim() as i64).filter(|&a| a != axis as i64).collect();
    let lanes = Lanes::new(array, Some(&others))?;
    let (count, length) = (lanes.count(), lanes.length);
    let ranks = lanes.ranks()?;
    let row = |i: usize| &ranks[i * length..][..length];
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| row(a).cmp(row(b)));
    let nan = with_dtype!(array.dtype(), T => T::from_f64(f64::NAN).rank());
    let holds_nan = |i: usize| array.dtype().is_float() && row(i).contains(&nan);
    let groups = Groups::new(&order, |a, b| row(a) == row(b) && !holds_nan(a));
    groups.unique(array, axis, &[count])
}

/// Runs of equal elements in a sorted order.
struct Groups {
    /// The first index of each run, which is the smallest as sorting keeps the order of equals.
    first: Vec<usize>,
    counts: Vec<i64>,
    /// The run of each index.
    run: Vec<i64>,
}

impl Groups {
    fn new(order: &[usize], equal: impl Fn(usize, usize) -> bool) -> Groups {
        let mut groups =
            Groups { first: Vec::new(), counts: Vec::new(), run: vec![0; order.len()] };
        for &i in order {
            match (groups.first.last(), groups.counts.last_mut()) {
                (Some(&first), Some(count)) if equal(first, i) => *count += 1,
                _ => {
                    groups.first.push(i);
                    groups.counts.push(1);
                }
            }
            groups.run[i] = groups.first.len() as i64 - 1;
        }
        groups
    }

    /// Of the slices along an axis, of which these are the runs.
    fn unique(self, array: &Array, axis: usize, inverse_shape: &[usize]) -> Result<Unique> {
        let index = Array::vector(self.first.into_iter().map(|i| i as i64).collect());
        Ok(Unique {
            values: take(array, &index, Some(axis as i64), "raise")?,
            index,
            inverse: Array::from_vec(self.run, inverse_shape)?,
            counts: Array::vector(self.counts),
        })
    }
}
