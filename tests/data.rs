//! What a run leaves on disk, read by others: the examples of docs/data.md, and
//! what is left out or pruned.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use end_to_end::policies::THREE_CELLS;
use end_to_end::{Place, root};
use ruaflow_record::{Level, RunDir, Status};
use ruaflow_schemas::{CallResult, Observation, State};
use serde_json::Value;

/// Two runs of the template robot in `runs/`, of which one has two episodes.
fn two_runs() -> Place {
    let place = Place::default();
    std::fs::create_dir(place.path("runs")).unwrap();
    place.run(place.play_to("runs/a", THREE_CELLS, ["--episodes", "2"])).assert_code(0);
    place.run(place.play_to("runs/b", THREE_CELLS, ["--seed", "9"])).assert_code(0);
    place
}

fn files(folder: &Path, kind: &str) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .map(|path| match path.is_dir() {
            true => files(&path, kind),
            false => usize::from(path.extension().is_some_and(|extension| extension == kind)),
        })
        .sum()
}

#[test]
fn duckdb_polars_and_pyarrow_read_what_the_page_says() {
    let place = two_runs();
    let mut command = place.command(root().join(".venv/bin/python"));
    command.arg(root().join("tests/data/examples.py")).arg(root().join("docs/data.md"));
    let ended = place.run(command);
    ended.assert_code(0);
    let examples: Vec<Value> =
        ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(examples.len() > 8, "{ended}");
    for example in &examples {
        assert!(!example["rows"].as_array().unwrap().is_empty(), "nothing found by {example}");
    }
    let rows = |heading: &str| {
        let example = examples.iter().find(|example| example["heading"] == heading);
        example.unwrap_or_else(|| panic!("no example {heading:?}"))["rows"].as_array().unwrap()
    };
    assert_eq!(rows("Success by suite")[0]["episodes"], 3);
    assert_eq!(rows("Failures by cause")[0]["reason"], "policy_finished");

    let mut way = 0.0;
    let mut calls = 0;
    for (run, episode) in [("a", 0), ("a", 1), ("b", 0)] {
        let records = end_to_end::Records::open(&place.path("runs").join(run));
        let hand: Vec<[f64; 3]> =
            records.rows::<Observation>(episode).iter().map(|row| row.arms[0].eef_pos).collect();
        let distance = |pair: &[[f64; 3]]| {
            (0..3).map(|axis| (pair[1][axis] - pair[0][axis]).powi(2)).sum::<f64>().sqrt()
        };
        way += hand.windows(2).map(distance).sum::<f64>();
        calls += records.rows::<CallResult>(episode).len();
    }
    let number = |row: &Value, name: &str| row[name].as_f64().unwrap();
    let found: f64 = rows("The way of the hand").iter().map(|row| number(row, "metres")).sum();
    assert!(way > 0.1 && (found - way).abs() < 1e-9, "{found} is not {way}");
    let timed: f64 = rows("Time of a call").iter().map(|row| number(row, "calls")).sum();
    assert_eq!(timed, calls as f64);
}

#[test]
fn a_run_in_good_order_is_compacted_when_it_ends() {
    let place = two_runs();
    for run in ["runs/a", "runs/b"] {
        assert_eq!(files(&place.path(run), "arrows"), 0);
        assert!(files(&place.path(run), "parquet") > 5);
        let nothing = place.run(place.rua(["repair", run]));
        nothing.assert_code(0);
        assert!(nothing.out.contains("nothing to repair"), "{nothing}");
    }
}

#[test]
fn a_light_run_says_so_and_what_needs_more_says_what() {
    let place = Place::default();
    let ended = place.run(place.play(THREE_CELLS, ["--record", "light"]));
    ended.assert_code(0);
    assert!(ended.out.contains("recorded light") && ended.out.contains("free"), "{ended}");
    let records = place.records();
    assert_eq!(
        (records.result().status, records.result().record),
        (Status::Completed, Level::Light)
    );
    assert!(!records.path("episodes/000/state.parquet").exists());
    assert!(!records.path("episodes/000/pictures").exists());
    assert!(!records.rows::<Observation>(0).is_empty());
    let again = place.run(place.rua(["play", "--robot", "template", "--from", "out:3"]));
    again.assert_code(1).assert_error(&["simulator states", "--record standard"]);
    let wrong = place.run(place.play_to("other", THREE_CELLS, ["--record", "all"]));
    wrong.assert_code(2);
    assert!(wrong.err.contains("full, standard or light"), "{wrong}");
}

#[test]
fn runs_are_pruned_by_rule_and_only_when_asked_twice() {
    let place = two_runs();
    let rua = |args: &[&str]| {
        place.run(place.rua(["prune", "runs"].into_iter().chain(args.iter().copied())))
    };
    rua(&[]).assert_code(2).assert_error(&["--older-than"]);
    let shown = rua(&["--to-light"]);
    shown.assert_code(0);
    assert!(shown.out.contains("would lighten") && shown.out.contains("2 of 2 runs"), "{shown}");
    let states = || files(&place.path("runs"), "parquet");
    let before = states();
    assert_eq!(rua(&["--to-light", "--keep-last", "1", "--yes"]).code, Some(0));
    assert_eq!(states(), before - 2, "the states of two episodes");
    let lighter = RunDir::open(&place.path("runs/a")).unwrap().result().unwrap();
    assert_eq!((lighter.record, lighter.episodes.len()), (Level::Light, 2));
    let other = end_to_end::Records::open(&place.path("runs/b"));
    assert!(!other.rows::<State>(0).is_empty());

    place.write("runs/b/film.mp4", "mine");
    rua(&["--only", "failed", "--yes"]).assert_code(0);
    assert!(!place.path("runs/a").exists());
    assert!(place.path("runs/b/result.json").exists(), "somebody else's file lies in it");
}
