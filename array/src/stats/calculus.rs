//! Differences, integrals and interpolation.

use crate::array::Array;
use crate::blocks;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::join::concatenate;
use crate::promote::Operand;
use crate::reduce::{Options, Reduction, reduce};
use crate::sort::argsort;
use crate::ufunc::{Binary, map2};

/// Differences of neighbours along an axis, `n` times over, with values put before and
/// behind first: `np.diff`.
///
/// # Errors
/// [`crate::Error::Value`] for a negative `n` or no dimensions, [`crate::Error::Axis`].
pub fn diff(
    array: &Array,
    n: i64,
    axis: i64,
    prepend: Option<&Array>,
    append: Option<&Array>,
) -> Result<Array> {
    if n == 0 {
        return Ok(array.clone());
    }
    if n < 0 {
        bail!(Value, "order must be non-negative but got {n}");
    }
    if array.ndim() == 0 {
        bail!(Value, "diff requires input that is at least one dimensional");
    }
    let axis = array.axis(axis)?;
    // A single value stands for a slice of length one.
    let slice = |value: &Array| {
        if value.ndim() > 0 {
            return Ok(value.clone());
        }
        let mut shape = array.shape().to_vec();
        shape[axis] = 1;
        value.broadcast_to(&shape)
    };
    let mut parts = Vec::new();
    if let Some(value) = prepend {
        parts.push(slice(value)?);
    }
    parts.push(array.clone());
    if let Some(value) = append {
        parts.push(slice(value)?);
    }
    let mut array = match &parts[..] {
        [only] => only.clone(),
        _ => concatenate(&parts, Some(axis as i64), None)?,
    };
    let op = if array.dtype() == DType::Bool { Binary::NotEqual } else { Binary::Subtract };
    for _ in 0..n {
        let length = array.shape()[axis].saturating_sub(1);
        let start = array.shape()[axis].min(1);
        array = map2(op, array.slice_axis(axis, start, length), array.slice_axis(axis, 0, length))?;
    }
    Ok(array)
}

/// Differences of neighbours in the flattened array, with further values before and
/// behind: `np.ediff1d`.
///
/// # Errors
/// [`crate::Error::Type`] when these do not fit its type.
pub fn ediff1d(array: &Array, to_begin: Option<&Array>, to_end: Option<&Array>) -> Result<Array> {
    let flat = array.ravel()?;
    let mut parts = Vec::new();
    for (name, value, before) in [("to_begin", to_begin, true), ("to_end", to_end, false)] {
        if !before {
            let length = flat.size().saturating_sub(1);
            let next = flat.slice_axis(0, flat.size() - length, length);
            parts.push(map2(Binary::Subtract, next, flat.slice_axis(0, 0, length))?);
        }
        let Some(value) = value else { continue };
        if !crate::cast::can_cast_same_kind(value.dtype(), flat.dtype()) {
            bail!(
                Type,
                "dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            );
        }
        parts.push(value.ravel()?.cast(flat.dtype())?);
    }
    concatenate(&parts, Some(0), None)
}

/// The integral along an axis by the trapezoidal rule, over steps of `dx` or the
/// coordinates `x`: `np.trapezoid`.
///
/// # Errors
/// [`crate::Error::Value`] for shapes that do not fit, [`crate::Error::Axis`].
pub fn trapezoid(y: &Array, x: Option<&Array>, dx: &Operand, axis: i64) -> Result<Array> {
    let axis = y.axis(axis)?;
    let length = y.shape()[axis].saturating_sub(1);
    let sums = map2(
        Binary::Add,
        y.slice_axis(axis, y.shape()[axis].min(1), length),
        y.slice_axis(axis, 0, length),
    )?;
    let weighted = match x {
        None => map2(Binary::Multiply, dx.clone(), sums)?,
        Some(x) if x.ndim() == 1 => {
            let steps = diff(x, 1, -1, None, None)?;
            let mut shape = vec![1i64; y.ndim()];
            shape[axis] = steps.size() as i64;
            map2(Binary::Multiply, steps.reshape(&shape)?, sums)?
        }
        Some(x) => map2(Binary::Multiply, diff(x, 1, axis as i64, None, None)?, sums)?,
    };
    let halves = map2(Binary::Divide, weighted, 2.0)?;
    reduce(Reduction::Sum, &halves, Some(&[axis as i64]), &Options::default())
}

/// `np.interp`: at each `x` the piecewise linear function through the points, which rise in
/// `xp`. Outside it is `left` and `right`, by default the outermost values; with a `period`
/// it goes on periodically.
///
/// # Errors
/// [`crate::Error::Value`] for points that do not fit.
pub fn interp(
    x: &Array,
    xp: &Array,
    fp: &Array,
    left: Option<f64>,
    right: Option<f64>,
    period: Option<f64>,
) -> Result<Array> {
    if xp.ndim() != 1 || fp.ndim() != 1 {
        let text = match period {
            Some(_) => "Data points must be 1-D sequences",
            None if xp.ndim() == 0 || fp.ndim() == 0 => {
                "object of too small depth for desired array"
            }
            None => "object too deep for desired array",
        };
        bail!(Value, "{text}");
    }
    if xp.size() != fp.size() {
        bail!(Value, "fp and xp are not of the same length.");
    }
    if xp.is_empty() {
        bail!(Value, "array of sample points is empty");
    }
    let mut x = x.cast(DType::F64)?;
    let (mut xp, mut fp) = (xp.to_vec::<f64>()?, fp.to_vec::<f64>()?);
    if let Some(period) = period {
        if period == 0.0 {
            bail!(Value, "period must be a non-zero value");
        }
        let period = period.abs();
        x = map2(Binary::Remainder, x, period)?;
        let wrapped = map2(Binary::Remainder, Array::vector(xp), period)?;
        let order = argsort(&wrapped, None)?.to_vec::<i64>()?;
        let wrapped = wrapped.to_vec::<f64>()?;
        // One more point before the first and behind the last.
        let end = order.len() - 1;
        let around = std::iter::once(&order[end]).chain(&order).chain(&order[..1]);
        (xp, fp) = around.map(|&i| (wrapped[i as usize], fp[i as usize])).unzip();
        xp[0] -= period;
        xp[end + 2] += period;
    }
    let line = Polyline::new(xp, fp, left, right);
    let out = Array::zeros(x.shape(), DType::F64)?;
    blocks::map([&x], &out, &mut |[x]: [&[f64]; 1], out: &mut [f64]| {
        for (out, &x) in out.iter_mut().zip(x) {
            *out = line.at(x);
        }
        Ok(())
    })?;
    Ok(out)
}

/// A piecewise linear function through at least one point.
struct Polyline {
    xp: Vec<f64>,
    fp: Vec<f64>,
    /// Of each piece.
    slopes: Vec<f64>,
    left: f64,
    right: f64,
}

impl Polyline {
    fn new(xp: Vec<f64>, fp: Vec<f64>, left: Option<f64>, right: Option<f64>) -> Polyline {
        let slope = |i: usize| (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]);
        let slopes = (0..xp.len() - 1).map(slope).collect();
        let (left, right) = (left.unwrap_or(fp[0]), right.unwrap_or(fp[fp.len() - 1]));
        Polyline { xp, fp, slopes, left, right }
    }

    fn at(&self, x: f64) -> f64 {
        let Polyline { xp, fp, slopes, .. } = self;
        let end = xp.len() - 1;
        if x.is_nan() {
            return x;
        }
        if x < xp[0] {
            return self.left;
        }
        if x > xp[end] {
            return self.right;
        }
        let i = xp.partition_point(|&xp| xp <= x).max(1) - 1;
        if i == end || xp[i] == x {
            return fp[i];
        }
        let from = |i: usize, slope: f64| slope * (x - xp[i]) + fp[i];
        let value = from(i, slopes[i]);
        if !value.is_nan() {
            return value;
        }
        match from(i + 1, slopes[i]) {
            value if value.is_nan() && fp[i] == fp[i + 1] => fp[i],
            value => value,
        }
    }
}
