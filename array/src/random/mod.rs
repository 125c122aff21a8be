//! Random numbers, the same streams as numpy's for the same seed.

mod bits;
mod bounded;
mod distributions;
mod mt19937;
mod pcg64;
mod seed;
mod tables;
