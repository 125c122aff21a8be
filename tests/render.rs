//! What is made of a record afterwards: pictures, videos, episodes that go on.
#![allow(clippy::unwrap_used)]

use end_to_end::{Place, Records};
use ruaflow_schemas::{Event, State, event};

const POLICY: &str = "\
# %%
robo.set_gripper(robo.OPEN, steps=3)
# %%
robo.move_to([-0.2, 0.0, 1.1], robo.OPEN, max_steps=8)
";

fn play(place: &Place, out: &str, more: &[&str]) -> Records {
    place.write("policy.py", POLICY);
    let mut command = place.rua(["play", "--policy", "policy.py", "--settle", "2", "--out", out]);
    command.args(more);
    place.run(command).assert_code(0);
    place.assert_nothing_left();
    Records::open(&place.path(out))
}

#[test]
fn a_picture_rendered_later_is_the_one_that_was_made_then() {
    let place = Place::default();
    let records = play(&place, "out", &["--pictures", "ends"]);
    let states = records.rows::<State>(0);
    let last = states.last().unwrap().control_step;
    for camera in ["agentview", "wrist"] {
        for step in [0, last] {
            let file = format!("{camera}-{step}.png");
            let step_text = step.to_string();
            let ended = place.run(place.rua([
                "render", "out", "--step", &step_text, "--camera", camera, "--size", "256", "-o",
                &file,
            ]));
            ended.assert_code(0);
            let kept = format!("episodes/000/pictures/{step:05}-{camera}.png");
            let (kept, made) =
                (std::fs::read(records.path(&kept)), std::fs::read(place.path(&file)));
            assert!(kept.unwrap() == made.unwrap(), "{camera}, step {step}");
        }
    }
    // Two cameras, two ends, and nothing rendered twice or unasked.
    let events = records.rows::<Event>(0);
    let pictures: Vec<serde_json::Value> = events
        .iter()
        .filter(|row| row.kind == event::PICTURE)
        .map(|row| serde_json::from_str(&row.data).unwrap())
        .collect();
    assert_eq!(pictures.len(), 4);
    assert!(pictures.iter().all(|picture| picture["rendered"] == true), "{pictures:?}");
    let counts = pictures.iter().map(|p| p["rendered_so_far"].as_u64().unwrap()).max();
    assert_eq!(counts, Some(4));
}

#[test]
fn a_video_shows_a_part_of_the_run() {
    let place = Place::default();
    play(&place, "out", &["--pictures", "off"]);
    let ended = place.run(place.rua([
        "render",
        "out",
        "--to",
        "4",
        "--size",
        "64x48",
        "--quality",
        "preview",
        "-o",
        "a.mp4",
    ]));
    ended.assert_code(0);
    assert!(ended.out.contains("5 pictures of 64x48"), "{ended}");
    let video = std::fs::read(place.path("a.mp4")).unwrap();
    assert_eq!(&video[4..8], b"ftyp");
}

#[test]
fn what_cannot_be_rendered_is_wrong_usage() {
    let place = Place::default();
    play(&place, "out", &["--pictures", "off"]);
    let wrong: [(&[&str], &str); 6] = [
        (&["out", "-o", "a.gif"], ".png nor in .mp4"),
        (&["out", "-o", "a.png", "--step", "999"], "no control step 999"),
        (&["out", "-o", "a.mp4", "--step", "1"], "--step"),
        (&["out", "-o", "a.png", "--camera", "elbow"], "agentview"),
        (&["out", "-o", "a.png", "--size", "9999"], "9999"),
        (&["nowhere", "-o", "a.png"], "nowhere"),
    ];
    for (args, words) in wrong {
        let mut command = place.rua(["render"]);
        command.args(args);
        place.run(command).assert_code(2).assert_error(&[words]);
    }
}

#[test]
fn an_episode_goes_on_from_a_recorded_state() {
    let place = Place::default();
    let first = play(&place, "first", &["--pictures", "off", "--task", "3", "--seed", "5"]);
    let states = first.rows::<State>(0);
    let second = play(&place, "second", &["--pictures", "off", "--from", "first:3"]);
    let result = second.result();
    assert_eq!((result.suite.as_str(), result.task, result.seed), ("libero_spatial", 3, 5));
    let resumed = second.rows::<State>(0);
    assert_eq!(resumed[0], State { control_step: 0, ..states[3].clone() });
    // The first run went on with the same motion, three control steps later.
    assert_ne!(resumed[1].integration, states[1].integration);

    let mut other = place.rua(["play", "--from", "first:3", "--task", "4", "--out", "third"]);
    other.args(["--policy", "policy.py"]);
    place.run(other).assert_code(2).assert_error(&["task 3"]);
    let mut late = place.rua(["play", "--from", "first:999", "--out", "third"]);
    late.args(["--policy", "policy.py"]);
    place.run(late).assert_error(&["no control step 999"]);
}
