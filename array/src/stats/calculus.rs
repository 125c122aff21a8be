//! Differences, slopes, integrals and interpolation.

use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::join::concatenate;
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
            parts.push(diff(&flat, 1, -1, None, None)?);
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

/// The distances of samples along an axis.
#[derive(Clone, Debug)]
pub enum Spacing {
    /// The same for all.
    Step(f64),
    /// From the samples' coordinates.
    Coordinates(Array),
}

/// Slopes along axes (all for `None`) by central differences: `np.gradient`. There is a
/// spacing for each axis, one for all, or none for steps of one.
///
/// # Errors
/// [`crate::Error::Value`] for too few samples or coordinates that do not fit,
/// [`crate::Error::Type`] for another number of spacings, [`crate::Error::Axis`].
pub fn gradient(
    array: &Array,
    spacing: &[Spacing],
    axes: Option<&[i64]>,
    edge_order: usize,
) -> Result<Vec<Array>> {
    let axes: Vec<usize> = match axes {
        None => (0..array.ndim()).collect(),
        Some(axes) => crate::shape::normalize_axes(axes, array.ndim(), "repeated axis")?,
    };
    let spacing: Vec<Spacing> = match spacing {
        [] => vec![Spacing::Step(1.0); axes.len()],
        [Spacing::Step(step)] => vec![Spacing::Step(*step); axes.len()],
        _ if spacing.len() == axes.len() => spacing.to_vec(),
        _ => bail!(Type, "invalid number of arguments"),
    };
    if edge_order > 2 {
        bail!(Value, "'edge_order' greater than 2 not supported");
    }
    let array = if array.dtype().is_float() { array.clone() } else { array.cast(DType::F64)? };
    let gradients = axes.iter().zip(spacing).map(|(&axis, spacing)| {
        if array.shape()[axis] < edge_order + 1 {
            bail!(
                Value,
                "Shape of array too small to calculate a numerical gradient, at least \
                 (edge_order + 1) elements are required."
            );
        }
        slopes(&array, axis, steps(&array, axis, &spacing)?, edge_order)
    });
    gradients.collect()
}

/// Distances between neighbours; one value when all are equal.
fn steps(array: &Array, axis: usize, spacing: &Spacing) -> Result<Vec<f64>> {
    let coordinates = match spacing {
        Spacing::Step(step) => return Ok(vec![*step]),
        Spacing::Coordinates(coordinates) => coordinates,
    };
    if coordinates.ndim() != 1 {
        bail!(Value, "distances must be either scalars or 1d");
    }
    if coordinates.size() != array.shape()[axis] {
        bail!(Value, "when 1d, distances must match the length of the corresponding dimension");
    }
    let values = coordinates.to_vec::<f64>()?;
    let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    match steps.first() {
        Some(&first) if steps.iter().all(|&step| step == first) => Ok(vec![first]),
        _ => Ok(steps),
    }
}

fn slopes(f: &Array, axis: usize, steps: Vec<f64>, edge_order: usize) -> Result<Array> {
    let n = f.shape()[axis];
    let out = Array::zeros(f.shape(), f.dtype())?;
    let at = |i: usize| f.slice_axis(axis, i, 1);
    let put = |start: usize, values: Array| {
        out.slice_axis(axis, start, values.shape()[axis]).fill_from(&values)
    };
    let sum = |terms: &[(f64, Array)]| -> Result<Array> {
        let mut total: Option<Array> = None;
        for (factor, values) in terms {
            let term = map2(Binary::Multiply, *factor, values)?;
            total = Some(match total {
                None => term,
                Some(total) => map2(Binary::Add, total, term)?,
            });
        }
        match total {
            Some(total) => Ok(total),
            None => bail!(Value, "no terms"),
        }
    };
    if n > 2 {
        let [before, here, behind] = [0, 1, 2].map(|start| f.slice_axis(axis, start, n - 2));
        if let [step] = steps[..] {
            let change = map2(Binary::Subtract, behind, before)?;
            put(1, map2(Binary::Divide, change, 2.0 * step)?)?;
        } else {
            let mut shape = vec![1; f.ndim()];
            shape[axis] = n - 2;
            let factors = |of: fn(f64, f64) -> f64| {
                Array::from_vec(steps.windows(2).map(|d| of(d[0], d[1])).collect(), &shape)
            };
            let a = factors(|d1, d2| -d2 / (d1 * (d1 + d2)))?;
            let b = factors(|d1, d2| (d2 - d1) / (d1 * d2))?;
            let c = factors(|d1, d2| d1 / (d2 * (d1 + d2)))?;
            let first = map2(Binary::Multiply, a, before)?;
            let second = map2(Binary::Multiply, b, here)?;
            let third = map2(Binary::Multiply, c, behind)?;
            put(1, map2(Binary::Add, map2(Binary::Add, first, second)?, third)?)?;
        }
    }
    let (first, last) = (steps[0], steps[steps.len() - 1]);
    if edge_order == 1 {
        for (to, i, step) in [(0, 0, first), (n - 1, n - 2, last)] {
            let change = map2(Binary::Subtract, at(i + 1), at(i))?;
            put(to, map2(Binary::Divide, change, step)?)?;
        }
        return Ok(out);
    }
    let (start, end) = if steps.len() == 1 {
        let step = first;
        ([-1.5 / step, 2.0 / step, -0.5 / step], [0.5 / step, -2.0 / step, 1.5 / step])
    } else {
        let (d1, d2) = (steps[0], steps[1]);
        let (e1, e2) = (steps[n - 3], steps[n - 2]);
        (
            [-(2.0 * d1 + d2) / (d1 * (d1 + d2)), (d1 + d2) / (d1 * d2), -d1 / (d2 * (d1 + d2))],
            [e2 / (e1 * (e1 + e2)), -(e2 + e1) / (e1 * e2), (2.0 * e2 + e1) / (e2 * (e1 + e2))],
        )
    };
    for (to, from, factors) in [(0, 0, start), (n - 1, n - 3, end)] {
        let terms: Vec<(f64, Array)> =
            factors.into_iter().enumerate().map(|(i, factor)| (factor, at(from + i))).collect();
        put(to, sum(&terms)?)?;
    }
    Ok(out)
}

/// The integral along an axis by the trapezoidal rule, over steps of `dx` or the
/// coordinates `x`: `np.trapezoid`.
///
/// # Errors
/// [`crate::Error::Value`] for shapes that do not fit, [`crate::Error::Axis`].
pub fn trapezoid(y: &Array, x: Option<&Array>, dx: f64, axis: i64) -> Result<Array> {
    let axis = y.axis(axis)?;
    let length = y.shape()[axis].saturating_sub(1);
    let sums = map2(
        Binary::Add,
        y.slice_axis(axis, y.shape()[axis].min(1), length),
        y.slice_axis(axis, 0, length),
    )?;
    let weighted = match x {
        None => map2(Binary::Multiply, dx, sums)?,
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
    let mut x_values = x.to_vec::<f64>()?;
    let (mut xp_values, mut fp_values) = (xp.to_vec::<f64>()?, fp.to_vec::<f64>()?);
    if let Some(period) = period {
        if period == 0.0 {
            bail!(Value, "period must be a non-zero value");
        }
        let period = period.abs();
        if xp.ndim() != 1 || fp.ndim() != 1 {
            bail!(Value, "Data points must be 1-D sequences");
        }
        if xp_values.len() != fp_values.len() {
            bail!(Value, "fp and xp are not of the same length");
        }
        let wrap = |values: &mut Vec<f64>| {
            for value in values {
                *value = value.rem_euclid(period);
            }
        };
        wrap(&mut x_values);
        wrap(&mut xp_values);
        let order = argsort(&Array::vector(xp_values.clone()), None)?.to_vec::<i64>()?;
        let sorted = |values: &[f64]| order.iter().map(|&i| values[i as usize]).collect();
        (xp_values, fp_values) = (sorted(&xp_values), sorted(&fp_values));
        if let (Some(&first), Some(&last)) = (xp_values.first(), xp_values.last()) {
            let (first_value, last_value) = (fp_values[0], fp_values[fp_values.len() - 1]);
            xp_values.insert(0, last - period);
            xp_values.push(first + period);
            fp_values.insert(0, last_value);
            fp_values.push(first_value);
        }
    }
    let (Some(&first), Some(&last)) = (fp_values.first(), fp_values.last()) else {
        bail!(Value, "array of sample points is empty");
    };
    if xp_values.len() != fp_values.len() {
        bail!(Value, "fp and xp are not of the same length.");
    }
    let (left, right) = (left.unwrap_or(first), right.unwrap_or(last));
    let end = xp_values.len() - 1;
    let value = |x: f64| {
        if x.is_nan() {
            return x;
        }
        if x < xp_values[0] {
            return left;
        }
        if x > xp_values[end] {
            return right;
        }
        let j = xp_values.partition_point(|&xp| xp <= x) - 1;
        if j == end || xp_values[j] == x {
            return fp_values[j];
        }
        let slope = (fp_values[j + 1] - fp_values[j]) / (xp_values[j + 1] - xp_values[j]);
        let mut value = slope * (x - xp_values[j]) + fp_values[j];
        if value.is_nan() {
            value = slope * (x - xp_values[j + 1]) + fp_values[j + 1];
            if value.is_nan() && fp_values[j] == fp_values[j + 1] {
                value = fp_values[j];
            }
        }
        value
    };
    Array::from_vec(x_values.into_iter().map(value).collect(), x.shape())
}
