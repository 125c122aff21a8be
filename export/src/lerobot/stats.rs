//! Statistics of a feature, by which a training normalises it.

use serde::{Deserialize, Serialize};

/// Names of the quantiles and what they are.
const QUANTILES: [(&str, f64); 5] =
    [("q01", 0.01), ("q10", 0.1), ("q50", 0.5), ("q90", 0.9), ("q99", 0.99)];

/// Of each of a feature's numbers, or of a picture's three colours between 0 and 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Stats {
    min: Vec<f64>,
    max: Vec<f64>,
    mean: Vec<f64>,
    std: Vec<f64>,
    quantiles: Vec<[f64; 5]>,
    /// Rows, or pictures.
    pub count: u64,
}

impl Stats {
    /// Of rows of `width` numbers, one after the other; there must be one.
    pub fn of(values: &[f64], width: usize) -> Self {
        let rows = values.len() / width;
        let mut stats = Stats { count: rows as u64, ..Stats::default() };
        for at in 0..width {
            let mut column: Vec<f64> = values.iter().skip(at).step_by(width).copied().collect();
            column.sort_by(f64::total_cmp);
            let mean = column.iter().sum::<f64>() / rows as f64;
            let variance = column.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            let rank = |rank: usize| column[rank];
            stats.push(rows as u64, mean, variance / rows as f64, rank);
        }
        stats
    }

    /// Of all episodes, each weighted by its count. Quantiles are the weighted mean of
    /// those of the episodes, as LeRobot aggregates them.
    pub fn merged(parts: &[&Stats]) -> Self {
        let count: u64 = parts.iter().map(|part| part.count).sum();
        let weighted = |value: &dyn Fn(&Stats) -> f64| {
            parts.iter().map(|part| value(part) * part.count as f64).sum::<f64>() / count as f64
        };
        let mut stats = Stats { count, ..Stats::default() };
        for at in 0..parts.first().map_or(0, |part| part.mean.len()) {
            let mean = weighted(&|part| part.mean[at]);
            let variance = weighted(&|part| part.std[at].powi(2) + (part.mean[at] - mean).powi(2));
            stats.min.push(parts.iter().map(|part| part.min[at]).fold(f64::INFINITY, f64::min));
            stats.max.push(parts.iter().map(|part| part.max[at]).fold(f64::NEG_INFINITY, f64::max));
            stats.mean.push(mean);
            stats.std.push(variance.sqrt());
            let quantile = |which: usize| weighted(&|part| part.quantiles[at][which]);
            stats.quantiles.push(std::array::from_fn(quantile));
        }
        stats
    }

    /// The numbers by LeRobot's names, without the count.
    pub fn named(&self) -> Vec<(&'static str, Vec<f64>)> {
        let quantiles = QUANTILES.iter().enumerate().map(|(which, (name, _))| {
            (*name, self.quantiles.iter().map(|all| all[which]).collect())
        });
        [("min", &self.min), ("max", &self.max), ("mean", &self.mean), ("std", &self.std)]
            .into_iter()
            .map(|(name, values)| (name, values.clone()))
            .chain(quantiles)
            .collect()
    }

    /// Adds one of the feature's numbers: `ranked` gives its `n` values in order.
    fn push(&mut self, n: u64, mean: f64, variance: f64, ranked: impl Fn(usize) -> f64) {
        let last = n as usize - 1;
        self.min.push(ranked(0));
        self.max.push(ranked(last));
        self.mean.push(mean);
        self.std.push(variance.sqrt());
        self.quantiles.push(QUANTILES.map(|(_, share)| {
            let place = share * last as f64;
            let (below, above) = (ranked(place.floor() as usize), ranked(place.ceil() as usize));
            below + (above - below) * place.fract()
        }));
    }
}

/// How often each value of each colour was seen.
pub(super) struct Histogram {
    counts: [[u64; 256]; 3],
    pictures: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: [[0; 256]; 3], pictures: 0 }
    }
}

impl Histogram {
    pub fn add(&mut self, rgb: &[u8]) {
        for pixel in rgb.as_chunks::<3>().0 {
            for (counts, &value) in self.counts.iter_mut().zip(pixel) {
                counts[usize::from(value)] += 1;
            }
        }
        self.pictures += 1;
    }

    pub fn stats(&self) -> Stats {
        let mut stats = Stats { count: self.pictures, ..Stats::default() };
        for counts in &self.counts {
            let pixels: u64 = counts.iter().sum();
            let mean_of = |number: &dyn Fn(f64) -> f64| {
                let each = counts.iter().enumerate();
                each.map(|(value, &times)| number(value as f64 / 255.0) * times as f64).sum::<f64>()
                    / pixels as f64
            };
            let mean = mean_of(&|value| value);
            let variance = mean_of(&|value| (value - mean).powi(2));
            let ranked = |rank: usize| {
                let mut seen = 0;
                let value = counts.iter().position(|&times| {
                    seen += times;
                    seen > rank as u64
                });
                value.unwrap_or(255) as f64 / 255.0
            };
            stats.push(pixels, mean, variance, ranked);
        }
        stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-12, "{found:?} {expected:?}");
        }
    }

    #[test]
    fn numbers_are_those_of_numpy() {
        // np.quantile, np.mean, np.std of [3, 1, 2, 10] and [0, 0, 5, 5].
        let stats = Stats::of(&[3.0, 0.0, 1.0, 0.0, 2.0, 5.0, 10.0, 5.0], 2);
        close(&stats.mean, &[4.0, 2.5]);
        close(&stats.std, &[12.5_f64.sqrt(), 2.5]);
        close(&stats.min, &[1.0, 0.0]);
        close(&stats.max, &[10.0, 5.0]);
        close(&stats.quantiles[0], &[1.03, 1.3, 2.5, 7.9, 9.79]);
        close(&stats.quantiles[1], &[0.0, 0.0, 2.5, 5.0, 5.0]);
    }

    #[test]
    fn parts_together_have_the_moments_of_the_whole() {
        let values: Vec<f64> = (0..30).map(|n| f64::from(n * n % 17)).collect();
        let whole = Stats::of(&values, 1);
        let merged = Stats::merged(&[&Stats::of(&values[..8], 1), &Stats::of(&values[8..], 1)]);
        close(&merged.mean, &whole.mean);
        close(&merged.std, &whole.std);
        close(&merged.min, &whole.min);
        close(&merged.max, &whole.max);
        assert_eq!(merged.count, 30);
    }

    #[test]
    fn a_histogram_knows_as_much_as_the_pixels() {
        let rgb: Vec<u8> = (0..3 * 200).map(|n: u32| (n * 7 % 251) as u8).collect();
        let mut histogram = Histogram::default();
        histogram.add(&rgb);
        let pixels: Vec<f64> = rgb.iter().map(|&value| f64::from(value) / 255.0).collect();
        let (found, expected) = (histogram.stats(), Stats::of(&pixels, 3));
        for ((_, a), (_, b)) in found.named().iter().zip(expected.named()) {
            close(a, &b);
        }
        assert_eq!(found.count, 1);
    }
}
