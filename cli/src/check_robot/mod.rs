//! `rua check-robot`: does a node keep the promises of a robot?
//!
//! The node runs in a dataflow of its own, beside a checker that stands for the
//! planner, the controller and the recorder. The checker is this program again;
//! what it finds comes back through a file.

pub mod bench;
mod card;
mod checker;
mod motion;
mod pictures;
mod refusals;
mod report;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use eyre::{Context as _, Result};
use ruaflow_kit::nearest;

use self::report::{Line, Outcome};
use crate::args::CheckRobot;
use crate::clone::Clone;
use crate::failure::usage;
use crate::flow::{Flow, Output};
use crate::play::scene_settings;
use crate::print;
use crate::settings_file::SettingsFile;

/// The setting that names the report's file.
const REPORT: &str = "CHECK_ROBOT_REPORT";
/// Id of the checked node in its dataflow.
const ROBOT_NODE: &str = "robot";
/// The checker stands for the planner, which a robot listens to.
const CHECKER_NODE: &str = "planner";
const TICK: Duration = Duration::from_millis(50);
/// Every check has its own limit; this one is for a checker that hangs.
const LIMIT: Duration = Duration::from_secs(900);
/// What the robot printed last is shown when a check failed.
const PRINTED_LINES: usize = 5;

pub fn run(args: &CheckRobot) -> Result<ExitCode> {
    let clone = Clone::find()?;
    let robot = find_node(&clone, &args.node)?;
    let dora = clone.dora()?;
    let folder = tempfile::tempdir().wrap_err("no place for the dataflow")?;
    let dataflow = folder.path().join("check-robot.yml");
    std::fs::write(&dataflow, flow_text(&robot, &std::env::current_exe()?, "robot-checker"))?;

    let report = folder.path().join("report.jsonl");
    let mut settings: BTreeMap<String, String> = scene_settings(&args.scene).collect();
    default_scene(&clone, &args.node, &mut settings);
    settings.insert(REPORT.to_owned(), report.display().to_string());
    let settings = SettingsFile::write(&settings)?;

    let mut flow = Flow::start(&dora, &dataflow, settings.path())?;
    let mut shown = Shown::default();
    let start = Instant::now();
    while flow.ended()?.is_none() {
        shown.show_new(&report)?;
        if start.elapsed() > LIMIT {
            flow.kill();
        }
        std::thread::sleep(TICK);
    }
    shown.show_new(&report)?;
    shown.show(&exit_line(flow.output()));
    if shown.failed == 0 {
        print::line(format_args!("{} is a robot: {} checks passed", args.node, shown.passed));
        return Ok(ExitCode::SUCCESS);
    }
    print::line(format_args!("{} checks failed, {} passed", shown.failed, shown.passed));
    let printed = flow.output().printed_by(ROBOT_NODE);
    for line in &printed[printed.len().saturating_sub(PRINTED_LINES)..] {
        print::line(format_args!("  it printed: {line}"));
    }
    Ok(ExitCode::FAILURE)
}

/// The checker's process.
pub fn node() -> ExitCode {
    match checker::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("robot-checker: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A path, or the name of a program in `bin/` or of a node's folder with a script.
pub fn find_node(clone: &Clone, name: &str) -> Result<PathBuf> {
    if Path::new(name).is_file() && (name.contains('/') || name.ends_with(".py")) {
        return Ok(std::path::absolute(name)?);
    }
    let mut places = [clone.program(name), clone.node_script(name)].into_iter();
    if !name.contains('/')
        && let Some(program) = places.find(|place| place.is_file())
    {
        return Ok(program);
    }
    let programs: Vec<String> = std::fs::read_dir(clone.program(""))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|program| !program.starts_with('.'))
        .collect();
    let hint = match nearest(name, programs.iter().map(String::as_str)) {
        Some(hint) if !name.contains('/') => format!(": did you mean {hint:?}?"),
        _ => String::new(),
    };
    Err(usage(format!("there is no node {name:?}, neither as a path nor in bin/{hint}")))
}

/// What is not asked for comes from the robot's own dataflow, if it has one.
fn default_scene(clone: &Clone, robot: &str, settings: &mut BTreeMap<String, String>) {
    let Ok(flow) = clone.dataflow(robot) else { return };
    for name in ["SUITE", "TASK", "SEED", "SETTLE"] {
        if let Some(value) = flow.setting(name) {
            settings.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
    }
}

/// A robot beside a command of this program that stands for all other nodes.
pub fn flow_text(robot: &Path, rua: &Path, command: &str) -> String {
    format!(
        "\
nodes:
  - id: {ROBOT_NODE}
    path: {robot}
    shared_memory_pool_size: 64MB
    inputs:
      reset: {{ source: {CHECKER_NODE}/reset, queue_policy: backpressure }}
      action: {{ source: {CHECKER_NODE}/action, queue_policy: backpressure }}
      frame_request: {{ source: {CHECKER_NODE}/frame_request, queue_policy: backpressure }}
      event-planner: {{ source: {CHECKER_NODE}/event, queue_policy: backpressure }}
      receipt: {{ source: {CHECKER_NODE}/receipt, queue_policy: backpressure }}
    outputs: [card, observation, frame, event, record]

  - id: {CHECKER_NODE}
    path: {rua}
    args: {command}
    inputs:
      card: {{ source: {ROBOT_NODE}/card, queue_policy: backpressure }}
      observation: {{ source: {ROBOT_NODE}/observation, queue_policy: backpressure }}
      frame: {ROBOT_NODE}/frame
      event-robot: {{ source: {ROBOT_NODE}/event, queue_policy: backpressure }}
      record-robot: {ROBOT_NODE}/record
    outputs: [reset, action, frame_request, event, receipt]
",
        robot = quoted(robot),
        rua = quoted(rua),
    )
}

/// A YAML string.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "''"))
}

/// The last check: how the node's process ended.
fn exit_line(output: &Output) -> Line {
    let failures = output.failures();
    let check = "its process ends with exit status 0".to_owned();
    match failures.iter().find(|failed| failed.node == ROBOT_NODE).or(failures.first()) {
        None => Line { check, outcome: Outcome::Passed, note: String::new() },
        Some(failed) if failed.node == ROBOT_NODE => {
            Line { check, outcome: Outcome::Failed, note: failed.reason.clone() }
        }
        Some(failed) => Line {
            check: "the checks come to their end".to_owned(),
            outcome: Outcome::Failed,
            note: output.printed_by(&failed.node).pop().unwrap_or_else(|| failed.reason.clone()),
        },
    }
}

#[derive(Default)]
struct Shown {
    lines: usize,
    passed: usize,
    failed: usize,
}

impl Shown {
    /// Shows what has been added to the report.
    fn show_new(&mut self, report: &Path) -> Result<()> {
        // It comes with the checker's start.
        let text = std::fs::read_to_string(report).unwrap_or_default();
        for line in text.split_inclusive('\n').skip(self.lines).filter(|line| line.ends_with('\n'))
        {
            self.show(&serde_json::from_str(line)?);
            self.lines += 1;
        }
        Ok(())
    }

    fn show(&mut self, line: &Line) {
        match line.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::NotMade => {}
        }
        print::line(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_yaml() {
        let text = flow_text(Path::new("/a b/it's"), Path::new("/rua"), "robot-checker");
        assert!(text.contains("path: '/a b/it''s'"), "{text}");
    }
}
