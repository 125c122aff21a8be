use ruaflow_schemas::Reset;

use super::*;
use crate::Simulators;
use crate::staged::{Rows, reset, wander};

/// Fresh simulators, as a program that starts later has them.
fn replay(rows: &Rows) -> Rerun {
    let (_tmp, dir) = rows.write();
    let original = Original::read(&dir, 0).unwrap();
    let mut simulators = Simulators::default();
    let robot = simulators.find(&original.recording.card.robot).unwrap();
    let mut heard = 0;
    let rerun = rerun(&original, robot, |step| heard = step).unwrap();
    assert_eq!(heard, rerun.steps);
    assert!(original.other_versions(&rerun.versions).is_empty());
    rerun
}

fn record(robot: &str, reset: Reset, steps: usize) -> Rows {
    let mut simulators = Simulators::default();
    Rows::play(simulators.find(robot).unwrap(), reset, &wander(steps))
}

#[test]
fn what_was_recorded_comes_again_to_the_bit() {
    let rows = [
        record("template", reset("", 0, 3), 40),
        record("libero", reset("libero_object", 2, 7), 30),
        record("libero", Reset { settle: 5, ..reset("libero_goal", 7, 1) }, 20),
    ];
    for rows in rows {
        let rerun = replay(&rows);
        assert_eq!(rerun.outcome, Outcome::Equal, "{:?}", rows.reset);
        assert_eq!((rerun.steps, rerun.compared), (rows.actions.len() as u64, rerun.steps + 1));
    }
}

#[test]
fn a_run_that_began_in_a_recorded_state_does_so_again() {
    let mut simulators = Simulators::default();
    let robot = simulators.find("libero").unwrap();
    let first = Rows::play(robot, reset("libero_object", 2, 7), &wander(12));
    let state = first.states.last().cloned();
    let rows = Rows::play(robot, Reset { state, ..reset("libero_object", 2, 7) }, &wander(8));
    assert_ne!(rows.states[0].integration, first.states[0].integration);
    let rerun = replay(&rows);
    assert_eq!((rerun.outcome, rerun.compared), (Outcome::Equal, 9));
}

fn last_bit(value: f64) -> f64 {
    f64::from_bits(value.to_bits() ^ 1)
}

#[test]
fn a_number_that_was_changed_is_found_where_it_is() {
    let mut rows = record("template", reset("", 0, 3), 20);
    rows.states[13].integration[4] = last_bit(rows.states[13].integration[4]);
    let rerun = replay(&rows);
    let Outcome::Different(found) = rerun.outcome else { panic!("{:?}", rerun.outcome) };
    assert_eq!((found.control_step, found.field, found.index), (13, "integration", 4));
    assert_eq!(found.recorded.map(last_bit), found.replayed);
    assert_eq!((rerun.steps, rerun.compared), (13, 14));
}

#[test]
fn an_action_that_was_changed_shows_in_the_next_state() {
    let mut rows = record("libero", reset("libero_object", 0, 0), 10);
    rows.actions[6].values[1] += 1e-6;
    let Outcome::Different(found) = replay(&rows).outcome else { panic!("it went unnoticed") };
    assert_eq!(found.control_step, 7);
}

#[test]
fn a_recording_that_was_cut_is_compared_as_far_as_it_goes() {
    let mut rows = record("template", reset("", 0, 3), 20);
    rows.states.truncate(9);
    rows.states.remove(4);
    rows.actions.truncate(15);
    let rerun = replay(&rows);
    assert_eq!((rerun.outcome, rerun.steps, rerun.compared), (Outcome::Equal, 15, 8));
}

#[test]
fn what_cannot_be_made_again_says_why() {
    let refused = |change: fn(&mut Rows)| {
        let mut rows = record("template", reset("", 0, 3), 2);
        change(&mut rows);
        let (_tmp, dir) = rows.write();
        Original::read(&dir, 0).unwrap_err().to_string()
    };
    assert!(refused(|rows| rows.card.clock = "monotonic".into()).contains("--arm-robot"));
    assert!(refused(|rows| rows.card.robot = "spot".into()).contains("libero and template"));
    assert!(refused(|rows| rows.states.clear()).contains("--record standard"));
    assert!(refused(|rows| rows.card.error = "no scene".into()).contains("no scene was set"));
}

#[test]
fn a_step_that_is_not_made_again_is_no_equality() {
    let mut rows = record("template", reset("", 0, 3), 5);
    rows.actions[2].values.pop();
    let outcome = replay(&rows).outcome;
    assert!(matches!(outcome, Outcome::NotMade { control_step: 3, .. }), "{outcome:?}");
}

#[test]
fn other_versions_are_told_with_both() {
    let mut rows = record("libero", reset("libero_object", 0, 0), 1);
    rows.events[0].data = r#"{"mujoco": "1.2.3", "gone": "4"}"#.into();
    let (_tmp, dir) = rows.write();
    let original = Original::read(&dir, 0).unwrap();
    let here = BTreeMap::from([("mujoco".to_owned(), "3.0".to_owned())]);
    let told = original.other_versions(&here);
    assert_eq!(told, [("mujoco".to_owned(), "1.2.3".to_owned(), "3.0".to_owned())]);
}
