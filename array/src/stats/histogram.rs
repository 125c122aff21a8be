//! Counting.

use crate::array::Array;
use crate::create::linspace;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::sort::{Side, searchsorted};

/// The bins of a histogram.
#[derive(Clone, Debug)]
pub enum Bins {
    /// This many of equal width.
    Count(i64),
    /// These edges, rising.
    Edges(Array),
}

/// Counts in bins, and their edges: `np.histogram`. With weights their sums; with `density`
/// scaled to an integral of one.
///
/// # Errors
/// [`crate::Error::Value`] for bins or a range that are none.
pub fn histogram(
    array: &Array,
    bins: &Bins,
    range: Option<(f64, f64)>,
    density: bool,
    weights: Option<&Array>,
) -> Result<(Array, Array)> {
    if weights.is_some_and(|weights| weights.shape() != array.shape()) {
        bail!(Value, "weights should have the same shape as a.");
    }
    let values = array.to_vec::<f64>()?;
    let weights = weights.map(|weights| weights.to_vec::<f64>()).transpose()?;
    let (edges, equal) = edges(&values, array.dtype(), bins, range)?;
    let list = edges.to_vec::<f64>()?;
    let count = list.len() - 1;
    let mut sums = vec![0.0; count];
    let mut counts = vec![0i64; count];
    let mut tally = |i: usize, at: usize| match &weights {
        Some(weights) => sums[at] += weights[i],
        None => counts[at] += 1,
    };
    if let Some((first, last)) = equal {
        for (block, values) in values.chunks(crate::interrupt::STRIDE).enumerate() {
            crate::interrupt::check()?;
            for (i, &value) in values.iter().enumerate() {
                if value >= first && value <= last {
                    let i = block * crate::interrupt::STRIDE + i;
                    tally(i, equal_bin(value, first, last, &list));
                }
            }
        }
    } else {
        let (first, last) = (list[0], list[count]);
        for (i, &value) in values.iter().enumerate() {
            if value >= first && value <= last {
                let at = list.partition_point(|&edge| edge <= value);
                tally(i, at.clamp(1, count) - 1);
            }
        }
    }
    let out = match (density, weights.is_some()) {
        (false, false) => Array::vector(counts),
        (false, true) => Array::vector(sums),
        (true, weighted) => {
            if !weighted {
                sums = counts.iter().map(|&count| count as f64).collect();
            }
            let total: f64 = sums.iter().sum();
            let widths = list.windows(2).map(|pair| pair[1] - pair[0]);
            Array::vector(sums.iter().zip(widths).map(|(n, width)| n / width / total).collect())
        }
    };
    Ok((out, edges))
}

/// The bin of a value among bins of equal width, checked against the rounded edges.
fn equal_bin(value: f64, first: f64, last: f64, edges: &[f64]) -> usize {
    let count = edges.len() - 1;
    let position = (value - first) / (last - first) * count as f64;
    let mut at = (position as usize).min(count - 1);
    if value < edges[at] {
        at = at.saturating_sub(1);
    }
    if value >= edges[at + 1] && at != count - 1 {
        at += 1;
    }
    at
}

/// The edges, and first and last of them when the bins are of equal width.
fn edges(
    values: &[f64],
    dtype: DType,
    bins: &Bins,
    range: Option<(f64, f64)>,
) -> Result<(Array, Option<(f64, f64)>)> {
    match bins {
        Bins::Edges(edges) => {
            if edges.ndim() != 1 {
                bail!(Value, "`bins` must be 1d, when an array");
            }
            if edges.to_vec::<f64>()?.windows(2).any(|pair| pair[0] > pair[1]) {
                bail!(Value, "`bins` must increase monotonically, when an array");
            }
            Ok((edges.clone(), None))
        }
        &Bins::Count(count) => {
            if count < 1 {
                bail!(Value, "`bins` must be positive, when an integer");
            }
            let (first, last) = outer_edges(values, range)?;
            let dtype = if dtype.is_float() && range.is_none() { dtype } else { DType::F64 };
            let edges = spaced(first, last, count as usize, dtype)?;
            Ok((edges, Some((first, last))))
        }
    }
}

fn spaced(first: f64, last: f64, count: usize, dtype: DType) -> Result<Array> {
    let (edges, _) = linspace(&first.into(), &last.into(), count + 1, true, Some(dtype), 0)?;
    Ok(edges)
}

fn outer_edges(values: &[f64], range: Option<(f64, f64)>) -> Result<(f64, f64)> {
    let (first, last) = match range {
        Some((first, last)) => {
            if first > last {
                bail!(Value, "max must be larger than min in range parameter.");
            }
            if !(first.is_finite() && last.is_finite()) {
                bail!(Value, "supplied range of [{first}, {last}] is not finite");
            }
            (first, last)
        }
        None if values.is_empty() => (0.0, 1.0),
        None => {
            let nan = values.iter().any(|value| value.is_nan());
            let first = values.iter().copied().fold(f64::INFINITY, f64::min);
            let last = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (first, last) = if nan { (f64::NAN, f64::NAN) } else { (first, last) };
            if !(first.is_finite() && last.is_finite()) {
                let text = |value: f64| {
                    if value.is_nan() { "nan".to_owned() } else { value.to_string() }
                };
                bail!(
                    Value,
                    "autodetected range of [{}, {}] is not finite",
                    text(first),
                    text(last)
                );
            }
            (first, last)
        }
    };
    Ok(if first == last { (first - 0.5, last + 0.5) } else { (first, last) })
}

/// Counts of pairs in bins of two dimensions, and the edges of both: `np.histogram2d`.
///
/// # Errors
/// As [`histogram`].
pub fn histogram2d(
    x: &Array,
    y: &Array,
    bins: [&Bins; 2],
    range: [Option<(f64, f64)>; 2],
    density: bool,
    weights: Option<&Array>,
) -> Result<(Array, Array, Array)> {
    if x.size() != y.size() {
        bail!(Value, "x and y must have the same length.");
    }
    let mut places = Vec::new();
    let mut all_edges = Vec::new();
    for ((array, bins), range) in [x, y].into_iter().zip(bins).zip(range) {
        let array = array.cast(DType::F64)?;
        let (edges, _) = edges(&array.to_vec::<f64>()?, DType::F64, bins, range)?;
        let edges = edges.cast(DType::F64)?;
        let last = edges.size() - 1;
        let at_end = edges.flat(last).to_f64();
        let values = array.to_vec::<f64>()?;
        let found = searchsorted(&edges, &array, Side::Right, None)?.to_vec::<i64>()?;
        // The last bin holds its upper edge; what lies outside gets no bin.
        let bin = found.into_iter().zip(values).map(|(place, value)| {
            let place = if value == at_end { place.min(last as i64) } else { place };
            (1..=last as i64).contains(&place).then(|| place as usize - 1)
        });
        places.push(bin.collect::<Vec<Option<usize>>>());
        all_edges.push(edges);
    }
    let (rows, columns) = (all_edges[0].size() - 1, all_edges[1].size() - 1);
    let weights = weights.map(|weights| weights.to_vec::<f64>()).transpose()?;
    let mut sums = vec![0.0; rows * columns];
    for (i, (row, column)) in places[0].iter().zip(&places[1]).enumerate() {
        if let (Some(row), Some(column)) = (row, column) {
            sums[row * columns + column] += weights.as_ref().map_or(1.0, |weights| weights[i]);
        }
    }
    if density {
        let total: f64 = sums.iter().sum();
        let widths = |edges: &Array| -> Result<Vec<f64>> {
            Ok(edges.to_vec::<f64>()?.windows(2).map(|pair| pair[1] - pair[0]).collect())
        };
        let (heights, widths) = (widths(&all_edges[0])?, widths(&all_edges[1])?);
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum = *sum / heights[i / columns] / widths[i % columns] / total;
        }
    }
    let y_edges = all_edges.pop().unwrap_or_else(|| x.clone());
    let x_edges = all_edges.pop().unwrap_or_else(|| x.clone());
    Ok((Array::from_vec(sums, &[rows, columns])?, x_edges, y_edges))
}

/// How often each integer occurs, or the sums of its weights: `np.bincount`.
///
/// # Errors
/// [`crate::Error::Value`] for negative integers or another number of dimensions,
/// [`crate::Error::Type`] for floats.
pub fn bincount(array: &Array, weights: Option<&Array>, minlength: i64) -> Result<Array> {
    if minlength < 0 {
        bail!(Value, "'minlength' must not be negative");
    }
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
    let values = array.to_vec::<i64>()?;
    if values.iter().any(|&value| value < 0) {
        bail!(Value, "'list' argument must have no negative elements");
    }
    let largest = values.iter().max().map_or(0, |&value| value as usize + 1);
    let length = largest.max(minlength as usize);
    match weights {
        None => Array::build(&[length], |counts: &mut [i64]| {
            counts.fill(0);
            for &value in &values {
                counts[value as usize] += 1;
            }
            Ok(())
        }),
        Some(weights) => {
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
    }
}

/// The edges that [`histogram`] would use: `np.histogram_bin_edges`.
///
/// # Errors
/// As [`histogram`].
pub fn histogram_bin_edges(array: &Array, bins: &Bins, range: Option<(f64, f64)>) -> Result<Array> {
    Ok(edges(&array.to_vec::<f64>()?, array.dtype(), bins, range)?.0)
}
