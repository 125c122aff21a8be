//! The simulator against recordings of the Python reference (`tests/reference/`).

use libero::data::Data;
use libero::scene::Scene;
use libero::sim::Simulator;
use serde::Deserialize;

fn simulator(suite: &str, task: usize) -> Simulator {
    let data = Data::locate().expect("the LIBERO data; `./rua setup` fetches it");
    Simulator::new(Scene::load(&data, suite, task).expect("the scene")).expect("the simulator")
}

#[derive(Deserialize)]
struct Trajectory {
    suite: String,
    task: usize,
    seed: u64,
    settle: u32,
    actions: Vec<[f64; 7]>,
    /// `qpos` holds every n-th control step.
    every: usize,
    qpos: Vec<Vec<f64>>,
    success_step: Option<u64>,
}

/// Positions agree within `1e-9` (metres and radians) for the first `free` control
/// steps and within `touching` after the fingers meet an object, where contacts
/// magnify the last bit of the reference's linear algebra; success comes at the same
/// control step.
fn follows(recording: &str, free: usize, touching: f64) {
    let recorded: Trajectory = serde_json::from_str(recording).expect("a recording");
    let mut sim = simulator(&recorded.suite, recorded.task);
    sim.reset(recorded.seed, recorded.settle).expect("a reset");
    let mut compared = 0;
    for (index, action) in recorded.actions.iter().enumerate() {
        sim.step(action).expect("a step");
        let step = index + 1;
        if step % recorded.every == 0 {
            let expected = &recorded.qpos[step / recorded.every - 1];
            assert_eq!(expected.len(), sim.qpos().len());
            let pairs = expected.iter().zip(sim.qpos());
            let apart = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let allowed = if step <= free { 1e-9 } else { touching };
            assert!(apart <= allowed, "step {step}: {apart:.2e} apart, {allowed:.0e} allowed");
            compared += 1;
        }
        let success = recorded.success_step == Some(step as u64);
        assert_eq!(sim.observation().success, success, "success at step {step}");
    }
    assert_eq!(compared, recorded.qpos.len());
}

#[test]
fn picks_and_places_on_a_plate_as_recorded() {
    follows(include_str!("golden/spatial_0_pick.json"), 28, 0.03);
}

#[test]
fn picks_and_places_on_a_stove_as_recorded() {
    follows(include_str!("golden/goal_1_pick.json"), 28, 0.03);
}

#[test]
fn moves_and_turns_over_a_floor_as_recorded() {
    follows(include_str!("golden/object_swap_2_random.json"), 30, 1e-9);
}

#[test]
fn moves_and_turns_in_a_kitchen_as_recorded() {
    follows(include_str!("golden/10_2_random.json"), 16, 1e-5);
}

#[derive(Deserialize)]
struct Judged {
    suite: String,
    task: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    /// Index into qpos and the value put there.
    edits: Vec<(usize, f64)>,
    /// One per goal predicate.
    verdicts: Vec<bool>,
    /// One per stove.
    shown: Vec<bool>,
}

#[test]
fn judges_edited_scenes_as_recorded() {
    let recorded: Vec<Judged> =
        serde_json::from_str(include_str!("golden/verdicts.json")).expect("a recording");
    let (mut held, mut not) = (0, 0);
    for Judged { suite, task, cases } in recorded {
        let mut sim = simulator(&suite, task);
        sim.reset(0, 0).expect("a reset");
        let start = sim.state();
        for (index, case) in cases.iter().enumerate() {
            sim.restore(&start).expect("its own state");
            for &(address, value) in &case.edits {
                sim.plant_mut().physics_mut().qpos_mut()[address] = value;
            }
            sim.step(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]).expect("a step");
            let what = format!("{suite} {task}, case {index}");
            assert_eq!(sim.goal_conditions(), case.verdicts, "{what}");
            assert_eq!(sim.observation().success, case.verdicts.iter().all(|&v| v), "{what}");
            assert_eq!(sim.state().visuals, case.shown, "{what}");
            held += case.verdicts.iter().filter(|&&verdict| verdict).count();
            not += case.verdicts.iter().filter(|&&verdict| !verdict).count();
        }
    }
    assert!(held > 40 && not > 40, "the recording is one-sided: {held} true, {not} false");
}
