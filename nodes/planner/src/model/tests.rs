use std::collections::VecDeque;
use std::time::Duration;

use ruaflow_llm::testing::{Asked, Play, Server, error_body};
use ruaflow_llm::{Prices, Secret, Usage, Wire};
use ruaflow_prompt::{Budgets, Limit, Rules};
use ruaflow_record::{CallRecord, PartRecord, TurnLine, TurnRecord, read_turns};
use ruaflow_robots::Images;
use ruaflow_schemas::{Bytes, Card, CellResult, LedgerEntry, Picture};
use serde_json::json;

use super::*;
use crate::backend::Over;
use crate::rehearsal::{self, Ran};

const KEY: &str = "sk-very-secret-key-123";

/// A PNG of 1 x 1 pixel, as far as its header goes.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0";

/// An episode that was played against a script of replies.
struct Played {
    ending: Result<Ending, String>,
    server: Server,
    ran: Ran,
}

impl Played {
    fn lines(&self) -> Vec<TurnLine> {
        read_turns(&self.ran.folder().join("episodes/000")).unwrap()
    }

    fn turns(&self) -> Vec<TurnRecord> {
        let turn = |line| if let TurnLine::Turn(turn) = line { Some(*turn) } else { None };
        self.lines().into_iter().filter_map(turn).collect()
    }

    fn calls(&self) -> Vec<CallRecord> {
        let call = |line| if let TurnLine::Call(call) = line { Some(*call) } else { None };
        self.lines().into_iter().filter_map(call).collect()
    }

    fn ended(&self) -> &Ending {
        self.ending.as_ref().unwrap()
    }

    fn gave_up(&self) -> &str {
        match self.ended() {
            Ending::GaveUp { why } => why,
            other => panic!("{other:?}"),
        }
    }
}

fn endpoint(wire: Wire, url: &str) -> Endpoint {
    let mut endpoint = Endpoint::new(wire, url, "scripted-1");
    endpoint.key = Secret::new(KEY);
    endpoint.retries.backoff = Duration::from_millis(1);
    endpoint
}

/// Plays a script; each cell ends well and shows what it was.
fn play(script: impl IntoIterator<Item = Play>) -> Played {
    play_by(Wire::Chat, Rules::default(), script, |code, index| Ok(ok(code, index)))
}

fn play_by(
    wire: Wire,
    rules: Rules,
    script: impl IntoIterator<Item = Play>,
    robot: impl FnMut(&str, u32) -> Result<CellResult, Over> + Send + 'static,
) -> Played {
    let server = Server::start(script).unwrap();
    let card = Card { instruction: "lift".into(), max_control_steps: 300, ..Card::default() };
    let (mut episode, ran) = rehearsal::with(rules, card, robot);
    let mut model = Model::new(endpoint(wire, &server.url()), Prices::shipped());
    let ending = model.play(&mut episode);
    Played { ending, server, ran }
}

fn ok(code: &str, index: u32) -> CellResult {
    CellResult {
        index,
        status: "ok".into(),
        feedback: format!("cell {index}: ok\n{code}\n"),
        ..CellResult::default()
    }
}

fn failed(index: u32) -> CellResult {
    CellResult { status: "error".into(), feedback: "ValueError: no\n".into(), ..ok("", index) }
}

fn pictured(code: &str, index: u32) -> CellResult {
    let picture = Picture {
        name: "wrist".into(),
        width: 1,
        height: 1,
        png: Bytes(PNG.to_vec()),
        ..Picture::default()
    };
    CellResult { images: vec![picture], ..ok(code, index) }
}

fn python(code: &str) -> Play {
    Play::call("python", json!({ "code": code }))
}

fn finish() -> Play {
    Play::call("finish", json!({ "status": "success", "summary": "lifted" }))
}

fn finished() -> Ending {
    Ending::Finished { status: "success".into(), summary: "lifted".into() }
}

#[test]
fn a_task_is_played_on_every_wire_and_the_prefix_stays() {
    for wire in [Wire::Chat, Wire::Responses, Wire::Anthropic] {
        let usage = Usage { input: 100, cached: 80, output: 7, reasoning: 2, ..Usage::default() };
        let script = [
            python("robo.state()").saying("I look.").thinking("hm").costing(usage),
            python("robo.release()"),
            finish(),
        ];
        let played =
            play_by(wire, Rules::default(), script, |code, index| Ok(pictured(code, index)));
        assert_eq!(played.ended(), &finished(), "{wire:?}");
        assert_eq!(played.ran.cells(), ["robo.state()", "robo.release()"]);
        let asked = played.server.asked();
        assert!(asked[1].extends(&asked[0]) && asked[2].extends(&asked[1]), "{wire:?}");

        let turns = played.turns();
        assert_eq!(turns.len(), 3);
        assert_eq!(
            (turns[0].tokens.input, turns[0].tokens.cached, turns[0].tokens.output),
            (100, 80, 7)
        );
        assert!(
            matches!(&turns[0].sent[0].parts[0], PartRecord::Text { text } if text.contains("lift"))
        );
        assert_eq!(turns[1].sent_from, 1, "the task was sent before");
        assert_eq!(turns[1].sent[0].parts, [PartRecord::Reply { turn: 1 }]);
        assert!(matches!(
            &turns[1].sent[1].parts[0],
            PartRecord::Answer { call: 1, pictures: 1, .. }
        ));
        assert_eq!(turns[0].system, turns[2].system);
        let prompt = played.ran.folder().join("prompts").join(turns[0].system.as_ref().unwrap());
        assert!(std::fs::read_to_string(prompt).unwrap().starts_with("# Working in cells"));

        let calls = played.calls();
        let tools: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
        assert_eq!(tools, ["python", "python", "finish"]);
        assert_eq!(calls[0].cell, Some(1));
        assert!(
            matches!(&calls[0].images[0], PartRecord::Image { file, .. } if file == "cells/001.1-wrist.png")
        );
        assert_eq!((played.ran.bill().model_calls, played.ran.bill().tool_calls), (3, 2));
    }
}

#[test]
fn a_key_is_in_no_file_of_the_run() {
    let body = error_body("invalid_api_key", &format!("wrong key {KEY}"));
    let played = play([python(&format!("print('{}')", "x")), Play::status(401, body)]);
    let error = played.ending.clone().unwrap_err();
    assert!(!error.contains(KEY) && error.contains("401"), "{error}");
    let mut folders = vec![played.ran.folder()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()), "{path:?}");
        }
    }
    assert!(files >= 2, "turns and prompts");
}

#[test]
fn calls_of_one_reply_run_in_order_until_one_fails() {
    let two = python("a").and_call("python", json!({ "code": "b" }));
    let both = play([two.clone(), finish()]);
    assert_eq!(both.ran.cells(), ["a", "b"]);
    assert_eq!(both.ended(), &finished());

    let script = [two, finish()];
    let first_fails = play_by(Wire::Chat, Rules::default(), script, |_, index| Ok(failed(index)));
    assert_eq!(first_fails.ran.cells(), ["a"]);
    let calls = first_fails.calls();
    assert!(calls[1].failed && calls[1].answer.contains("a call before it"), "{:?}", calls[1]);
    assert_eq!(first_fails.ended(), &finished());
}

#[test]
fn a_call_that_makes_no_sense_gets_an_answer_to_mend_it_by() {
    for (call, says) in [
        (Play::call("fly", json!({})), "there are python, finish"),
        (Play::default().and_call_with("python", "{\"code\": \"x"), "not JSON"),
        (Play::default().and_call_with("python", "[1]"), "not an object"),
        (Play::call("python", json!({ "cod": "x" })), "code is missing"),
        (
            Play::call("finish", json!({ "status": "done", "summary": "" })),
            "expected one of success",
        ),
    ] {
        let played = play([call, finish()]);
        assert_eq!(played.ended(), &finished());
        assert!(played.ran.cells().is_empty());
        let calls = played.calls();
        assert!(calls[0].failed && calls[0].answer.contains(says), "{:?}", calls[0]);
    }
}

#[test]
fn a_reply_without_a_call_is_nudged_once() {
    let mended = play([Play::text("I am done."), finish()]);
    assert_eq!(mended.ended(), &finished());
    let empty = play([Play::nothing(), Play::nothing()]);
    assert!(empty.gave_up().contains("no tool"), "{}", empty.gave_up());
    assert_eq!(empty.server.left(), 0);
    let asked = empty.server.asked()[1].body.to_string();
    assert!(asked.contains("Nothing was run"), "{asked}");
    let cut = play([Play::text("I think that").stopping(Stop::Length), finish()]);
    assert!(cut.server.asked()[1].body.to_string().contains("cut at the limit"));
    assert_eq!(cut.turns()[0].stop, "length");
}

#[test]
fn a_refusal_ends_the_episode_with_its_words() {
    let played = play([Play::refusal("I can't help with robots.")]);
    assert!(played.gave_up().contains("refused"), "{}", played.gave_up());
    assert!(played.gave_up().contains("robots"), "{}", played.gave_up());
}

#[test]
fn failures_that_pass_are_retried_and_booked_apart() {
    let slow_down = Play::status(429, error_body("rate_limit", "slow down"));
    for fault in [
        slow_down.header("retry-after", "0"),
        Play::status(503, error_body("overloaded", "busy")),
        python("x").broken_after(200),
    ] {
        let played = play([fault, python("x"), finish()]);
        assert_eq!(played.ended(), &finished());
        assert_eq!(played.ran.cells(), ["x"], "the broken reply was not acted on");
        let turns = played.turns();
        assert_eq!(turns[0].attempts.len(), 1, "{turns:?}");
        assert_eq!(played.ran.bill().retries, 1);
        assert!(turns[1].attempts.is_empty());
    }
}

#[test]
fn a_provider_that_stays_away_ends_the_run_with_a_way_out() {
    let down = || Play::status(500, error_body("server_error", "down"));
    let server = Server::start((0..10).map(|_| down())).unwrap();
    let (mut episode, ran) = rehearsal::episode(ok);
    let mut endpoint = endpoint(Wire::Chat, &server.url());
    endpoint.retries.max = 2;
    let url = endpoint.base_url.clone();
    let error = Model::new(endpoint, Prices::shipped()).play(&mut episode).unwrap_err();
    assert!(error.contains(&url), "{error}");
    assert_eq!(server.asked().len(), 3);
    let lines = read_turns(&ran.folder().join("episodes/000")).unwrap();
    assert!(matches!(&lines[..], [TurnLine::Note { text, .. }] if text.contains("no reply")));
}

#[test]
fn a_context_that_is_full_loses_its_oldest_pictures_and_then_its_oldest_turns() {
    let full = || Play::status(400, error_body("context_length_exceeded", "too long"));
    let script =
        [python("a"), python("b"), python("c"), full(), full(), full(), python("d"), finish()];
    let played =
        play_by(Wire::Chat, Rules::default(), script, |code, index| Ok(pictured(code, index)));
    assert_eq!(played.ended(), &finished());
    assert_eq!(played.ran.cells(), ["a", "b", "c", "d"]);
    let turns = played.turns();
    let notes = turns[3].notes.join("\n");
    assert!(notes.contains("oldest pictures were taken out"), "{notes}");
    assert!(notes.contains("oldest turns were summed up"), "{notes}");
    assert_eq!(turns[3].sent_from, 0, "the conversation is another one");
    let asked = played.server.asked();
    let pictures = |at: usize| asked[at].body.to_string().matches("data:image/png").count();
    assert_eq!((pictures(3), pictures(4), pictures(5)), (3, 2, 1), "the newest stays");
    assert!(asked[6].body.to_string().contains("Earlier turns, shortened"));
}

#[test]
fn a_conversation_that_never_fits_fails_with_its_size_named() {
    let full = || Play::status(400, error_body("context_length_exceeded", "too long"));
    let played = play((0..4).map(|_| full()));
    let error = played.ending.as_ref().unwrap_err();
    assert!(error.contains("does not fit") && error.contains("scripted-1"), "{error}");
}

#[test]
fn a_budget_that_is_used_up_leaves_one_word() {
    for (budgets, limit) in [
        (Budgets { calls: Some(1), ..Budgets::default() }, Limit::Calls),
        (Budgets { turns: Some(1), ..Budgets::default() }, Limit::Turns),
        (Budgets { tokens: Some(10), ..Budgets::default() }, Limit::Tokens),
    ] {
        let rules = Rules { budgets, ..Rules::default() };
        let played = play_by(Wire::Chat, rules, [python("x"), finish()], |c, i| Ok(ok(c, i)));
        assert_eq!(played.ended(), &finished());
        let told = played.server.asked()[1].body.to_string();
        assert!(told.contains(&format!("the budget of {limit} is used up")), "{told}");
        let stubborn = play_by(
            Wire::Chat,
            Rules { budgets, ..Rules::default() },
            [python("x"), python("y"), python("z")],
            |c, i| Ok(ok(c, i)),
        );
        assert_eq!(stubborn.ended(), &Ending::Over);
        assert_eq!(stubborn.ran.cells(), ["x"], "the robot holds");
        assert_eq!(stubborn.server.left(), 1, "one chance, not two");
        let noted = |line: &TurnLine| matches!(line, TurnLine::Note { text, .. } if text.contains("used up"));
        assert_eq!(stubborn.lines().iter().filter(|line| noted(line)).count(), 1);
    }
}

#[test]
fn where_a_grammar_rules_finish_is_the_only_last_word() {
    let call = |tool: &str, arguments| {
        Play::text(json!({ "tool": tool, "arguments": arguments }).to_string())
    };
    let server = Server::start([
        call("python", json!({ "code": "x" })),
        call("finish", json!({ "status": "success", "summary": "done" })),
    ])
    .unwrap();
    let budgets = Budgets { turns: Some(1), ..Budgets::default() };
    let rules = Rules { budgets, ..Rules::default() };
    let (mut episode, ran) = rehearsal::with(rules, Card::default(), |c, i| Ok(ok(c, i)));
    let mut endpoint = endpoint(Wire::Chat, &server.url());
    endpoint.tool_mode = ToolMode::JsonSchema;
    let ending = Model::new(endpoint, Prices::shipped()).play(&mut episode);
    assert!(matches!(ending, Ok(Ending::Finished { .. })), "{ending:?}");
    assert_eq!(ran.cells(), ["x"]);
    let choices = |asked: &Asked| {
        let schema = &asked.body["response_format"]["json_schema"]["schema"];
        schema["anyOf"].as_array().unwrap().len()
    };
    assert_eq!(server.asked().iter().map(choices).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn an_episode_that_is_solved_asks_no_more() {
    let solved =
        |code: &str, index| Err(Over { why: Why::Solved, last: Some(Box::new(ok(code, index))) });
    let played = play_by(Wire::Chat, Rules::default(), [python("x"), finish()], solved);
    assert_eq!(played.ended(), &Ending::Over);
    assert_eq!(played.server.left(), 1);
    assert!(played.calls()[0].answer.contains("cell 1: ok"), "what it did is on record");
}

#[test]
fn tools_are_the_robots_methods_with_state_and_pictures() {
    let rules = Rules { arm: Arm::Tools, images: Images::OnMotion, ..Rules::default() };
    let robot = |code: &str, index| {
        let entry = |method: &str, outcome: &str| LedgerEntry {
            method: method.into(),
            outcome: outcome.into(),
            ok: true,
            ..LedgerEntry::default()
        };
        let ledger = vec![entry("move_to", r#"{"reached":true}"#), entry("state", r#"{"step":1}"#)];
        Ok(CellResult { ledger, ..pictured(code, index) })
    };
    let card = Card {
        cameras: vec![ruaflow_schemas::Camera { name: "agentview".into(), ..Default::default() }],
        ..Card::default()
    };
    let server =
        Server::start([Play::call("move_to", json!({ "xyz": [0.1, 0, 0.3] })), finish()]).unwrap();
    let (mut episode, ran) = rehearsal::with(rules, card, robot);
    let mut model = Model::new(endpoint(Wire::Chat, &server.url()), Prices::shipped());
    assert_eq!(model.play(&mut episode).unwrap(), finished());
    assert_eq!(
        ran.cells(),
        ["robo.show(\"agentview\")\n", "robo.move_to(xyz=[0.1, 0, 0.3])\nrobo.state()\n"]
    );
    let asked = server.asked();
    assert_eq!(asked[0].body.to_string().matches("data:image/png").count(), 1, "first pictures");
    let second = asked[1].body.to_string();
    assert!(second.contains(r#"\"result\":{\"reached\":true},\"state\":{\"step\":1}"#), "{second}");
    assert_eq!(second.matches("data:image/png").count(), 2);
    let lines = read_turns(&ran.folder().join("episodes/000")).unwrap();
    let TurnLine::Turn(first) = &lines[0] else { panic!("{lines:?}") };
    assert!(
        matches!(&first.sent[0].parts[1], PartRecord::Image { file, .. } if file == "cells/001.1-wrist.png")
    );
}

#[test]
fn programs_are_counted_and_single_shots_are_one() {
    let program = "def run(robo):\n    robo.release()\n";
    let run = || Play::call("run_program", json!({ "code": program }));
    let rules = Rules { arm: Arm::Program, max_programs: Some(1), ..Rules::default() };
    let played = play_by(Wire::Chat, rules, [run(), run(), finish()], |c, i| Ok(ok(c, i)));
    assert_eq!(played.ran.cells(), [format!("{program}\n\nrun(robo)\n").replace("\n\n\n", "\n\n")]);
    let calls = played.calls();
    assert!(calls[0].answer.contains("[programs left: 0]"), "{}", calls[0].answer);
    assert!(calls[1].failed && calls[1].answer.contains("no program is left"));

    let shot = |text: &str, status: &'static str| {
        let rules = Rules { arm: Arm::SingleShot, ..Rules::default() };
        play_by(Wire::Chat, rules, [Play::text(text)], move |code, index| {
            Ok(CellResult { status: status.into(), ..ok(code, index) })
        })
    };
    let reply = format!("Here it is.\n```python\n{program}```\n");
    assert_eq!(shot(&reply, "ok").ended(), &Ending::Played);
    assert_eq!(shot(&reply, "error").ended(), &Ending::CellFailed);
    assert!(shot("I would rather not.", "ok").gave_up().contains("no whole program"));
    assert!(shot("```python\ndef run(robo:\n```", "ok").gave_up().contains(" line "));
    let asked = shot(&reply, "ok").server.asked();
    assert!(asked[0].body.get("tools").is_none(), "{}", asked[0].body);
}

#[test]
fn what_a_person_says_comes_with_the_next_message() {
    let server = Server::start([python("x"), finish()]).unwrap();
    let mut said = VecDeque::from(["more to the left"]);
    let steer = std::sync::Arc::new(std::sync::OnceLock::<Control>::new());
    let steered = steer.clone();
    let (mut episode, _ran) = rehearsal::episode(move |code, index| {
        if let (Some(control), Some(text)) = (steered.get(), said.pop_front()) {
            control.wish(crate::control::Wish::Say(text.to_owned()));
        }
        ok(code, index)
    });
    steer.set(episode.control()).ok().unwrap();
    let mut model = Model::new(endpoint(Wire::Chat, &server.url()), Prices::shipped());
    assert_eq!(model.play(&mut episode).unwrap(), finished());
    assert!(server.asked()[1].body.to_string().contains("A person says: more to the left"));
}

#[test]
fn a_request_is_given_up_when_the_episode_ends() {
    let server = Server::start([Play::silence()]).unwrap();
    let (mut episode, _ran) = rehearsal::episode(ok);
    let control = episode.control();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        control.end(Why::Stopped);
    });
    let mut model = Model::new(endpoint(Wire::Chat, &server.url()), Prices::shipped());
    assert_eq!(model.play(&mut episode).unwrap(), Ending::Over);
    stopper.join().unwrap();
}
