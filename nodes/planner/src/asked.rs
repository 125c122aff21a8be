//! What was asked of the run.

mod rules;
mod scenes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ruaflow_kit::{SettingError, Settings};
use ruaflow_prompt::{Arm, Rules};
use ruaflow_record::{Level, RecordError, StateAddress};
use ruaflow_robots::UnknownRobot;
use ruaflow_schemas::State;
use serde_json::{Value, json};

pub use self::scenes::{Scene, Scenes, ScenesError};
use crate::planners::{Planner, PlannerError};
use crate::script::ScriptError;

/// Settings of other nodes that a run's record is to tell; no key is among them.
const OTHERS: [&str; 7] =
    ["VLA", "VLA_URL", "VLA_MODEL", "PERCEPTION", "BUILTIN_DIR", "SAM3_DIR", "EGL_DEVICE"];
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3600.0;

/// What was asked of the run, checked.
#[derive(Clone, Debug)]
pub struct Asked {
    pub run: String,
    /// Where the run's folder shall be.
    pub out: PathBuf,
    /// Robot that the user expects; empty for whichever the dataflow has.
    pub robot: String,
    /// One an episode.
    pub scenes: Scenes,
    pub settle: u32,
    /// Recorded state that every episode begins in.
    pub from: Option<From>,
    /// Control steps an episode may use; 0 for the robot's own limit.
    pub max_steps: u32,
    pub cell_timeout: Duration,
    pub pictures: String,
    /// How much of the run is recorded.
    pub record: Level,
    /// How an agent acts, what it is told, and what it may use up.
    pub rules: Arc<Rules>,
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
    Script(ScriptError),
    #[error(transparent)]
    Planner(PlannerError),
    #[error(transparent)]
    Scenes(#[from] ScenesError),
}

impl std::convert::From<PlannerError> for AskedError {
    fn from(error: PlannerError) -> Self {
        match error {
            PlannerError::Script(error) => AskedError::Script(error),
            PlannerError::Setting(error) => AskedError::Setting(error),
            other => AskedError::Planner(other),
        }
    }
}

impl Asked {
    /// Reads and checks the settings. `cwd` is the dataflow's folder, from which
    /// relative paths count.
    pub fn read(settings: &Settings, cwd: &Path, now: SystemTime) -> Result<Self, AskedError> {
        let robot = settings.text("ROBOT").unwrap_or_default();
        if !robot.is_empty() {
            ruaflow_robots::find(&robot)?;
        }
        let scenes = Scenes::read(settings, cwd)?;
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
            None => cwd.parent().unwrap_or(cwd).join("runs").join(folder_name(
                now,
                &robot,
                scenes.first(),
            )),
        };
        let from = From::read(settings, cwd, scenes.first())?;
        let record = settings.parse("RECORD", Level::default(), Level::WORDS)?;
        let pictures = Pictures(record.pictures().to_owned());
        let pictures = settings.parse("PICTURES", pictures, "off, ends or calls")?.0;
        let timeout = settings.parse(
            "CELL_TIMEOUT_S",
            PositiveSeconds(120.0),
            "a number of seconds above 0",
        )?;
        let cell_timeout = Duration::from_secs_f64(timeout.0);
        let rules = rules::read(settings, cell_timeout)?;
        let planner = Planner::read(settings, cwd)?;
        if rules.arm == Arm::SingleShot && matches!(planner, Planner::Runtime(_)) {
            return Err(PlannerError::NoSingleShot(planner.name()).into());
        }
        if rules.budgets.dollars.is_some() && !planner.has_price() {
            return Err(PlannerError::NoPrice(planner.model().to_owned()).into());
        }
        Ok(Asked {
            run,
            out,
            robot,
            scenes,
            settle: settings.parse("SETTLE", 15, "a whole number from 0")?,
            from,
            max_steps: settings.parse("MAX_STEPS", 0, "a whole number from 0")?,
            cell_timeout,
            pictures,
            record,
            rules: Arc::new(rules),
            planner,
            others: OTHERS.iter().filter_map(|&name| Some((name, settings.text(name)?))).collect(),
        })
    }

    /// For `settings.json`; no key or other secret is in it.
    pub fn to_json(&self) -> Value {
        let mut settings = json!({
            "RUN_ID": self.run,
            "ROBOT": self.robot,
            "SETTLE": self.settle,
            "FROM": self.from.as_ref().map(|from| from.address.to_string()),
            "OUT": self.out,
            "CELL_TIMEOUT_S": self.cell_timeout.as_secs_f64(),
            "MAX_STEPS": self.max_steps,
            "PICTURES": self.pictures,
            "RECORD": self.record,
            "VLA": self.others.get("VLA"),
            "VLA_URL": self.others.get("VLA_URL"),
            "VLA_MODEL": self.others.get("VLA_MODEL"),
            "PERCEPTION": self.others.get("PERCEPTION"),
            "BUILTIN_DIR": self.others.get("BUILTIN_DIR"),
            "SAM3_DIR": self.others.get("SAM3_DIR"),
            "EGL_DEVICE": self.others.get("EGL_DEVICE"),
        });
        if let Ok(api) = ruaflow_robots::find(&self.robot) {
            let guides = ruaflow_prompt::guides(api, &self.rules).into_iter();
            let hashes = guides.map(|guide| (guide.name, guide.sha256));
            settings["GUIDE_HASHES"] = json!(hashes.collect::<BTreeMap<_, _>>());
        }
        let parts = [self.scenes.to_json(), rules::to_json(&self.rules), self.planner.to_json()];
        for part in parts {
            if let (Value::Object(all), Value::Object(part)) = (&mut settings, part) {
                all.extend(part);
            }
        }
        settings
    }
}

impl From {
    /// The setting FROM, its path from `cwd`; checked to be of the scene that is asked for.
    fn read(settings: &Settings, cwd: &Path, scene: &Scene) -> Result<Option<Self>, AskedError> {
        let Some(text) = settings.text("FROM") else { return Ok(None) };
        let address: StateAddress = text.parse().map_err(|_| SettingError::Value {
            name: "FROM".into(),
            value: text,
            expected: "RUN:STEP or RUN:EPISODE:STEP".into(),
        })?;
        let (card, state) = address.read(cwd)?;
        if (&card.suite, card.task) != (&scene.suite, scene.task) {
            return Err(AskedError::OtherScene { suite: card.suite, task: card.task });
        }
        Ok(Some(From { address, state }))
    }
}

/// `<yyyymmdd-hhmmss>-<suite>-<task>-<seed>-<4 random>`; a robot without suites gives its own name.
fn folder_name(now: SystemTime, robot: &str, scene: &Scene) -> String {
    let Scene { suite, task, seed } = scene;
    let what = [suite.as_str(), robot, "run"]
        .into_iter()
        .find(|name| !name.is_empty())
        .unwrap_or_default();
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

/// A number of seconds, 0 or more.
pub(crate) struct Seconds(pub f64);

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
        let mut all = [("", ""); 12];
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
        assert_eq!((asked.scenes.count(), asked.settle, asked.max_steps), (1, 15, 0));
        assert_eq!(asked.rules.budgets.time, Some(Duration::from_secs(1200)));
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
        assert!(error([("IMAGES", "all")]).contains("on-demand, on-motion or none"));
        assert!(error([("ARM", "legs")]).contains("cells, program, single-shot or tools"));
        assert!(error([("BUDGET_TOKENS", "many")]).contains("BUDGET_TOKENS"));
        assert!(error([("BUDGET_DOLLARS", "-1")]).contains("BUDGET_DOLLARS"));
        assert!(error([("RUN_ID", "../x")]).contains("RUN_ID"));
        assert!(error([("ROBOT", "libro")]).contains("libero"));
        assert!(error([("SEED", "18446744073709551615")]).contains("largest seed"));
        assert_eq!(read([("BUDGET_S", "0")]).unwrap().rules.budgets.time, None);
    }

    #[test]
    fn budgets_and_ways_of_acting_are_read() {
        let asked = read([
            ("ARM", "program"),
            ("MAX_PROGRAMS", "3"),
            ("MAX_TURNS", "40"),
            ("BUDGET_CALLS", "60"),
            ("BUDGET_TOKENS", "500000"),
            ("BUDGET_DOLLARS", "0.5"),
            ("SHOW_BUDGETS", "off"),
        ])
        .unwrap();
        let (rules, budgets) = (&asked.rules, asked.rules.budgets);
        assert_eq!((rules.arm, rules.max_programs), (ruaflow_prompt::Arm::Program, Some(3)));
        assert_eq!((budgets.turns, budgets.calls), (Some(40), Some(60)));
        assert_eq!((budgets.tokens, budgets.dollars), (Some(500_000), Some(0.5)));
        assert!(!rules.show_budgets && !rules.transfer && !rules.guides);
        assert_eq!(asked.to_json()["BUDGET_TOKENS"], 500_000);
        assert_eq!(asked.to_json()["ARM"], "program");
    }

    #[test]
    fn planners_that_are_not_here_name_those_that_are() {
        let tools = error([("PLANNER", "mcp"), ("MCP_TOKEN_FILE", "t"), ("ARM", "single-shot")]);
        assert!(tools.contains("\"mcp\" acts by tools"), "{tools}");
        let unknown = error([("PLANNER", "gpt")]);
        assert!(unknown.contains("\"gpt\"") && unknown.contains("script"), "{unknown}");
        assert!(error([("PLANNER", "script"), ("POLICY", "")]).contains("POLICY is empty"));
        assert!(error([("POLICY", "none.py")]).contains("no such file"));
    }

    #[test]
    fn without_a_planner_a_file_is_played_or_a_model_asked() {
        assert_eq!(read([]).unwrap().planner.name(), "script");
        let asked = |model, more| read([("POLICY", ""), ("RUA_MODEL", model), more]).unwrap();
        let here = ("RUA_BASE_URL", "http://127.0.0.1:1/v1");
        assert_eq!(asked("qwen3", here).planner.name(), "openai");
        assert_eq!(asked("claude-opus-5", here).planner.name(), "openai", "behind a gateway");
        let key = error([("POLICY", ""), ("RUA_MODEL", "claude-x"), ("RUA_KEY_ENV", "RUA_NO_KEY")]);
        assert!(key.contains("planner \"anthropic\"") && key.contains("RUA_NO_KEY"), "{key}");
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
        let scene = |suite: &str| Scene { suite: suite.to_owned(), ..Scene::default() };
        let name = folder_name(SystemTime::UNIX_EPOCH, "libero", &scene("../../etc"));
        assert!(name.starts_with("19700101-000000-______etc-0-0-"), "{name}");
        assert!(folder_name(SystemTime::UNIX_EPOCH, "template", &scene("")).contains("-template-"));
    }
}
