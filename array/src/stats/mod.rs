//! Statistics and other functions of samples.

mod average;
mod calculus;
mod histogram;
mod median;
mod quantile;
mod signal;
#[cfg(test)]
mod tests;

pub use average::average;
pub use calculus::{diff, ediff1d, interp, trapezoid};
pub use histogram::{Bins, Range, bincount, histogram, histogram_bin_edges, histogram2d};
pub use median::{median, nanmedian};
pub use quantile::{QuantileMethod, Quantiles};
pub use signal::{Overlap, convolve, correlate};
