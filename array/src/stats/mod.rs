//! Statistics and other functions of samples.

mod average;
mod calculus;
mod histogram;
mod median;
mod polynomial;
mod quantile;
mod signal;
#[cfg(test)]
mod tests;

pub use average::{average, corrcoef, cov};
pub use calculus::{Spacing, diff, ediff1d, gradient, interp, trapezoid};
pub use histogram::{Bins, bincount, histogram, histogram_bin_edges, histogram2d};
pub use median::{median, nanmedian};
pub use polynomial::{PolyFit, polyfit, polyval};
pub use quantile::{QuantileMethod, nanpercentile, nanquantile, percentile, quantile};
pub use signal::{Overlap, convolve, correlate};
