//! Finds the episodes under folders, whoever wrote them.

use std::fs;
use std::path::{Path, PathBuf};

use ruaflow_record::{EpisodeResult, Reason, RunResult, Status};
use serde_json::Value;

use crate::campaign::read_campaign;
use crate::foreign;
use crate::trial::{Key, Numbers, Outcome, Spent, Trial};

/// Folders below one given, at most.
const DEPTH: usize = 6;

/// What was found, and what could not be read.
#[derive(Debug, Default)]
pub struct Found {
    pub trials: Vec<Trial>,
    /// Runs that have not ended, and files that can't be understood.
    pub problems: Vec<Problem>,
}

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("{0:?} is no run, and no folder with runs in it")]
    Nothing(PathBuf),

    #[error("the run in {0:?} has not ended; it is left out (`rua repair` finishes one that died)")]
    Running(PathBuf),

    #[error("{path:?}: {reason}")]
    Unreadable { path: PathBuf, reason: String },
}

/// Reads every run at or below `path`: RuaFlow's, PyRUA-Lean's and RPent's.
pub fn find(path: &Path) -> Found {
    let mut found = Found::default();
    let seen = walk(path, DEPTH, &mut found);
    if seen == 0 {
        found.problems.push(Problem::Nothing(path.to_owned()));
    }
    found.trials.sort_by(|a, b| (&a.key, a.episode).cmp(&(&b.key, b.episode)));
    found
}

/// Returns how many runs it has seen.
fn walk(folder: &Path, depth: usize, found: &mut Found) -> usize {
    if let Some(campaign) = read_campaign(folder) {
        found.trials.extend(campaign.trials);
        found.problems.extend(campaign.problems);
        return 1;
    }
    if let Some(result) = read_run(folder) {
        match result {
            Ok(trials) => found.trials.extend(trials),
            Err(problem) => found.problems.push(problem),
        }
        return 1;
    }
    if depth == 0 {
        return 0;
    }
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let mut below: Vec<PathBuf> = entries
        .flatten()
        // A link may lead in a circle, and would count a run twice.
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect();
    below.sort();
    below.iter().map(|path| walk(path, depth - 1, found)).sum()
}

/// The episodes that a run of ours has finished, whatever became of the run.
pub(crate) fn finished(folder: &Path) -> Result<Vec<Trial>, Problem> {
    let path = folder.join("result.json");
    let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, error))?;
    let run = RunResult::parse(&text).map_err(|reason| unreadable(&path, reason))?;
    Ok(ours(folder, &run))
}

/// Reads the run that `folder` is; `None` when it is none.
fn read_run(folder: &Path) -> Option<Result<Vec<Trial>, Problem>> {
    let path = folder.join("result.json");
    match fs::read_to_string(&path) {
        Ok(text) => Some(read_result(folder, &text).map_err(|problem| match problem {
            Problem::Unreadable { reason, .. } => Problem::Unreadable { path, reason },
            other => other,
        })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => foreign::rpent(folder)
            .map(|read| read.map(|trial| vec![trial]))
            .map(|read| read.map_err(|reason| unreadable(folder, reason))),
        Err(error) => Some(Err(unreadable(&path, error))),
    }
}

fn read_result(folder: &Path, text: &str) -> Result<Vec<Trial>, Problem> {
    let value: Value = serde_json::from_str(text).map_err(|e| unreadable(folder, e))?;
    match value["schema"].as_str() {
        Some(foreign::PYRUALEAN) => Ok(vec![foreign::pyrualean(folder, &value)]),
        _ => {
            let run = RunResult::parse(text).map_err(|reason| unreadable(folder, reason))?;
            if run.status == Status::Running {
                return Err(Problem::Running(folder.to_owned()));
            }
            Ok(ours(folder, &run))
        }
    }
}

fn unreadable(path: &Path, reason: impl ToString) -> Problem {
    Problem::Unreadable { path: path.to_owned(), reason: reason.to_string() }
}

/// The episodes of a run of ours. An episode that a person ended is not one.
fn ours(folder: &Path, run: &RunResult) -> Vec<Trial> {
    run.episodes
        .iter()
        .filter(|episode| !matches!(episode.status, Status::Running | Status::Interrupted))
        .map(|episode| {
            let (outcome, cause) = verdict(episode);
            let repeats = run.episodes.iter().take_while(|e| e.episode < episode.episode);
            let same = |e: &&EpisodeResult| {
                (&e.suite, e.task, e.seed) == (&episode.suite, episode.task, episode.seed)
            };
            Trial {
                key: Key {
                    robot: run.robot.clone(),
                    suite: episode.suite.clone(),
                    task: episode.task.to_string(),
                    seed: episode.seed,
                    repeat: u32::try_from(repeats.filter(same).count()).unwrap_or(u32::MAX),
                },
                system: match run.arm.as_str() {
                    "" => format!("ruaflow:{}", run.planner),
                    arm => format!("ruaflow:{}:{arm}", run.planner),
                },
                planner: run.planner.clone(),
                model: run.model.clone(),
                outcome,
                cause,
                numbers: numbers(episode),
                spent: Some(spent(episode)),
                source: folder.to_owned(),
                episode: episode.episode,
            }
        })
        .collect()
}

fn verdict(episode: &EpisodeResult) -> (Outcome, String) {
    if episode.environment_success {
        return (Outcome::Solved, Reason::Success.as_str().to_owned());
    }
    if episode.status == Status::Failed {
        let node = episode.error.as_ref().map_or("", |error| error.node.as_str());
        let cause = if node.is_empty() { "a node".to_owned() } else { format!("node {node}") };
        return (Outcome::Infrastructure, cause);
    }
    if !episode.judged {
        return (Outcome::Unknown, "nobody judges it".to_owned());
    }
    let reason = episode.reason.map_or("unknown", Reason::as_str);
    let cause = match (&episode.limit, &episode.finish) {
        (Some(limit), _) => format!("{reason}: {limit}"),
        (None, Some(finish)) if episode.reason == Some(Reason::Finish) => {
            format!("{reason}: {}", finish.status)
        }
        _ => reason.to_owned(),
    };
    (Outcome::Failed, cause)
}

fn spent(episode: &EpisodeResult) -> Spent {
    let bill = &episode.bill;
    let elsewhere = bill.model_s + bill.waited_s;
    Spent {
        reset: episode.reset_s,
        model: bill.model_s,
        waiting: bill.waited_s,
        robot: (episode.policy_wall_s - elsewhere).max(0.0),
    }
}

fn numbers(episode: &EpisodeResult) -> Numbers {
    let bill = &episode.bill;
    // A planner without a model spends no tokens, which is not the same as unknown.
    Numbers {
        turns: Some(bill.model_calls as f64),
        calls: Some(episode.calls as f64),
        steps: Some(episode.env_steps as f64),
        cells: Some(episode.cells as f64),
        seconds: Some(episode.policy_wall_s),
        input_tokens: Some(bill.tokens.input as f64),
        cached_tokens: Some(bill.tokens.cached as f64),
        output_tokens: Some(bill.tokens.output as f64),
        dollars: if bill.model_calls == 0 { Some(0.0) } else { bill.dollars },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(number: u32, task: u32, success: bool) -> EpisodeResult {
        EpisodeResult {
            episode: number,
            suite: "libero_goal".to_owned(),
            task,
            seed: 4,
            status: Status::Completed,
            judged: true,
            environment_success: success,
            reason: Some(if success { Reason::Success } else { Reason::Budget }),
            limit: (!success).then(|| "time".to_owned()),
            env_steps: 90,
            ..EpisodeResult::default()
        }
    }

    fn write(folder: &Path, run: &RunResult) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("result.json"), serde_json::to_string(run).unwrap()).unwrap();
    }

    fn run(episodes: Vec<EpisodeResult>) -> RunResult {
        RunResult {
            schema: RunResult::SCHEMA.to_owned(),
            robot: "libero".to_owned(),
            planner: "builtin".to_owned(),
            status: Status::Completed,
            episodes,
            ..RunResult::default()
        }
    }

    #[test]
    fn runs_are_found_at_any_depth_and_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join("a/b"), &run(vec![episode(0, 1, true), episode(1, 1, false)]));
        write(&dir.path().join("c"), &RunResult { status: Status::Running, ..run(vec![]) });
        fs::create_dir_all(dir.path().join("d")).unwrap();
        fs::write(dir.path().join("d/result.json"), "{\"schema\": \"what-v3\"}").unwrap();
        let found = find(dir.path());
        assert_eq!(found.trials.len(), 2);
        assert_eq!(found.trials[0].outcome, Outcome::Solved);
        assert_eq!(found.trials[1].cause, "budget: time");
        assert_eq!(found.trials[1].key.repeat, 1);
        let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
        assert!(problems[0].contains("has not ended"), "{problems:?}");
        assert!(problems[1].contains("what-v3") && problems[1].contains("d/result.json"));
    }

    #[test]
    fn a_failed_node_is_not_the_agents_failure() {
        let mut broken = episode(0, 1, false);
        broken.status = Status::Failed;
        broken.error =
            Some(ruaflow_record::Failure { node: "libero".to_owned(), message: "gone".to_owned() });
        let (outcome, cause) = verdict(&broken);
        assert_eq!((outcome, cause.as_str()), (Outcome::Infrastructure, "node libero"));
    }

    #[test]
    fn a_folder_without_runs_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let found = find(dir.path());
        assert!(matches!(found.problems[..], [Problem::Nothing(_)]));
    }
}
