//! Bitwise operations on single elements.

use super::number::Number;
use crate::dtype::Element;

/// `bool` and integers.
pub(crate) trait Bits: Element {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn invert(self) -> Self;
}

macro_rules! bits {
    ($($type:ty)*) => {$(
        impl Bits for $type {
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn invert(self) -> Self {
                !self
            }
        }
    )*};
}

bits!(bool u8 i32 i64);

/// Integers, shifted by any number of places.
pub(crate) trait Shift: Number {
    fn left(self, places: Self) -> Self;
    fn right(self, places: Self) -> Self;
}

macro_rules! shift {
    ($($type:ty)*) => {$(
        #[allow(unused_comparisons)]
        impl Shift for $type {
            #[inline(always)]
            fn left(self, places: Self) -> Self {
                if places >= 0 && (places as u64) < u64::from(<$type>::BITS) {
                    self << places
                } else {
                    0
                }
            }
            #[inline(always)]
            fn right(self, places: Self) -> Self {
                if places >= 0 && (places as u64) < u64::from(<$type>::BITS) {
                    self >> places
                } else if self < 0 {
                    !0
                } else {
                    0
                }
            }
        }
    )*};
}

shift!(u8 i32 i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_go_as_far_as_one_likes() {
        assert_eq!((1i64.left(64), (-5i64).right(70), 5u8.right(1)), (0, -1, 2));
    }
}
