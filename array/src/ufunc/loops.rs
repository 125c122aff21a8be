//! The loops of the elementwise operations, and which one an operation uses for a type.

use multiversion::multiversion;

use super::bits::{Bits, Shift};
use super::number::{self, Number, Real};
use super::op::{Binary, Unary};
use crate::dtype::Element;

/// A loop over one block with one operand.
pub(crate) type Loop1<A, O> = fn(&[A], &mut [O]);
/// A loop over one block with two operands.
pub(crate) type Loop2<A, O> = fn(&[A], &[A], &mut [O]);

#[multiversion(targets("x86_64+avx+avx2"))]
pub(super) fn each1<A: Copy, O, F: Fn(A) -> O>(a: &[A], out: &mut [O], f: F) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = f(a);
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
pub(super) fn each2<A: Copy, O, F: Fn(A, A) -> O>(a: &[A], b: &[A], out: &mut [O], f: F) {
    for (out, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = f(a, b);
    }
}

/// The same for functions that are calls or divisions, which vectors do not help.
pub(super) fn each1_plain<A: Copy, O, F: Fn(A) -> O>(a: &[A], out: &mut [O], f: F) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = f(a);
    }
}

pub(super) fn each2_plain<A: Copy, O, F: Fn(A, A) -> O>(a: &[A], b: &[A], out: &mut [O], f: F) {
    for (out, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = f(a, b);
    }
}

/// A pure function of elements as a loop over blocks.
macro_rules! loop1 {
    ($f:expr) => {
        |a, out| each1(a, out, $f)
    };
}
macro_rules! loop2 {
    ($f:expr) => {
        |a, b, out| each2(a, b, out, $f)
    };
}
macro_rules! plain1 {
    ($f:expr) => {
        |a, out| each1_plain(a, out, $f)
    };
}
macro_rules! plain2 {
    ($f:expr) => {
        |a, b, out| each2_plain(a, b, out, $f)
    };
}

/// Arithmetic of numbers.
pub(crate) fn number1<T: Number>(op: Unary) -> Option<Loop1<T, T>> {
    Some(match op {
        Unary::Absolute => loop1!(T::absolute),
        Unary::Negative => loop1!(T::negative),
        Unary::Positive => plain1!(std::convert::identity),
        Unary::Reciprocal => plain1!(T::reciprocal),
        Unary::Sign => loop1!(T::sign),
        Unary::Square => loop1!(T::square),
        // What rounding does to an integer; floats do not come here.
        Unary::Ceil | Unary::Floor | Unary::Trunc => plain1!(std::convert::identity),
        _ => return None,
    })
}

/// Functions of floats.
pub(crate) fn real1<T: Real>(op: Unary) -> Option<Loop1<T, T>> {
    Some(match op {
        Unary::Arccos => plain1!(T::arccos),
        Unary::Arccosh => plain1!(T::arccosh),
        Unary::Arcsin => plain1!(T::arcsin),
        Unary::Arcsinh => plain1!(T::arcsinh),
        Unary::Arctan => plain1!(T::arctan),
        Unary::Arctanh => plain1!(T::arctanh),
        Unary::Cbrt => plain1!(T::cbrt),
        Unary::Ceil => loop1!(T::ceil),
        Unary::Cos => T::cos_block,
        Unary::Cosh => plain1!(T::cosh),
        Unary::Deg2rad => loop1!(T::deg2rad),
        Unary::Exp => plain1!(T::exp),
        Unary::Exp2 => plain1!(T::exp2),
        Unary::Expm1 => plain1!(T::expm1),
        Unary::Fabs => loop1!(T::absolute),
        Unary::Floor => loop1!(T::floor),
        Unary::Log => plain1!(T::log),
        Unary::Log10 => plain1!(T::log10),
        Unary::Log1p => plain1!(T::log1p),
        Unary::Log2 => plain1!(T::log2),
        Unary::Rad2deg => loop1!(T::rad2deg),
        Unary::Rint => loop1!(T::rint),
        Unary::Sin => T::sin_block,
        Unary::Sinh => plain1!(T::sinh),
        Unary::Sqrt => loop1!(T::sqrt),
        Unary::Tan => plain1!(T::tan),
        Unary::Tanh => plain1!(T::tanh),
        Unary::Trunc => loop1!(T::trunc),
        other => return number1(other),
    })
}

/// Questions about numbers.
pub(crate) fn test1<T: Number>(op: Unary) -> Option<Loop1<T, bool>> {
    Some(match op {
        Unary::Isfinite => loop1!(T::is_finite),
        Unary::Isinf => loop1!(|a: T| !a.is_finite() && !a.is_nan()),
        Unary::Isnan => loop1!(T::is_nan),
        Unary::Signbit => plain1!(T::is_negative),
        _ => return None,
    })
}

/// Bitwise complement.
pub(crate) fn bits1<T: Bits>(op: Unary) -> Option<Loop1<T, T>> {
    match op {
        Unary::Invert => Some(loop1!(T::invert)),
        _ => None,
    }
}

/// Arithmetic of numbers.
pub(crate) fn number2<T: Number>(op: Binary) -> Option<Loop2<T, T>> {
    Some(match op {
        Binary::Add => loop2!(T::add),
        Binary::FloorDivide => T::floor_divide_block,
        Binary::Fmod => plain2!(T::fmod),
        // Numbers without NaN; those of floats are in `real2`.
        Binary::Maximum | Binary::Fmax => loop2!(number::maximum),
        Binary::Minimum | Binary::Fmin => loop2!(number::minimum),
        Binary::Multiply => loop2!(T::multiply),
        Binary::Power => plain2!(T::power),
        Binary::Remainder => T::remainder_block,
        Binary::Subtract => loop2!(T::subtract),
        _ => return None,
    })
}

/// Functions of two floats.
pub(crate) fn real2<T: Real>(op: Binary) -> Option<Loop2<T, T>> {
    Some(match op {
        Binary::Arctan2 => plain2!(T::arctan2),
        Binary::Copysign => plain2!(T::copysign),
        Binary::Divide => loop2!(T::divide),
        Binary::Fmax => loop2!(number::fmax),
        Binary::Fmin => loop2!(number::fmin),
        Binary::FloatPower => plain2!(T::power),
        Binary::Heaviside => plain2!(T::heaviside),
        Binary::Hypot => plain2!(T::hypot),
        Binary::Logaddexp => plain2!(T::logaddexp),
        Binary::Nextafter => plain2!(T::nextafter),
        other => return number2(other),
    })
}

/// Comparisons.
pub(crate) fn compare2<T: Element>(op: Binary) -> Option<Loop2<T, bool>> {
    Some(match op {
        Binary::Equal => loop2!(|a: T, b: T| a == b),
        // The same loop with its operands exchanged.
        Binary::Greater => |a, b, out| each2(b, a, out, less),
        Binary::GreaterEqual => |a, b, out| each2(b, a, out, less_equal),
        Binary::Less => loop2!(less),
        Binary::LessEqual => loop2!(less_equal),
        Binary::NotEqual => loop2!(|a: T, b: T| a != b),
        _ => return None,
    })
}

fn less<T: Element>(a: T, b: T) -> bool {
    a < b
}

fn less_equal<T: Element>(a: T, b: T) -> bool {
    a <= b
}

/// Bitwise operations; on `bool` also those that numpy maps to them.
pub(crate) fn bits2<T: Bits>(op: Binary) -> Option<Loop2<T, T>> {
    Some(match op {
        Binary::BitwiseAnd
        | Binary::LogicalAnd
        | Binary::Multiply
        | Binary::Minimum
        | Binary::Fmin => loop2!(T::and),
        Binary::BitwiseOr | Binary::LogicalOr | Binary::Add | Binary::Maximum | Binary::Fmax => {
            loop2!(T::or)
        }
        Binary::BitwiseXor | Binary::LogicalXor => loop2!(T::xor),
        _ => return None,
    })
}

/// Shifts.
pub(crate) fn shift2<T: Shift>(op: Binary) -> Option<Loop2<T, T>> {
    match op {
        Binary::LeftShift => Some(plain2!(T::left)),
        Binary::RightShift => Some(plain2!(T::right)),
        _ => None,
    }
}
