//! Arrays put together and taken apart.

use crate::array::{Array, normalize_axis};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::promote::promote;

/// `np.concatenate`: arrays one after the other along an axis, flattened first when none is
/// given.
///
/// # Errors
/// [`crate::Error::Value`] when there are none or their shapes do not fit,
/// [`crate::Error::Axis`], [`crate::Error::Memory`].
pub fn concatenate(arrays: &[Array], axis: Option<i64>, dtype: Option<DType>) -> Result<Array> {
    let Some(first) = arrays.first() else {
        bail!(Value, "need at least one array to concatenate")
    };
    let Some(axis) = axis else {
        let flat = arrays.iter().map(Array::ravel).collect::<Result<Vec<Array>>>()?;
        return concatenate(&flat, Some(0), dtype);
    };
    if first.ndim() == 0 {
        bail!(Value, "zero-dimensional arrays cannot be concatenated");
    }
    let axis = first.axis(axis)?;
    let mut shape = first.shape().to_vec();
    for (i, array) in arrays.iter().enumerate().skip(1) {
        if array.ndim() != first.ndim() {
            bail!(
                Value,
                "all the input arrays must have same number of dimensions, but the array at \
                 index 0 has {} dimension(s) and the array at index {i} has {} dimension(s)",
                first.ndim(),
                array.ndim()
            );
        }
        for (dim, (&n, &wanted)) in array.shape().iter().zip(first.shape()).enumerate() {
            if dim != axis && n != wanted {
                bail!(
                    Value,
                    "all the input array dimensions except for the concatenation axis must match \
                     exactly, but along dimension {dim}, the array at index 0 has size {wanted} \
                     and the array at index {i} has size {n}"
                );
            }
        }
        shape[axis] += array.shape()[axis];
    }
    let natural = arrays.iter().map(Array::dtype).reduce(promote).unwrap_or(DType::F64);
    let out = Array::uninit(&shape, dtype.unwrap_or(natural))?;
    let mut start = 0;
    for array in arrays {
        let length = array.shape()[axis];
        out.slice_axis(axis, start, length).fill_from(array)?;
        start += length;
    }
    Ok(out)
}

/// `np.stack`: arrays of one shape along a new axis.
///
/// # Errors
/// As [`concatenate`].
pub fn stack(arrays: &[Array], axis: i64, dtype: Option<DType>) -> Result<Array> {
    let Some(first) = arrays.first() else { bail!(Value, "need at least one array to stack") };
    if arrays.iter().any(|array| array.shape() != first.shape()) {
        bail!(Value, "all input arrays must have the same shape");
    }
    let axis = normalize_axis(axis, first.ndim() + 1)? as i64;
    let expanded =
        arrays.iter().map(|array| array.expand_dims(&[axis])).collect::<Result<Vec<Array>>>()?;
    concatenate(&expanded, Some(axis), dtype)
}

/// `np.vstack`: rows one below the other.
///
/// # Errors
/// As [`concatenate`].
pub fn vstack(arrays: &[Array], dtype: Option<DType>) -> Result<Array> {
    concatenate(&each(arrays, |array| array.at_least(2))?, Some(0), dtype)
}

/// `np.hstack`: side by side; vectors end to end.
///
/// # Errors
/// As [`concatenate`].
pub fn hstack(arrays: &[Array], dtype: Option<DType>) -> Result<Array> {
    let arrays = each(arrays, |array| array.at_least(1))?;
    let axis = if arrays.first().is_some_and(|first| first.ndim() == 1) { 0 } else { 1 };
    concatenate(&arrays, Some(axis), dtype)
}

/// `np.dstack`: behind each other, along the third dimension.
///
/// # Errors
/// As [`concatenate`].
pub fn dstack(arrays: &[Array], dtype: Option<DType>) -> Result<Array> {
    concatenate(&each(arrays, |array| array.at_least(3))?, Some(2), dtype)
}

/// `np.column_stack`: vectors as columns, matrices side by side.
///
/// # Errors
/// As [`concatenate`].
pub fn column_stack(arrays: &[Array]) -> Result<Array> {
    let columns = each(arrays, |array| match array.ndim() {
        0 => array.reshape(&[1, 1]),
        1 => array.expand_dims(&[1]),
        _ => Ok(array.clone()),
    })?;
    concatenate(&columns, Some(1), None)
}

fn each(arrays: &[Array], change: impl Fn(&Array) -> Result<Array>) -> Result<Vec<Array>> {
    arrays.iter().map(change).collect()
}

/// `np.array_split` into a number of parts: the first ones are longer when it does not divide.
///
/// # Errors
/// [`crate::Error::Value`] for no parts, [`crate::Error::Axis`].
pub fn array_split(array: &Array, parts: usize, axis: i64) -> Result<Vec<Array>> {
    if parts == 0 {
        bail!(Value, "number sections must be larger than 0.");
    }
    let axis = array.axis(axis)?;
    let n = array.shape()[axis];
    let mut start = 0;
    Ok((0..parts)
        .map(|part| {
            let length = n / parts + usize::from(part < n % parts);
            start += length;
            array.slice_axis(axis, start - length, length)
        })
        .collect())
}

/// `np.split` into equal parts.
///
/// # Errors
/// [`crate::Error::Value`] when it does not divide, [`crate::Error::Axis`].
pub fn split(array: &Array, parts: usize, axis: i64) -> Result<Vec<Array>> {
    let n = array.shape()[array.axis(axis)?];
    if parts == 0 || !n.is_multiple_of(parts) {
        bail!(Value, "array split does not result in an equal division");
    }
    array_split(array, parts, axis)
}

/// `np.split` at these places, which follow slice rules: negative from the end, cut to what
/// there is.
///
/// # Errors
/// [`crate::Error::Axis`].
pub fn split_at(array: &Array, places: &[i64], axis: i64) -> Result<Vec<Array>> {
    let axis = array.axis(axis)?;
    let n = array.shape()[axis] as i64;
    let place = |at: i64| (if at < 0 { at.saturating_add(n) } else { at }).clamp(0, n) as usize;
    let starts = std::iter::once(0).chain(places.iter().map(|&at| place(at)));
    let ends = places.iter().map(|&at| place(at)).chain([n as usize]);
    Ok(starts
        .zip(ends)
        .map(|(start, end)| array.slice_axis(axis, start, end.saturating_sub(start)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_join_in_the_widest_type() {
        let joined = concatenate(
            &[Array::counted(&[2, 2]), Array::counted(&[2, 1]).cast(DType::F32).unwrap()],
            Some(-1),
            None,
        )
        .unwrap();
        assert_eq!(joined.dtype(), DType::F64);
        assert_eq!(joined.to_vec::<f64>().unwrap(), [0.0, 1.0, 0.0, 2.0, 3.0, 1.0]);
        let error = concatenate(&[Array::counted(&[2, 3]), Array::counted(&[2, 2])], Some(0), None)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "all the input array dimensions except for the concatenation axis must match exactly, but along dimension 1, the array at index 0 has size 3 and the array at index 1 has size 2"
        );
    }

    #[test]
    fn stacks_go_every_way() {
        let v = Array::counted(&[3]);
        let pair = [v.clone(), v];
        assert_eq!(stack(&pair, -1, None).unwrap().to_vec::<i64>().unwrap(), [0, 0, 1, 1, 2, 2]);
        assert_eq!(vstack(&pair, None).unwrap().shape(), [2, 3]);
        assert_eq!(hstack(&pair, None).unwrap().shape(), [6]);
        assert_eq!(dstack(&pair, None).unwrap().shape(), [1, 3, 2]);
        assert_eq!(column_stack(&pair).unwrap().shape(), [3, 2]);
    }

    #[test]
    fn parts_are_views() {
        let lengths = |parts: Vec<Array>| parts.iter().map(Array::size).collect::<Vec<_>>();
        let a = Array::counted(&[8]);
        assert_eq!(lengths(array_split(&a, 3, 0).unwrap()), [3, 3, 2]);
        assert_eq!(lengths(split_at(&a, &[2, -1, 20], 0).unwrap()), [2, 5, 1, 0]);
        assert!(split(&a, 3, 0).is_err());
        assert!(split(&a, 2, 0).unwrap()[1].may_share_memory(&a));
    }
}
