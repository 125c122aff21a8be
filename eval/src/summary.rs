//! What many episodes amount to: success with its interval, means, causes.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::stats::{Estimate, mean, median, wilson};
use crate::trial::{Numbers, Outcome, Trial};

/// Perturbations of LIBERO-PRO, as the ends of its suites' names call them.
const DIMENSIONS: [&str; 5] = ["swap", "object", "lan", "task", "env"];

/// A group of episodes of one system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub system: String,
    /// A suite, a dimension, or `all`.
    pub group: String,
    /// Episodes that count: those solved and those failed.
    pub episodes: u64,
    pub solved: u64,
    /// Share solved with Wilson's 95 % interval.
    pub success: Option<Estimate>,
    /// Episodes that say nothing about the agent.
    pub infrastructure: u64,
    pub unknown: u64,
    /// Means over the episodes that count and have the number.
    pub means: BTreeMap<&'static str, f64>,
    /// Median seconds of an episode.
    pub median_seconds: Option<f64>,
    /// Dollars in all; `None` when any of them is unknown.
    pub dollars: Option<f64>,
    /// Why the failed ones ended, most frequent first.
    pub causes: Vec<(String, u64)>,
}

/// How [`summarize`] groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    Suite,
    /// `swap`, `object`, … of LIBERO-PRO, `base` for the rest.
    Dimension,
    All,
}

/// One summary a system and group, in the order of their names.
pub fn summarize(trials: &[Trial], by: Grouping) -> Vec<Summary> {
    let mut groups: BTreeMap<(&str, String), Vec<&Trial>> = BTreeMap::new();
    for trial in trials {
        let group = match by {
            Grouping::Suite => trial.key.suite.clone(),
            Grouping::Dimension => dimension(&trial.key.suite).to_owned(),
            Grouping::All => "all".to_owned(),
        };
        groups.entry((&trial.system, group)).or_default().push(trial);
    }
    groups.into_iter().map(|((system, group), trials)| sum_up(system, group, &trials)).collect()
}

/// The perturbation a suite of LIBERO-PRO is about; `base` for any other suite.
pub fn dimension(suite: &str) -> &str {
    // `libero_object` itself is a base suite.
    let Some((base, end)) = suite.rsplit_once('_') else { return "base" };
    if base.contains('_') && DIMENSIONS.contains(&end) { end } else { "base" }
}

fn sum_up(system: &str, group: String, trials: &[&Trial]) -> Summary {
    let count = |outcome| trials.iter().filter(|t| t.outcome == outcome).count() as u64;
    let counted: Vec<&Trial> = trials.iter().copied().filter(|trial| trial.counts()).collect();
    let solved = count(Outcome::Solved);
    let numbers: Vec<_> = counted.iter().map(|trial| trial.numbers.all()).collect();
    let column = |i: usize| numbers.iter().filter_map(|row| row[i]).collect::<Vec<f64>>();
    let means = Numbers::NAMES
        .into_iter()
        .enumerate()
        .filter_map(|(i, name)| Some((name, mean(&column(i))?)))
        .collect();
    Summary {
        system: system.to_owned(),
        group,
        episodes: counted.len() as u64,
        solved,
        success: wilson(solved, counted.len() as u64),
        infrastructure: count(Outcome::Infrastructure),
        unknown: count(Outcome::Unknown),
        means,
        median_seconds: median(
            &counted.iter().filter_map(|t| t.numbers.seconds).collect::<Vec<_>>(),
        ),
        dollars: trials.iter().map(|trial| trial.numbers.dollars).sum(),
        causes: causes(trials.iter().copied().filter(|t| t.outcome == Outcome::Failed)),
    }
}

fn causes<'a>(failed: impl Iterator<Item = &'a Trial>) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for trial in failed {
        *counts.entry(&trial.cause).or_default() += 1;
    }
    let mut causes: Vec<_> = counts.into_iter().map(|(c, n)| (c.to_owned(), n)).collect();
    causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    causes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::tests::trial;

    #[test]
    fn infrastructure_is_kept_apart() {
        let mut trials = vec![trial("a", 0, Outcome::Solved), trial("a", 1, Outcome::Failed)];
        trials.push(trial("a", 2, Outcome::Infrastructure));
        let [summary] = &summarize(&trials, Grouping::All)[..] else { panic!() };
        assert_eq!((summary.solved, summary.episodes, summary.infrastructure), (1, 2, 1));
        assert_eq!(summary.success.unwrap().value, 0.5);
        assert_eq!(summary.causes, [("budget: time".to_owned(), 1)]);
    }

    #[test]
    fn an_unknown_price_makes_an_unknown_sum() {
        let mut one = trial("a", 0, Outcome::Solved);
        one.numbers.dollars = Some(0.25);
        let mut two = one.clone();
        two.numbers.dollars = None;
        assert_eq!(summarize(&[one.clone()], Grouping::All)[0].dollars, Some(0.25));
        assert_eq!(summarize(&[one, two], Grouping::All)[0].dollars, None);
    }

    #[test]
    fn dimensions_are_the_ends_of_perturbed_suites() {
        for (suite, want) in [
            ("libero_object", "base"),
            ("libero_object_object", "object"),
            ("libero_10_swap", "swap"),
            ("libero_spatial", "base"),
            ("libero_goal_lan", "lan"),
        ] {
            assert_eq!(dimension(suite), want, "{suite}");
        }
    }
}
