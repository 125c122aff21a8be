//! Recorded episodes in the forms that other programs read.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use end_to_end::{Place, policies, root, wait_until};
use rustix::process::Signal;
use serde_json::Value;

/// Moves for eleven control steps and solves nothing.
const POLICY: &str = "\
# %% open
robo.set_gripper(robo.OPEN, steps=3)
# %% reach
robo.move_to([-0.2, 0.0, 1.1], robo.OPEN, max_steps=8)
";

/// Plays runs of one episode each.
fn play(place: &Place, runs: &[&str]) {
    place.write("policy.py", POLICY);
    for (seed, out) in runs.iter().enumerate() {
        let seed = seed.to_string();
        let common = ["--policy", "policy.py", "--settle", "2", "--pictures", "off"];
        let mut command = place.rua(["play", "--seed", &seed, "--out", out]);
        command.args(common);
        place.run(command).assert_code(0);
    }
    place.assert_nothing_left();
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What lies in the place, but for what commands printed.
fn names(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.path(".")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with("printed")).collect();
    names.sort();
    names
}

#[test]
fn runs_become_a_dataset_that_grows() {
    let place = Place::default();
    play(&place, &["runs/a", "runs/b"]);
    let export = |runs: &str, more: &[&str]| {
        let mut command = place.rua(["export", runs, "--lerobot", "set", "--only", "all"]);
        command.args(["--size", "64", "--fps", "10"]).args(more);
        place.run(command)
    };
    let told = export("runs/a", &[]);
    told.assert_code(0);
    assert!(told.out.contains("1 episodes, 6 rows; 1 added"), "{told}");
    export("runs", &[]).assert_code(2).assert_error(&["1 episodes", "--resume"]);
    export("runs", &["--resume", "--cameras", "wrist"]).assert_code(2).assert_error(&["cameras"]);
    let told = export("runs", &["--resume"]);
    told.assert_code(0);
    assert!(told.out.contains("2 episodes, 12 rows; 1 added"), "{told}");
    let told = export("runs", &["--resume"]);
    told.assert_code(0);
    assert!(told.out.contains("0 added"), "{told}");

    let mut reader = place.command(root().join(".venv/bin/python"));
    reader.arg(root().join("export/tests/read.py")).arg("set");
    let read = place.run(reader);
    read.assert_code(0);
    let read: Value = serde_json::from_str(&read.out).unwrap();
    assert_eq!((&read["rows"], &read["row_groups"]), (&12.into(), &2.into()));
    let info = json(&place.path("set/meta/info.json"));
    assert_eq!(info["fps"], 10);
    let names = &info["features"]["action"]["names"];
    assert_eq!(names, &serde_json::json!(["dx", "dy", "dz", "rx", "ry", "rz", "gripper"]));
    for camera in ["agentview", "wrist"] {
        let video = format!("set/videos/observation.images.{camera}/chunk-000/file-000.mp4");
        assert_eq!(&std::fs::read(place.path(&video)).unwrap()[4..8], b"ftyp");
    }
}

#[test]
fn what_cannot_be_exported_is_told_and_leaves_nothing() {
    let place = Place::default();
    play(&place, &["a"]);
    place.write("there.mp4", "mine");
    let before = names(&place);
    let wrong: [(&str, i32, &str); 12] = [
        ("a", 2, "--lerobot"),
        ("a --lerobot set", 1, "none of 1 episodes is solved; `--only all`"),
        ("nowhere --lerobot set", 2, "nowhere"),
        ("a --lerobot set --only all --episode 3", 2, "no episode 3"),
        ("a --lerobot set --only all --cameras agentviw", 2, "did you mean \"agentview\""),
        ("a --lerobot set --only all --cameras ../x", 2, "../x"),
        ("a --lerobot set --only all --cameras wrist,wrist", 2, "twice"),
        ("a --lerobot set --only all --fps 7", 1, "20, 10, 5, 4, 2, 1"),
        ("a --lerobot set --only all --size 65", 1, "65 x 65"),
        ("a --mp4 there.mp4", 2, "\"there.mp4\" exists"),
        ("a b --mp4 new.mp4", 2, "several runs"),
        ("a --rerun new.mp4", 2, ".rrd"),
    ];
    for (args, code, words) in wrong {
        let mut command = place.rua(["export"]);
        command.args(args.split(' '));
        let told = place.run(command);
        told.assert_code(code);
        assert!(told.err.contains(words), "{args}: expected {words:?}; {told}");
        assert_eq!(names(&place), before, "{args}");
    }
    assert_eq!(std::fs::read_to_string(place.path("there.mp4")).unwrap(), "mine");
    let mut without_sdk = place.rua(["export", "a", "--rerun", "a.rrd"]);
    without_sdk.env("RUAFLOW_HOME", place.path("empty"));
    place.run(without_sdk).assert_code(1).assert_error(&["./rua setup --with rerun"]);
}

#[test]
fn a_robot_that_cannot_be_pictured_again_gives_what_it_measured() {
    let place = Place::default();
    place.run(place.play(policies::THREE_CELLS, ["--pictures", "ends"])).assert_code(0);
    let export = |more: &[&str]| {
        let mut command = place.rua(["export", "out", "--lerobot", "set", "--only", "all"]);
        command.args(more);
        place.run(command)
    };
    export(&[]).assert_code(1).assert_error(&["has no picture", "--cameras none"]);
    assert!(!place.path("set").exists());
    export(&["--cameras", "none"]).assert_code(0);
    let info = json(&place.path("set/meta/info.json"));
    assert_eq!(info["robot_type"], "template");
    assert!(!place.path("set/videos").exists());
}

#[test]
fn a_run_recorded_light_gives_rows_and_no_pictures() {
    let place = Place::default();
    place.write("policy.py", POLICY);
    let play = place.rua(["play", "--policy", "policy.py", "--record", "light", "--out", "out"]);
    place.run(play).assert_code(0);
    let export = |more: &[&str]| {
        let mut command = place.rua(["export", "out", "--lerobot", "set", "--only", "all"]);
        command.args(more);
        place.run(command)
    };
    export(&[]).assert_code(1).assert_error(&["states", "--record standard"]);
    export(&["--cameras", "none"]).assert_code(0);
    assert_eq!(json(&place.path("set/meta/info.json"))["total_frames"], 11);
}

#[test]
fn an_interrupted_export_keeps_whole_episodes_and_goes_on() {
    let place = Place::default();
    play(&place, &["runs/a", "runs/b", "runs/c"]);
    let export = || {
        let args = ["export", "runs", "--lerobot", "set", "--only", "all", "--resume"];
        let mut command = place.rua(args);
        command.args(["--size", "512"]);
        command
    };
    let running = place.start(export());
    wait_until("an episode", || running.printed().contains("rows"));
    running.signal(Signal::INT);
    running.wait().assert_code(1).assert_error(&["whole episodes", "--resume", "stopped"]);
    let info = json(&place.path("set/meta/info.json"));
    let episodes = info["total_episodes"].as_u64().unwrap();
    assert!((1..3).contains(&episodes), "{episodes}");
    assert!(!names(&place).iter().any(|name| name.starts_with('.')), "{:?}", names(&place));
    place.run(export()).assert_code(0);
    assert_eq!(json(&place.path("set/meta/info.json"))["total_episodes"], 3);
}

#[test]
fn a_video_can_tell_what_ran() {
    let place = Place::default();
    play(&place, &["a"]);
    let film = |more: &[&str], out: &str| {
        let mut command = place.rua(["export", "a", "--size", "128", "--mp4", out]);
        command.args(more);
        place.run(command).assert_code(0);
        std::fs::read(place.path(out)).unwrap()
    };
    let (plain, told) = (film(&[], "plain.mp4"), film(&["--captions"], "told.mp4"));
    assert_eq!((&plain[4..8], &told[4..8]), (&b"ftyp"[..], &b"ftyp"[..]));
    assert!(plain != told);
}

/// Two solved episodes of different tasks.
fn solved(place: &Place) {
    for (task, out) in [("0", "runs/a"), ("2", "runs/b")] {
        let scene = ["--suite", "libero_object", "--task", task, "--require-success"];
        let mut command = place.rua(["play", "--planner", "builtin", "--out", out]);
        command.args(["--perception", "builtin"]).args(scene);
        place.run(command).assert_code(0);
    }
}

/// The interpreter that `./rua test` names.
fn python(variable: &str) -> PathBuf {
    PathBuf::from(std::env::var_os(variable).expect("started by ./rua test"))
}

#[test]
#[ignore = "./rua test --lerobot"]
fn lerobot_loads_an_exported_dataset_and_trains_on_it() {
    let place = Place::default();
    solved(&place);
    for fps in ["20", "10"] {
        let set = format!("set{fps}");
        let mut export = place.rua(["export", "runs", "--lerobot", &set, "--fps", fps]);
        export.args(["--size", "128"]);
        place.run(export).assert_code(0);
        let mut check = place.command(python("RUAFLOW_LEROBOT"));
        check.arg(root().join("export/tests/lerobot/check.py")).arg(&set);
        check.arg(root().join("bin/rua")).args(["runs/a", "runs/b"]);
        check.env("RUAFLOW_ROOT", root());
        let told = place.run(check);
        told.assert_code(0);
        println!("{}", told.out);
    }
}

#[test]
#[ignore = "./rua test --rerun"]
fn rerun_reads_an_exported_recording() {
    let place = Place::default();
    solved(&place);
    let export = place.rua(["export", "runs/a", "--rerun", "a.rrd", "--size", "128"]);
    place.run(export).assert_code(0);
    let mut check = place.command(python("RUAFLOW_RERUN"));
    check.arg(root().join("export/rerun/check.py")).args(["a.rrd", "runs/a"]);
    let told = place.run(check);
    told.assert_code(0);
    println!("{}", told.out);
}
