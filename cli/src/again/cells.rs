//! Recorded cells run again: a new run of the same scene, and how the two compare.

use std::collections::BTreeMap;
use std::process::ExitCode;

use eyre::{Result, WrapErr as _, bail};
use replay::parting;
use ruaflow_kit::Settings;
use ruaflow_record::{
    EpisodeResult, RecordError, Recording, RecordingAddress, RunDir, Trajectory, read_rows,
};
use ruaflow_schemas::{CallResult, Frame as _};
use serde::Serialize;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::{Recorded, Replay};
use crate::failure::usage;
use crate::play::{Manner, Request, play};
use crate::print::{self, cut};

/// Settings that say who planned and what, and where it went: a replay has its own.
const ITS_OWN: [&str; 17] = [
    "OUT",
    "RUN_ID",
    "PLANNER",
    "POLICY",
    "CLI",
    "MCP_PORT",
    "MCP_TOKEN_FILE",
    "SUITE",
    "TASK",
    "SEED",
    "EPISODES",
    "SCENES",
    "FROM",
    "MAX_TURNS",
    "BUDGET_CALLS",
    "BUDGET_TOKENS",
    "BUDGET_DOLLARS",
];
/// Characters of a call that are shown.
const CALL_WIDTH: usize = 300;
/// Who calls from a cell.
const CELL: &str = "cell";

pub fn run(args: &Replay, runs: &[Recorded]) -> Result<ExitCode> {
    if args.out.is_some() && runs.len() > 1 {
        return Err(usage("--out names the folder of one run: replay one, or leave it out"));
    }
    let mut same = true;
    let mut shown = Vec::new();
    for recorded in runs {
        let plan = Plan::of(args, recorded)?;
        let manner = if args.json { Manner::Silent } else { Manner::Shown };
        let request = Request::with(&plan.robot, plan.settings.clone())?;
        let verdict = play(&request, manner)?;
        verdict.status(false)?;
        let new = RunDir::open(&request.dir)?;
        let compared = compare(recorded, &new)?;
        same &= compared.iter().all(Comparison::same);
        if args.json {
            let run = &recorded.name;
            shown.push(json!({ "run": run, "dir": request.dir, "episodes": compared }));
        } else {
            compared.iter().flat_map(Comparison::lines).for_each(print::line);
            print::line(format_args!("  {}", request.dir.display()));
        }
    }
    if args.json {
        print::json(&shown)?;
    }
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is played.
struct Plan {
    robot: String,
    settings: BTreeMap<String, String>,
    /// Lists the scenes of several episodes.
    _scenes: Option<NamedTempFile>,
}

impl Plan {
    fn of(args: &Replay, recorded: &Recorded) -> Result<Self> {
        let Recorded { dir, episodes, .. } = recorded;
        let recordings = episodes.iter().map(|&episode| Recording::read(dir, episode));
        let recordings: Vec<Recording> = recordings.collect::<Result<_, RecordError>>()?;
        let Some(first) = recordings.first() else { bail!("the run has no episode") };
        if first.card.clock != "sim" && !args.arm_robot {
            return Err(usage(format!(
                "{:?} is a real robot, and --cells moves it: add --arm-robot if that is what you want",
                first.card.robot
            )));
        }
        let mut settings = recorded_settings(dir)?;
        let of_recording = settings.remove("ROBOT").filter(|robot| !robot.is_empty());
        let robot = args.robot.clone().or(of_recording).unwrap_or_else(|| first.card.robot.clone());
        let one = <[u32; 1]>::try_from(episodes.as_slice()).ok().map(|[episode]| episode);
        let address = RecordingAddress { run: dir.root().to_owned(), episode: one };
        let mut set = |name: &str, value: String| settings.insert(name.to_owned(), value);
        set("PLANNER", "recording".to_owned());
        set("RECORDING", address.to_string());
        set("SETTLE", first.reset.settle.to_string());
        if let Some(out) = &args.out {
            set("OUT", std::path::absolute(out)?.display().to_string());
        }
        let scenes = match &first.reset.state {
            None if recordings.len() > 1 => Some(scenes_file(&recordings)?),
            _ => None,
        };
        match &scenes {
            Some(file) => {
                set("SCENES", file.path().display().to_string());
            }
            None => {
                set("SUITE", first.reset.suite.clone());
                set("TASK", first.reset.task.to_string());
                set("SEED", first.reset.seed.to_string());
                set("EPISODES", recordings.len().to_string());
            }
        }
        if first.reset.state.is_some() {
            // The state that it began in is the first that it recorded.
            set("FROM", format!("{}:{}:0", dir.root().display(), episodes[0]));
        }
        Ok(Plan { robot, settings, _scenes: scenes })
    }
}

/// What the run was set to, but for what a replay decides itself.
fn recorded_settings(dir: &RunDir) -> Result<BTreeMap<String, String>> {
    let path = dir.settings_path();
    let text = std::fs::read_to_string(&path).wrap_err_with(|| format!("can't read {path:?}"))?;
    let all: BTreeMap<String, Value> = serde_json::from_str(&text)
        .map_err(|error| usage(format!("{path:?} can't be understood: {error}")))?;
    let taken = Settings::NAMES.into_iter().filter(|name| !ITS_OWN.contains(name));
    let values = taken.filter_map(|name| {
        let value = match all.get(name)? {
            Value::String(text) => text.clone(),
            number @ Value::Number(_) => number.to_string(),
            _ => return None,
        };
        Some((name.to_owned(), value))
    });
    Ok(values.collect())
}

fn scenes_file(recordings: &[Recording]) -> Result<NamedTempFile> {
    let scene = |recording: &Recording| {
        let reset = &recording.reset;
        json!({ "suite": reset.suite, "task": reset.task, "seed": reset.seed })
    };
    let scenes: Vec<Value> = recordings.iter().map(scene).collect();
    let file = NamedTempFile::new().wrap_err("no place for the list of scenes")?;
    std::fs::write(file.path(), serde_json::to_vec(&scenes)?)?;
    Ok(file)
}

/// An episode beside its replay.
#[derive(Debug, Serialize)]
struct Comparison {
    episode: u32,
    verdict: Compared,
    calls: Compared,
    trajectory: Compared,
}

/// Whether something was the same, and in a few words what.
#[derive(Debug, Serialize)]
struct Compared {
    /// `None` when one of the two has none.
    same: Option<bool>,
    note: String,
}

impl Compared {
    fn same(note: impl Into<String>) -> Self {
        Compared { same: Some(true), note: note.into() }
    }

    fn different(note: impl Into<String>) -> Self {
        Compared { same: Some(false), note: note.into() }
    }
}

impl Comparison {
    fn same(&self) -> bool {
        [&self.verdict, &self.calls, &self.trajectory].iter().all(|part| part.same != Some(false))
    }

    fn lines(&self) -> Vec<String> {
        let parts =
            [("verdict", &self.verdict), ("calls", &self.calls), ("trajectory", &self.trajectory)];
        let line = |(name, part): (&str, &Compared)| {
            let mark = match part.same {
                Some(true) => "✓",
                Some(false) => "✗",
                None => "·",
            };
            format!("{mark} episode {}, {name}: {}", self.episode, part.note)
        };
        parts.into_iter().map(line).collect()
    }
}

fn compare(recorded: &Recorded, new: &RunDir) -> Result<Vec<Comparison>> {
    let (old_result, new_result) = (recorded.dir.result()?, new.result()?);
    let meant = old_result.episodes.iter().filter(|e| recorded.episodes.contains(&e.episode));
    let pairs = meant.zip(&new_result.episodes);
    let comparison = |(old, now): (&EpisodeResult, &EpisodeResult)| -> Result<Comparison> {
        let dirs = [(&recorded.dir, old.episode), (new, now.episode)];
        Ok(Comparison {
            episode: old.episode,
            verdict: verdicts(old, now),
            calls: calls(dirs.map(|(dir, episode)| calls_of(dir, episode)))?,
            trajectory: trajectories(dirs.map(|(dir, n)| Trajectory::read(dir, n))),
        })
    };
    pairs.map(comparison).collect()
}

fn verdicts(old: &EpisodeResult, new: &EpisodeResult) -> Compared {
    let word = |episode: &EpisodeResult| match episode {
        EpisodeResult { environment_success: true, .. } => "solved",
        EpisodeResult { truncated: true, .. } => "truncated",
        EpisodeResult { terminated: true, .. } => "terminated",
        EpisodeResult { judged: true, .. } => "not solved",
        _ => "not judged",
    };
    match (word(old), word(new)) {
        (old, new) if old == new => Compared::same(new),
        (old, new) => Compared::different(format!("recorded {old}, now {new}")),
    }
}

/// What the cells called.
fn calls_of(dir: &RunDir, episode: u32) -> Result<Vec<CallResult>, RecordError> {
    let path = dir.topic_path(Some(episode), CallResult::TOPIC);
    let mut calls: Vec<CallResult> = if path.exists() { read_rows(&path)? } else { Vec::new() };
    calls.retain(|call| call.caller == CELL);
    Ok(calls)
}

fn calls([old, new]: [Result<Vec<CallResult>, RecordError>; 2]) -> Result<Compared> {
    let (old, new) = (old?, new?);
    let told = |call: &CallResult| {
        let CallResult { method, arguments, outcome, error, control_steps, .. } = call.clone();
        (method, arguments, outcome, error, control_steps)
    };
    let parting = old.iter().zip(&new).position(|(old, new)| told(old) != told(new));
    Ok(match parting.or((old.len() != new.len()).then_some(old.len().min(new.len()))) {
        None => Compared::same(new.len().to_string()),
        Some(at) => {
            let shown = |calls: &[CallResult]| match calls.get(at) {
                None => "none".to_owned(),
                Some(CallResult { method, arguments, outcome, error, .. }) => {
                    let outcome = if error.is_empty() { outcome } else { error };
                    cut(&format!("{method}({arguments}) → {outcome}"), CALL_WIDTH)
                }
            };
            let (old, new) = (shown(&old), shown(&new));
            Compared::different(format!("number {}: recorded {old}, now {new}", at + 1))
        }
    })
}

fn trajectories([old, new]: [Result<Trajectory, RecordError>; 2]) -> Compared {
    let (old, new) = match (old, new) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(error), _) | (_, Err(error)) => {
            return Compared { same: None, note: format!("can't be compared: {error}") };
        }
    };
    match (parting(&old.states, &new.states), old.last_step(), new.last_step()) {
        (Some(difference), ..) => Compared::different(format!("different at {difference}")),
        (None, old, new) if old == new => {
            Compared::same(format!("{new} control steps, equal to the bit"))
        }
        (None, old, new) => Compared::different(format!(
            "equal as far as both go; recorded {old} control steps, now {new}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, outcome: &str) -> CallResult {
        CallResult { method: method.into(), outcome: outcome.into(), ..CallResult::default() }
    }

    #[test]
    fn calls_are_compared_one_by_one() {
        let old = || Ok(vec![call("state", "{}"), call("move_to", r#"{"reached": true}"#)]);
        assert_eq!(calls([old(), old()]).unwrap().same, Some(true));
        let other = Ok(vec![call("state", "{}"), call("move_to", r#"{"reached": false}"#)]);
        let compared = calls([old(), other]).unwrap();
        assert_eq!(compared.same, Some(false));
        assert!(compared.note.starts_with("number 2: recorded move_to("), "{}", compared.note);
        let fewer = calls([old(), Ok(vec![call("state", "{}")])]).unwrap();
        assert!(fewer.note.ends_with("now none"), "{}", fewer.note);
    }

    #[test]
    fn a_verdict_is_the_benchmarks_not_the_planners() {
        let solved = EpisodeResult {
            environment_success: true,
            terminated: true,
            ..EpisodeResult::default()
        };
        let reason = |reason| EpisodeResult { reason: Some(reason), ..solved.clone() };
        let (old, new) = (ruaflow_record::Reason::Finish, ruaflow_record::Reason::Success);
        assert_eq!(verdicts(&reason(old), &reason(new)).same, Some(true));
        let compared = verdicts(&solved, &EpisodeResult { truncated: true, ..solved.clone() });
        assert_eq!(compared.same, Some(true), "it was solved all the same");
        let truncated = EpisodeResult { truncated: true, ..EpisodeResult::default() };
        assert_eq!(verdicts(&solved, &truncated).note, "recorded solved, now truncated");
    }
}
