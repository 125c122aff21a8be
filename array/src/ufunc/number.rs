//! Arithmetic on single elements with numpy's rules: integers wrap, an integer divided by zero
//! is zero, quotients are rounded down, NaN spreads.

use super::loops::{each1, each1_plain, each2, each2_plain};
use super::sines;
use crate::dtype::Element;

/// Integers and floats.
pub(crate) trait Number: Element {
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn floor_divide(self, other: Self) -> Self;
    fn remainder(self, other: Self) -> Self;
    fn fmod(self, other: Self) -> Self;
    fn power(self, other: Self) -> Self;
    fn absolute(self) -> Self;
    fn negative(self) -> Self;
    fn sign(self) -> Self;
    fn reciprocal(self) -> Self;
    fn is_negative(self) -> bool;

    #[inline(always)]
    fn square(self) -> Self {
        self.multiply(self)
    }

    /// Quotients of many, for types that have a quicker way than one after the other.
    fn floor_divide_block(a: &[Self], b: &[Self], out: &mut [Self]) {
        each2_plain(a, b, out, Self::floor_divide);
    }

    /// The same for one divisor.
    fn floor_divide_by(a: &[Self], divisor: Self, out: &mut [Self]) {
        each1_plain(a, out, |a| a.floor_divide(divisor));
    }

    /// What is left over by many divisors.
    fn remainder_block(a: &[Self], b: &[Self], out: &mut [Self]) {
        each2_plain(a, b, out, Self::remainder);
    }
}

/// Extremes, where a NaN wins (`minimum`) or loses (`fmin`).
#[inline(always)]
pub(crate) fn minimum<T: Element>(a: T, b: T) -> T {
    if a <= b || a.is_nan() { a } else { b }
}

#[inline(always)]
pub(crate) fn maximum<T: Element>(a: T, b: T) -> T {
    if a >= b || a.is_nan() { a } else { b }
}

#[inline(always)]
pub(crate) fn fmin<T: Element>(a: T, b: T) -> T {
    if a <= b || b.is_nan() { a } else { b }
}

#[inline(always)]
pub(crate) fn fmax<T: Element>(a: T, b: T) -> T {
    if a >= b || b.is_nan() { a } else { b }
}

macro_rules! integer {
    ($($type:ty { $($blocks:tt)* })*) => {$(
        #[allow(unused_comparisons)]
        impl Number for $type {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn floor_divide(self, other: Self) -> Self {
                if other == 0 {
                    return 0;
                }
                let quotient = self.wrapping_div(other);
                let uneven = quotient.wrapping_mul(other) != self;
                if uneven && (self < 0) != (other < 0) { quotient - 1 } else { quotient }
            }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                let rest = self.fmod(other);
                if rest != 0 && (rest < 0) != (other < 0) { rest + other } else { rest }
            }
            #[inline(always)]
            fn fmod(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }
            #[inline(always)]
            fn power(self, other: Self) -> Self {
                let (mut base, mut exponent, mut power) = (self, other, 1);
                while exponent > 0 {
                    if exponent & 1 == 1 {
                        power = Self::wrapping_mul(power, base);
                    }
                    base = base.wrapping_mul(base);
                    exponent >>= 1;
                }
                power
            }
            #[inline(always)]
            fn absolute(self) -> Self {
                if self < 0 { (0 as Self).wrapping_sub(self) } else { self }
            }
            #[inline(always)]
            fn negative(self) -> Self {
                (0 as Self).wrapping_sub(self)
            }
            #[inline(always)]
            fn sign(self) -> Self {
                if self > 0 { 1 } else if self < 0 { (0 as Self).wrapping_sub(1) } else { 0 }
            }
            #[inline(always)]
            fn reciprocal(self) -> Self {
                // 1/0 is infinite, which the cast turns into the smallest integer.
                Self::from_f64(1.0 / self as f64)
            }
            #[inline(always)]
            fn is_negative(self) -> bool {
                self < 0
            }
            $($blocks)*
        }
    )*};
}

integer! {
    u8 {
        fn floor_divide_block(a: &[u8], b: &[u8], out: &mut [u8]) {
            each2(a, b, out, byte_quotient);
        }

        fn floor_divide_by(a: &[u8], divisor: u8, out: &mut [u8]) {
            match divisor {
                0 => out.fill(0),
                1 => out.copy_from_slice(a),
                _ => {
                    // What its rounding adds is less than what a quotient lacks to the next.
                    let reciprocal = u16::MAX / u16::from(divisor) + 1;
                    let product = |a| u32::from(a) * u32::from(reciprocal);
                    each1(a, out, |a: u8| (product(a) >> 16) as u8);
                }
            }
        }

        fn remainder_block(a: &[u8], b: &[u8], out: &mut [u8]) {
            each2(a, b, out, |a, b| if b == 0 { 0 } else { a - byte_quotient(a, b) * b });
        }
    }
    i32 {
        fn floor_divide_block(a: &[i32], b: &[i32], out: &mut [i32]) {
            each2(a, b, out, int_quotient);
        }

        fn floor_divide_by(a: &[i32], divisor: i32, out: &mut [i32]) {
            each1(a, out, |a| int_quotient(a, divisor));
        }
    }
    i64 {}
}

/// A quotient of bytes. It is exact in `float32`, whose division is a vector instruction.
#[inline(always)]
fn byte_quotient(a: u8, b: u8) -> u8 {
    let quotient = (f32::from(a) / f32::from(b.max(1))).to_i32() as u8;
    if b == 0 { 0 } else { quotient }
}

/// The same of `int32` in `float64`, rounded down.
#[inline(always)]
fn int_quotient(a: i32, b: i32) -> i32 {
    let quotient = (f64::from(a) / f64::from(b)).floor().to_i32();
    if b == 0 { 0 } else { quotient }
}

/// `float32` and `float64`; `float16` is computed as `float32`.
pub(crate) trait Real: Number {
    const INFINITY: Self;

    fn divide(self, other: Self) -> Self;
    fn arctan2(self, other: Self) -> Self;
    fn hypot(self, other: Self) -> Self;
    fn copysign(self, other: Self) -> Self;
    fn heaviside(self, at_zero: Self) -> Self;
    fn logaddexp(self, other: Self) -> Self;
    fn nextafter(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    fn cbrt(self) -> Self;
    fn exp(self) -> Self;
    fn exp2(self) -> Self;
    fn expm1(self) -> Self;
    fn log(self) -> Self;
    fn log2(self) -> Self;
    fn log10(self) -> Self;
    fn log1p(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn arcsin(self) -> Self;
    fn arccos(self) -> Self;
    fn arctan(self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn arcsinh(self) -> Self;
    fn arccosh(self) -> Self;
    fn arctanh(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn rint(self) -> Self;
    fn deg2rad(self) -> Self;
    fn rad2deg(self) -> Self;

    /// Sines of many.
    fn sin_block(a: &[Self], out: &mut [Self]) {
        each1_plain(a, out, Self::sin);
    }

    /// Cosines of many.
    fn cos_block(a: &[Self], out: &mut [Self]) {
        each1_plain(a, out, Self::cos);
    }
}

/// Methods that have the same meaning under another name.
macro_rules! forward {
    ($($name:ident => $method:ident),*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            self.$method()
        }
    )*};
}

/// Functions of the C library, the same that numpy calls. Rust's own `asinh`, `acosh` and
/// `atanh` are formulas with other last digits.
macro_rules! libm {
    ($($name:ident => $function:ident),*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            // SAFETY: a pure function of a number.
            unsafe { c::$function(self) }
        }
    )*};
}

mod c {
    unsafe extern "C" {
        pub fn asinh(x: f64) -> f64;
        pub fn acosh(x: f64) -> f64;
        pub fn atanh(x: f64) -> f64;
        pub fn asinhf(x: f32) -> f32;
        pub fn acoshf(x: f32) -> f32;
        pub fn atanhf(x: f32) -> f32;
    }
}

macro_rules! real {
    ($($type:ident, $asinh:ident, $acosh:ident, $atanh:ident { $($blocks:tt)* })*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn floor_divide(self, other: Self) -> Self {
                if other == 0.0 {
                    return self / other;
                }
                let rest = self % other;
                let mut quotient = (self - rest) / other;
                if rest != 0.0 && (rest < 0.0) != (other < 0.0) {
                    quotient -= 1.0;
                }
                if quotient == 0.0 {
                    return (0.0 as $type).copysign(self / other);
                }
                let floor = quotient.floor();
                if quotient - floor > 0.5 { floor + 1.0 } else { floor }
            }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                let rest = self % other;
                if other == 0.0 {
                    rest
                } else if rest == 0.0 {
                    (0.0 as $type).copysign(other)
                } else if (rest < 0.0) != (other < 0.0) {
                    rest + other
                } else {
                    rest
                }
            }
            #[inline(always)]
            fn fmod(self, other: Self) -> Self {
                self % other
            }
            #[inline(always)]
            fn power(self, other: Self) -> Self {
                self.powf(other)
            }
            #[inline(always)]
            fn absolute(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn negative(self) -> Self {
                -self
            }
            #[inline(always)]
            fn sign(self) -> Self {
                if self > 0.0 {
                    1.0
                } else if self < 0.0 {
                    -1.0
                } else if self == 0.0 {
                    0.0
                } else {
                    self
                }
            }
            #[inline(always)]
            fn reciprocal(self) -> Self {
                1.0 / self
            }
            #[inline(always)]
            fn is_negative(self) -> bool {
                self.is_sign_negative()
            }
        }

        impl Real for $type {
            const INFINITY: Self = $type::INFINITY;

            #[inline(always)]
            fn divide(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn arctan2(self, other: Self) -> Self {
                self.atan2(other)
            }
            #[inline(always)]
            fn hypot(self, other: Self) -> Self {
                self.hypot(other)
            }
            #[inline(always)]
            fn copysign(self, other: Self) -> Self {
                self.copysign(other)
            }
            #[inline(always)]
            fn heaviside(self, at_zero: Self) -> Self {
                if self.is_nan() {
                    self
                } else if self == 0.0 {
                    at_zero
                } else if self < 0.0 {
                    0.0
                } else {
                    1.0
                }
            }
            #[inline(always)]
            fn logaddexp(self, other: Self) -> Self {
                if self == other {
                    // Also for two equal infinities, whose difference would be NaN.
                    return self + std::$type::consts::LN_2;
                }
                let gap = self - other;
                if gap > 0.0 {
                    self + (-gap).exp().ln_1p()
                } else if gap <= 0.0 {
                    other + gap.exp().ln_1p()
                } else {
                    gap
                }
            }
            #[inline(always)]
            fn nextafter(self, other: Self) -> Self {
                if self.is_nan() || other.is_nan() {
                    self + other
                } else if self == other {
                    other
                } else if other > self {
                    self.next_up()
                } else {
                    self.next_down()
                }
            }
            forward! {
                sqrt => sqrt, cbrt => cbrt, exp => exp, exp2 => exp2, expm1 => exp_m1,
                log => ln, log2 => log2, log10 => log10, log1p => ln_1p,
                sin => sin, cos => cos, tan => tan,
                arcsin => asin, arccos => acos, arctan => atan,
                sinh => sinh, cosh => cosh, tanh => tanh,
                floor => floor, ceil => ceil, trunc => trunc, rint => round_ties_even
            }
            libm! { arcsinh => $asinh, arccosh => $acosh, arctanh => $atanh }
            #[inline(always)]
            fn deg2rad(self) -> Self {
                self * (std::$type::consts::PI / 180.0)
            }
            #[inline(always)]
            fn rad2deg(self) -> Self {
                self * (180.0 / std::$type::consts::PI)
            }
            $($blocks)*
        }
    )*};
}

real! {
    f32, asinhf, acoshf, atanhf {
        fn sin_block(a: &[f32], out: &mut [f32]) {
            sines::sin(a, out);
        }

        fn cos_block(a: &[f32], out: &mut [f32]) {
            sines::cos(a, out);
        }
    }
    f64, asinh, acosh, atanh {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_rounded_down() {
        assert_eq!([7i64, -7, 7, -7].map(|a| a.floor_divide(2)), [3, -4, 3, -4]);
        assert_eq!([7i32, -7].map(|a| a.remainder(-3)), [-2, -1]);
        assert_eq!(i32::MIN.floor_divide(-1), i32::MIN);
        assert_eq!((5u8.floor_divide(0), 5u8.remainder(0)), (0, 0));
        assert_eq!((-7.5f64).floor_divide(2.0), -4.0);
        assert_eq!((-7.5f64).remainder(2.0), 0.5);
        assert_eq!(1.0f64.floor_divide(0.1), 9.0);
        assert_eq!(1.0f64.floor_divide(f64::INFINITY), 0.0);
        assert_eq!((-1.0f64).remainder(f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn blocks_are_divided_as_single_numbers_are() {
        fn check<T: Number>(a: &[T], b: &[T]) {
            let mut out = a.to_vec();
            T::floor_divide_block(a, b, &mut out);
            for ((&a, &b), out) in a.iter().zip(b).zip(&out) {
                assert_eq!(*out, a.floor_divide(b), "{a:?} // {b:?}");
            }
            T::floor_divide_by(a, b[0], &mut out);
            for (&a, out) in a.iter().zip(&out) {
                assert_eq!(*out, a.floor_divide(b[0]), "{a:?} // {:?}", b[0]);
            }
            T::remainder_block(a, b, &mut out);
            for ((&a, &b), out) in a.iter().zip(b).zip(&out) {
                assert_eq!(*out, a.remainder(b), "{a:?} % {b:?}");
            }
        }
        let bytes: Vec<u8> = (0..=255).collect();
        for divisor in 0..=255 {
            check(&bytes, &[divisor; 256]);
            check(&[[divisor; 256], [255 - divisor; 256]].concat(), &bytes.repeat(2));
        }
        let numbers = [0, 1, -1, 2, -3, 7, 1 << 30, i32::MAX, i32::MAX - 1, i32::MIN, i32::MIN + 1];
        for divisor in numbers {
            check(&numbers, &[divisor; 11]);
        }
    }

    #[test]
    fn nan_wins_or_loses() {
        let nan = f64::NAN;
        assert!(minimum(nan, 1.0).is_nan() && minimum(1.0, nan).is_nan());
        assert!(maximum(nan, 1.0).is_nan() && maximum(1.0, nan).is_nan());
        assert_eq!((fmin(nan, 1.0), fmin(1.0, nan), fmax(nan, 1.0)), (1.0, 1.0, 1.0));
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(3i32.power(30), 3i32.wrapping_pow(30));
        assert_eq!(200u8.add(100), 44);
        assert_eq!(1u8.negative(), 255);
    }
}
