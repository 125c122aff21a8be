//! Motions that ask a policy for action chunks.

use super::*;

impl Rig {
    /// Answers the last request with `length` times the same action, and lets the
    /// robot carry out what of it the motion wants.
    fn give(&mut self, length: u32, action: [f64; 7]) {
        let before = self.requests.len();
        let results = self.results.len();
        self.answer(Chunk {
            kind: "osc_pose_delta".into(),
            length,
            values: action.repeat(length as usize),
            ..Chunk::default()
        });
        while self.requests.len() == before && self.results.len() == results {
            self.step();
        }
    }

    fn answer(&mut self, chunk: Chunk) {
        let id = self.requests.last().unwrap().id.clone();
        self.engine.chunk(&Chunk { id, ..chunk }, self.now);
        self.drain();
    }

    fn pick(arguments: Value) -> Rig {
        let mut rig = Rig::new();
        rig.call("p", "pi0_pick", arguments);
        rig
    }
}

const DOWN: [f64; 7] = [0.0, 0.0, -0.6, 0.0, 0.0, 0.0, 1.0];
const UP: [f64; 7] = [0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 0.0];

#[test]
fn a_pick_ends_after_the_descent_and_the_lift() {
    let mut rig = Rig::pick(json!({"prompt": "pick up the bowl"}));
    assert_eq!(rig.requests[0].prompt, "pick up the bowl");
    rig.give(10, DOWN);
    assert_eq!(rig.requests[1].observation.control_step, 5, "five actions of a chunk are made");
    rig.give(10, UP);
    let result = rig.last();
    assert_eq!((result.error.as_str(), result.control_steps, result.step), ("", 10, 1));
    let outcome = outcome(result);
    assert_eq!(outcome["success"], true);
    assert_eq!(outcome["chunks_used"], 2);
    assert!((outcome["peak_lift_m"].as_f64().unwrap() - 0.15).abs() < 1e-9);
    let diagnostics = &outcome["diagnostics"];
    assert_eq!(diagnostics["descent_m"], 0.15);
    assert_eq!(diagnostics["descent_done"], true);
    assert_eq!(rig.requests.len(), 2);
}

#[test]
fn a_pick_gives_up_after_its_chunks() {
    let mut rig = Rig::pick(json!({"prompt": "bowl", "max_chunks": 2}));
    rig.give(3, UP);
    rig.give(3, UP);
    let outcome = outcome(rig.last());
    assert_eq!((&outcome["success"], &outcome["chunks_used"]), (&json!(false), &json!(2)));
    assert_eq!(rig.last().control_steps, 6);
}

#[test]
fn the_solved_task_is_a_success_and_ends_the_motion() {
    for (method, field) in [("pi0_pick", "success"), ("pi0_doubled", "success")] {
        let mut rig = Rig::new();
        rig.solved_at = 2;
        rig.call("p", method, json!({"prompt": "turn the knob"}));
        rig.give(5, UP);
        assert_eq!(outcome(rig.last())[field], true, "{method}");
        assert_eq!(rig.last().control_steps, 2);
    }
}

#[test]
fn actions_beyond_the_range_are_cut_to_it() {
    let mut rig = Rig::pick(json!({"prompt": "bowl", "max_chunks": 1}));
    rig.give(1, [3.0, -3.0, 0.0, 0.0, 0.0, 0.0, 1.5]);
    let action = rig.actions.last().unwrap();
    assert_eq!((&action.values[..2], action.gripper), (&[1.0, -1.0][..], 1.0));
}

#[test]
fn what_a_policy_cannot_do_is_a_tool_error_and_the_arm_stays() {
    let good = Chunk {
        kind: "osc_pose_delta".into(),
        length: 1,
        values: vec![0.0; 7],
        ..Chunk::default()
    };
    let bad = [
        (Chunk { error: "no server answers".into(), ..good.clone() }, "no server answers"),
        (Chunk { values: vec![0.0; 6], ..good.clone() }, "6 numbers for 1 actions"),
        (Chunk { length: 0, values: vec![], ..good.clone() }, "0 numbers"),
        (Chunk { values: vec![f64::NAN; 7], ..good.clone() }, "can't be used"),
        (Chunk { kind: "joint_position".into(), ..good.clone() }, "joint_position"),
    ];
    for (chunk, expected) in bad {
        let mut rig = Rig::pick(json!({"prompt": "bowl"}));
        rig.answer(chunk);
        let result = rig.last();
        assert_eq!(result.error, "tool_error");
        assert!(result.message.contains(expected), "{}", result.message);
        assert_eq!((result.step, rig.actions.len()), (0, 0));
        // The next call is taken.
        assert_eq!(rig.run("s", "set_gripper", json!({"gripper": 1})).error, "");
    }
}

#[test]
fn a_policy_that_is_silent_or_gone_or_missing_is_named() {
    let mut rig = Rig::pick(json!({"prompt": "bowl"}));
    rig.now = rig.engine.deadline().unwrap();
    rig.engine.tick(rig.now);
    rig.drain();
    assert!(rig.last().message.contains("\"vla\""), "{}", rig.last().message);

    let mut rig = Rig::pick(json!({"prompt": "bowl"}));
    rig.engine.policy_gone(rig.now);
    rig.drain();
    assert!(rig.last().message.contains("\"vla\" is gone"), "{}", rig.last().message);
    let message = rig.run("again", "pi0_doubled", json!({"prompt": "knob"})).message;
    assert!(message.contains("no node"), "{message}");
}

#[test]
fn a_cancel_does_not_wait_for_the_policy() {
    let mut rig = Rig::pick(json!({"prompt": "bowl"}));
    rig.engine.cancel(&Cancel { id: "p".into(), reason: "enough".into() });
    rig.engine.tick(rig.now);
    rig.drain();
    assert_eq!((rig.last().error.as_str(), rig.last().message.as_str()), ("cancelled", "enough"));
    // A late answer moves nothing.
    rig.answer(Chunk { length: 1, values: vec![0.5; 7], ..Chunk::default() });
    assert!(rig.actions.is_empty());
}
