//! The generator behind `np.random.seed`, `rand`, `randint` and the like.

use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Result, bail};

use super::bits::Bits as _;
use super::bounded::{Method, bounded_u64};
use super::distributions::{legacy_exponential, legacy_normal};
use super::draw::{Bounds, Random};
use super::mt19937::Mt19937;

/// numpy's `RandomState` over `MT19937`.
#[derive(Clone, Debug)]
pub struct RandomState {
    bits: Mt19937,
    /// The second of the last pair of normal draws.
    normal: Option<f64>,
}

impl RandomState {
    /// Seeded from the system's entropy.
    pub fn fresh() -> Self {
        RandomState { bits: Mt19937::fresh(), normal: None }
    }

    /// `RandomState(seed)`, `np.random.seed(seed)`.
    ///
    /// # Errors
    /// [`crate::Error::Value`] outside of 32 bits.
    pub fn new(seed: i128) -> Result<Self> {
        Ok(RandomState { bits: Mt19937::new(word(seed)?), normal: None })
    }

    /// Seeded with several integers.
    ///
    /// # Errors
    /// [`crate::Error::Value`] when there are none, or one outside of 32 bits.
    pub fn from_integers(seed: &[i128]) -> Result<Self> {
        if seed.is_empty() {
            bail!(Value, "Seed must be non-empty");
        }
        let words = seed.iter().map(|&seed| word(seed)).collect::<Result<Vec<u32>>>()?;
        Ok(RandomState { bits: Mt19937::from_words(&words), normal: None })
    }
}

fn word(seed: i128) -> Result<u32> {
    match u32::try_from(seed) {
        Ok(seed) => Ok(seed),
        Err(_) => bail!(Value, "Seed must be between 0 and 2**32 - 1"),
    }
}

impl Random for RandomState {
    const LEGACY: bool = true;

    fn draw_uniform(&mut self) -> f64 {
        self.bits.next_f64()
    }

    fn draw_normal(&mut self) -> f64 {
        legacy_normal(&mut self.bits, &mut self.normal)
    }

    fn draw_exponential(&mut self) -> f64 {
        legacy_exponential(&mut self.bits)
    }

    fn draw_up_to(&mut self, max: u64, _: Method) -> u64 {
        bounded_u64(&mut self.bits, max, Method::Masked)
    }

    fn draw_integers(&mut self, bounds: &Bounds, shape: &[usize], dtype: DType) -> Result<Array> {
        bounds.draw(&mut self.bits, Method::Masked, shape, dtype)
    }
}
