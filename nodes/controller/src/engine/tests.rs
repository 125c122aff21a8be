mod policy;

use ruaflow_schemas::{Arm as ArmCard, ArmState};

use super::*;
use crate::fake::{Arm, START};

/// The engine with a fake robot on the other side of its outputs.
struct Rig {
    engine: Engine,
    arm: Arm,
    now: Instant,
    control_step: u64,
    /// Control step at which the predicate fires.
    solved_at: u64,
    events: Vec<(String, Value)>,
    results: Vec<CallResult>,
    actions: Vec<Action>,
    requests: Vec<ChunkRequest>,
}

impl Rig {
    fn new() -> Self {
        let mut rig = Rig {
            engine: Engine::new("libero", Timing::default()).with_policy(Some("vla".into())),
            arm: Arm::obeying(),
            now: Instant::now(),
            control_step: 0,
            solved_at: 0,
            events: Vec::new(),
            results: Vec::new(),
            actions: Vec::new(),
            requests: Vec::new(),
        };
        rig.reset("r1");
        rig.events.clear();
        rig
    }

    fn reset(&mut self, id: &str) {
        self.control_step = 0;
        self.engine.card(card(id, &self.arm), self.now);
        self.drain();
    }

    fn call(&mut self, id: &str, method: &str, arguments: Value) {
        let call = Call {
            id: id.into(),
            caller: "cell".into(),
            method: method.into(),
            arguments: arguments.to_string(),
            timeout_ms: 0,
        };
        self.send(call);
    }

    fn send(&mut self, call: Call) {
        self.engine.call(call, "cell-runner", self.now);
        self.drain();
    }

    /// Sorts what the engine sent; true when an action waits for the robot.
    fn drain(&mut self) -> bool {
        let mut waits = false;
        while let Some(output) = self.engine.output() {
            match output {
                Output::Action(action) => {
                    waits = true;
                    self.actions.push(action);
                }
                Output::Again(action) => {
                    waits = true;
                    assert_eq!(self.actions.last(), Some(&action));
                }
                Output::ChunkRequest(request) => self.requests.push(*request),
                Output::Result(result) => self.results.push(*result),
                Output::Event { kind, data, .. } => self.events.push((kind.to_owned(), data)),
            }
        }
        waits
    }

    /// Lets the robot carry out the action that waits.
    fn step(&mut self) {
        let action = self.actions.last().unwrap().clone();
        self.arm
            .step(&Command { values: action.values.try_into().unwrap(), gripper: action.gripper });
        self.control_step += 1;
        self.now += Duration::from_millis(5);
        let solved = self.control_step == self.solved_at;
        let observation = Observation {
            terminated: solved,
            success: solved,
            ..observation(&self.arm, self.control_step, action.id)
        };
        self.engine.observation(observation, self.now);
        self.drain();
    }

    fn finish(&mut self) -> &CallResult {
        let before = self.results.len();
        for _ in 0..1000 {
            if self.results.len() > before {
                break;
            }
            self.step();
        }
        self.results.last().unwrap()
    }

    /// Runs one call to its end.
    fn run(&mut self, id: &str, method: &str, arguments: Value) -> CallResult {
        let before = self.results.len();
        self.call(id, method, arguments);
        if self.results.len() == before {
            self.finish();
        }
        self.results.last().unwrap().clone()
    }

    fn last(&self) -> &CallResult {
        self.results.last().unwrap()
    }

    /// Error and message of a call that must be refused at once.
    fn refused(&mut self, method: &str, arguments: Value) -> (String, String) {
        let (results, actions) = (self.results.len(), self.actions.len());
        let id = format!("refused-{results}");
        self.call(&id, method, arguments);
        assert_eq!((self.results.len(), self.actions.len()), (results + 1, actions));
        let result = self.last();
        assert_eq!(result.outcome, "{}");
        (result.error.clone(), result.message.clone())
    }
}

fn card(id: &str, arm: &Arm) -> Card {
    Card {
        id: id.into(),
        robot: "libero".into(),
        instruction: "pick up the bowl".into(),
        object_names: vec!["bowl_1".into()],
        arms: vec![ArmCard {
            name: "panda".into(),
            action_kinds: vec![ACTION_KIND.into()],
            position_scale: 0.05,
            rotation_scale: 0.5,
            gripper_open: 0.08,
            ..ArmCard::default()
        }],
        first: observation(arm, 0, 0),
        ..Card::default()
    }
}

fn observation(arm: &Arm, control_step: u64, action_id: u64) -> Observation {
    Observation {
        control_step,
        action_id,
        arms: vec![ArmState {
            name: "panda".into(),
            joint_pos: vec![0.0; 7],
            eef_pos: arm.pose.position,
            eef_quat: arm.pose.quaternion,
            gripper_qpos: vec![arm.pose.opening / 2.0, -arm.pose.opening / 2.0],
            gripper_opening: arm.pose.opening,
            ..ArmState::default()
        }],
        ..Observation::default()
    }
}

fn outcome(result: &CallResult) -> Value {
    serde_json::from_str(&result.outcome).unwrap()
}

#[test]
fn a_call_becomes_actions_and_a_measured_result() {
    let mut rig = Rig::new();
    let result = rig.run("c1", "move_to", json!({"xyz": [0.16, -0.03, 1.0]}));
    assert_eq!(
        (result.error.as_str(), result.message.as_str(), result.step, result.control_steps),
        ("", "", 1, 2)
    );
    assert_eq!(result.elapsed_ns, 10_000_000);
    assert_eq!(outcome(&result)["steps_used"], 3);
    assert_eq!(outcome(&result)["reached"], true);
    assert_eq!(result.observation.control_step, 2);
    let arguments: Value = serde_json::from_str(&result.arguments).unwrap();
    assert_eq!(
        (arguments["tol"].clone(), arguments["gripper"].clone()),
        (json!(0.012), json!(-1.0))
    );
    let ids: Vec<u64> = rig.actions.iter().map(|a| a.id).collect();
    assert_eq!(ids, [1, 2]);
    assert!(rig.actions.iter().all(|a| a.arm == "panda" && a.kind == "osc_pose_delta"));
}

#[test]
fn a_call_is_answered_once_however_often_it_comes() {
    let mut rig = Rig::new();
    rig.call("c1", "set_gripper", json!({"gripper": 1, "steps": 2}));
    rig.call("c1", "set_gripper", json!({"gripper": 1, "steps": 2}));
    assert_eq!(rig.actions.len(), 1);
    rig.finish();
    let steps = rig.control_step;
    rig.call("c1", "set_gripper", json!({"gripper": 1, "steps": 2}));
    assert_eq!((rig.results.len(), rig.control_step), (2, steps));
    assert_eq!(rig.results[0], rig.results[1]);
}

#[test]
fn hold_repeats_the_last_command_that_was_not_zero() {
    let mut rig = Rig::new();
    rig.run("c1", "move_to", json!({"xyz": [0.15, 0.0, 1.0], "gripper": "hold"}));
    assert_eq!(rig.actions.last().unwrap().gripper, -1.0, "the scene begins with an open gripper");
    rig.run("c2", "set_gripper", json!({"gripper": 0.6}));
    rig.run("c3", "set_gripper", json!({"gripper": 0}));
    rig.run("c4", "move_to", json!({"xyz": START, "gripper": "hold"}));
    assert_eq!(rig.actions.last().unwrap().gripper, 0.6);
    rig.arm.pose.opening = 0.001;
    rig.reset("r2");
    rig.run("c5", "set_gripper", json!({"gripper": "hold"}));
    assert_eq!(rig.actions.last().unwrap().gripper, 1.0, "and here with a closed one");
}

#[test]
fn bad_arguments_move_nothing() {
    let mut rig = Rig::new();
    for (method, arguments, message) in [
        (
            "move_to",
            json!({"xyz": [0.5, 0.0, 1.0]}),
            "move_to(): the target is 0.400 m away in x/y",
        ),
        (
            "move_pose",
            json!({"xyz": [0.1, 0.31, 1.0]}),
            "move_pose(): the target is 0.310 m away in x/y",
        ),
        ("move_to", json!({"xyz": [0.1, null, 1.0]}), "move_to(): xyz must be 3 numbers"),
        (
            "move_to",
            json!({"xyz": START, "gripper": 1.01}),
            "move_to(): gripper must be within [-1, 1]",
        ),
        (
            "move_to",
            json!({"xyz": START, "speed": 2}),
            "move_to() got an unexpected keyword argument",
        ),
        ("rotate_wrist", json!({}), "rotate_wrist() needs exactly one of target_yaw and delta_yaw"),
        ("fly", json!({}), "libero has no method \"fly\""),
        ("move_to", json!([1, 2]), "move_to() takes its arguments as an object"),
    ] {
        let (error, text) = rig.refused(method, arguments);
        assert_eq!(error, "value_error");
        assert!(text.starts_with(message), "{text}");
    }
    let call = Call {
        id: "x".into(),
        caller: "cell".into(),
        method: "move_to".into(),
        arguments: "{\"xyz\": NaN}".into(),
        timeout_ms: 0,
    };
    rig.send(call);
    assert_eq!(rig.last().error, "value_error");
    assert!(rig.actions.is_empty());
    assert_eq!(rig.last().step, 0, "a refused call is no step");
    // Vertical travel is free, and libero declares no box.
    rig.call("up", "move_to", json!({"xyz": [0.1, 0.0, 9.0]}));
    assert_eq!(rig.actions.len(), 1);
}

#[test]
fn a_declared_workspace_is_kept() {
    let mut rig = Rig::new();
    let mut boxed = card("r2", &rig.arm);
    boxed.arms[0].workspace = Some([-0.5, -0.5, 0.0, 0.5, 0.5, 1.2]);
    rig.engine.card(boxed, rig.now);
    let (error, text) = rig.refused("move_to", json!({"xyz": [0.1, 0.0, 1.3]}));
    assert_eq!(error, "value_error");
    assert!(text.contains("z = 1.3 m is outside the workspace [0, 1.2]"), "{text}");
}

#[test]
fn a_cancelled_motion_ends_within_one_control_step_and_tells_how_far_it_came() {
    let mut rig = Rig::new();
    rig.call("c1", "move_to", json!({"xyz": [0.3, 0.0, 1.0]}));
    rig.step();
    rig.step();
    rig.engine.cancel(&Cancel { id: "other".into(), reason: "no".into() });
    rig.step();
    assert!(rig.results.is_empty(), "that was another call");
    rig.engine.cancel(&Cancel { id: "c1".into(), reason: "the cell was killed".into() });
    let sent = rig.actions.len();
    rig.step();
    assert_eq!(rig.actions.len(), sent, "no action after the one on its way");
    let result = rig.last().clone();
    assert_eq!(
        (result.error.as_str(), result.message.as_str()),
        ("cancelled", "the cell was killed")
    );
    assert_eq!((result.step, result.control_steps), (1, 4));
    assert_eq!(outcome(&result)["reached"], false);
    assert!((outcome(&result)["final_eef_pos"][0].as_f64().unwrap() - 0.2).abs() < 1e-9);
    rig.engine.cancel(&Cancel { id: String::new(), reason: "nothing runs".into() });
    let next = rig.run("c2", "set_gripper", json!({"gripper": 1}));
    assert_eq!((next.error.as_str(), next.step), ("", 2));
}

#[test]
fn a_call_ends_at_its_deadline() {
    let mut rig = Rig::new();
    let call = Call {
        id: "c1".into(),
        caller: "cell".into(),
        method: "set_gripper".into(),
        arguments: json!({"gripper": 1, "steps": 100}).to_string(),
        timeout_ms: 12,
    };
    rig.send(call);
    assert_eq!(rig.engine.deadline(), Some(rig.now + Duration::from_millis(12)));
    while rig.results.is_empty() {
        rig.engine.tick(rig.now);
        rig.step();
    }
    let result = rig.last();
    assert_eq!((result.error.as_str(), result.control_steps), ("cancelled", 4));
    assert_eq!(result.message, "the caller's deadline of 12ms has passed");
    assert_eq!(outcome(result)["steps"], 4);
}

#[test]
fn the_predicate_ends_a_motion_and_the_episode() {
    let mut rig = Rig::new();
    rig.solved_at = 3;
    let result = rig.run("c1", "release", json!({}));
    assert_eq!((result.error.as_str(), result.control_steps), ("", 3));
    assert_eq!(outcome(&result)["steps_used"], 3);
    assert_eq!(outcome(&result)["terminated"], true);
    let (error, message) = rig.refused("release", json!({}));
    assert_eq!(
        (error.as_str(), message.as_str()),
        ("episode_finished", "terminated: the task is solved")
    );
    let state = rig.run("s", "state", json!({}));
    assert_eq!(
        (state.error.as_str(), outcome(&state)["terminated"].clone()),
        ("", json!(true)),
        "looking is still allowed"
    );
}

#[test]
fn a_truncated_episode_takes_no_more_calls() {
    let mut rig = Rig::new();
    rig.call("c1", "set_gripper", json!({"gripper": 1}));
    let truncated = Observation { truncated: true, ..observation(&rig.arm, 1, 1) };
    rig.engine.observation(truncated, rig.now);
    rig.drain();
    assert_eq!(outcome(rig.last())["truncated"], true);
    assert_eq!(rig.refused("release", json!({})).0, "episode_finished");
}

#[test]
fn an_ended_episode_takes_no_more_calls_until_the_next_card() {
    let mut rig = Rig::new();
    rig.call("c1", "set_gripper", json!({"gripper": 1}));
    rig.engine.end("budget");
    rig.step();
    assert_eq!(
        (rig.last().error.as_str(), rig.last().message.as_str()),
        ("cancelled", "the episode is over: budget")
    );
    assert_eq!(
        rig.refused("release", json!({})),
        ("episode_finished".into(), "the episode is over: budget".into())
    );
    rig.reset("r2");
    assert_eq!(rig.run("c2", "release", json!({"max_steps": 1})).step, 1);
}

#[test]
fn a_new_card_begins_from_nothing_and_a_repeated_one_changes_nothing() {
    let mut rig = Rig::new();
    rig.run("c1", "set_gripper", json!({"gripper": 1, "steps": 1}));
    rig.engine.card(card("r1", &rig.arm), rig.now);
    assert_eq!(rig.run("c2", "set_gripper", json!({"gripper": 1, "steps": 1})).step, 2);
    rig.reset("r2");
    let result = rig.run("c3", "set_gripper", json!({"gripper": 1, "steps": 1}));
    assert_eq!((result.step, rig.actions.last().unwrap().id), (1, 1));
}

#[test]
fn state_is_answered_at_every_recorded_step() {
    let mut rig = Rig::new();
    rig.run("c1", "move_to", json!({"xyz": [0.15, 0.0, 1.0], "tol": 0.001}));
    rig.run("c2", "set_gripper", json!({"gripper": 1, "steps": 4}));
    let at = |rig: &mut Rig, step: i64| {
        let id = format!("s{step}");
        let result = rig.run(&id, "state", json!({"step": step}));
        assert_eq!(result.error, "");
        let record =
            ruaflow_robots::find("libero").unwrap().method("state").unwrap().record().unwrap();
        Value::from(record.complete(&outcome(&result)).unwrap())
    };
    assert_eq!(at(&mut rig, 0)["eef_pos"], json!([0.1, 0.0, 1.0]));
    assert_eq!(at(&mut rig, 1)["eef_pos"], json!([0.15, 0.0, 1.0]));
    assert_eq!(
        (at(&mut rig, 1)["gripper_opening"].clone(), at(&mut rig, 2)["gripper_opening"].clone()),
        (json!(0.08), json!(0.04))
    );
    let latest = at(&mut rig, -1);
    assert_eq!(
        (latest["step"].clone(), latest["task"].clone()),
        (json!(2), json!("pick up the bowl"))
    );
    for step in [3, -2] {
        let (error, message) = rig.refused("state", json!({"step": step}));
        assert_eq!(error, "value_error");
        assert!(message.contains(&format!("no step {step}; steps go from 0 to 2")), "{message}");
    }
}

#[test]
fn one_caller_at_a_time() {
    let mut rig = Rig::new();
    let other = |id: &str, method: &str, arguments: Value| Call {
        id: id.into(),
        caller: "mcp".into(),
        method: method.into(),
        arguments: arguments.to_string(),
        timeout_ms: 0,
    };
    rig.send(other("m1", "release", json!({})));
    assert_eq!(
        (rig.last().error.as_str(), rig.last().message.as_str()),
        ("tool_error", "\"mcp\" may not move the robot: \"cell\" holds the lease")
    );
    rig.send(other("m2", "state", json!({})));
    assert_eq!(rig.last().error, "");
    rig.send(other("m3", "lease", json!({"holder": "mcp"})));
    assert_eq!(rig.last().error, "tool_error");

    rig.call("c1", "set_gripper", json!({"gripper": 1, "steps": 2}));
    let (error, message) = rig.refused("release", json!({}));
    assert_eq!(
        (error.as_str(), message.as_str()),
        ("tool_error", "\"cell\" is still running set_gripper()")
    );
    assert_eq!(rig.refused("lease", json!({"holder": "mcp"})).0, "tool_error");
    rig.finish();

    let result = rig.run("c2", "lease", json!({"holder": "mcp"}));
    assert_eq!((result.error.as_str(), result.step), ("", 1));
    assert_eq!(rig.events, [("lease".to_owned(), json!({"holder": "mcp"}))]);
    rig.send(other("m4", "set_gripper", json!({"gripper": 1, "steps": 1})));
    rig.finish();
    assert_eq!(rig.last().error, "");
    assert!(rig.refused("release", json!({})).1.contains("\"mcp\" holds the lease"));
    rig.reset("r2");
    assert_eq!(rig.events.last().unwrap().1, json!({"holder": "cell"}));
}

#[test]
fn an_emergency_stop_ends_the_motion_and_lasts() {
    let mut rig = Rig::new();
    rig.call("c1", "set_gripper", json!({"gripper": 1}));
    rig.engine.stop_now();
    rig.engine.stop_now();
    rig.drain();
    let kinds: Vec<&str> = rig.events.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["stopped", "lease"]);
    assert_eq!(rig.events[1].1, json!({"holder": "person"}));
    // The robot may refuse the action on its way, or carry it out.
    rig.engine.refused(1, "a person has stopped the robot", rig.now);
    rig.drain();
    assert_eq!(
        (rig.last().error.as_str(), rig.last().message.as_str()),
        ("cancelled", "a person has stopped the robot")
    );
    assert_eq!(rig.refused("release", json!({})).0, "episode_finished");
    rig.reset("r2");
    assert_eq!(rig.refused("release", json!({})).0, "episode_finished");
}

#[test]
fn a_person_may_ask_for_a_clean_end() {
    let mut rig = Rig::new();
    rig.engine.stop();
    rig.drain();
    assert_eq!(rig.events[0].0, "stop");
    assert_eq!(rig.run("c1", "release", json!({"max_steps": 1})).error, "");
}

#[test]
fn a_refusal_by_the_robot_ends_the_call_and_names_the_node() {
    let mut rig = Rig::new();
    rig.call("c1", "move_to", json!({"xyz": [0.3, 0.0, 1.0]}));
    rig.step();
    rig.engine.refused(99, "another action", rig.now);
    rig.engine.refused(2, "joint 3 is at its limit", rig.now);
    rig.drain();
    let result = rig.last();
    assert_eq!(
        (result.error.as_str(), result.message.as_str()),
        ("tool_error", "node \"libero\" refused the action: joint 3 is at its limit")
    );
    assert_eq!((result.step, result.control_steps), (1, 1), "it had moved");
    rig.call("c2", "release", json!({}));
    rig.engine.refused(3, "no", rig.now);
    rig.drain();
    assert_eq!(rig.last().step, 1, "nothing moved, no new step");
}

#[test]
fn a_silent_robot_is_asked_again_and_then_given_up() {
    let mut rig = Rig::new();
    rig.call("c1", "release", json!({}));
    for _ in 0..4 {
        rig.now = rig.engine.deadline().unwrap();
        rig.engine.tick(rig.now);
        assert!(rig.drain(), "the action goes out again");
    }
    rig.now = rig.engine.deadline().unwrap();
    rig.engine.tick(rig.now);
    rig.drain();
    let result = rig.last();
    assert_eq!(
        (result.error.as_str(), result.message.as_str()),
        ("tool_error", "node \"libero\" has not answered action 1 within 10s")
    );
    assert_eq!((result.step, rig.actions.len()), (0, 1));
    assert_eq!(rig.engine.deadline(), None);
    // A late answer moves the state on and is not taken for the next action's.
    rig.call("c2", "set_gripper", json!({"gripper": 1, "steps": 1}));
    rig.engine.observation(observation(&rig.arm, 1, 1), rig.now);
    assert!(!rig.drain());
    rig.engine.observation(observation(&rig.arm, 2, 2), rig.now);
    rig.drain();
    assert_eq!((rig.last().error.as_str(), rig.last().control_steps), ("", 1));
}

#[test]
fn an_observation_that_comes_twice_counts_once() {
    let mut rig = Rig::new();
    rig.call("c1", "set_gripper", json!({"gripper": 1, "steps": 2}));
    rig.engine.observation(observation(&rig.arm, 1, 1), rig.now);
    rig.engine.observation(observation(&rig.arm, 1, 1), rig.now);
    rig.drain();
    assert_eq!((rig.actions.len(), rig.results.len()), (2, 0));
}

#[test]
fn a_robot_that_dies_fails_the_call_and_all_later_ones() {
    let mut rig = Rig::new();
    rig.call("c1", "release", json!({}));
    rig.engine.robot_gone(rig.now);
    rig.drain();
    assert_eq!(
        (rig.last().error.as_str(), rig.last().message.as_str()),
        ("tool_error", "node \"libero\" is gone")
    );
    assert_eq!(rig.refused("release", json!({})).1, "node \"libero\" is gone");
}

#[test]
fn a_caller_that_dies_takes_its_motion_with_it() {
    let mut rig = Rig::new();
    rig.call("c1", "release", json!({}));
    rig.engine.caller_gone("cell-runner");
    rig.step();
    assert_eq!(rig.last().error, "cancelled");
    assert_eq!((rig.control_step, rig.actions.len()), (1, 1));
    assert_eq!(rig.events, [("lease".to_owned(), json!({"holder": ""}))]);
}

#[test]
fn nothing_moves_before_a_card() {
    let mut engine = Engine::new("libero", Timing::default());
    let now = Instant::now();
    let call = Call {
        id: "c1".into(),
        caller: "cell".into(),
        method: "release".into(),
        arguments: String::new(),
        timeout_ms: 0,
    };
    engine.call(call.clone(), "cell-runner", now);
    assert!(
        matches!(engine.output(), Some(Output::Result(result)) if result.error == "tool_error" && result.message == "no episode has begun")
    );
    engine.card(Card { id: "r1".into(), robot: "toaster".into(), ..Card::default() }, now);
    assert!(
        matches!(engine.output(), Some(Output::Event { kind: "error", message, .. }) if message.contains("toaster"))
    );
}
