use std::path::PathBuf;

use serde::Serialize;

/// Which scene an episode was about: what two systems are paired by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Key {
    pub robot: String,
    pub suite: String,
    /// Number of the task, or its name where the benchmark has names.
    pub task: String,
    pub seed: u64,
    /// Which of several equal episodes of a campaign, from 0.
    pub repeat: u32,
}

/// One finished episode of any system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    pub key: Key,
    /// `ruaflow:cells`, `pyrualean:program`, `rpent`, …
    pub system: String,
    pub planner: String,
    pub model: String,
    pub outcome: Outcome,
    /// Why it ended, in a word or two: `success`, `finish`, `budget: time`, a node's name.
    pub cause: String,
    pub numbers: Numbers,
    /// Where its time went; `None` where the system did not record it.
    pub spent: Option<Spent>,
    /// The run's folder.
    pub source: PathBuf,
    /// Its number there.
    pub episode: u32,
}

/// How an episode ended, as the benchmark judges it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Solved,
    Failed,
    /// A node, a provider or the disk failed: it says nothing about the agent.
    Infrastructure,
    /// Nothing on disk says.
    Unknown,
}

/// What an episode took; `None` where the system did not record it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Numbers {
    /// Replies of the model.
    pub turns: Option<f64>,
    /// Calls made on the robot.
    pub calls: Option<f64>,
    /// Control steps.
    pub steps: Option<f64>,
    pub cells: Option<f64>,
    pub seconds: Option<f64>,
    /// All that the model was sent, cached or not.
    pub input_tokens: Option<f64>,
    pub cached_tokens: Option<f64>,
    pub output_tokens: Option<f64>,
    pub dollars: Option<f64>,
}

/// Seconds of an episode by what they went into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    pub reset: f64,
    pub model: f64,
    /// Waiting for a provider that had no room, and for attempts that failed.
    pub waiting: f64,
    /// Cells, and the robot in them.
    pub robot: f64,
}

impl Spent {
    /// In the order of the fields.
    pub fn all(&self) -> [f64; 4] {
        [self.reset, self.model, self.waiting, self.robot]
    }
}

impl Numbers {
    /// Names of the numbers, as tables show them.
    pub const NAMES: [&'static str; 9] =
        ["turns", "calls", "steps", "cells", "seconds", "input", "cached", "output", "dollars"];

    /// In the order of [`Numbers::NAMES`].
    pub fn all(&self) -> [Option<f64>; 9] {
        [
            self.turns,
            self.calls,
            self.steps,
            self.cells,
            self.seconds,
            self.input_tokens,
            self.cached_tokens,
            self.output_tokens,
            self.dollars,
        ]
    }
}

impl Trial {
    pub fn solved(&self) -> bool {
        self.outcome == Outcome::Solved
    }

    /// Whether it counts for a success rate.
    pub fn counts(&self) -> bool {
        matches!(self.outcome, Outcome::Solved | Outcome::Failed)
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}:{} seed {}", self.robot, self.suite, self.task, self.seed)?;
        if self.repeat > 0 {
            write!(f, " repeat {}", self.repeat)?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An episode on a task of one suite.
    pub fn trial(system: &str, task: u32, outcome: Outcome) -> Trial {
        let solved = outcome == Outcome::Solved;
        Trial {
            key: Key {
                robot: "libero".to_owned(),
                suite: "libero_spatial".to_owned(),
                task: task.to_string(),
                seed: 0,
                repeat: 0,
            },
            system: system.to_owned(),
            planner: "script".to_owned(),
            model: String::new(),
            outcome,
            cause: if solved { "success" } else { "budget: time" }.to_owned(),
            numbers: Numbers { steps: Some(100.0 + f64::from(task)), ..Numbers::default() },
            spent: None,
            source: "run".into(),
            episode: 0,
        }
    }
}
