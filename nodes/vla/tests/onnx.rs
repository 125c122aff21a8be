//! The ONNX backend with small models, written here byte by byte.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::PathBuf;

use common::{Graph, INT64};
use tempfile::TempDir;
use vla::Picture;
use vla::onnx::Onnx;
use vla::policy::{Policy as _, PolicyError, Shown};

/// `actions = state x W + mean(image) + task`, two of them.
fn model() -> Graph {
    let mut weights = [0.0_f32; 8 * 14];
    for (column, weight) in weights[..14].iter_mut().enumerate() {
        *weight = column as f32;
    }
    Graph::default()
        .input("image", &[1, 3, 2, 2])
        .input("state", &[1, 8])
        .typed_input("task", &[1], INT64)
        .constant("W", &[8, 14], &weights)
        .shape_constant("rows", &[1, 2, 7])
        .node("MatMul", &["state", "W"], "scaled")
        .node("ReduceMean", &["image"], "brightness")
        .node("Add", &["scaled", "brightness"], "sum")
        .node("Cast", &["task"], "number")
        .node("Add", &["sum", "number"], "flat")
        .node("Reshape", &["flat", "rows"], "actions")
        .output("actions", &[1, 2, 7])
}

const SPEC: &str = r#"{
    "images": [{"input": "image", "camera": "agentview", "side": 2}],
    "state": {"input": "state", "mean": [1, 0, 0, 0, 0, 0, 0, 0]},
    "prompt": {"input": "task", "tasks": ["wave", "grasp"]},
    "actions": {"output": "actions", "std": [2, 1, 1, 1, 1, 1, 1]}
}"#;

fn write(model: &Graph, spec: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("small.onnx");
    std::fs::write(&path, model.bytes()).unwrap();
    std::fs::write(dir.path().join("small.json"), spec).unwrap();
    (dir, path)
}

fn shown(prompt: &str) -> Shown {
    let picture = Picture { width: 2, height: 2, rgb: vec![255; 12] };
    let mut state = [0.0; 8];
    state[0] = 1.5;
    Shown { image: picture.clone(), wrist_image: picture, state, prompt: prompt.to_owned() }
}

#[test]
fn pictures_state_and_prompt_go_in_and_actions_come_out_in_robot_units() {
    let (_dir, path) = write(&model(), SPEC);
    let actions = Onnx::open(&path).unwrap().infer(&shown("grasp")).unwrap();
    assert_eq!(actions.source, "small");
    // (1.5 - 1) * column + brightness 1 + task 1, the first column times 2.
    let row =
        |start: f64| -> Vec<f64> { (0..7).map(|i| 0.5 * (start + f64::from(i)) + 2.0).collect() };
    for (found, start) in actions.rows.iter().zip([0.0, 7.0]) {
        let mut expected = row(start);
        expected[0] *= 2.0;
        assert_eq!(found.as_slice(), expected);
    }
}

#[test]
fn a_prompt_the_model_was_not_trained_for_is_an_error() {
    let (_dir, path) = write(&model(), SPEC);
    let error = Onnx::open(&path).unwrap().infer(&shown("dance")).unwrap_err();
    assert!(matches!(error, PolicyError::Prompt { .. }), "{error}");
    assert!(error.to_string().contains("grasp"), "{error}");
}

#[test]
fn what_cannot_be_used_is_told_at_the_start() {
    let open = |model: &Graph, spec: &str| {
        let (_dir, path) = write(model, spec);
        Onnx::open(&path).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let error = open(
        &model(),
        &SPEC.replace("\"state\": {\"input\": \"state\"", "\"state\": {\"input\": \"pose\""),
    );
    assert!(error.contains("no input \"pose\"") && error.contains("\"task\""), "{error}");
    let error = open(&model(), &SPEC.replace("\"input\": \"task\"", "\"input\": \"state\""));
    assert!(error.contains("expected a tensor of i64"), "{error}");

    let (dir, path) = write(&model(), SPEC);
    std::fs::write(&path, "not a model").unwrap();
    let error = Onnx::open(&path).err().unwrap().to_string();
    assert!(error.contains("small.onnx"), "{error}");
    let missing = dir.path().join("other.onnx");
    let error = Onnx::open(&missing).err().unwrap().to_string();
    assert!(error.contains("other.onnx"), "{error}");
}

#[test]
fn actions_of_another_shape_are_refused() {
    let flat = Graph::default()
        .input("state", &[1, 8])
        .node("Identity", &["state"], "actions")
        .output("actions", &[1, 8]);
    let spec = r#"{"state": {"input": "state"}, "actions": {"output": "actions"}}"#;
    let (_dir, path) = write(&flat, spec);
    let error = Onnx::open(&path).unwrap().infer(&shown("")).unwrap_err();
    assert!(matches!(&error, PolicyError::Shape { found } if *found == [1, 8]), "{error}");
}
