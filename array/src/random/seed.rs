//! How a seed becomes the state of a generator.

use std::hash::{BuildHasher as _, Hasher as _};

const POOL: usize = 4;
const INIT_A: u32 = 0x43b0_d7e5;
const MULT_A: u32 = 0x931e_8875;
const INIT_B: u32 = 0x8b51_f9dd;
const MULT_B: u32 = 0x58f3_8ded;
const MIX_L: u32 = 0xca01_f9dd;
const MIX_R: u32 = 0x4973_f715;

/// numpy's `SeedSequence`: entropy of any length, mixed into a pool of 128 bits
/// (O'Neill's `seed_seq_fe`).
#[derive(Clone, Debug)]
pub struct SeedSequence {
    pool: [u32; POOL],
}

impl SeedSequence {
    /// From entropy as 32-bit words, the lowest first. An integer is its words
    /// without leading zeros, 0 one zero word; a list of integers the words of each.
    pub fn new(entropy: &[u32]) -> Self {
        let mut hash = Hash { constant: INIT_A, multiplier: MULT_A };
        let mut pool = [0; POOL];
        for (i, word) in pool.iter_mut().enumerate() {
            *word = hash.mixed(entropy.get(i).copied().unwrap_or(0));
        }
        for from in 0..POOL {
            for to in 0..POOL {
                if from != to {
                    pool[to] = mix(pool[to], hash.mixed(pool[from]));
                }
            }
        }
        for &word in entropy.iter().skip(POOL) {
            for to in &mut pool {
                *to = mix(*to, hash.mixed(word));
            }
        }
        SeedSequence { pool }
    }

    /// From one integer.
    pub fn from_u64(seed: u64) -> Self {
        Self::new(&words_of(seed.into()))
    }

    /// From the system's entropy, different at every call.
    pub fn fresh() -> Self {
        let state = std::collections::hash_map::RandomState::new();
        let words: Vec<u32> = (0..2)
            .flat_map(|i| {
                let mut hasher = state.build_hasher();
                hasher.write_u64(i);
                let word = hasher.finish();
                [word as u32, (word >> 32) as u32]
            })
            .collect();
        Self::new(&words)
    }

    /// `count` words of 32 bits for a generator's state.
    pub fn words(&self, count: usize) -> Vec<u32> {
        let mut hash = Hash { constant: INIT_B, multiplier: MULT_B };
        self.pool.iter().cycle().take(count).map(|&word| hash.mixed(word)).collect()
    }

    /// `count` words of 64 bits.
    pub fn words64(&self, count: usize) -> Vec<u64> {
        self.words(2 * count)
            .chunks_exact(2)
            .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32)
            .collect()
    }
}

/// The words of an integer as entropy, the lowest first.
pub fn words_of(mut seed: u128) -> Vec<u32> {
    let mut words = vec![seed as u32];
    seed >>= 32;
    while seed != 0 {
        words.push(seed as u32);
        seed >>= 32;
    }
    words
}

/// A multiplicative hash whose constant moves on with every word.
struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    fn mixed(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let word = word.wrapping_mul(self.constant);
        word ^ word >> 16
    }
}

fn mix(x: u32, y: u32) -> u32 {
    let word = MIX_L.wrapping_mul(x).wrapping_sub(MIX_R.wrapping_mul(y));
    word ^ word >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numpys() {
        // np.random.SeedSequence(seed).generate_state(4)
        assert_eq!(
            SeedSequence::from_u64(0).words(4),
            [2968811710, 3677149159, 745650761, 2884920346]
        );
        let long: Vec<u32> = [1u128, 2, 3, 4, 5, 1 << 40].into_iter().flat_map(words_of).collect();
        assert_eq!(SeedSequence::new(&long).words(3), [3475487598, 4037002046, 3239956225]);
    }
}
