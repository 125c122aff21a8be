//! Elementwise functions made of others.

use multiversion::multiversion;

use super::op::{Binary, Unary};
use super::types::Types;
use super::{Call, Options, Real, binary, map1, map2, maximum, minimum, unary};
use crate::array::Array;
use crate::blocks;
use crate::dtype::{DType, Element, with_dtype};
use crate::error::Result;
use crate::promote::{Operand, result_type};
use crate::scalar::{Scalar, Weak};

/// `np.clip`: every element brought between two limits, either of which may be absent.
///
/// # Errors
/// As [`binary`].
pub fn clip(
    a: &Operand,
    low: Option<&Operand>,
    high: Option<&Operand>,
    options: &Options<'_>,
) -> Result<Array> {
    // A Python integer at or beyond the type's end is no limit.
    let range = if a.dtype() == DType::Bool { None } else { a.dtype().integer_range() };
    let low = low.filter(|low| match (low, range) {
        (Operand::Weak(Weak::Int(value)), Some((least, _))) => *value > least.into(),
        _ => true,
    });
    let high = high.filter(|high| match (high, range) {
        (Operand::Weak(Weak::Int(value)), Some((_, most))) => *value < most.into(),
        _ => true,
    });
    let (low, high) = match (low, high) {
        (None, None) => return positive(a, options),
        (Some(low), None) => return binary(Binary::Maximum, a, low, options),
        (None, Some(high)) => return binary(Binary::Minimum, a, high, options),
        (Some(low), Some(high)) => (low, high),
    };
    if options.mask.is_some() {
        let raised = binary(Binary::Maximum, a, low, options)?;
        return binary(Binary::Minimum, &raised.into(), high, options);
    }
    let dtype = options.dtype.unwrap_or_else(|| result_type([a, low, high]));
    let types = Types { compute: dtype, result: dtype };
    let call = Call::new("clip", [a, low, high], types, options.out)?;
    let computed = match dtype {
        DType::Bool => DType::U8,
        DType::F16 => DType::F32,
        other => other,
    };
    with_dtype!(native computed, T => call.map(&mut |[a, low, high], out: &mut [T]| {
        clip_block(a, low, high, out);
        Ok(())
    })?, else unreachable!("a number"));
    Ok(call.out)
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn clip_block<T: Element>(a: &[T], low: &[T], high: &[T], out: &mut [T]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = minimum(maximum(a[i], low[i]), high[i]);
    }
}

/// A copy, of bools as well.
fn positive(a: &Operand, options: &Options<'_>) -> Result<Array> {
    if a.dtype() != DType::Bool {
        return unary(Unary::Positive, a, options);
    }
    match options.out {
        Some(_) => unary(Unary::Absolute, a, options),
        None => a.to_array(DType::Bool)?.copy(),
    }
}

/// `np.round`: halves go to the even neighbour.
///
/// # Errors
/// As [`unary`].
pub fn round(a: &Operand, decimals: i32, out: Option<&Array>) -> Result<Array> {
    let options = Options { out, ..Options::default() };
    let dtype = a.dtype();
    if dtype.is_integer() && decimals >= 0 {
        return positive(a, &options);
    }
    if decimals == 0 {
        return unary(Unary::Rint, a, &options);
    }
    let scale = Operand::Weak(Weak::Float(10f64.powi(decimals.abs())));
    let (there, back) = if decimals > 0 {
        (Binary::Multiply, Binary::Divide)
    } else {
        (Binary::Divide, Binary::Multiply)
    };
    let scaled = binary(there, a, &scale, &Options::default())?;
    let in_place = Options { out: Some(&scaled), ..Options::default() };
    let rounded = unary(Unary::Rint, &(&scaled).into(), &in_place)?;
    if dtype.is_float() {
        let options = Options { out: Some(out.unwrap_or(&scaled)), ..Options::default() };
        return binary(back, &rounded.into(), &scale, &options);
    }
    let result = binary(back, &rounded.into(), &scale, &Options::default())?;
    let result = if dtype.is_integer() { result.astype(dtype)? } else { result };
    match out {
        Some(out) => {
            out.fill_from(&result)?;
            Ok(out.clone())
        }
        None => Ok(result),
    }
}

/// `np.divmod`: quotient rounded down, and the rest with the divisor's sign.
///
/// # Errors
/// As [`binary`].
pub fn divmod(a: &Operand, b: &Operand) -> Result<(Array, Array)> {
    let options = Options::default();
    Ok((binary(Binary::FloorDivide, a, b, &options)?, binary(Binary::Remainder, a, b, &options)?))
}

/// The operator `**` with a Python number as exponent, for which numpy has shortcuts.
///
/// # Errors
/// As [`binary`].
pub fn power_operator(a: &Operand, exponent: &Operand, options: &Options<'_>) -> Result<Array> {
    let shortcut = match exponent {
        Operand::Weak(Weak::Int(2)) if a.dtype() != DType::Bool => Some(Unary::Square),
        Operand::Weak(weak) if a.dtype().is_float() => match weak.to_scalar(DType::F64)?.to_f64() {
            2.0 => Some(Unary::Square),
            1.0 => Some(Unary::Positive),
            0.5 => Some(Unary::Sqrt),
            -1.0 => Some(Unary::Reciprocal),
            _ => None,
        },
        _ => None,
    };
    match shortcut {
        Some(op) => unary(op, a, options),
        None => binary(Binary::Power, a, exponent, options),
    }
}

/// `np.nan_to_num`: a copy with numbers in place of NaN and the infinities; the largest finite
/// ones of the type where none are given.
///
/// # Errors
/// [`crate::Error::Memory`], [`crate::Error::Interrupted`].
pub fn nan_to_num(a: &Array, nan: f64, posinf: Option<f64>, neginf: Option<f64>) -> Result<Array> {
    if !a.dtype().is_float() {
        return a.copy();
    }
    fn replace<T: Real>(a: &Array, out: &Array, [nan, posinf, neginf]: [Scalar; 3]) -> Result<()> {
        let (nan, posinf, neginf) = (nan.to::<T>(), posinf.to::<T>(), neginf.to::<T>());
        blocks::map([a], out, &mut |[a]: [&[T]; 1], out: &mut [T]| {
            for (out, &a) in out.iter_mut().zip(a) {
                *out = if a.is_nan() {
                    nan
                } else if a == T::INFINITY {
                    posinf
                } else if a == T::INFINITY.negative() {
                    neginf
                } else {
                    a
                };
            }
            Ok(())
        })
    }
    let largest = match a.dtype() {
        DType::F16 => 65504.0,
        DType::F32 => f32::MAX.into(),
        _ => f64::MAX,
    };
    let values = [nan, posinf.unwrap_or(largest), neginf.unwrap_or(-largest)].map(Scalar::F64);
    let out = Array::uninit_like(a, a.dtype())?;
    match a.dtype() {
        DType::F64 => replace::<f64>(a, &out, values)?,
        _ => replace::<f32>(a, &out, values)?,
    }
    Ok(out)
}

/// `np.isclose`: `|a - b| <= atol + rtol * |b|`, element by element.
///
/// # Errors
/// As [`binary`].
pub fn isclose(a: &Operand, b: &Operand, rtol: f64, atol: f64, equal_nan: bool) -> Result<Array> {
    // `b` becomes a float, so that differences of integers do not wrap.
    let float = match b {
        Operand::Array(array) => Operand::Array(array.cast(result_type([b, &1.0.into()]))?),
        Operand::Weak(weak) => Operand::Weak(Weak::Float(weak.to_scalar(DType::F64)?.to_f64())),
    };
    let compute = result_type([a, &float]);
    let types = Types { compute, result: DType::Bool };
    let call = Call::new("isclose", [a, &float], types, None)?;
    fn close<T: Real>(call: &Call<2>, rtol: f64, atol: f64, equal_nan: bool) -> Result<()> {
        let (rtol, atol) = (T::from_f64(rtol), T::from_f64(atol));
        call.map(&mut |[a, b]: [&[T]; 2], out: &mut [bool]| {
            for (out, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
                let reach = atol.add(rtol.multiply(b.absolute()));
                *out = a.subtract(b).absolute() <= reach && b.is_finite()
                    || a == b
                    || equal_nan && a.is_nan() && b.is_nan();
            }
            Ok(())
        })
    }
    match compute {
        DType::F64 => close::<f64>(&call, rtol, atol, equal_nan)?,
        _ => close::<f32>(&call, rtol, atol, equal_nan)?,
    }
    Ok(call.out)
}

/// `np.allclose`: whether [`isclose`] holds everywhere.
///
/// # Errors
/// As [`binary`].
pub fn allclose(a: &Operand, b: &Operand, rtol: f64, atol: f64, equal_nan: bool) -> Result<bool> {
    all(&isclose(a, b, rtol, atol, equal_nan)?)
}

/// `np.array_equal`: same shape, same elements.
///
/// # Errors
/// [`crate::Error::Memory`], [`crate::Error::Interrupted`].
pub fn array_equal(a: &Array, b: &Array, equal_nan: bool) -> Result<bool> {
    if a.shape() != b.shape() {
        return Ok(false);
    }
    let equal = map2(Binary::Equal, a, b)?;
    if !equal_nan {
        return all(&equal);
    }
    let both = map2(Binary::LogicalAnd, map1(Unary::Isnan, a)?, map1(Unary::Isnan, b)?)?;
    all(&map2(Binary::LogicalOr, equal, both)?)
}

fn all(mask: &Array) -> Result<bool> {
    let mut all = true;
    blocks::visit(mask, &mut |block: &[bool]| {
        all &= block.iter().fold(true, |all, &value| all & value);
        Ok(())
    })?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f64]) -> Operand {
        Array::vector(values.to_vec()).into()
    }

    #[test]
    fn rounding_goes_to_even() {
        // np.round([1.25, 1.35, 2.675, -0.5], 1) and with fewer digits
        let of = |decimals| {
            round(&floats(&[1.25, 1.35, 2.675, -0.5]), decimals, None)
                .unwrap()
                .to_vec::<f64>()
                .unwrap()
        };
        assert_eq!(of(1), [1.2, 1.4, 2.7, -0.5]);
        assert_eq!(of(0), [1.0, 1.0, 3.0, -0.0]);
        let tens = round(&Array::vector(vec![15i64, 25, -15]).into(), -1, None).unwrap();
        assert_eq!(tens.to_vec::<i64>().unwrap(), [20, 20, -20]);
    }

    #[test]
    fn limits_may_be_of_another_type_or_none() {
        let a = Operand::from(Array::vector(vec![1u8, 2, 200]));
        let none = Options::default();
        let both = clip(&a, Some(&1.5.into()), Some(&2.5.into()), &none).unwrap();
        assert_eq!(both.to_vec::<f64>().unwrap(), [1.5, 2.0, 2.5]);
        let beyond = clip(&a, Some(&(-5i64).into()), Some(&300i64.into()), &none).unwrap();
        assert_eq!(beyond.to_vec::<u8>().unwrap(), [1, 2, 200]);
    }

    #[test]
    fn closeness_knows_nan_and_infinity() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let a = floats(&[1.0, nan, inf, inf, 1.0]);
        let b = floats(&[1.0 + 1e-9, nan, inf, -inf, 1.1]);
        let of =
            |equal_nan| isclose(&a, &b, 1e-5, 1e-8, equal_nan).unwrap().to_vec::<bool>().unwrap();
        assert_eq!(of(false), [true, false, true, false, false]);
        assert!(of(true)[1]);
    }
}
