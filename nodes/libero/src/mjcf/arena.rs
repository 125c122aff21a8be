//! The room: walls, floor, table, lights and cameras.

use std::path::Path;

use xmltree::Element;

use super::{
    dom::{self, MjcfError},
    part::{self, Part},
};
use crate::{
    bddl::Problem,
    data::Data,
    workspace::{Table, Workspace},
};

const ENVIRONMENT_COLOUR: &str = "0.5 0.5 0 1";
/// Half height of the site of a region on the workspace.
const ZONE_HEIGHT: f64 = 0.007;

/// A region on the workspace, which the arena carries as a site.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// The region's and the site's name.
    pub name: String,
    /// Half sizes, metres.
    pub size: [f64; 3],
}

/// Builds the arena with a site for each region on it.
pub(super) fn load(
    data: &Data,
    workspace: &Workspace,
    problem: &Problem,
) -> Result<(Part, Vec<Zone>), MjcfError> {
    let path = data.assets().join("scenes").join(workspace.arena);
    let mut arena = Part::read(&path)?;
    part::recolour_collision_geoms(
        arena.section_mut("worldbody"),
        ENVIRONMENT_COLOUR,
        Some("floor"),
    );
    if let Some(table) = &workspace.table {
        size_table(&mut arena, table, workspace.origin)?;
    }
    for (texture, file) in [("texplane", workspace.floor), ("tex-wall", workspace.wall)] {
        set_texture(&mut arena, texture, file)?;
    }
    normalise_positions(&mut arena);
    set_cameras(&mut arena, workspace);
    let zones = add_zones(&mut arena, workspace, problem)?;
    Ok((arena, zones))
}

fn size_table(arena: &mut Part, table: &Table, origin: [f64; 3]) -> Result<(), MjcfError> {
    let path = arena.path.clone();
    let missing = |what: &str| MjcfError::model(&path, format!("there is no {what:?}"));
    let world = arena.section_mut("worldbody");
    let floor = dom::child_mut(world, "geom", "floor").ok_or_else(|| missing("floor"))?;
    dom::set(floor, "pos", "0 0 0");

    let half = table.size.map(|size| size / 2.0);
    let body = dom::child_mut(world, "body", "table").ok_or_else(|| missing("table"))?;
    let centre = [origin[0], origin[1], -half[2] + origin[2]];
    dom::set(body, "pos", dom::text(&centre));
    let mut child = |tag: &str, name: &str, attributes: &[(&str, &[f64])]| {
        let child = dom::child_mut(body, tag, name).ok_or_else(|| missing(name))?;
        for (attribute, values) in attributes {
            dom::set(child, attribute, dom::text(values));
        }
        Ok::<(), MjcfError>(())
    };
    child("geom", "table_collision", &[("size", &half), ("friction", &table.friction)])?;
    child("geom", "table_visual", &[("size", &half)])?;
    child("site", "table_top", &[("pos", &[0.0, 0.0, half[2]])])?;

    let length = (origin[2] - half[2]) / 2.0;
    for (number, (dx, dy)) in
        [(0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1)].into_iter().enumerate()
    {
        let name = format!("table_leg{}_visual", number + 1);
        let position = [leg_offset(half[0], dx), leg_offset(half[1], dy), -length];
        child("geom", &name, &[("pos", &position), ("size", &[0.025, length])])?;
    }
    Ok(())
}

/// A leg stands 0.1 m inside the edge, or in the middle of a small table.
fn leg_offset(half: f64, inset: f64) -> f64 {
    if half > (inset * 2.0_f64).abs() { inset.signum() * half - inset } else { 0.0 }
}

fn set_texture(arena: &mut Part, name: &str, file: &str) -> Result<(), MjcfError> {
    let path = arena.path.clone();
    let texture = dom::child_mut(arena.section_mut("asset"), "texture", name)
        .ok_or_else(|| MjcfError::model(&path, format!("there is no texture {name:?}")))?;
    let folder =
        dom::get(texture, "file").and_then(|old| Path::new(old).parent()).unwrap_or(Path::new("/"));
    let file = format!("{}/{file}", folder.display());
    dom::set(texture, "file", file);
    Ok(())
}

/// The reference shifts everything by a zero offset, which turns -0 into 0.
fn normalise_positions(arena: &mut Part) {
    for child in dom::children_mut(arena.section_mut("worldbody")) {
        if let Some(position) = dom::get(child, "pos").and_then(dom::numbers) {
            let position: Vec<f64> = position.iter().map(|value| value + 0.0).collect();
            dom::set(child, "pos", dom::text(&position));
        }
    }
}

fn set_cameras(arena: &mut Part, workspace: &Workspace) {
    let world = arena.section_mut("worldbody");
    for camera in workspace.cameras {
        let position = dom::text(&camera.position);
        let quaternion = dom::text(&camera.quaternion);
        if let Some(existing) = dom::find_mut(world, "camera", camera.name) {
            dom::set(existing, "pos", position);
            dom::set(existing, "quat", quaternion);
            continue;
        }
        let attributes = [("pos", position.as_str()), ("quat", &quaternion), ("name", camera.name)];
        dom::append(world, dom::element("camera", &attributes));
    }
}

fn add_zones(
    arena: &mut Part,
    workspace: &Workspace,
    problem: &Problem,
) -> Result<Vec<Zone>, MjcfError> {
    let path = arena.path.clone();
    let body: &mut Element =
        dom::child_mut(arena.section_mut("worldbody"), "body", workspace.zone_body).ok_or_else(
            || MjcfError::model(&path, format!("there is no body {:?}", workspace.zone_body)),
        )?;
    let mut zones = Vec::new();
    for region in &problem.regions {
        // By name, not by target: the reference looks for the surface's name inside the region's.
        if !region.name.contains(workspace.surface) {
            continue;
        }
        let [x0, y0, x1, y1] = *region
            .ranges
            .first()
            .ok_or_else(|| MjcfError::NoRanges { region: region.name.clone() })?;
        let size = [(x1 - x0) / 2.0, (y1 - y0) / 2.0, ZONE_HEIGHT];
        let offset = workspace.zone_offset;
        let position = [(x1 + x0) / 2.0 + offset[0], (y1 + y0) / 2.0 + offset[1], offset[2]];
        let attributes = [
            ("quat", "1 0 0 0"),
            ("type", "box"),
            ("pos", &dom::text(&position)),
            ("size", &dom::text(&size)),
            ("rgba", &dom::text(&region.rgba)),
            ("name", &region.name),
        ];
        dom::append(body, dom::element("site", &attributes));
        zones.push(Zone { name: region.name.clone(), size });
    }
    Ok(zones)
}
