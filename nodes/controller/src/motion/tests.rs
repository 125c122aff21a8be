//! The primitives against a tiny kinematic arm. The expected numbers were worked
//! out from the reference's laws with the same arm.

use ruaflow_robots::{eef_pitch, eef_yaw, find};
use serde_json::json;

use super::*;
use crate::fake::{Arm, START};

struct Run {
    actions: Vec<[f64; 7]>,
    outcome: Map<String, Value>,
}

impl Run {
    fn number(&self, field: &str) -> f64 {
        self.outcome[field].as_f64().unwrap()
    }
}

/// Runs a call of the `libero` table to its end.
fn run(arm: &mut Arm, method: &str, arguments: Value) -> Run {
    let checked = find("libero").unwrap().check_json(method, &arguments).unwrap();
    let from = Start { pose: arm.pose, held_gripper: 0.7, position_scale: 0.05 };
    let mut motion = start(&checked, &from).unwrap();
    let mut actions = Vec::new();
    while let Some(command) = motion.next(&arm.pose) {
        arm.step(&command);
        motion.observe(&arm.pose);
        let [a, b, c, d, e, f] = command.values;
        actions.push([a, b, c, d, e, f, command.gripper]);
    }
    let mut outcome = motion.outcome(&arm.pose);
    outcome.insert("terminated".into(), false.into());
    outcome.insert("truncated".into(), false.into());
    // Every field of the table is there, and of its type.
    checked.method.record().unwrap().complete(&Value::from(outcome.clone())).unwrap();
    Run { actions, outcome }
}

fn assert_actions(found: &[[f64; 7]], expected: &[[f64; 7]]) {
    let near = |(a, b): (&[f64; 7], &[f64; 7])| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?}");
}

#[test]
fn move_to_follows_the_reference_on_an_arm_that_obeys() {
    let mut arm = Arm::obeying();
    let run = run(&mut arm, "move_to", json!({"xyz": [0.16, -0.03, 1.0]}));
    assert_actions(
        &run.actions,
        &[[0.5, -0.5, 0.0, 0.0, 0.0, 0.0, -1.0], [0.5, -0.1, 0.0, 0.0, 0.0, 0.0, -1.0]],
    );
    assert_eq!(run.outcome["steps_used"], 3, "the check that ended it counts");
    assert_eq!(run.outcome["reached"], true);
    assert_eq!(run.outcome["max_steps"], 80);
    assert_eq!(run.outcome["stalled"], false);
    assert_eq!(run.outcome["stall_reason"], Value::Null);
    assert!((run.number("final_dist_m") - 0.01).abs() < 1e-9);
}

#[test]
fn move_to_follows_the_reference_on_an_arm_that_lags() {
    let mut arm = Arm { gain: 0.5, ..Arm::obeying() };
    let run = run(&mut arm, "move_to", json!({"xyz": [0.16, -0.03, 1.0], "gripper": "hold"}));
    assert_actions(
        &run.actions,
        &[
            [0.5, -0.5, 0.0, 0.0, 0.0, 0.0, 0.7],
            [0.5, -0.35, 0.0, 0.0, 0.0, 0.0, 0.7],
            [0.5, -0.175, 0.0, 0.0, 0.0, 0.0, 0.7],
            [0.45, -0.0875, 0.0, 0.0, 0.0, 0.0, 0.7],
        ],
    );
    assert_eq!(run.outcome["steps_used"], 5);
    assert!((run.number("final_dist_m") - 0.011_460_700_513).abs() < 1e-9);
}

#[test]
fn a_motion_that_runs_out_of_steps_has_no_last_check() {
    let mut arm = Arm { gain: 0.5, ..Arm::obeying() };
    let run = run(&mut arm, "move_to", json!({"xyz": [0.16, -0.03, 1.0], "max_steps": 3}));
    assert_eq!((run.actions.len(), run.outcome["steps_used"].clone()), (3, json!(3)));
    assert_eq!(run.outcome["reached"], false);
    assert_eq!(run.outcome["stalled"], false, "it was on its way");
    assert!((run.number("final_dist_m") - 0.022_921_401_026).abs() < 1e-9);
}

#[test]
fn a_motion_to_where_the_arm_is_makes_no_step_and_one_check() {
    let mut arm = Arm::obeying();
    let there = run(&mut arm, "move_to", json!({"xyz": START}));
    assert_eq!((there.actions.len(), there.outcome["steps_used"].clone()), (0, json!(1)));
    let none = run(&mut arm, "move_to", json!({"xyz": [0.2, 0.0, 1.0], "max_steps": 0}));
    assert_eq!((none.actions.len(), none.outcome["steps_used"].clone()), (0, json!(0)));
    let negative = run(&mut arm, "release", json!({"max_steps": -3}));
    assert_eq!(negative.outcome["steps_used"], 0);
}

#[test]
fn action_scale_and_step_clip_set_the_pace() {
    let mut arm = Arm::obeying();
    let run = run(
        &mut arm,
        "move_to",
        json!({"xyz": [0.2, 0.0, 1.0], "step_clip": 0.2, "action_scale": 0.025, "max_steps": 1}),
    );
    assert_actions(&run.actions, &[[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]]);
}

#[test]
fn move_to_turns_on_the_way_and_does_not_wait_for_it() {
    let mut arm = Arm { turn_per_unit: 0.01, ..Arm::obeying() };
    let run = run(
        &mut arm,
        "move_to",
        json!({"xyz": [0.15, 0.0, 1.0], "target_yaw": 1.0, "yaw_step_clip": 0.05}),
    );
    assert_actions(
        &run.actions,
        &[[0.5, 0.0, 0.0, 0.0, 0.0, 0.5, -1.0], [0.5, 0.0, 0.0, 0.0, 0.0, 0.5, -1.0]],
    );
    assert_eq!(run.outcome["reached"], true);
    assert_eq!(run.outcome["stalled"], false);
    assert!((eef_yaw(arm.pose.quaternion) - 0.01).abs() < 1e-9);
}

#[test]
fn move_pose_waits_for_position_and_angles() {
    let mut arm = Arm::obeying();
    let run = run(
        &mut arm,
        "move_pose",
        json!({"xyz": [0.12, 0.0, 1.0], "target_pitch": 0.3, "target_yaw": -0.2}),
    );
    let first = run.actions[0];
    assert_actions(&[first], &[[0.4, 0.0, 0.0, 0.8, 0.0, -0.8, -1.0]]);
    assert!((eef_pitch(arm.pose.quaternion) - 0.3).abs() < 0.05);
    assert!((eef_yaw(arm.pose.quaternion) + 0.2).abs() < 0.05);
    assert_eq!(run.outcome["reached"], true);
    assert!((run.number("final_pitch") - 0.3).abs() < 0.05);
    assert!(run.actions.len() > 2, "the angles took longer than the position");
    assert_eq!(run.outcome["steps_used"], run.actions.len() + 1);
}

#[test]
fn a_wrist_turns_by_the_reference_law() {
    let mut arm = Arm { turn_per_unit: 0.08, ..Arm::obeying() };
    let run = run(&mut arm, "rotate_wrist", json!({"delta_yaw": 0.25}));
    assert_actions(
        &run.actions,
        &[
            [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.9, 1.0],
        ],
    );
    assert_eq!(run.outcome["steps_used"], 4);
    assert_eq!(run.outcome["reached"], true);
    assert!((run.number("final_err") - 0.018).abs() < 1e-9);
    assert!((run.number("target") - run.number("start") - 0.25).abs() < 1e-12);
}

#[test]
fn a_pitch_turns_the_right_way_and_at_the_given_pace() {
    let mut arm = Arm { turn_per_unit: 0.08, ..Arm::obeying() };
    let run = run(
        &mut arm,
        "rotate_pitch",
        json!({"target_pitch": -0.51, "step_clip": 0.05, "gripper": -0.25}),
    );
    assert_eq!(run.actions.len(), 13);
    assert_actions(&run.actions[..1], &[[0.0, 0.0, 0.0, -0.5, 0.0, 0.0, -0.25]]);
    assert!((eef_pitch(arm.pose.quaternion) + 0.504).abs() < 1e-9);
    assert_eq!(run.outcome["steps_used"], 14);
}

#[test]
fn a_wrist_turns_across_the_half_turn() {
    let mut arm = Arm::obeying();
    run(&mut arm, "rotate_wrist", json!({"target_yaw": 3.0}));
    let across = run(&mut arm, "rotate_wrist", json!({"target_yaw": -3.0}));
    assert!(across.actions.len() < 5, "{}", across.actions.len());
    assert!(across.actions.iter().all(|action| action[5] > 0.0));
}

#[test]
fn a_blocked_arm_is_reported_as_stalled_with_what_was_measured() {
    let mut arm = Arm { wall_x: Some(0.14), ..Arm::obeying() };
    let run = run(&mut arm, "move_to", json!({"xyz": [0.2, 0.0, 1.0], "max_steps": 30}));
    assert_eq!(run.actions.len(), 30, "a stall does not end a motion");
    assert_eq!(
        (run.outcome["reached"].clone(), run.outcome["stalled"].clone()),
        (json!(false), json!(true))
    );
    assert_eq!(
        run.outcome["stall_reason"],
        "0.0600 m from the target; no progress of 0.0010 m in the last 28 control steps"
    );
}

#[test]
fn a_blocked_rotation_is_reported_as_stalled() {
    let mut arm = Arm { turn_per_unit: 0.0, ..Arm::obeying() };
    let run = run(&mut arm, "rotate_wrist", json!({"delta_yaw": 0.3}));
    assert_eq!(run.outcome["stalled"], true);
    assert_eq!(
        run.outcome["stall_reason"],
        "0.3000 rad from the target; no progress of 0.0050 rad in the last 40 control steps"
    );
}

#[test]
fn move_pose_stalls_only_when_nothing_moves_any_more() {
    let mut stuck = Arm { wall_x: Some(0.11), turn_per_unit: 0.01, ..Arm::obeying() };
    let turning = run(
        &mut stuck,
        "move_pose",
        json!({"xyz": [0.2, 0.0, 1.0], "target_yaw": 2.0, "max_steps": 30}),
    );
    assert_eq!(turning.outcome["stalled"], false, "it still turns");
    stuck.turn_per_unit = 0.0;
    let still = run(
        &mut stuck,
        "move_pose",
        json!({"xyz": [0.2, 0.0, 1.0], "target_yaw": 2.0, "max_steps": 30}),
    );
    assert_eq!(still.outcome["stalled"], true);
    let reason = still.outcome["stall_reason"].as_str().unwrap();
    assert!(reason.starts_with("0.0900 m from the target, yaw off by 1.7"), "{reason}");
}

#[test]
fn the_gripper_is_driven_in_place() {
    let mut arm = Arm::obeying();
    let close = run(&mut arm, "set_gripper", json!({"gripper": 1, "steps": 3}));
    assert_actions(&close.actions, &[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]; 3]);
    assert_eq!(close.outcome["steps"], 3);
    let hold = run(&mut arm, "set_gripper", json!({"gripper": "hold"}));
    assert_eq!((hold.actions.len(), hold.outcome["gripper"].clone()), (5, json!(0.7)));
}

#[test]
fn release_tells_how_far_the_fingers_came() {
    let mut arm = Arm::obeying();
    run(&mut arm, "set_gripper", json!({"gripper": 1, "steps": 20}));
    let run = run(&mut arm, "release", json!({}));
    assert_actions(&run.actions, &[[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]; 20]);
    assert_eq!(run.number("start_gripper_opening"), 0.0);
    assert!((run.number("peak_gripper_opening") - 0.08).abs() < 1e-9);
    assert!((run.number("final_gripper_opening") - 0.08).abs() < 1e-9);
}

#[test]
fn robots_without_turning_on_the_way_use_their_own_scale() {
    let checked =
        find("template").unwrap().check_json("move_to", &json!({"xyz": [0.12, 0.0, 1.0]})).unwrap();
    let from = Start { pose: Arm::obeying().pose, held_gripper: -1.0, position_scale: 0.04 };
    let mut motion = start(&checked, &from).unwrap();
    let command = motion.next(&from.pose).unwrap();
    assert!((command.values[0] - 0.5).abs() < 1e-9 && command.values[5] == 0.0, "{command:?}");
}
