//! Which type the result of several operands has (NEP 50).

use crate::array::Array;
use crate::dtype::DType;
use crate::error::Result;
use crate::scalar::{Scalar, Weak};

/// What an operation is applied to: an array, or a Python number that bends to the others.
///
/// A numpy scalar (`np.float32(1)`) is a zero-dimensional array, its type counts.
#[derive(Debug, Clone)]
pub enum Operand {
    /// An array or a numpy scalar.
    Array(Array),
    /// A Python `bool`, `int` or `float`.
    Weak(Weak),
}

impl Operand {
    /// The type it has on its own.
    pub fn dtype(&self) -> DType {
        match self {
            Operand::Array(array) => array.dtype(),
            Operand::Weak(weak) => weak.dtype(),
        }
    }

    /// Its shape; a Python number has none.
    pub fn shape(&self) -> &[usize] {
        match self {
            Operand::Array(array) => array.shape(),
            Operand::Weak(_) => &[],
        }
    }

    /// As an array of this type.
    ///
    /// # Errors
    /// [`crate::Error::Overflow`] for a Python integer that does not fit.
    pub fn to_array(&self, dtype: DType) -> Result<Array> {
        match self {
            Operand::Array(array) => array.cast(dtype),
            Operand::Weak(weak) => Ok(Array::scalar(weak.to_scalar(dtype)?)),
        }
    }
}

impl From<Array> for Operand {
    fn from(array: Array) -> Operand {
        Operand::Array(array)
    }
}

impl From<&Array> for Operand {
    fn from(array: &Array) -> Operand {
        Operand::Array(array.clone())
    }
}

impl From<Scalar> for Operand {
    fn from(scalar: Scalar) -> Operand {
        Operand::Array(Array::scalar(scalar))
    }
}

impl From<Weak> for Operand {
    fn from(weak: Weak) -> Operand {
        Operand::Weak(weak)
    }
}

impl From<f64> for Operand {
    fn from(value: f64) -> Operand {
        Operand::Weak(Weak::Float(value))
    }
}

impl From<i64> for Operand {
    fn from(value: i64) -> Operand {
        Operand::Weak(Weak::Int(value.into()))
    }
}

/// The smallest type that holds every value of both.
pub fn promote(a: DType, b: DType) -> DType {
    use DType::{F16, F32, F64, I32, I64, U8};
    let (low, high) = if a <= b { (a, b) } else { (b, a) };
    match (low, high) {
        (I32, F16 | F32) | (I64, F16 | F32) => F64,
        (I32 | I64, F64) => F64,
        (U8, I32) => I32,
        (U8 | I32, I64) => I64,
        (_, high) => high,
    }
}

/// The type of a result: arrays decide, Python numbers only raise the kind.
pub fn result_type<'a>(operands: impl IntoIterator<Item = &'a Operand>) -> DType {
    let mut strong: Option<DType> = None;
    let mut weak: Option<DType> = None;
    for operand in operands {
        let slot = match operand {
            Operand::Array(_) => &mut strong,
            Operand::Weak(_) => &mut weak,
        };
        let dtype = operand.dtype();
        *slot = Some(slot.map_or(dtype, |other| promote(other, dtype)));
    }
    match (strong, weak) {
        (Some(strong), Some(weak)) => with_weak(strong, weak),
        (Some(dtype), None) | (None, Some(dtype)) => dtype,
        (None, None) => DType::F64,
    }
}

/// `strong`, or the default type of the Python number's kind when that kind is higher.
fn with_weak(strong: DType, weak: DType) -> DType {
    if weak.is_float() && !strong.is_float() || weak.is_integer() && strong == DType::Bool {
        weak
    } else {
        strong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_promote_as_in_numpy() {
        // np.result_type of each pair, in the order of `DType::ALL`.
        let expected = [
            "bool uint8 int32 int64 float16 float32 float64",
            "uint8 uint8 int32 int64 float16 float32 float64",
            "int32 int32 int32 int64 float64 float64 float64",
            "int64 int64 int64 int64 float64 float64 float64",
            "float16 float16 float64 float64 float16 float32 float64",
            "float32 float32 float64 float64 float32 float32 float64",
            "float64 float64 float64 float64 float64 float64 float64",
        ];
        for (a, row) in DType::ALL.into_iter().zip(expected) {
            for (b, name) in DType::ALL.into_iter().zip(row.split(' ')) {
                assert_eq!(promote(a, b).name(), name, "{a} with {b}");
            }
        }
    }

    #[test]
    fn python_numbers_are_weak() {
        let of = |dtype, weak: Operand| {
            result_type([&Array::zeros(&[2], dtype).unwrap().into(), &weak]).name()
        };
        assert_eq!(of(DType::F32, 1.5.into()), "float32");
        assert_eq!(of(DType::U8, 7i64.into()), "uint8");
        assert_eq!(of(DType::U8, 1.5.into()), "float64");
        assert_eq!(of(DType::Bool, 1i64.into()), "int64");
    }
}
