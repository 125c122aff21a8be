//! Elements as integers of the same order, NaN last: what sorting and selecting compare.

use half::f16;

use crate::dtype::Element;

/// An element type with its order.
pub(crate) trait Ordered: Element {
    /// An integer.
    type Key: Key;

    /// The element's place in the order. All NaN share the last; -0.0 comes before 0.0.
    fn key(self) -> Self::Key;
    /// The element at a place.
    fn from_key(key: Self::Key) -> Self;
    /// The place as a number that all types share, with both zeros at the same one.
    fn rank(self) -> u64;
}

/// What is sorted in place of elements.
pub(crate) trait Key: Copy + Ord + Default {
    /// An unsigned number of the same order.
    fn digits(self) -> u64;
}

/// A rank and the number of its element.
impl Key for (u64, u32) {
    #[inline(always)]
    fn digits(self) -> u64 {
        self.0
    }
}

macro_rules! integer_key {
    ($($key:ty, $unsigned:ty;)*) => {$(
        impl Key for $key {
            #[inline(always)]
            fn digits(self) -> u64 {
                // Negative numbers go below the others.
                u64::from((self ^ <$key>::MIN) as $unsigned)
            }
        }
    )*};
}
integer_key! {
    u8, u8;
    i16, u16;
    i32, u32;
    i64, u64;
}

macro_rules! integer_order {
    ($($type:ty)*) => {$(
        impl Ordered for $type {
            type Key = $type;

            #[inline(always)]
            fn key(self) -> Self::Key {
                self
            }
            #[inline(always)]
            fn from_key(key: Self::Key) -> Self {
                key
            }
            #[inline(always)]
            fn rank(self) -> u64 {
                self.digits()
            }
        }
    )*};
}
integer_order! { u8 i32 i64 }

impl Ordered for bool {
    type Key = u8;

    #[inline(always)]
    fn key(self) -> u8 {
        self.into()
    }
    #[inline(always)]
    fn from_key(key: u8) -> bool {
        key != 0
    }
    #[inline(always)]
    fn rank(self) -> u64 {
        self.into()
    }
}

macro_rules! float_order {
    ($($type:ty, $signed:ty, $unsigned:ty;)*) => {$(
        impl Ordered for $type {
            type Key = $signed;

            #[inline(always)]
            fn key(self) -> Self::Key {
                if self.is_nan() {
                    return <$signed>::MAX;
                }
                flipped(self.to_bits() as $signed)
            }
            #[inline(always)]
            fn from_key(key: Self::Key) -> Self {
                if key == <$signed>::MAX {
                    return Self::NAN;
                }
                Self::from_bits(flipped(key) as $unsigned)
            }
            #[inline(always)]
            fn rank(self) -> u64 {
                // The key of -0.0 is just below that of 0.0.
                let key = self.key();
                if key == -1 { 0 } else { key }.digits()
            }
        }

        impl Flip for $signed {
            #[inline(always)]
            fn flipped(self) -> Self {
                self ^ ((self >> (<$signed>::BITS - 1)) as $unsigned >> 1) as $signed
            }
        }
    )*};
}

/// Reverses the order of negative numbers that are kept as sign and magnitude.
trait Flip {
    fn flipped(self) -> Self;
}

#[inline(always)]
fn flipped<T: Flip>(bits: T) -> T {
    bits.flipped()
}

float_order! {
    f16, i16, u16;
    f32, i32, u32;
    f64, i64, u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_floats() {
        let rising = [f64::NEG_INFINITY, -2.0, -1e-300, -0.0, 0.0, 5e-324, 1.0, f64::INFINITY];
        assert!(rising.is_sorted_by_key(|value| value.key()));
        for value in rising {
            assert_eq!(f64::from_key(value.key()).to_bits(), value.to_bits());
        }
        assert!((-f64::NAN).key() > f64::INFINITY.key());
        assert_eq!((-0.0f64).rank(), 0.0f64.rank());
        assert!((-5e-324f64).rank() < (-0.0f64).rank());
        assert!((-1i32).rank() < 0i32.rank() && i64::MIN.rank() < (-1i64).rank());
    }
}
