//! Composes the model of a task as MJCF text: base, arena, robot, objects,
//! fixtures, merged as trees in the reference's order and with its names.
//!
//! Source: robosuite 1.4.0 `models/base.py`, `models/tasks/task.py`.

mod arena;
mod dom;
mod lean;
mod object;
mod part;
mod robot;

pub use self::{
    arena::Zone,
    dom::MjcfError,
    object::{Object, RegionSite},
};

use self::part::Part;
use crate::{
    bddl::Problem,
    data::Data,
    workspace::{self, Workspace},
};

/// Physics step, seconds.
const TIME_STEP: &str = "0.002";

/// A composed model and what is known of its parts.
#[derive(Debug, Clone)]
pub struct Composition {
    /// The MJCF text that the reference compiles, with absolute asset paths.
    pub visual_xml: String,
    /// The same without textures and visual meshes, with the same ids.
    pub physics_xml: String,
    /// The workspace.
    pub workspace: &'static Workspace,
    /// Objects, then fixtures, in the order of their bodies.
    pub objects: Vec<Object>,
    /// Regions on the workspace.
    pub zones: Vec<Zone>,
    /// Names of the gripper's sites.
    pub gripper_sites: Vec<String>,
}

/// Composes the model of a problem.
///
/// # Errors
/// [`MjcfError`] when a model is missing or unusable.
pub fn compose(data: &Data, problem: &Problem) -> Result<Composition, MjcfError> {
    let workspace = workspace::find(&problem.class)
        .ok_or_else(|| MjcfError::UnknownWorkspace { class: problem.class.clone() })?;
    let mut scene = Part::read(&data.robosuite_assets().join("base.xml"))?;
    if let Some(option) = dom::children_mut(&mut scene.root).find(|child| child.name == "option") {
        dom::set(option, "timestep", TIME_STEP);
    }

    let (arena, zones) = arena::load(data, workspace, problem)?;
    let robot = robot::load(data, workspace.base)?;
    let mut objects = Vec::new();
    for group in &problem.objects {
        for name in &group.instances {
            objects.push(Object::load(data, name, &group.category, false)?);
        }
    }
    for group in problem.fixtures.iter().filter(|group| group.category != workspace.category) {
        for name in &group.instances {
            objects.push(Object::load(data, name, &group.category, true)?);
        }
    }

    scene.merge(arena, None)?;
    scene.merge(robot.part, None)?;
    for object in &objects {
        scene.merge_assets(&object.part);
        dom::append(scene.section_mut("worldbody"), object.body.clone());
    }
    let text = |scene: &Part| {
        dom::write(&scene.root).map_err(|error| MjcfError::model(&scene.path, error.to_string()))
    };
    let visual_xml = text(&scene)?;
    lean::leave_out_looks(&mut scene.root);
    let physics_xml = text(&scene)?;
    let gripper_sites = robot.gripper_sites;
    Ok(Composition { visual_xml, physics_xml, workspace, objects, zones, gripper_sites })
}
