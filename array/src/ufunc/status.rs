//! Floating-point trouble, found in operands and results after the fact, and told with
//! numpy's warnings. Blocks of finite results, the usual case, cost one pass in the cache.

use multiversion::multiversion;

use super::number::Real;
use super::op::{Binary, Unary};
use crate::error::Result;
use crate::warn::{Warning, warn};

/// What happened in an operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// A finite operand gave an infinite result at a pole.
    pub divide: bool,
    /// A finite operand gave an infinite result because of its size.
    pub overflow: bool,
    /// A result is NaN and no operand is.
    pub invalid: bool,
}

impl Status {
    /// Gives the warnings.
    ///
    /// # Errors
    /// What the sink returns.
    pub fn report(self, operation: &str) -> Result<()> {
        let kinds = [
            (self.divide, "divide by zero"),
            (self.overflow, "overflow"),
            (self.invalid, "invalid value"),
        ];
        for (happened, what) in kinds {
            if happened {
                warn(Warning::Runtime, &format!("{what} encountered in {operation}"))?;
            }
        }
        Ok(())
    }

    /// Looks at a block of an operation with one operand. `limit` is the largest finite
    /// value of the type that the result is stored as.
    pub fn watch1<T: Real>(&mut self, pole: Option<fn(T) -> bool>, a: &[T], out: &[T], limit: T) {
        if all_within(out, limit) {
            return;
        }
        for (&a, &out) in a.iter().zip(out) {
            self.note(a.is_nan(), a.is_finite(), pole.is_some_and(|pole| pole(a)), out, limit);
        }
    }

    /// The same with two operands.
    pub fn watch2<T: Real>(
        &mut self,
        pole: Option<fn(T, T) -> bool>,
        a: &[T],
        b: &[T],
        out: &[T],
        limit: T,
    ) {
        if all_within(out, limit) {
            return;
        }
        for ((&a, &b), &out) in a.iter().zip(b).zip(out) {
            let at_pole = pole.is_some_and(|pole| pole(a, b));
            self.note(
                a.is_nan() || b.is_nan(),
                a.is_finite() && b.is_finite(),
                at_pole,
                out,
                limit,
            );
        }
    }

    #[inline(always)]
    fn note<T: Real>(&mut self, nan: bool, finite: bool, pole: bool, out: T, limit: T) {
        let beyond = finite && out.absolute() > limit;
        self.invalid |= out.is_nan() && !nan;
        self.divide |= beyond && pole;
        self.overflow |= beyond && !pole;
    }
}

/// Whether all are finite and no larger than `limit`.
#[multiversion(targets("x86_64+avx+avx2"))]
fn all_within<T: Real>(values: &[T], limit: T) -> bool {
    let mut within = true;
    for value in values {
        within &= value.absolute() <= limit;
    }
    within
}

/// Where an operation has a pole.
pub(crate) fn pole1<T: Real>(op: Unary) -> Option<fn(T) -> bool> {
    Some(match op {
        Unary::Log | Unary::Log2 | Unary::Log10 | Unary::Reciprocal => |a| a == T::ZERO,
        Unary::Log1p => |a| a == T::ONE.negative(),
        Unary::Arctanh => |a| a.absolute() == T::ONE,
        _ => return None,
    })
}

/// Where an operation has a pole.
pub(crate) fn pole2<T: Real>(op: Binary) -> Option<fn(T, T) -> bool> {
    Some(match op {
        Binary::Divide | Binary::FloorDivide => |_, b| b == T::ZERO,
        Binary::Power | Binary::FloatPower => |a, _| a == T::ZERO,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_apart() {
        let mut status = Status::default();
        let pole = pole2::<f64>(Binary::Divide);
        status.watch2(pole, &[1.0, f64::NAN], &[2.0, 0.0], &[0.5, f64::NAN], f64::MAX);
        assert_eq!(status, Status::default());
        status.watch2(pole, &[1.0], &[0.0], &[f64::INFINITY], f64::MAX);
        assert_eq!(status, Status { divide: true, ..Status::default() });
        status.watch2(pole, &[0.0], &[0.0], &[f64::NAN], f64::MAX);
        status.watch1(None, &[1e300], &[f64::INFINITY], f64::MAX);
        assert_eq!(status, Status { divide: true, invalid: true, overflow: true });
    }
}
