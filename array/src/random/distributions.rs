//! Draws from distributions, one at a time, bit for bit as numpy makes them.

use super::bits::Bits;
use super::tables::{EXPONENTIAL_F, EXPONENTIAL_K, EXPONENTIAL_W, NORMAL_F, NORMAL_K, NORMAL_W};

/// Where the tail of the normal begins.
const NORMAL_R: f64 = 3.654_152_885_361_009;
const NORMAL_R_INVERSE: f64 = 0.273_661_237_329_758_3;
const EXPONENTIAL_R: f64 = 7.697_117_470_131_05;

/// A draw from the standard normal (ziggurat).
pub fn standard_normal(bits: &mut impl Bits) -> f64 {
    loop {
        let word = bits.next_u64();
        let strip = (word & 0xff) as usize;
        let word = word >> 8;
        let offset = word >> 1 & 0x000f_ffff_ffff_ffff;
        let mut x = offset as f64 * f64::from_bits(NORMAL_W[strip]);
        if word & 1 == 1 {
            x = -x;
        }
        if offset < NORMAL_K[strip] {
            return x;
        }
        if strip == 0 {
            loop {
                let beyond = -NORMAL_R_INVERSE * (-bits.next_f64()).ln_1p();
                let height = -(-bits.next_f64()).ln_1p();
                if height + height > beyond * beyond {
                    let x = NORMAL_R + beyond;
                    return if offset >> 8 & 1 == 1 { -x } else { x };
                }
            }
        }
        let (above, here) = (f64::from_bits(NORMAL_F[strip - 1]), f64::from_bits(NORMAL_F[strip]));
        if (above - here) * bits.next_f64() + here < (-0.5 * x * x).exp() {
            return x;
        }
    }
}

/// A draw from the standard normal in single precision.
pub fn standard_normal_f32(bits: &mut impl Bits) -> f32 {
    const R: f32 = NORMAL_R as f32;
    const R_INVERSE: f32 = NORMAL_R_INVERSE as f32;
    let density = |strip: usize| f64::from_bits(NORMAL_F[strip]) as f32;
    loop {
        let word = bits.next_u32();
        let strip = (word & 0xff) as usize;
        let offset = word >> 9;
        let scale = (f64::from_bits(NORMAL_W[strip]) * f64::from(1u32 << 29)) as f32;
        let mut x = offset as f32 * scale;
        if word >> 8 & 1 == 1 {
            x = -x;
        }
        if u64::from(offset) < (NORMAL_K[strip] + (1 << 28)) >> 29 {
            return x;
        }
        if strip == 0 {
            loop {
                let beyond = -R_INVERSE * (-bits.next_f32()).ln_1p();
                let height = -(-bits.next_f32()).ln_1p();
                if height + height > beyond * beyond {
                    return if offset >> 8 & 1 == 1 { -(R + beyond) } else { R + beyond };
                }
            }
        }
        let (above, here) = (density(strip - 1), density(strip));
        let chord = (above - here) * bits.next_f32() + here;
        if f64::from(chord) < (-0.5 * f64::from(x) * f64::from(x)).exp() {
            return x;
        }
    }
}

/// A draw from the exponential of mean 1 (ziggurat).
pub fn standard_exponential(bits: &mut impl Bits) -> f64 {
    loop {
        let word = bits.next_u64() >> 3;
        let strip = (word & 0xff) as usize;
        let offset = word >> 8;
        let x = offset as f64 * f64::from_bits(EXPONENTIAL_W[strip]);
        if offset < EXPONENTIAL_K[strip] {
            return x;
        }
        if strip == 0 {
            return EXPONENTIAL_R - (-bits.next_f64()).ln_1p();
        }
        let above = f64::from_bits(EXPONENTIAL_F[strip - 1]);
        let here = f64::from_bits(EXPONENTIAL_F[strip]);
        if (above - here) * bits.next_f64() + here < (-x).exp() {
            return x;
        }
    }
}

/// The legacy normal: Marsaglia's polar method gives two draws at a time, of which
/// the second waits in `kept`.
pub fn legacy_normal(bits: &mut impl Bits, kept: &mut Option<f64>) -> f64 {
    if let Some(draw) = kept.take() {
        return draw;
    }
    loop {
        let x = 2.0 * bits.next_f64() - 1.0;
        let y = 2.0 * bits.next_f64() - 1.0;
        let square = x * x + y * y;
        if square < 1.0 && square != 0.0 {
            let scale = (-2.0 * square.ln() / square).sqrt();
            *kept = Some(scale * x);
            return scale * y;
        }
    }
}

/// The legacy exponential of mean 1, by inversion.
pub fn legacy_exponential(bits: &mut impl Bits) -> f64 {
    -(-bits.next_f64()).ln_1p()
}
