//! The backends with programs of our own in place of the real ones.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use ruaflow_llm::testing::{Play, Server};
use ruaflow_llm::{Endpoint, Retries, Secret, Wire};
use ruaflow_prompt::{Budgets, Rules};
use ruaflow_record::{Happening, TurnLine, read_turns};
use ruaflow_schemas::{Card, CellResult};
use serde_json::json;
use tempfile::TempDir;

use super::mini::McpClient;
use super::*;
use crate::backend::{Ending, Over};
use crate::rehearsal;

fn ok(code: &str, index: u32) -> CellResult {
    let feedback = format!("ran {code}\n");
    CellResult { index, status: "ok".to_owned(), feedback, ..CellResult::default() }
}

fn python(code: &str) -> Play {
    Play::call("python", json!({"code": code}))
}

fn finish() -> Play {
    Play::call("finish", json!({"status": "success", "summary": "done"}))
}

/// A codex that is `script`, or our small one when that is empty.
struct Stage {
    folder: TempDir,
    server: Server,
}

impl Stage {
    fn new(model: impl IntoIterator<Item = Play>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Stage { folder, server: Server::start(model).unwrap() }
    }

    fn agent(&self, script: &str) -> Agent {
        let small = format!(
            "exec {:?} --exact runtime::mini::a_small_codex --ignored --nocapture",
            std::env::current_exe().unwrap()
        );
        let script = if script.is_empty() { small.as_str() } else { script };
        let version = "[ \"$1\" = --version ] && { echo codex-cli 0.155.1; exit; }";
        let path: PathBuf = self.folder.path().join("codex");
        std::fs::write(&path, format!("#!/bin/sh\n{version}\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        let program = Program::find(&Codex, Some(&path)).unwrap();
        let mut endpoint = Endpoint::new(Wire::Responses, &self.server.url(), "m");
        endpoint.key = Secret::new("sk-very-secret-key");
        endpoint.retries = Retries { max: 0, ..Retries::default() };
        Agent::new(&Codex, program, endpoint, Prices::default())
    }
}

#[test]
fn an_agent_plays_an_episode_from_prompt_to_finish() {
    let stage = Stage::new([python("robo.state()"), finish()]);
    let (mut episode, ran) = rehearsal::episode(ok);
    let ending = stage.agent("").play(&mut episode).unwrap();
    let expected = Ending::Finished { status: "success".to_owned(), summary: "done".to_owned() };
    assert_eq!(ending, expected);
    assert_eq!(ran.cells(), ["robo.state()"]);
    let bill = ran.bill();
    assert_eq!((bill.model_calls, bill.tool_calls), (2, 1));

    let asked = stage.server.asked();
    assert_eq!(asked[0].header("authorization"), Some("Bearer sk-very-secret-key"));
    assert_eq!(asked[0].body["instructions"].as_str(), Some(episode.system().trim_end()));
    let second = asked[1].body["input"].to_string();
    assert!(second.contains("ran robo.state()"), "{second}");

    let dir = ran.folder().join("episodes/000");
    let lines = read_turns(&dir).unwrap();
    let turns = lines.iter().filter(|line| matches!(line, TurnLine::Turn(_))).count();
    let calls = lines.iter().filter(|line| matches!(line, TurnLine::Call(_))).count();
    assert_eq!((turns, calls), (2, 2));
    assert!(dir.join("codex_events.jsonl").is_file() && dir.join("codex_stderr.txt").is_file());
}

#[test]
fn an_agent_that_only_speaks_has_given_up() {
    let stage = Stage::new([Play::text("It can't be done.")]);
    let (mut episode, ran) = rehearsal::episode(ok);
    let ending = stage.agent("").play(&mut episode).unwrap();
    let Ending::GaveUp { why } = ending else { panic!("{ending:?}") };
    assert!(why.contains("codex ended without finish; it said: It can't be done."), "{why}");
    assert!(ran.cells().is_empty());
}

#[test]
fn an_agent_that_dies_is_quoted() {
    let (mut episode, _ran) = rehearsal::episode(ok);
    let stage = Stage::new([]);
    let error = stage.agent("echo out of luck >&2; exit 3").play(&mut episode).unwrap_err();
    assert!(error.contains("exit status: 3") && error.contains("out of luck"), "{error}");
    let failed = "echo '{\"type\":\"turn.failed\",\"error\":{\"message\":\"no such model\"}}'";
    let error = stage.agent(failed).play(&mut episode).unwrap_err();
    assert!(error.contains("codex failed: no such model"), "{error}");
    let error = stage.agent("exit 0").play(&mut episode).unwrap_err();
    assert!(error.contains("without asking its model"), "{error}");
}

#[test]
fn an_agent_that_hangs_is_ended() {
    let stage = Stage::new([]);
    let (mut episode, _ran) = rehearsal::episode(ok);
    let mut agent = stage.agent("sleep 600");
    agent.patience = Duration::from_millis(200);
    let error = agent.play(&mut episode).unwrap_err();
    assert!(error.contains("neither spoken nor acted"), "{error}");
}

#[test]
fn an_endpoint_that_refuses_ends_it_at_once_in_its_own_words() {
    let refusal = json!({"error": {"message": "no such key"}}).to_string();
    let stage = Stage::new([Play::status(401, refusal)]);
    let (mut episode, _ran) = rehearsal::episode(ok);
    let error = stage.agent("").play(&mut episode).unwrap_err();
    assert!(error.contains("no such key"), "{error}");
}

#[test]
fn an_agent_without_budget_may_still_finish() {
    let stage = Stage::new([python("1"), finish()]);
    let budgets = Budgets { calls: Some(1), ..Budgets::default() };
    let rules = Rules { budgets, ..Rules::default() };
    let (mut episode, ran) =
        rehearsal::with(rules, Card::default(), |code, index| Ok(ok(code, index)));
    let ending = stage.agent("").play(&mut episode).unwrap();
    assert!(matches!(ending, Ending::Finished { .. }), "{ending:?}");
    assert_eq!(ran.cells(), ["1"], "what the one reply asked for is done");
    let told = stage.server.asked()[1].body["input"].to_string();
    assert!(told.contains("the budget of model calls is used up"), "{told}");
}

#[test]
fn an_agent_that_goes_on_without_budget_is_ended() {
    let stage = Stage::new((0..9).map(|n| python(&n.to_string())));
    let budgets = Budgets { calls: Some(2), ..Budgets::default() };
    let rules = Rules { budgets, ..Rules::default() };
    let (mut episode, ran) =
        rehearsal::with(rules, Card::default(), |code, index| Ok(ok(code, index)));
    assert_eq!(stage.agent("").play(&mut episode), Ok(Ending::Over));
    assert_eq!(ran.cells(), ["0", "1"]);
    assert!(stage.server.left() >= 3, "it is not asked for ever");
}

#[test]
fn an_episode_that_is_stopped_ends_the_agent() {
    let stage = Stage::new([]);
    let (mut episode, _ran) = rehearsal::episode(ok);
    episode.control().end(Why::Stopped);
    let mut agent = stage.agent("sleep 600");
    assert_eq!(agent.play(&mut episode), Ok(Ending::Over));
}

/// Plays an episode by the backend `mcp` while `client` drives the robot.
fn served(
    robot: impl FnMut(&str, u32) -> Result<CellResult, Over> + Send + 'static,
    client: impl FnOnce(&mut McpClient) + Send,
) -> (Ending, rehearsal::Ran) {
    let folder = tempfile::tempdir().unwrap();
    let token_file = folder.path().join("token");
    let door = Door { port: 0, token_file: token_file.clone() };
    let (mut episode, ran) = rehearsal::with(Rules::default(), Card::default(), robot);
    let watched = ran.clone();
    let ending = std::thread::scope(|scope| {
        let playing = scope.spawn(move || Served { door }.play(&mut episode).unwrap());
        let url = loop {
            let told = watched.told();
            let serving = told.into_iter().find_map(|happening| match happening {
                Happening::Serving { url, .. } => Some(url),
                _ => None,
            });
            match serving {
                Some(url) => break url,
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let token = std::fs::read_to_string(&token_file).unwrap();
        client(&mut McpClient::connect(&url, token.trim()));
        playing.join().unwrap()
    });
    (ending, ran)
}

#[test]
fn a_client_reads_its_task_drives_the_robot_and_finishes() {
    let (ending, ran) = served(
        |code, index| Ok(ok(code, index)),
        |client| {
            assert_eq!(client.tools(), ["task", "python", "finish"]);
            let (task, _) = client.call("task", json!({}));
            assert!(task.contains("robo"), "{task}");
            let (text, failed) = client.call("python", json!({"code": "robo.state()"}));
            assert!(text.contains("ran robo.state()") && !failed, "{text}");
            let (text, failed) = client.call("python", json!({"cod": "x"}));
            assert!(text.contains("code is missing") && failed, "{text}");
            client.call("finish", json!({"status": "stuck", "summary": "no bowl"}));
        },
    );
    let expected = Ending::Finished { status: "stuck".to_owned(), summary: "no bowl".to_owned() };
    assert_eq!(ending, expected);
    assert_eq!(ran.cells(), ["robo.state()"]);
}

#[test]
fn a_robot_that_has_solved_its_task_ends_the_episode_and_the_client_reads_why() {
    let (ending, _ran) = served(
        |_, _| Err(Over::because(Why::Solved)),
        |client| {
            let (text, _) = client.call("python", json!({"code": "robo.release()"}));
            assert!(text.contains("solved"), "{text}");
        },
    );
    assert_eq!(ending, Ending::Over);
}

#[test]
fn runtimes_are_read_from_settings() {
    let here = Path::new("/somewhere");
    let read =
        |name: &str, values: [(&str, &str); 3]| Runtime::read(name, &Settings::fixed(values), here);
    let door = [("MCP_PORT", "7000"), ("MCP_TOKEN_FILE", "token"), ("", "")];
    let mcp = read("mcp", door).unwrap();
    assert_eq!(mcp.name(), "mcp");
    assert!(mcp.asks().is_none());
    assert_eq!(mcp.setting(), ("MCP_PORT", json!(7000)));
    assert!(matches!(&mcp.0, Kind::Mcp(door) if door.token_file == here.join("token")));
    let error = |values| read("mcp", values).unwrap_err().to_string();
    assert!(error([("MCP_PORT", "x"), ("MCP_TOKEN_FILE", "t"), ("", "")]).contains("MCP_PORT"));
    assert!(error([("", ""); 3]).contains("MCP_TOKEN_FILE"));
    let missing = [("CLI", "none"), ("RUA_MODEL", "m"), ("", "")];
    let error = read("codex", missing).unwrap_err().to_string();
    assert!(error.contains("/somewhere/none"), "{error}");
}
