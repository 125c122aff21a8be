//! The generator behind `default_rng`.

use super::bits::Bits;
use super::seed::SeedSequence;

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// PCG64: a 128-bit congruential generator with the XSL-RR output (O'Neill 2014).
#[derive(Clone, Debug)]
pub struct Pcg64 {
    state: u128,
    increment: u128,
    /// The upper half of a word of which `next_u32` gave the lower.
    half: Option<u32>,
}

impl Pcg64 {
    pub fn new(seed: &SeedSequence) -> Self {
        let words = seed.words64(4);
        let pair = |i: usize| u128::from(words[i]) << 64 | u128::from(words[i + 1]);
        let mut pcg = Pcg64 { state: 0, increment: pair(2) << 1 | 1, half: None };
        pcg.step();
        pcg.state = pcg.state.wrapping_add(pair(0));
        pcg.step();
        pcg
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }
}

impl Bits for Pcg64 {
    fn next_u64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    fn next_u32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let word = self.next_u64();
        self.half = Some((word >> 32) as u32);
        word as u32
    }

    fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }
}
