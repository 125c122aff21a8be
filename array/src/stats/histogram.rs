//! Counting.

use crate::array::Array;
use crate::blocks;
use crate::create::linspace;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::interrupt;
use crate::join::concatenate;
use crate::promote::{Operand, result_type};
use crate::rearrange::take;
use crate::reduce::{Options, Reduction, cumsum, reduce};
use crate::sort::tally::Tally;
use crate::sort::{Side, argsort, searchsorted};
use crate::stats::diff;
use crate::ufunc::{Binary, map2};
use crate::warn::{Warning, warn};

/// The bins of a histogram.
#[derive(Clone, Debug)]
pub enum Bins {
    /// This many of equal width.
    Count(i64),
    /// These edges, rising.
    Edges(Array),
}

/// Where the first bin begins and the last one ends.
pub type Range = (Operand, Operand);

/// Weights are summed in pieces of so many, as numpy does.
const PIECE: usize = 1 << 16;

/// Counts in bins, and their edges: `np.histogram`. With weights their sums; with `density`
/// scaled to an integral of one.
///
/// # Errors
/// [`crate::Error::Value`] for bins or a range that are none.
pub fn histogram(
    array: &Array,
    bins: &Bins,
    range: Option<&Range>,
    density: bool,
    weights: Option<&Array>,
) -> Result<(Array, Array)> {
    if weights.is_some_and(|weights| weights.shape() != array.shape()) {
        bail!(Value, "weights should have the same shape as a.");
    }
    let array = countable(array)?;
    let (edges, equal) = edges(&array, bins, range)?;
    let list = edges.to_vec::<f64>()?;
    let counts = match (weights, equal) {
        (None, _) => {
            let mut counts = vec![0i64; list.len().saturating_sub(1)];
            let bin = bin_of(&list, equal);
            blocks::visit::<f64>(&array, &mut |block| {
                for at in block.iter().filter_map(|&value| bin(value)) {
                    counts[at] += 1;
                }
                Ok(())
            })?;
            Array::vector(counts)
        }
        (Some(weights), Some(_)) => equal_sums(&array, weights, &list, equal)?,
        (Some(weights), None) => sums_between(&array, weights, &edges)?,
    };
    if !density {
        return Ok((counts, edges));
    }
    let widths = diff(&edges, 1, 0, None, None)?.cast(DType::F64)?;
    let total = reduce(Reduction::Sum, &counts, None, &Options::default())?;
    Ok((map2(Binary::Divide, map2(Binary::Divide, counts, widths)?, total)?, edges))
}

/// The edges that [`histogram`] would use: `np.histogram_bin_edges`.
///
/// # Errors
/// As [`histogram`].
pub fn histogram_bin_edges(array: &Array, bins: &Bins, range: Option<&Range>) -> Result<Array> {
    Ok(edges(&countable(array)?, bins, range)?.0)
}

/// In one dimension; numpy counts no bools.
fn countable(array: &Array) -> Result<Array> {
    if array.dtype() != DType::Bool {
        return array.ravel();
    }
    warn(
        Warning::Runtime,
        "Converting input from bool to <class 'numpy.uint8'> for compatibility.",
    )?;
    array.cast(DType::U8)?.ravel()
}

/// The bin that holds a value, if one does. The last bin holds its upper edge too. Where
/// bins of equal width begin and end tells about which one it is.
fn bin_of(edges: &[f64], equal: Option<(f64, f64)>) -> impl Fn(f64) -> Option<usize> {
    let last_bin = edges.len().saturating_sub(2);
    let bounds = equal.or(edges.first().copied().zip(edges.last().copied()));
    let (first, last) = bounds.unwrap_or((f64::NAN, f64::NAN));
    let scale = (last_bin + 1) as f64 / (last - first);
    move |value| {
        if !(value >= first && value <= last) || edges.len() < 2 {
            return None;
        }
        if equal.is_none() {
            return Some(edges.partition_point(|&edge| edge <= value).clamp(1, last_bin + 1) - 1);
        }
        let mut at = (((value - first) * scale) as usize).min(last_bin);
        while at > 0 && value < edges[at] {
            at -= 1;
        }
        while at < last_bin && value >= edges[at + 1] {
            at += 1;
        }
        Some(at)
    }
}

/// Sums of weights in bins of equal width, in the weights' type.
fn equal_sums(
    array: &Array,
    weights: &Array,
    edges: &[f64],
    equal: Option<(f64, f64)>,
) -> Result<Array> {
    let (values, factors) = (array.to_vec::<f64>()?, weights.to_vec::<f64>()?);
    let bin = bin_of(edges, equal);
    let mut total = Array::zeros(&[edges.len() - 1], weights.dtype())?;
    for (values, factors) in values.chunks(PIECE).zip(factors.chunks(PIECE)) {
        interrupt::check()?;
        let mut sums = vec![0.0; edges.len() - 1];
        for (&value, factor) in values.iter().zip(factors) {
            if let Some(at) = bin(value) {
                sums[at] += factor;
            }
        }
        total = map2(Binary::Add, total, Array::vector(sums).cast(weights.dtype())?)?;
    }
    Ok(total)
}

/// Sums of weights between any edges: differences of cumulative sums, as numpy has them.
fn sums_between(array: &Array, weights: &Array, edges: &Array) -> Result<Array> {
    let weights = weights.ravel()?;
    let (inner, last) = (edges.size().saturating_sub(1), edges.size().min(1));
    let zero = Array::zeros(&[1], weights.dtype())?;
    let mut total = Array::zeros(&[edges.size()], weights.dtype())?;
    for start in (0..array.size()).step_by(PIECE) {
        let piece = |of: &Array| of.slice_axis(0, start, PIECE.min(of.size() - start));
        let order = argsort(&piece(array), Some(0))?;
        let sorted = |of: &Array| take(&piece(of), &order, None, "raise");
        let sums =
            concatenate(&[zero.clone(), cumsum(&sorted(&weights)?, None, None)?], None, None)?;
        let values = sorted(array)?;
        let below = |edges: Array, side| searchsorted(&values, &edges, side, None);
        let places = concatenate(
            &[
                below(edges.slice_axis(0, 0, inner), Side::Left)?,
                below(edges.slice_axis(0, inner, last), Side::Right)?,
            ],
            None,
            None,
        )?;
        let sums = take(&sums, &places, None, "raise")?;
        total = map2(Binary::Add, total, sums.cast(weights.dtype())?)?;
    }
    diff(&total, 1, 0, None, None)
}

/// The edges, and first and last of them when the bins are of equal width.
fn edges(array: &Array, bins: &Bins, range: Option<&Range>) -> Result<(Array, Option<(f64, f64)>)> {
    let count = match bins {
        Bins::Edges(edges) => {
            if edges.ndim() != 1 {
                bail!(Value, "`bins` must be 1d, when an array");
            }
            if edges.to_vec::<f64>()?.windows(2).any(|pair| pair[0] > pair[1]) {
                bail!(Value, "`bins` must increase monotonically, when an array");
            }
            return Ok((edges.clone(), None));
        }
        &Bins::Count(count) if count < 1 => {
            bail!(Value, "`bins` must be positive, when an integer")
        }
        &Bins::Count(count) => count as usize,
    };
    let (first, last) = outer_edges(array, range)?;
    let dtype = result_type([&first, &last, &array.into()]);
    let dtype = if dtype.is_float() { dtype } else { DType::F64 };
    let (edges, _) = linspace(&first, &last, count + 1, true, Some(dtype), 0)?;
    if edges.to_vec::<f64>()?.windows(2).any(|pair| pair[0] >= pair[1]) {
        bail!(Value, "Too many bins for data range. Cannot create {count} finite-sized bins.");
    }
    Ok((edges, Some((number(&first)?, number(&last)?))))
}

fn outer_edges(array: &Array, range: Option<&Range>) -> Result<Range> {
    let extreme = |op| reduce(op, array, None, &Options::default()).map(Operand::from);
    let (first, last) = match range {
        Some(range) => range.clone(),
        None if array.is_empty() => (0.into(), 1.into()),
        None => (extreme(Reduction::Min)?, extreme(Reduction::Max)?),
    };
    let (low, high) = (number(&first)?, number(&last)?);
    if low > high {
        bail!(Value, "max must be larger than min in range parameter.");
    }
    if !(low.is_finite() && high.is_finite()) {
        let which = if range.is_some() { "supplied" } else { "autodetected" };
        let text = |value: f64| if value.is_nan() { "nan".to_owned() } else { value.to_string() };
        bail!(Value, "{which} range of [{}, {}] is not finite", text(low), text(high));
    }
    if low == high {
        let apart = |op, edge| map2(op, edge, 0.5).map(Operand::from);
        return Ok((apart(Binary::Subtract, first)?, apart(Binary::Add, last)?));
    }
    Ok((first, last))
}

fn number(operand: &Operand) -> Result<f64> {
    Ok(operand.to_array(DType::F64)?.item()?.to_f64())
}

/// Counts of pairs in bins of two dimensions, and the edges of both: `np.histogram2d`.
///
/// # Errors
/// As [`histogram`].
pub fn histogram2d(
    x: &Array,
    y: &Array,
    bins: [&Bins; 2],
    range: [Option<&Range>; 2],
    density: bool,
    weights: Option<&Array>,
) -> Result<(Array, Array, Array)> {
    if x.size() != y.size() {
        bail!(Value, "x and y must have the same length.");
    }
    let of = |array: &Array, bins, range| -> Result<(Array, Vec<Option<usize>>)> {
        let array = array.cast(DType::F64)?;
        let (edges, _) = edges(&array, bins, range)?;
        let list = edges.to_vec::<f64>()?;
        let bin = bin_of(&list, None);
        Ok((edges, array.to_vec::<f64>()?.into_iter().map(bin).collect()))
    };
    let (x_edges, rows) = of(x, bins[0], range[0])?;
    let (y_edges, columns) = of(y, bins[1], range[1])?;
    let shape = [&x_edges, &y_edges].map(|edges| edges.size().saturating_sub(1));
    let weights = weights.map(|weights| weights.to_vec::<f64>()).transpose()?;
    let mut sums = vec![0.0; shape[0] * shape[1]];
    for (i, (row, column)) in rows.into_iter().zip(columns).enumerate() {
        if let (Some(row), Some(column)) = (row, column) {
            sums[row * shape[1] + column] += weights.as_ref().map_or(1.0, |weights| weights[i]);
        }
    }
    let mut sums = Array::from_vec(sums, &shape)?;
    if density {
        let total = reduce(Reduction::Sum, &sums, None, &Options::default())?;
        let heights = diff(&x_edges, 1, 0, None, None)?.expand_dims(&[1])?;
        sums = map2(Binary::Divide, sums, heights)?;
        sums = map2(Binary::Divide, sums, diff(&y_edges, 1, 0, None, None)?)?;
        sums = map2(Binary::Divide, sums, total)?;
    }
    Ok((sums, x_edges, y_edges))
}

/// How often each integer occurs, or the sums of its weights: `np.bincount`.
///
/// # Errors
/// [`crate::Error::Value`] for negative integers or another number of dimensions,
/// [`crate::Error::Type`] for floats.
pub fn bincount(array: &Array, weights: Option<&Array>, minlength: i64) -> Result<Array> {
    if array.ndim() > 1 {
        bail!(Value, "object too deep for desired array");
    }
    if array.ndim() == 0 {
        bail!(Value, "object of too small depth for desired array");
    }
    if array.dtype().is_float() && !array.is_empty() {
        bail!(
            Type,
            "Cannot cast array data from dtype('{}') to dtype('int64') according to the rule 'safe'",
            array.dtype()
        );
    }
    if minlength < 0 {
        bail!(Value, "'minlength' must not be negative");
    }
    let least = minlength as usize;
    if array.dtype() == DType::U8 && weights.is_none() {
        let mut tally = Tally::new();
        blocks::visit::<u8>(array, &mut |block| {
            tally.add(block);
            Ok(())
        })?;
        let mut counts: Vec<i64> = tally.counts().map(|(_, count)| count as i64).collect();
        let used = counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        counts.resize(used.max(least), 0);
        return Ok(Array::vector(counts));
    }
    let values = array.to_vec::<i64>()?;
    if values.iter().any(|&value| value < 0) {
        bail!(Value, "'list' argument must have no negative elements");
    }
    let length = values.iter().max().map_or(0, |&value| value as usize + 1).max(least);
    let Some(weights) = weights else {
        return Array::build(&[length], |counts: &mut [i64]| {
            counts.fill(0);
            for &value in &values {
                counts[value as usize] += 1;
            }
            Ok(())
        });
    };
    if weights.size() != values.len() {
        bail!(Value, "The weights and list don't have the same length.");
    }
    let weights = weights.to_vec::<f64>()?;
    Array::build(&[length], |sums: &mut [f64]| {
        sums.fill(0.0);
        for (&value, weight) in values.iter().zip(weights) {
            sums[value as usize] += weight;
        }
        Ok(())
    })
}
