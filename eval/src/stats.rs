//! The statistics of success rates and of paired differences.

/// A number with the interval it lies in at 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Resamples of a bootstrap.
const RESAMPLES: usize = 10_000;

/// Share of successes with Wilson's score interval; `None` without trials.
///
/// Source: E. B. Wilson, "Probable inference, the law of succession, and
/// statistical inference", JASA 22 (1927).
pub fn wilson(successes: u64, trials: u64) -> Option<Estimate> {
    if trials == 0 {
        return None;
    }
    let n = trials as f64;
    let p = successes as f64 / n;
    let spread = Z * Z / n;
    let centre = p + spread / 2.0;
    let half = Z * (p * (1.0 - p) / n + spread / (4.0 * n)).sqrt();
    let scale = 1.0 + spread;
    Some(Estimate {
        value: p,
        low: if successes == 0 { 0.0 } else { (centre - half) / scale },
        high: if successes == trials { 1.0 } else { (centre + half) / scale },
    })
}

/// McNemar's exact test: the probability of a split at least this uneven when
/// both sides are equally good. `left_only` and `right_only` count the pairs that
/// only one side solved.
pub fn mcnemar(left_only: u64, right_only: u64) -> f64 {
    let n = left_only + right_only;
    let least = left_only.min(right_only);
    // Terms of the binomial distribution by their logarithms: n may be large.
    let mut log_choose = 0.0;
    let mut tail = 0.0;
    for k in 0..=least {
        if k > 0 {
            log_choose += ((n - k + 1) as f64).ln() - (k as f64).ln();
        }
        tail += (log_choose - n as f64 * std::f64::consts::LN_2).exp();
    }
    (2.0 * tail).min(1.0)
}

/// Mean with the percentile interval of its bootstrap; `None` for no values.
///
/// The same values and seed give the same interval.
pub fn bootstrap_mean(values: &[f64], seed: u64) -> Option<Estimate> {
    let mean = mean(values)?;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let sum: f64 = (0..values.len()).map(|_| values[random.usize(..values.len())]).sum();
            sum / values.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((means.len() - 1) as f64 * share).round() as usize];
    Some(Estimate { value: mean, low: at(0.025), high: at(0.975) })
}

/// Mean; `None` for no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Median, the mean of the middle two of an even number; `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn wilson_agrees_with_published_values() {
        // Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        for ((successes, trials), (low, high)) in [
            ((81, 263), (0.2553, 0.3662)),
            ((15, 148), (0.0624, 0.1605)),
            ((0, 20), (0.0, 0.1611)),
            ((1, 29), (0.0061, 0.1718)),
        ] {
            let interval = wilson(successes, trials).unwrap();
            assert!((interval.low - low).abs() < 5e-5, "{interval:?}");
            assert!((interval.high - high).abs() < 5e-5, "{interval:?}");
        }
        assert_eq!(wilson(0, 0), None);
        assert!(close(wilson(7, 7).unwrap().high, 1.0));
    }

    #[test]
    fn mcnemar_is_the_two_sided_binomial_test() {
        assert!(close(mcnemar(0, 0), 1.0));
        assert!(close(mcnemar(0, 5), 0.0625));
        assert!(close(mcnemar(5, 0), 0.0625));
        assert!(close(mcnemar(2, 8), 0.109_375));
        assert!(close(mcnemar(4, 4), 1.0));
        let far = mcnemar(0, 5000);
        assert!((0.0..1e-300).contains(&far));
    }

    #[test]
    fn a_bootstrap_repeats_and_holds_the_mean() {
        let values: Vec<f64> = (0..50).map(|i| f64::from(i % 7)).collect();
        let one = bootstrap_mean(&values, 3).unwrap();
        assert_eq!(Some(one), bootstrap_mean(&values, 3));
        assert!(one.low < one.value && one.value < one.high);
        assert_eq!(bootstrap_mean(&[], 3), None);
        let same = bootstrap_mean(&[2.5; 9], 1).unwrap();
        assert_eq!((same.low, same.high), (2.5, 2.5));
    }

    #[test]
    fn a_median_of_an_even_number_lies_between() {
        assert_eq!(median(&[3.0, 1.0]), Some(2.0));
        assert_eq!(median(&[3.0, 1.0, 9.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }
}
