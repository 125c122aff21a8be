//! Prints what this crate makes of a task, for `tests/reference/compare.py`.
//!
//! `dump_scene DATA SUITE TASK MODEL.mjb SEED…` writes the compiled model, with
//! fixtures where the last seed put them, and prints the rest as JSON.

use std::{collections::BTreeMap, time::Instant};

use eyre::{OptionExt as _, WrapErr as _, ensure};
use libero::{
    data::Data,
    names::Joint,
    physics::{ModelView, Physics},
    scene::Scene,
};
use mujoco_rs::wrappers::{MjModel, mj_model::MjtObjBase};
use serde_json::{Value, json};

fn main() -> eyre::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    ensure!(arguments.len() > 4, "usage: dump_scene DATA SUITE TASK MODEL.mjb SEED…");
    let [data, suite, task, mjb, seeds @ ..] = &arguments[..] else {
        unreachable!("the length was checked");
    };
    let data = Data::open(data)?;
    let task: usize = task.parse().wrap_err("TASK is a number")?;

    let started = Instant::now();
    let (_, problem) = libero::suites::find(&data, suite)?.task(&data, task)?;
    let composition = libero::mjcf::compose(&data, &problem)?;
    let compose_s = started.elapsed().as_secs_f64();
    std::fs::write(format!("{mjb}.xml"), composition.visual_xml)
        .wrap_err("the MJCF can't be written")?;

    let started = Instant::now();
    let scene = Scene::load(&data, suite, task)?;
    let load_s = started.elapsed().as_secs_f64();

    let mut physics = Physics::new(ModelView::new(scene.model.clone()))?;
    let mut resets = Vec::new();
    let mut reset_s = Vec::new();
    let started = Instant::now();
    let mut model = MjModel::clone(&*scene.visual_model.get()?);
    let visual_s = started.elapsed().as_secs_f64();
    for seed in seeds {
        let seed: u64 = seed.parse().wrap_err("a SEED is a number")?;
        let started = Instant::now();
        let info = scene.place(&mut physics, seed)?;
        let placed_qpos = physics.qpos().to_vec();
        let placed_warmstart = warmstart(&physics);
        let init_state = (seed % scene.init_states.count() as u64) as usize;
        scene.start(&mut physics, init_state);
        reset_s.push(started.elapsed().as_secs_f64());
        let mut fixtures = BTreeMap::new();
        for fixture in scene.names.objects.iter().filter(|object| object.fixture) {
            let placed = info.fixtures.iter().find(|pose| pose.body == fixture.body);
            let position =
                placed.map_or(scene.model.body_pos()[fixture.body], |pose| pose.position);
            let quaternion =
                placed.map_or(scene.model.body_quat()[fixture.body], |pose| pose.quaternion);
            model.body_pos_mut()[fixture.body] = position;
            model.body_quat_mut()[fixture.body] = quaternion;
            fixtures.insert(&fixture.name, json!({"position": position, "quaternion": quaternion}));
        }
        let site_xpos: Vec<f64> = physics.site_xpos().iter().flatten().copied().collect();
        resets.push(json!({
            "seed": seed,
            "attempts": info.attempts,
            "init_state": init_state,
            "fixtures": fixtures,
            "placed_qpos": placed_qpos,
            "placed_warmstart": placed_warmstart,
            "qpos": physics.qpos(),
            "qvel": physics.qvel(),
            "warmstart": warmstart(&physics),
            "site_xpos": site_xpos,
        }));
    }
    model.save_to_file(mjb).wrap_err("the model can't be written")?;
    let dump = json!({
        "compose_s": compose_s,
        "load_s": load_s,
        "visual_s": visual_s,
        "reset_s": reset_s,
        "instruction": scene.task.instruction,
        "names": names(&scene.model),
        "things": things(&scene)?,
        "regions": regions(&scene),
        "resets": resets,
    });
    println!("{dump}");
    Ok(())
}

/// Accelerations that the solver starts its next search from.
fn warmstart(physics: &Physics) -> Vec<f64> {
    // SAFETY: MuJoCo allocates as many as there are velocities.
    unsafe { std::slice::from_raw_parts(physics.raw_data().qacc_warmstart, physics.qvel().len()) }
        .to_vec()
}

fn names(model: &MjModel) -> Value {
    let of = |kind: MjtObjBase, count: i64| -> Vec<Option<&str>> {
        (0..count as usize).map(|id| model.id_to_name(kind, id)).collect()
    };
    json!({
        "body": of(MjtObjBase::mjOBJ_BODY, model.nbody()),
        "joint": of(MjtObjBase::mjOBJ_JOINT, model.njnt()),
        "geom": of(MjtObjBase::mjOBJ_GEOM, model.ngeom()),
        "site": of(MjtObjBase::mjOBJ_SITE, model.nsite()),
        "camera": of(MjtObjBase::mjOBJ_CAMERA, model.ncam()),
        "light": of(MjtObjBase::mjOBJ_LIGHT, model.nlight()),
        "actuator": of(MjtObjBase::mjOBJ_ACTUATOR, model.nu()),
    })
}

fn joints(model: &MjModel, joints: &[Joint]) -> Vec<Option<String>> {
    let name =
        |joint: &Joint| model.id_to_name(MjtObjBase::mjOBJ_JOINT, joint.id).map(str::to_owned);
    joints.iter().map(name).collect()
}

fn things(scene: &Scene) -> eyre::Result<BTreeMap<&str, Value>> {
    let mut things = BTreeMap::new();
    for (object, extent) in scene.names.objects.iter().zip(scene.extents()) {
        let geoms = object
            .contact_geoms
            .iter()
            .map(|&id| scene.model.id_to_name(MjtObjBase::mjOBJ_GEOM, id));
        let geoms: Option<Vec<&str>> = geoms.collect();
        let thing = json!({
            "kind": if object.fixture { "fixture" } else { "object" },
            "joints": joints(&scene.model, &object.joints),
            "contact_geoms": geoms.ok_or_eyre("a geom without a name")?,
            "bottom": extent.bottom,
            "top": extent.top,
            "radius": extent.radius,
        });
        things.insert(object.name.as_str(), thing);
    }
    Ok(things)
}

fn regions(scene: &Scene) -> BTreeMap<&str, Value> {
    let region = |region: &libero::names::SceneRegion| {
        json!({
            "size": region.size,
            "parent": region.parent.map(|parent| &scene.names.objects[parent].name),
            "joints": joints(&scene.model, &region.joints),
        })
    };
    scene.names.regions.iter().map(|each| (each.name.as_str(), region(each))).collect()
}
