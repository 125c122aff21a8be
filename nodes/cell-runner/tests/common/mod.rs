#![allow(clippy::unwrap_used)]
//! A child process with a made-up robot behind it.
#![allow(dead_code, reason = "each test binary uses some of it")]

pub mod bench;
pub mod seeing;

use std::time::Duration;

use cell_runner::child::{Child, ChildConfig, ChildEvent, Exit, Output};
use cell_runner::protocol::{Answer, Done, Refusal};
use crossbeam_channel::Receiver;
use ruaflow_robots::Primitives;
use serde_json::{Map, Value, json};

pub fn config() -> ChildConfig {
    ChildConfig { program: env!("CARGO_BIN_EXE_cell-runner").into(), memory_bytes: 512 << 20 }
}

/// A child that has its robot, and every call it made.
pub struct Cells {
    pub child: Child,
    events: Receiver<ChildEvent>,
    index: u32,
    pub calls: Vec<(String, Map<String, Value>)>,
    /// The episode is over after this many calls of state-changing methods.
    pub calls_left: usize,
}

#[derive(Debug)]
pub struct Ran {
    pub done: Done,
    pub output: Output,
}

impl Ran {
    pub fn error(&self) -> &str {
        self.done.error.as_ref().map_or("", |error| error.traceback.as_str())
    }

    /// The last line of the error.
    pub fn error_line(&self) -> &str {
        self.error().trim_end().lines().last().unwrap_or("")
    }
}

impl Cells {
    pub fn new() -> Self {
        Self::with_config(&config())
    }

    pub fn with_config(config: &ChildConfig) -> Self {
        let (sender, events) = crossbeam_channel::unbounded();
        let child = Child::spawn(config, move |event| {
            let _ = sender.send(event);
        })
        .unwrap();
        child.init("libero", Primitives::Full);
        Self { child, events, index: 0, calls: Vec::new(), calls_left: usize::MAX }
    }

    /// Starts a cell without waiting for it; returns its index.
    pub fn start(&mut self, code: &str) -> u32 {
        self.index += 1;
        self.child.run(self.index, code);
        self.index
    }

    /// Runs a cell that is expected to leave its process alive.
    pub fn run(&mut self, code: &str) -> Ran {
        self.start(code);
        match self.wait(Duration::from_secs(60)) {
            Ok(ran) => ran,
            Err((exit, output)) => panic!("{exit}\n{output:?}"),
        }
    }

    /// What a cell printed; it must not fail.
    pub fn stdout(&mut self, code: &str) -> String {
        let ran = self.run(code);
        assert_eq!(ran.error(), "", "{code}");
        ran.output.stdout
    }

    /// Waits for the end of the running cell, or of the process.
    pub fn wait(&mut self, limit: Duration) -> Result<Ran, (Exit, Output)> {
        let end = std::time::Instant::now() + limit;
        loop {
            let event = self.events.recv_deadline(end).expect("the cell ends in time");
            match event {
                ChildEvent::Ready { .. } => {}
                ChildEvent::Call { id, method, arguments } => {
                    let answer = self.answer(&method, &arguments);
                    self.calls.push((method, arguments));
                    self.child.reply(id, answer);
                }
                ChildEvent::Attribute { id, name } => {
                    let value = match name.as_str() {
                        "task" => json!("pick up the bowl"),
                        _ => json!(self.calls_left == 0),
                    };
                    self.child.reply(id, Answer::Value(value));
                }
                ChildEvent::Display { id, .. } | ChildEvent::File { id, .. } => {
                    self.child.reply(id, Answer::refused(Refusal::Tool, "not in this test"));
                }
                ChildEvent::Done { done, output } => return Ok(Ran { done, output }),
                ChildEvent::Exited { exit, output } => return Err((exit, output)),
            }
        }
    }

    /// Whether the running cell neither ends nor calls anything for so long.
    pub fn still_runs(&mut self, long: Duration) -> bool {
        while let Ok(event) = self.events.recv_timeout(long) {
            if !matches!(event, ChildEvent::Ready { .. }) {
                return false;
            }
        }
        true
    }

    fn answer(&mut self, method: &str, arguments: &Map<String, Value>) -> Answer {
        if method == "state" {
            return Answer::Value(state());
        }
        if self.calls_left == 0 {
            return Answer::refused(Refusal::EpisodeFinished, "terminated");
        }
        self.calls_left -= 1;
        match method {
            "move_to" => Answer::Value(json!({
                "target_xyz": arguments["xyz"], "final_eef_pos": arguments["xyz"],
                "final_dist_m": 0.0, "reached": true, "steps_used": 12, "max_steps": 80,
                "terminated": false, "truncated": false, "stalled": false, "stall_reason": null,
            })),
            _ => Answer::refused(Refusal::Tool, "node \"controller\" has died"),
        }
    }
}

pub fn state() -> Value {
    json!({
        "step": 3, "task": "pick up the bowl", "eef_pos": [-0.2085, 0.0, 1.1733],
        "eef_quat": [1.0, 0.0, 0.0, 0.0], "eef_yaw": 0.0, "eef_pitch": 0.0,
        "gripper_qpos": [0.0208, -0.0208], "gripper_opening": 0.0416,
        "object_names": ["bowl_1", "plate_1"], "terminated": false, "truncated": false,
    })
}
