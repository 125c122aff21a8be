//! Real agents' command lines play a real episode, with a model that plays a script.
//!
//! `./rua test --runtimes` installs them and runs these tests, which are left out
//! otherwise.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use end_to_end::{Finished, Place, root};
use ruaflow_llm::Usage;
use ruaflow_llm::testing::{Play, Server};
use ruaflow_record::{Bill, Reason, Status, TurnLine, read_turns};
use serde_json::json;

const KEY: &str = "sk-a-very-secret-key-of-nobody";
/// Stands for what a model says beside its calls.
const WORDS: &str = "I take the bowl to the plate.";

const CODEX: &str = "@openai/codex/bin/codex.js";
const CODEX_NEWEST: &str = "codex-newest/bin/codex.js";
const CLAUDE: &str = "@anthropic-ai/claude-code/bin/claude.exe";

/// A command line that `./rua test --runtimes` has installed.
fn program(name: &str) -> PathBuf {
    let folder = std::env::var_os("RUAFLOW_RUNTIMES");
    let path = Path::new(&folder.expect("run `./rua test --runtimes`")).join(name);
    assert!(path.is_file(), "{path:?} is missing: run `./rua test --runtimes`");
    path
}

/// What a model would count; by bytes, pictures would seem to fill its memory.
fn tokens() -> Usage {
    Usage { input: 9000, cached: 8000, output: 50, ..Usage::default() }
}

/// The demo's policy, as one cell.
fn policy() -> String {
    std::fs::read_to_string(root().join("robots/policies/libero_demo.py")).unwrap()
}

fn play(place: &Place, planner: &str, name: &str, model: &Server, args: &[&str]) -> Finished {
    let (url, program) = (model.url(), program(name));
    let mut command =
        place.rua(["play", "--planner", planner, "--model", "scripted", "--out", "out"]);
    command
        .args(["--base-url", &url, "--wire", "chat", "--key-env", "NOBODYS_KEY", "--cli"])
        .arg(program)
        .args(args)
        .env("NOBODYS_KEY", KEY);
    place.run(command)
}

/// From prompt to verdict: the agent looks, acts, and the scene's predicate judges.
fn solves_a_task(planner: &str, name: &str) {
    let place = Place::default();
    let model = Server::start([
        Play::call("python", json!({"code": "robo.show()\nprint(robo.task)"}))
            .saying(WORDS)
            .costing(tokens()),
        Play::call("python", json!({"code": policy()})).costing(tokens()),
    ])
    .unwrap();
    let ended = play(&place, planner, name, &model, &["--require-success"]);
    ended.assert_code(0);
    place.assert_nothing_left();

    let records = place.records();
    let result = records.result();
    assert_eq!((result.status, result.planner.as_str()), (Status::Completed, planner));
    assert!(result.episodes[0].environment_success);

    let asked = model.asked();
    assert_eq!(asked.len(), 2);
    let tools: Vec<&str> = asked[0].body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    let mut sorted = tools.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["finish", "python"], "nothing but the robot's tools");
    let told = asked[0].body["messages"].to_string();
    assert!(told.contains(&result.task_language), "its task");
    let answer = asked[1].body["messages"].to_string();
    assert!(answer.contains("data:image/png;base64,"), "the picture that it asked for");

    let episode = records.path("episodes/000");
    let lines = read_turns(&episode).unwrap();
    let mut bill = Bill::default();
    for line in &lines {
        if let TurnLine::Turn(turn) = line {
            bill.add_turn(turn);
        }
    }
    assert_eq!(bill.model_calls, 2);
    let counted = [bill.tokens.input, bill.tokens.cached, bill.tokens.output];
    assert_eq!(counted, [18_000, 16_000, 100]);
    let cells: Vec<_> = lines.iter().filter(|l| matches!(l, TurnLine::Call(_))).collect();
    assert_eq!(cells.len(), 2);
    assert!(records.path(&format!("episodes/000/{planner}_events.jsonl")).is_file());
    assert_no_key(&place.path("out"));
}

fn assert_no_key(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_no_key(&path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!found, "the key is in {path:?}");
        }
    }
}

/// The agent ends by its own word.
fn finishes(planner: &str, name: &str) {
    let place = Place::default();
    let model = Server::start([
        Play::call("state", json!({})).costing(tokens()),
        Play::call("finish", json!({"status": "stuck", "summary": "no bowl in sight"}))
            .costing(tokens()),
    ])
    .unwrap();
    play(&place, planner, name, &model, &["--arm", "tools"]).assert_code(0);
    let episode = &place.records().result().episodes[0];
    assert_eq!(episode.reason, Some(Reason::Finish));
    assert_eq!(model.left(), 0);
}

/// An endpoint that does not know the key ends the run at once, in its own words.
fn is_refused(planner: &str, name: &str) {
    let place = Place::default();
    let refusal = json!({"error": {"message": "there is no such key"}}).to_string();
    let model = Server::start([Play::status(401, refusal)]).unwrap();
    let ended = play(&place, planner, name, &model, &[]);
    ended.assert_code(1).assert_error(&["there is no such key", "NOBODYS_KEY"]);
    place.assert_nothing_left();
    assert_eq!(place.records().result().status, Status::Failed);
    assert_eq!(model.asked().len(), 1, "it was not asked again");
}

macro_rules! with_the_real_one {
    ($($test:ident: $what:ident($planner:literal, $program:ident);)*) => {$(
        #[test]
        #[ignore = "./rua test --runtimes"]
        fn $test() {
            $what($planner, $program);
        }
    )*};
}

with_the_real_one! {
    codex_solves_a_task: solves_a_task("codex", CODEX);
    codex_finishes: finishes("codex", CODEX);
    codex_is_refused: is_refused("codex", CODEX);
    the_newest_codex_solves_a_task: solves_a_task("codex", CODEX_NEWEST);
    the_newest_codex_finishes: finishes("codex", CODEX_NEWEST);
    claude_code_solves_a_task: solves_a_task("claude", CLAUDE);
    claude_code_finishes: finishes("claude", CLAUDE);
    claude_code_is_refused: is_refused("claude", CLAUDE);
}
