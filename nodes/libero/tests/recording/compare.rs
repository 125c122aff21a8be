//! One recording, played by the simulator.

use std::{collections::BTreeMap, path::Path};

use eyre::{OptionExt as _, Result};
use libero::{
    data::Data,
    names::Joint,
    physics::{ModelView, Physics},
    render::Renderer,
    scene::Scene,
    sim::Simulator,
    state::SimState,
};
use mujoco_rs::wrappers::{MjModel, mj_model::MjtObjBase};
use serde::Serialize;

use super::{Numbers, PictureRow, Recording, Region, Reset, Run, Snapshot, Thing, model, pictures};

/// Joints of the arm, first in `qpos`.
const ARM: usize = 7;

/// What differs; an equal task has empty lists.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Row {
    pub suite: String,
    pub task: usize,
    /// `whole` when the compiled models differ anywhere, then arrays that decide the physics.
    pub model: Vec<String>,
    /// Names, things, regions, instruction.
    pub facts: Vec<String>,
    /// `seed:what` of each reset.
    pub resets: Vec<String>,
    pub runs: Vec<RunRow>,
    pub pictures: Vec<PictureRow>,
}

/// How far a run departs from the reference's.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RunRow {
    pub what: String,
    pub steps: usize,
    /// First step at which the robot touches something.
    pub touches: Option<usize>,
    /// Steps whose positions were compared, and those up to the first that has other bits.
    pub compared: usize,
    pub equal_steps: usize,
    /// Greatest difference after some steps: arm joints (radians), all positions.
    pub apart: BTreeMap<usize, (f64, f64)>,
    /// Steps at which some predicate is judged otherwise.
    pub verdicts: Vec<usize>,
    /// First step at which the goal holds: the reference, the simulator.
    pub success: (Option<usize>, Option<usize>),
    /// Whether the stoves' flames show as they should in the end.
    pub burners: bool,
}

impl Row {
    /// What differs, in words; nothing when all is equal.
    pub fn differences(&self) -> Vec<String> {
        let mut differences = Vec::new();
        differences.extend(self.model.iter().map(|field| format!("model: {field}")));
        differences.extend(self.facts.iter().cloned());
        differences.extend(self.resets.iter().map(|what| format!("reset {what}")));
        for run in &self.runs {
            if run.equal_steps < run.compared {
                differences.push(format!("{}: positions, {:?}", run.what, run.apart));
            }
            if !run.verdicts.is_empty() || run.success.0 != run.success.1 {
                let RunRow { verdicts, success, .. } = run;
                differences.push(format!("{}: verdicts {verdicts:?}, {success:?}", run.what));
            }
            if !run.burners {
                differences.push(format!("{}: burners", run.what));
            }
        }
        let pixels = |row: &&PictureRow| row.color + row.depth + row.instances > 0;
        differences.extend(self.pictures.iter().filter(pixels).map(|row| format!("{row:?}")));
        let which = |difference| format!("{} {}: {difference}", self.suite, self.task);
        differences.into_iter().map(which).collect()
    }
}

/// Plays a recording; its pictures lie in `folder`.
pub fn compare(data: &Data, recording: &Recording, folder: &Path) -> Result<Row> {
    let scene = Scene::load(data, &recording.suite, recording.task)?;
    let mut row = Row { suite: recording.suite.clone(), task: recording.task, ..Row::default() };
    row.facts = differing_facts(&scene, recording);
    row.model = differing_model(&scene, recording)?;
    let mut physics = Physics::new(ModelView::new(scene.model.clone()))?;
    for reset in &recording.resets {
        row.resets.extend(differing_reset(&scene, &mut physics, reset)?);
    }

    let mut sim = Simulator::new(scene)?;
    let mut renderer = match recording.pictures.is_empty() {
        true => None,
        false => Some(Renderer::new(sim.render_scene())?),
    };
    let mut show = |when: &str, state: &SimState| {
        for saved in recording.pictures.iter().filter(|saved| saved.when == when) {
            let renderer = renderer.as_mut().ok_or_eyre("a renderer")?;
            row.pictures.push(pictures::compare(renderer, state, saved, folder)?);
        }
        eyre::Ok(())
    };
    for run in &recording.runs {
        if let Some(number) = run.reset {
            let reset = recording.resets.get(number).ok_or_eyre("a recorded reset")?;
            sim.reset(reset.seed, 0)?;
            if number == 0 {
                show("reset", &sim.state())?;
            }
        }
        if let Some(start) = &run.start {
            sim.restore(&state_of(start, sim.state())?)?;
        }
        row.runs.push(play(&mut sim, run)?);
        if let Some(end) = &run.end {
            show("edited", &state_of(end, sim.state())?)?;
        }
    }
    Ok(row)
}

fn play(sim: &mut Simulator, run: &Run) -> Result<RunRow> {
    let mut row = RunRow {
        what: run.what.clone(),
        steps: run.actions.len(),
        touches: run.touches,
        burners: true,
        ..RunRow::default()
    };
    let mut equal = true;
    for (index, (action, verdict)) in run.actions.iter().zip(&run.verdicts).enumerate() {
        let step = index + 1;
        if sim.finished().is_some() {
            // The reference goes on when a task is solved.
            let unsolved = SimState { success: false, ..sim.state() };
            sim.restore(&unsolved)?;
        }
        sim.step(&action.map(|thousandths| f64::from(thousandths) / 1000.0))?;
        if let Some(qpos) = run.qpos.get(&step) {
            let arm = Numbers(qpos.0[..ARM].to_vec()).apart(&sim.qpos()[..ARM]);
            let all = qpos.apart(sim.qpos());
            equal &= all == 0.0;
            row.compared += 1;
            row.equal_steps += usize::from(equal);
            if [1, 10, 100, row.steps].contains(&step) {
                row.apart.insert(step, (arm, all));
            }
        }
        let ours: String =
            sim.goal_conditions().iter().map(|&holds| if holds { '1' } else { '0' }).collect();
        if ours != *verdict {
            row.verdicts.push(step);
        }
        if !verdict.contains('0') {
            row.success.0.get_or_insert(step);
        }
        if sim.observation().success {
            row.success.1.get_or_insert(step);
        }
    }
    if let Some(burners) = &run.burners {
        row.burners = sim.state().visuals == *burners;
    }
    Ok(row)
}

/// A recorded state of the scene that `present` is of.
fn state_of(snapshot: &Snapshot, present: SimState) -> Result<SimState> {
    let mut controller = [0.0; 13];
    controller[..12].copy_from_slice(&snapshot.goal.array::<12>()?);
    Ok(SimState {
        integration: snapshot.integration.0.clone(),
        controller,
        gripper: snapshot.fingers.array()?,
        success: false,
        ..present
    })
}

fn differing_model(scene: &Scene, recording: &Recording) -> Result<Vec<String>> {
    let reset = recording.resets.first().ok_or_eyre("a reset")?;
    let placed = |model: &MjModel| -> Result<MjModel> {
        let mut model = model.clone();
        for (name, pose) in &reset.fixtures {
            let body = scene.names.object(name).ok_or_eyre("a fixture")?.body;
            let [x, y, z, qw, qx, qy, qz] = pose.array()?;
            model.body_pos_mut()[body] = [x, y, z];
            model.body_quat_mut()[body] = [qw, qx, qy, qz];
        }
        Ok(model)
    };
    let mut differing = model::differing_physics(&placed(&scene.model)?, &recording.physics);
    if let Some(whole) = &recording.model {
        let model = placed(&*scene.visual_model.get()?)?;
        if let Some(path) = std::env::var_os("PARITY_MJB") {
            model.save_to_file(Path::new(&path))?;
        }
        if model::binary_checksum(&model, whole.signature) != (whole.bytes, whole.checksum) {
            differing.insert(0, "whole".to_owned());
        }
    }
    Ok(differing)
}

fn differing_reset(scene: &Scene, physics: &mut Physics, reset: &Reset) -> Result<Vec<String>> {
    let mut equal = BTreeMap::new();
    let mut check = |what, theirs: Option<&Numbers>, ours: &[f64]| {
        equal.insert(what, theirs.is_none_or(|theirs| theirs.0 == ours));
    };
    let placed = scene.place(physics, reset.seed)?;
    check("placed_qpos", reset.placed_qpos.as_ref(), physics.qpos());
    check("placed_warmstart", reset.placed_warmstart.as_ref(), warmstart(physics));
    let info = scene.reset(physics, reset.seed)?;
    check("qpos", Some(&reset.qpos), physics.qpos());
    check("qvel", Some(&reset.qvel), physics.qvel());
    check("warmstart", Some(&reset.warmstart), warmstart(physics));
    check("xpos", reset.xpos.as_ref(), physics.xpos().as_flattened());
    check("xquat", reset.xquat.as_ref(), physics.xquat().as_flattened());
    check("site_xpos", reset.site_xpos.as_ref(), physics.site_xpos().as_flattened());
    equal.insert("init_state", reset.init_state == info.init_state);
    equal.insert("repeated", info.fixtures == placed.fixtures);
    for (name, pose) in &reset.fixtures {
        let body = scene.names.object(name).ok_or_eyre("a fixture")?.body;
        equal.insert(name.as_str(), pose.0 == physics.view().body_pose(body));
    }
    let differing = equal.into_iter().filter(|(_, equal)| !equal);
    Ok(differing.map(|(what, _)| format!("{}:{what}", reset.seed)).collect())
}

/// Accelerations that the solver starts its next search from.
fn warmstart(physics: &Physics) -> &[f64] {
    // SAFETY: MuJoCo allocates as many as there are velocities.
    unsafe { std::slice::from_raw_parts(physics.raw_data().qacc_warmstart, physics.qvel().len()) }
}

fn differing_facts(scene: &Scene, recording: &Recording) -> Vec<String> {
    let things = things(scene);
    let equal = [
        ("instruction", scene.task.instruction == recording.instruction),
        ("names", names(&scene.model) == recording.names),
        ("things", things == recording.things),
        ("regions", regions(scene) == recording.regions),
    ];
    let differing = equal.into_iter().filter(|(_, equal)| !equal);
    differing.map(|(what, _)| what.to_owned()).collect()
}

fn names(model: &MjModel) -> BTreeMap<String, Vec<Option<String>>> {
    let kinds = [
        ("body", MjtObjBase::mjOBJ_BODY, model.nbody()),
        ("joint", MjtObjBase::mjOBJ_JOINT, model.njnt()),
        ("geom", MjtObjBase::mjOBJ_GEOM, model.ngeom()),
        ("site", MjtObjBase::mjOBJ_SITE, model.nsite()),
        ("camera", MjtObjBase::mjOBJ_CAMERA, model.ncam()),
        ("light", MjtObjBase::mjOBJ_LIGHT, model.nlight()),
        ("actuator", MjtObjBase::mjOBJ_ACTUATOR, model.nu()),
    ];
    let of = |(kind, of, count): (&str, MjtObjBase, i64)| {
        let name = |id| model.id_to_name(of, id).map(str::to_owned);
        (kind.to_owned(), (0..count as usize).map(name).collect())
    };
    kinds.into_iter().map(of).collect()
}

fn things(scene: &Scene) -> BTreeMap<String, Thing> {
    let name = |&id: &usize| {
        scene.model.id_to_name(MjtObjBase::mjOBJ_GEOM, id).unwrap_or_default().to_owned()
    };
    let things = scene.names.objects.iter().zip(scene.extents());
    let thing = |(object, extent): (&libero::names::SceneObject, &libero::sampler::Extent)| {
        let thing = Thing {
            kind: if object.fixture { "fixture" } else { "object" }.to_owned(),
            joints: joint_names(&scene.model, &object.joints),
            contact_geoms: object.contact_geoms.iter().map(name).collect(),
            extent: Numbers(vec![extent.bottom, extent.top, extent.radius]),
        };
        (object.name.clone(), thing)
    };
    things.map(thing).collect()
}

fn regions(scene: &Scene) -> BTreeMap<String, Region> {
    let region = |region: &libero::names::SceneRegion| {
        let parent = region.parent.map(|parent| scene.names.objects[parent].name.clone());
        let joints = joint_names(&scene.model, &region.joints);
        (region.name.clone(), Region { size: Numbers(region.size.to_vec()), parent, joints })
    };
    scene.names.regions.iter().map(region).collect()
}

fn joint_names(model: &MjModel, joints: &[Joint]) -> Vec<String> {
    let name = |joint: &Joint| model.id_to_name(MjtObjBase::mjOBJ_JOINT, joint.id);
    joints.iter().map(|joint| name(joint).unwrap_or_default().to_owned()).collect()
}
