//! Samples from a population.

use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Result, bail};

use super::bounded::Method;
use super::draw::Random;

/// Populations above this size are sampled by a partial shuffle when the sample is large.
const SMALL_POPULATION: usize = 10_000;

/// What is drawn from.
#[derive(Clone, Copy, Debug)]
pub enum Population {
    /// The integers below this one.
    Integers(i64),
    /// A sequence of this length.
    Sequence(usize),
}

pub(super) fn choice<R: Random>(
    random: &mut R,
    population: Population,
    shape: &[usize],
    replace: bool,
    p: Option<&Array>,
    shuffle: bool,
) -> Result<Array> {
    let count: usize = shape.iter().product();
    let size = size::<R>(population, count)?;
    let p = p.map(|p| probabilities::<R>(p, size)).transpose()?;

    if replace {
        return match p {
            None if size == 0 => Array::zeros(shape, DType::I64),
            None => random.integers(0, size as i128, shape, DType::I64, false),
            Some(p) => {
                let sums = cumulative(&p);
                let indices = (0..count).map(|_| find(&sums, random.draw_uniform())).collect();
                Array::from_vec::<i64>(indices, shape)
            }
        };
    }
    if count > size {
        let replace = if R::LEGACY { "'replace=False'" } else { "replace is False" };
        bail!(Value, "Cannot take a larger sample than population when {replace}");
    }
    let indices = match p {
        Some(p) => weighted(random, p, count)?,
        None if R::LEGACY => {
            let mut order: Vec<i64> = (0..size as i64).collect();
            random.shuffle(&mut order, 1, Method::Masked);
            order.truncate(count);
            order
        }
        None => distinct(random, size, count, shuffle),
    };
    Array::from_vec(indices, shape)
}

fn size<R: Random>(population: Population, count: usize) -> Result<usize> {
    let size = match population {
        Population::Integers(n) => usize::try_from(n).unwrap_or(0),
        Population::Sequence(n) => n,
    };
    if size > 0 || count == 0 {
        return Ok(size);
    }
    match (population, R::LEGACY) {
        (Population::Integers(_), true) => {
            bail!(Value, "a must be greater than 0 unless no samples are taken")
        }
        (Population::Integers(_), false) => {
            bail!(Value, "a must be a positive integer unless no samples are taken")
        }
        (Population::Sequence(_), true) => {
            bail!(Value, "'a' cannot be empty unless no samples are taken")
        }
        (Population::Sequence(_), false) => {
            bail!(Value, "a cannot be empty unless no samples are taken")
        }
    }
}

/// Checks the probabilities of a population.
fn probabilities<R: Random>(p: &Array, size: usize) -> Result<Vec<f64>> {
    let quote = if R::LEGACY { "'" } else { "" };
    let capital = if R::LEGACY { "p" } else { "P" };
    if p.ndim() != 1 {
        bail!(Value, "{quote}p{quote} must be 1-dimensional");
    }
    if p.size() != size {
        bail!(Value, "{quote}a{quote} and {quote}p{quote} must have same size");
    }
    let tolerance = match p.dtype() {
        DType::F16 => 2f64.powi(-10).sqrt(),
        DType::F32 => f64::from(f32::EPSILON).sqrt(),
        _ => f64::EPSILON.sqrt(),
    };
    let p = p.to_vec::<f64>()?;
    let sum = compensated_sum(&p);
    if sum.is_nan() {
        bail!(Value, "{capital}robabilities contain NaN");
    }
    if p.iter().any(|&p| p < 0.0) {
        bail!(Value, "{capital}robabilities are not non-negative");
    }
    if (sum - 1.0).abs() > tolerance {
        let notes =
            if R::LEGACY { "" } else { ". See Notes section of docstring for more information." };
        bail!(Value, "{capital}robabilities do not sum to 1{notes}");
    }
    Ok(p)
}

/// Kahan's sum.
fn compensated_sum(values: &[f64]) -> f64 {
    let Some((&first, rest)) = values.split_first() else { return 0.0 };
    let (mut sum, mut lost) = (first, 0.0);
    for value in rest {
        let y = value - lost;
        let t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    sum
}

/// Running sums, scaled to end at 1.
fn cumulative(p: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums: Vec<f64> = p
        .iter()
        .map(|p| {
            sum += p;
            sum
        })
        .collect();
    for value in &mut sums {
        *value /= sum;
    }
    sums
}

/// The index whose share of [0, 1) holds the draw.
fn find(sums: &[f64], draw: f64) -> i64 {
    sums.partition_point(|&sum| sum <= draw) as i64
}

/// Weighted without replacement: draws are repeated, without what was found, until there
/// are enough different ones.
fn weighted<R: Random>(random: &mut R, mut p: Vec<f64>, count: usize) -> Result<Vec<i64>> {
    if p.iter().filter(|&&p| p > 0.0).count() < count {
        bail!(Value, "Fewer non-zero entries in p than size");
    }
    let mut found: Vec<i64> = Vec::with_capacity(count);
    while found.len() < count {
        crate::interrupt::check()?;
        let draws: Vec<f64> = (found.len()..count).map(|_| random.draw_uniform()).collect();
        for &index in &found {
            p[index as usize] = 0.0;
        }
        let sums = cumulative(&p);
        let before = found.len();
        for draw in draws {
            let index = find(&sums, draw);
            if !found[before..].contains(&index) {
                found.push(index);
            }
        }
    }
    Ok(found)
}

/// Unweighted without replacement.
fn distinct<R: Random>(random: &mut R, size: usize, count: usize, shuffle: bool) -> Vec<i64> {
    let cutoff = if shuffle { 50 } else { 20 };
    if size > SMALL_POPULATION && count > size / cutoff {
        let mut order: Vec<i64> = (0..size as i64).collect();
        random.shuffle(&mut order, (size - count).max(1), Method::Lemire);
        return order.split_off(size - count);
    }
    // Floyd's algorithm (Bentley 1987).
    let mut seen = std::collections::HashSet::with_capacity(count);
    let mut indices = Vec::with_capacity(count);
    for last in size - count..size {
        let mut index = random.draw_up_to(last as u64, Method::Lemire) as i64;
        if !seen.insert(index) {
            index = last as i64;
            seen.insert(index);
        }
        indices.push(index);
    }
    if shuffle {
        random.shuffle(&mut indices, 1, Method::Lemire);
    }
    indices
}
