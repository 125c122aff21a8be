use std::fmt;

use ruaflow_schemas::State;
use serde::Serialize;

/// The first number in which a replay differs from its recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub control_step: u64,
    /// Field of the state, as the topic `state` names it.
    pub field: &'static str,
    /// Place in the field, from 0.
    pub index: usize,
    /// `None` when the field ends before.
    pub recorded: Option<f64>,
    pub replayed: Option<f64>,
}

/// How two states of one control step differ; `None` when they are equal to the bit.
pub fn difference(recorded: &State, replayed: &State) -> Option<Difference> {
    let lists = |state| lists(state).into_iter();
    let of_lists = lists(recorded).zip(lists(replayed)).find_map(|((field, old), (_, new))| {
        first_unequal(old, new).map(|index| (field, index, value(old, index), value(new, index)))
    });
    let of_scalars = || {
        let pairs = scalars(recorded).into_iter().zip(scalars(replayed));
        pairs
            .filter(|((_, old), (_, new))| old != new)
            .map(|((field, old), (_, new))| (field, 0, Some(old), Some(new)))
            .next()
    };
    let (field, index, old, new) = of_lists.or_else(of_scalars)?;
    let control_step = recorded.control_step;
    Some(Difference { control_step, field, index, recorded: old, replayed: new })
}

/// Where two trajectories part, as far as both go; each is in the order of its steps.
pub fn parting(recorded: &[State], replayed: &[State]) -> Option<Difference> {
    recorded.iter().find_map(|old| {
        let at = replayed.binary_search_by_key(&old.control_step, |new| new.control_step);
        difference(old, &replayed[at.ok()?])
    })
}

fn lists(state: &State) -> [(&'static str, &[f64]); 5] {
    [
        ("integration", &state.integration),
        ("fixtures", &state.fixtures),
        ("visuals", &state.visuals),
        ("controller", &state.controller),
        ("gripper", &state.gripper),
    ]
}

fn scalars(state: &State) -> [(&'static str, f64); 2] {
    [("time_ns", state.time_ns as f64), ("success", f64::from(u8::from(state.success)))]
}

fn first_unequal(old: &[f64], new: &[f64]) -> Option<usize> {
    let unequal = old.iter().zip(new).position(|(old, new)| old.to_bits() != new.to_bits());
    unequal.or_else(|| (old.len() != new.len()).then_some(old.len().min(new.len())))
}

fn value(list: &[f64], index: usize) -> Option<f64> {
    list.get(index).copied()
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Debug shows as many digits as tell one number from another.
        let shown = |value: Option<f64>| value.map_or("nothing".to_owned(), |v| format!("{v:?}"));
        write!(
            f,
            "control step {}, {}[{}]: recorded {}, replayed {}",
            self.control_step,
            self.field,
            self.index,
            shown(self.recorded),
            shown(self.replayed)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(control_step: u64) -> State {
        State {
            control_step,
            time_ns: control_step * 50,
            integration: vec![0.5, 0.1 + 0.2, -1.0],
            gripper: vec![0.0, 1.0],
            ..State::default()
        }
    }

    #[test]
    fn the_last_bit_counts() {
        assert_eq!(difference(&state(3), &state(3)), None);
        let mut other = state(3);
        other.integration[1] = 0.3;
        let found = difference(&state(3), &other).unwrap();
        assert_eq!((found.control_step, found.field, found.index), (3, "integration", 1));
        assert_eq!(
            found.to_string(),
            "control step 3, integration[1]: recorded 0.30000000000000004, replayed 0.3"
        );
        let mut other = state(3);
        other.gripper[0] = -0.0;
        assert!(difference(&state(3), &other).unwrap().to_string().ends_with("replayed -0.0"));
        let not_a_number = State { visuals: vec![f64::NAN], ..state(3) };
        assert_eq!(difference(&not_a_number, &not_a_number), None);
    }

    #[test]
    fn a_shorter_list_and_the_latch_differ_too() {
        let mut other = state(1);
        other.integration.pop();
        let found = difference(&state(1), &other).unwrap();
        assert_eq!((found.index, found.recorded, found.replayed), (2, Some(-1.0), None));
        let found = difference(&state(1), &State { success: true, ..state(1) }).unwrap();
        assert_eq!((found.field, found.replayed), ("success", Some(1.0)));
    }

    #[test]
    fn trajectories_are_compared_by_their_steps() {
        let recorded: Vec<State> = [0, 1, 3, 4].map(state).to_vec();
        let mut replayed: Vec<State> = (0..4).map(state).collect();
        assert_eq!(parting(&recorded, &replayed), None);
        replayed[3].time_ns += 1;
        replayed[2].time_ns += 1;
        assert_eq!(parting(&recorded, &replayed).unwrap().control_step, 3);
    }
}
