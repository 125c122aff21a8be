//! Views of the same elements in another shape.

use crate::array::{Array, c_strides, normalize_axis, shape_text};
use crate::dtype::{DType, with_dtype};
use crate::error::{Error, Result, bail};

impl Array {
    /// The same elements, in C order, in another shape; one length may be -1. A view where the
    /// strides allow it, else a copy.
    ///
    /// # Errors
    /// [`Error::Value`] when the number of elements does not fit.
    pub fn reshape(&self, shape: &[i64]) -> Result<Array> {
        let shape = resolve_shape(self.size(), shape)?;
        self.reshaped(shape)
    }

    /// The same with elements taken and laid in Fortran order (`order="F"`).
    ///
    /// # Errors
    /// As [`Array::reshape`].
    pub fn reshape_fortran(&self, shape: &[i64]) -> Result<Array> {
        let mut shape = resolve_shape(self.size(), shape)?;
        shape.reverse();
        Ok(self.transposed().reshaped(shape)?.transposed())
    }

    /// [`Array::reshape`] to a shape of the right size.
    pub(crate) fn reshaped(&self, shape: Vec<usize>) -> Result<Array> {
        let strides = if self.is_c_contiguous() {
            Some(c_strides(&shape))
        } else {
            regrouped_strides(self.shape(), self.strides(), &shape)
        };
        match strides {
            Some(strides) => Ok(self.with_layout(shape, strides, self.offset())),
            None => {
                let copy = self.copy()?;
                Ok(copy.with_layout(shape.clone(), c_strides(&shape), copy.offset()))
            }
        }
    }

    /// One dimension: a view if the elements lie in C order without gaps, else a copy.
    ///
    /// # Errors
    /// As [`Array::copy`].
    pub fn ravel(&self) -> Result<Array> {
        self.contiguous()?.reshaped(vec![self.size()])
    }

    /// One dimension, always a copy.
    ///
    /// # Errors
    /// As [`Array::copy`].
    pub fn flatten(&self) -> Result<Array> {
        self.copy()?.reshaped(vec![self.size()])
    }

    /// All dimensions reversed, `.T`.
    pub fn transposed(&self) -> Array {
        let reversed = |order: Vec<usize>| self.permuted(&order);
        reversed((0..self.ndim()).rev().collect())
    }

    /// Dimensions in another order, reversed when none is given.
    ///
    /// # Errors
    /// [`Error::Value`] when the axes are no permutation, [`Error::Axis`].
    pub fn transpose(&self, axes: Option<&[i64]>) -> Result<Array> {
        let Some(axes) = axes else { return Ok(self.transposed()) };
        if axes.len() != self.ndim() {
            bail!(Value, "axes don't match array");
        }
        let order = normalize_axes(axes, self.ndim(), "repeated axis in transpose")?;
        Ok(self.permuted(&order))
    }

    pub(crate) fn permuted(&self, order: &[usize]) -> Array {
        let shape = order.iter().map(|&axis| self.shape()[axis]).collect();
        let strides = order.iter().map(|&axis| self.strides()[axis]).collect();
        self.with_layout(shape, strides, self.offset())
    }

    /// Two dimensions exchanged.
    ///
    /// # Errors
    /// [`Error::Axis`], with numpy's prefix that names the argument.
    pub fn swapaxes(&self, a: i64, b: i64) -> Result<Array> {
        let axis = |name: &str, axis| {
            self.axis(axis).map_err(|error| Error::Value(format!("{name}: {error}")))
        };
        let mut order: Vec<usize> = (0..self.ndim()).collect();
        order.swap(axis("axis1", a)?, axis("axis2", b)?);
        Ok(self.permuted(&order))
    }

    /// Dimensions moved to other places, the others keep their order.
    ///
    /// # Errors
    /// [`Error::Value`] when there are not as many sources as destinations or one comes twice,
    /// [`Error::Axis`].
    pub fn moveaxis(&self, source: &[i64], destination: &[i64]) -> Result<Array> {
        let from = normalize_axes(source, self.ndim(), "repeated axis in `source` argument")?;
        let to =
            normalize_axes(destination, self.ndim(), "repeated axis in `destination` argument")?;
        if from.len() != to.len() {
            bail!(
                Value,
                "`source` and `destination` arguments must have the same number of elements"
            );
        }
        let mut order: Vec<usize> = (0..self.ndim()).filter(|axis| !from.contains(axis)).collect();
        let mut moves: Vec<(usize, usize)> = to.into_iter().zip(from).collect();
        moves.sort_unstable();
        for (to, from) in moves {
            order.insert(to, from);
        }
        Ok(self.permuted(&order))
    }

    /// Dimensions of length one removed: those given, or all.
    ///
    /// # Errors
    /// [`Error::Value`] when one given is longer, [`Error::Axis`].
    pub fn squeeze(&self, axes: Option<&[i64]>) -> Result<Array> {
        let gone: Vec<usize> = match axes {
            None => (0..self.ndim()).filter(|&axis| self.shape()[axis] == 1).collect(),
            Some(axes) => normalize_axes(axes, self.ndim(), "duplicate value in 'axis'")?,
        };
        if gone.iter().any(|&axis| self.shape()[axis] != 1) {
            bail!(Value, "cannot select an axis to squeeze out which has size not equal to one");
        }
        let order: Vec<usize> = (0..self.ndim()).filter(|axis| !gone.contains(axis)).collect();
        Ok(self.permuted(&order))
    }

    /// New dimensions of length one, at these places of the result.
    ///
    /// # Errors
    /// [`Error::Axis`], [`Error::Value`] when one comes twice.
    pub fn expand_dims(&self, axes: &[i64]) -> Result<Array> {
        let ndim = self.ndim() + axes.len();
        let mut new = normalize_axes(axes, ndim, "repeated axis")?;
        new.sort_unstable();
        let (mut shape, mut strides) = (self.shape().to_vec(), self.strides().to_vec());
        for axis in new {
            shape.insert(axis, 1);
            strides.insert(axis, 0);
        }
        Ok(self.with_layout(shape, strides, self.offset()))
    }

    /// The view repeated along dimensions of length one and along new ones in front. It must
    /// not be written, which numpy enforces.
    ///
    /// # Errors
    /// [`Error::Value`] when the shapes do not fit.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Array> {
        let strides = broadcast_strides(self.shape(), self.strides(), shape);
        let Some(strides) = strides else {
            bail!(
                Value,
                "operands could not be broadcast together with remapped shapes \
                 [original->remapped]: {}  and requested shape {}",
                tight_text(self.shape()),
                tight_text(shape)
            )
        };
        let mut view = self.with_layout(shape.to_vec(), strides, self.offset());
        view.set_writeable(false)?;
        Ok(view)
    }

    /// At least `ndim` dimensions, as `np.atleast_1d` and its like add them: one in front for
    /// vectors, and for `atleast_3d` one behind.
    ///
    /// # Errors
    /// None; the result type is that of its neighbours.
    pub fn at_least(&self, ndim: usize) -> Result<Array> {
        match (self.ndim(), ndim) {
            (have, want) if have >= want => Ok(self.clone()),
            (0, want) => self.expand_dims(&(0..want as i64).collect::<Vec<i64>>()),
            (1, 2) => self.expand_dims(&[0]),
            (1, 3) => self.expand_dims(&[0, 2]),
            (2, 3) => self.expand_dims(&[2]),
            (have, want) => self.expand_dims(&(0..(want - have) as i64).collect::<Vec<i64>>()),
        }
    }

    /// The diagonal of two dimensions as a view, last in the result. `offset` counts from the
    /// main diagonal towards larger indices of `axis2`.
    ///
    /// # Errors
    /// [`Error::Value`] below two dimensions or for equal axes, [`Error::Axis`].
    pub fn diagonal(&self, offset: i64, axis1: i64, axis2: i64) -> Result<Array> {
        if self.ndim() < 2 {
            bail!(Value, "diag requires an array of at least two dimensions");
        }
        let (a, b) = (self.axis(axis1)?, self.axis(axis2)?);
        if a == b {
            bail!(Value, "axis1 and axis2 cannot be the same");
        }
        let skip = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        let (skip_a, skip_b) = if offset < 0 { (skip, 0) } else { (0, skip) };
        let length =
            self.shape()[a].saturating_sub(skip_a).min(self.shape()[b].saturating_sub(skip_b));
        let start = if length == 0 {
            0
        } else {
            skip_a as isize * self.strides()[a] + skip_b as isize * self.strides()[b]
        };
        let order: Vec<usize> = (0..self.ndim()).filter(|&axis| axis != a && axis != b).collect();
        let rest = self.permuted(&order);
        let (mut shape, mut strides) = (rest.shape().to_vec(), rest.strides().to_vec());
        shape.push(length);
        strides.push(self.strides()[a] + self.strides()[b]);
        let mut view = self.with_layout(shape, strides, (self.offset() as isize + start) as usize);
        view.set_writeable(false)?;
        Ok(view)
    }

    /// The same bytes as elements of another type (`a.view(dtype)`).
    ///
    /// # Errors
    /// [`Error::Value`] when the last dimension does not divide, is not contiguous or not
    /// aligned, or when bytes are no bools.
    pub fn view_dtype(&self, dtype: DType) -> Result<Array> {
        let (from, to) = (self.dtype().itemsize(), dtype.itemsize());
        let mut shape = self.shape().to_vec();
        let mut strides = self.strides().to_vec();
        if from != to {
            let Some(last) = shape.last_mut() else {
                bail!(
                    Value,
                    "Changing the dtype of a 0d array is only supported if the itemsize is unchanged"
                )
            };
            if strides.last() != Some(&1) && *last != 1 {
                bail!(
                    Value,
                    "To change to a dtype of a different size, the last axis must be contiguous"
                );
            }
            let bytes = *last * from;
            if !bytes.is_multiple_of(to) {
                bail!(
                    Value,
                    "When changing to a larger dtype, its size must be a divisor of the total \
                     size in bytes of the last axis of the array."
                );
            }
            *last = bytes / to;
        }
        let scaled = |elements: isize| {
            let bytes = elements * from as isize;
            if bytes % to as isize == 0 { Some(bytes / to as isize) } else { None }
        };
        let outer = strides.len().saturating_sub(usize::from(from != to));
        let unaligned = || Error::Value(format!("the elements are not aligned for {dtype}"));
        for stride in &mut strides[..outer] {
            *stride = scaled(*stride).ok_or_else(unaligned)?;
        }
        let offset = scaled(self.offset() as isize).ok_or_else(unaligned)? as usize;
        let base = self.buffer().as_ptr().addr();
        if !base.is_multiple_of(to) {
            return Err(unaligned());
        }
        if dtype == DType::Bool && self.dtype() != DType::Bool {
            let bytes = self.view_dtype(DType::U8)?;
            if bytes.iter::<u8>().any(|byte| byte > 1) {
                bail!(Value, "the bytes are no bools");
            }
        }
        Ok(self.with_dtype(dtype, shape, strides, offset))
    }

    /// Whether an element is not zero; for arrays of one element, as Python's `bool(a)`.
    ///
    /// # Errors
    /// [`Error::Value`] when there is not exactly one element.
    pub fn truth(&self) -> Result<bool> {
        match self.size() {
            1 => Ok(
                with_dtype!(self.dtype(), T => self.iter::<T>().any(|value| value != T::default())),
            ),
            0 => bail!(
                Value,
                "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty."
            ),
            _ => bail!(
                Value,
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            ),
        }
    }
}

/// The shape that all of them can be repeated to.
///
/// # Errors
/// [`Error::Value`] when two lengths differ and neither is one.
pub fn broadcast_shapes(shapes: &[&[usize]]) -> Result<Vec<usize>> {
    let ndim = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut joint = vec![1; ndim];
    for shape in shapes {
        for (slot, &n) in joint.iter_mut().rev().zip(shape.iter().rev()) {
            if *slot == 1 {
                *slot = n;
            } else if n != 1 && n != *slot {
                let all: String = shapes.iter().map(|shape| tight_text(shape) + " ").collect();
                bail!(Value, "operands could not be broadcast together with shapes {all}");
            }
        }
    }
    Ok(joint)
}

/// All arrays repeated to one shape.
///
/// # Errors
/// As [`broadcast_shapes`].
pub fn broadcast_arrays(arrays: &[Array]) -> Result<Vec<Array>> {
    let shapes: Vec<&[usize]> = arrays.iter().map(Array::shape).collect();
    let shape = broadcast_shapes(&shapes).map_err(|_| {
        Error::Value("shape mismatch: objects cannot be broadcast to a single shape.".to_owned())
    })?;
    arrays.iter().map(|array| array.broadcast_to(&shape)).collect()
}

/// Resolves axes, each of which may come only once.
///
/// # Errors
/// [`Error::Axis`], [`Error::Value`] with the text given when one comes twice.
pub fn normalize_axes(axes: &[i64], ndim: usize, repeated: &str) -> Result<Vec<usize>> {
    let mut resolved = Vec::with_capacity(axes.len());
    for &axis in axes {
        let axis = normalize_axis(axis, ndim)?;
        if resolved.contains(&axis) {
            bail!(Value, "{repeated}");
        }
        resolved.push(axis);
    }
    Ok(resolved)
}

/// A shape without blanks, `(2,3)`, as some of numpy's messages have it.
pub(crate) fn tight_text(shape: &[usize]) -> String {
    shape_text(shape).replace(' ', "")
}

fn resolve_shape(size: usize, shape: &[i64]) -> Result<Vec<usize>> {
    let unknown = shape.iter().filter(|&&n| n < 0).count();
    if unknown > 1 {
        bail!(Value, "can only specify one unknown dimension");
    }
    let known = shape
        .iter()
        .filter(|&&n| n >= 0)
        .try_fold(1usize, |product, &n| product.checked_mul(usize::try_from(n).ok()?));
    let fits = match (unknown, known) {
        (0, Some(known)) => known == size,
        (_, Some(known)) => known != 0 && size.is_multiple_of(known),
        (_, None) => false,
    };
    let known = known.unwrap_or(0);
    if !fits {
        let dims: Vec<String> = shape
            .iter()
            .map(|&n| if n < 0 { "newaxis".to_owned() } else { n.to_string() })
            .collect();
        let comma = if dims.len() == 1 { "," } else { "" };
        bail!(Value, "cannot reshape array of size {size} into shape ({}{comma})", dims.join(","));
    }
    Ok(shape.iter().map(|&n| if n < 0 { size / known } else { n as usize }).collect())
}

/// Strides of another grouping of the same elements, if it needs no copy: lengths are matched
/// in groups of equal product, and inside a group the old dimensions must follow each other.
fn regrouped_strides(
    shape: &[usize],
    strides: &[isize],
    new_shape: &[usize],
) -> Option<Vec<isize>> {
    if shape.contains(&0) {
        return Some(c_strides(new_shape));
    }
    let old: Vec<(usize, isize)> =
        shape.iter().copied().zip(strides.iter().copied()).filter(|&(n, _)| n != 1).collect();
    let mut new_strides = vec![0; new_shape.len()];
    let (mut i, mut j) = (0, 0);
    while i < old.len() {
        let (first, new_first) = (i, j);
        let (mut old_size, mut new_size) = (old[i].0, *new_shape.get(j)?);
        (i, j) = (i + 1, j + 1);
        while old_size != new_size {
            if old_size < new_size {
                old_size *= old[i].0;
                i += 1;
            } else {
                new_size *= new_shape[j];
                j += 1;
            }
        }
        let group = &old[first..i];
        if group.windows(2).any(|pair| pair[0].1 != pair[1].0 as isize * pair[1].1) {
            return None;
        }
        let mut stride = old[i - 1].1;
        for axis in (new_first..j).rev() {
            new_strides[axis] = stride;
            stride *= new_shape[axis] as isize;
        }
    }
    // What is left has length one.
    new_strides[j..].fill(1);
    Some(new_strides)
}

/// Strides with zeros for repeated dimensions.
fn broadcast_strides(shape: &[usize], strides: &[isize], target: &[usize]) -> Option<Vec<isize>> {
    let skip = target.len().checked_sub(shape.len())?;
    let mut out = vec![0; target.len()];
    for (axis, (&n, &stride)) in shape.iter().zip(strides).enumerate() {
        match target[skip + axis] {
            wanted if wanted == n => out[skip + axis] = if n == 1 { 0 } else { stride },
            _ if n == 1 => {}
            _ => return None,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;

    #[test]
    fn reshape_is_a_view_when_it_can_be() {
        let a = Array::counted(&[2, 3, 4]);
        let view = a.reshape(&[6, -1]).unwrap();
        view.set(&[5, 3], Scalar::I64(100)).unwrap();
        assert_eq!(a.get(&[1, 2, 3]), Scalar::I64(100));
        // Two dimensions of a slice still follow each other.
        let part = a.slice_axis(2, 1, 2);
        assert!(part.reshape(&[6, 2]).unwrap().may_share_memory(&a));
        assert!(!part.reshape(&[12]).unwrap().may_share_memory(&a));
        assert!(!a.transposed().reshape(&[24]).unwrap().may_share_memory(&a));
        assert_eq!(
            a.transposed().reshape(&[24]).unwrap().to_vec::<i64>().unwrap()[..4],
            [0, 12, 4, 16]
        );
    }

    #[test]
    fn reshape_says_what_does_not_fit() {
        let text = |shape: &[i64]| Array::counted(&[4]).reshape(shape).unwrap_err().to_string();
        assert_eq!(text(&[3, -1]), "cannot reshape array of size 4 into shape (3,newaxis)");
        assert_eq!(text(&[5]), "cannot reshape array of size 4 into shape (5,)");
        assert_eq!(text(&[-1, -1]), "can only specify one unknown dimension");
        assert_eq!(Array::counted(&[0, 3]).reshape(&[3, 0]).unwrap().shape(), [3, 0]);
    }

    #[test]
    fn dimensions_move() {
        let a = Array::counted(&[2, 3, 4]);
        assert_eq!(a.moveaxis(&[0], &[-1]).unwrap().shape(), [3, 4, 2]);
        assert_eq!(a.moveaxis(&[2, 0], &[0, 1]).unwrap().shape(), [4, 2, 3]);
        assert_eq!(a.swapaxes(0, -1).unwrap().shape(), [4, 3, 2]);
        assert_eq!(a.transpose(Some(&[1, 0, 2])).unwrap().get(&[2, 1, 0]), Scalar::I64(20));
        assert_eq!(a.expand_dims(&[0, -1]).unwrap().shape(), [1, 2, 3, 4, 1]);
        assert_eq!(
            a.diagonal(1, 0, 1).unwrap().to_vec::<i64>().unwrap(),
            [4, 17, 5, 18, 6, 19, 7, 20][..]
                .iter()
                .copied()
                .enumerate()
                .map(|(i, _)| {
                    let (row, k) = (i / 2, i % 2);
                    (k * 12 + (k + 1) * 4 + row) as i64
                })
                .collect::<Vec<i64>>()
        );
    }

    #[test]
    fn bytes_are_seen_as_another_type() {
        let a = Array::vector(vec![1.0f64, 2.0]);
        assert_eq!(
            a.view_dtype(DType::I64).unwrap().get(&[0]),
            Scalar::I64(1.0f64.to_bits() as i64)
        );
        assert_eq!(a.view_dtype(DType::U8).unwrap().shape(), [16]);
        assert!(
            a.view_dtype(DType::U8).unwrap().slice_axis(0, 1, 8).view_dtype(DType::F64).is_err()
        );
    }
}
