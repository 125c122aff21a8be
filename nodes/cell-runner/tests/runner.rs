//! The node's work apart from dora, with a made-up controller.
#![allow(clippy::unwrap_used)]

mod common;

use std::time::{Duration, Instant};

use cell_runner::child::{Child, ChildEvent};
use cell_runner::runner::{Outgoing, Runner};
use crossbeam_channel::Receiver;
use ruaflow_schemas::{
    ArmState, Call, CallResult, Cancel, Card, Cell, CellResult, Event, FrameRequest, Observation,
    SegmentRequest, event,
};
use serde_json::json;

const CALL_TIMEOUT: Duration = Duration::from_secs(30);

struct Flow {
    runner: Runner,
    events: Receiver<(u64, ChildEvent)>,
    calls: Vec<Call>,
    cancels: Vec<Cancel>,
    looks: Vec<FrameRequest>,
    segments: Vec<SegmentRequest>,
    results: Vec<CellResult>,
    warnings: Vec<String>,
    episode: i64,
    index: u32,
}

impl Flow {
    fn new() -> Self {
        Self::with_call_timeout(CALL_TIMEOUT)
    }

    fn with_call_timeout(call_timeout: Duration) -> Self {
        let (sender, events) = crossbeam_channel::unbounded();
        let spawn = Box::new(move |generation| {
            let sender = sender.clone();
            Child::spawn(&common::config(), move |event| {
                let _ = sender.send((generation, event));
            })
        });
        let mut flow = Self {
            runner: Runner::new(spawn, call_timeout).unwrap(),
            events,
            calls: Vec::new(),
            cancels: Vec::new(),
            looks: Vec::new(),
            segments: Vec::new(),
            results: Vec::new(),
            warnings: Vec::new(),
            episode: 0,
            index: 0,
        };
        flow.card();
        flow
    }

    fn card(&mut self) {
        self.index = 0;
        let card = Card {
            robot: "libero".to_owned(),
            instruction: "pick up the bowl".to_owned(),
            object_names: vec!["bowl_1".to_owned()],
            first: observation(0, 0.0),
            ..Card::default()
        };
        self.runner.on_card(self.episode, card).unwrap();
    }

    fn start(&mut self, code: &str, timeout: Duration) {
        self.index += 1;
        let cell = Cell {
            id: format!("cell {}", self.index),
            index: self.index,
            code: code.to_owned(),
            timeout_ms: timeout.as_millis() as u64,
            ..Cell::default()
        };
        self.runner.on_cell(self.episode, cell);
    }

    /// Handles what the child and the clock bring until `done` says so.
    fn until(&mut self, done: impl Fn(&Self) -> bool) {
        let limit = Instant::now() + Duration::from_secs(60);
        loop {
            while let Some(outgoing) = self.runner.outgoing() {
                match outgoing {
                    Outgoing::Call(call) => self.calls.push(call),
                    Outgoing::Cancel(cancel) => self.cancels.push(cancel),
                    Outgoing::CellResult(result) => self.results.push(*result),
                    Outgoing::FrameRequest(request) => self.looks.push(request),
                    Outgoing::SegmentRequest(request) => self.segments.push(*request),
                    Outgoing::Warning(text) => self.warnings.push(text),
                    Outgoing::Layers(_) => {}
                }
            }
            if done(self) {
                return;
            }
            assert!(Instant::now() < limit, "nothing happens");
            let deadline = self.runner.deadline().unwrap_or(limit).min(limit);
            match self.events.recv_deadline(deadline) {
                Ok((generation, event)) => self.runner.on_child(generation, event).unwrap(),
                Err(_) => self.runner.on_time().unwrap(),
            }
        }
    }

    fn next_call(&mut self) -> Call {
        let seen = self.calls.len();
        self.until(|flow| flow.calls.len() > seen);
        self.calls[seen].clone()
    }

    fn next_result(&mut self) -> CellResult {
        let seen = self.results.len();
        self.until(|flow| flow.results.len() > seen);
        self.results[seen].clone()
    }

    fn run(&mut self, code: &str) -> CellResult {
        self.start(code, Duration::ZERO);
        self.next_result()
    }

    fn answer(&mut self, call: &Call, step: u64, error: &str) {
        let moved = observation(step * 10, 0.1);
        let result = CallResult {
            id: call.id.clone(),
            method: call.method.clone(),
            outcome: json!({
                "steps_used": 10, "start_gripper_opening": 0.01, "peak_gripper_opening": 0.08,
                "final_gripper_opening": 0.08, "terminated": false, "truncated": false,
            })
            .to_string(),
            error: error.to_owned(),
            message: if error.is_empty() { "" } else { "in words" }.to_owned(),
            step,
            control_steps: 10,
            observation: moved,
            ..CallResult::default()
        };
        self.runner.on_result(self.episode, result).unwrap();
    }
}

fn observation(control_step: u64, x: f64) -> Observation {
    Observation {
        control_step,
        arms: vec![ArmState {
            name: "right".to_owned(),
            eef_pos: [x, 0.0, 1.0],
            eef_quat: [1.0, 0.0, 0.0, 0.0],
            gripper_qpos: vec![0.02, -0.02],
            gripper_opening: 0.04,
            ..ArmState::default()
        }],
        ..Observation::default()
    }
}

#[test]
fn a_call_goes_to_the_controller_and_comes_back() {
    let mut flow = Flow::new();
    flow.start("r = robo.release()\nprint(r.final_gripper_opening, robo.state().step, robo.state().eef_pos, robo.state(0).eef_pos)\nrobo.state(2)", Duration::from_secs(50));
    let call = flow.next_call();
    assert_eq!((call.caller.as_str(), call.method.as_str()), ("cell", "release"));
    assert_eq!(call.arguments, r#"{"max_steps":20}"#);
    assert_eq!(call.timeout_ms, 30_000);
    // Of other calls and other episodes it takes no notice.
    let other = Call { id: "other".to_owned(), ..call.clone() };
    flow.answer(&other, 0, "value_error");
    flow.answer(&call, 1, "");
    let result = flow.next_result();
    assert_eq!(result.stdout, "0.08 1 (0.1, 0.0, 1.0) (0.0, 0.0, 1.0)\n");
    assert_eq!(result.status, "error");
    assert!(result.error.ends_with(
        "ValueError: state(): there is no step 2; steps are 0 to 1, -1 is the latest\n"
    ));
    assert_eq!(result.control_steps, 10);
    let listed: Vec<_> =
        result.ledger.iter().map(|e| (e.method.as_str(), e.ok, e.stateful, e.step)).collect();
    assert_eq!(
        listed,
        [
            ("release", true, true, 1),
            ("state", true, false, 1),
            ("state", true, false, 1),
            ("state", true, false, 1),
            ("state", false, false, 1),
        ]
    );
    assert_eq!(
        result.state_summary,
        "step 1, control step 10; right at (0.1000, 0.0000, 1.0000) m, yaw 0.000 rad, gripper 0.0400 m open"
    );
}

#[test]
fn each_kind_of_error_has_its_exception() {
    let mut flow = Flow::new();
    for (error, raised) in [
        ("value_error", "ValueError: in words"),
        ("tool_error", "ToolError: release: in words"),
        ("episode_finished", "EpisodeFinished: in words"),
        ("cancelled", "EpisodeFinished: cancelled"),
    ] {
        flow.start("robo.release()", Duration::ZERO);
        let call = flow.next_call();
        flow.answer(&call, 1, error);
        let result = flow.next_result();
        assert_eq!(result.error.trim_end().lines().last(), Some(raised));
        assert!(!result.namespace_lost);
    }
}

#[test]
fn a_solved_task_ends_motion_before_it_reaches_the_controller() {
    let mut flow = Flow::new();
    let solved = Observation { terminated: true, success: true, ..observation(30, 0.0) };
    flow.runner.on_observation(0, &solved);
    let result = flow.run("print(robo.done)\ntry:\n    robo.release()\nexcept Exception: pass");
    assert_eq!((result.status.as_str(), result.stdout.as_str()), ("episode_finished", "True\n"));
    assert!(flow.calls.is_empty());
    assert!(result.state_summary.ends_with("task solved"));
}

#[test]
fn a_cell_past_its_deadline_is_cancelled_then_killed() {
    let mut flow = Flow::new();
    flow.run("x = 1");
    // Its motion ends, and it lets itself be interrupted: the names stay.
    flow.start("print('a')\nrobo.release()", Duration::from_millis(500));
    let call = flow.next_call();
    assert!(call.timeout_ms <= 500);
    flow.until(|flow| flow.cancels.len() == 1);
    assert_eq!(flow.cancels[0].id, call.id);
    flow.answer(&call, 1, "cancelled");
    let result = flow.next_result();
    assert_eq!((result.status.as_str(), result.stdout.as_str()), ("timeout", "a\n"));
    assert!(
        result.error.starts_with("the cell's deadline of 0.5 s has passed."),
        "{}",
        result.error
    );
    assert!(!result.namespace_lost);
    assert_eq!(result.control_steps, 10);
    assert_eq!(flow.run("print(x)").stdout, "1\n");

    // This one does not, and the next cell runs in a new process.
    let began = Instant::now();
    flow.start("print('b')\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass", Duration::from_millis(500));
    let result = flow.next_result();
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!((result.status.as_str(), result.stdout.as_str()), ("timeout", "b\n"));
    assert!(result.namespace_lost && result.error.contains("was killed"), "{}", result.error);
    let result = flow.run("print(robo.task)\nx");
    assert_eq!(result.stdout, "pick up the bowl\n");
    assert!(result.error.contains("NameError") && !result.namespace_lost);
}

#[test]
fn a_cell_that_ends_by_itself_in_time_is_no_timeout() {
    let mut flow = Flow::new();
    flow.run("'up'");
    flow.start(
        "try:\n    time.sleep(100)\nexcept KeyboardInterrupt: print('tidied up')",
        Duration::from_millis(400),
    );
    let result = flow.next_result();
    assert_eq!((result.status.as_str(), result.stdout.as_str()), ("ok", "tidied up\n"));
}

#[test]
fn a_crash_is_told_and_the_episode_goes_on() {
    let mut flow = Flow::new();
    flow.run("x = 1");
    let result = flow.run("print('before')\nd = {}\nfor i in range(10**9): d[i] = str(i)");
    assert_eq!((result.status.as_str(), result.stdout.as_str()), ("crashed", "before\n"));
    assert!(result.namespace_lost);
    assert!(
        result.error.starts_with("the cell used more memory than it may (512 MiB)."),
        "{}",
        result.error
    );
    assert!(flow.run("x").error.contains("NameError"));
}

#[test]
fn a_dead_or_silent_controller_is_named() {
    let mut flow = Flow::with_call_timeout(Duration::from_millis(100));
    flow.start("robo.release()", Duration::ZERO);
    let result = flow.next_result();
    assert!(
        result
            .error
            .ends_with("ToolError: release: node \"controller\" did not answer within 0.1 s\n"),
        "{}",
        result.error
    );
    assert_eq!(flow.cancels.len(), 1);

    flow.start("robo.release()", Duration::ZERO);
    flow.next_call();
    flow.runner.on_gone("controller").unwrap();
    let result = flow.next_result();
    assert!(result.error.ends_with("ToolError: release: node \"controller\" has died\n"));
    assert!(flow.run("robo.release()").error.ends_with("node \"controller\" has died\n"));
    assert_eq!(flow.run("print(robo.state().step)").stdout, "0\n");
}

#[test]
fn an_answer_of_another_shape_is_a_tool_error() {
    let mut flow = Flow::new();
    flow.start("robo.set_gripper(1)", Duration::ZERO);
    let call = flow.next_call();
    flow.answer(&call, 1, "");
    let result = flow.next_result();
    assert!(result.error.ends_with("ToolError: set_gripper: node \"controller\" answered with something else: Gripper: the result lacks \"gripper\"\n"), "{}", result.error);
}

#[test]
fn an_ended_or_stopped_episode_ends_its_cell() {
    for (kind, data, reason) in
        [(event::ENDED, r#"{"reason":"budget"}"#, "budget"), (event::STOPPED, "{}", "stopped")]
    {
        let mut flow = Flow::new();
        flow.start("robo.release()", Duration::ZERO);
        let call = flow.next_call();
        let event = Event { kind: kind.to_owned(), data: data.to_owned(), ..Event::default() };
        flow.runner.on_event(0, &event);
        flow.until(|flow| flow.cancels.len() == 1);
        flow.answer(&call, 1, "cancelled");
        let result = flow.next_result();
        assert_eq!(result.status, "cancelled");
        assert!(
            result.error.starts_with(&format!("the episode is over ({reason}).")),
            "{}",
            result.error
        );
        let result = flow.run("robo.release()");
        assert!(result.error.ends_with(&format!("EpisodeFinished: {reason}\n")));
    }
}

#[test]
fn a_new_episode_has_an_empty_namespace() {
    let mut flow = Flow::new();
    flow.run("x = 1");
    flow.start("while True: pass", Duration::ZERO);
    flow.episode = 1;
    // A cell that overtakes its card waits for it.
    let cell = Cell { id: "early".to_owned(), index: 1, code: "x".to_owned(), ..Cell::default() };
    flow.runner.on_cell(1, cell);
    flow.card();
    let result = flow.next_result();
    assert_eq!(result.status, "cancelled");
    let result = flow.next_result();
    assert_eq!(result.id, "early");
    assert!(result.error.contains("NameError"));
    flow.runner.on_cell(0, Cell { id: "late".to_owned(), ..Cell::default() });
    assert_eq!(flow.next_result().error, "the cell was not run: its episode is over");
}

#[test]
fn a_program_starts_with_an_empty_namespace() {
    let mut flow = Flow::new();
    let mut fresh = |code: &str| {
        flow.index += 1;
        let cell =
            Cell { index: flow.index, code: code.to_owned(), fresh: true, ..Cell::default() };
        flow.runner.on_cell(flow.episode, cell);
        flow.next_result()
    };
    assert_eq!(fresh("x = 1\nx").value, "1");
    let result = fresh("print(robo.task)\nx");
    assert_eq!((result.stdout.as_str(), result.namespace_lost), ("pick up the bowl\n", false));
    assert!(result.error.contains("NameError"), "{}", result.error);
    assert_eq!(flow.run("y = 2\ny").value, "2", "a cell after a program goes on in its namespace");
}

#[test]
fn a_skipped_cell_ends_and_the_episode_goes_on() {
    let mut flow = Flow::new();
    flow.run("x = 1");
    flow.start("while True: pass", Duration::ZERO);
    let skip = Event { kind: event::SKIP.into(), ..Event::default() };
    flow.runner.on_event(flow.episode, &skip);
    let result = flow.next_result();
    assert_eq!(result.status, "cancelled");
    assert!(result.error.contains("ended early"), "{}", result.error);
    assert_eq!(flow.run("x").value, "1");
    flow.runner.on_event(flow.episode, &skip);
    assert_eq!(flow.run("x").value, "1", "nothing ran");
}

#[test]
fn a_flood_of_calls_does_not_flood_the_ledger() {
    let mut flow = Flow::new();
    let result = flow.run("for _ in range(2_500): robo.state()");
    assert_eq!(result.ledger.len(), 2_000);
    assert_eq!(flow.warnings, ["cell 1 made 500 calls more than its ledger holds"]);
}

#[test]
fn one_cell_at_a_time() {
    let mut flow = Flow::new();
    flow.start("time.sleep(0.5)", Duration::ZERO);
    flow.start("print(1)", Duration::ZERO);
    assert_eq!(flow.next_result().error, "the cell was not run: another cell still runs");
    assert_eq!(flow.next_result().status, "ok");
}
