//! `np.random.default_rng`'s generator.

use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Result, bail};

use super::bits::Bits as _;
use super::bounded::{Method, bounded_u64};
use super::distributions::{standard_exponential, standard_normal, standard_normal_f32};
use super::draw::{Bounds, Random, filled};
use super::pcg64::Pcg64;
use super::seed::SeedSequence;

/// numpy's `Generator` over `PCG64`.
#[derive(Clone, Debug)]
pub struct Generator {
    bits: Pcg64,
}

impl Generator {
    pub fn new(seed: &SeedSequence) -> Self {
        Generator { bits: Pcg64::new(seed) }
    }

    /// Uniform in [0, 1), `float64` or `float32`.
    ///
    /// # Errors
    /// [`crate::Error::Type`] for another type.
    pub fn random_of(&mut self, shape: &[usize], dtype: DType) -> Result<Array> {
        match dtype {
            DType::F64 => self.random(shape),
            DType::F32 => filled(shape, |_| self.bits.next_f32()),
            _ => bail!(Type, "Unsupported dtype dtype('{dtype}') for random"),
        }
    }

    /// From the standard normal, `float64` or `float32`.
    ///
    /// # Errors
    /// [`crate::Error::Type`] for another type.
    pub fn standard_normal_of(&mut self, shape: &[usize], dtype: DType) -> Result<Array> {
        match dtype {
            DType::F64 => self.standard_normal(shape),
            DType::F32 => filled(shape, |_| standard_normal_f32(&mut self.bits)),
            _ => bail!(Type, "Unsupported dtype dtype('{dtype}') for standard_normal"),
        }
    }
}

impl Random for Generator {
    const LEGACY: bool = false;

    fn draw_uniform(&mut self) -> f64 {
        self.bits.next_f64()
    }

    fn draw_normal(&mut self) -> f64 {
        standard_normal(&mut self.bits)
    }

    fn draw_exponential(&mut self) -> f64 {
        standard_exponential(&mut self.bits)
    }

    fn draw_up_to(&mut self, max: u64, method: Method) -> u64 {
        bounded_u64(&mut self.bits, max, method)
    }

    fn draw_integers(&mut self, bounds: &Bounds, shape: &[usize], dtype: DType) -> Result<Array> {
        bounds.draw(&mut self.bits, Method::Lemire, shape, dtype)
    }
}
