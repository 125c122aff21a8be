//! The Python reference as a robot, and what it did in scripted episodes beside
//! what `libero` does in them: verdicts, every result of every call, the arm to the
//! last bit. `reference/record.py` says what the episodes are and recorded them.
//!
//! What needs the reference's environment, which is set up when somebody asks for
//! it, says so and passes without.
#![allow(clippy::unwrap_used)]

use end_to_end::{Place, Records, root, skipped};
use ruaflow_record::Status;
use ruaflow_schemas::{CallResult, CellResult};
use serde_json::{Value, json};

/// One word apart, so that what runs on the one runs on the other.
#[test]
fn its_dataflow_is_that_of_libero() {
    let body = |name: &str| {
        let text = std::fs::read_to_string(root().join(format!("dataflows/{name}.yml"))).unwrap();
        text[text.find("env:\n").unwrap()..].to_owned()
    };
    let path = "path: ../nodes/libero-python/libero-python";
    let renamed = body("libero-python").replace(path, "path: ../bin/libero");
    assert_eq!(renamed.replace("libero-python", "libero"), body("libero"));
}

#[test]
fn it_is_a_robot() {
    if !is_there() {
        return;
    }
    let place = Place::default();
    let ended = place.run(place.rua(["check-robot", "libero-python"]));
    ended.assert_code(0);
    assert!(!ended.out.contains('✗'), "{ended}");
    place.assert_nothing_left();
}

#[test]
fn libero_does_what_the_reference_did() {
    for episode in episodes() {
        assert_repeats("libero", &episode);
    }
}

#[test]
fn the_reference_does_it_again() {
    if is_there() {
        for episode in episodes() {
            assert_repeats("libero-python", &episode);
        }
    }
}

fn is_there() -> bool {
    let there = ruaflow_kit::home().join("libero-python/bin/python").is_file();
    if !there {
        skipped("no Python reference; `./rua setup --with libero-python` makes one");
    }
    there
}

fn episodes() -> Vec<Value> {
    let path = root().join("tests/reference/episodes.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Plays an episode and compares it with its recording.
fn assert_repeats(robot: &str, recorded: &Value) {
    let text = |name: &str| recorded[name].as_str().unwrap();
    let number = |name: &str| recorded[name].to_string();
    let place = Place::default();
    let policy = std::fs::read_to_string(root().join(text("policy"))).unwrap();
    place.write("policy.py", &format!("{}{policy}", text("head")));
    let mut play = place.rua(["play", "--robot", robot, "--policy", "policy.py", "--out", "out"]);
    play.args(["--pictures", "off", "--suite", text("suite"), "--settle", &number("settle")]);
    play.args(["--task", &number("task"), "--seed", &number("seed")]);
    place.run(play).assert_code(0);
    place.assert_nothing_left();

    let played = played(&place.records());
    let what = format!("{} on {} {}, {robot}", text("policy"), text("suite"), number("task"));
    // One by one, so that what differs is read at a glance.
    let calls = |of: &Value| of["calls"].as_array().unwrap().clone();
    for (now, then) in calls(&played).iter().zip(calls(recorded)) {
        assert_eq!(*now, then, "{what}");
    }
    for (name, now) in played.as_object().unwrap() {
        assert_eq!(*now, recorded[name], "{name}: {what}");
    }
}

/// What an episode came to, as `reference/record.py` writes it.
fn played(records: &Records) -> Value {
    let result = records.result();
    assert_eq!(result.status, Status::Completed, "{result:?}");
    let cells = records.rows::<CellResult>(0);
    json!({
        "solved": result.environment_success,
        "reason": result.reason,
        "control_steps": result.env_steps,
        "printed": cells.iter().map(|cell| cell.stdout.as_str()).collect::<Vec<_>>(),
        "calls": records.rows::<CallResult>(0).iter().map(call).collect::<Vec<_>>(),
    })
}

fn call(result: &CallResult) -> Value {
    let arm = &result.observation.arms[0];
    let numbers =
        [arm.joint_pos.as_slice(), &arm.eef_pos, &arm.eef_quat, &arm.gripper_qpos].concat();
    let bits = numbers.iter().flat_map(|number| number.to_le_bytes());
    json!({
        "method": result.method,
        "arguments": result.arguments,
        "outcome": result.outcome,
        "error": result.error,
        "message": result.message,
        "step": result.step,
        "control_steps": result.control_steps,
        "arm": bits.map(|byte| format!("{byte:02x}")).collect::<String>(),
    })
}
