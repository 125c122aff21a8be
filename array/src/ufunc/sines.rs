//! Sine and cosine in single precision: computed in double precision and without branches, so
//! that the loop becomes vector code.

use std::f64::consts::FRAC_2_PI;

use super::loops::{each1, each1_plain};

/// Sines of a block.
pub(super) fn sin(a: &[f32], out: &mut [f32]) {
    turned(a, out, 0, f32::sin);
}

/// Cosines of a block, which are sines a quarter turn on.
pub(super) fn cos(a: &[f32], out: &mut [f32]) {
    turned(a, out, 1, f32::cos);
}

fn turned(a: &[f32], out: &mut [f32], quarters: u64, far: fn(f32) -> f32) {
    /// Up to here the quarter turns can be taken off exactly enough.
    const NEAR: f32 = 1e5;
    if a.iter().fold(true, |near, a| near & (a.abs() <= NEAR)) {
        each1(a, out, |a| sine(f64::from(a), quarters) as f32);
    } else {
        each1_plain(a, out, far);
    }
}

/// The sine of an angle and some quarter turns, to ten digits.
#[inline(always)]
fn sine(angle: f64, quarters: u64) -> f64 {
    /// Adding it leaves a whole number in the last bits.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    /// A quarter turn: its first 33 bits, and the rest.
    const QUARTER: f64 = 1.570_796_326_734_125_6;
    const QUARTER_REST: f64 = 6.077_100_506_506_192e-11;

    let shifted = angle * FRAC_2_PI + WHOLE;
    let turns = shifted - WHOLE;
    let x = (angle - turns * QUARTER) - turns * QUARTER_REST;
    let z = x * x;
    let sine = [1.0 / 362_880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0];
    let cosine = [-1.0 / 3_628_800.0, 1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5];
    let sine = x * (1.0 + z * sine.iter().fold(-1.0 / 39_916_800.0, |sum, c| sum * z + c));
    let cosine = 1.0 + z * cosine.iter().fold(1.0 / 479_001_600.0, |sum, c| sum * z + c);
    let quadrant = shifted.to_bits().wrapping_add(quarters);
    let value = if quadrant & 1 == 0 { sine } else { cosine };
    if quadrant & 2 == 0 { value } else { -value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quadrant_is_rounded_well() {
        let angles: Vec<f32> = (-4000..4000).map(|i| i as f32 * 0.137).chain([9e4, -9e4]).collect();
        let mut out = angles.clone();
        sin(&angles, &mut out);
        let near = |found: f32, exact: f64| (f64::from(found) - exact).abs() <= 6.1e-8;
        assert!(angles.iter().zip(&out).all(|(&a, &x)| near(x, f64::from(a).sin())));
        cos(&angles, &mut out);
        assert!(angles.iter().zip(&out).all(|(&a, &x)| near(x, f64::from(a).cos())));
    }

    #[test]
    fn small_and_far_angles_keep_their_meaning() {
        let angles = [-0.0, 1e-30, f32::NAN, f32::INFINITY, 1e20];
        let mut out = [0.0; 5];
        sin(&angles, &mut out);
        assert!(out[0].is_sign_negative() && out[2].is_nan() && out[3].is_nan());
        assert_eq!((out[1], out[4]), (1e-30, 1e20f32.sin()));
        sin(&angles[..2], &mut out[..2]);
        assert!(out[0] == 0.0 && out[0].is_sign_negative() && out[1] == 1e-30);
    }
}
