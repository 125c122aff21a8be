//! Random numbers, the same streams as numpy's for the same seed.

mod bits;
mod bounded;
mod choice;
mod distributions;
mod draw;
mod generator;
mod legacy;
mod mt19937;
mod pcg64;
mod seed;
mod tables;
#[cfg(test)]
mod tests;

pub use bounded::Method;
pub use choice::Population;
pub use draw::{Bounds, Random};
pub use generator::Generator;
pub use legacy::RandomState;
pub use seed::{SeedSequence, words_of};
