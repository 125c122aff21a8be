//! Two systems on the same scenes, pair by pair.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::stats::{Estimate, bootstrap_mean, mcnemar, wilson};
use crate::trial::{Key, Numbers, Trial};

/// Names that an error lists at most.
const LISTED: usize = 8;

/// How two systems did on the same scenes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub left: String,
    pub right: String,
    /// Scenes that count on both sides.
    pub pairs: u64,
    /// Scenes left out because one side's episode says nothing about the agent.
    pub left_out: u64,
    pub both: u64,
    pub left_only: u64,
    pub right_only: u64,
    pub neither: u64,
    pub left_success: Option<Estimate>,
    pub right_success: Option<Estimate>,
    /// McNemar's exact test of the success rates, two-sided.
    pub p: f64,
    /// Differences, right minus left, of the scenes that both solved.
    pub both_solved: Vec<Difference>,
    /// The same of all scenes that count.
    pub all: Vec<Difference>,
}

/// A number on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub name: &'static str,
    /// Pairs in which both sides have it.
    pub pairs: u64,
    pub left: f64,
    pub right: f64,
    /// Mean of right minus left, with its bootstrap interval.
    pub delta: Estimate,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unpaired {
    #[error("{side} holds no episodes")]
    Empty { side: String },

    #[error("{side} holds several episodes of {}; name one run for each", list(keys))]
    Twice { side: String, keys: Vec<Key> },

    #[error(
        "{left} and {right} are not about the same scenes: only the first has {}, only the second {}; \
         compare equal sets, or leave these out with --matched",
        list(only_left),
        list(only_right)
    )]
    Unmatched { left: String, right: String, only_left: Vec<Key>, only_right: Vec<Key> },
}

fn list(keys: &[Key]) -> String {
    let mut text: Vec<String> = keys.iter().take(LISTED).map(|key| format!("({key})")).collect();
    if keys.len() > LISTED {
        text.push(format!("and {} more", keys.len() - LISTED));
    }
    if text.is_empty() { "none".to_owned() } else { text.join(", ") }
}

/// Compares the episodes of two systems, named for the reader.
///
/// With `matched`, scenes that only one side has are left out.
///
/// # Errors
/// When a side is empty or has a scene twice, or the scenes differ.
pub fn compare(
    (left_name, left): (&str, &[Trial]),
    (right_name, right): (&str, &[Trial]),
    matched: bool,
) -> Result<Comparison, Unpaired> {
    let lefts = by_key(left_name, left)?;
    let rights = by_key(right_name, right)?;
    let missing = |these: &BTreeMap<&Key, &Trial>, those: &BTreeMap<&Key, &Trial>| {
        let only = these.keys().filter(|key| !those.contains_key(*key));
        only.map(|key| (*key).clone()).collect::<Vec<Key>>()
    };
    let (only_left, only_right) = (missing(&lefts, &rights), missing(&rights, &lefts));
    let pairs: Vec<(&Trial, &Trial)> =
        lefts.iter().filter_map(|(key, left)| Some((*left, *rights.get(key)?))).collect();
    if (!only_left.is_empty() || !only_right.is_empty()) && (!matched || pairs.is_empty()) {
        return Err(Unpaired::Unmatched {
            left: left_name.to_owned(),
            right: right_name.to_owned(),
            only_left,
            only_right,
        });
    }
    let all = pairs.len();
    let pairs: Vec<_> = pairs.into_iter().filter(|(l, r)| l.counts() && r.counts()).collect();
    let count =
        |l, r| pairs.iter().filter(|p| (p.0.solved(), p.1.solved()) == (l, r)).count() as u64;
    let (both, left_only, right_only) = (count(true, true), count(true, false), count(false, true));
    let counted = pairs.len() as u64;
    let solved: Vec<_> = pairs.iter().copied().filter(|(l, r)| l.solved() && r.solved()).collect();
    Ok(Comparison {
        left: left_name.to_owned(),
        right: right_name.to_owned(),
        pairs: counted,
        left_out: (all - pairs.len()) as u64,
        both,
        left_only,
        right_only,
        neither: count(false, false),
        left_success: wilson(both + left_only, counted),
        right_success: wilson(both + right_only, counted),
        p: mcnemar(left_only, right_only),
        both_solved: differences(&solved),
        all: differences(&pairs),
    })
}

fn by_key<'a>(side: &str, trials: &'a [Trial]) -> Result<BTreeMap<&'a Key, &'a Trial>, Unpaired> {
    let mut map = BTreeMap::new();
    let mut twice = Vec::new();
    for trial in trials {
        if map.insert(&trial.key, trial).is_some() {
            twice.push(trial.key.clone());
        }
    }
    twice.dedup();
    if map.is_empty() {
        Err(Unpaired::Empty { side: side.to_owned() })
    } else if twice.is_empty() {
        Ok(map)
    } else {
        Err(Unpaired::Twice { side: side.to_owned(), keys: twice })
    }
}

fn differences(pairs: &[(&Trial, &Trial)]) -> Vec<Difference> {
    let rows: Vec<_> = pairs.iter().map(|(l, r)| (l.numbers.all(), r.numbers.all())).collect();
    Numbers::NAMES
        .into_iter()
        .enumerate()
        .filter_map(|(i, name)| {
            let both: Vec<(f64, f64)> =
                rows.iter().filter_map(|(l, r)| Some((l[i]?, r[i]?))).collect();
            let deltas: Vec<f64> = both.iter().map(|(l, r)| r - l).collect();
            let n = both.len() as f64;
            Some(Difference {
                name,
                pairs: both.len() as u64,
                delta: bootstrap_mean(&deltas, i as u64)?,
                left: both.iter().map(|pair| pair.0).sum::<f64>() / n,
                right: both.iter().map(|pair| pair.1).sum::<f64>() / n,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Outcome::{Failed, Infrastructure, Solved};
    use crate::trial::tests::trial;

    #[test]
    fn pairs_are_counted_by_who_solved_them() {
        let side = |name, outcomes: &[_]| {
            let tasks = outcomes.iter().enumerate();
            tasks.map(|(i, o)| trial(name, u32::try_from(i).unwrap(), *o)).collect::<Vec<_>>()
        };
        let left = side("a", &[Solved, Solved, Failed, Failed, Infrastructure]);
        let mut right = side("b", &[Solved, Failed, Solved, Failed, Solved]);
        right[0].numbers.steps = Some(60.0);
        let found = compare(("a", &left), ("b", &right), false).unwrap();
        assert_eq!((found.pairs, found.left_out), (4, 1));
        assert_eq!((found.both, found.left_only, found.right_only, found.neither), (1, 1, 1, 1));
        assert_eq!(found.p, 1.0);
        let [steps] = &found.both_solved[..] else { panic!() };
        assert_eq!(
            (steps.name, steps.left, steps.right, steps.delta.value),
            ("steps", 100.0, 60.0, -40.0)
        );
        assert_eq!(found.all[0].delta.value, -10.0);
    }

    #[test]
    fn scenes_that_do_not_match_are_refused_by_name() {
        let left = [trial("a", 0, Solved), trial("a", 1, Solved)];
        let right = [trial("b", 0, Solved), trial("b", 2, Solved)];
        let error = compare(("a", &left), ("b", &right), false).unwrap_err().to_string();
        assert!(error.contains("libero_spatial:1 seed 0") && error.contains("libero_spatial:2"));
        assert_eq!(compare(("a", &left), ("b", &right), true).unwrap().pairs, 1);
    }

    #[test]
    fn a_scene_twice_or_none_is_refused() {
        let twice = [trial("a", 0, Solved), trial("a", 0, Failed)];
        let error = compare(("a", &twice), ("b", &twice[..1]), false).unwrap_err();
        assert!(matches!(error, Unpaired::Twice { .. }), "{error}");
        let error = compare(("a", &[]), ("b", &twice[..1]), false).unwrap_err();
        assert_eq!(error.to_string(), "a holds no episodes");
    }
}
