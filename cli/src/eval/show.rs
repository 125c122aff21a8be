//! `rua show`: the story of one run.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use eyre::Result;
use ruaflow_eval::short;
use ruaflow_record::{EpisodeResult, Reason, RunDir, RunResult};
use serde_json::Value;

use super::args::Show;
use crate::failure::usage;
use crate::pager::Pager;
use crate::recorded::open_run;
use crate::transcript::bill_line;

/// Characters of a call's arguments that are shown.
const MAX_ARGUMENTS: usize = 100;

pub fn run(args: &Show) -> Result<ExitCode> {
    let dir = open_run(&args.run)?;
    let result = dir.result()?;
    let chosen = |e: &&EpisodeResult| args.episode.is_none_or(|number| number == e.episode);
    let episodes: Vec<&EpisodeResult> = result.episodes.iter().filter(chosen).collect();
    if let (true, Some(number)) = (episodes.is_empty(), args.episode) {
        return Err(usage(format!("the run has no episode {number}")));
    }
    let mut pager = Pager::open(!args.no_pager);
    pager.write(&head(&result));
    for episode in episodes {
        pager.write(&story(&dir, episode, args.output));
    }
    pager.close();
    Ok(ExitCode::SUCCESS)
}

fn head(result: &RunResult) -> String {
    let mut text = format!("run {} on {}, planner {}", result.run, result.robot, result.planner);
    for (what, value) in [("", &result.model), ("acting in ", &result.arm)] {
        if !value.is_empty() {
            let _ = write!(text, ", {what}{value}");
        }
    }
    let _ = writeln!(
        text,
        "\n{} to {}",
        result.created_at,
        result.finished_at.as_deref().unwrap_or("now")
    );
    if let Some(error) = &result.error {
        let _ = writeln!(text, "failed: {} {}", error.node, error.message);
    }
    for warning in &result.warnings {
        let _ = writeln!(text, "warning: {} {}", warning.node, warning.message);
    }
    text
}

fn story(dir: &RunDir, episode: &EpisodeResult, output: bool) -> String {
    let mut text = format!(
        "\nepisode {}: {} {}, seed {}\n  {}\n",
        episode.episode, episode.suite, episode.task, episode.seed, episode.task_language
    );
    for path in cells(dir, episode.episode) {
        match fs::read_to_string(&path).map(|text| serde_json::from_str::<Value>(&text)) {
            Ok(Ok(cell)) => text.push_str(&cell_story(&cell, output)),
            _ => {
                let _ = writeln!(text, "  {} can't be read", path.display());
            }
        }
    }
    let verdict = if episode.environment_success { "solved" } else { "not solved" };
    let reason = episode.reason.map_or("running", Reason::as_str);
    let limit = episode.limit.as_ref().map_or(String::new(), |limit| format!(" ({limit})"));
    let _ = writeln!(
        text,
        "  {verdict}: {reason}{limit}, {} control steps, {} calls, {} cells, {} s",
        episode.env_steps,
        episode.calls,
        episode.cells,
        short(episode.policy_wall_s)
    );
    if let Some(finish) = &episode.finish {
        let _ = writeln!(text, "  the agent says {}: {}", finish.status, finish.summary);
    }
    if episode.bill.model_calls > 0 {
        let _ = writeln!(text, "  {}", bill_line(&episode.bill));
    }
    text
}

fn cells(dir: &RunDir, episode: u32) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir.cells_dir(episode)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "json"))
        .collect();
    paths.sort();
    paths
}

fn cell_story(cell: &Value, output: bool) -> String {
    let seconds = |value: &Value| short(value.as_f64().unwrap_or(0.0) / 1e9);
    let mut text = format!(
        "  cell {} {}, {} s, {} control steps\n",
        cell["index"],
        cell["status"].as_str().unwrap_or_default(),
        seconds(&cell["elapsed_ns"]),
        cell["control_steps"]
    );
    for call in cell["ledger"].as_array().into_iter().flatten() {
        let outcome = if call["ok"] == true { "" } else { " failed" };
        let _ = writeln!(
            text,
            "    {}({}){outcome} {} s, {} steps",
            call["method"].as_str().unwrap_or_default(),
            arguments(&call["arguments"]),
            seconds(&call["elapsed_ns"]),
            call["control_steps"]
        );
    }
    let printed = ["stdout", "stderr", "value"].map(|name| cell[name].as_str().unwrap_or_default());
    let error = cell["error"].as_str().unwrap_or_default();
    let printed = printed.into_iter().filter(|_| output).chain([error]);
    for line in printed.flat_map(str::lines) {
        let _ = writeln!(text, "    | {line}");
    }
    text
}

fn arguments(arguments: &Value) -> String {
    let named = arguments.as_object().into_iter().flatten();
    let text: Vec<String> = named.map(|(name, value)| format!("{name}={value}")).collect();
    let text = text.join(", ");
    match text.char_indices().nth(MAX_ARGUMENTS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
