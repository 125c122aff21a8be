//! The checks' outcomes on their way from the checker's process to the person.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// What was checked, as a statement about the robot.
    pub check: String,
    pub outcome: Outcome,
    /// What was measured, or why the check failed or was not made.
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Passed,
    Failed,
    /// The robot does not declare what it would check.
    NotMade,
}

/// What a check found: a measurement, or why it failed.
pub type Found = Result<String, String>;

/// Writes the report; the file is read while it grows.
pub struct Report(File);

impl Report {
    pub fn open(path: &Path) -> std::io::Result<Self> {
        OpenOptions::new().create(true).append(true).open(path).map(Report)
    }

    /// Reports what a check found, and whether it passed.
    pub fn found(&mut self, check: &str, found: Found) -> eyre::Result<bool> {
        let (outcome, note) = match found {
            Ok(note) => (Outcome::Passed, note),
            Err(note) => (Outcome::Failed, note),
        };
        self.write(&Line { check: check.to_owned(), outcome, note })?;
        Ok(outcome == Outcome::Passed)
    }

    pub fn not_made(&mut self, check: &str, why: &str) -> eyre::Result<()> {
        self.write(&Line {
            check: check.to_owned(),
            outcome: Outcome::NotMade,
            note: why.to_owned(),
        })
    }

    fn write(&mut self, line: &Line) -> eyre::Result<()> {
        // One write, so that a reader never sees half a line followed by nothing.
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        Ok(self.0.write_all(text.as_bytes())?)
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = match self.outcome {
            Outcome::Passed => '✓',
            Outcome::Failed => '✗',
            Outcome::NotMade => '-',
        };
        write!(f, "{mark} {}", self.check)?;
        if self.note.is_empty() { Ok(()) } else { write!(f, ": {}", self.note) }
    }
}
