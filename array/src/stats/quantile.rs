//! Quantiles by all of numpy's methods, by selection.

use std::collections::BTreeSet;

use crate::array::Array;
use crate::dtype::{DType, Element, with_dtype};
use crate::error::{Error, Result, bail};
use crate::lanes::Lanes;
use crate::promote::{Operand, promote};
use crate::scalar::{Scalar, Weak};
use crate::sort::order::Ordered;
use crate::sort::select::Selector;
use crate::warn::{Warning, warn};

/// How a quantile between two elements is found; the numbers are those of Hyndman and
/// Fan (1996).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantileMethod {
    /// 1
    InvertedCdf,
    /// 2
    AveragedInvertedCdf,
    /// 3
    ClosestObservation,
    /// 4
    InterpolatedInvertedCdf,
    /// 5
    Hazen,
    /// 6
    Weibull,
    /// 7, the default
    Linear,
    /// 8
    MedianUnbiased,
    /// 9
    NormalUnbiased,
    Lower,
    Higher,
    Midpoint,
    Nearest,
}

use QuantileMethod::*;

impl QuantileMethod {
    const NAMES: [(&str, QuantileMethod); 13] = [
        ("inverted_cdf", InvertedCdf),
        ("averaged_inverted_cdf", AveragedInvertedCdf),
        ("closest_observation", ClosestObservation),
        ("interpolated_inverted_cdf", InterpolatedInvertedCdf),
        ("hazen", Hazen),
        ("weibull", Weibull),
        ("linear", Linear),
        ("median_unbiased", MedianUnbiased),
        ("normal_unbiased", NormalUnbiased),
        ("lower", Lower),
        ("higher", Higher),
        ("midpoint", Midpoint),
        ("nearest", Nearest),
    ];

    /// # Errors
    /// [`Error::Value`] for a name that numpy does not know.
    pub fn from_name(name: &str) -> Result<QuantileMethod> {
        if let Some((_, method)) = Self::NAMES.iter().find(|(known, _)| *known == name) {
            return Ok(*method);
        }
        let known: Vec<String> =
            Self::NAMES.iter().map(|(known, _)| format!("'{known}'")).collect();
        bail!(
            Value,
            "'{name}' is not a valid method. Use one of: dict_keys([{}])",
            known.join(", ")
        )
    }

    /// The two elements and the weight of the second, for `n` elements and a quantile of
    /// a type to which `round` rounds; a weight of `None` is the first element itself.
    fn point(self, n: usize, q: f64, round: fn(f64) -> f64) -> Point {
        let (count, last) = (n as f64, (n - 1) as f64);
        let between = |alpha: f64, beta: f64| {
            let shift = round(alpha + round(q * (1.0 - alpha - beta)));
            round(round(round(count * q) + shift) - 1.0)
        };
        let at = |index: f64| {
            let place = index.max(0.0) as usize;
            Point { below: place, above: place, weight: None }
        };
        // The element before or behind, by whether `index` is exactly one.
        let step =
            |index: f64, before: bool| at(if before { index.floor() } else { index.floor() + 1.0 });
        let index = match self {
            InvertedCdf => {
                let index = round(round(count * q) - 1.0);
                return step(index, index.fract() == 0.0);
            }
            ClosestObservation => {
                let index = round(round(round(count * q) - 1.0) - 0.5);
                let even = index.floor().rem_euclid(2.0) == 1.0;
                return step(index, index == index.floor() && even);
            }
            Lower => return at(round(last * q).floor()),
            Higher => return at(round(last * q).ceil()),
            Nearest => return at(round(last * q).round_ties_even()),
            Midpoint => {
                let index = round(last * q);
                round(0.5 * round(index.floor() + index.ceil()))
            }
            AveragedInvertedCdf => round(round(count * q) - 1.0),
            Linear => round(last * q),
            InterpolatedInvertedCdf => between(0.0, 1.0),
            Hazen => between(0.5, 0.5),
            Weibull => between(0.0, 0.0),
            MedianUnbiased => between(1.0 / 3.0, 1.0 / 3.0),
            NormalUnbiased => between(3.0 / 8.0, 3.0 / 8.0),
        };
        // Both ends are clipped to one element; numpy numbers the upper one -1.
        let (below, above, base) = if index >= last {
            (n - 1, n - 1, -1.0)
        } else if index < 0.0 {
            (0, 0, 0.0)
        } else {
            (index as usize, index as usize + 1, index.floor())
        };
        let gamma = round(index - base);
        let weight = match self {
            AveragedInvertedCdf if gamma == 0.0 => 0.5,
            AveragedInvertedCdf => 1.0,
            Midpoint if index.fract() == 0.0 => 0.0,
            Midpoint => 0.5,
            _ => gamma,
        };
        Point { below, above, weight: Some(weight) }
    }
}

/// Where a quantile lies.
struct Point {
    below: usize,
    above: usize,
    weight: Option<f64>,
}

/// Quantiles that can be asked of any array: `np.quantile` and its kin.
pub struct Quantiles {
    q: Vec<f64>,
    shape: Vec<usize>,
    /// Their type; `None` for a Python number.
    dtype: Option<DType>,
    method: QuantileMethod,
}

impl Quantiles {
    /// Given as fractions, in [0, 1].
    ///
    /// # Errors
    /// [`Error::Value`] for one outside, or for more than two dimensions of them.
    pub fn fractions(q: &Operand, method: QuantileMethod) -> Result<Quantiles> {
        // Integers stay integers.
        let dtype = match q {
            Operand::Weak(Weak::Int(_) | Weak::Bool(_)) => Some(DType::I64),
            Operand::Weak(_) => None,
            Operand::Array(q) => Some(q.dtype()),
        };
        let quantiles = Quantiles::new(q, method, dtype, 1.0)?;
        quantiles.checked("Quantiles must be in the range [0, 1]")
    }

    /// Given in percent.
    ///
    /// # Errors
    /// As [`Quantiles::fractions`].
    pub fn percents(q: &Operand, method: QuantileMethod) -> Result<Quantiles> {
        let dtype = match q {
            Operand::Weak(_) => None,
            Operand::Array(q) if q.dtype().is_float() => Some(q.dtype()),
            Operand::Array(_) => Some(DType::F64),
        };
        let quantiles = Quantiles::new(q, method, dtype, 100.0)?;
        quantiles.checked("Percentiles must be in the range [0, 100]")
    }

    fn new(
        q: &Operand,
        method: QuantileMethod,
        dtype: Option<DType>,
        whole: f64,
    ) -> Result<Quantiles> {
        let array = q.to_array(q.dtype())?;
        let round = rounding(dtype.unwrap_or(DType::F64));
        let q = array.to_vec::<f64>()?.into_iter().map(|q| round(q / whole)).collect();
        Ok(Quantiles { q, shape: array.shape().to_vec(), dtype, method })
    }

    fn checked(self, outside: &str) -> Result<Quantiles> {
        if !self.q.iter().all(|q| (0.0..=1.0).contains(q)) {
            bail!(Value, "{outside}");
        }
        if self.shape.len() > 2 {
            bail!(Value, "q must be a scalar or 1d");
        }
        Ok(self)
    }

    /// The quantiles of an array along axes (all for `None`). The result has the dimensions of
    /// `q` first. NaN where there is a NaN, unless they are to be skipped.
    ///
    /// # Errors
    /// [`Error::Axis`], [`Error::Type`] when `bool` would have to be interpolated,
    /// [`Error::Index`] when there is nothing.
    pub fn of(
        &self,
        array: &Array,
        axes: Option<&[i64]>,
        keepdims: bool,
        skip_nan: bool,
    ) -> Result<Array> {
        let lanes = Lanes::new(array, axes)?;
        if array.is_empty() && skip_nan {
            warn(Warning::Runtime, "Mean of empty slice")?;
            let dtype = if array.dtype().is_float() { array.dtype() } else { DType::F64 };
            return Array::full(lanes.result_shape(keepdims), Scalar::F64(f64::NAN).cast(dtype));
        }
        if lanes.length == 0 && lanes.count() > 0 {
            return Err(Error::Index(
                "index -1 is out of bounds for axis 0 with size 0".to_owned(),
            ));
        }
        let shape = [&self.shape, lanes.result_shape(keepdims)].concat();
        let (dtype, take) = self.result_type(array.dtype())?;
        with_dtype!(array.dtype(), T => {
            if take {
                let nan = T::from_f64(f64::NAN);
                let out = self.each::<T, T>(&lanes, skip_nan, nan, |lane, point| {
                    lane.get(point.below)
                })?;
                return Array::from_vec(out, &shape);
            }
            let lerp = self.lerp::<T>(dtype);
            let out = self.each::<T, f64>(&lanes, skip_nan, f64::NAN, |lane, point| {
                lerp(lane.get(point.below), lane.get(point.above), point.weight.unwrap_or(0.0))
            })?;
            with_dtype!(dtype, R => {
                Array::from_vec(out.into_iter().map(R::from_f64).collect(), &shape)
            })
        })
    }

    /// The type of results, and of whether elements are taken as they are.
    fn result_type(&self, array: DType) -> Result<(DType, bool)> {
        let whole = self.dtype.is_some_and(|dtype| !dtype.is_float());
        if matches!(self.method, InvertedCdf | ClosestObservation | Lower | Higher | Nearest)
            || self.method == Linear && whole
        {
            return Ok((array, true));
        }
        if array == DType::Bool {
            bail!(
                Type,
                "numpy boolean subtract, the `-` operator, is not supported, use the \
                 bitwise_xor, the `^` operator, or the logical_xor function instead."
            );
        }
        let dtype = match self.dtype {
            None if array.is_float() => array,
            // With integers these methods stay among integers.
            Some(dtype)
                if !whole
                    || matches!(
                        self.method,
                        AveragedInvertedCdf | InterpolatedInvertedCdf | Weibull
                    ) =>
            {
                promote(array, dtype)
            }
            _ => DType::F64,
        };
        Ok((dtype, false))
    }

    /// `value` of every quantile of every lane, quantile by quantile.
    fn each<T: Ordered, R: Copy>(
        &self,
        lanes: &Lanes,
        skip_nan: bool,
        nan: R,
        value: impl Fn(&Selector<T>, &Point) -> R,
    ) -> Result<Vec<R>> {
        let count = lanes.count();
        let mut out = vec![nan; self.q.len() * count];
        let round = rounding(self.dtype.filter(|dtype| dtype.is_float()).unwrap_or(DType::F64));
        let (mut planned, mut points, mut needed) = (0, Vec::new(), Vec::new());
        let mut lane_number = 0;
        Selector::<T>::for_each(lanes, |lane| {
            let column = lane_number;
            lane_number += 1;
            let n = lane.len() - if skip_nan { lane.nans() } else { 0 };
            if n == 0 {
                return warn(Warning::Runtime, "All-NaN slice encountered");
            }
            if lane.nans() > 0 && !skip_nan {
                return Ok(());
            }
            if planned != n {
                planned = n;
                points = self.q.iter().map(|&q| self.method.point(n, q, round)).collect();
                let places: BTreeSet<usize> =
                    points.iter().flat_map(|point| [point.below, point.above]).collect();
                needed = places.into_iter().collect();
            }
            lane.select(&needed);
            for (row, point) in points.iter().enumerate() {
                out[row * count + column] = value(lane, point);
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// numpy's linear interpolation, from the nearer end, with the roundings of the types.
    fn lerp<T: Ordered>(&self, result: DType) -> impl Fn(T, T, f64) -> f64 + use<T> {
        let (in_array, in_result) = (rounding(T::DTYPE), rounding(result));
        let in_q = rounding(self.dtype.filter(|dtype| dtype.is_float()).unwrap_or(DType::F64));
        move |below, above, weight| {
            let distance = if T::DTYPE.is_float() {
                in_array(above.to_f64() - below.to_f64())
            } else {
                T::from_i64(above.to_i64().wrapping_sub(below.to_i64())).to_f64()
            };
            if weight >= 0.5 {
                let back = in_result(distance * in_result(in_q(1.0 - weight)));
                in_result(above.to_f64() - back)
            } else {
                in_result(below.to_f64() + in_result(distance * in_result(weight)))
            }
        }
    }
}

/// Rounds to a type's precision. numpy computes `float16` in single precision.
fn rounding(dtype: DType) -> fn(f64) -> f64 {
    match dtype {
        DType::F16 => |x| half::f16::from_f32(x as f32).to_f64(),
        DType::F32 => |x| f64::from(x as f32),
        _ => |x| x,
    }
}
