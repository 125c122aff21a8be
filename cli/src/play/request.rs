//! What a `rua play` asks for, checked before anything starts.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use eyre::{Context as _, Result, bail};
use libero::data::Data;
use perception::Choice;
use planner::{Asked, AskedError};
use ruaflow_kit::{Settings, nearest};
use ruaflow_prompt::Arm;
use ruaflow_record::{Recording, RecordingAddress, StateAddress};

use crate::args::{Agent, Play, Scene, Stage};
use crate::clone::Clone;
use crate::dataflow::Dataflow;
use crate::failure::usage;
use crate::recorded::not_a_run;
use crate::settings_file::SettingsFile;
use crate::space::Episodes;
use crate::{space, suites};

/// Less free room than this is as good as none.
const LEAST_ROOM: u64 = 1 << 20;

/// How a setting says that it is not set.
const NOT_SET: &str = "";

pub struct Request {
    pub dora: PathBuf,
    pub dataflow: PathBuf,
    pub settings: SettingsFile,
    /// Id of the run.
    pub run: String,
    /// Folder of the run.
    pub dir: PathBuf,
    /// What it will take on disk, in words.
    pub space: String,
}

impl Request {
    pub fn check(args: &Play) -> Result<Self> {
        let mut given: BTreeMap<String, String> = recorded_scene(args)?.collect();
        given.extend(recording(args)?);
        given.extend(scene_settings(&args.stage.scene));
        given.extend(play_settings(args)?);
        given.extend(stage_settings(&args.stage)?);
        given.extend(agent_settings(&args.agent));
        given.extend(args.model.settings());
        given.extend(vla_settings(args.stage.vla.as_deref())?);
        given.extend(perception_settings(args.stage.perception.as_deref())?);
        Self::with(&args.stage.robot, given)
    }

    /// A run of a robot's dataflow with settings over the dataflow's own.
    pub fn with(robot: &str, given: BTreeMap<String, String>) -> Result<Self> {
        let clone = Clone::find()?;
        let flow = clone.dataflow(robot)?;
        flow.check_programs()?;
        let dora = clone.dora()?;

        // All of them, so that none is left to the caller's shell.
        let mut settings: BTreeMap<String, String> =
            Settings::NAMES.iter().map(|name| ((*name).to_owned(), NOT_SET.to_owned())).collect();
        settings.extend(flow.settings().clone());
        settings.extend(given);
        let folder = std::env::current_dir()?;
        settings.insert("RUA_FOLDER".to_owned(), folder.display().to_string());
        check_policy_file(&flow, text(&settings, "POLICY"))?;
        let asked = ask(&settings, &flow)?;
        check_scene(&asked)?;

        let dir = std::path::absolute(&asked.out)?;
        make_folder(&dir)?;
        let episodes = Episodes {
            count: asked.scenes.count().into(),
            level: asked.record,
            max_steps: asked.max_steps.into(),
        };
        let space = space::check(&dir, &[episodes])?;
        settings.insert("RUN_ID".to_owned(), asked.run.clone());
        settings.insert("OUT".to_owned(), dir.display().to_string());
        let settings = SettingsFile::write(&settings)?;
        let dataflow = flow.path().to_owned();
        Ok(Request { dora, dataflow, settings, run: asked.run, dir, space })
    }
}

/// The planner's own reading of the settings, before there is a planner.
fn ask(settings: &BTreeMap<String, String>, flow: &Dataflow) -> Result<Asked> {
    let file = SettingsFile::write(settings)?;
    let settings = Settings::from_file(file.path())?;
    Asked::read(&settings, flow.folder(), SystemTime::now()).map_err(|error| match error {
        AskedError::Script(error) => error.into(),
        other => usage(other.to_string()),
    })
}

/// The settings that say what scene a robot's `reset` asks for.
pub fn scene_settings(scene: &Scene) -> impl Iterator<Item = (String, String)> {
    let Scene { suite, task, seed, settle } = scene;
    given([
        ("SUITE", suite.clone()),
        ("TASK", words(task)),
        ("SEED", words(seed)),
        ("SETTLE", words(settle)),
    ])
}

/// The scene that a recorded state belongs to.
fn recorded_scene(args: &Play) -> Result<impl Iterator<Item = (String, String)>> {
    let mut values = [("SUITE", None), ("TASK", None), ("SEED", None), ("FROM", None)];
    if let Some(from) = &args.from {
        let from = StateAddress { run: std::path::absolute(&from.run)?, ..from.clone() };
        let (card, _) = from.read(Path::new("")).map_err(not_a_run)?;
        let texts = [card.suite, card.task.to_string(), card.seed.to_string(), from.to_string()];
        for ((_, value), text) in values.iter_mut().zip(texts) {
            *value = Some(text);
        }
    }
    Ok(given(values))
}

/// The recording that the robot `replay` plays, and the scene it is of.
fn recording(args: &Play) -> Result<impl Iterator<Item = (String, String)>> {
    let mut values = [("RECORDING", None), ("SUITE", None), ("TASK", None), ("SEED", None)];
    if let Some(named) = &args.recording {
        if args.stage.robot != "replay" {
            return Err(usage("--recording is for --robot replay"));
        }
        let (dir, episodes) = named.open(Path::new("")).map_err(not_a_run)?;
        let first = episodes.first().copied().unwrap_or_default();
        let card = Recording::read(&dir, first)?.card;
        let address = RecordingAddress { run: dir.root().to_owned(), ..named.clone() };
        let texts = [address.to_string(), card.suite, card.task.to_string(), card.seed.to_string()];
        for ((_, value), text) in values.iter_mut().zip(texts) {
            *value = Some(text);
        }
    }
    Ok(given(values).chain(given([("SPEED", args.speed.map(|pace| pace.to_string()))])))
}

fn play_settings(args: &Play) -> Result<impl Iterator<Item = (String, String)>> {
    // Whom the dataflow would have chosen no longer counts.
    let (planner, policy) = match (args.planner.clone(), absolute(&args.policy)?) {
        (None, Some(policy)) => (Some("script".to_owned()), Some(policy)),
        (None, None) if args.model.name_one() => {
            (Some(NOT_SET.to_owned()), Some(NOT_SET.to_owned()))
        }
        asked => asked,
    };
    Ok(given([
        ("PLANNER", planner),
        ("POLICY", policy),
        ("CLI", absolute(&args.cli)?),
        ("MCP_PORT", args.door.as_ref().map(|door| door.port.to_string())),
        ("MCP_TOKEN_FILE", args.door.as_ref().map(|door| door.token_file.display().to_string())),
        ("EPISODES", words(&args.episodes)),
        ("SCENES", absolute(&args.scenes)?),
        ("BUDGET_S", words(&args.budget)),
    ]))
}

fn stage_settings(stage: &Stage) -> Result<impl Iterator<Item = (String, String)>> {
    Ok(given([
        ("PRIMITIVES", stage.primitives.map(|set| set.word().to_owned())),
        ("OUT", absolute(&stage.out)?),
        ("MAX_STEPS", words(&stage.max_steps)),
        ("CELL_TIMEOUT_S", words(&stage.cell_timeout)),
        ("PICTURES", stage.pictures.map(|p| p.word().to_owned())),
        ("RECORD", stage.record.map(|level| level.word().to_owned())),
        ("EGL_DEVICE", stage.egl_device.clone()),
    ]))
}

/// Relative paths are the caller's.
fn absolute(path: &Option<PathBuf>) -> Result<Option<String>> {
    let path = path.as_ref().map(std::path::absolute).transpose()?;
    Ok(path.map(|path| path.display().to_string()))
}

/// How the agent acts. Only what was asked for, so that the dataflow's own values stay.
fn agent_settings(agent: &Agent) -> impl Iterator<Item = (String, String)> {
    let images = agent.images.or_else(|| agent.arm.map(Arm::images));
    let switch = |on: bool, word: &str| on.then(|| word.to_owned());
    given([
        ("ARM", agent.arm.map(|arm| arm.to_string())),
        ("FEEDBACK", agent.feedback.map(|kind| kind.word().to_owned())),
        ("IMAGES", images.map(|images| images.word().to_owned())),
        ("MAX_PROGRAMS", words(&agent.max_programs)),
        ("MAX_TURNS", words(&agent.max_turns)),
        ("BUDGET_CALLS", words(&agent.budget_calls)),
        ("BUDGET_TOKENS", agent.budget_tokens.map(|tokens| tokens.to_string())),
        ("BUDGET_DOLLARS", agent.budget_dollars.map(|dollars| dollars.to_string())),
        ("SHOW_BUDGETS", switch(agent.hide_budgets, "off")),
        ("TRANSFER", switch(agent.transfer, "on")),
        ("GUIDES", switch(agent.guides, "on")),
    ])
}

/// `--perception` names eyes, or the folder that SAM3 lies in.
fn perception_settings(eyes: Option<&str>) -> Result<impl Iterator<Item = (String, String)>> {
    let settings = match eyes {
        None => [("PERCEPTION", None), ("SAM3_DIR", None)],
        Some(word) if Choice::WORDS.contains(&word) => {
            [("PERCEPTION", Some(word.to_owned())), ("SAM3_DIR", None)]
        }
        Some(dir) => {
            let path = std::path::absolute(dir)?;
            if !path.is_dir() {
                let words = Choice::WORDS.join(", ");
                let near = nearest(dir, Choice::WORDS).unwrap_or_default();
                return Err(usage(format!(
                    "--perception is {dir:?}: expected {words} or a folder of SAM3's files; did you mean {near}?"
                )));
            }
            let path = path.display().to_string();
            [("PERCEPTION", Some("sam3".to_owned())), ("SAM3_DIR", Some(path))]
        }
    };
    Ok(given(settings))
}

/// `--vla` says in one word what three settings say.
fn vla_settings(vla: Option<&str>) -> Result<impl Iterator<Item = (String, String)>> {
    let settings = match vla {
        None => [("VLA", None), ("VLA_URL", None), ("VLA_MODEL", None)],
        Some(word @ ("none" | "openpi")) => {
            [("VLA", Some(word.to_owned())), ("VLA_URL", None), ("VLA_MODEL", None)]
        }
        Some(url) if url.starts_with("ws://") => [
            ("VLA", Some("openpi".to_owned())),
            ("VLA_URL", Some(url.to_owned())),
            ("VLA_MODEL", None),
        ],
        Some(file) => {
            let path = std::path::absolute(file)?;
            if !path.is_file() {
                return Err(usage(format!(
                    "--vla is {file:?}: expected openpi, a server's URL like ws://127.0.0.1:8000, or a model file"
                )));
            }
            let path = path.display().to_string();
            [("VLA", Some("onnx".to_owned())), ("VLA_URL", None), ("VLA_MODEL", Some(path))]
        }
    };
    Ok(given(settings))
}

fn words(value: &Option<u32>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn given<const N: usize>(
    values: [(&str, Option<String>); N],
) -> impl Iterator<Item = (String, String)> {
    let owned = values.map(|(name, value)| value.map(|value| (name.to_owned(), value)));
    owned.into_iter().flatten()
}

fn text<'a>(settings: &'a BTreeMap<String, String>, name: &str) -> &'a str {
    settings.get(name).map_or("", String::as_str)
}

/// A file that is not there is wrong usage, one that can't be played is not.
fn check_policy_file(flow: &Dataflow, policy: &str) -> Result<()> {
    let path = flow.folder().join(policy);
    if policy.is_empty() || path.is_file() {
        return Ok(());
    }
    Err(usage(format!("there is no policy file {path:?}: name one with --policy FILE")))
}

/// Only LIBERO's scenes are known here; another robot answers its `reset` itself.
fn check_scene(asked: &Asked) -> Result<()> {
    if asked.robot != "libero" {
        return Ok(());
    }
    let data = Data::locate()?;
    let tasks: BTreeSet<(&str, u32)> =
        asked.scenes.iter().map(|scene| (scene.suite.as_str(), scene.task)).collect();
    tasks.into_iter().try_for_each(|(suite, task)| check_task(&data, suite, task))
}

fn check_task(data: &Data, suite: &str, task: u32) -> Result<()> {
    let suite = suites::find(data, suite)?;
    let task = task as usize;
    let entry = suite.entries(data).into_iter().nth(task);
    let Some(entry) = entry else {
        let last = suite.tasks.len().saturating_sub(1);
        return Err(usage(format!(
            "suite {:?} has no task {task}: its tasks are 0 to {last}",
            suite.name
        )));
    };
    if !entry.missing.is_empty() {
        bail!(
            "task {task} of suite {:?} can't run, the benchmark's package lacks {}; `rua suites {}` lists what can",
            suite.name,
            entry.missing.join(", "),
            suite.name
        );
    }
    Ok(())
}

/// Makes the run's folder, and finds out now whether it can be written.
fn make_folder(dir: &Path) -> Result<()> {
    match std::fs::read_dir(dir) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                return Err(usage(format!(
                    "the folder {dir:?} is not empty: name another one with --out DIR"
                )));
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(usage(format!("{dir:?} is not a folder: name another one with --out DIR")));
        }
        Err(error) => return Err(error).wrap_err_with(|| cannot_write(dir)),
    }
    std::fs::create_dir_all(dir).wrap_err_with(|| cannot_write(dir))?;
    tempfile::tempfile_in(dir).wrap_err_with(|| cannot_write(dir))?;
    let disk = rustix::fs::statvfs(dir).wrap_err_with(|| cannot_write(dir))?;
    let room = disk.f_bavail * disk.f_frsize;
    if room < LEAST_ROOM {
        bail!("the disk of {dir:?} is full: make room, or name a folder elsewhere with --out DIR");
    }
    Ok(())
}

fn cannot_write(dir: &Path) -> String {
    format!("can't write the folder {dir:?} (name another one with --out DIR)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_overrides_the_dataflow() {
        let scene = Scene { suite: Some("s".to_owned()), task: Some(3), ..Scene::default() };
        let settings: Vec<_> = scene_settings(&scene).collect();
        assert_eq!(
            settings,
            [("SUITE".to_owned(), "s".to_owned()), ("TASK".to_owned(), "3".to_owned())]
        );
    }

    #[test]
    fn a_vla_policy_is_a_word_a_url_or_a_file() {
        let settings = |vla: &str| -> Vec<String> {
            vla_settings(Some(vla))
                .unwrap()
                .map(|(name, value)| format!("{name}={value}"))
                .collect()
        };
        assert_eq!(settings("openpi"), ["VLA=openpi"]);
        assert_eq!(settings("ws://h:9"), ["VLA=openpi", "VLA_URL=ws://h:9"]);
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().display().to_string();
        assert_eq!(settings(&path), ["VLA=onnx".to_owned(), format!("VLA_MODEL={path}")]);
        let error = vla_settings(Some("pi0")).err().unwrap().to_string();
        assert!(error.contains("expected openpi"), "{error}");
    }

    #[test]
    fn a_folder_that_cannot_be_the_runs_is_refused() {
        let tmp = tempfile::tempdir().unwrap();
        make_folder(&tmp.path().join("a/b")).unwrap();
        make_folder(&tmp.path().join("a/b")).unwrap();
        std::fs::write(tmp.path().join("file"), "").unwrap();
        let taken = make_folder(tmp.path()).unwrap_err().to_string();
        assert!(taken.contains("is not empty"), "{taken}");
        for inside_a_file in ["file", "file/run"] {
            let error = make_folder(&tmp.path().join(inside_a_file)).unwrap_err();
            assert!(error.to_string().contains("--out"), "{error}");
        }
    }
}
