//! What both generators offer, given their draws of one value.

use crate::array::{Array, shape_text};
use crate::dtype::{DType, Element, with_dtype};
use crate::error::{Error, Result, bail};
use crate::interrupt;

use super::bits::Bits;
use super::bounded::{Method, Pieces, bounded_u32, bounded_u64};
use super::choice;

/// A generator of random arrays. Where a `shape` is `None` it comes from the parameters,
/// and is that of a scalar, `[]`, when those are scalars.
pub trait Random {
    /// Whether this is the legacy generator; its errors are worded differently.
    const LEGACY: bool;

    /// A uniform draw from [0, 1).
    fn draw_uniform(&mut self) -> f64;
    /// A draw from the standard normal.
    fn draw_normal(&mut self) -> f64;
    /// A draw from the exponential of mean 1.
    fn draw_exponential(&mut self) -> f64;
    /// A uniform draw from `0..=max` by `method`; the legacy generator knows only masks.
    fn draw_up_to(&mut self, max: u64, method: Method) -> u64;
    /// Uniform draws from `low..=low + range`.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Interrupted`].
    fn draw_integers(&mut self, bounds: &Bounds, shape: &[usize], dtype: DType) -> Result<Array>;

    /// Uniform in [0, 1), `float64`.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Interrupted`].
    fn random(&mut self, shape: &[usize]) -> Result<Array> {
        filled(shape, |_| self.draw_uniform())
    }

    /// From the standard normal, `float64`.
    ///
    /// # Errors
    /// As [`Random::random`].
    fn standard_normal(&mut self, shape: &[usize]) -> Result<Array> {
        filled(shape, |_| self.draw_normal())
    }

    /// From the exponential of mean 1, `float64`.
    ///
    /// # Errors
    /// As [`Random::random`].
    fn standard_exponential(&mut self, shape: &[usize]) -> Result<Array> {
        filled(shape, |_| self.draw_exponential())
    }

    /// Uniform in [`low`, `high`).
    ///
    /// # Errors
    /// [`Error::Overflow`] for bounds that are not finite, [`Error::Value`] for crossed
    /// bounds (not in the legacy generator) or shapes that do not fit.
    fn uniform(&mut self, low: &Array, high: &Array, shape: Option<&[usize]>) -> Result<Array> {
        let (shape, [low, high]) = parameters(shape, [low, high])?;
        let ranges = || (0..low.len().max(high.len())).map(|i| high.at(i) - low.at(i));
        if ranges().any(|range| !range.is_finite()) {
            let low = if Self::LEGACY { "Range" } else { "high - low range" };
            bail!(Overflow, "{low} exceeds valid bounds");
        }
        if !Self::LEGACY && ranges().any(|range| range.is_sign_negative()) {
            bail!(Value, "high - low < 0");
        }
        filled(&shape, |i| low.at(i) + (high.at(i) - low.at(i)) * self.draw_uniform())
    }

    /// Normal with mean `loc` and standard deviation `scale`.
    ///
    /// # Errors
    /// [`Error::Value`] for a negative scale or shapes that do not fit.
    fn normal(&mut self, loc: &Array, scale: &Array, shape: Option<&[usize]>) -> Result<Array> {
        let (shape, [loc, scale]) = parameters(shape, [loc, scale])?;
        scale.require_positive()?;
        filled(&shape, |i| loc.at(i) + scale.at(i) * self.draw_normal())
    }

    /// Exponential with mean `scale`.
    ///
    /// # Errors
    /// As [`Random::normal`].
    fn exponential(&mut self, scale: &Array, shape: Option<&[usize]>) -> Result<Array> {
        let (shape, [scale]) = parameters(shape, [scale])?;
        scale.require_positive()?;
        filled(&shape, |i| scale.at(i) * self.draw_exponential())
    }

    /// Uniform integers from `low` up to, but without `high`; with it when `endpoint`.
    /// Python's integers may be larger than any dtype, hence the wide type.
    ///
    /// # Errors
    /// [`Error::Value`] for crossed bounds or ones outside of the dtype, [`Error::Type`]
    /// for a float dtype.
    fn integers(
        &mut self,
        low: i128,
        high: i128,
        shape: &[usize],
        dtype: DType,
        endpoint: bool,
    ) -> Result<Array> {
        let bounds = Bounds::new(vec![low], vec![high], dtype, endpoint, shape)?;
        self.draw_integers(&bounds, shape, dtype)
    }

    /// As [`Random::integers`], with bounds of their own for each element.
    ///
    /// # Errors
    /// As [`Random::integers`], and [`Error::Value`] for shapes that do not fit.
    fn integers_between(
        &mut self,
        low: &Array,
        high: &Array,
        shape: Option<&[usize]>,
        dtype: DType,
        endpoint: bool,
    ) -> Result<Array> {
        let shape = common_shape(shape, &[low.shape(), high.shape()], true)?;
        let wide = |bound: &Array| -> Result<Vec<i128>> {
            Ok(spread(bound, &shape).to_vec::<i64>()?.into_iter().map(i128::from).collect())
        };
        let bounds = Bounds::new(wide(low)?, wide(high)?, dtype, endpoint, &shape)?;
        self.draw_integers(&bounds, &shape, dtype)
    }

    /// Indices of elements drawn from a population: `population[indices]` is the sample.
    /// Without a shape it is one index, an array of no dimensions.
    ///
    /// # Errors
    /// [`Error::Value`] for probabilities that are none, an empty population, or a sample
    /// larger than it when drawn without replacement.
    fn choice(
        &mut self,
        population: choice::Population,
        shape: &[usize],
        replace: bool,
        p: Option<&Array>,
        shuffle: bool,
    ) -> Result<Array>
    where
        Self: Sized,
    {
        choice::choice(self, population, shape, replace, p, shuffle)
    }

    /// The indices `0..n` in random order: `permutation(n)`, and `a[order]` is what
    /// `shuffle(a)` leaves in `a`.
    ///
    /// # Errors
    /// [`Error::Memory`].
    fn permutation(&mut self, n: usize) -> Result<Array> {
        let mut order: Vec<i64> = (0..n as i64).collect();
        self.shuffle(&mut order, 1, Method::Masked);
        Ok(Array::vector(order))
    }

    /// Shuffles a slice, from its end down to `first` (1 for all of it).
    fn shuffle(&mut self, values: &mut [i64], first: usize, method: Method) {
        for i in (first..values.len()).rev() {
            let j = self.draw_up_to(i as u64, method) as usize;
            values.swap(i, j);
        }
    }
}

/// An array of draws; `draw` gets the element's number.
pub(super) fn filled<T: Element>(
    shape: &[usize],
    mut draw: impl FnMut(usize) -> T,
) -> Result<Array> {
    Array::build(shape, |out: &mut [T]| {
        for (block, values) in out.chunks_mut(interrupt::STRIDE).enumerate() {
            interrupt::check()?;
            let start = block * interrupt::STRIDE;
            for (i, value) in values.iter_mut().enumerate() {
                *value = draw(start + i);
            }
        }
        Ok(())
    })
}

/// Bounds of integers: one pair for all elements or one for each.
pub struct Bounds {
    low: Vec<i64>,
    range: Vec<u64>,
}

impl Bounds {
    fn new(
        low: Vec<i128>,
        high: Vec<i128>,
        dtype: DType,
        endpoint: bool,
        shape: &[usize],
    ) -> Result<Bounds> {
        let (least, most) = match dtype {
            DType::Bool => (0, 1),
            _ => dtype.integer_range().ok_or_else(|| {
                Error::Type(format!("Unsupported dtype dtype('{dtype}') for integers"))
            })?,
        };
        if shape.contains(&0) {
            return Ok(Bounds { low: vec![0], range: vec![0] });
        }
        let open = i128::from(!endpoint);
        if low.iter().any(|&low| low < least.into()) {
            bail!(Value, "low is out of bounds for {dtype}");
        }
        if high.iter().any(|&high| high - open > most.into()) {
            bail!(Value, "high is out of bounds for {dtype}");
        }
        if low.iter().zip(&high).any(|(&low, &high)| low > high - open) {
            let equal = if endpoint { "" } else { "=" };
            if low.iter().all(|&low| low == 0) {
                bail!(Value, "high <{equal} 0");
            }
            bail!(Value, "low >{equal} high");
        }
        let range = low.iter().zip(&high).map(|(low, high)| (high - open - low) as u64).collect();
        Ok(Bounds { low: low.into_iter().map(|low| low as i64).collect(), range })
    }

    /// Draws with a generator's bits and method.
    pub(super) fn draw(
        &self,
        bits: &mut impl Bits,
        method: Method,
        shape: &[usize],
        dtype: DType,
    ) -> Result<Array> {
        let mut pieces = Pieces::default();
        let one = self.low.len() == 1;
        let pair = |i: usize| {
            let i = if one { 0 } else { i };
            (self.low[i], self.range[i])
        };
        with_dtype!(dtype, T => filled(shape, |i| {
            let (low, range) = pair(i);
            let offset = match dtype {
                DType::Bool => pieces.bounded_bool(bits, range != 0).into(),
                DType::U8 => pieces.bounded_u8(bits, range as u8, method).into(),
                DType::I32 => bounded_u32(bits, range as u32, method).into(),
                _ => bounded_u64(bits, range, method),
            };
            T::from_i64(low.wrapping_add(offset as i64))
        }))
    }
}

/// A distribution's parameter: one for all elements or one for each.
struct Parameter(Vec<f64>);

impl Parameter {
    fn at(&self, i: usize) -> f64 {
        if let [one] = self.0[..] { one } else { self.0[i] }
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn require_positive(&self) -> Result<()> {
        if self.0.iter().any(|scale| !scale.is_nan() && scale.is_sign_negative()) {
            bail!(Value, "scale < 0");
        }
        Ok(())
    }
}

/// The shape of the result, and the parameters for each of its elements.
fn parameters<const N: usize>(
    shape: Option<&[usize]>,
    arrays: [&Array; N],
) -> Result<(Vec<usize>, [Parameter; N])> {
    let shape = common_shape(shape, &arrays.map(Array::shape), false)?;
    let mut values = arrays.map(|_| Parameter(Vec::new()));
    for (values, array) in values.iter_mut().zip(arrays) {
        values.0 = if array.size() == 1 {
            vec![array.flat(0).to_f64()]
        } else {
            spread(array, &shape).to_vec()?
        };
    }
    Ok((shape, values))
}

/// The shape to draw: the parameters' common one, or the one asked for if they fit it.
/// numpy counts the result as an argument of its own, in another place for integers.
fn common_shape(
    asked: Option<&[usize]>,
    parameters: &[&[usize]],
    integers: bool,
) -> Result<Vec<usize>> {
    let mut common = Vec::new();
    let numbered: Vec<(usize, &[usize])> = match (asked, integers) {
        (None, _) => parameters.iter().copied().enumerate().collect(),
        (Some(asked), true) => {
            let last = [(parameters.len(), asked)];
            parameters.iter().copied().enumerate().chain(last).collect()
        }
        (Some(asked), false) => {
            let first = [(0, asked)];
            first.into_iter().chain((1..).zip(parameters.iter().copied())).collect()
        }
    };
    for (i, &(number, shape)) in numbered.iter().enumerate() {
        let Some(joined) = joined(&common, shape) else {
            if integers && asked.is_none() {
                let shapes: Vec<String> = parameters.iter().map(|s| shape_text(s)).collect();
                bail!(
                    Value,
                    "operands could not be broadcast together with shapes {} ",
                    shapes.join(" ")
                );
            }
            let clash = numbered[..i].iter().find(|(_, other)| joined(other, shape).is_none());
            let (other, other_shape) = clash.copied().unwrap_or(numbered[0]);
            bail!(
                Value,
                "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is \
                 between arg {other} with shape {} and arg {number} with shape {}.",
                shape_text(other_shape),
                shape_text(shape)
            );
        };
        common = joined;
    }
    match asked {
        Some(asked) if asked != common => {
            let inputs = parameters
                .iter()
                .fold(Vec::new(), |inputs, shape| joined(&inputs, shape).unwrap_or(inputs));
            bail!(
                Value,
                "Output size {} is not compatible with broadcast dimensions of inputs {}.",
                shape_text(asked),
                shape_text(&inputs)
            )
        }
        _ => Ok(common),
    }
}

/// Two shapes broadcast to one, if they fit.
fn joined(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let ndim = a.len().max(b.len());
    let dim = |shape: &[usize], axis: usize| {
        (axis + shape.len()).checked_sub(ndim).map_or(1, |axis| shape[axis])
    };
    (0..ndim)
        .map(|axis| match (dim(a, axis), dim(b, axis)) {
            (x, y) if x == y || y == 1 => Some(x),
            (1, y) => Some(y),
            _ => None,
        })
        .collect()
}

/// The view of an array broadcast to a shape that it fits.
fn spread(array: &Array, shape: &[usize]) -> Array {
    let missing = shape.len() - array.ndim();
    let strides = (0..shape.len())
        .map(|axis| match axis.checked_sub(missing) {
            Some(own) if array.shape()[own] != 1 => array.strides()[own],
            _ => 0,
        })
        .collect();
    array.with_layout(shape.to_vec(), strides, array.offset())
}
