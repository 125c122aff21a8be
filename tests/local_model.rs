//! A real model, small and on this machine, drives the template robot.
//!
//! `./rua test --models` installs it and runs this, which is left out otherwise.
#![allow(clippy::unwrap_used)]

use end_to_end::Place;
use ruaflow_llm::testing::LocalModel;
use ruaflow_record::{Reason, Status};

#[test]
#[ignore = "./rua test --models"]
fn a_tiny_model_calls_a_primitive_and_finishes() {
    let model = LocalModel::start().unwrap();
    let place = Place::default();
    let mut command = place.rua(["play", "--robot", "template", "--planner", "openai"]);
    command
        .args(["--model", LocalModel::NAME, "--base-url", model.url()])
        .args(["--tool-mode", "json-schema", "--temperature", "0", "--max-output-tokens", "128"])
        .args(["--arm", "tools", "--images", "none", "--pictures", "off", "--out", "out"]);
    place.run(command).assert_code(0);
    place.assert_nothing_left();

    let records = place.records();
    let result = records.result();
    assert_eq!((result.status, result.reason), (Status::Completed, Some(Reason::Finish)));
    assert!(result.stateful_calls >= 1, "{result:?}");
    assert_eq!(result.model, LocalModel::NAME);
    assert!(result.bill.tokens.input > 1000, "{:?}", result.bill);
}
