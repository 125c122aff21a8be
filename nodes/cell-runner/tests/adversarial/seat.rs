//! Where an agent sits: cells go in, results come out, a controller refuses.

use std::time::{Duration, Instant};

use cell_runner::child::{Child, ChildConfig, ChildEvent};
use cell_runner::runner::{Outgoing, Runner};
use crossbeam_channel::Receiver;
use ruaflow_schemas::{ArmState, Call, CallResult, Card, Cell, CellResult, Observation};

/// How long anything may take that has no deadline of its own.
const LIMIT: Duration = Duration::from_secs(60);

pub fn config() -> ChildConfig {
    ChildConfig { program: env!("CARGO_BIN_EXE_cell-runner").into(), memory_bytes: 128 << 20 }
}

pub struct Seat {
    runner: Runner,
    events: Receiver<(u64, ChildEvent)>,
    index: u32,
    moves: usize,
}

impl Seat {
    pub fn new() -> Self {
        let (sender, events) = crossbeam_channel::unbounded();
        let spawn = Box::new(move |generation| {
            let sender = sender.clone();
            Child::spawn(&config(), move |event| {
                // False only when the seat has been left.
                let _ = sender.send((generation, event));
            })
        });
        let mut runner = Runner::new(spawn, Duration::from_secs(30)).unwrap();
        let first = Observation {
            arms: vec![ArmState {
                name: "right".to_owned(),
                gripper_qpos: vec![0.02, -0.02],
                ..ArmState::default()
            }],
            ..Observation::default()
        };
        let card = Card { robot: "libero".to_owned(), first, ..Card::default() };
        runner.on_card(0, card).unwrap();
        let mut seat = Self { runner, events, index: 0, moves: 0 };
        // The first cell's deadline does not count the start of the process.
        seat.run("1", Duration::ZERO);
        seat
    }

    /// How often the robot was to move since this was last asked.
    pub fn moves(&mut self) -> usize {
        std::mem::take(&mut self.moves)
    }

    /// A cell's result, and how long it took.
    pub fn run(&mut self, code: &str, timeout: Duration) -> (CellResult, Duration) {
        self.index += 1;
        let cell = Cell {
            id: self.index.to_string(),
            index: self.index,
            code: code.to_owned(),
            timeout_ms: timeout.as_millis() as u64,
            ..Cell::default()
        };
        let began = Instant::now();
        self.runner.on_cell(0, cell);
        loop {
            while let Some(outgoing) = self.runner.outgoing() {
                match outgoing {
                    Outgoing::CellResult(result) => return (*result, began.elapsed()),
                    Outgoing::Call(call) => self.refuse(&call),
                    _ => {}
                }
            }
            let limit = began + LIMIT;
            assert!(Instant::now() < limit, "no result of {code}");
            let deadline = self.runner.deadline().unwrap_or(limit).min(limit);
            match self.events.recv_deadline(deadline) {
                Ok((generation, event)) => self.runner.on_child(generation, event).unwrap(),
                Err(_) => self.runner.on_time().unwrap(),
            }
        }
    }

    fn refuse(&mut self, call: &Call) {
        self.moves += 1;
        let result = CallResult {
            id: call.id.clone(),
            method: call.method.clone(),
            outcome: "{}".to_owned(),
            error: "tool_error".to_owned(),
            message: "there is no robot".to_owned(),
            ..CallResult::default()
        };
        self.runner.on_result(0, result).unwrap();
    }
}
