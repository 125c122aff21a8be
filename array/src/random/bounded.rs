//! Uniform integers within bounds.

use super::bits::Bits;

/// How a random word becomes an integer within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Lemire's multiplication (2019): the `Generator`'s.
    Lemire,
    /// Words under a mask until one fits: the legacy functions'.
    Masked,
}

/// Uniform in `0..=range`.
pub fn bounded_u64(bits: &mut impl Bits, range: u64, method: Method) -> u64 {
    match u32::try_from(range) {
        Ok(range) => bounded_u32(bits, range, method).into(),
        Err(_) if range == u64::MAX => bits.next_u64(),
        Err(_) => match method {
            Method::Masked => until_fits(range, || bits.next_u64()),
            Method::Lemire => {
                let width = u128::from(range) + 1;
                loop {
                    let product = u128::from(bits.next_u64()) * width;
                    let rest = product as u64;
                    if rest > range || rest >= (u64::MAX - range) % (range + 1) {
                        return (product >> 64) as u64;
                    }
                }
            }
        },
    }
}

/// Uniform in `0..=range`.
pub fn bounded_u32(bits: &mut impl Bits, range: u32, method: Method) -> u32 {
    match (range, method) {
        (0, _) => 0,
        (u32::MAX, _) => bits.next_u32(),
        (_, Method::Masked) => until_fits(range.into(), || bits.next_u32().into()) as u32,
        (_, Method::Lemire) => {
            let width = u64::from(range) + 1;
            loop {
                let product = u64::from(bits.next_u32()) * width;
                let rest = product as u32;
                if rest > range || rest >= (u32::MAX - range) % (range + 1) {
                    return (product >> 32) as u32;
                }
            }
        }
    }
}

/// Small integers, several from each 32-bit word. What is left of a word is
/// dropped with this value, as numpy does at the end of a call.
#[derive(Default)]
pub struct Pieces {
    word: u32,
    left: u32,
}

impl Pieces {
    /// Uniform in `0..=range`.
    pub fn bounded_u8(&mut self, bits: &mut impl Bits, range: u8, method: Method) -> u8 {
        match (range, method) {
            (0, _) => 0,
            (u8::MAX, _) => self.next(bits, 8),
            (_, Method::Masked) => until_fits(range.into(), || self.next(bits, 8).into()) as u8,
            (_, Method::Lemire) => {
                let width = u16::from(range) + 1;
                loop {
                    let product = u16::from(self.next(bits, 8)) * width;
                    let rest = product as u8;
                    if rest > range || rest >= (u8::MAX - range) % (range + 1) {
                        return (product >> 8) as u8;
                    }
                }
            }
        }
    }

    /// A fair coin, when `range` is true; else false.
    pub fn bounded_bool(&mut self, bits: &mut impl Bits, range: bool) -> bool {
        range && self.next(bits, 1) & 1 == 1
    }

    /// The next piece of `width` bits, and above it what else the word holds.
    fn next(&mut self, bits: &mut impl Bits, width: u32) -> u8 {
        if self.left == 0 {
            self.word = bits.next_u32();
            self.left = 32 / width - 1;
        } else {
            self.word >>= width;
            self.left -= 1;
        }
        self.word as u8
    }
}

/// Words under the smallest mask that covers `range`, until one is within it.
fn until_fits(range: u64, mut word: impl FnMut() -> u64) -> u64 {
    let mask = u64::MAX >> range.leading_zeros();
    loop {
        let word = word() & mask;
        if word <= range {
            return word;
        }
    }
}
