use image_codec::{Format, Rgb};
use ruaflow_schemas::State;

use super::*;
use crate::Simulators;
use crate::staged::{self, Rows, wander};

fn rows(steps: usize) -> Rows {
    let mut simulators = Simulators::default();
    let template = simulators.find("template").unwrap();
    let mut rows = Rows::play(template, staged::reset("", 0, 3), &wander(steps));
    if let Some(last) = rows.observations.last_mut() {
        (last.terminated, last.success) = (true, true);
    }
    rows
}

fn player(dir: &RunDir, speed: &str) -> Player {
    let run = dir.root().display().to_string();
    Player::new(Settings::fixed([("RECORDING", run.as_str()), ("SPEED", speed)]))
}

fn begin(player: &mut Player) -> Card {
    player.reset(&Reset::default()).unwrap()
}

#[test]
fn stepwise_every_action_brings_what_was_measured_next() {
    let rows = rows(3);
    let (_tmp, dir) = rows.write();
    let mut player = player(&dir, "step");
    let card = begin(&mut player);
    assert_eq!((card.robot.as_str(), card.max_control_steps), ("template", 3));
    assert_eq!(card.first.arms, rows.observations[0].arms);
    assert_eq!(player.due(), None);
    for recorded in &rows.observations[1..] {
        let measured = player.step(&Action::default()).unwrap();
        assert_eq!((measured.time_ns, &measured.arms), (recorded.time_ns, &recorded.arms));
        assert!(!measured.success && !measured.terminated, "a recording is never solved");
    }
    let over = player.step(&Action::default()).unwrap_err();
    assert_eq!(over, StepError::Refused("the recording is over".to_owned()));
}

#[test]
fn at_a_pace_steps_are_due_by_the_recorded_clock() {
    let rows = rows(3);
    let (_tmp, dir) = rows.write();
    for (speed, step) in [("1", 50), ("2", 25), ("0.5", 100)] {
        let mut player = player(&dir, speed);
        begin(&mut player);
        let mut last = player.due().unwrap();
        player.advance().unwrap();
        assert_eq!(player.due().unwrap() - last, Duration::from_millis(step));
        last = player.due().unwrap();
        player.advance().unwrap();
        assert_eq!(player.due().unwrap() - last, Duration::from_millis(step));
        player.advance().unwrap();
        assert_eq!(player.due(), None, "it is over");
    }
    let mut player = player(&dir, "2");
    begin(&mut player);
    let due = player.due().unwrap();
    let measured = player.step(&Action::default()).unwrap();
    assert!(Instant::now() >= due, "an action waits for its control step");
    assert_eq!(measured.arms, rows.observations[1].arms);
    player.hold();
    assert_eq!(player.due(), None, "it was held");
}

#[test]
fn a_recording_that_cannot_be_played_says_why() {
    let refused =
        |player: &mut Player, reset: &Reset| format!("{:#}", player.reset(reset).unwrap_err());
    let none = &mut Player::new(Settings::fixed([]));
    assert!(refused(none, &Reset::default()).contains("RECORDING is empty"));
    let nowhere = &mut Player::new(Settings::fixed([("RECORDING", "no/run")]));
    assert!(refused(nowhere, &Reset::default()).contains("not a run folder"));

    let (_tmp, dir) = rows(3).write();
    let fast = refused(&mut player(&dir, "fast"), &Reset::default());
    assert!(fast.contains("a number from 0.01 to 10000"), "{fast}");
    let other = Reset { suite: "libero_goal".into(), ..Reset::default() };
    assert!(refused(&mut player(&dir, "1"), &other).contains("no other scene"));
    let mut played = player(&dir, "1");
    begin(&mut played);
    assert!(refused(&mut played, &Reset::default()).contains("they are played"));
    let address = format!("{}:4", dir.root().display());
    let missing = &mut Player::new(Settings::fixed([("RECORDING", address.as_str())]));
    assert!(refused(missing, &Reset::default()).contains("no episode 4; its only one is 0"));

    let (_tmp, dir) = rows(0).write();
    assert!(refused(&mut player(&dir, "1"), &Reset::default()).contains("nothing moved"));
}

#[test]
fn only_cameras_that_were_pictured_are_on_the_card() {
    let (_tmp, dir) = rows(3).write();
    assert!(begin(&mut player(&dir, "1")).cameras.is_empty());
    let pictures = dir.pictures_dir(0);
    std::fs::create_dir_all(&pictures).unwrap();
    let red = Rgb { width: 1, height: 1, pixels: vec![255, 0, 0] };
    let png = image_codec::encode(&red, Format::Png).unwrap();
    std::fs::write(pictures.join("00000-front.png"), png).unwrap();
    let cameras = begin(&mut player(&dir, "1")).cameras;
    assert_eq!(cameras.len(), 1);
    assert!(!cameras[0].depth && !cameras[0].any_step, "there is no depth in a PNG");
}

#[test]
fn states_of_another_shape_are_no_reason_not_to_play() {
    let mut rows = rows(2);
    rows.card.robot = "libero".into();
    rows.states = vec![State::default()];
    let (_tmp, dir) = rows.write();
    begin(&mut player(&dir, "1"));
}
