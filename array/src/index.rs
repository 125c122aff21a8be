//! `a[...]` and `a[...] = value`: positions, slices, masks and arrays of positions, mixed in
//! any way.

use crate::array::Array;
use crate::dtype::{DType, Element, with_dtype};
use crate::error::{Error, Result, bail};
use crate::interrupt;
use crate::promote::Operand;
use crate::scalar::Weak;
use crate::shape::{broadcast_shapes, tight_text};

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
                with_dtype!(self.dtype(), T => compress::<T>(self, &mask))
            }
            Selection::Scattered(places) => {
                with_dtype!(self.dtype(), T => places.gather::<T>(self))
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
                with_dtype!(self.dtype(), T => fill_masked::<T>(self, &mask, value.item()?.to::<T>()))
            }
            Selection::Masked(mask) => {
                let places = Places::of_mask(self, &mask)?;
                let value = fit_masked(&value, &places)?;
                with_dtype!(self.dtype(), T => places.scatter::<T>(self, &value))
            }
            Selection::Scattered(places) => {
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
                with_dtype!(self.dtype(), T => places.scatter::<T>(self, &value))
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

/// Positions of the selected elements relative to the buffer, as three nested loops: whole
/// dimensions before, the places that index arrays give, whole dimensions behind.
struct Places {
    before: Vec<(usize, isize)>,
    /// Shape that the index arrays have together.
    index_shape: Vec<usize>,
    offsets: Vec<isize>,
    behind: Vec<(usize, isize)>,
    /// Whether the index is a single mask, which has an error text of its own.
    masked_whole: bool,
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

/// One index array as offsets into the buffer.
struct Take {
    shape: Vec<usize>,
    offsets: Vec<isize>,
}

impl Take {
    fn positions(positions: &Array, array: &Array, axis: usize) -> Result<Take> {
        if !positions.dtype().is_integer() {
            bail!(Index, "arrays used as indices must be of integer (or boolean) type");
        }
        let (n, stride) = (array.shape()[axis], array.strides()[axis]);
        let mut offsets = Vec::with_capacity(positions.size());
        for position in positions.cast(DType::I64)?.iter::<i64>() {
            offsets.push(resolve(position, n, axis)? as isize * stride);
        }
        Ok(Take { shape: positions.shape().to_vec(), offsets })
    }

    fn mask(mask: &Array, array: &Array, axis: usize) -> Result<Take> {
        if mask.dtype() != DType::Bool {
            bail!(Index, "arrays used as indices must be of integer (or boolean) type");
        }
        let covered = &array.shape()[axis..axis + mask.ndim()];
        for (i, (&n, &of_mask)) in covered.iter().zip(mask.shape()).enumerate() {
            if n != of_mask {
                bail!(
                    Index,
                    "boolean index did not match indexed array along axis {}; size of axis is \
                     {n} but size of corresponding boolean axis is {of_mask}",
                    axis + i
                );
            }
        }
        let offsets = true_offsets(mask, &array.strides()[axis..axis + mask.ndim()])?;
        Ok(Take { shape: vec![offsets.len()], offsets })
    }

    /// Repeats all to one shape and adds their offsets.
    fn join(takes: Vec<Take>) -> Result<(Vec<usize>, Vec<isize>)> {
        let shapes: Vec<&[usize]> = takes.iter().map(|take| &take.shape[..]).collect();
        let Ok(shape) = broadcast_shapes(&shapes) else {
            let all: String = shapes.iter().map(|shape| tight_text(shape) + " ").collect();
            bail!(
                Index,
                "shape mismatch: indexing arrays could not be broadcast together with shapes {all}"
            )
        };
        let mut joint: Option<Vec<isize>> = None;
        for take in takes {
            let offsets = if take.shape == shape {
                take.offsets
            } else {
                let offsets = take.offsets.iter().map(|&offset| offset as i64).collect();
                Array::from_vec::<i64>(offsets, &take.shape)?
                    .broadcast_to(&shape)?
                    .iter::<i64>()
                    .map(|offset| offset as isize)
                    .collect()
            };
            joint = Some(match joint {
                None => offsets,
                Some(mut joint) => {
                    joint.iter_mut().zip(offsets).for_each(|(sum, offset)| *sum += offset);
                    joint
                }
            });
        }
        Ok((shape, joint.unwrap_or_default()))
    }
}

/// Where a mask is true, with these strides for its dimensions.
fn true_offsets(mask: &Array, strides: &[isize]) -> Result<Vec<isize>> {
    let mask = mask.contiguous()?;
    let Some(cells) = mask.as_cells::<bool>() else { return Ok(Vec::new()) };
    let count = cells.iter().filter(|cell| cell.get()).count();
    let mut offsets = Vec::new();
    offsets
        .try_reserve_exact(count)
        .map_err(|_| Error::Memory("Unable to allocate memory for an index".to_owned()))?;
    let Some((&stride, outer_strides)) = strides.split_last() else {
        offsets.extend(cells.iter().filter(|cell| cell.get()).map(|_| 0));
        return Ok(offsets);
    };
    let row = mask.shape()[mask.ndim() - 1];
    let mut place = vec![0; outer_strides.len()];
    for line in cells.chunks_exact(row.max(1)) {
        let start: isize = place.iter().zip(outer_strides).map(|(&i, &s)| i as isize * s).sum();
        let mut at = start;
        for cell in line {
            if cell.get() {
                offsets.push(at);
            }
            at += stride;
        }
        for (slot, &n) in place.iter_mut().zip(mask.shape()).rev() {
            *slot += 1;
            if *slot < n {
                break;
            }
            *slot = 0;
        }
    }
    Ok(offsets)
}

impl Places {
    fn of_mask(array: &Array, mask: &Array) -> Result<Places> {
        let mut offsets = true_offsets(mask, array.strides())?;
        offsets.iter_mut().for_each(|offset| *offset += array.offset() as isize);
        Ok(Places {
            before: Vec::new(),
            index_shape: vec![offsets.len()],
            offsets,
            behind: Vec::new(),
            masked_whole: true,
        })
    }

    fn shape(&self) -> Vec<usize> {
        let lengths = |dims: &[(usize, isize)]| dims.iter().map(|&(n, _)| n).collect::<Vec<_>>();
        [lengths(&self.before), self.index_shape.clone(), lengths(&self.behind)].concat()
    }

    /// Calls `body` with the number of elements copied so far and the place of the next ones,
    /// which are `run` neighbours.
    fn for_runs(&self, mut body: impl FnMut(usize, isize, usize)) -> Result<()> {
        // Behind dimensions that lie without gaps are one run.
        let mut behind = self.behind.clone();
        let mut run = 1;
        while let Some(&(n, stride)) = behind.last()
            && (stride == run as isize || n == 1)
        {
            run *= n;
            behind.pop();
        }
        let before = dim_offsets(&self.before);
        let behind = dim_offsets(&behind);
        let mut done = 0;
        let mut until_check = interrupt::STRIDE;
        for &outer in &before {
            for &middle in &self.offsets {
                for &inner in &behind {
                    body(done, outer + middle + inner, run);
                    done += run;
                }
                if done > until_check {
                    interrupt::check()?;
                    until_check = done + interrupt::STRIDE;
                }
            }
        }
        Ok(())
    }

    fn gather<T: Element>(&self, array: &Array) -> Result<Array> {
        let from = array.buffer().as_ptr().cast::<T>();
        Array::build(&self.shape(), |out: &mut [T]| {
            // SAFETY: every place was checked against the array's shape.
            self.for_runs(|done, at, run| unsafe {
                let from = from.offset(at);
                if run == 1 {
                    out[done] = from.read();
                } else {
                    from.copy_to(out[done..][..run].as_mut_ptr(), run);
                }
            })
        })
    }

    fn scatter<T: Element>(&self, array: &Array, value: &Array) -> Result<()> {
        let to = array.buffer().as_ptr().cast::<T>();
        if value.strides().iter().all(|&stride| stride == 0) && !value.is_empty() {
            let value: T = value.get(&vec![0; value.ndim()]).to();
            // SAFETY: every place was checked against the array's shape.
            return self.for_runs(|_, at, run| unsafe {
                let to = to.offset(at);
                (0..run).for_each(|i| to.add(i).write(value));
            });
        }
        let value = value.cast(T::DTYPE)?.contiguous()?;
        let Some(cells) = value.as_cells::<T>() else { return Ok(()) };
        // SAFETY: as above; the value was copied if it overlaps.
        self.for_runs(|done, at, run| unsafe {
            let to = to.offset(at);
            for (i, cell) in cells[done..][..run].iter().enumerate() {
                to.add(i).write(cell.get());
            }
        })
    }
}

/// Offsets of all places in these dimensions, in C order.
fn dim_offsets(dims: &[(usize, isize)]) -> Vec<isize> {
    dims.iter().fold(vec![0], |offsets, &(n, stride)| {
        offsets
            .iter()
            .flat_map(|&offset| (0..n as isize).map(move |i| offset + i * stride))
            .collect()
    })
}

/// `a[mask]` where both lie in C order without gaps.
fn compress<T: Element>(array: &Array, mask: &Array) -> Result<Array> {
    let (Some(values), Some(mask)) = (array.as_cells::<T>(), mask.as_cells::<bool>()) else {
        bail!(Value, "a mask and its array must both be contiguous")
    };
    let count = mask.iter().filter(|cell| cell.get()).count();
    Array::build(&[count], |out: &mut [T]| {
        let mut done = 0;
        for (values, mask) in values.chunks(interrupt::STRIDE).zip(mask.chunks(interrupt::STRIDE)) {
            for (value, mask) in values.iter().zip(mask) {
                // Without a branch: a place is written again until its value is wanted.
                if done < count {
                    out[done] = value.get();
                }
                done += usize::from(mask.get());
            }
            interrupt::check()?;
        }
        Ok(())
    })
}

/// `a[mask] = value` where both lie in C order without gaps.
fn fill_masked<T: Element>(array: &Array, mask: &Array, value: T) -> Result<()> {
    let (Some(values), Some(mask)) = (array.as_cells::<T>(), mask.as_cells::<bool>()) else {
        bail!(Value, "a mask and its array must both be contiguous")
    };
    for (values, mask) in values.chunks(interrupt::STRIDE).zip(mask.chunks(interrupt::STRIDE)) {
        for (cell, mask) in values.iter().zip(mask) {
            cell.set(if mask.get() { value } else { cell.get() });
        }
        interrupt::check()?;
    }
    Ok(())
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
