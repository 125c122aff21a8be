//! The cell that runs now: its deadline, its calls, and how it ends.

use std::rc::Rc;
use std::time::{Duration, Instant};

use ruaflow_schemas::{CellResult, LedgerEntry};

use crate::audit::Audit;
use crate::child::{Exit, Output};
use crate::eyes::Seen;
use crate::looking::Look;
use crate::protocol::{Done, ErrorKind};
use crate::shown::Shown;

/// How long a cell may take to end after it was asked to.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// Calls kept of one cell. A loop can make millions; nobody reads those.
pub(crate) const MAX_LEDGER: usize = 2_000;

pub(crate) struct Running {
    pub(crate) id: String,
    pub(crate) index: u32,
    pub(crate) started: Instant,
    pub(crate) timeout: Duration,
    pub(crate) call: Option<PendingCall>,
    pub(crate) stop: Option<Stop>,
    pub(crate) end: Option<End>,
    pub(crate) shown: Shown,
    /// Pictures it displayed itself.
    pub(crate) displayed: u32,
    /// The views after its motion have been asked for.
    pub(crate) looked: bool,
    audit: Audit,
    pub(crate) ledger: Vec<LedgerEntry>,
    /// Calls that the ledger had no room for.
    pub(crate) unlisted: u64,
    pub(crate) control_steps: u64,
}

/// A call that is not answered yet.
pub(crate) struct PendingCall {
    /// Id in the dataflow.
    pub(crate) id: String,
    /// Id the child gave it.
    pub(crate) child_id: u64,
    pub(crate) method: String,
    pub(crate) arguments: String,
    pub(crate) stateful: bool,
    pub(crate) started: Instant,
    /// When the node it waits for counts as silent; pictures have a deadline of their own.
    pub(crate) deadline: Option<Instant>,
    pub(crate) timeout: Duration,
    pub(crate) cancelled: bool,
    pub(crate) wait: Wait,
}

/// What a call waits for.
pub(crate) enum Wait {
    Controller,
    Picture(Look),
    Perception { look: Look, seen: Rc<Seen> },
}

/// The cell was asked to end.
pub(crate) struct Stop {
    pub(crate) why: Why,
    /// In words, for the agent.
    pub(crate) reason: String,
    pub(crate) kill_at: Instant,
    pub(crate) killed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    Deadline,
    Cancelled,
}

/// What the child said at the end.
pub(crate) enum End {
    Done(Done, Output),
    Exited(Exit, Output),
}

impl Running {
    pub(crate) fn new(id: &str, index: u32, timeout: Duration, audit: Audit) -> Self {
        Self {
            id: id.to_owned(),
            index,
            started: Instant::now(),
            timeout,
            call: None,
            stop: None,
            end: None,
            shown: Shown::default(),
            displayed: 0,
            looked: false,
            audit,
            ledger: Vec::new(),
            unlisted: 0,
            control_steps: 0,
        }
    }

    /// The next moment something has to be done about this cell.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let cell = match &self.stop {
            Some(stop) => Some(stop.kill_at).filter(|_| !stop.killed),
            None => self.expires(),
        };
        let call = self.call.as_ref().and_then(|call| call.deadline);
        cell.into_iter().chain(call).min()
    }

    /// When the cell's own deadline passes, if it has one.
    pub(crate) fn expires(&self) -> Option<Instant> {
        (!self.timeout.is_zero()).then(|| self.started.checked_add(self.timeout)).flatten()
    }

    pub(crate) fn log(&mut self, entry: LedgerEntry) {
        self.control_steps += entry.control_steps;
        if self.ledger.len() < MAX_LEDGER {
            self.ledger.push(entry);
        } else {
            self.unlisted += 1;
        }
    }

    /// The result for the planner, without the robot's state.
    pub(crate) fn into_result(self) -> CellResult {
        let mut result = CellResult {
            id: self.id,
            index: self.index,
            ledger: self.ledger,
            control_steps: self.control_steps,
            elapsed_ns: nanoseconds(self.started.elapsed()),
            audit: self.audit.finish(),
            ..CellResult::default()
        };
        let (images, picture_errors) = self.shown.finish();
        result.images = images;
        match self.end {
            Some(End::Done(done, output)) => {
                fill_done(&mut result, done, output, self.stop.as_ref());
            }
            Some(End::Exited(exit, output)) => {
                result.namespace_lost = true;
                result.stdout = output.stdout;
                result.stderr = output.stderr;
                match &self.stop {
                    Some(stop) if exit == Exit::Killed => {
                        status(stop.why).clone_into(&mut result.status);
                        result.error = format!(
                            "{}; it did not end when asked and was killed. Its names and those of \
                             earlier cells are gone; the scene is as it was left.",
                            stop.reason
                        );
                    }
                    _ => {
                        "crashed".clone_into(&mut result.status);
                        result.error = format!(
                            "{exit}. Its names and those of earlier cells are gone; the scene is as it was left."
                        );
                    }
                }
            }
            None => {
                "cancelled".clone_into(&mut result.status);
                result.namespace_lost = true;
            }
        }
        for error in picture_errors {
            result.stderr.push_str(&format!("(no picture of {error})\n"));
        }
        result
    }
}

fn fill_done(result: &mut CellResult, done: Done, output: Output, stop: Option<&Stop>) {
    result.stdout = output.stdout;
    result.stderr = output.stderr;
    result.value = done.value.unwrap_or_default();
    let natural = match (&done.error, &done.finish) {
        (Some(error), _) if error.kind == ErrorKind::EpisodeFinished && done.finish.is_none() => {
            "episode_finished"
        }
        (_, Some(_)) => "finished",
        (Some(_), None) => "error",
        (None, None) => "ok",
    };
    if let Some(finish) = done.finish {
        result.finish_status = finish.status;
        result.finish_summary = finish.summary;
    }
    let traceback = done.error.map(|error| error.traceback).unwrap_or_default();
    match stop {
        Some(stop) if !traceback.is_empty() => {
            status(stop.why).clone_into(&mut result.status);
            result.error = format!("{}.\n{traceback}", stop.reason);
        }
        _ => {
            natural.clone_into(&mut result.status);
            result.error = traceback;
        }
    }
}

fn status(why: Why) -> &'static str {
    match why {
        Why::Deadline => "timeout",
        Why::Cancelled => "cancelled",
    }
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
