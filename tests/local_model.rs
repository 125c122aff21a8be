//! A real model, small and on this machine, drives the template robot.
//!
//! `./rua test --models` installs it and runs this, which is left out otherwise.
#![allow(clippy::unwrap_used)]

use end_to_end::Place;
use ruaflow_llm::testing::LocalModel;
use ruaflow_record::{Reason, Status};

#[test]
#[ignore = "./rua test --models"]
fn a_tiny_model_uses_its_one_call_and_finishes() {
    let model = LocalModel::start().unwrap();
    let place = Place::default();
    let mut command = place.rua(["play", "--robot", "template", "--planner", "openai"]);
    command
        .args(["--model", LocalModel::NAME, "--base-url", model.url()])
        .args(["--tool-mode", "json-schema", "--temperature", "0", "--max-output-tokens", "200"])
        .args(["--arm", "tools", "--images", "none", "--max-turns", "1", "--hide-budgets"])
        .args(["--pictures", "off", "--out", "out"]);
    place.run(command).assert_code(0);
    place.assert_nothing_left();

    let result = place.records().result();
    assert_eq!((result.status, result.model.as_str()), (Status::Completed, LocalModel::NAME));
    assert_eq!((result.cells, result.calls), (1, 1), "one method of the robot");
    let episode = &result.episodes[0];
    assert_eq!((episode.reason, episode.limit.as_deref()), (Some(Reason::Budget), Some("turns")));
    assert!(episode.finish.is_some(), "{episode:?}");
    assert_eq!(episode.bill.model_calls, 2);
    assert!(episode.bill.tokens.input > 2000, "{:?}", episode.bill);
}
