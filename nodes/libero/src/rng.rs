//! NumPy's legacy random stream (`numpy.random.seed` and friends), draw for draw.
//!
//! The reference places fixtures and objects from NumPy's global `RandomState`,
//! so a scene can only be the same for the same seed when the stream is.
//! Algorithms: NumPy's `mt19937.c`, `legacy-distributions.c` and the masked
//! bounded integers of `distributions.c`.

use rand_mt::Mt;

/// `numpy.random.RandomState` seeded with one 32-bit integer.
#[derive(Debug, Clone)]
pub struct NumpyRandom {
    mt: Mt,
    spare_normal: Option<f64>,
}

impl NumpyRandom {
    /// `numpy.random.seed(seed)`.
    pub fn new(seed: u32) -> Self {
        Self { mt: Mt::new(seed), spare_normal: None }
    }

    /// `random_sample()`: a number in [0, 1) with 53 random bits.
    pub fn random(&mut self) -> f64 {
        let high = f64::from(self.mt.next_u32() >> 5);
        let low = f64::from(self.mt.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// `uniform(low, high)`. `high` may be below `low`, as the reference has it.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random()
    }

    /// `randn()`: the polar method, which keeps every second number for the next call.
    pub fn standard_normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        loop {
            let x1 = 2.0 * self.random() - 1.0;
            let x2 = 2.0 * self.random() - 1.0;
            let r2 = x1 * x1 + x2 * x2;
            if r2 < 1.0 && r2 != 0.0 {
                let scale = (-2.0 * r2.ln() / r2).sqrt();
                self.spare_normal = Some(scale * x1);
                return scale * x2;
            }
        }
    }

    /// `randint(n)`: an integer in [0, n). Draws nothing for `n == 1`; 0 for `n == 0`.
    pub fn below(&mut self, n: u32) -> u32 {
        let max = n.saturating_sub(1);
        if max == 0 {
            return 0;
        }
        let mask = u32::MAX >> max.leading_zeros();
        loop {
            let value = self.mt.next_u32() & mask;
            if value <= max {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NumpyRandom;

    // Printed by NumPy 2.4.6: seed(123); randn(3), uniform(-1, 2), randint(5) x 6, randint(1), random_sample().
    #[test]
    fn draws_the_numbers_that_numpy_draws() {
        let mut rng = NumpyRandom::new(123);
        let normals: Vec<f64> = (0..3).map(|_| rng.standard_normal()).collect();
        assert_eq!(normals, NUMPY_NORMALS);
        assert_eq!(rng.uniform(-1.0, 2.0), NUMPY_UNIFORM);
        let integers: Vec<u32> = (0..6).map(|_| rng.below(5)).collect();
        assert_eq!(integers, NUMPY_INTEGERS);
        assert_eq!(rng.below(1), 0);
        assert_eq!(rng.random(), NUMPY_RANDOM);
    }

    #[test]
    fn a_reversed_range_and_an_empty_one_still_draw() {
        let mut rng = NumpyRandom::new(7);
        assert_eq!(rng.uniform(0.5, -0.5), NUMPY_REVERSED);
        assert_eq!(rng.uniform(0.0, 0.0), 0.0);
        assert_eq!(rng.random(), NUMPY_AFTER);
    }

    const NUMPY_NORMALS: [f64; 3] = [-1.0856306033005612, 0.9973454465835858, 0.28297849805199204];
    const NUMPY_UNIFORM: f64 = 1.1584069093566893;
    const NUMPY_INTEGERS: [u32; 6] = [3, 1, 1, 0, 1, 1];
    const NUMPY_RANDOM: f64 = 0.40101755666120353;
    const NUMPY_REVERSED: f64 = 0.42369171062604283;
    const NUMPY_AFTER: f64 = 0.4384092314408935;
}
