//! Sources of random bits.

/// A stream of random words, and the floats that numpy makes of them.
pub trait Bits {
    fn next_u32(&mut self) -> u32;
    fn next_u64(&mut self) -> u64;
    /// Uniform in [0, 1) with 53 bits.
    fn next_f64(&mut self) -> f64;

    /// Uniform in [0, 1) with 24 bits.
    fn next_f32(&mut self) -> f32 {
        (self.next_u32() >> 8) as f32 * (1.0 / 16_777_216.0)
    }
}
