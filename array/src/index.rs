//! `a[...]` and `a[...] = value`: positions, slices, masks and arrays of positions, mixed in
//! any way.

mod places;

use places::{Places, Take, compress, fill_masked, with_bits};

use crate::array::Array;
use crate::error::{Error, Result, bail};
use crate::promote::Operand;
use crate::scalar::Weak;
use crate::shape::tight_text;

/// One entry of the brackets.
#[derive(Debug, Clone)]
pub enum Index {
    /// A position, negative from the end. Removes the dimension.
    Int(i64),
    /// `start:stop:step` with Python's rules.
    Slice {
        /// First position.
        start: Option<i64>,
        /// Where to end, excluded.
        stop: Option<i64>,
        /// Step, not zero.
        step: Option<i64>,
    },
    /// `None`: a new dimension of length one.
    NewAxis,
    /// `...`: as many whole dimensions as are left over.
    Ellipsis,
    /// A bool array that covers as many dimensions as it has.
    Mask(Array),
    /// An integer array of positions in one dimension.
    Take(Array),
}

impl Index {
    /// `:`
    pub const ALL: Index = Index::Slice { start: None, stop: None, step: None };
}

impl Array {
    /// `a[index]`: a view for positions, slices, new axes and ellipsis alone, a copy as soon
    /// as an array is among them. Positions for every dimension give a zero-dimensional view.
    ///
    /// # Errors
    /// [`Error::Index`] for what is out of bounds or does not fit, [`Error::Value`] for a
    /// step of zero.
    pub fn index(&self, index: &[Index]) -> Result<Array> {
        match Selection::new(self, index)? {
            Selection::View(view) => Ok(view),
            Selection::Masked(mask) => {
                let bits = self.as_bits();
                Ok(with_bits!(bits, T => compress::<T>(&bits, &mask))?.bits_as(self.dtype()))
            }
            Selection::Scattered(places) => {
                let bits = self.as_bits();
                Ok(with_bits!(bits, T => places.gather::<T>(&bits))?.bits_as(self.dtype()))
            }
        }
    }

    /// `a[index] = value`, the value repeated as needed and converted to the array's type.
    ///
    /// # Errors
    /// [`Error::Value`] when the array is read-only or the shape does not fit,
    /// [`Error::Overflow`] for a Python number without a place in the type, and those of
    /// [`Array::index`].
    pub fn assign(&self, index: &[Index], value: &Operand) -> Result<()> {
        self.require_writeable()?;
        let selection = Selection::new(self, index)?;
        let value = assignable(value, self)?;
        match selection {
            Selection::View(view) => view.fill_from(&fit(&value, view.shape(), |value, shape| {
                format!(
                    "could not broadcast input array from shape {} into shape {}",
                    tight_text(value),
                    tight_text(shape)
                )
            })?),
            Selection::Masked(mask) if value.ndim() == 0 => {
                let (bits, value) = (self.as_bits(), value.cast(self.dtype())?.as_bits());
                with_bits!(bits, T => fill_masked::<T>(&bits, &mask, value.item()?.to::<T>()))
            }
            Selection::Masked(mask) => {
                let places = Places::of_mask(self, &mask)?;
                let value = fit_masked(&value.cast(self.dtype())?, &places)?.as_bits();
                let bits = self.as_bits();
                with_bits!(bits, T => places.scatter::<T>(&bits, &value))
            }
            Selection::Scattered(places) => {
                let value = value.cast(self.dtype())?;
                let value = if places.masked_whole {
                    fit_masked(&value, &places)?
                } else {
                    fit(&value, &places.shape(), |value, shape| {
                        format!(
                            "shape mismatch: value array of shape {} could not be broadcast to \
                             indexing result of shape {}",
                            tight_text(value),
                            tight_text(shape)
                        )
                    })?
                };
                let (bits, value) = (self.as_bits(), value.as_bits());
                with_bits!(bits, T => places.scatter::<T>(&bits, &value))
            }
        }
    }
}

/// The value as an array that does not share memory with the target.
fn assignable(value: &Operand, target: &Array) -> Result<Array> {
    match value {
        Operand::Array(array) if array.may_share_memory(target) => array.copy(),
        Operand::Array(array) => Ok(array.clone()),
        Operand::Weak(Weak::Float(value)) if target.dtype().is_integer() && !value.is_finite() => {
            if value.is_nan() {
                bail!(Value, "cannot convert float NaN to integer");
            }
            bail!(Overflow, "cannot convert float infinity to integer")
        }
        Operand::Weak(weak) => Ok(Array::scalar(weak.to_scalar(target.dtype())?)),
    }
}

/// Repeats a value to a shape; extra dimensions of length one in front are dropped.
fn fit(
    value: &Array,
    shape: &[usize],
    message: impl Fn(&[usize], &[usize]) -> String,
) -> Result<Array> {
    let extra = value.ndim().saturating_sub(shape.len());
    let mismatch = || Error::Value(message(value.shape(), shape));
    if value.shape()[..extra].iter().any(|&n| n != 1) {
        return Err(mismatch());
    }
    let axes: Vec<i64> = (0..extra as i64).collect();
    value.squeeze(Some(&axes))?.broadcast_to(shape).map_err(|_| mismatch())
}

fn fit_masked(value: &Array, places: &Places) -> Result<Array> {
    let shape = places.shape();
    fit(value, &shape, |value, shape| match (value, shape) {
        ([given], [wanted]) => format!(
            "NumPy boolean array indexing assignment cannot assign {given} input values to the \
             {wanted} output values where the mask is true"
        ),
        _ => format!(
            "shape mismatch: value array of shape {} could not be broadcast to indexing result \
             of shape {}",
            tight_text(value),
            tight_text(shape)
        ),
    })
}

/// What an index means for one array.
enum Selection {
    /// Only positions and slices.
    View(Array),
    /// One mask over all dimensions, contiguous like the array.
    Masked(Array),
    /// Anything else.
    Scattered(Places),
}

impl Selection {
    fn new(array: &Array, index: &[Index]) -> Result<Selection> {
        let index = &expand(array, index)?[..];
        if let [Index::Mask(mask)] = index
            && mask.shape() == array.shape()
            && mask.ndim() > 0
            && mask.is_c_contiguous()
            && array.is_c_contiguous()
        {
            return Ok(Selection::Masked(mask.clone()));
        }
        let advanced = index.iter().any(|entry| matches!(entry, Index::Mask(_) | Index::Take(_)));
        let mut axis = 0;
        let mut offset = array.offset() as isize;
        let mut kept: Vec<(usize, isize)> = Vec::new();
        // Where index arrays stand among the dimensions kept: in one place, or in several.
        let mut place: Option<usize> = None;
        let mut apart = false;
        let mut takes: Vec<Take> = Vec::new();
        for entry in index {
            if advanced && !matches!(entry, Index::Slice { .. } | Index::NewAxis) {
                apart |= place.is_some_and(|place| place != kept.len());
                place.get_or_insert(kept.len());
            }
            match entry {
                Index::Int(position) => {
                    let (n, stride) = (array.shape()[axis], array.strides()[axis]);
                    offset += resolve(*position, n, axis)? as isize * stride;
                    axis += 1;
                }
                Index::Slice { start, stop, step } => {
                    let (n, stride) = (array.shape()[axis], array.strides()[axis]);
                    let (first, count, step) = slice_bounds(n, *start, *stop, *step)?;
                    // An empty slice stays where it is, so that no offset leaves the buffer.
                    offset += if count == 0 { 0 } else { first as isize * stride };
                    kept.push((count, stride * step as isize));
                    axis += 1;
                }
                Index::NewAxis => kept.push((1, 0)),
                Index::Ellipsis => {}
                Index::Take(positions) => {
                    takes.push(Take::positions(positions, array, axis)?);
                    axis += 1;
                }
                Index::Mask(mask) => {
                    takes.push(Take::mask(mask, array, axis)?);
                    axis += mask.ndim();
                }
            }
        }
        if !advanced {
            let (shape, strides) = kept.into_iter().unzip();
            return Ok(Selection::View(array.with_layout(shape, strides, offset as usize)));
        }
        let masked_whole =
            matches!(index.first(), Some(Index::Mask(_))) && takes.len() == 1 && !apart;
        let (index_shape, mut offsets) = Take::join(takes)?;
        for slot in &mut offsets {
            *slot += offset;
        }
        let behind = kept.split_off(if apart { 0 } else { place.unwrap_or(0) });
        Ok(Selection::Scattered(Places {
            before: kept,
            index_shape,
            offsets,
            behind,
            masked_whole,
        }))
    }
}

/// Replaces the ellipsis, given or understood, by whole slices, and positions given as
/// zero-dimensional arrays by plain ones.
fn expand(array: &Array, index: &[Index]) -> Result<Vec<Index>> {
    let used: usize = index
        .iter()
        .map(|entry| match entry {
            Index::Int(_) | Index::Slice { .. } | Index::Take(_) => 1,
            Index::NewAxis | Index::Ellipsis => 0,
            Index::Mask(mask) => mask.ndim(),
        })
        .sum();
    let ndim = array.ndim();
    let Some(left) = ndim.checked_sub(used) else {
        bail!(
            Index,
            "too many indices for array: array is {ndim}-dimensional, but {used} were indexed"
        )
    };
    let mut expanded = Vec::with_capacity(index.len() + left);
    let mut seen = false;
    for entry in index {
        match entry {
            Index::Ellipsis if seen => {
                bail!(Index, "an index can only have a single ellipsis ('...')")
            }
            Index::Ellipsis => {
                seen = true;
                // It separates index arrays even when it stands for nothing.
                expanded.push(Index::Ellipsis);
                expanded.extend(std::iter::repeat_n(Index::ALL, left));
            }
            Index::Take(positions) if positions.ndim() == 0 => {
                expanded.push(Index::Int(positions.item()?.to_i64()));
            }
            other => expanded.push(other.clone()),
        }
    }
    expanded.retain(|entry| !matches!(entry, Index::Ellipsis));
    if !seen {
        expanded.extend(std::iter::repeat_n(Index::ALL, left));
    }
    Ok(expanded)
}

/// A position in a dimension of length `n`, negative from the end.
///
/// # Errors
/// [`Error::Index`].
pub(crate) fn resolve(position: i64, n: usize, axis: usize) -> Result<usize> {
    let resolved = if position < 0 { position.wrapping_add(n as i64) } else { position };
    match usize::try_from(resolved) {
        Ok(resolved) if resolved < n => Ok(resolved),
        _ => bail!(Index, "index {position} is out of bounds for axis {axis} with size {n}"),
    }
}

/// First position, number of elements and step of a slice, by Python's rules.
///
/// # Errors
/// [`Error::Value`] for a step of zero.
pub fn slice_bounds(
    n: usize,
    start: Option<i64>,
    stop: Option<i64>,
    step: Option<i64>,
) -> Result<(usize, usize, i64)> {
    let step = step.unwrap_or(1);
    if step == 0 {
        bail!(Value, "slice step cannot be zero");
    }
    let n = n as i64;
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let bound = |value: i64| {
        let value = if value < 0 { value.saturating_add(n) } else { value };
        value.clamp(low, high)
    };
    let first = start.map_or(if step > 0 { low } else { high }, bound);
    let end = stop.map_or(if step > 0 { high } else { low }, bound);
    let count = if step > 0 { (end - first).max(0) as u64 } else { (first - end).max(0) as u64 };
    let count = count.div_ceil(step.unsigned_abs());
    Ok((first.max(0) as usize, count as usize, step))
}

/// Positions with `mode="raise"`, `"wrap"` or `"clip"`, for `np.take`.
pub(crate) fn wrap_positions(positions: &Array, n: usize, mode: &str) -> Result<Array> {
    let n = n as i64;
    let change: fn(i64, i64) -> i64 = match mode {
        "raise" => return Ok(positions.clone()),
        "wrap" => |i, n| i.rem_euclid(n),
        "clip" => |i, n| i.clamp(0, n - 1),
        other => bail!(Value, "clipmode must be one of 'clip', 'raise', or 'wrap' (got '{other}')"),
    };
    if n == 0 {
        bail!(Index, "cannot do a non-empty take from an empty axes.");
    }
    let moved = positions.to_vec::<i64>()?.into_iter().map(|i| change(i, n)).collect();
    Array::from_vec::<i64>(moved, positions.shape())
}

/// The text of the error for a scalar that is no index.
pub const NOT_AN_INDEX: &str = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis \
     (`None`) and integer or boolean arrays are valid indices";

#[cfg(test)]
mod tests;
