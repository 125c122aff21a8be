//! The Euclidean norm in 80-bit numbers, as OpenBLAS computes `dnrm2` on x86.

/// Norm of a vector of ordinary magnitude, rounded to 64 bits at every step and to 53 in the end.
#[inline(always)]
pub(super) fn norm(vector: &[f64]) -> f64 {
    match clear_norm(vector) {
        Some(norm) => norm,
        None => stepwise_norm(vector),
    }
}

/// The norm from sums in twice the precision, when it lies so far from the middle of two
/// numbers that no rounding to 64 bits on the way could have changed it.
#[inline(always)]
fn clear_norm(vector: &[f64]) -> Option<f64> {
    let (mut sum, mut rest) = (0.0_f64, 0.0);
    for &value in vector {
        let square = value * value;
        let total = sum + square;
        let part = total - sum;
        rest += (sum - (total - part)) + (square - part) + value.mul_add(value, -square);
        sum = total;
    }
    if !(1e-200..1e200).contains(&sum) {
        return None;
    }
    let root = sum.sqrt();
    let correction = ((-root).mul_add(root, sum) + rest) / (2.0 * root);
    let norm = root + correction;
    let beside = (root - norm) + correction;
    let unit = f64::from_bits(norm.to_bits() + 1) - norm;
    // Rounding to 64 bits moves five summands' norm by less than 0.004 of a unit.
    (beside.abs() < 0.48 * unit).then_some(norm)
}

#[cold]
fn stepwise_norm(vector: &[f64]) -> f64 {
    let sum = vector.iter().fold(Extended::ZERO, |sum, &value| sum.add(Extended::square(value)));
    sum.square_root().to_f64()
}

/// A number `mantissa * 2^exponent`; the mantissa's first bit is set, but for zero.
#[derive(Debug, Clone, Copy)]
struct Extended {
    mantissa: u64,
    exponent: i32,
}

impl Extended {
    const ZERO: Self = Self { mantissa: 0, exponent: i32::MIN / 2 };

    fn square(value: f64) -> Self {
        let bits = value.abs().to_bits();
        let exponent = (bits >> 52) as i32;
        // What is below the normal numbers squares to nothing.
        if exponent == 0 {
            return Self::ZERO;
        }
        let mantissa = u128::from((bits & ((1 << 52) - 1)) | (1 << 52));
        Self::round(mantissa * mantissa, 2 * (exponent - 1075), false)
    }

    fn add(self, other: Self) -> Self {
        let (great, small) = match self.exponent >= other.exponent {
            true => (self, other),
            false => (other, self),
        };
        if small.mantissa == 0 {
            return great;
        }
        // Two bits of room above, sixty-two below.
        const ROOM: u32 = 62;
        let shift = (great.exponent - small.exponent) as u32;
        let small = u128::from(small.mantissa) << ROOM;
        let (moved, lost) = match shift {
            0..128 => (small >> shift, small & ((1 << shift) - 1) != 0),
            _ => (0, true),
        };
        let sum = (u128::from(great.mantissa) << ROOM) + moved;
        Self::round(sum, great.exponent - ROOM as i32, lost)
    }

    fn square_root(self) -> Self {
        if self.mantissa == 0 {
            return self;
        }
        // An even exponent and 128 bits, or 127, give a root of 64.
        let shift = if (self.exponent - 64) % 2 == 0 { 64 } else { 63 };
        let radicand = u128::from(self.mantissa) << shift;
        let root = u128::from(integer_root(radicand));
        let root = root + u128::from(radicand - root * root > root);
        Self::round(root, (self.exponent - shift) / 2, false)
    }

    fn to_f64(self) -> f64 {
        let rounded = round_to_even(u128::from(self.mantissa), 11, false);
        rounded as f64 * 2.0_f64.powi(self.exponent + 11)
    }

    /// Rounds to 64 bits; `lost` tells of bits below the last.
    fn round(mantissa: u128, exponent: i32, lost: bool) -> Self {
        let length = 128 - mantissa.leading_zeros() as i32;
        if length <= 64 {
            let up = 64 - length;
            return Self { mantissa: (mantissa as u64) << up, exponent: exponent - up };
        }
        let down = (length - 64) as u32;
        let rounded = round_to_even(mantissa, down, lost);
        match u64::try_from(rounded) {
            Ok(mantissa) => Self { mantissa, exponent: exponent + down as i32 },
            // Rounded up to the next power of two.
            Err(_) => Self { mantissa: 1 << 63, exponent: exponent + down as i32 + 1 },
        }
    }
}

/// The greatest number whose square is at most `radicand`: an estimate in 53 bits, a step
/// of Newton's to 64, and what rounding left.
fn integer_root(radicand: u128) -> u64 {
    let square = |root: u64| u128::from(root) * u128::from(root);
    let estimate = (radicand as f64).sqrt() as u64;
    // Much smaller than either number, so that wrapping around does no harm.
    let error = radicand.wrapping_sub(square(estimate)) as i128 as f64;
    let step = error / (2.0 * estimate as f64);
    let mut root = estimate.saturating_add_signed(step as i64);
    while square(root) > radicand {
        root -= 1;
    }
    while root < u64::MAX && square(root + 1) <= radicand {
        root += 1;
    }
    root
}

fn round_to_even(mantissa: u128, drop: u32, lost: bool) -> u128 {
    let (kept, rest, half) = (mantissa >> drop, mantissa & ((1 << drop) - 1), 1_u128 << (drop - 1));
    let up = rest > half || (rest == half && (lost || kept & 1 == 1));
    kept + u128::from(up)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Values of OpenBLAS's dnrm2, printed with all digits.
    #[test]
    fn norms_are_those_of_the_reference() {
        for (vector, expected) in RECORDED {
            assert_eq!(norm(vector), expected, "{vector:?}");
            assert_eq!(stepwise_norm(vector), expected, "{vector:?}");
        }
        assert_eq!(norm(&[]), 0.0);
        assert_eq!(norm(&[0.0, 0.0]), 0.0);
        assert_eq!(norm(&[-3.0, 4.0]), 5.0);
        assert_eq!(norm(&[1.0, 1e-30]), 1.0);
    }

    #[test]
    fn integer_roots_are_exact() {
        let mut number = 0x9E37_79B9_7F4A_7C15_u128;
        for _ in 0..2000 {
            number = number.wrapping_mul(0xDA94_2042_E4DD_58B5_94D0_49BB_1331_11EB).wrapping_add(1);
            assert_eq!(u128::from(integer_root(number | 1 << 126)), (number | 1 << 126).isqrt());
        }
        for root in [u64::MAX, 1 << 63, (1 << 63) + 1] {
            let square = u128::from(root) * u128::from(root);
            assert_eq!(integer_root(square), root);
            assert_eq!(integer_root(square - 1), root - 1);
        }
        assert_eq!(integer_root(u128::MAX), u64::MAX);
    }

    const RECORDED: [(&[f64], f64); 3] = [
        (&[0.00010159580514915101, 0.0004162956452362097], 0.0004285134442074559),
        (&[0.00021655210395326032, 0.007858939086953095, 0.07925861778668762], 0.07964758823619458),
        (
            &[
                -0.05042234055479289,
                -0.008128970050691093,
                0.03896473054569394,
                -0.07092597118491946,
                -0.009365539775574151,
            ],
            0.09615066058753297,
        ),
    ];
}
