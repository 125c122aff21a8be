//! What can be wrong before and during a run: one line that says what it is and
//! what to do, and an exit status other than 0.
#![allow(clippy::unwrap_used)]

use std::process::Command;

use end_to_end::policies::{FOR_EVER, THREE_CELLS};
use end_to_end::{Finished, Place, root, skipped};
use ruaflow_record::{RunDir, RunResult, Status, TopicWriter, stamped_batch};
use ruaflow_schemas::{Frame as _, State};

/// A LIBERO run that must be refused before anything starts.
fn refused<const N: usize>(args: [&str; N], code: i32, words: &[&str]) -> Finished {
    let place = Place::default();
    let ended = place.run(place.rua(["play"].into_iter().chain(args)));
    ended.assert_code(code).assert_error(words);
    place.assert_nothing_left();
    ended
}

#[test]
fn names_and_numbers_that_are_not_there() {
    refused(
        ["--suite", "libero_spatal"],
        2,
        &["\"libero_spatal\"", "\"libero_spatial\"", "rua suites"],
    );
    refused(["--task", "10"], 2, &["task 10", "0 to 9"]);
    refused(["--robot", "libro"], 2, &["\"libro\"", "\"libero\""]);
    refused(["--planner", "scrpt"], 2, &["\"scrpt\"", "script"]);
    refused(["--policy", "none.py"], 2, &["none.py", "--policy"]);
}

#[test]
fn a_seed_out_of_range_and_unknown_words_are_wrong_usage() {
    let place = Place::default();
    for (args, words) in [
        (["play", "--seed", "4294967296"], "4294967295"),
        (["play", "--seed", "-1"], "-1"),
        (["play", "--pictures", "all"], "calls"),
        (["plya", "--seed", "1"], "play"),
    ] {
        let ended = place.run(place.rua(args));
        ended.assert_code(2);
        assert!(ended.err.contains(words), "no {words:?}; {ended}");
    }
}

#[test]
fn a_policy_with_a_syntax_error() {
    let place = Place::default();
    let ended = place.run(place.play("# %% one\nx = 1\n# %% two\nfor in 3:\n", []));
    ended.assert_code(1).assert_error(&["policy.py", "line 4"]);
    assert!(!place.path("out").exists());
}

#[test]
fn an_output_folder_that_cannot_be_used() {
    let place = Place::default();
    place.write("file", "");
    std::fs::create_dir(place.path("full")).unwrap();
    place.write("full/thesis.tex", "x");
    for (out, code, words) in [
        ("full", 2, "not empty"),
        ("file", 2, "not a folder"),
        ("file/run", 2, "not a folder"),
        ("/proc/run", 1, "can't write"),
    ] {
        let ended = place.run(place.play_to(out, THREE_CELLS, []));
        ended.assert_code(code).assert_error(&[out, words, "--out"]);
    }
    assert_eq!(std::fs::read_to_string(place.path("full/thesis.tex")).unwrap(), "x");
}

#[test]
fn missing_data_and_missing_dora() {
    let place = Place::default();
    let mut command = place.rua(["play", "--out", "out"]);
    command.env("RUAFLOW_HOME", place.path("empty"));
    place.run(command).assert_code(1).assert_error(&["data", "./rua setup"]);

    let mut command = place.rua(["suites"]);
    command.env("RUAFLOW_HOME", place.path("empty"));
    place.run(command).assert_code(1).assert_error(&["data", "./rua setup"]);

    let mut command = place.play(THREE_CELLS, []);
    command.env("RUAFLOW_DORA", place.path("no-dora"));
    place.run(command).assert_code(1).assert_error(&["no-dora", "./rua setup"]);
}

#[test]
fn no_egl() {
    let place = Place::default();
    place.write("policy.py", "# %%\nrobo.set_gripper(1.0)\n");
    let mut command = place.rua(["play", "--policy", "policy.py", "--out", "out"]);
    command
        .env("__EGL_VENDOR_LIBRARY_DIRS", place.path("no-drivers"))
        .env("__EGL_VENDOR_LIBRARY_FILENAMES", "");
    let ended = place.run(command);
    ended.assert_code(1).assert_error(&["EGL", "libegl1"]);
    place.assert_nothing_left();
    assert_eq!(place.records().result().status, Status::Failed);
}

/// Runs a piece of shell in a mount namespace of its own, with a small disk at `disk`
/// and a program with its arguments as `"$@"`.
fn on_a_small_disk(place: &Place, script: &str, rua: &[&str]) -> Option<Finished> {
    let allowed = Command::new("unshare").args(["-rm", "true"]).status();
    if !allowed.is_ok_and(|status| status.success()) {
        skipped("a full disk: this user may not make a mount namespace");
        return None;
    }
    std::fs::create_dir(place.path("disk")).unwrap();
    let script = format!("mount -t tmpfs -o size=3m tmpfs disk || exit 99; {script}");
    let mut command = place.command("unshare");
    command
        .args(["-rm", "sh", "-c", &script, "sh"])
        .arg(root().join("bin/rua"))
        .args(rua)
        .env("RUAFLOW_ROOT", root());
    Some(place.run(command))
}

/// Plays for ever on a small disk; what the run left there is copied to `copy`.
fn play_on_a_small_disk(place: &Place, before: &str) -> Option<Finished> {
    place.write("policy.py", FOR_EVER);
    let script = format!("{before} \"$@\"; status=$?; cp -r disk/run copy; exit $status");
    let play = ["play", "--robot", "template", "--policy", "policy.py", "--out", "disk/run"];
    on_a_small_disk(place, &script, &play)
}

/// A run that died before its rows were compacted, in `died`.
fn died(place: &Place) {
    let (dir, _lock) = RunDir::create(&place.path("died"), "r").unwrap();
    let schema = RunResult::SCHEMA.to_owned();
    dir.write_result(&RunResult { schema, ..RunResult::default() }).unwrap();
    std::fs::create_dir(dir.episode_dir(0)).unwrap();
    // Numbers that don't compress, more than the room that is kept for a last result.
    let number = |n: u64| f64::from_bits(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 2);
    let rows = |first: u64| {
        let row = |n| State {
            control_step: n,
            integration: (0..50).map(|i| number(50 * n + i)).collect(),
            ..State::default()
        };
        stamped_batch(0, first, 0, &(first..first + 100).map(row).collect::<Vec<_>>())
    };
    let stream = dir.stream_path(Some(0), State::TOPIC);
    let mut writer = TopicWriter::create(&stream, rows(0).schema()).unwrap();
    (0..10).for_each(|n| writer.append(&rows(100 * n)).unwrap());
}

fn assert_all_rows(path: &std::path::Path) {
    let records = end_to_end::Records::open(path);
    assert_eq!(records.rows::<State>(0).len(), 1000);
    records.assert_readable();
}

#[test]
fn a_disk_that_is_full_while_a_run_is_compacted() {
    let place = Place::default();
    died(&place);
    let script = "cp -r died disk/run; cat /dev/zero >disk/filler 2>/dev/null;
        \"$@\"; status=$?; cp -r disk/run copy; rm disk/filler; \"$@\" || exit 98
        cp -r disk/run later; exit $status";
    let Some(ended) = on_a_small_disk(&place, script, &["repair", "disk/run"]) else { return };
    ended.assert_code(1).assert_error(&["disk is full", "left as it is"]);
    assert_eq!(
        RunDir::open(&place.path("copy")).unwrap().result().unwrap().status,
        Status::Failed,
        "the result took the room that is kept for it"
    );
    assert!(place.path("copy/episodes/000/state.arrows").exists());
    assert_all_rows(&place.path("copy"));
    assert!(place.path("later/episodes/000/state.parquet").exists());
    assert!(!place.path("later/episodes/000/state.arrows").exists());
    assert_all_rows(&place.path("later"));
}

#[test]
fn a_folder_that_can_only_be_read() {
    let script = "cp -r died disk/run; mount -o remount,ro disk; \"$@\"";
    for (rua, words) in [
        (&["repair", "disk/run"][..], "Read-only"),
        (&["prune", "disk", "--to-light", "--yes"], "could not be pruned"),
    ] {
        let place = Place::default();
        died(&place);
        let Some(ended) = on_a_small_disk(&place, script, rua) else { return };
        ended.assert_code(1);
        assert!(ended.err.contains(words), "{ended}");
    }
}

#[test]
fn a_disk_that_is_full_before_the_run() {
    let place = Place::default();
    let Some(ended) = play_on_a_small_disk(&place, "cat /dev/zero >disk/filler 2>/dev/null;")
    else {
        return;
    };
    ended.assert_code(1);
    assert!(
        ended.err.contains("disk") && ended.err.contains("full") && ended.err.contains("--out"),
        "{ended}"
    );
}

#[test]
fn a_disk_that_becomes_full() {
    let place = Place::default();
    let fill = "(while [ ! -e disk/run/episodes/000/observation.arrows ]; do sleep 0.1; done
        sleep 1; cat /dev/zero >disk/filler 2>/dev/null) &";
    let Some(ended) = play_on_a_small_disk(&place, fill) else { return };
    ended.assert_code(1).assert_error(&["disk", "full"]);
    place.assert_nothing_left();
    let text = std::fs::read_to_string(place.path("copy/result.json")).unwrap();
    let result = RunResult::parse(&text).unwrap();
    assert_eq!(result.status, Status::Failed);
    assert_eq!(result.error.map(|error| error.node).as_deref(), Some("recorder"));
    end_to_end::Records::open(&place.path("copy")).assert_readable();
}
