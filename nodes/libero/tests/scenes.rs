//! Every complete suite: its scenes compile, reset and take actions.
//!
//! Needs the packaged LIBERO data. `RUAFLOW_ALL_TASKS=1` takes every task instead of a sample.

use libero::{
    data::Data,
    physics::{ModelView, Physics},
    rng::NumpyRandom,
    scene::Scene,
    sim::Simulator,
    suites,
};

fn data() -> Data {
    Data::locate().expect("the LIBERO data")
}

#[test]
fn tasks_of_every_complete_suite_compile_reset_and_take_random_actions() {
    let data = data();
    let all = std::env::var_os("RUAFLOW_ALL_TASKS").is_some_and(|value| value == "1");
    let mut complete = 0;
    for (number, suite) in suites::all(&data).expect("the suites").iter().enumerate() {
        let entries = suite.entries(&data);
        if entries.is_empty() || entries.iter().any(|entry| !entry.missing.is_empty()) {
            continue;
        }
        complete += 1;
        for task in 0..suite.tasks.len() {
            // Another task of each suite, so that a sample sees every workspace.
            if all || task == (number * 3) % suite.tasks.len() {
                let which = format!("{} {task}", suite.name);
                let scene = Scene::load(&data, &suite.name, task)
                    .unwrap_or_else(|error| panic!("{which}: {error}"));
                let mut physics =
                    Physics::new(ModelView::new(scene.model.clone())).expect("physics");
                let info = scene
                    .reset(&mut physics, 12)
                    .unwrap_or_else(|error| panic!("{which}: {error}"));
                assert_eq!(info.init_state, 12 % scene.init_states.count());
                assert!(physics.check_stable().is_ok(), "{which}");
                take_random_actions(scene, &which);
            }
        }
    }
    assert_eq!(complete, 33);
}

fn take_random_actions(scene: Scene, which: &str) {
    let mut random = NumpyRandom::new(7);
    let mut simulator = Simulator::new(scene).unwrap_or_else(|error| panic!("{which}: {error}"));
    simulator.reset(12, 0).unwrap_or_else(|error| panic!("{which}: {error}"));
    for _ in 0..10 {
        let action = std::array::from_fn(|_| random.uniform(-1.0, 1.0));
        simulator.step(&action).unwrap_or_else(|error| panic!("{which}: {error}"));
        // Some of libero_study_table are solved where they start, as the reference says, too.
        if simulator.finished().is_some() {
            break;
        }
    }
    let seen = simulator.observation();
    assert!(seen.control_step == 10 || seen.success, "{which}");
    assert!(seen.eef_pos.iter().chain(&seen.joint_vel).all(|value| value.is_finite()), "{which}");
}
