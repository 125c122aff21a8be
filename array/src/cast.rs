//! Copies and conversions between element types.

use crate::array::{Array, c_strides};
use crate::dtype::{DType, Element, with_dtype};
use crate::error::{Result, bail};
use crate::walk::{Tile, Walk};

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
        Ok(out)
    }

    /// Sets every element from an array of the same shape, converted. Overlap is the
    /// caller's concern.
    pub(crate) fn fill_from(&self, source: &Array) -> Result<()> {
        debug_assert_eq!(self.shape(), source.shape());
        with_dtype!(self.dtype(), D => {
            with_dtype!(source.dtype(), S => copy::<D, S>(self, source))
        })
    }
}

fn copy<D: Element, S: Element>(target: &Array, source: &Array) -> Result<()> {
    let (to, from) = (target.ptr::<D>(), source.ptr::<S>());
    Walk::any_order(target.shape(), [target.strides(), source.strides()]).run(|at, tile| {
        let (to, from) = (to.wrapping_offset(at[0]), from.wrapping_offset(at[1]));
        // SAFETY: the walk stays within both arrays.
        unsafe { copy_tile(to, from.cast_const(), tile) };
        Ok(())
    })
}

/// # Safety
/// `tile` must describe places that are valid from both pointers on.
unsafe fn copy_tile<D: Element, S: Element>(to: *mut D, from: *const S, tile: &Tile<2>) {
    for row in 0..tile.rows as isize {
        let to = to.wrapping_offset(row * tile.row_strides[0]);
        let from = from.wrapping_offset(row * tile.row_strides[1]);
        // SAFETY: promised by the caller.
        unsafe {
            if D::DTYPE == S::DTYPE && tile.strides == [1, 1] {
                std::ptr::copy(from.cast::<D>(), to, tile.n);
            } else {
                convert(to, tile.strides[0], from, tile.strides[1], tile.n);
            }
        }
    }
}

/// # Safety
/// Both pointers must be valid for `n` steps of their strides.
pub(crate) unsafe fn convert<D: Element, S: Element>(
    to: *mut D,
    to_stride: isize,
    from: *const S,
    from_stride: isize,
    n: usize,
) {
    // SAFETY: promised by the caller; constant strides let the loop be vectorised.
    unsafe {
        if to_stride == 1 && from_stride == 1 {
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
