//! One element with its type, and Python's untyped numbers.

use half::f16;

use crate::dtype::{DType, Element, with_dtype};
use crate::error::{Error, Result, bail};

/// One element: what `a[0, 1]` and `a.sum()` give.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool(bool),
    U8(u8),
    I32(i32),
    I64(i64),
    F16(f16),
    F32(f32),
    F64(f64),
}

/// Runs the body with `$value` bound to the element inside a [`Scalar`].
macro_rules! with_scalar {
    ($scalar:expr, $value:ident => $body:expr) => {
        match $scalar {
            Scalar::Bool($value) => $body,
            Scalar::U8($value) => $body,
            Scalar::I32($value) => $body,
            Scalar::I64($value) => $body,
            Scalar::F16($value) => $body,
            Scalar::F32($value) => $body,
            Scalar::F64($value) => $body,
        }
    };
}

impl Scalar {
    /// Its type.
    pub fn dtype(self) -> DType {
        with_scalar!(self, value => dtype_of(value))
    }

    /// As a float; integers above 2^53 are rounded.
    pub fn to_f64(self) -> f64 {
        with_scalar!(self, value => value.to_f64())
    }

    /// As an integer, truncated towards zero.
    pub fn to_i64(self) -> i64 {
        with_scalar!(self, value => value.to_i64())
    }

    /// Whether it is not zero; NaN is true.
    pub fn to_bool(self) -> bool {
        match self {
            Scalar::Bool(value) => value,
            other => other.to_f64() != 0.0,
        }
    }

    /// As element type `T`.
    pub fn to<T: Element>(self) -> T {
        with_scalar!(self, value => value.cast::<T>())
    }

    /// As another type.
    pub fn cast(self, dtype: DType) -> Scalar {
        with_dtype!(dtype, T => self.to::<T>().scalar())
    }

    /// Whether it is a NaN.
    pub fn is_nan(self) -> bool {
        with_scalar!(self, value => value.is_nan())
    }
}

fn dtype_of<T: Element>(_: T) -> DType {
    T::DTYPE
}

/// A Python number, which takes the type of the array it meets (NEP 50) as long as it is of
/// no higher kind: `float32_array + 1.5` is float32, `int32_array + 1.5` is float64.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weak {
    /// `True` or `False`.
    Bool(bool),
    /// An integer. Python's are unbounded: one beyond 128 bits is given as the nearest.
    Int(i128),
    /// A float.
    Float(f64),
}

impl Weak {
    /// The type it has on its own.
    pub fn dtype(self) -> DType {
        match self {
            Weak::Bool(_) => DType::Bool,
            Weak::Int(_) => DType::I64,
            Weak::Float(_) => DType::F64,
        }
    }

    /// As an element of `dtype`.
    ///
    /// # Errors
    /// [`Error::Overflow`] when an integer does not fit into an integer type.
    pub fn to_scalar(self, dtype: DType) -> Result<Scalar> {
        match self {
            Weak::Bool(value) => Ok(Scalar::Bool(value).cast(dtype)),
            Weak::Float(value) => Ok(Scalar::F64(value).cast(dtype)),
            Weak::Int(value) => match dtype.integer_range() {
                Some((low, high)) if value < low.into() || value > high.into() => {
                    if dtype == DType::I64 {
                        return Err(Error::Overflow(
                            "Python int too large to convert to C long".to_owned(),
                        ));
                    }
                    bail!(Overflow, "Python integer {value} out of bounds for {dtype}")
                }
                Some(_) => Ok(Scalar::I64(value as i64).cast(dtype)),
                None if dtype == DType::Bool => Ok(Scalar::Bool(value != 0)),
                None => Ok(Scalar::F64(value as f64).cast(dtype)),
            },
        }
    }
}
