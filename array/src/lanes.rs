//! Functions of whole lanes: elements along one or several axes, brought together.

use crate::array::{Array, normalize_axis};
use crate::dtype::{Element, with_dtype};
use crate::error::{Result, bail};
use crate::sort::order::Ordered as _;

/// An array with the axes of an operation moved to the end and merged.
pub(crate) struct Lanes {
    /// The array with the other axes first.
    moved: Array,
    /// Elements of a lane.
    pub length: usize,
    /// Lengths of the other axes: the shape of a result with one value for each lane.
    pub outer: Vec<usize>,
    /// The same with an axis of length one for each that was merged.
    pub kept: Vec<usize>,
}

impl Lanes {
    /// Over `axes`, or over all for `None`.
    ///
    /// # Errors
    /// [`crate::Error::Axis`], [`crate::Error::Value`] for a repeated axis.
    pub fn new(array: &Array, axes: Option<&[i64]>) -> Result<Lanes> {
        let ndim = array.ndim();
        let mut inner: Vec<usize> = match axes {
            None => (0..ndim).collect(),
            Some(axes) => {
                axes.iter().map(|&axis| normalize_axis(axis, ndim)).collect::<Result<_>>()?
            }
        };
        inner.sort_unstable();
        if inner.windows(2).any(|pair| pair[0] == pair[1]) {
            bail!(Value, "repeated axis");
        }
        let order: Vec<usize> =
            (0..ndim).filter(|axis| !inner.contains(axis)).chain(inner.iter().copied()).collect();
        let moved = array.with_layout(
            order.iter().map(|&axis| array.shape()[axis]).collect(),
            order.iter().map(|&axis| array.strides()[axis]).collect(),
            array.offset(),
        );
        let (outer, lane) = moved.shape().split_at(ndim - inner.len());
        let (outer, length) = (outer.to_vec(), lane.iter().product());
        let kept = (0..ndim)
            .map(|axis| if inner.contains(&axis) { 1 } else { array.shape()[axis] })
            .collect();
        Ok(Lanes { moved, length, outer, kept })
    }

    /// Over one axis.
    ///
    /// # Errors
    /// [`crate::Error::Axis`].
    pub fn along(array: &Array, axis: i64) -> Result<Lanes> {
        Lanes::new(array, Some(&[axis]))
    }

    /// How many lanes there are.
    pub fn count(&self) -> usize {
        self.outer.iter().product()
    }

    /// The view of one lane, of any number of dimensions.
    pub fn lane(&self, number: usize) -> Array {
        let mut offset = self.moved.offset() as isize;
        let mut rest = number;
        for (&n, &stride) in self.outer.iter().zip(self.moved.strides()).rev() {
            offset += (rest % n) as isize * stride;
            rest /= n;
        }
        let axes = self.outer.len();
        self.moved.with_layout(
            self.moved.shape()[axes..].to_vec(),
            self.moved.strides()[axes..].to_vec(),
            offset as usize,
        )
    }

    /// The elements, one lane after the other.
    ///
    /// # Errors
    /// [`crate::Error::Memory`], [`crate::Error::Interrupted`].
    pub fn values<T: Element>(&self) -> Result<Vec<T>> {
        self.moved.to_vec()
    }

    /// Their ranks in the order of all elements, one lane after the other.
    ///
    /// # Errors
    /// As [`Lanes::values`].
    pub fn ranks(&self) -> Result<Vec<u64>> {
        with_dtype!(self.moved.dtype(), T => {
            Ok(self.values::<T>()?.into_iter().map(|value| value.rank()).collect())
        })
    }

    /// The shape of a result with one value for each lane.
    pub fn result_shape(&self, keepdims: bool) -> &[usize] {
        if keepdims { &self.kept } else { &self.outer }
    }
}

/// An array from lanes of `length` elements each along `axis`; the other axes are those of
/// `shape`.
///
/// # Errors
/// [`crate::Error::Memory`].
pub(crate) fn from_lanes<T: Element>(
    values: Vec<T>,
    length: usize,
    shape: &[usize],
    axis: usize,
) -> Result<Array> {
    let mut moved: Vec<usize> = shape.to_vec();
    moved.remove(axis);
    moved.push(length);
    let array = Array::from_vec(values, &moved)?;
    if axis + 1 == shape.len() {
        return Ok(array);
    }
    let back = |mut dims: Vec<usize>| {
        let last = dims.pop().unwrap_or(1);
        dims.insert(axis, last);
        dims
    };
    let strides: Vec<usize> = array.strides().iter().map(|&stride| stride as usize).collect();
    let strides = back(strides).into_iter().map(|stride| stride as isize).collect();
    array.with_layout(back(moved), strides, 0).copy()
}
