//! A runner without a dataflow: cells in, results out.

use std::path::Path;
use std::time::{Duration, Instant};

use cell_runner::child::{Child, ChildEvent};
use cell_runner::feedback::{Feedback, Images};
use cell_runner::runner::{Outgoing, Runner, Spawn};
use crossbeam_channel::Receiver;
use ruaflow_schemas::{Card, Cell, CellResult};
use tempfile::TempDir;

/// Longer than any cell here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Bench {
    pub runner: Runner,
    events: Receiver<(u64, ChildEvent)>,
    folder: TempDir,
    index: u32,
}

impl Bench {
    /// A runner with a workspace and no robot.
    pub fn new() -> Self {
        Self::with_robot("none")
    }

    /// Nobody answers the robot's calls.
    pub fn with_robot(robot: &str) -> Self {
        let (sender, events) = crossbeam_channel::unbounded();
        let spawn: Spawn = Box::new(move |generation| {
            let sender = sender.clone();
            Child::spawn(&super::config(), move |event| {
                let _ = sender.send((generation, event));
            })
        });
        let mut runner = Runner::new(spawn, PATIENCE).unwrap();
        runner.report(Feedback::Rich, Images::OnDemand);
        runner.give_guides(true);
        runner.on_card(0, Card { robot: robot.to_owned(), ..Card::default() }).unwrap();
        Self { runner, events, folder: tempfile::tempdir().unwrap(), index: 0 }
    }

    pub fn workspace(&self) -> &Path {
        self.folder.path()
    }

    pub fn cell(&mut self, code: &str) -> CellResult {
        self.cell_within(code, PATIENCE)
    }

    pub fn cell_within(&mut self, code: &str, timeout: Duration) -> CellResult {
        self.index += 1;
        self.runner.on_cell(
            0,
            Cell {
                id: self.index.to_string(),
                index: self.index,
                code: code.to_owned(),
                timeout_ms: timeout.as_millis() as u64,
                workspace: self.folder.path().display().to_string(),
                ..Cell::default()
            },
        );
        let end = Instant::now() + PATIENCE + PATIENCE;
        loop {
            while let Some(outgoing) = self.runner.outgoing() {
                if let Outgoing::CellResult(result) = outgoing {
                    return *result;
                }
            }
            let due = self.runner.deadline().unwrap_or(end).min(end);
            match self.events.recv_deadline(due) {
                Ok((generation, event)) => self.runner.on_child(generation, event).unwrap(),
                Err(_) if Instant::now() >= end => panic!("the cell ends in time: {code}"),
                Err(_) => self.runner.on_time().unwrap(),
            }
        }
    }

    /// What a cell printed; it must not fail.
    pub fn printed(&mut self, code: &str) -> String {
        let result = self.cell(code);
        assert_eq!((result.error.as_str(), result.stderr.as_str()), ("", ""), "{code}");
        result.stdout
    }

    /// The last line of a cell's error.
    pub fn error(&mut self, code: &str) -> String {
        let result = self.cell(code);
        assert_ne!(result.error, "", "{code}");
        result.error.trim_end().lines().last().unwrap().to_owned()
    }
}
