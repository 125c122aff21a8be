//! Scenes against golden values of the Python reference (`tests/reference/golden.py`).
//!
//! Needs the packaged LIBERO data. `RUAFLOW_ALL_TASKS=1` compiles and resets every
//! task instead of a sample.

use std::collections::BTreeMap;

use libero::{
    data::Data,
    names::Joint,
    physics::{ModelView, Physics},
    rng::NumpyRandom,
    scene::Scene,
    sim::Simulator,
    suites,
};
use mujoco_rs::wrappers::mj_model::MjtObjBase;
use serde::Deserialize;

/// A number kept as text: JSON readers may miss its last bit.
#[derive(Deserialize, Clone)]
#[serde(try_from = "String")]
struct Exact(f64);

impl TryFrom<String> for Exact {
    type Error = std::num::ParseFloatError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

fn plain(numbers: &[Exact]) -> Vec<f64> {
    numbers.iter().map(|number| number.0).collect()
}

#[derive(Deserialize)]
struct Golden {
    suite: String,
    task: usize,
    name: String,
    instruction: String,
    name_instruction: String,
    sizes: BTreeMap<String, i64>,
    names: BTreeMap<String, Vec<String>>,
    things: BTreeMap<String, GoldenThing>,
    regions: BTreeMap<String, GoldenRegion>,
    sums: BTreeMap<String, Exact>,
    resets: Vec<GoldenReset>,
}

#[derive(Deserialize)]
struct GoldenThing {
    kind: String,
    joints: Vec<String>,
    contact_geoms: usize,
    bottom: Exact,
    top: Exact,
    radius: Exact,
}

#[derive(Deserialize)]
struct GoldenRegion {
    size: Vec<Exact>,
    parent: Option<String>,
    joints: Vec<String>,
}

#[derive(Deserialize)]
struct GoldenReset {
    seed: u64,
    init_state: usize,
    fixtures: BTreeMap<String, GoldenPose>,
    qpos: Vec<Exact>,
}

#[derive(Deserialize)]
struct GoldenPose {
    position: Vec<Exact>,
    quaternion: Vec<Exact>,
}

fn data() -> Data {
    Data::locate().expect("the LIBERO data")
}

#[test]
fn scenes_and_resets_are_the_references() {
    let golden: Vec<Golden> =
        serde_json::from_str(include_str!("golden/scenes.json")).expect("golden values");
    assert!(golden.len() >= 8);
    let data = data();
    for golden in golden {
        let which = format!("{} {}", golden.suite, golden.task);
        let scene = Scene::load(&data, &golden.suite, golden.task).expect(&which);
        assert_eq!(scene.task.name, golden.name, "{which}");
        assert_eq!(scene.task.instruction, golden.instruction, "{which}");
        assert_eq!(scene.task.name_instruction, golden.name_instruction, "{which}");
        check_model(&scene, &golden, &which);
        check_names(&scene, &golden, &which);
        let mut physics = Physics::new(ModelView::new(scene.model.clone())).expect("physics");
        for reset in &golden.resets {
            check_reset(&scene, &mut physics, reset, &which);
        }
        // A reset depends on nothing that went before.
        if let [first, _, ..] = &golden.resets[..] {
            check_reset(&scene, &mut physics, first, &which);
        }
    }
}

fn check_model(scene: &Scene, golden: &Golden, which: &str) {
    let model = &scene.model;
    let sizes = BTreeMap::from([
        ("nq", model.nq()),
        ("nv", model.nv()),
        ("nu", model.nu()),
        ("nbody", model.nbody()),
        ("ngeom", model.ngeom()),
        ("nsite", model.nsite()),
        ("nmesh", model.nmesh()),
    ]);
    for (size, value) in &golden.sizes {
        assert_eq!(sizes.get(size.as_str()), Some(value), "{which} {size}");
    }
    let flat = |rows: &[[f64; 3]]| rows.iter().flatten().sum::<f64>();
    let sums = BTreeMap::from([
        ("body_mass", model.body_mass().iter().sum()),
        ("body_inertia", flat(model.body_inertia())),
        ("body_ipos", flat(model.body_ipos())),
        ("geom_friction", flat(model.geom_friction())),
        ("dof_damping", model.dof_damping().iter().sum()),
        ("dof_armature", model.dof_armature().iter().sum()),
        ("jnt_range", model.jnt_range().iter().flatten().sum()),
    ]);
    for (field, Exact(sum)) in &golden.sums {
        let ours: f64 = sums[field.as_str()];
        // NumPy adds in another order.
        assert!(
            (ours - sum).abs() <= 1e-9 * sum.abs().max(1.0),
            "{which} {field}: {ours} and {sum}"
        );
    }
    let kinds = [
        ("joint", MjtObjBase::mjOBJ_JOINT, model.njnt()),
        ("actuator", MjtObjBase::mjOBJ_ACTUATOR, model.nu()),
        ("camera", MjtObjBase::mjOBJ_CAMERA, model.ncam()),
    ];
    for (kind, of, count) in kinds {
        let names: Vec<_> = (0..count as usize).filter_map(|id| model.id_to_name(of, id)).collect();
        assert_eq!(names, golden.names[kind], "{which} {kind}");
    }
}

fn check_names(scene: &Scene, golden: &Golden, which: &str) {
    let joint_names = |joints: &[Joint]| -> Vec<String> {
        let name = |joint: &Joint| {
            scene.model.id_to_name(MjtObjBase::mjOBJ_JOINT, joint.id).map(str::to_owned)
        };
        joints.iter().filter_map(name).collect()
    };
    assert_eq!(scene.names.objects.len(), golden.things.len(), "{which}");
    for (object, extent) in scene.names.objects.iter().zip(scene.extents()) {
        let thing = &golden.things[&object.name];
        assert_eq!(object.fixture, thing.kind == "fixture", "{which} {}", object.name);
        assert_eq!(joint_names(&object.joints), thing.joints, "{which} {}", object.name);
        assert_eq!(object.contact_geoms.len(), thing.contact_geoms, "{which} {}", object.name);
        let ours = (extent.bottom, extent.top, extent.radius);
        assert_eq!(ours, (thing.bottom.0, thing.top.0, thing.radius.0), "{which} {}", object.name);
    }
    assert_eq!(scene.names.regions.len(), golden.regions.len(), "{which}");
    for region in &scene.names.regions {
        let theirs = &golden.regions[&region.name];
        assert_eq!(region.size.to_vec(), plain(&theirs.size), "{which} {}", region.name);
        let parent = region.parent.map(|parent| scene.names.objects[parent].name.clone());
        assert_eq!(parent, theirs.parent, "{which} {}", region.name);
        assert_eq!(joint_names(&region.joints), theirs.joints, "{which} {}", region.name);
    }
    for camera in ["agentview", "robot0_eye_in_hand"] {
        assert!(scene.names.camera(camera).is_some(), "{which} {camera}");
    }
}

fn check_reset(scene: &Scene, physics: &mut Physics, golden: &GoldenReset, which: &str) {
    let which = format!("{which} seed {}", golden.seed);
    let info = scene.reset(physics, golden.seed).expect(&which);
    assert_eq!(info.init_state, golden.init_state, "{which}");
    assert_eq!(physics.qpos(), plain(&golden.qpos), "{which}");
    for pose in &info.fixtures {
        let fixture =
            scene.names.objects.iter().find(|object| object.body == pose.body).expect("a fixture");
        let golden = &golden.fixtures[&fixture.name];
        assert_eq!(pose.position.to_vec(), plain(&golden.position), "{which} {}", fixture.name);
        assert_eq!(pose.quaternion.to_vec(), plain(&golden.quaternion), "{which} {}", fixture.name);
        // It also stands there in the simulation.
        assert_eq!(physics.xpos()[pose.body], pose.position, "{which} {}", fixture.name);
    }
}

#[test]
fn tasks_of_every_suite_compile_reset_and_take_random_actions() {
    let data = data();
    let all = std::env::var_os("RUAFLOW_ALL_TASKS").is_some_and(|value| value == "1");
    for (number, name) in SUITES.iter().enumerate() {
        let suite = suites::find(&data, name).expect(name);
        for task in 0..suite.tasks.len() {
            // Another task of each suite, so that a sample sees every workspace.
            if all || task == (number * 3) % suite.tasks.len() {
                let scene = Scene::load(&data, name, task)
                    .unwrap_or_else(|error| panic!("{name} {task}: {error}"));
                let mut physics =
                    Physics::new(ModelView::new(scene.model.clone())).expect("physics");
                let info = scene
                    .reset(&mut physics, 12)
                    .unwrap_or_else(|error| panic!("{name} {task}: {error}"));
                assert_eq!(info.init_state, 12 % scene.init_states.count());
                assert!(physics.check_stable().is_ok(), "{name} {task}");
                take_random_actions(scene, &format!("{name} {task}"));
            }
        }
    }
}

fn take_random_actions(scene: Scene, which: &str) {
    let mut random = NumpyRandom::new(7);
    let mut simulator = Simulator::new(scene).unwrap_or_else(|error| panic!("{which}: {error}"));
    simulator.reset(12, 0).unwrap_or_else(|error| panic!("{which}: {error}"));
    for _ in 0..10 {
        let action = std::array::from_fn(|_| random.uniform(-1.0, 1.0));
        simulator.step(&action).unwrap_or_else(|error| panic!("{which}: {error}"));
    }
    let seen = simulator.observation();
    assert_eq!(seen.control_step, 10, "{which}");
    assert!(seen.eef_pos.iter().chain(&seen.joint_vel).all(|value| value.is_finite()), "{which}");
}

/// The four original suites and their four perturbations.
const SUITES: [&str; 20] = [
    "libero_spatial",
    "libero_spatial_swap",
    "libero_spatial_object",
    "libero_spatial_lan",
    "libero_spatial_task",
    "libero_object",
    "libero_object_swap",
    "libero_object_object",
    "libero_object_lan",
    "libero_object_task",
    "libero_goal",
    "libero_goal_swap",
    "libero_goal_object",
    "libero_goal_lan",
    "libero_goal_task",
    "libero_10",
    "libero_10_swap",
    "libero_10_object",
    "libero_10_lan",
    "libero_10_task",
];
