//! Where the smallest and largest elements are.

use std::cell::Cell;

use super::nan::replaced;
use super::{Options, Reduction, reduce, reduce_all};
use crate::array::Array;
use crate::dtype::{DType, Element, with_dtype};
use crate::error::{Result, bail};
use crate::interrupt;
use crate::ufunc::{Unary, map1};

/// `np.argmin`: position of the first smallest element along an axis, in C order of all when
/// none is given. A NaN counts as smallest.
///
/// # Errors
/// [`crate::Error::Value`] for an empty sequence, [`crate::Error::Axis`],
/// [`crate::Error::Memory`], [`crate::Error::Interrupted`].
pub fn argmin(array: &Array, axis: Option<i64>, keepdims: bool) -> Result<Array> {
    find(Reduction::Min, array, axis, keepdims)
}

/// `np.argmax`: the same for the largest.
///
/// # Errors
/// As [`argmin`].
pub fn argmax(array: &Array, axis: Option<i64>, keepdims: bool) -> Result<Array> {
    find(Reduction::Max, array, axis, keepdims)
}

/// `np.nanargmin`: NaN is passed over.
///
/// # Errors
/// As [`argmin`], and [`crate::Error::Value`] when all are NaN.
pub fn nanargmin(array: &Array, axis: Option<i64>, keepdims: bool) -> Result<Array> {
    require_some(array, axis)?;
    argmin(&replaced(array, f64::INFINITY)?, axis, keepdims)
}

/// `np.nanargmax`: NaN is passed over.
///
/// # Errors
/// As [`nanargmin`].
pub fn nanargmax(array: &Array, axis: Option<i64>, keepdims: bool) -> Result<Array> {
    require_some(array, axis)?;
    argmax(&replaced(array, f64::NEG_INFINITY)?, axis, keepdims)
}

fn require_some(array: &Array, axis: Option<i64>) -> Result<()> {
    if array.dtype().is_float() && !array.is_empty() {
        let axes = axis.map(|axis| [axis]);
        let axes = axes.as_ref().map(|axes| &axes[..]);
        let absent =
            reduce(Reduction::All, &map1(Unary::Isnan, array)?, axes, &Options::default())?;
        if reduce_all(Reduction::Any, &absent)?.to_bool() {
            bail!(Value, "All-NaN slice encountered");
        }
    }
    Ok(())
}

fn find(op: Reduction, array: &Array, axis: Option<i64>, keepdims: bool) -> Result<Array> {
    let (lanes, mut shape) = match axis {
        None => (array.ravel()?, vec![1; array.ndim()]),
        Some(axis) => {
            let axis = array.axis(axis)?;
            let mut shape = array.shape().to_vec();
            shape[axis] = 1;
            (array.moveaxis(&[axis as i64], &[-1])?.contiguous()?, shape)
        }
    };
    if !keepdims {
        match axis {
            None => shape.clear(),
            Some(axis) => {
                shape.remove(array.axis(axis)?);
            }
        }
    }
    let n = lanes.shape().last().copied().unwrap_or(1);
    if n == 0 && !shape.contains(&0) {
        let name = if op == Reduction::Min { "argmin" } else { "argmax" };
        bail!(Value, "attempt to get {name} of an empty sequence");
    }
    // Bools and halves compare like the bytes and floats they become.
    let lanes = match lanes.dtype() {
        DType::Bool => lanes.cast(DType::U8)?,
        DType::F16 => lanes.cast(DType::F32)?,
        _ => lanes,
    };
    let positions = with_dtype!(
        native lanes.dtype(), T => positions::<T>(op, &lanes, n)?,
        else unreachable!("bools and halves were converted")
    );
    Array::from_vec(positions, &shape)
}

fn positions<T: Element>(op: Reduction, lanes: &Array, n: usize) -> Result<Vec<i64>> {
    let Some(cells) = lanes.as_cells::<T>() else { bail!(Value, "lanes must be contiguous") };
    let extremes = reduce(op, lanes, Some(&[-1]), &Options::default())?;
    let mut positions = Vec::with_capacity(extremes.size());
    for (extreme, lane) in extremes.iter::<T>().zip(cells.chunks_exact(n.max(1))) {
        positions.push(position(extreme, lane) as i64);
        if positions.len().is_multiple_of(interrupt::STRIDE / n.max(1) + 1) {
            interrupt::check()?;
        }
    }
    Ok(positions)
}

/// Where an element of a lane is first found; one that is NaN at the first NaN.
fn position<T: Element>(wanted: T, lane: &[Cell<T>]) -> usize {
    let hit = |cell: &Cell<T>| cell.get() == wanted || wanted.is_nan() && cell.get().is_nan();
    let in_part = |part: &[Cell<T>]| part.iter().fold(false, |any, cell| any | hit(cell));
    let part = lane.chunks(64).position(in_part).unwrap_or(0);
    let start = part * 64;
    start + lane[start..].iter().position(hit).unwrap_or(0)
}
