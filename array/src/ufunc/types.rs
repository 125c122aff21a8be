//! The type an operation computes in, and the type of its result.

use super::op::{Binary, Class, Unary};
use crate::cast::can_cast_same_kind;
use crate::dtype::DType;
use crate::error::{Error, Result, bail};
use crate::promote::{Operand, promote, result_type};
use crate::scalar::{Scalar, Weak};
use crate::warn::{Warning, warn};

/// Both types of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types {
    /// What operands are converted to.
    pub compute: DType,
    /// What the result has.
    pub result: DType,
}

pub(super) fn unary(op: Unary, operand: &Operand, dtype: Option<DType>) -> Result<Types> {
    let natural = dtype.unwrap_or(operand.dtype());
    if operand.dtype() == DType::Bool && dtype.is_none() {
        match op {
            Unary::Negative => bail!(
                Type,
                "The numpy boolean negative, the `-` operator, is not supported, use the `~` \
                 operator or the logical_not function instead."
            ),
            Unary::Sign | Unary::Positive => bail!(
                Type,
                "ufunc '{}' did not contain a loop with signature matching types <class \
                 'numpy.dtypes.BoolDType'> -> None",
                op.name()
            ),
            _ => {}
        }
    }
    check_inputs(op.name(), &[operand], dtype, op.class())?;
    Ok(of_class(op.class(), natural))
}

pub(super) fn binary(op: Binary, a: &Operand, b: &Operand, dtype: Option<DType>) -> Result<Types> {
    let natural = dtype.unwrap_or_else(|| result_type([a, b]));
    check_inputs(op.name(), &[a, b], dtype, op.class())?;
    match op {
        Binary::Subtract if natural == DType::Bool => bail!(
            Type,
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, \
             the `^` operator, or the logical_xor function instead."
        ),
        Binary::Divide if !natural.is_float() => {
            Ok(Types { compute: DType::F64, result: DType::F64 })
        }
        Binary::FloatPower => Ok(Types { compute: DType::F64, result: DType::F64 }),
        _ if op.class() == Class::Compare => {
            let compute = compare_type(natural, [a, b]);
            Ok(Types { compute, result: DType::Bool })
        }
        _ => Ok(of_class(op.class(), natural)),
    }
}

fn of_class(class: Class, natural: DType) -> Types {
    let same = |dtype| Types { compute: dtype, result: dtype };
    match class {
        Class::Same | Class::Bits => same(natural),
        // numpy computes these of bools in int8, which is none of our types.
        Class::Number | Class::Shift if natural == DType::Bool => same(DType::U8),
        Class::Number | Class::Shift => same(natural),
        Class::Float => same(match natural {
            DType::Bool | DType::U8 => DType::F16,
            DType::I32 | DType::I64 => DType::F64,
            float => float,
        }),
        Class::Compare if natural == DType::Bool => {
            Types { compute: DType::U8, result: DType::Bool }
        }
        Class::Compare => Types { compute: natural, result: DType::Bool },
        Class::Logical => Types { compute: DType::Bool, result: DType::Bool },
    }
}

/// A comparison with a Python integer beyond the array's type is decided, not refused.
fn compare_type(natural: DType, operands: [&Operand; 2]) -> DType {
    operands.into_iter().fold(natural, |compute, operand| match operand {
        Operand::Weak(weak @ Weak::Int(value)) if weak.to_scalar(compute).is_err() => {
            if i64::try_from(*value).is_ok() {
                promote(compute, DType::I64)
            } else {
                DType::F64
            }
        }
        _ => compute,
    })
}

fn check_inputs(
    name: &str,
    operands: &[&Operand],
    dtype: Option<DType>,
    class: Class,
) -> Result<()> {
    let Some(dtype) = dtype else { return Ok(()) };
    if matches!(class, Class::Compare | Class::Logical) {
        return Ok(());
    }
    for (i, operand) in operands.iter().enumerate() {
        let fits = match operand {
            Operand::Array(array) => can_cast_same_kind(array.dtype(), dtype),
            Operand::Weak(weak) => !weak.dtype().is_float() || dtype.is_float(),
        };
        if !fits {
            let number = if operands.len() == 1 { String::new() } else { format!(" {i}") };
            bail!(
                Type,
                "Cannot cast ufunc '{name}' input{number} from dtype('{}') to dtype('{dtype}') \
                 with casting rule 'same_kind'",
                operand.dtype()
            );
        }
    }
    Ok(())
}

/// A Python number as an element, with numpy's warning when a float becomes infinite.
pub(crate) fn weak_scalar(weak: Weak, dtype: DType) -> Result<Scalar> {
    let scalar = match weak.to_scalar(dtype) {
        // Comparisons with enormous integers come here as float64.
        Err(Error::Overflow(_)) if dtype.is_float() => Scalar::F64(f64::INFINITY),
        other => other?,
    };
    if let Weak::Float(value) = weak
        && value.is_finite()
        && dtype.is_float()
        && scalar.to_f64().is_infinite()
    {
        warn(Warning::Runtime, "overflow encountered in cast")?;
    }
    Ok(scalar)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::Array;

    fn zeros(dtype: DType) -> Operand {
        Array::zeros(&[1], dtype).unwrap().into()
    }

    #[test]
    fn results_have_numpys_types() {
        let one = |op, dtype| unary(op, &zeros(dtype), None).unwrap().result.name();
        assert_eq!(one(Unary::Sqrt, DType::U8), "float16");
        assert_eq!(one(Unary::Sqrt, DType::I32), "float64");
        assert_eq!(one(Unary::Floor, DType::I32), "int32");
        assert_eq!(one(Unary::Rint, DType::I64), "float64");
        assert_eq!(one(Unary::Isnan, DType::Bool), "bool");
        let two = |op, a, b: Operand| binary(op, &zeros(a), &b, None).unwrap().result.name();
        assert_eq!(two(Binary::Divide, DType::U8, zeros(DType::U8)), "float64");
        assert_eq!(two(Binary::Divide, DType::F32, 2.5.into()), "float32");
        assert_eq!(two(Binary::Hypot, DType::U8, zeros(DType::U8)), "float16");
        assert_eq!(two(Binary::Less, DType::U8, 300i64.into()), "bool");
        assert_eq!(two(Binary::Add, DType::F16, zeros(DType::I32)), "float64");
    }
}
