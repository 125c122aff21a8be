//! What was asked of the run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ruaflow_kit::{SettingError, Settings};
use ruaflow_record::{Policy, RecordError, StateAddress};
use ruaflow_robots::UnknownRobot;
use ruaflow_schemas::State;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::backend::Backend;
use crate::script::{Script, ScriptError};

/// Backends that a later version brings.
const NOT_YET: [&str; 5] = ["builtin", "openai", "anthropic", "codex", "claude"];
/// Settings of other nodes that a run's record is to tell; no key is among them.
const OTHERS: [&str; 5] = ["PRIMITIVES", "VLA", "VLA_URL", "VLA_MODEL", "EGL_DEVICE"];
const MAX_EPISODES: u32 = 100_000;
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3600.0;

/// What was asked of the run, checked.
#[derive(Clone, Debug)]
pub struct Asked {
    pub run: String,
    /// Where the run's folder shall be.
    pub out: PathBuf,
    /// Robot that the user expects; empty for whichever the dataflow has.
    pub robot: String,
    pub suite: String,
    pub task: u32,
    pub seed: u64,
    pub settle: u32,
    /// Recorded state that every episode begins in.
    pub from: Option<From>,
    pub episodes: u32,
    /// Control steps an episode may use; 0 for the robot's own limit.
    pub max_steps: u32,
    pub cell_timeout: Duration,
    /// Wall-clock time an episode may use.
    pub budget: Option<Duration>,
    pub pictures: String,
    /// What an agent is told after a cell: `rich` or `pure`.
    pub feedback: String,
    /// Pictures it sees besides those it displays: `on-motion`, `on-demand` or `none`.
    pub images: String,
    pub planner: Planner,
    /// What other nodes were set to, for `settings.json`.
    pub others: BTreeMap<&'static str, String>,
}

/// A recorded state to begin in.
#[derive(Clone, Debug)]
pub struct From {
    pub address: StateAddress,
    pub state: State,
}

/// Which backend plans, with what it needs.
#[derive(Clone, Debug)]
pub enum Planner {
    Script { script: Script, policy: Policy },
}

#[derive(Debug, thiserror::Error)]
pub enum AskedError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("setting ROBOT: {0}")]
    Robot(#[from] UnknownRobot),
    #[error("setting FROM: {0}")]
    From(#[from] RecordError),
    #[error(
        "setting FROM: the state is of suite {suite:?}, task {task}; settings SUITE and TASK ask for another scene"
    )]
    OtherScene { suite: String, task: u32 },
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error("setting POLICY is empty: the planner \"script\" plays a Python file, say which")]
    NoPolicy,
    #[error("setting PLANNER is {name:?}, {state}; this build has: script", state = state_of(.name))]
    Planner { name: String },
    #[error(
        "settings SEED and EPISODES: seed {seed} and {episodes} episodes go beyond the largest seed"
    )]
    Seeds { seed: u64, episodes: u32 },
}

impl Asked {
    /// Reads and checks the settings. `cwd` is the dataflow's folder, from which
    /// relative paths count.
    pub fn read(settings: &Settings, cwd: &Path, now: SystemTime) -> Result<Self, AskedError> {
        let robot = settings.text("ROBOT").unwrap_or_default();
        if !robot.is_empty() {
            ruaflow_robots::find(&robot)?;
        }
        let suite = settings.text("SUITE").unwrap_or_default();
        let task = settings.parse("TASK", 0, "a task index from 0")?;
        let seed: u64 = settings.parse("SEED", 0, "a whole number from 0")?;
        let episodes = settings.parse("EPISODES", Between(1), "a whole number from 1 to 100000")?.0;
        if seed.checked_add(u64::from(episodes)).is_none() {
            return Err(AskedError::Seeds { seed, episodes });
        }
        let run = match settings.text("RUN_ID") {
            Some(run) if is_run_id(&run) => run,
            Some(value) => {
                let expected = "at most 64 letters, digits, - and _".to_owned();
                return Err(SettingError::Value { name: "RUN_ID".into(), value, expected }.into());
            }
            None => format!("{}-{}", moment(now), random(8)),
        };
        let out = match settings.text("OUT") {
            Some(out) => cwd.join(out),
            None => cwd
                .parent()
                .unwrap_or(cwd)
                .join("runs")
                .join(folder_name(now, &robot, &suite, task, seed)),
        };
        let from = From::read(settings, cwd, &suite, task)?;
        let pictures = settings.parse("PICTURES", Pictures("ends".into()), "off, ends or calls")?.0;
        let seconds = "a number of seconds";
        let budget = settings.parse("BUDGET_S", Seconds(1200.0), seconds)?;
        let timeout = settings.parse(
            "CELL_TIMEOUT_S",
            PositiveSeconds(120.0),
            "a number of seconds above 0",
        )?;
        Ok(Asked {
            run,
            out,
            robot,
            suite,
            task,
            seed,
            settle: settings.parse("SETTLE", 15, "a whole number from 0")?,
            from,
            episodes,
            max_steps: settings.parse("MAX_STEPS", 0, "a whole number from 0")?,
            cell_timeout: Duration::from_secs_f64(timeout.0),
            budget: (budget.0 > 0.0).then(|| Duration::from_secs_f64(budget.0)),
            pictures,
            feedback: one_of(settings, "FEEDBACK", &["rich", "pure"])?,
            images: one_of(settings, "IMAGES", &["on-demand", "on-motion", "none"])?,
            planner: Planner::read(settings, cwd)?,
            others: OTHERS.iter().filter_map(|&name| Some((name, settings.text(name)?))).collect(),
        })
    }

    /// For `settings.json`; no key or other secret is in it.
    pub fn to_json(&self) -> Value {
        json!({
            "RUN_ID": self.run,
            "ROBOT": self.robot,
            "SUITE": self.suite,
            "TASK": self.task,
            "SEED": self.seed,
            "SETTLE": self.settle,
            "FROM": self.from.as_ref().map(|from| from.address.to_string()),
            "EPISODES": self.episodes,
            "PLANNER": self.planner.name(),
            "POLICY": self.planner.policy().map(|p| p.path.clone()),
            "OUT": self.out,
            "CELL_TIMEOUT_S": self.cell_timeout.as_secs_f64(),
            "BUDGET_S": self.budget.map_or(0.0, |b| b.as_secs_f64()),
            "MAX_STEPS": self.max_steps,
            "PICTURES": self.pictures,
            "FEEDBACK": self.feedback,
            "IMAGES": self.images,
            "PRIMITIVES": self.others.get("PRIMITIVES"),
            "VLA": self.others.get("VLA"),
            "VLA_URL": self.others.get("VLA_URL"),
            "VLA_MODEL": self.others.get("VLA_MODEL"),
            "EGL_DEVICE": self.others.get("EGL_DEVICE"),
        })
    }
}

impl From {
    /// The setting FROM, its path from `cwd`; checked to be of the scene that is asked for.
    fn read(
        settings: &Settings,
        cwd: &Path,
        suite: &str,
        task: u32,
    ) -> Result<Option<Self>, AskedError> {
        let Some(text) = settings.text("FROM") else { return Ok(None) };
        let address: StateAddress = text.parse().map_err(|_| SettingError::Value {
            name: "FROM".into(),
            value: text,
            expected: "RUN:STEP or RUN:EPISODE:STEP".into(),
        })?;
        let (card, state) = address.read(cwd)?;
        if (card.suite.as_str(), card.task) != (suite, task) {
            return Err(AskedError::OtherScene { suite: card.suite, task: card.task });
        }
        Ok(Some(From { address, state }))
    }
}

impl Planner {
    fn read(settings: &Settings, cwd: &Path) -> Result<Self, AskedError> {
        match settings.text("PLANNER").as_deref().unwrap_or("script") {
            "script" => {
                let path = cwd.join(settings.text("POLICY").ok_or(AskedError::NoPolicy)?);
                let path = path.canonicalize().unwrap_or(path);
                let (script, bytes) = Script::load(&path)?;
                let sha256 =
                    Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
                let policy =
                    Policy { path: path.display().to_string(), sha256, bytes: bytes.len() as u64 };
                Ok(Planner::Script { script, policy })
            }
            name => Err(AskedError::Planner { name: name.to_owned() }),
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Planner::Script { .. } => "script",
        }
    }

    pub fn policy(&self) -> Option<&Policy> {
        match self {
            Planner::Script { policy, .. } => Some(policy),
        }
    }

    /// A backend for one episode.
    pub fn backend(&self) -> Box<dyn Backend> {
        match self {
            Planner::Script { script, .. } => script.player(),
        }
    }
}

fn state_of(name: &str) -> &'static str {
    if NOT_YET.contains(&name) { "which is not in this build" } else { "which is not known" }
}

/// `<yyyymmdd-hhmmss>-<suite>-<task>-<seed>-<4 random>`; a robot without suites gives its own name.
fn folder_name(now: SystemTime, robot: &str, suite: &str, task: u32, seed: u64) -> String {
    let what = [suite, robot, "run"].into_iter().find(|name| !name.is_empty()).unwrap_or_default();
    let what: String = what
        .chars()
        .take(40)
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
        .collect();
    format!("{}-{what}-{task}-{seed}-{}", moment(now), random(4))
}

/// UTC, as `yyyymmdd-hhmmss`.
fn moment(now: SystemTime) -> String {
    humantime::format_rfc3339_seconds(now)
        .to_string()
        .chars()
        .filter_map(|c| match c {
            'T' => Some('-'),
            '0'..='9' => Some(c),
            _ => None,
        })
        .collect()
}

fn random(digits: usize) -> String {
    uuid::Uuid::new_v4().simple().to_string().chars().take(digits).collect()
}

/// It names a socket and stands in every frame.
fn is_run_id(text: &str) -> bool {
    text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

/// A setting that is one of some words; the first when it is not set.
fn one_of(settings: &Settings, name: &str, words: &[&str]) -> Result<String, SettingError> {
    match settings.text(name) {
        None => Ok(words.first().copied().unwrap_or_default().to_owned()),
        Some(value) if words.contains(&value.as_str()) => Ok(value),
        Some(value) => {
            let expected = words.join(" or ");
            Err(SettingError::Value { name: name.to_owned(), value, expected })
        }
    }
}

struct Between(u32);

impl std::str::FromStr for Between {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        text.parse().ok().filter(|n| (1..=MAX_EPISODES).contains(n)).map(Between).ok_or(())
    }
}

struct Seconds(f64);

impl std::str::FromStr for Seconds {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        text.parse().ok().filter(|s| (0.0..=MAX_SECONDS).contains(s)).map(Seconds).ok_or(())
    }
}

struct PositiveSeconds(f64);

impl std::str::FromStr for PositiveSeconds {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        // A shorter deadline than a millisecond would be sent as none.
        text.parse::<Seconds>()
            .ok()
            .filter(|s| s.0 >= 0.001)
            .map(|s| PositiveSeconds(s.0))
            .ok_or(())
    }
}

struct Pictures(String);

impl std::str::FromStr for Pictures {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        ["off", "ends", "calls"].contains(&text).then(|| Pictures(text.to_owned())).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<const N: usize>(values: [(&str, &str); N]) -> Result<Asked, AskedError> {
        let tmp = tempfile::tempdir().unwrap();
        let flows = tmp.path().join("dataflows");
        std::fs::create_dir(&flows).unwrap();
        std::fs::write(tmp.path().join("p.py"), "print(1)\n").unwrap();
        let mut all = [("", ""); 8];
        all[0] = ("POLICY", "../p.py");
        for (place, value) in all.iter_mut().skip(1).zip(values) {
            *place = value;
        }
        Asked::read(&Settings::fixed(all), &flows, SystemTime::UNIX_EPOCH)
    }

    fn error<const N: usize>(values: [(&str, &str); N]) -> String {
        let error = read(values).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1);
        error
    }

    #[test]
    fn defaults_are_a_run_beside_the_dataflows() {
        let asked = read([("SUITE", "libero_spatial"), ("TASK", "3"), ("SEED", "7")]).unwrap();
        let out = asked.out.to_str().unwrap();
        assert!(out.contains("/runs/19700101-000000-libero_spatial-3-7-"), "{out}");
        assert!(!out.contains("dataflows"), "{out}");
        assert_eq!((asked.episodes, asked.settle, asked.max_steps), (1, 15, 0));
        assert_eq!(asked.budget, Some(Duration::from_secs(1200)));
        assert!(asked.run.starts_with("19700101-000000-"));
        assert_eq!(asked.planner.policy().unwrap().bytes, 9);
        assert_eq!(asked.planner.policy().unwrap().sha256.len(), 64);
    }

    #[test]
    fn a_bad_value_is_named_with_what_was_expected() {
        assert!(error([("SEED", "-1")]).contains("SEED"));
        assert!(error([("TASK", "two")]).contains("\"two\""));
        assert!(error([("EPISODES", "0")]).contains("from 1"));
        assert!(error([("CELL_TIMEOUT_S", "0")]).contains("above 0"));
        assert!(error([("CELL_TIMEOUT_S", "inf")]).contains("above 0"));
        assert!(error([("BUDGET_S", "NaN")]).contains("BUDGET_S"));
        assert!(error([("PICTURES", "all")]).contains("off, ends or calls"));
        assert!(error([("IMAGES", "all")]).contains("on-demand or on-motion or none"));
        assert!(error([("RUN_ID", "../x")]).contains("RUN_ID"));
        assert!(error([("ROBOT", "libro")]).contains("libero"));
        assert!(error([("SEED", "18446744073709551615")]).contains("largest seed"));
        assert_eq!(read([("BUDGET_S", "0")]).unwrap().budget, None);
    }

    #[test]
    fn planners_that_are_not_here_name_those_that_are() {
        assert_eq!(
            error([("PLANNER", "codex")]),
            "setting PLANNER is \"codex\", which is not in this build; this build has: script"
        );
        assert!(error([("PLANNER", "gpt")]).contains("not known"));
        assert!(error([("POLICY", "")]).contains("POLICY is empty"));
        assert!(error([("POLICY", "none.py")]).contains("no such file"));
    }

    #[test]
    fn an_absolute_folder_is_taken_as_it_is_and_a_relative_one_from_the_dataflow() {
        assert_eq!(read([("OUT", "/somewhere/r")]).unwrap().out, Path::new("/somewhere/r"));
        assert!(read([("OUT", "r")]).unwrap().out.ends_with("dataflows/r"));
    }

    #[test]
    fn a_state_to_begin_in_must_be_there() {
        assert!(read([]).unwrap().from.is_none());
        assert!(error([("FROM", "somewhere")]).contains("RUN:STEP"));
        assert!(error([("FROM", "nowhere:3")]).contains("not a run folder"));
    }

    #[test]
    fn a_suite_cannot_lead_out_of_the_runs() {
        let name = folder_name(SystemTime::UNIX_EPOCH, "libero", "../../etc", 0, 0);
        assert!(name.starts_with("19700101-000000-______etc-0-0-"), "{name}");
        assert!(folder_name(SystemTime::UNIX_EPOCH, "template", "", 0, 0).contains("-template-"));
    }
}
