//! What each pixel shows: which thing, and which part of it.

use libero::names::SceneNames;
use libero::physics::Physics;
use mujoco_rs::wrappers::MjModel;
use mujoco_rs::wrappers::mj_model::{MjtGeomBase, MjtObj, MjtObjBase};
use nalgebra::{Matrix3, Vector3};

/// How far outside its box a point may lie and still belong to a region, metres; the walls
/// and the floor of a compartment are a little outside.
const REGION_MARGIN: f64 = 0.012;
/// The same across the thin side of a flat region, which marks a surface.
const FLAT_MARGIN: f64 = 0.03;
const FLAT: f64 = 0.01;

/// Kind and id of what a renderer has drawn at a pixel, if anything.
type Element = Option<(i32, i32)>;

/// What a pixel shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sight {
    /// 0 the room, 1 the robot, `i + 2` object `i` of the scene.
    pub thing: u8,
    /// Index into [`Labels::parts`] of what its geom is.
    pub part: u16,
    /// 1 + index into [`Labels::regions`], or 0 outside all of them.
    pub region: u16,
}

pub struct Labels {
    /// What the visible geoms are: `body|mesh or shape`, without the instance's name.
    pub parts: Vec<String>,
    /// Regions of the fixtures.
    pub regions: Vec<Box3>,
    /// Per geom.
    geoms: Vec<Sight>,
}

/// A site that marks a region of a thing.
pub struct Box3 {
    /// Without the instance's name.
    pub name: String,
    thing: u8,
    site: usize,
    size: [f64; 3],
}

impl Labels {
    pub fn new(model: &MjModel, names: &SceneNames) -> Self {
        let mut labels = Self { parts: Vec::new(), regions: Vec::new(), geoms: Vec::new() };
        let robot = model.body_rootid()[names.hand_body];
        for geom in 0..model.ngeom() as usize {
            let body = model.geom_bodyid()[geom] as usize;
            let found = names.objects.iter().position(|object| object.visual_geoms.contains(&geom));
            let (thing, instance) = match found {
                Some(index) => (index as u8 + 2, names.objects[index].name.as_str()),
                None => (u8::from(model.body_rootid()[body] == robot), ""),
            };
            let part = part_name(model, geom, body, instance);
            let part = index_of(&mut labels.parts, part);
            labels.geoms.push(Sight { thing, part, region: 0 });
        }
        for (index, object) in names.objects.iter().enumerate() {
            if object.category.articulation.is_none() && !has_levels(object.category.name) {
                continue;
            }
            let prefix = format!("{}_", object.name);
            for site in 0..model.nsite() as usize {
                let name = model.id_to_name(MjtObjBase::mjOBJ_SITE, site).unwrap_or_default();
                let Some(name) = name.strip_prefix(&prefix) else { continue };
                if model.site_type()[site] == MjtGeomBase::mjGEOM_BOX {
                    let (name, size) = (name.to_owned(), model.site_size()[site]);
                    labels.regions.push(Box3 { name, thing: index as u8 + 2, site, size });
                }
            }
        }
        labels
    }

    /// What the pixels show, given each one's model element and depth.
    pub fn see(
        &self,
        physics: &Physics,
        camera: usize,
        elements: &[Element],
        depth: &[f32],
        side: u32,
    ) -> Vec<Sight> {
        let fovy = physics.view().base().cam_fovy()[camera];
        let focal = 0.5 * f64::from(side) / (0.5 * fovy.to_radians()).tan();
        let at = Vector3::from(physics.cam_xpos()[camera]);
        let turn = Matrix3::from_row_slice(&physics.cam_xmat()[camera]);
        let pixels = elements.iter().zip(depth).enumerate();
        let see = |(index, (element, &depth)): (usize, (&Element, &f32))| {
            let Some((kind, id)) = *element else { return Sight::default() };
            if kind != MjtObj::mjOBJ_GEOM as i32 {
                return Sight::default();
            }
            let mut sight = self.geoms[id as usize];
            if self.regions.iter().any(|region| region.thing == sight.thing) {
                let (row, column) = (index / side as usize, index % side as usize);
                let half = 0.5 * f64::from(side);
                let right = (column as f64 + 0.5 - half) / focal;
                let up = (half - row as f64 - 0.5) / focal;
                let point = at + turn * Vector3::new(right, up, -1.0) * f64::from(depth);
                sight.region = self.region(physics, sight.thing, point);
            }
            sight
        };
        pixels.map(see).collect()
    }

    fn region(&self, physics: &Physics, thing: u8, point: Vector3<f64>) -> u16 {
        let mut nearest = (1.0, 0);
        for (index, region) in self.regions.iter().enumerate() {
            if region.thing != thing {
                continue;
            }
            let at = Vector3::from(physics.site_xpos()[region.site]);
            let turn = Matrix3::from_row_slice(&physics.site_xmat()[region.site]);
            let inside = turn.transpose() * (point - at);
            let share = |axis: usize| {
                let size = region.size[axis];
                let margin = if size < FLAT { FLAT_MARGIN } else { REGION_MARGIN };
                inside[axis].abs() / (size + margin)
            };
            let distance = share(0).max(share(1)).max(share(2));
            if distance < nearest.0 {
                nearest = (distance, index as u16 + 1);
            }
        }
        nearest.1
    }
}

/// Whether a thing without joints has compartments or levels that a task can name.
fn has_levels(category: &str) -> bool {
    ["caddy", "shelf", "rack"].iter().any(|word| category.contains(word))
}

/// A geom's body and mesh, or shape.
fn part_name(model: &MjModel, geom: usize, body: usize, instance: &str) -> String {
    let own = |name: &str| {
        name.strip_prefix(instance).map_or(name, |rest| rest.trim_start_matches('_')).to_owned()
    };
    let name = |kind, id| own(model.id_to_name(kind, id).unwrap_or_default());
    let shape = match usize::try_from(model.geom_dataid()[geom]) {
        Ok(mesh) => name(MjtObjBase::mjOBJ_MESH, mesh),
        Err(_) => format!("{:?}", model.geom_type()[geom]),
    };
    let body = name(MjtObjBase::mjOBJ_BODY, body);
    match instance {
        "" if body.contains("0_") => format!("{body}|"),
        // The room's parts have names that say more than their meshes.
        "" => format!("{body}|{}", name(MjtObjBase::mjOBJ_GEOM, geom)),
        _ => format!("{body}|{shape}"),
    }
}

fn index_of(names: &mut Vec<String>, name: String) -> u16 {
    let index = names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    });
    index as u16
}
