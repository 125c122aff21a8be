use serde::{Deserialize, Serialize};

use crate::{Bill, Level};

/// `result.json`: what was asked, how it ended and who was to blame.
///
/// Times are wall-clock seconds, moments are RFC 3339 in UTC. A reader of a
/// later version adds fields and keeps these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunResult {
    /// [`RunResult::SCHEMA`].
    pub schema: String,
    /// What wrote it: `ruaflow`.
    pub system: String,
    /// Version of that.
    pub version: String,
    /// Id of the run.
    pub run: String,
    pub robot: String,
    pub suite: String,
    pub task: u32,
    /// Seed of the first episode.
    pub seed: u64,
    /// The task in words.
    pub task_language: String,
    /// Planner backend.
    pub planner: String,
    /// The model that planned; empty when none did.
    pub model: String,
    /// How the agent acted: `cells`, `program`, `single-shot`, `tools`.
    pub arm: String,
    /// What it was told and shown after it had acted.
    pub feedback: String,
    pub images: String,
    /// Whether the cells were told what no camera sees (`PERCEPTION=oracle`); such a
    /// run proves nothing about a robot.
    pub privileged: bool,
    /// How much of the run is on disk; `rua prune` may have lowered it.
    pub record: Level,
    /// The file a script planner played.
    pub policy: Option<Policy>,
    /// All that was asked for, as in `settings.json`.
    pub settings: serde_json::Value,
    pub status: Status,
    /// Why the last episode ended; empty while it runs.
    pub reason: Option<Reason>,
    /// What ended a failed run.
    pub error: Option<Failure>,
    /// What the agent said with `finish` in the last episode; it decides nothing.
    pub finish: Option<Finish>,
    /// Whether the benchmark's own predicate fired in every episode that was asked for.
    pub environment_success: bool,
    /// Calls made on the robot.
    pub calls: u64,
    /// Those that may have changed the scene.
    pub stateful_calls: u64,
    /// Control steps.
    pub env_steps: u64,
    pub cells: u64,
    /// What the models cost, summed.
    pub bill: Bill,
    /// From the card to the end of the episode, summed.
    pub policy_wall_s: f64,
    /// From the planner's start to the first card.
    pub startup_s: f64,
    pub total_wall_s: f64,
    /// Wall-clock budget of an episode; 0 for none.
    pub budget_s: f64,
    /// Control steps an episode may use; 0 for the robot's own limit.
    pub max_episode_steps: u32,
    /// Settling control steps before control step 0.
    pub settle: u32,
    /// Seeds asked for, one an episode.
    pub seeds: Vec<u64>,
    pub episodes: Vec<EpisodeResult>,
    pub warnings: Vec<Notice>,
    pub created_at: String,
    pub finished_at: Option<String>,
}

/// One episode of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EpisodeResult {
    pub episode: u32,
    pub suite: String,
    pub task: u32,
    pub seed: u64,
    pub task_language: String,
    pub status: Status,
    pub reason: Option<Reason>,
    pub error: Option<Failure>,
    pub environment_success: bool,
    /// Whether a predicate judges the episode at all.
    pub judged: bool,
    pub terminated: bool,
    pub truncated: bool,
    pub calls: u64,
    pub stateful_calls: u64,
    pub env_steps: u64,
    pub cells: u64,
    /// What the agent said with `finish`; it decides nothing.
    pub finish: Option<Finish>,
    /// The budget that was used up first: `time`, `steps`, `turns`, `calls`, `tokens`, `money`.
    pub limit: Option<String>,
    /// What the model cost.
    pub bill: Bill,
    /// From `reset` to the card.
    pub reset_s: f64,
    /// From the card to the end.
    pub policy_wall_s: f64,
    /// Whether the recorder has every row; false while it runs.
    pub recorded: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Running,
    /// It ran to its end, solved or not.
    Completed,
    /// A node, the robot or the disk failed.
    Failed,
    /// A person ended it.
    Interrupted,
}

/// Why an episode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The robot reports the task as solved.
    Success,
    /// Its control steps are used up.
    Truncated,
    /// The script is played.
    PolicyFinished,
    /// The agent called `finish`.
    Finish,
    /// A cell of a script raised, timed out or crashed.
    CellError,
    /// The agent stopped acting and did not say `finish`.
    GaveUp,
    /// A budget is used up; `limit` says which.
    Budget,
    /// A person stopped it.
    Stopped,
    /// A node died or does not answer.
    NodeDied,
    /// A node reported an error that ends the run.
    Error,
}

impl Reason {
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Success => "success",
            Reason::Truncated => "truncated",
            Reason::PolicyFinished => "policy_finished",
            Reason::Finish => "finish",
            Reason::CellError => "cell_error",
            Reason::GaveUp => "gave_up",
            Reason::Budget => "budget",
            Reason::Stopped => "stopped",
            Reason::NodeDied => "node_died",
            Reason::Error => "error",
        }
    }
}

/// What ended a failed run; `node` is empty when nobody knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    pub node: String,
    pub message: String,
}

/// A warning that a node gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Notice {
    pub node: String,
    pub message: String,
}

/// The agent's own word on the episode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finish {
    pub status: String,
    pub summary: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    pub path: String,
    pub sha256: String,
    pub bytes: u64,
}

impl RunResult {
    pub const SCHEMA: &'static str = "ruaflow-run-v1";

    /// Reads the text of a `result.json`; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let result: RunResult = serde_json::from_str(text).map_err(|e| e.to_string())?;
        if result.schema != Self::SCHEMA {
            return Err(format!(
                "its schema is {:?}, this build reads {:?}",
                result.schema,
                Self::SCHEMA
            ));
        }
        Ok(result)
    }

    /// Sums the episodes up and takes the verdict over from them.
    pub fn sum_up(&mut self) {
        let all = || self.episodes.iter();
        self.calls = all().map(|e| e.calls).sum();
        self.stateful_calls = all().map(|e| e.stateful_calls).sum();
        self.env_steps = all().map(|e| e.env_steps).sum();
        self.cells = all().map(|e| e.cells).sum();
        self.bill = all().fold(Bill::default(), |mut sum, e| {
            sum.add(&e.bill);
            sum
        });
        self.policy_wall_s = all().map(|e| e.policy_wall_s).sum();
        self.environment_success = !self.seeds.is_empty()
            && all().filter(|e| e.environment_success).count() == self.seeds.len();
        self.reason = all().last().and_then(|e| e.reason);
        self.finish = all().last().and_then(|e| e.finish.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_of_another_version_is_refused_with_both_names() {
        let error = RunResult::parse(r#"{"schema": "ruaflow-run-v9"}"#).unwrap_err();
        assert!(error.contains("ruaflow-run-v9") && error.contains("ruaflow-run-v1"), "{error}");
    }

    #[test]
    fn fields_of_a_later_version_do_not_matter() {
        let text = r#"{"schema": "ruaflow-run-v1", "status": "failed", "cost": 3, "error": {"node": "libero", "message": "x"}}"#;
        let result = RunResult::parse(text).unwrap();
        assert_eq!(result.status, Status::Failed);
        assert_eq!(result.error.unwrap().node, "libero");
    }

    #[test]
    fn a_run_is_solved_when_every_episode_asked_for_is() {
        let solved = EpisodeResult {
            environment_success: true,
            env_steps: 5,
            calls: 2,
            ..EpisodeResult::default()
        };
        let mut result =
            RunResult { seeds: vec![0, 1], episodes: vec![solved.clone()], ..RunResult::default() };
        result.sum_up();
        assert!(!result.environment_success);
        let finish = Some(Finish { status: "success".into(), ..Finish::default() });
        result.episodes.push(EpisodeResult { reason: Some(Reason::Success), finish, ..solved });
        result.sum_up();
        assert_eq!(result.finish.as_ref().map(|finish| finish.status.as_str()), Some("success"));
        assert!(result.environment_success);
        assert_eq!((result.env_steps, result.calls, result.reason), (10, 4, Some(Reason::Success)));
    }

    #[test]
    fn reasons_are_written_as_they_are_sent() {
        for reason in [Reason::PolicyFinished, Reason::NodeDied, Reason::Success] {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
        }
    }
}
