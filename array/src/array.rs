//! The array itself: a strided, typed view of a shared buffer.

use std::cell::Cell;
use std::rc::Rc;

use crate::buffer::{Buffer, array_bytes};
use crate::dtype::{DType, Element, with_dtype};
use crate::error::{Error, Result, bail};
use crate::scalar::Scalar;

/// The most dimensions an array may have, as in numpy.
pub const MAX_DIMS: usize = 64;

/// A view of a [`Buffer`]: shape, strides and where it begins.
///
/// A clone is another view of the same elements; [`Array::copy`] makes new ones. Strides and
/// offset count elements, not bytes, and strides may be negative or, after a broadcast, zero.
/// A zero-dimensional array has one element.
#[derive(Clone)]
pub struct Array {
    buffer: Rc<Buffer>,
    dtype: DType,
    shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
    writeable: bool,
}

impl Array {
    /// An array of zeros.
    ///
    /// # Errors
    /// [`Error::Memory`] beyond the limit, [`Error::Value`] for too many dimensions.
    pub fn zeros(shape: &[usize], dtype: DType) -> Result<Array> {
        let array = Array::uninit(shape, dtype)?;
        let bytes = array.size() * dtype.itemsize();
        // SAFETY: the buffer was made with this size and nobody else has it yet.
        unsafe { array.buffer.as_ptr().write_bytes(0, bytes) };
        Ok(array)
    }

    /// An array with every element equal to `value`.
    ///
    /// # Errors
    /// As [`Array::zeros`].
    pub fn full(shape: &[usize], value: Scalar) -> Result<Array> {
        with_dtype!(value.dtype(), T => Array::build(shape, |out: &mut [T]| {
            out.fill(value.to());
            Ok(())
        }))
    }

    /// A C-ordered array whose elements `fill` writes, all of them. The slice comes with
    /// undefined numbers in it.
    ///
    /// # Errors
    /// As [`Array::zeros`], and what `fill` returns.
    pub fn build<T: Element>(
        shape: &[usize],
        fill: impl FnOnce(&mut [T]) -> Result<()>,
    ) -> Result<Array> {
        let array = Array::uninit(shape, T::DTYPE)?;
        // SAFETY: the buffer has room for `size` elements, aligned, and is not shared yet.
        // Its bytes are initialised (see `Buffer::uninit`) and valid: any are for a number,
        // and `Array::uninit` clears those of a `bool` array.
        let out = unsafe { std::slice::from_raw_parts_mut(array.ptr::<T>(), array.size()) };
        fill(out)?;
        Ok(array)
    }

    /// A C-ordered array with undefined elements, to be filled by the caller.
    pub(crate) fn uninit(shape: &[usize], dtype: DType) -> Result<Array> {
        if shape.len() > MAX_DIMS {
            bail!(
                Value,
                "maximum supported dimension for an ndarray is currently {MAX_DIMS}, found {}",
                shape.len()
            );
        }
        let bytes = array_bytes(shape, dtype)?;
        let buffer =
            if dtype == DType::Bool { Buffer::zeros(bytes) } else { Buffer::uninit(bytes) }?;
        Ok(Array {
            buffer: Rc::new(buffer),
            dtype,
            shape: shape.to_vec(),
            strides: c_strides(shape),
            offset: 0,
            writeable: true,
        })
    }

    /// A C-ordered array of these elements, without a copy.
    ///
    /// # Errors
    /// [`Error::Value`] when the number of elements is not that of the shape.
    pub fn from_vec<T: Element>(values: Vec<T>, shape: &[usize]) -> Result<Array> {
        if values.len() != shape.iter().product::<usize>() {
            bail!(
                Value,
                "cannot reshape array of size {} into shape {}",
                values.len(),
                shape_text(shape)
            );
        }
        Array::from_buffer(Rc::new(Buffer::from_vec(values)), T::DTYPE, shape)
    }

    /// A one-dimensional array of these elements, without a copy.
    pub fn vector<T: Element>(values: Vec<T>) -> Array {
        let shape = vec![values.len()];
        Array {
            buffer: Rc::new(Buffer::from_vec(values)),
            dtype: T::DTYPE,
            strides: c_strides(&shape),
            shape,
            offset: 0,
            writeable: true,
        }
    }

    /// A zero-dimensional array.
    pub fn scalar(value: Scalar) -> Array {
        let mut array = with_dtype!(value.dtype(), T => Array::vector(vec![value.to::<T>()]));
        array.shape.clear();
        array.strides.clear();
        array
    }

    /// A C-ordered array over a whole buffer, which is how mapped files become arrays.
    ///
    /// # Errors
    /// [`Error::Value`] when the buffer is too small or not aligned for the type, or holds
    /// something else than 0 and 1 for `bool`.
    pub fn from_buffer(buffer: Rc<Buffer>, dtype: DType, shape: &[usize]) -> Result<Array> {
        let bytes = array_bytes(shape, dtype)?;
        if bytes > buffer.len() {
            bail!(Value, "buffer is smaller than requested size");
        }
        if !buffer.as_ptr().addr().is_multiple_of(dtype.itemsize()) && bytes > 0 {
            bail!(Value, "buffer is not aligned for {dtype}");
        }
        if dtype == DType::Bool {
            // SAFETY: a buffer is readable over its length.
            let bytes = unsafe { std::slice::from_raw_parts(buffer.as_ptr(), bytes) };
            if bytes.iter().any(|&byte| byte > 1) {
                bail!(Value, "buffer holds bytes that are no bool");
            }
        }
        let writeable = buffer.is_writeable();
        let strides = c_strides(shape);
        Ok(Array { buffer, dtype, shape: shape.to_vec(), strides, offset: 0, writeable })
    }

    /// The same elements seen through other dimensions. The caller answers for their bounds.
    pub(crate) fn with_layout(
        &self,
        shape: Vec<usize>,
        strides: Vec<isize>,
        offset: usize,
    ) -> Array {
        debug_assert_eq!(shape.len(), strides.len());
        Array {
            buffer: Rc::clone(&self.buffer),
            dtype: self.dtype,
            shape,
            strides,
            offset,
            writeable: self.writeable,
        }
    }

    /// The same bytes as another type. The caller answers for bounds, alignment and bools.
    pub(crate) fn with_dtype(
        &self,
        dtype: DType,
        shape: Vec<usize>,
        strides: Vec<isize>,
        offset: usize,
    ) -> Array {
        Array { dtype, ..self.with_layout(shape, strides, offset) }
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Length along each dimension.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Distance between neighbours along each dimension, in elements. (`ndarray.strides`
    /// counts bytes.)
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Index of the first element in the buffer.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The memory behind it.
    pub fn buffer(&self) -> &Rc<Buffer> {
        &self.buffer
    }

    /// Whether its elements may be assigned.
    pub fn is_writeable(&self) -> bool {
        self.writeable
    }

    /// Forbids or allows assignment through this view.
    ///
    /// # Errors
    /// [`Error::Value`] when the memory itself is read-only.
    pub fn set_writeable(&mut self, writeable: bool) -> Result<()> {
        if writeable && !self.buffer.is_writeable() {
            bail!(Value, "cannot set WRITEABLE flag to True of this array");
        }
        self.writeable = writeable;
        Ok(())
    }

    /// # Errors
    /// [`Error::Value`] when this view may not be assigned to.
    pub fn require_writeable(&self) -> Result<()> {
        if self.writeable {
            return Ok(());
        }
        bail!(Value, "assignment destination is read-only")
    }

    /// Whether the elements lie in C order without gaps.
    pub fn is_c_contiguous(&self) -> bool {
        is_dense(self.shape.iter().zip(&self.strides).rev())
    }

    /// Whether the elements lie in Fortran order without gaps.
    pub fn is_f_contiguous(&self) -> bool {
        is_dense(self.shape.iter().zip(&self.strides))
    }

    /// Pointer to the first element.
    ///
    /// Reading and writing through it is up to the caller: within shape and strides, and as
    /// the element type of [`Array::dtype`].
    pub fn ptr<T: Element>(&self) -> *mut T {
        debug_assert_eq!(T::DTYPE, self.dtype);
        self.buffer.as_ptr().cast::<T>().wrapping_add(self.offset)
    }

    /// The elements as plain integers of the same width (`float16` for two bytes), for work
    /// that only moves them.
    pub(crate) fn as_bits(&self) -> Array {
        let bits = match self.dtype.itemsize() {
            1 => DType::U8,
            2 => DType::F16,
            4 => DType::I32,
            _ => DType::I64,
        };
        self.with_dtype(bits, self.shape.clone(), self.strides.clone(), self.offset)
    }

    /// Undoes [`Array::as_bits`].
    pub(crate) fn bits_as(&self, dtype: DType) -> Array {
        self.with_dtype(dtype, self.shape.clone(), self.strides.clone(), self.offset)
    }

    /// Address of the first element.
    pub(crate) fn first_byte(&self) -> *mut u8 {
        self.buffer.as_ptr().wrapping_add(self.offset * self.dtype.itemsize())
    }

    /// The elements, if they are of type `T` and lie in C order without gaps.
    ///
    /// They are cells because another view may write them between two reads.
    pub fn as_cells<T: Element>(&self) -> Option<&[Cell<T>]> {
        if T::DTYPE != self.dtype || !self.is_c_contiguous() {
            return None;
        }
        if self.is_empty() {
            return Some(&[]);
        }
        // SAFETY: contiguous elements of this type inside a buffer that `self` keeps alive and
        // that one thread uses. For read-only memory nothing in this crate calls `set`.
        Some(unsafe { std::slice::from_raw_parts(self.ptr::<T>().cast::<Cell<T>>(), self.size()) })
    }

    /// The elements as a slice, if they are of type `T` and lie in C order without gaps.
    ///
    /// # Safety
    /// Nothing may write these elements, through this array or another view of the buffer,
    /// while the slice is in use.
    pub unsafe fn as_slice<T: Element>(&self) -> Option<&[T]> {
        let cells = self.as_cells::<T>()?;
        // SAFETY: `Cell<T>` has the layout of `T`, and the caller excludes writes.
        Some(unsafe { std::slice::from_raw_parts(cells.as_ptr().cast::<T>(), cells.len()) })
    }

    /// The element at this place, counted from the start of each dimension.
    ///
    /// # Panics
    /// When the place lies outside: Python's indices go through [`crate::index`].
    pub fn get(&self, place: &[usize]) -> Scalar {
        let at = self.locate(place);
        // SAFETY: `locate` checked the place.
        with_dtype!(self.dtype, T => unsafe { self.buffer.as_ptr().cast::<T>().add(at).read() }.scalar())
    }

    /// Sets the element at this place, converted to the array's type.
    ///
    /// # Errors
    /// [`Error::Value`] when the array is read-only.
    ///
    /// # Panics
    /// When the place lies outside.
    pub fn set(&self, place: &[usize], value: Scalar) -> Result<()> {
        self.require_writeable()?;
        let at = self.locate(place);
        // SAFETY: `locate` checked the place.
        with_dtype!(self.dtype, T => unsafe { self.buffer.as_ptr().cast::<T>().add(at).write(value.to::<T>()) });
        Ok(())
    }

    fn locate(&self, place: &[usize]) -> usize {
        assert_eq!(place.len(), self.ndim(), "one index for each dimension");
        let mut at = self.offset as isize;
        for ((&i, &n), &stride) in place.iter().zip(&self.shape).zip(&self.strides) {
            assert!(i < n, "index {i} in a dimension of {n}");
            at += i as isize * stride;
        }
        at as usize
    }

    /// The only element of an array of one, of any number of dimensions.
    ///
    /// # Errors
    /// [`Error::Value`] when there are more or none, with the text of `ndarray.item()`.
    pub fn item(&self) -> Result<Scalar> {
        if self.size() != 1 {
            bail!(Value, "can only convert an array of size 1 to a Python scalar");
        }
        Ok(self.get(&vec![0; self.ndim()]))
    }

    /// The element with this number in C order.
    ///
    /// # Panics
    /// When there are not that many.
    pub fn flat(&self, mut index: usize) -> Scalar {
        let mut place = vec![0; self.ndim()];
        for (slot, &n) in place.iter_mut().zip(&self.shape).rev() {
            *slot = index % n;
            index /= n;
        }
        self.get(&place)
    }

    /// Every element in C order, whatever the strides.
    ///
    /// # Panics
    /// When the array's type is not `T`; [`Array::cast`] first.
    pub fn iter<T: Element>(&self) -> Iter<'_, T> {
        assert_eq!(T::DTYPE, self.dtype);
        Iter { array: self, place: vec![0; self.ndim()], at: self.ptr::<T>(), left: self.size() }
    }

    /// Every element in C order, converted to `T`.
    ///
    /// # Errors
    /// [`Error::Memory`] beyond the limit, [`Error::Interrupted`].
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let array = self.cast(T::DTYPE)?.contiguous()?;
        let mut values = Vec::new();
        values
            .try_reserve_exact(array.size())
            .map_err(|_| Error::Memory("Unable to allocate memory".to_owned()))?;
        if let Some(cells) = array.as_cells::<T>() {
            values.extend(cells.iter().map(Cell::get));
        }
        Ok(values)
    }

    /// The same view, or a C-ordered copy if the elements do not lie in C order without gaps.
    ///
    /// # Errors
    /// As [`Array::copy`].
    pub fn contiguous(&self) -> Result<Array> {
        if self.is_c_contiguous() { Ok(self.clone()) } else { self.copy() }
    }

    /// Resolves a Python axis, which may count from the end.
    ///
    /// # Errors
    /// [`Error::Axis`].
    pub fn axis(&self, axis: i64) -> Result<usize> {
        normalize_axis(axis, self.ndim())
    }
}

#[cfg(test)]
impl Array {
    /// 0, 1, 2, … in this shape.
    pub(crate) fn counted(shape: &[i64]) -> Array {
        let n = shape.iter().product::<i64>();
        Array::vector((0..n).collect::<Vec<i64>>()).reshape(shape).unwrap()
    }
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Array")
            .field("dtype", &self.dtype)
            .field("shape", &self.shape)
            .field("strides", &self.strides)
            .finish_non_exhaustive()
    }
}

/// The elements of an array in C order.
pub struct Iter<'a, T> {
    array: &'a Array,
    place: Vec<usize>,
    at: *mut T,
    left: usize,
}

impl<T: Element> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        // SAFETY: `place` is inside the shape, so `at` is inside the buffer.
        let value = unsafe { self.at.read() };
        for axis in (0..self.place.len()).rev() {
            let stride = self.array.strides[axis];
            self.place[axis] += 1;
            self.at = self.at.wrapping_offset(stride);
            if self.place[axis] < self.array.shape[axis] {
                break;
            }
            self.at = self.at.wrapping_offset(-stride * self.place[axis] as isize);
            self.place[axis] = 0;
        }
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T: Element> ExactSizeIterator for Iter<'_, T> {}

/// Strides of a C-ordered array without gaps.
pub(crate) fn c_strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    let mut step = 1isize;
    for (stride, &n) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step *= n.max(1) as isize;
    }
    strides
}

/// Whether dimensions, the fastest first, follow each other without gaps.
fn is_dense<'a>(dims: impl Iterator<Item = (&'a usize, &'a isize)>) -> bool {
    let mut expected = 1;
    let mut dense = true;
    for (&n, &stride) in dims {
        if n == 0 {
            return true;
        }
        dense &= n == 1 || stride == expected;
        expected *= n as isize;
    }
    dense
}

/// Resolves an axis that may count from the end.
///
/// # Errors
/// [`Error::Axis`].
pub fn normalize_axis(axis: i64, ndim: usize) -> Result<usize> {
    let resolved = if axis < 0 { axis + ndim as i64 } else { axis };
    match usize::try_from(resolved) {
        Ok(resolved) if resolved < ndim => Ok(resolved),
        _ => Err(Error::Axis { axis, ndim }),
    }
}

/// A shape as Python prints the tuple: `(2, 3)`, `(2,)`, `()`.
pub fn shape_text(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => {
            let dims: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("({})", dims.join(", "))
        }
    }
}
