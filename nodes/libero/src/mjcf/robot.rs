//! The Panda on its pedestal (or on the ground) with its two-finger gripper.

use xmltree::Element;

use super::{
    dom::{self, MjcfError},
    part::{self, Part},
};
use crate::{data::Data, workspace::Base};

const ROBOT_COLOUR: &str = "0 0.5 0 1";
const MOUNT_COLOUR: &str = "0.5 0.5 0 1";
const GRIPPER_COLOUR: &str = "0 0 0.5 1";

/// Joint damping that LIBERO sets over the model's own.
const DAMPING: [f64; 7] = [0.1, 0.1, 0.1, 0.1, 0.1, 0.01, 0.01];

/// The robot as one part, and the names of its gripper's sites.
pub(super) struct Robot {
    pub part: Part,
    pub gripper_sites: Vec<String>,
}

/// Puts robot, mount and gripper together where the workspace wants them.
pub(super) fn load(data: &Data, base: Base) -> Result<Robot, MjcfError> {
    let assets = data.robosuite_assets();
    let mut robot = read(&assets.join("robots/panda/robot.xml"), "robot0_", ROBOT_COLOUR)?;
    set_joint_dynamics(&mut robot);

    let (mount_model, mount_top) = match base.pedestal {
        true => ("mounts/rethink_mount.xml", [0.0, 0.0, -0.01]),
        false => ("mounts/null_mount.xml", [0.0; 3]),
    };
    let mut mount = read(&assets.join(mount_model), "mount0_", MOUNT_COLOUR)?;
    let mount_bottom = position(&mut mount, "mount0_base")?;
    let robot_offset = position(&mut robot, "robot0_base")?;
    let below = subtract(mount_bottom, mount_top);
    let foot: [f64; 3] = std::array::from_fn(|i| below[i] + robot_offset[i]);
    place(&mut mount, "mount0_base", subtract(robot_offset, mount_top))?;
    place(&mut robot, "robot0_base", subtract(base.position, foot))?;
    robot.merge(mount, Some("robot0_base"))?;

    let gripper = read(&assets.join("grippers/panda_gripper.xml"), "gripper0_", GRIPPER_COLOUR)?;
    let mut gripper_sites = Vec::new();
    dom::walk(gripper.section("worldbody"), &mut |element| {
        if element.name == "site" {
            gripper_sites.extend(dom::get(element, "name").map(str::to_owned));
        }
    });
    robot.merge(gripper, Some("robot0_right_hand"))?;
    Ok(Robot { part: robot, gripper_sites })
}

/// Reads a model, names its nameless geoms, and gives it its prefix and colour.
fn read(path: &std::path::Path, prefix: &str, colour: &str) -> Result<Part, MjcfError> {
    let mut part = Part::read(path)?;
    let (mut collision, mut visual) = (0, 0);
    dom::walk_mut(&mut part.root, &mut |element| {
        if element.name != "geom" || dom::get(element, "name").is_some() {
            return;
        }
        let (count, kind) = match dom::get(element, "group") {
            Some("1") => (&mut visual, "vis"),
            _ => (&mut collision, "col"),
        };
        dom::set(element, "name", format!("g{count}_{kind}"));
        *count += 1;
    });
    part.add_prefix(prefix);
    part::recolour_collision_geoms(part.section_mut("worldbody"), colour, None);
    Ok(part)
}

fn set_joint_dynamics(robot: &mut Part) {
    let mut index = 0;
    dom::walk_mut(&mut robot.root, &mut |element| {
        if element.name != "joint" {
            return;
        }
        let armature = 5.0 / (index + 1) as f64;
        for (attribute, value) in [("frictionloss", 0.1), ("armature", armature)] {
            if dom::get(element, attribute).is_none() {
                dom::set(element, attribute, dom::text(&[value]));
            }
        }
        if let Some(damping) = DAMPING.get(index) {
            dom::set(element, "damping", dom::text(&[*damping]));
        }
        index += 1;
    });
}

fn root_body<'a>(part: &'a mut Part, name: &str) -> Result<&'a mut Element, MjcfError> {
    let path = part.path.clone();
    dom::find_mut(part.section_mut("worldbody"), "body", name)
        .ok_or_else(|| MjcfError::model(&path, format!("there is no body {name:?}")))
}

fn position(part: &mut Part, body: &str) -> Result<[f64; 3], MjcfError> {
    let path = part.path.clone();
    let body = root_body(part, body)?;
    dom::vector(body, "pos")
        .ok_or_else(|| MjcfError::model(&path, "a body's position is no vector"))
}

fn place(part: &mut Part, body: &str, position: [f64; 3]) -> Result<(), MjcfError> {
    dom::set(root_body(part, body)?, "pos", dom::text(&position));
    Ok(())
}

fn subtract(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}
