//! A robot for MCP clients that are not ours.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use end_to_end::{Place, Running, policies, root, wait_until};
use ruaflow_record::{Reason, Status};
use ruaflow_schemas::CellResult;
use rustix::process::Signal;
use serde_json::{Value, json};

/// `rua mcp` with the template robot, and the URL it tells.
fn serve(place: &Place, args: &[&str]) -> (Running, String) {
    let mut command = place.rua(["mcp", "--robot", "template", "--out", "out"]);
    command.args(args).args(["--token-file", "token", "--pictures", "off"]);
    let running = place.start(command);
    let mut url = None;
    wait_until("the URL", || {
        url = url_in(&running.printed());
        url.is_some()
    });
    (running, url.unwrap())
}

fn url_in(printed: &str) -> Option<String> {
    let words = printed.split_whitespace();
    words
        .map(|word| word.trim_end_matches(','))
        .find(|word| word.starts_with("http://"))
        .map(str::to_owned)
}

/// What the Python SDK of the protocol's authors finds and does.
fn peer(place: &Place, url: &str, mode: &str, calls: &[&str]) -> Vec<Value> {
    let ended = place.run(client(place, &[url, "token", mode], calls));
    ended.assert_code(0);
    ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn client(place: &Place, server: &[&str; 3], calls: &[&str]) -> Command {
    let mut command = place.command(root().join(".venv/bin/python"));
    command.arg(root().join("tests/mcp/peer.py")).args(server).args(calls);
    command
}

const FINISH: &str = "finish={\"status\": \"success\", \"summary\": \"moved\"}";

#[test]
fn the_sdk_of_the_protocols_authors_drives_a_robot_by_its_tools() {
    let place = Place::default();
    let (running, url) = serve(&place, &["--arm", "tools"]);
    let told =
        peer(&place, &url, "auto", &["task", "state", "set_gripper={\"gripper\": 1}", FINISH]);
    let tool = |name: &str| told.iter().find(|line| line["tool"] == name).unwrap();
    assert_eq!(tool("state")["read_only"], true);
    assert_eq!(tool("set_gripper")["read_only"], false);
    assert_eq!(tool("finish")["arguments"], json!(["status", "summary"]));
    let called = |name: &str| told.iter().find(|line| line["called"] == name).unwrap();
    for name in ["task", "state", "set_gripper", "finish"] {
        assert_eq!(called(name)["failed"], false, "{}", called(name));
    }
    running.wait().assert_code(0);
    place.assert_nothing_left();

    let result = place.records().result();
    assert_eq!((result.status, result.planner.as_str()), (Status::Completed, "mcp"));
    assert_eq!(result.episodes[0].reason, Some(Reason::Finish));
}

#[test]
fn cells_by_the_protocol_with_sessions_show_pictures() {
    let place = Place::default();
    let (running, url) = serve(&place, &[]);
    let look = json!({"code": "robo.show()\nprint(robo.state().step)"}).to_string();
    let told = peer(&place, &url, "legacy", &[&format!("python={look}"), FINISH]);
    let python = told.iter().find(|line| line["called"] == "python").unwrap();
    assert_eq!(python["kinds"], json!(["text", "image"]), "{python}");
    assert!(python["text"].as_str().unwrap().contains("\n0\n"), "{python}");
    running.wait().assert_code(0);
}

#[test]
fn a_client_that_vanishes_in_mid_motion_leaves_the_robot_to_the_next() {
    let place = Place::default();
    let (running, url) = serve(&place, &[]);
    let endless = format!("python={}", json!({"code": policies::FOR_EVER}));
    let mut command = client(&place, &[&url, "token", "legacy"], &[&endless]);
    let mut vanishing = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let happenings = place.path("out/progress.jsonl");
    wait_until("a motion", || {
        std::fs::read_to_string(&happenings).is_ok_and(|told| told.contains(r#""kind":"progress""#))
    });
    vanishing.kill().unwrap();
    vanishing.wait().unwrap();

    let look = r#"python={"code": "print('moved', robo.state().step > 0)"}"#;
    let mut answer = Value::Null;
    wait_until("the robot to be free", || {
        let told = peer(&place, &url, "legacy", &[look]);
        answer = told.into_iter().find(|line| line["called"] == "python").unwrap();
        answer["failed"] == false
    });
    assert!(answer["text"].as_str().unwrap().contains("moved True"), "{answer}");
    peer(&place, &url, "legacy", &[FINISH]);
    running.wait().assert_code(0);
    place.assert_nothing_left();
    let cells = place.records().rows::<CellResult>(0);
    let statuses: Vec<&str> = cells.iter().map(|cell| cell.status.as_str()).collect();
    assert_eq!(statuses, ["cancelled", "ok"]);
}

#[test]
fn nobody_without_the_token_gets_in_and_ctrl_c_ends_in_good_order() {
    let place = Place::default();
    let (running, url) = serve(&place, &[]);
    let mode = std::fs::metadata(place.path("token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    place.write("wrong", "0123456789abcdef0123456789abcdef");
    let ended = place.run(client(&place, &[&url, "wrong", "legacy"], &[]));
    assert_ne!(ended.code, Some(0), "{ended}");

    running.signal(Signal::INT);
    running.wait();
    place.assert_nothing_left();
    let result = place.records().result();
    assert_eq!(result.status, Status::Interrupted);
    assert!(result.finished_at.is_some());
}
