//! Elements repeated, moved, added and removed.

use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Error, Result, bail};
use crate::index::{Index, resolve, wrap_positions};
use crate::join::concatenate;
use crate::promote::Operand;
use crate::shape::{broadcast_shapes, normalize_axes};

/// `np.tile`: the whole array repeated along each dimension.
///
/// # Errors
/// [`Error::Memory`].
pub fn tile(array: &Array, times: &[usize]) -> Result<Array> {
    let ndim = array.ndim().max(times.len());
    let padded = |values: &[usize]| {
        let mut all = vec![1; ndim - values.len()];
        all.extend(values);
        all
    };
    let (times, shape) = (padded(times), padded(array.shape()));
    // A dimension of repetitions in front of each, then both as one.
    let mut open = Vec::with_capacity(2 * ndim);
    let mut spread = Vec::with_capacity(2 * ndim);
    for (&times, &n) in times.iter().zip(&shape) {
        open.extend([1, n]);
        spread.extend([times, n]);
    }
    let whole = spread_copy(&array.reshaped(open)?, &spread)?;
    whole.reshaped(times.iter().zip(&shape).map(|(times, n)| times * n).collect())
}

/// A copy repeated to a shape, which is checked before anything is allocated.
fn spread_copy(array: &Array, shape: &[usize]) -> Result<Array> {
    array.broadcast_to(shape)?.copy()
}

/// `np.repeat`: each element repeated, all as often or each its own number of times; along an
/// axis, over the flattened array when none is given.
///
/// # Errors
/// [`Error::Value`] for negative numbers or as many as do not fit, [`Error::Axis`],
/// [`Error::Memory`].
pub fn repeat(array: &Array, times: &[i64], axis: Option<i64>) -> Result<Array> {
    let (array, axis) = match axis {
        Some(axis) => (array.clone(), array.axis(axis)?),
        None => (array.ravel()?, 0),
    };
    let n = array.shape()[axis];
    if times.iter().any(|&times| times < 0) {
        bail!(Value, "repeats may not contain negative values.");
    }
    if let [times] = times {
        let mut spread = array.shape().to_vec();
        spread.insert(axis + 1, *times as usize);
        let whole = spread_copy(&array.expand_dims(&[axis as i64 + 1])?, &spread)?;
        let mut shape = array.shape().to_vec();
        shape[axis] *= *times as usize;
        return whole.reshaped(shape);
    }
    if times.len() != n {
        bail!(
            Value,
            "operands could not be broadcast together with shape ({n},) ({},)",
            times.len()
        );
    }
    let positions = times
        .iter()
        .enumerate()
        .flat_map(|(i, &times)| std::iter::repeat_n(i as i64, times as usize))
        .collect::<Vec<i64>>();
    at(&array, axis, Index::Take(Array::vector(positions)))
}

/// `array[:, :, .., index]` with the index at this axis.
fn at(array: &Array, axis: usize, index: Index) -> Result<Array> {
    let mut entries = vec![Index::ALL; axis];
    entries.push(index);
    array.index(&entries)
}

/// `np.flip`: the order reversed along these dimensions, all when none are given. A view.
///
/// # Errors
/// [`Error::Axis`], [`Error::Value`] for a repeated one.
pub fn flip(array: &Array, axes: Option<&[i64]>) -> Result<Array> {
    let mut entries = vec![Index::ALL; array.ndim()];
    let axes = match axes {
        Some(axes) => normalize_axes(axes, array.ndim(), "repeated axis")?,
        None => (0..array.ndim()).collect(),
    };
    for axis in axes {
        entries[axis] = Index::Slice { start: None, stop: None, step: Some(-1) };
    }
    array.index(&entries)
}

/// `np.roll`: elements moved along dimensions, what falls off comes in at the other end; over
/// the flattened array when no axis is given.
///
/// # Errors
/// [`Error::Value`] when shifts and axes are not as many, [`Error::Axis`], [`Error::Memory`].
pub fn roll(array: &Array, shifts: &[i64], axes: Option<&[i64]>) -> Result<Array> {
    let Some(axes) = axes else {
        let shift = shifts.iter().sum();
        return roll(&array.ravel()?, &[shift], Some(&[0]))?.reshaped(array.shape().to_vec());
    };
    let count = shifts.len().max(axes.len());
    if count > 1 && [shifts.len(), axes.len()].iter().any(|&len| len != 1 && len != count) {
        bail!(Value, "'shift' and 'axis' should be scalars or 1D sequences");
    }
    let mut result = array.clone();
    for i in 0..count {
        let axis = array.axis(axes[if axes.len() == 1 { 0 } else { i }])?;
        let n = array.shape()[axis];
        if n == 0 {
            continue;
        }
        let shift = shifts[if shifts.len() == 1 { 0 } else { i }].rem_euclid(n as i64) as usize;
        let out = Array::uninit(result.shape(), result.dtype())?;
        out.slice_axis(axis, shift, n - shift).fill_from(&result.slice_axis(axis, 0, n - shift))?;
        out.slice_axis(axis, 0, shift).fill_from(&result.slice_axis(axis, n - shift, shift))?;
        result = out;
    }
    if result.is_same_view(array) { array.copy() } else { Ok(result) }
}

/// `np.rot90`: turned by quarters from the first axis towards the second. A view.
///
/// # Errors
/// [`Error::Value`] for equal axes, [`Error::Axis`].
pub fn rot90(array: &Array, quarters: i64, axes: [i64; 2]) -> Result<Array> {
    let ndim = array.ndim() as i64;
    let [a, b] = axes;
    if a == b || (a - b).abs() == ndim {
        bail!(Value, "Axes must be different.");
    }
    for axis in axes {
        if axis >= ndim || axis < -ndim {
            bail!(Value, "Axes=({a}, {b}) out of range for array of ndim={ndim}.");
        }
    }
    match quarters.rem_euclid(4) {
        0 => Ok(array.clone()),
        2 => flip(array, Some(&axes)),
        1 => flip(array, Some(&[b]))?.swapaxes(a, b),
        _ => flip(&array.swapaxes(a, b)?, Some(&[b])),
    }
}

/// `np.take`: elements at positions, along an axis or of the flattened array. `mode` is
/// `"raise"`, `"wrap"` or `"clip"`.
///
/// # Errors
/// [`Error::Index`] out of bounds, [`Error::Axis`], [`Error::Memory`].
pub fn take(array: &Array, positions: &Array, axis: Option<i64>, mode: &str) -> Result<Array> {
    let (array, axis) = match axis {
        Some(axis) => (array.clone(), array.axis(axis)?),
        None => (array.ravel()?, 0),
    };
    let positions = wrap_positions(positions, array.shape()[axis], mode)?;
    // A boolean array gives positions 0 and 1 here, not a mask.
    let positions =
        if positions.dtype() == DType::Bool { positions.cast(DType::I64)? } else { positions };
    at(&array, axis, Index::Take(positions))
}

/// `np.take_along_axis`: for each place of `positions` the element of the same lane.
///
/// # Errors
/// [`Error::Value`] when the dimensions are not as many, [`Error::Index`], [`Error::Axis`].
pub fn take_along_axis(array: &Array, positions: &Array, axis: Option<i64>) -> Result<Array> {
    match axis {
        Some(axis) => array.index(&along_axis(array, positions, axis)?),
        None => {
            let flat = array.ravel()?;
            flat.index(&along_axis(&flat, positions, 0)?)
        }
    }
}

/// `np.put_along_axis`.
///
/// # Errors
/// As [`take_along_axis`], and those of [`Array::assign`].
pub fn put_along_axis(array: &Array, positions: &Array, values: &Operand, axis: i64) -> Result<()> {
    array.assign(&along_axis(array, positions, axis)?, values)
}

fn along_axis(array: &Array, positions: &Array, axis: i64) -> Result<Vec<Index>> {
    let axis = array.axis(axis)?;
    if positions.ndim() != array.ndim() {
        bail!(Value, "`indices` and `arr` must have the same number of dimensions");
    }
    if !positions.dtype().is_integer() {
        bail!(Index, "`indices` must be an integer array");
    }
    let lanes = crate::create::open_indices(array.shape(), DType::I64)?;
    Ok(lanes
        .into_iter()
        .enumerate()
        .map(|(dim, lane)| Index::Take(if dim == axis { positions.clone() } else { lane }))
        .collect())
}

/// `np.delete`: without the elements at these positions, along an axis or of the flattened
/// array.
///
/// # Errors
/// [`Error::Index`] out of bounds, [`Error::Axis`], [`Error::Memory`].
pub fn delete(array: &Array, positions: &[i64], axis: Option<i64>) -> Result<Array> {
    let (array, axis) = match axis {
        Some(axis) => (array.clone(), array.axis(axis)?),
        None => (array.ravel()?, 0),
    };
    let n = array.shape()[axis];
    let mut stays = vec![true; n];
    for &position in positions {
        stays[resolve(position, n, axis)?] = false;
    }
    at(&array, axis, Index::Mask(Array::vector(stays)))
}

/// `np.insert`: values put in before these positions, along an axis or into the flattened
/// array. One position may take several values.
///
/// # Errors
/// [`Error::Index`] out of bounds, [`Error::Value`] for values that do not fit,
/// [`Error::Axis`], [`Error::Memory`].
pub fn insert(
    array: &Array,
    positions: &[i64],
    single: bool,
    values: &Operand,
    axis: Option<i64>,
) -> Result<Array> {
    let (array, axis) = match axis {
        Some(axis) => (array.clone(), array.axis(axis)?),
        None => (array.ravel()?, 0),
    };
    let n = array.shape()[axis];
    let mut values = values.to_array(array.dtype())?;
    if single {
        // A single position: values have the axis first, as a[position] would have none.
        if values.ndim() > 0 && values.ndim() == array.ndim() {
            values = values.moveaxis(&[0], &[axis as i64])?;
        } else if values.ndim() > 0 && array.ndim() > 1 {
            values = values.expand_dims(&[0])?;
            while values.ndim() < array.ndim() {
                values = values.expand_dims(&[0])?;
            }
            values = values.moveaxis(&[0], &[axis as i64])?;
        }
    }
    let count = match (positions, values.ndim()) {
        ([_], ndim) if ndim == array.ndim() => values.shape()[axis],
        _ => positions.len(),
    };
    let mut places = Vec::with_capacity(count);
    for &position in positions {
        let resolved = if position < 0 { position + n as i64 } else { position };
        if !(0..=n as i64).contains(&resolved) {
            bail!(Index, "index {position} is out of bounds for axis {axis} with size {n}");
        }
        places.push(resolved as usize);
    }
    if let [place] = places[..] {
        places = vec![place; count];
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&i| places[i]);
    let mut is_new = vec![false; n + count];
    let mut new_places = vec![0i64; count];
    for (earlier, &i) in order.iter().enumerate() {
        is_new[places[i] + earlier] = true;
        new_places[i] = (places[i] + earlier) as i64;
    }
    let mut shape = array.shape().to_vec();
    shape[axis] = n + count;
    let out = Array::uninit(&shape, array.dtype())?;
    let old = is_new.iter().map(|new| !new).collect::<Vec<bool>>();
    let entries = |index: Index| {
        let mut entries = vec![Index::ALL; axis];
        entries.push(index);
        entries
    };
    out.assign(&entries(Index::Mask(Array::vector(old))), &Operand::Array(array))?;
    out.assign(&entries(Index::Take(Array::vector(new_places))), &Operand::Array(values))?;
    Ok(out)
}

/// `np.append`: values at the end, along an axis or of the flattened array.
///
/// # Errors
/// As [`concatenate`].
pub fn append(array: &Array, values: &Array, axis: Option<i64>) -> Result<Array> {
    concatenate(&[array.clone(), values.clone()], axis, None)
}

/// What `np.pad` puts around an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Padding {
    /// One number before and one behind, for each dimension the same.
    Constant(f64, f64),
    /// The outermost element.
    Edge,
    /// The array mirrored, its edge not repeated.
    Reflect,
    /// The array mirrored, its edge repeated.
    Symmetric,
    /// The array from its other end.
    Wrap,
}

/// `np.pad`: `widths` elements before and behind, for each dimension.
///
/// # Errors
/// [`Error::Value`] when an empty dimension is to be extended from its elements,
/// [`Error::Memory`].
pub fn pad(array: &Array, widths: &[(usize, usize)], padding: Padding) -> Result<Array> {
    if let Padding::Constant(before, behind) = padding {
        let shape: Vec<usize> = array
            .shape()
            .iter()
            .zip(widths)
            .map(|(&n, &(low, high))| n.saturating_add(low).saturating_add(high))
            .collect();
        let out = Array::zeros(&shape, array.dtype())?;
        let mut middle = out.clone();
        for (axis, (&n, &(low, high))) in array.shape().iter().zip(widths).enumerate() {
            // Corners belong to the later dimension, as numpy fills one after the other.
            out.slice_axis(axis, 0, low).assign(&[], &Operand::from(crate::Scalar::F64(before)))?;
            out.slice_axis(axis, low + n, high)
                .assign(&[], &Operand::from(crate::Scalar::F64(behind)))?;
            middle = middle.slice_axis(axis, low, n);
        }
        middle.fill_from(array)?;
        return Ok(out);
    }
    let mut result = array.clone();
    for (axis, &(low, high)) in widths.iter().enumerate() {
        let n = array.shape()[axis];
        if low == 0 && high == 0 {
            continue;
        }
        if n == 0 {
            bail!(
                Value,
                "can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
            );
        }
        let source = |i: i64| match padding {
            Padding::Constant(..) | Padding::Edge => i.clamp(0, n as i64 - 1),
            Padding::Wrap => i.rem_euclid(n as i64),
            Padding::Symmetric => {
                let i = i.rem_euclid(2 * n as i64);
                i.min(2 * n as i64 - 1 - i)
            }
            Padding::Reflect if n == 1 => 0,
            Padding::Reflect => {
                let period = 2 * (n as i64 - 1);
                let i = i.rem_euclid(period);
                i.min(period - i)
            }
        };
        let positions = (-(low as i64)..(n + high) as i64).map(source).collect::<Vec<i64>>();
        result = at(&result, axis, Index::Take(Array::vector(positions)))?;
    }
    if result.is_same_view(array) { array.copy() } else { Ok(result) }
}

/// `np.copyto(target, source, where=mask)`: the source repeated as needed.
///
/// # Errors
/// [`Error::Value`] for shapes that do not fit or a read-only target, [`Error::Type`] when the
/// types differ in kind.
pub fn copyto(target: &Array, source: &Operand, mask: Option<&Array>) -> Result<()> {
    target.require_writeable()?;
    if let Operand::Array(array) = source
        && !crate::cast::can_cast_same_kind(array.dtype(), target.dtype())
    {
        return Err(Error::Type(format!(
            "Cannot cast array data from dtype('{}') to dtype('{}') according to the rule \
             'same_kind'",
            array.dtype(),
            target.dtype()
        )));
    }
    let Some(mask) = mask else { return target.assign(&[], source) };
    let mask = mask.broadcast_to(target.shape())?;
    let source = source.to_array(target.dtype())?;
    broadcast_shapes(&[source.shape(), target.shape()])?;
    let chosen = match source.ndim() {
        0 => source,
        _ => source.broadcast_to(target.shape())?.index(&[Index::Mask(mask.clone())])?,
    };
    target.assign(&[Index::Mask(mask)], &Operand::Array(chosen))
}

/// `ndarray.fill`-like: an array of the shape of another with one value everywhere.
///
/// # Errors
/// [`Error::Overflow`] when it has no place in the type, [`Error::Memory`].
pub fn full_like(array: &Array, value: &Operand, dtype: Option<DType>) -> Result<Array> {
    let out = Array::uninit_like(array, dtype.unwrap_or(array.dtype()))?;
    out.assign(&[], value)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(array: Result<Array>) -> Vec<i64> {
        array.unwrap().to_vec().unwrap()
    }

    #[test]
    fn repetitions() {
        let a = Array::counted(&[2, 2]);
        assert_eq!(flat(tile(&a, &[2])), [0, 1, 0, 1, 2, 3, 2, 3]);
        assert_eq!(tile(&a, &[2, 1, 1]).unwrap().shape(), [2, 2, 2]);
        assert_eq!(flat(repeat(&a, &[2], Some(1))), [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(flat(repeat(&a, &[1, 2], Some(0))), [0, 1, 2, 3, 2, 3]);
        assert_eq!(flat(repeat(&a, &[2], None)), [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn turns_and_shifts() {
        let a = Array::counted(&[2, 3]);
        assert_eq!(flat(rot90(&a, 1, [0, 1])), [2, 5, 1, 4, 0, 3]);
        assert_eq!(flat(rot90(&a, -1, [0, 1])), [3, 0, 4, 1, 5, 2]);
        assert_eq!(flat(flip(&a, Some(&[1]))), [2, 1, 0, 5, 4, 3]);
        assert_eq!(flat(roll(&a, &[1], None)), [5, 0, 1, 2, 3, 4]);
        assert_eq!(flat(roll(&a, &[-1], Some(&[1]))), [1, 2, 0, 4, 5, 3]);
        assert_eq!(flat(roll(&a, &[1, 1], Some(&[0, 1]))), [5, 3, 4, 2, 0, 1]);
    }

    #[test]
    fn elements_come_and_go() {
        let a = Array::counted(&[5]);
        assert_eq!(flat(delete(&a, &[1, -1], None)), [0, 2, 3]);
        // np.insert(a, [1, 1, 4], [10, 11, 12]), np.insert(a, 2, 9), np.insert(a, 2, [8, 9])
        let values = Operand::from(Array::vector(vec![10i64, 11, 12]));
        assert_eq!(flat(insert(&a, &[1, 1, 4], false, &values, None)), [0, 10, 11, 1, 2, 3, 12, 4]);
        assert_eq!(flat(insert(&a, &[2], true, &Operand::from(9i64), None)), [0, 1, 9, 2, 3, 4]);
        let two = Operand::from(Array::vector(vec![8i64, 9]));
        assert_eq!(flat(insert(&a, &[2], true, &two, None)), [0, 1, 8, 9, 2, 3, 4]);
        // np.insert(np.arange(4).reshape(2, 2), 1, [7, 8], axis=1)
        let square = Array::counted(&[2, 2]);
        let column = Operand::from(Array::vector(vec![7i64, 8]));
        assert_eq!(flat(insert(&square, &[1], true, &column, Some(1))), [0, 7, 1, 2, 8, 3]);
        assert_eq!(
            flat(insert(&square, &[1], true, &Operand::from(5i64), Some(0))),
            [0, 1, 5, 5, 2, 3]
        );
    }

    #[test]
    fn borders() {
        let a = Array::counted(&[3]);
        let of = |padding| flat(pad(&a, &[(2, 4)], padding));
        assert_eq!(of(Padding::Constant(7.0, 8.0)), [7, 7, 0, 1, 2, 8, 8, 8, 8]);
        assert_eq!(of(Padding::Edge), [0, 0, 0, 1, 2, 2, 2, 2, 2]);
        assert_eq!(of(Padding::Reflect), [2, 1, 0, 1, 2, 1, 0, 1, 2]);
        assert_eq!(of(Padding::Symmetric), [1, 0, 0, 1, 2, 2, 1, 0, 0]);
        assert_eq!(of(Padding::Wrap), [1, 2, 0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn lanes_are_picked_from() {
        let a = Array::counted(&[2, 3]);
        let positions = Array::from_vec(vec![2i64, 0, 1, 1], &[2, 2]).unwrap();
        assert_eq!(flat(take_along_axis(&a, &positions, Some(1))), [2, 0, 4, 4]);
        assert_eq!(flat(take(&a, &Array::vector(vec![-1i64, 0]), Some(1), "raise")), [2, 0, 5, 3]);
        assert_eq!(flat(take(&a, &Array::vector(vec![7i64]), None, "wrap")), [1]);
        assert!(matches!(
            take(&a, &Array::vector(vec![7i64]), None, "raise"),
            Err(Error::Index(_))
        ));
        copyto(&a, &Operand::from(9i64), Some(&Array::vector(vec![true, false, false]))).unwrap();
        assert_eq!(flat(Ok(a)), [9, 1, 2, 9, 4, 5]);
    }
}
