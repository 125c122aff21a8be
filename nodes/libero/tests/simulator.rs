//! What a simulator promises: determinism, resumption, refusals, latches.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use libero::data::Data;
use libero::scene::Scene;
use libero::scenes::Scenes;
use libero::sim::{Finish, HORIZON, SimError, Simulator};
use libero::state::SimState;

const WAIT: [f64; 7] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0];

fn simulator(suite: &str, task: usize) -> Simulator {
    let data = Data::locate().expect("the LIBERO data; `./rua setup` fetches it");
    Simulator::new(Scene::load(&data, suite, task).expect("the scene")).expect("the simulator")
}

static BOWLS: LazyLock<Mutex<Simulator>> =
    LazyLock::new(|| Mutex::new(simulator("libero_spatial", 0)));
static STOVE: LazyLock<Mutex<Simulator>> =
    LazyLock::new(|| Mutex::new(simulator("libero_goal", 7)));

/// A scene takes a second and 300 MB to load, so the tests share two.
fn borrow(shared: &'static Mutex<Simulator>) -> MutexGuard<'static, Simulator> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Down to the table with the gripper closing, and some turning on the way.
fn action(step: usize) -> [f64; 7] {
    let turn = if step.is_multiple_of(3) { 0.4 } else { 0.0 };
    [0.5, 0.3, -0.9, turn, -turn, 0.5 * turn, if step > 10 { 1.0 } else { -1.0 }]
}

#[test]
fn the_same_seed_and_actions_give_the_same_bits() {
    let run = |sim: &mut Simulator| {
        sim.reset(4, 3).expect("a reset");
        let steps = (0..20).map(|step| {
            sim.step(&action(step)).expect("a step");
            (sim.state(), sim.observation())
        });
        steps.collect::<Vec<_>>()
    };
    // One that has been used, and one of its own.
    let used = run(&mut borrow(&STOVE));
    assert_eq!(used, run(&mut simulator("libero_goal", 7)));
}

#[test]
fn a_reset_forgets_what_was_before() {
    let mut sim = borrow(&STOVE);
    sim.reset(4, 3).expect("a reset");
    let fresh = sim.state();
    for step in 0..15 {
        sim.step(&action(step)).expect("a step");
    }
    sim.reset(5, 3).expect("a reset");
    assert_ne!(sim.state(), fresh);
    sim.reset(4, 3).expect("a reset");
    assert_eq!(sim.state(), fresh);
}

#[test]
fn stepping_on_from_a_saved_state_gives_the_same_bits() {
    let mut sim = borrow(&STOVE);
    let mut other = simulator("libero_goal", 7);
    // Somewhere else, so that nothing is right by chance.
    other.reset(9, 0).expect("a reset");
    for step in 0..7 {
        other.step(&action(step + 5)).expect("a step");
    }
    for settle in [0, 2] {
        sim.reset(1, settle).expect("a reset");
        let mut states = vec![sim.state()];
        for step in 0..24 {
            sim.step(&action(step)).expect("a step");
            states.push(sim.state());
        }
        // The first step acts on what the controller read at home; later ones touch things.
        for from in [0, 1, 14, 20] {
            other.restore(&states[from]).expect("a state of this scene");
            assert_eq!(other.state(), states[from], "restored at {from}");
            for step in from..24 {
                other.step(&action(step)).expect("a step");
                assert_eq!(other.state(), states[step + 1], "from {from}, step {step}");
            }
            assert_eq!(other.observation(), sim.observation());
        }
    }
}

#[test]
fn an_episode_begins_in_a_recorded_state() {
    let mut sim = borrow(&STOVE);
    sim.reset(3, 1).expect("a reset");
    for step in 0..6 {
        sim.step(&action(step)).expect("a step");
    }
    let recorded = ruaflow_schemas::State::from(&sim.state());
    sim.step(&action(6)).expect("a step");
    let expected = sim.state();

    sim.reset(8, 0).expect("a reset");
    let state = SimState::try_from(&recorded).expect("a state");
    sim.begin_at(&state).expect("a state of this scene");
    assert_eq!((sim.observation().control_step, state.control_step), (0, 6));
    sim.step(&action(6)).expect("a step");
    assert_eq!(sim.state(), SimState { control_step: 1, ..expected });
}

#[test]
fn simulators_share_a_scene_and_do_not_meet() {
    let scenes = Scenes::new(Data::locate().expect("the LIBERO data"));
    let scene = scenes.get("libero_goal", 7).expect("the scene");
    let again = scenes.get("LIBERO_goal", 7).expect("the scene");
    assert!(std::sync::Arc::ptr_eq(&scene, &again));
    let mut sims = [0, 1].map(|_| Simulator::new(scene.clone()).expect("a simulator"));
    let [first, second] = &mut sims;
    first.reset(0, 2).expect("a reset");
    let before = first.state();
    // Another seed puts the fixtures elsewhere and, in time, lights the burner.
    second.reset(1, 2).expect("a reset");
    assert_ne!(first.state().fixtures, second.state().fixtures);
    let knob = scene.names.object("flat_stove_1").expect("a stove").joints[0].qpos;
    second.plant_mut().physics_mut().qpos_mut()[knob] = 1.0;
    second.step(&WAIT).expect("a step");
    assert_eq!((second.state().visuals, first.state().visuals.clone()), (vec![true], vec![false]));
    assert_eq!(first.state(), before);

    let weak = std::sync::Arc::downgrade(&scene);
    drop((scene, again, sims));
    assert!(weak.upgrade().is_none(), "the last one to let go frees it");
}

#[test]
fn refuses_numbers_that_are_not_finite() {
    let mut sim = borrow(&BOWLS);
    sim.reset(0, 0).expect("a reset");
    let before = sim.state();
    for bad in [f64::NAN, f64::INFINITY] {
        let mut action = WAIT;
        action[4] = bad;
        let refused = sim.step(&action);
        assert!(matches!(refused, Err(SimError::NotFinite { index: 4, .. })), "{refused:?}");
    }
    assert_eq!(sim.state(), before);
}

#[test]
fn clips_large_commands() {
    let mut sim = borrow(&BOWLS);
    let mut after = |action: &[f64; 7]| {
        sim.reset(0, 1).expect("a reset");
        sim.step(action).expect("a step");
        sim.state()
    };
    let large = after(&[9.0, -9.0, 9.0, 9.0, 0.0, 0.0, 9.0]);
    assert_eq!(large, after(&[1.0, -1.0, 1.0, 1.0, 0.0, 0.0, 1.0]));
}

#[test]
fn ends_at_the_horizon() {
    let mut sim = borrow(&BOWLS);
    sim.reset(0, 0).expect("a reset");
    let mut state = sim.state();
    state.control_step = HORIZON - 1;
    sim.restore(&state).expect("a state of this scene");
    assert!(!sim.observation().truncated);
    sim.step(&WAIT).expect("the last step");
    let seen = sim.observation();
    assert!(seen.truncated && !seen.terminated && !seen.success);
    let refused = sim.step(&WAIT);
    assert!(matches!(refused, Err(SimError::Finished(Finish::Horizon))), "{refused:?}");
}

#[test]
fn success_is_latched_and_ends_the_episode() {
    let mut sim = borrow(&STOVE);
    sim.reset(0, 5).expect("a reset");
    let knob = sim.scene().names.object("flat_stove_1").expect("a stove").joints[0].qpos;
    assert_eq!(sim.state().visuals, [false]);
    sim.plant_mut().physics_mut().qpos_mut()[knob] = 1.0;
    sim.step(&WAIT).expect("a step");
    let seen = sim.observation();
    assert!(seen.success && seen.terminated && !seen.truncated);
    assert_eq!(sim.state().visuals, [true], "the burner glows");
    let solved = sim.state();
    let refused = sim.step(&WAIT);
    assert!(matches!(refused, Err(SimError::Finished(Finish::Solved))), "{refused:?}");
    assert_eq!(sim.state(), solved);
    sim.reset(0, 0).expect("a reset");
    assert!(!sim.observation().success);
    sim.restore(&solved).expect("a state of this scene");
    assert!(sim.observation().success);
    assert!(sim.step(&WAIT).is_err());
}

#[test]
fn refuses_the_state_of_another_scene() {
    let mut sim = borrow(&BOWLS);
    sim.reset(0, 0).expect("a reset");
    let before = sim.state();
    let mut other = before.clone();
    other.integration.pop();
    assert!(matches!(sim.restore(&other), Err(SimError::Physics(_))));
    let mut other = before.clone();
    other.fixtures.pop();
    assert!(matches!(sim.restore(&other), Err(SimError::State { .. })));
    assert_eq!(sim.state(), before);
}

#[test]
fn says_when_the_physics_breaks_down_and_recovers_by_a_reset() {
    let mut sim = borrow(&BOWLS);
    // SAFETY: a broken state makes MuJoCo write a log file; the other tests wait or
    // use MuJoCo in ways that write no message.
    unsafe { libero::physics::log_to_tracing() };
    sim.reset(0, 0).expect("a reset");
    let good = sim.state();
    sim.plant_mut().physics_mut().qvel_mut()[0] = 1e30;
    let broken = sim.step(&WAIT).expect_err("no physics can go on from here");
    assert!(matches!(broken, SimError::Physics(_)), "{broken}");
    assert!(broken.to_string().contains("unstable"), "{broken}");
    sim.reset(0, 0).expect("a reset");
    assert_eq!(sim.state(), good);
    sim.step(&WAIT).expect("a step");
}

#[test]
fn the_observation_is_that_of_the_home_pose_at_first() {
    let mut sim = borrow(&BOWLS);
    sim.reset(0, 0).expect("a reset");
    let seen = sim.observation();
    let home = [-0.2085, 0.0, 1.1733];
    for (value, home) in seen.eef_pos.iter().zip(home) {
        assert!((value - home).abs() < 0.06, "{:?}", seen.eef_pos);
    }
    // Pointing down: a half turn about x, give or take.
    assert!(seen.eef_quat[0].abs() > 0.98, "{:?}", seen.eef_quat);
    assert_eq!((seen.control_step, seen.time), (0, 0.0));
    sim.step(&WAIT).expect("a step");
    assert!((sim.observation().time - 0.05).abs() < 1e-9);
}
