//! Running sums and products.

use std::cell::Cell;

use half::f16;

use super::nan::replaced;
use crate::array::Array;
use crate::dtype::{DType, Element};
use crate::error::{Result, bail};
use crate::interrupt;
use crate::ufunc::Number;

/// `np.cumsum`: running sums along an axis, over the flattened array when none is given.
/// Small integers and bools are summed as int64.
///
/// # Errors
/// [`crate::Error::Axis`], [`crate::Error::Memory`], [`crate::Error::Interrupted`].
pub fn cumsum(array: &Array, axis: Option<i64>, dtype: Option<DType>) -> Result<Array> {
    scan(array, axis, dtype, false)
}

/// `np.cumprod`: running products.
///
/// # Errors
/// As [`cumsum`].
pub fn cumprod(array: &Array, axis: Option<i64>, dtype: Option<DType>) -> Result<Array> {
    scan(array, axis, dtype, true)
}

/// `np.nancumsum`: NaN counts as zero.
///
/// # Errors
/// As [`cumsum`].
pub fn nancumsum(array: &Array, axis: Option<i64>, dtype: Option<DType>) -> Result<Array> {
    scan(&replaced(array, 0.0)?, axis, dtype, false)
}

/// `np.nancumprod`: NaN counts as one.
///
/// # Errors
/// As [`cumsum`].
pub fn nancumprod(array: &Array, axis: Option<i64>, dtype: Option<DType>) -> Result<Array> {
    scan(&replaced(array, 1.0)?, axis, dtype, true)
}

fn scan(array: &Array, axis: Option<i64>, dtype: Option<DType>, product: bool) -> Result<Array> {
    let dtype = dtype.unwrap_or(match array.dtype() {
        DType::Bool | DType::U8 | DType::I32 => DType::I64,
        other => other,
    });
    let (array, axis) = match axis {
        Some(axis) => (array.clone(), array.axis(axis)?),
        None => (array.ravel()?, 0),
    };
    let inner = array.shape()[axis + 1..].iter().product();
    let n = array.shape()[axis];
    let halved = |value: f32| f16::from_f32(value).to_f32();
    match (dtype, product) {
        (DType::F64, false) => run::<f64>(&array, n, inner, f64::add),
        (DType::F64, true) => run::<f64>(&array, n, inner, f64::multiply),
        (DType::F32, false) => run::<f32>(&array, n, inner, f32::add),
        (DType::F32, true) => run::<f32>(&array, n, inner, f32::multiply),
        (DType::F16, false) => run::<f32>(&array, n, inner, |a, b| halved(a + b)),
        (DType::F16, true) => run::<f32>(&array, n, inner, |a, b| halved(a * b)),
        (_, false) => run::<i64>(&array, n, inner, i64::add),
        (_, true) => run::<i64>(&array, n, inner, i64::multiply),
    }?
    .cast(dtype)
}

/// `n` steps along the axis, `inner` elements apart.
fn run<T: Element>(
    array: &Array,
    n: usize,
    inner: usize,
    step: impl Fn(T, T) -> T,
) -> Result<Array> {
    let source = array.cast(T::DTYPE)?.contiguous()?;
    let Some(cells) = source.as_cells::<T>() else {
        bail!(Value, "the elements must be contiguous")
    };
    Array::build(array.shape(), |out: &mut [T]| {
        let block = (n * inner).max(1);
        for (from, to) in cells.chunks_exact(block).zip(out.chunks_exact_mut(block)) {
            if inner == 1 {
                scan_lane(from, to, &step)?;
                continue;
            }
            let (first, rest) = to.split_at_mut(inner);
            first.iter_mut().zip(from).for_each(|(to, from)| *to = from.get());
            let mut last: &mut [T] = first;
            for (to, from) in rest.chunks_exact_mut(inner).zip(from[inner..].chunks_exact(inner)) {
                for ((to, from), &last) in to.iter_mut().zip(from).zip(&*last) {
                    *to = step(last, from.get());
                }
                last = to;
            }
            interrupt::check()?;
        }
        Ok(())
    })
}

fn scan_lane<T: Element>(from: &[Cell<T>], to: &mut [T], step: impl Fn(T, T) -> T) -> Result<()> {
    let Some(mut last) = from.first().map(Cell::get) else { return Ok(()) };
    to[0] = last;
    let parts = from[1..].chunks(interrupt::STRIDE).zip(to[1..].chunks_mut(interrupt::STRIDE));
    for (from, to) in parts {
        for (to, from) in to.iter_mut().zip(from) {
            last = step(last, from.get());
            *to = last;
        }
        interrupt::check()?;
    }
    Ok(())
}
