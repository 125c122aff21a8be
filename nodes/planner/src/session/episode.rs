use std::time::{Duration, Instant};

use ruaflow_prompt::Limit;
use ruaflow_record::{EpisodeResult, Finish};
use ruaflow_schemas::{CallResult, Card, CellResult, Observation};
use serde_json::Value;

/// What is known of the episode that runs.
#[derive(Default)]
pub(super) struct Live {
    /// When its card came.
    pub began: Option<Instant>,
    pub control_step: u64,
    pub terminated: bool,
    pub truncated: bool,
    pub success: bool,
    /// Cells begun.
    pub cells: u64,
    /// What the script calls the cell that runs or ran last.
    pub title: String,
    cell: Option<String>,
    calls: u64,
    stateful_calls: u64,
    /// Calls answered since the running cell began.
    calls_now: u64,
    /// Recorded step of the last call.
    step: u64,
    /// What the agent said with `finish`.
    pub finish: Option<Finish>,
    /// The budget that was used up first.
    pub limit: Option<Limit>,
    /// The backend knows that the episode is over.
    pub released: bool,
    told: Option<Instant>,
}

impl Live {
    pub fn begin(&mut self, now: Instant, card: &Card) {
        *self = Live { began: Some(now), ..Live::default() };
        self.measured(&card.first);
    }

    /// Id and number of a new cell.
    pub fn begin_cell(&mut self, run: &str, episode: u32, title: String) -> (String, u32) {
        self.cells += 1;
        self.calls_now = 0;
        self.title = title;
        let id = format!("{run}-{episode}-cell-{}", self.cells);
        self.cell = Some(id.clone());
        (id, self.cells as u32)
    }

    pub fn call_ended(&mut self, result: &CallResult) {
        self.step = self.step.max(result.step);
        self.calls_now += 1;
        self.measured(&result.observation);
    }

    /// Takes a cell's result; `false` when it is not the one that runs.
    pub fn end_cell(&mut self, result: &CellResult) -> bool {
        if self.cell.as_deref() != Some(result.id.as_str()) {
            return false;
        }
        self.cell = None;
        self.calls += result.ledger.len() as u64;
        self.stateful_calls += result.ledger.iter().filter(|call| call.stateful).count() as u64;
        if !result.finish_status.is_empty() {
            self.finish = Some(Finish {
                status: result.finish_status.clone(),
                summary: result.finish_summary.clone(),
            });
        }
        true
    }

    /// Whether the results of all calls of a cell have come.
    pub fn knows(&self, cell: &CellResult) -> bool {
        let last =
            cell.ledger.iter().filter(|call| call.stateful && call.ok).map(|call| call.step).max();
        let over = cell.status != "episode_finished" || self.terminated || self.truncated;
        last.is_none_or(|step| self.step >= step) && over
    }

    /// Calls so far, those of the running cell included.
    pub fn calls(&self) -> u64 {
        if self.cell.is_some() { self.calls + self.calls_now } else { self.calls }
    }

    /// Whether it is time to show progress again.
    pub fn may_tell(&mut self, now: Instant, every: Duration) -> bool {
        let may = self.told.is_none_or(|told| now >= told + every);
        if may {
            self.told = Some(now);
        }
        may
    }

    /// Takes over what the recorder has found in the recorded observations.
    pub fn correct(&mut self, recorded: &Value) {
        let flag = |name: &str| recorded[name] == true;
        self.control_step = self.control_step.max(recorded["control_step"].as_u64().unwrap_or(0));
        self.terminated |= flag("terminated");
        self.truncated |= flag("truncated");
        self.success |= flag("success");
    }

    pub fn fill_in(&self, episode: &mut EpisodeResult, now: Instant) {
        // A cell that never answered made its calls all the same.
        let unanswered = if self.cell.is_some() { self.calls_now } else { 0 };
        episode.environment_success = self.success;
        episode.terminated = self.terminated;
        episode.truncated = self.truncated;
        episode.calls = self.calls + unanswered;
        episode.stateful_calls = self.stateful_calls + unanswered;
        episode.env_steps = self.control_step;
        episode.cells = self.cells;
        episode.finish.clone_from(&self.finish);
        episode.limit = self.limit.map(|limit| limit.word().to_owned());
        if episode.policy_wall_s == 0.0 {
            episode.policy_wall_s = self.began.map_or(0.0, |began| (now - began).as_secs_f64());
        }
    }

    fn measured(&mut self, observation: &Observation) {
        self.control_step = self.control_step.max(observation.control_step);
        self.terminated |= observation.terminated;
        self.truncated |= observation.truncated;
        self.success |= observation.success;
    }
}
