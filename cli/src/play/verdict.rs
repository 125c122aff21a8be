//! How a run ended, from its `result.json`, which is finished here when
//! nobody in the dataflow was left to do it.

use std::path::Path;
use std::process::ExitCode;

use eyre::{Result, eyre};
use ruaflow_record::{Failure, Reason, RunDir, RunResult, Status};

use super::request::Request;
use super::session::Ending;
use crate::failure::NOT_SOLVED;
use crate::flow::Output;

/// The last lines of dora's output that an error shows when no node has failed.
const LAST_LINES: usize = 3;

pub struct Verdict {
    result: RunResult,
    dir: String,
}

impl Verdict {
    /// Reads the result of a run that is over.
    pub fn reach(request: &Request, ending: &Ending) -> Result<Self> {
        // The planner makes it a run's folder when it starts.
        let Ok(dir) = RunDir::open(&request.dir) else {
            return Err(did_not_start(request, ending));
        };
        let failure = failure(ending);
        let died = dir.finish_as_failed(&failure.node, &failure.message)?;
        match ruaflow_record::repair(dir.root()) {
            Err(error) if died || ending.killed.is_some() => return Err(error.into()),
            // Of a run in good order nothing is left but to compact what has no table yet.
            _ => {}
        }
        Ok(Verdict { result: dir.result()?, dir: request.dir.display().to_string() })
    }

    pub fn solved(&self) -> bool {
        self.result.environment_success
    }

    /// One line for people.
    pub fn line(&self) -> String {
        let result = &self.result;
        let ended = match (self.completed(), self.solved()) {
            (true, true) => "✓ success".to_owned(),
            (true, false) if !result.episodes.iter().any(|e| e.judged) => {
                format!("✓ done ({})", self.reason())
            }
            (true, false) => format!("· not solved ({})", self.reason()),
            (false, _) if result.status == Status::Failed => "✗ failed".to_owned(),
            (false, _) => "· ended by a person".to_owned(),
        };
        let solved = result.episodes.iter().filter(|e| e.environment_success).count();
        let episodes = match result.seeds.len() {
            0 | 1 => String::new(),
            n => format!("{solved} of {n} episodes solved, "),
        };
        format!(
            "{ended}: {episodes}{} cells, {} calls, {} control steps, {:.1} s",
            result.cells, result.calls, result.env_steps, result.total_wall_s
        )
    }

    pub fn json(&self, dir: &Path) -> serde_json::Value {
        serde_json::json!({ "dir": dir, "result": self.result })
    }

    /// The exit status, or why the run did not come to its end.
    pub fn status(&self, require_success: bool) -> Result<ExitCode> {
        if !self.completed() {
            return Err(self.error());
        }
        Ok(if require_success && !self.solved() {
            ExitCode::from(NOT_SOLVED)
        } else {
            ExitCode::SUCCESS
        })
    }

    /// Whether every episode ran to its end.
    pub fn completed(&self) -> bool {
        self.result.status == Status::Completed && self.result.reason != Some(Reason::Stopped)
    }

    fn reason(&self) -> &'static str {
        self.result.reason.map_or("no reason given", Reason::as_str)
    }

    fn error(&self) -> eyre::Report {
        let dir = &self.dir;
        match &self.result.error {
            Some(Failure { node, message }) if node.is_empty() => {
                eyre!("{message}; the partial run is in {dir}")
            }
            Some(Failure { node, message }) => {
                eyre!("node {node:?}: {message}; the partial run is in {dir}")
            }
            None => eyre!(
                "the run was ended by a person ({}); the partial run is in {dir}",
                self.reason()
            ),
        }
    }
}

/// What to write into a result that nobody has finished.
fn failure(ending: &Ending) -> Failure {
    let failed = ending.output.failures().into_iter().next();
    match (failed, ending.killed) {
        (Some(failed), _) => Failure {
            message: last_words(&ending.output, &failed.node).unwrap_or(failed.reason),
            node: failed.node,
        },
        (None, Some(killed)) => {
            Failure { node: String::new(), message: format!("the run was killed: {killed}") }
        }
        (None, None) => {
            Failure { node: "dora".to_owned(), message: "dora ended before the run did".to_owned() }
        }
    }
}

fn did_not_start(request: &Request, ending: &Ending) -> eyre::Report {
    let log = request.dir.join("dora.log");
    let kept = match ending.output.keep_in(&log) {
        Ok(()) => format!("; dora's output is in {}", log.display()),
        Err(_) => String::new(),
    };
    if ending.asked {
        return eyre!("the run was ended by a person before it had started{kept}");
    }
    match ending.output.failures().first() {
        Some(failed) => {
            let words =
                last_words(&ending.output, &failed.node).unwrap_or_else(|| failed.reason.clone());
            eyre!("the run did not start: node {:?}: {words}{kept}", failed.node)
        }
        None => {
            let lines = ending.output.lines();
            let words = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
            let words: Vec<&str> = words.collect();
            eyre!(
                "the run did not start: {}{kept}",
                words[words.len().saturating_sub(LAST_LINES)..].join(" ")
            )
        }
    }
}

/// A node's own account of its failure: the last line it printed, which begins with its name.
fn last_words(output: &Output, node: &str) -> Option<String> {
    let printed = output.printed_by(node);
    let words = printed.iter().rev().find_map(|line| line.split_once(": "))?;
    (words.0 == node || !words.0.contains(' ')).then(|| words.1.to_owned())
}
