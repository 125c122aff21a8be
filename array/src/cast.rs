//! Copies and conversions between element types.

use multiversion::multiversion;

use crate::array::{Array, c_strides};
use crate::blocks;
use crate::dtype::{DType, Element, with_dtype};
use crate::error::{Result, bail};
use crate::walk::Walk;
use crate::warn::{Warning, warn};

impl Array {
    /// A C-ordered copy with a buffer of its own.
    ///
    /// # Errors
    /// [`crate::Error::Memory`] beyond the limit, [`crate::Error::Interrupted`].
    pub fn copy(&self) -> Result<Array> {
        let out = Array::uninit(self.shape(), self.dtype())?;
        out.fill_from(self)?;
        Ok(out)
    }

    /// A copy that keeps the order of dimensions in memory, as numpy's `order="K"`.
    ///
    /// # Errors
    /// As [`Array::copy`].
    pub fn copy_keeping_order(&self) -> Result<Array> {
        let out = Array::uninit_like(self, self.dtype())?;
        out.fill_from(self)?;
        Ok(out)
    }

    /// A new array with the shape of `model` and its order of dimensions in memory.
    pub(crate) fn uninit_like(model: &Array, dtype: DType) -> Result<Array> {
        let out = Array::uninit(model.shape(), dtype)?;
        if model.is_c_contiguous() {
            return Ok(out);
        }
        Ok(out.with_layout(model.shape().to_vec(), kept_strides(model), 0))
    }

    /// The elements as another type: the same view if it is the type already, else a copy.
    ///
    /// # Errors
    /// As [`Array::astype`].
    pub fn cast(&self, dtype: DType) -> Result<Array> {
        if dtype == self.dtype() { Ok(self.clone()) } else { self.astype(dtype) }
    }

    /// A copy with the elements as another type, like `ndarray.astype`. Gives numpy's warning
    /// when a number has no place in it.
    ///
    /// # Errors
    /// As [`Array::copy`], and what the warning sink returns.
    pub fn astype(&self, dtype: DType) -> Result<Array> {
        let out = Array::uninit_like(self, dtype)?;
        out.fill_from(self)?;
        if self.dtype().is_float() {
            warn_of_losses(self, dtype)?;
        }
        Ok(out)
    }

    /// Sets every element from an array of the same shape, converted. Overlap is the
    /// caller's concern.
    pub(crate) fn fill_from(&self, source: &Array) -> Result<()> {
        debug_assert_eq!(self.shape(), source.shape());
        let convert = converter(self.dtype(), source.dtype());
        let (to, from) = (self.first_byte(), source.first_byte());
        let (to_size, from_size) =
            (self.dtype().itemsize() as isize, source.dtype().itemsize() as isize);
        Walk::any_order(self.shape(), [self.strides(), source.strides()]).run(&mut |at, tile| {
            for row in 0..tile.rows as isize {
                let to = to.wrapping_offset((at[0] + row * tile.row_strides[0]) * to_size);
                let from = from.wrapping_offset((at[1] + row * tile.row_strides[1]) * from_size);
                // SAFETY: the walk stays within both arrays, whose types the converter has.
                unsafe { convert(to, tile.strides[0], from, tile.strides[1], tile.n) };
            }
            Ok(())
        })
    }
}

/// Tells of numbers of a float array that `dtype` has no place for.
fn warn_of_losses(array: &Array, dtype: DType) -> Result<()> {
    // Between these, both excluded, everything fits.
    let (low, high) = match dtype {
        DType::I64 => (-9_223_372_036_854_777_856.0, 9_223_372_036_854_775_808.0),
        // Small integers are converted as `int32` first, and no trouble is noticed there. The
        // limit is the nearest number beyond in `float32`, for it is compared in the array's type.
        DType::I32 | DType::U8 if array.dtype() == DType::F64 => {
            (-2_147_483_649.0, 2_147_483_648.0)
        }
        DType::I32 | DType::U8 => (-2_147_483_904.0, 2_147_483_648.0),
        DType::F32 if array.dtype() == DType::F64 => {
            (-3.402_823_567_797_336_6e38, 3.402_823_567_797_336_6e38)
        }
        DType::F16 if array.dtype() != DType::F16 => (-65520.0, 65520.0),
        _ => return Ok(()),
    };
    let (beyond, infinite) = match array.dtype() {
        DType::F64 => losses::<f64>(array, low, high)?,
        _ => losses::<f32>(array, low, high)?,
    };
    if dtype.is_float() && beyond {
        warn(Warning::Runtime, "overflow encountered in cast")?;
    }
    if !dtype.is_float() && (beyond || infinite) {
        warn(Warning::Runtime, "invalid value encountered in cast")?;
    }
    Ok(())
}

/// Whether finite numbers lie outside the limits, and whether there are infinite ones or NaN.
fn losses<T: Element>(array: &Array, low: f64, high: f64) -> Result<(bool, bool)> {
    let (low, high) = (T::from_f64(low), T::from_f64(high));
    let (mut beyond, mut infinite) = (false, false);
    blocks::visit(array, &mut |block: &[T]| {
        if !all_between(block, low, high) {
            let fits = |value: T| value > low && value < high;
            beyond |= block.iter().any(|&value| value.is_finite() && !fits(value));
            infinite |= block.iter().any(|&value| !value.is_finite());
        }
        Ok(())
    })?;
    Ok((beyond, infinite))
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn all_between<T: Element>(values: &[T], low: T, high: T) -> bool {
    values.iter().fold(true, |all, &value| all & (value > low) & (value < high))
}

/// Converts elements from one place to another: pointer and stride, in elements, of each, and
/// how many. Both must be valid for as many steps.
pub(crate) type Convert = unsafe fn(*mut u8, isize, *const u8, isize, usize);

/// The conversion between two types. Everything that moves elements goes through this table,
/// so that it need not be compiled for every pair.
pub(crate) fn converter(to: DType, from: DType) -> Convert {
    with_dtype!(to, D => with_dtype!(from, S => convert::<D, S>))
}

unsafe fn convert<D: Element, S: Element>(
    to: *mut u8,
    to_stride: isize,
    from: *const u8,
    from_stride: isize,
    n: usize,
) {
    let (to, from) = (to.cast::<D>(), from.cast::<S>());
    // SAFETY: promised by the caller; constant strides let the loop be vectorised.
    unsafe {
        if to_stride == 1 && from_stride == 1 {
            if D::DTYPE == S::DTYPE {
                return std::ptr::copy(from.cast::<D>(), to, n);
            }
            for i in 0..n {
                to.add(i).write(from.add(i).read().cast::<D>());
            }
        } else {
            for i in 0..n as isize {
                let value = from.offset(i * from_stride).read();
                to.offset(i * to_stride).write(value.cast::<D>());
            }
        }
    }
}

/// Strides of a gapless array whose dimensions lie in the same order as those of `model`.
fn kept_strides(model: &Array) -> Vec<isize> {
    let mut order: Vec<usize> = (0..model.ndim()).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(model.strides()[axis].unsigned_abs()));
    let sorted: Vec<usize> = order.iter().map(|&axis| model.shape()[axis]).collect();
    let mut strides = vec![0; model.ndim()];
    for (&axis, stride) in order.iter().zip(c_strides(&sorted)) {
        strides[axis] = stride;
    }
    strides
}

/// Checks that an in-place operation may put `from` into `to` (numpy's `same_kind`).
///
/// # Errors
/// [`crate::Error::Type`] with the text of `UFuncOutputCastingError`.
pub(crate) fn require_same_kind(name: &str, from: DType, to: DType) -> Result<()> {
    if can_cast_same_kind(from, to) {
        return Ok(());
    }
    bail!(
        Type,
        "Cannot cast ufunc '{name}' output from dtype('{from}') to dtype('{to}') with casting rule 'same_kind'"
    )
}

/// Whether a value of `from` fits `to` at least in kind: bool < unsigned < signed < float.
pub fn can_cast_same_kind(from: DType, to: DType) -> bool {
    let rank = |dtype: DType| match dtype.kind() {
        'b' => 0,
        'u' => 1,
        'i' => 2,
        _ => 3,
    };
    rank(from) <= rank(to)
}

/// Whether every value of `from` has an equal in `to` (numpy's `safe`).
pub fn can_cast_safely(from: DType, to: DType) -> bool {
    use DType::{Bool, F16, F32, F64, I32, I64, U8};
    match from {
        Bool => true,
        U8 => to != Bool,
        I32 => matches!(to, I32 | I64 | F64),
        I64 => matches!(to, I64 | F64),
        F16 => to.is_float(),
        F32 => matches!(to, F32 | F64),
        F64 => to == F64,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;
    use crate::warn;

    #[test]
    fn floats_become_integers_as_on_the_processor() {
        // np.array([..]).astype of both float types, and whether it warned
        let values = [1.9, -1.9, 300.0, -1.0, 2_147_483_648.0, -2_147_483_648.0, f64::NAN];
        let seen = Rc::new(RefCell::new(0));
        let count = Rc::clone(&seen);
        warn::set_sink(Box::new(move |_, _| {
            *count.borrow_mut() += 1;
            Ok(())
        }));
        for float in [DType::F32, DType::F64] {
            let array = Array::vector(values.to_vec()).astype(float).unwrap();
            let to = |dtype| array.astype(dtype).unwrap().to_vec::<i64>().unwrap();
            let least = i64::from(i32::MIN);
            assert_eq!(to(DType::I32), [1, -1, 300, -1, least, least, least]);
            assert_eq!(to(DType::U8), [1, 255, 44, 255, 0, 0, 0]);
            assert_eq!(to(DType::I64)[4..], [1 << 31, -(1 << 31), i64::MIN]);
        }
        assert_eq!(seen.take(), 6);
        Array::vector(values[..4].to_vec()).astype(DType::U8).unwrap();
        Array::vector(vec![f64::INFINITY, 1e300]).astype(DType::F32).unwrap();
        assert_eq!(seen.take(), 1);
    }

    #[test]
    fn halves_are_rounded_once() {
        // np.array([..]).astype(np.float16): halfway but for the last bits, exactly halfway
        let values = vec![1.0 + 0.000_488_281_25 + 1e-12, 1.0 + 0.000_488_281_25, 65519.99, 1e-8];
        let halves = Array::vector(values).astype(DType::F16).unwrap();
        assert_eq!(halves.to_vec::<f64>().unwrap(), [1.000_976_562_5, 1.0, 65504.0, 0.0]);
    }
}
