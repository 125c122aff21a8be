//! The generator behind the legacy functions `np.random.seed`, `rand` and the like.

use super::bits::Bits;
use super::seed::SeedSequence;

const N: usize = 624;
const M: usize = 397;

/// The Mersenne Twister (Matsumoto and Nishimura 1998).
#[derive(Clone, Debug)]
pub struct Mt19937 {
    key: [u32; N],
    position: usize,
}

impl Mt19937 {
    /// From one integer, as `np.random.seed(n)`.
    pub fn new(seed: u32) -> Self {
        let mut key = [0; N];
        let mut word = seed;
        for (i, slot) in (1..).zip(&mut key) {
            *slot = word;
            word = 1_812_433_253u32.wrapping_mul(word ^ word >> 30).wrapping_add(i);
        }
        Mt19937 { key, position: N }
    }

    /// From several integers, as `np.random.seed([a, b, ...])`; there is at least one.
    pub fn from_words(words: &[u32]) -> Self {
        let mut twister = Self::new(19_650_218);
        let mut i = 1;
        for (j, &word) in words.iter().enumerate().cycle().take(N.max(words.len())) {
            i = twister.scramble(i, 1_664_525, word.wrapping_add(j as u32));
        }
        for _ in 1..N {
            i = twister.scramble(i, 1_566_083_941, (i as u32).wrapping_neg());
        }
        twister.key[0] = 0x8000_0000;
        twister
    }

    /// One step of the seeding from words; gives the next index.
    fn scramble(&mut self, i: usize, multiplier: u32, add: u32) -> usize {
        let key = &mut self.key;
        let before = key[i - 1];
        key[i] = (key[i] ^ (before ^ before >> 30).wrapping_mul(multiplier)).wrapping_add(add);
        if i + 1 < N {
            return i + 1;
        }
        key[0] = key[N - 1];
        1
    }

    /// Seeded from the system's entropy.
    pub fn fresh() -> Self {
        Self::from_words(&SeedSequence::fresh().words(N))
    }

    fn refill(&mut self) {
        for i in 0..N {
            let word = self.key[i] & 0x8000_0000 | self.key[(i + 1) % N] & 0x7fff_ffff;
            let odd = if word & 1 == 1 { 0x9908_b0df } else { 0 };
            self.key[i] = self.key[(i + M) % N] ^ word >> 1 ^ odd;
        }
        self.position = 0;
    }
}

impl Bits for Mt19937 {
    fn next_u32(&mut self) -> u32 {
        if self.position == N {
            self.refill();
        }
        let mut word = self.key[self.position];
        self.position += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c_5680;
        word ^= word << 15 & 0xefc6_0000;
        word ^ word >> 18
    }

    fn next_u64(&mut self) -> u64 {
        let high = u64::from(self.next_u32());
        high << 32 | u64::from(self.next_u32())
    }

    fn next_f64(&mut self) -> f64 {
        let high = f64::from(self.next_u32() >> 5);
        let low = f64::from(self.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }
}
