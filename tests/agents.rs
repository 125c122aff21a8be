//! A model drives the template robot, from the command line to the record; the model
//! is a scripted server on loopback.
#![allow(clippy::unwrap_used)]

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use end_to_end::{Finished, Place, wait_until};
use ruaflow_llm::Stop;
use ruaflow_llm::testing::{Play, Server, error_body};
use ruaflow_record::{Reason, Status, TurnLine, read_turns};
use ruaflow_schemas::{Cell, CellResult};
use serde_json::json;

const KEY: &str = "sk-loopback-secret-4711";

fn python(code: &str) -> Play {
    Play::call("python", json!({ "code": code }))
}

fn finish(status: &str) -> Play {
    Play::call("finish", json!({ "status": status, "summary": "that was it" }))
}

fn command<'a>(place: &Place, server: &Server, args: impl IntoIterator<Item = &'a str>) -> Command {
    let url = server.url();
    let model = ["--planner", "openai", "--model", "scripted-1", "--base-url", &url];
    let mut command = place.rua(["play", "--robot", "template", "--out", "out"]);
    command.args(model).args(args).env("OPENAI_API_KEY", KEY);
    command
}

fn play<'a>(place: &Place, server: &Server, args: impl IntoIterator<Item = &'a str>) -> Finished {
    let ended = place.run(command(place, server, args));
    place.assert_nothing_left();
    assert_secret(&place.path("out"));
    ended
}

/// Fails when the key is in any file of the run.
fn assert_secret(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_secret(&path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()), "{path:?}");
        }
    }
}

#[test]
fn an_agent_works_in_cells_and_finishes() {
    let place = Place::default();
    let server = Server::start([
        python("# look\nx = robo.state().eef_pos\nprint('at', len(x))\nrobo.show()")
            .saying("I look first."),
        python("robo.release()\nprint(x is not None)"),
        finish("success"),
    ])
    .unwrap();
    let ended = play(&place, &server, []);
    ended.assert_code(0);
    assert!(ended.out.contains("turn 1") && ended.out.contains("(finish)"), "{ended}");

    let records = place.records();
    let result = records.result();
    assert_eq!((result.status, result.reason), (Status::Completed, Some(Reason::Finish)));
    assert_eq!((result.planner.as_str(), result.model.as_str()), ("openai", "scripted-1"));
    assert_eq!((result.arm.as_str(), result.feedback.as_str()), ("cells", "pure"));
    assert_eq!(
        (result.bill.model_calls, result.bill.tool_calls, result.bill.dollars),
        (3, 2, None)
    );
    assert!(result.bill.tokens.input > 0 && result.bill.robot_s > 0.0);
    assert_eq!(result.episodes[0].finish.as_ref().unwrap().summary, "that was it");

    let asked = server.asked();
    assert_eq!(asked[0].header("authorization").unwrap(), format!("Bearer {KEY}"));
    assert!(asked[1].extends(&asked[0]) && asked[2].extends(&asked[1]));
    assert_eq!(asked[1].body.to_string().matches("data:image/png").count(), 1, "what it showed");
    assert!(asked[1].body.to_string().contains("at 3"), "what it printed");

    let lines = read_turns(&records.path("episodes/000")).unwrap();
    let calls: Vec<_> = lines
        .iter()
        .filter_map(|line| if let TurnLine::Call(call) = line { Some(call) } else { None })
        .collect();
    let seen = std::fs::read_to_string(records.path("episodes/000/cells/001.txt")).unwrap();
    assert_eq!(calls[0].answer, seen, "what it read is what was recorded");
    let cells = records.rows::<Cell>(0);
    assert_eq!(cells.len(), 2);
    assert!(records.path("episodes/000/cells/001.1-front.png").is_file());

    let told = place.run(place.rua(["transcript", "out", "--system"]));
    told.assert_code(0);
    for words in ["# Working in cells", "I look first.", "→ python", "← python", "ended: finish"]
    {
        assert!(told.out.contains(words), "no {words:?}; {told}");
    }
}

#[test]
fn every_way_of_acting_has_the_same_robot() {
    let program =
        "def run(robo):\n    robo.set_gripper(robo.CLOSE, steps=3)\n    return robo.state().step\n";
    for (arm, script, cells, calls) in [
        (
            "program",
            vec![Play::call("run_program", json!({ "code": program })), finish("success")],
            1,
            2,
        ),
        ("single-shot", vec![Play::text(format!("```python\n{program}```"))], 1, 2),
        (
            "tools",
            vec![
                Play::call("set_gripper", json!({ "gripper": 1.0, "steps": 3 })),
                Play::call("state", json!({})),
                finish("success"),
            ],
            3,
            4,
        ),
    ] {
        let place = Place::default();
        let server = Server::start(script).unwrap();
        play(&place, &server, ["--arm", arm]).assert_code(0);
        let result = place.records().result();
        assert_eq!(result.arm, arm);
        let reason = if arm == "single-shot" { Reason::PolicyFinished } else { Reason::Finish };
        assert_eq!(result.reason, Some(reason), "{arm}");
        assert_eq!((result.cells, result.stateful_calls), (cells, 1), "{arm}");
        assert!(result.calls >= calls - 1, "{arm}: {}", result.calls);
        assert!(result.env_steps > 0, "{arm}");
    }
}

#[test]
fn every_wire_has_the_same_robot() {
    for (planner, wire, path) in
        [("openai", "responses", "/responses"), ("anthropic", "anthropic", "/messages")]
    {
        let place = Place::default();
        let server = Server::start([python("robo.release()"), finish("success")]).unwrap();
        let url = server.url();
        let model = ["--planner", planner, "--model", "scripted-1", "--base-url", &url];
        let mut command = place.rua(["play", "--robot", "template", "--out", "out"]);
        command.args(model).args(["--wire", wire]);
        command.env("OPENAI_API_KEY", KEY).env("ANTHROPIC_API_KEY", KEY);
        place.run(command).assert_code(0);
        place.assert_nothing_left();
        assert_secret(&place.path("out"));
        let asked = server.asked();
        assert!(asked.iter().all(|asked| asked.path.ends_with(path)), "{wire}");
        assert!(asked[1].extends(&asked[0]), "{wire}");
        let result = place.records().result();
        assert_eq!((result.planner.as_str(), result.reason), (planner, Some(Reason::Finish)));
        assert_eq!((result.bill.model_calls, result.stateful_calls), (2, 1), "{wire}");
    }
}

#[test]
fn programs_do_not_share_names_but_the_scene_and_the_files() {
    let run = |code: &str| Play::call("run_program", json!({ "code": code }));
    let first =
        "left = 1\ndef run(robo):\n    open('note.txt', 'w').write('kept')\n    robo.release()\n";
    let second = "def run(robo):\n    print(open('note.txt').read(), robo.state().step, 'left' in globals())\n";
    let place = Place::default();
    let server = Server::start([run(first), run(second), finish("success")]).unwrap();
    play(&place, &server, ["--arm", "program", "--max-programs", "2"]).assert_code(0);
    let cells = place.records().rows::<CellResult>(0);
    assert_eq!(cells[1].stdout, "kept 1 False\n", "{}", cells[1].error);
}

#[test]
fn a_provider_that_fails_for_good_leaves_a_whole_record() {
    let place = Place::default();
    let server = Server::start([
        python("robo.release()"),
        Play::status(401, error_body("invalid_api_key", &format!("no such key: {KEY}"))),
    ])
    .unwrap();
    let ended = play(&place, &server, []);
    ended.assert_code(1).assert_error(&["401", "OPENAI_API_KEY"]);
    assert!(!ended.err.contains(KEY) && !ended.out.contains(KEY), "{ended}");
    let records = place.records();
    let result = records.result();
    assert_eq!((result.status, result.reason), (Status::Failed, Some(Reason::Error)));
    assert_eq!(result.error.as_ref().unwrap().node, "planner");
    assert!(result.episodes[0].recorded);
    assert_eq!((result.bill.model_calls, result.stateful_calls), (1, 1));
    assert!(records.assert_readable() > 5);
}

#[test]
fn an_episode_outlasts_all_that_a_model_and_its_server_do_wrong() {
    let soon = |fault: Play| fault.header("retry-after-ms", "10");
    let place = Place::default();
    let server = Server::start([
        soon(Play::status(429, error_body("rate_limit_exceeded", "slow down"))),
        soon(Play::status(503, error_body("overloaded", "busy"))),
        python("print('broken')").broken_after(60),
        python("print('first')").and_call("dance", json!({})).and_call("python", json!({})),
        Play::nothing().and_call_with("python", "{\"code\": "),
        Play::nothing(),
        python("1 / 0"),
        Play::text("Then I would").stopping(Stop::Length),
        python("print('second')"),
        Play::status(400, error_body("context_length_exceeded", "too long")),
        finish("success"),
    ])
    .unwrap();
    play(&place, &server, []).assert_code(0);
    assert_eq!(server.left(), 0);

    let records = place.records();
    let result = records.result();
    assert_eq!((result.status, result.reason), (Status::Completed, Some(Reason::Finish)));
    assert!(records.assert_readable() > 5);
    let printed: Vec<String> =
        records.rows::<CellResult>(0).into_iter().map(|cell| cell.stdout).collect();
    assert_eq!(printed, ["first\n", "", "second\n"], "nothing of what broke was run");
    assert_eq!((result.bill.model_calls, result.bill.retries), (7, 3));

    let lines = read_turns(&records.path("episodes/000")).unwrap();
    let failed = |line: &TurnLine| match line {
        TurnLine::Call(call) if call.failed => Some(call.answer.clone()),
        _ => None,
    };
    let failed: Vec<String> = lines.iter().filter_map(failed).collect();
    let expected =
        ["no tool \"dance\"", "not run", "not JSON", "ZeroDivisionError: division by zero"];
    assert_eq!(failed.len(), expected.len(), "{failed:?}");
    for (answer, words) in failed.iter().zip(expected) {
        assert!(answer.contains(words), "no {words:?} in {answer:?}");
    }
    let told = place.run(place.rua(["transcript", "out", "--no-pager"]));
    told.assert_code(0);
    for words in ["slow down", "summed up", "Then I would", "ended: finish"] {
        assert!(told.out.contains(words), "no {words:?}; {told}");
    }
}

#[test]
fn a_budget_ends_the_episode_and_is_named() {
    let place = Place::default();
    let again = || python("robo.release()");
    let server = Server::start([again(), again(), finish("stuck")]).unwrap();
    play(&place, &server, ["--max-turns", "1"]).assert_code(0);
    let episode = place.records().result().episodes.remove(0);
    assert_eq!((episode.reason, episode.limit.as_deref()), (Some(Reason::Budget), Some("turns")));
    assert_eq!(episode.cells, 1, "the second call is its last word, and was not finish");

    let place = Place::default();
    let server = Server::start([again(), finish("stuck")]).unwrap();
    play(&place, &server, ["--max-turns", "1", "--hide-budgets"]).assert_code(0);
    let episode = place.records().result().episodes.remove(0);
    assert_eq!(episode.finish.unwrap().status, "stuck");
    let task = server.asked()[0].body.to_string();
    assert!(!task.contains("Budget:"), "{task}");
}

#[test]
fn settings_come_from_flags_then_the_environment_then_a_file() {
    let place = Place::default();
    let server = Server::start([finish("success"), finish("success")]).unwrap();
    let file = format!(
        "model = \"mine\"\n[models.mine]\nmodel = \"from-file\"\nbase_url = \"{}\"\neffort = \"low\"\n",
        server.url()
    );
    place.write("rua.toml", &file);
    let command = |out: &'static str| {
        let mut command =
            place.rua(["play", "--robot", "template", "--planner", "openai", "--out", out]);
        command.env_remove("OPENAI_API_KEY");
        command
    };
    place.run(command("one")).assert_code(0);
    let mut second = command("two");
    second.env("RUA_EFFORT", "high").args(["--model", "mine"]);
    place.run(second).assert_code(0);
    let asked = server.asked();
    assert_eq!(asked[0].body["model"], "from-file");
    let effort = |at: usize| asked[at].body.to_string();
    assert!(effort(0).contains("\"low\"") && effort(1).contains("\"high\""), "{}", effort(1));
    let kept = std::fs::read_to_string(place.path("one/settings.json")).unwrap();
    assert!(kept.contains("\"RUA_MODEL\": \"from-file\""), "{kept}");

    let mut nameless = place.rua(["play", "--robot", "template", "--planner", "anthropic"]);
    nameless.args(["--model", "claude-x"]).env_remove("ANTHROPIC_API_KEY");
    place.run(nameless).assert_code(2).assert_error(&["ANTHROPIC_API_KEY"]);
}

#[test]
fn a_person_reads_along_speaks_and_takes_over() {
    let place = Place::default();
    let server = Server::start([
        python("print('first')").saying("I begin."),
        // Slow enough for a person to come between.
        python("print('second')").in_pieces_of(100).slowly(Duration::from_millis(500)),
        finish("success"),
    ])
    .unwrap();
    let (typed, mut typist) = std::io::pipe().unwrap();
    let mut command = command(&place, &server, ["--interactive"]);
    command.stdin(typed);
    let running = place.start(command);
    wait_until("the first cell", || running.printed().contains("cell 1"));
    typist.write_all(b"/cell print('mine')\nmore to the left\n/dance\n").unwrap();
    let ended = running.wait();
    place.assert_nothing_left();
    ended.assert_code(0);
    for words in ["I begin.", "→ python", "print('first')", "there is no /dance", "(finish)"] {
        assert!(ended.out.contains(words), "no {words:?}; {ended}");
    }
    let cells = place.records().rows::<Cell>(0);
    let codes: Vec<&str> = cells.iter().map(|cell| cell.code.trim()).collect();
    assert_eq!(codes, ["print('first')", "print('mine')", "print('second')"]);
    let told = server.asked()[2].body.to_string();
    assert!(told.contains("more to the left") && told.contains("print('mine')"), "{told}");
}

#[test]
fn a_person_pauses_skips_and_stops() {
    let place = Place::default();
    let server = Server::start([python("while True: pass"), python("robo.release()")]).unwrap();
    let (typed, mut typist) = std::io::pipe().unwrap();
    let mut command = command(&place, &server, ["--interactive"]);
    command.stdin(typed);
    let running = place.start(command);
    wait_until("the first reply", || running.printed().contains("while True"));
    typist.write_all(b"/pause\n").unwrap();
    wait_until("the pause", || running.printed().contains("paused"));
    typist.write_all(b"/skip\n").unwrap();
    wait_until("the end of the cell", || running.printed().contains("cancelled"));
    assert_eq!(server.asked().len(), 1, "nothing new begins");
    typist.write_all(b"/stop\n").unwrap();
    let ended = running.wait();
    place.assert_nothing_left();
    ended.assert_code(1);
    assert_eq!(place.records().result().status, Status::Interrupted);
    assert_eq!(server.asked().len(), 1);
}
