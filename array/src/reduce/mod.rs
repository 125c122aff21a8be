//! Sums, extremes, means and the like over any dimensions.

mod extreme;
mod fold;
mod kinds;
mod moments;
mod nan;
mod scan;

pub use extreme::{argmax, argmin, nanargmax, nanargmin};
pub use scan::{cumprod, cumsum, nancumprod, nancumsum};

use fold::{Fold, fold};
use kinds::{
    All, Any, Count, Extreme, Fmax, Fmin, HalfProduct, HalfSum, Maximum, Minimum, Product, Rule,
    Sum,
};

use crate::array::{Array, shape_text};
use crate::dtype::{DType, Element, with_dtype};
use crate::error::{Result, bail};
use crate::index::Index;
use crate::promote::Operand;
use crate::scalar::Scalar;
use crate::shape::normalize_axes;
use crate::ufunc::{Binary, Unary, map1, map2};
use crate::warn::{Warning, warn};

/// What to reduce to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// `np.sum`. Small integers and bools are summed as int64.
    Sum,
    /// `np.prod`, types as for the sum.
    Prod,
    /// `np.min`; NaN if there is one.
    Min,
    /// `np.max`; NaN if there is one.
    Max,
    /// `np.fmin.reduce`: NaN is passed over.
    Fmin,
    /// `np.fmax.reduce`: NaN is passed over.
    Fmax,
    /// `np.any`.
    Any,
    /// `np.all`.
    All,
    /// `np.count_nonzero`.
    CountNonzero,
    /// `np.ptp`: from the smallest to the largest.
    Ptp,
    /// `np.mean`.
    Mean,
    /// `np.var`.
    Var,
    /// `np.std`.
    Std,
    /// `np.nansum`: NaN counts as zero.
    NanSum,
    /// `np.nanprod`: NaN counts as one.
    NanProd,
    /// `np.nanmin`.
    NanMin,
    /// `np.nanmax`.
    NanMax,
    /// `np.nanmean`.
    NanMean,
    /// `np.nanvar`.
    NanVar,
    /// `np.nanstd`.
    NanStd,
}

/// The keyword arguments of a reduction.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Whether reduced dimensions stay, with length one.
    pub keepdims: bool,
    /// The type to compute in, and of the result.
    pub dtype: Option<DType>,
    /// Subtracted from the number of elements, for variances.
    pub ddof: f64,
    /// What to begin with.
    pub initial: Option<Scalar>,
    /// `where=`: elements that count.
    pub mask: Option<&'a Array>,
    /// Where the result goes, instead of a new array.
    pub out: Option<&'a Array>,
}

/// Reduces some dimensions, all of them when `axis` is none.
///
/// # Errors
/// [`crate::Error::Value`] for an extreme of nothing or a repeated axis,
/// [`crate::Error::Axis`], [`crate::Error::Type`], [`crate::Error::Memory`],
/// [`crate::Error::Interrupted`], or what the warning sink returns.
pub fn reduce(
    op: Reduction,
    array: &Array,
    axis: Option<&[i64]>,
    options: &Options<'_>,
) -> Result<Array> {
    let over = Over::new(array, axis, options.keepdims)?;
    let result = match op {
        Reduction::Mean => moments::mean(array, &over, options)?,
        Reduction::Var => moments::var(array, &over, options)?,
        Reduction::Std => map1(Unary::Sqrt, moments::var(array, &over, options)?)?,
        Reduction::Ptp => map2(
            Binary::Subtract,
            simple(Reduction::Max, array, &over, options)?,
            simple(Reduction::Min, array, &over, options)?,
        )?,
        Reduction::NanSum
        | Reduction::NanProd
        | Reduction::NanMin
        | Reduction::NanMax
        | Reduction::NanMean
        | Reduction::NanVar
        | Reduction::NanStd => nan::reduce(op, array, &over, options)?,
        _ => simple(op, array, &over, options)?,
    };
    match options.out {
        None => Ok(result),
        Some(out) => store(result, out),
    }
}

/// [`reduce`] to a single element, without options.
///
/// # Errors
/// As [`reduce`].
pub fn reduce_all(op: Reduction, array: &Array) -> Result<Scalar> {
    reduce(op, array, None, &Options::default())?.item()
}

/// Puts a result into an array of the caller.
fn store(result: Array, out: &Array) -> Result<Array> {
    out.require_writeable()?;
    if out.shape() != result.shape() {
        bail!(
            Value,
            "output parameter for reduction operation has the wrong shape: {} where {} is needed",
            shape_text(out.shape()),
            shape_text(result.shape())
        );
    }
    out.fill_from(&result)?;
    Ok(out.clone())
}

/// Which dimensions of an array are reduced, and what remains.
pub(crate) struct Over {
    reduced: Vec<bool>,
    /// Shape of the result.
    shape: Vec<usize>,
    /// Shape with reduced dimensions kept at length one.
    kept: Vec<usize>,
    /// Number of elements that come together in one.
    count: usize,
}

impl Over {
    fn new(array: &Array, axis: Option<&[i64]>, keepdims: bool) -> Result<Over> {
        let mut reduced = vec![axis.is_none(); array.ndim()];
        for axis in normalize_axes(axis.unwrap_or(&[]), array.ndim(), "duplicate value in 'axis'")?
        {
            reduced[axis] = true;
        }
        let dims = || array.shape().iter().zip(&reduced);
        let kept: Vec<usize> = dims().map(|(&n, &gone)| if gone { 1 } else { n }).collect();
        let shape = if keepdims {
            kept.clone()
        } else {
            dims().filter(|&(_, gone)| !gone).map(|(&n, _)| n).collect()
        };
        let count = dims().filter(|&(_, gone)| *gone).map(|(&n, _)| n).product();
        Ok(Over { reduced, shape, kept, count })
    }

    /// The same dimensions, kept at length one in the result.
    fn keeping(&self) -> Over {
        Over {
            reduced: self.reduced.clone(),
            shape: self.kept.clone(),
            kept: self.kept.clone(),
            count: self.count,
        }
    }
}

/// The reductions that are one pass over the elements.
fn simple(op: Reduction, array: &Array, over: &Over, options: &Options<'_>) -> Result<Array> {
    let dtype = match op {
        Reduction::Sum | Reduction::Prod => options.dtype.unwrap_or(match array.dtype() {
            DType::Bool | DType::U8 | DType::I32 => DType::I64,
            other => other,
        }),
        _ => options.dtype.unwrap_or(array.dtype()),
    };
    let name = match op {
        Reduction::Min => Some("minimum"),
        Reduction::Max => Some("maximum"),
        Reduction::Fmin => Some("fmin"),
        Reduction::Fmax => Some("fmax"),
        _ => None,
    };
    if let Some(name) = name
        && options.initial.is_none()
    {
        if over.count == 0 && !over.shape.contains(&0) {
            bail!(Value, "zero-size array to reduction operation {name} which has no identity");
        }
        if options.mask.is_some() {
            bail!(
                Value,
                "reduction operation '{name}' does not have an identity, so to use a where mask \
                 one has to specify 'initial'"
            );
        }
    }
    let masked;
    let array = match options.mask {
        None => array,
        Some(mask) => {
            masked = without(array, mask, neutral(op, dtype, options.initial))?;
            &masked
        }
    };
    let first = options.initial;
    match (op, dtype) {
        (Reduction::CountNonzero, _) => run::<Count>(array, over, 0, DType::I64),
        (Reduction::Any, _) | (Reduction::Sum, DType::Bool) => {
            run::<Any>(array, over, first.is_some_and(Scalar::to_bool), DType::Bool)
        }
        (Reduction::All, _) | (Reduction::Prod, DType::Bool) => {
            run::<All>(array, over, first.is_none_or(Scalar::to_bool), DType::Bool)
        }
        (Reduction::Sum, DType::F64) => watched::<Sum<f64>>(array, over, or(first, 0.0), dtype),
        (Reduction::Sum, DType::F32) => watched::<Sum<f32>>(array, over, or(first, 0.0), dtype),
        (Reduction::Sum, DType::F16) => watched::<HalfSum>(array, over, or(first, 0.0), dtype),
        (Reduction::Sum, _) => run::<Sum<i64>>(array, over, or(first, 0), dtype),
        (Reduction::Prod, DType::F64) => {
            watched::<Product<f64>>(array, over, or(first, 1.0), dtype)
        }
        (Reduction::Prod, DType::F32) => {
            watched::<Product<f32>>(array, over, or(first, 1.0), dtype)
        }
        (Reduction::Prod, DType::F16) => watched::<HalfProduct>(array, over, or(first, 1.0), dtype),
        (Reduction::Prod, _) => run::<Product<i64>>(array, over, or(first, 1), dtype),
        (Reduction::Fmin, DType::F64) => {
            run::<Extreme<f64, Fmin>>(array, over, neutral(op, dtype, first).to(), dtype)
        }
        (Reduction::Fmax, DType::F64) => {
            run::<Extreme<f64, Fmax>>(array, over, neutral(op, dtype, first).to(), dtype)
        }
        (Reduction::Fmin, DType::F16 | DType::F32) => {
            run::<Extreme<f32, Fmin>>(array, over, neutral(op, dtype, first).to(), dtype)
        }
        (Reduction::Fmax, DType::F16 | DType::F32) => {
            run::<Extreme<f32, Fmax>>(array, over, neutral(op, dtype, first).to(), dtype)
        }
        // Integers have no NaN to pass over.
        (Reduction::Max | Reduction::Fmax, _) => {
            extreme::<Maximum>(array, over, neutral(op, dtype, first), dtype)
        }
        (_, _) => extreme::<Minimum>(array, over, neutral(op, dtype, first), dtype),
    }
}

fn or<T: Element>(first: Option<Scalar>, otherwise: T) -> T {
    first.map_or(otherwise, Scalar::to::<T>)
}

/// What changes nothing: `initial`, or the end of the type that every element beats.
fn neutral(op: Reduction, dtype: DType, initial: Option<Scalar>) -> Scalar {
    let (smallest, largest) = match dtype.integer_range() {
        Some((low, high)) => (Scalar::I64(low), Scalar::I64(high)),
        None if dtype == DType::Bool => (Scalar::Bool(false), Scalar::Bool(true)),
        None => (Scalar::F64(f64::NEG_INFINITY), Scalar::F64(f64::INFINITY)),
    };
    match op {
        Reduction::Prod | Reduction::NanProd | Reduction::All => Scalar::Bool(true),
        Reduction::Min | Reduction::Max | Reduction::Fmin | Reduction::Fmax
            if initial.is_some() =>
        {
            initial.unwrap_or(smallest)
        }
        Reduction::Fmin | Reduction::Fmax if dtype.is_float() => Scalar::F64(f64::NAN),
        Reduction::Min | Reduction::Fmin => largest,
        Reduction::Max | Reduction::Fmax => smallest,
        _ => Scalar::Bool(false),
    }
}

/// A copy with `value` where the mask is false.
fn without(array: &Array, mask: &Array, value: Scalar) -> Result<Array> {
    let copy = array.copy()?;
    let hidden = map1(Unary::LogicalNot, mask)?.broadcast_to(array.shape())?;
    copy.assign(&[Index::Mask(hidden)], &Operand::from(value.cast(array.dtype())))?;
    Ok(copy)
}

fn run<F: Fold>(array: &Array, over: &Over, first: F::Sum, dtype: DType) -> Result<Array> {
    Array::from_vec(fold::<F>(array, &over.reduced, first)?, &over.shape)?.cast(dtype)
}

/// With numpy's warnings for sums of floats.
fn watched<F: Fold>(array: &Array, over: &Over, first: F::Sum, dtype: DType) -> Result<Array> {
    let sums = fold::<F>(array, &over.reduced, first)?;
    if sums.iter().any(|sum| !sum.is_finite()) {
        let nan = sums.iter().any(|sum| sum.is_nan());
        // Only now is it worth knowing whether the elements brought it along.
        let (mut had_nan, mut had_infinity) = (false, false);
        crate::blocks::visit(array, &mut |block: &[f64]| {
            had_nan |= block.iter().any(|item| item.is_nan());
            had_infinity |= block.iter().any(|item| item.is_infinite());
            Ok(())
        })?;
        if !had_infinity && sums.iter().any(|sum| !sum.is_nan() && !sum.is_finite()) {
            warn(Warning::Runtime, "overflow encountered in reduce")?;
        }
        if nan && !had_nan {
            warn(Warning::Runtime, "invalid value encountered in reduce")?;
        }
    }
    Array::from_vec(sums, &over.shape)?.cast(dtype)
}

fn extreme<R: Rule>(array: &Array, over: &Over, first: Scalar, dtype: DType) -> Result<Array> {
    match dtype {
        DType::Bool => run::<Extreme<u8, R>>(array, over, first.to(), dtype),
        DType::F16 => run::<Extreme<f32, R>>(array, over, first.to(), dtype),
        _ => {
            with_dtype!(native dtype, T => run::<Extreme<T, R>>(array, over, first.to(), dtype), else unreachable!("numbers and bools are all there is"))
        }
    }
}

#[cfg(test)]
mod tests;
