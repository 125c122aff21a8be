//! A composed scene that can be arranged and photographed.

use std::sync::Arc;

use eyre::{Result, eyre};
use libero::bddl::{Group, Predicate, Problem, Region};
use libero::catalog::{self, Category};
use libero::data::Data;
use libero::egl::EglDevice;
use libero::gl::{Gl, Quality};
use libero::mjcf::{self, Composition};
use libero::names::SceneNames;
use libero::physics::{ModelView, Physics, release_compiler_memory};
use libero::rng::NumpyRandom;
use libero::sampler::PlacementPlan;
use libero::state::SimState;
use libero::workspace::Workspace;
use mujoco_rs::wrappers::MjModel;
use mujoco_rs::wrappers::mj_model::MjtObjBase;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use crate::labels::{Labels, Sight};

/// Side of a picture, pixels.
pub const SIDE: u32 = 512;
/// Side of its labels, pixels.
pub const LABEL_SIDE: u32 = 256;
/// Varied cameras of each view in a scene.
const CAMERAS: usize = 6;
/// Most objects that are added to a scene.
const MOST_EXTRAS: u32 = 5;
/// How far from a workspace's origin things are moved, along x and y, metres.
const MOST_AREA: [f64; 2] = [0.36, 0.46];
const EXTRA_REGION: &str = "extra_region";
const SCENE_CAMERA: &str = "agentview";
const WRIST_CAMERA: &str = "robot0_eye_in_hand";

/// Where a picture is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    Scene,
    Wrist,
}

/// One picture, top row first.
pub struct Picture {
    /// RGB, `SIDE x SIDE x 3`.
    pub color: Vec<u8>,
    /// What is seen, `LABEL_SIDE x LABEL_SIDE`.
    pub sights: Vec<Sight>,
    /// Metres along the optical axis, `LABEL_SIDE x LABEL_SIDE`.
    pub depth: Vec<f32>,
}

pub struct Scenery {
    pub names: SceneNames,
    pub plan: PlacementPlan,
    pub workspace: &'static Workspace,
    /// Where things may lie on the workspace: `[x min, y min, x max, y max]`, world frame.
    pub area: [f64; 4],
    pub labels: Labels,
    // Before the physics, whose model it was made from.
    gl: Option<Gl>,
    pub physics: Physics,
}

/// The problem with a few objects of any kind on its table.
pub fn with_extra_objects(
    data: &Data,
    problem: &Problem,
    rng: &mut NumpyRandom,
) -> Result<Problem> {
    let mut problem = problem.clone();
    let Some(surface) = surface(&problem) else { return Ok(problem) };
    let [x0, y0, x1, y1] = area(&problem, &surface);
    let name = format!("{surface}_{EXTRA_REGION}");
    problem.regions.push(Region {
        name: name.clone(),
        target: surface,
        ranges: vec![[x0 - 0.05, y0 - 0.05, x1 + 0.05, y1 + 0.05]],
        yaw: vec![0.0, 0.0],
        rgba: [0.0; 4],
    });
    let kinds: Vec<&Category> =
        catalog::all().iter().filter(|category| is_object(data, category)).collect();
    for index in 0..rng.below(MOST_EXTRAS + 1) {
        let category = kinds[rng.below(kinds.len() as u32) as usize].name.to_owned();
        let instance = format!("{category}_9{index}");
        problem.init.push(Predicate::On(instance.clone(), name.clone()));
        problem.objects.push(Group { category, instances: vec![instance] });
    }
    Ok(problem)
}

/// Whether a category is a movable thing of the suites that lack nothing, whose model is there.
fn is_object(data: &Data, category: &Category) -> bool {
    const LARGE: [&str; 12] = [
        "rack",
        "wooden_shelf",
        "wooden_two_layer_shelf",
        "wine_rack",
        "brown_rack",
        "wine_rack_stand",
        "dining_set_group",
        "bowl_drainer",
        "white_storage_box",
        "basket",
        "red_basket",
        "wooden_tray",
    ];
    category.family != catalog::Family::Articulated
        && !LARGE.contains(&category.name)
        && !category.name.contains("caddy")
        && data.assets().join(category.model_path()).exists()
}

/// Name of the table or floor, when regions lie on it.
fn surface(problem: &Problem) -> Option<String> {
    let workspace = libero::workspace::find(&problem.class)?;
    let on_it = |region: &&Region| region.name.contains(workspace.surface);
    let mut regions = problem.regions.iter().filter(on_it);
    regions.next().map(|region| region.target.clone())
}

/// What a workspace's regions cover.
fn area(problem: &Problem, surface: &str) -> [f64; 4] {
    let on_it = problem.regions.iter().filter(|region| region.target == surface);
    on_it.flat_map(|region| &region.ranges).fold([-0.05, -0.05, 0.05, 0.05], |all, range| {
        [all[0].min(range[0]), all[1].min(range[1]), all[2].max(range[2]), all[3].max(range[3])]
    })
}

impl Scenery {
    /// The scene as the benchmark has it.
    pub fn original(data: &Data, problem: &Problem) -> Result<Self> {
        let composition = mjcf::compose(data, problem)?;
        let xml = composition.visual_xml.clone();
        Self::compile(problem, &composition, &xml, |_| ())
    }

    /// The scene with cameras, lights and surfaces of its own.
    pub fn varied(data: &Data, problem: &Problem, rng: &mut NumpyRandom) -> Result<Self> {
        let composition = mjcf::compose(data, problem)?;
        let lean = compile(&composition.physics_xml)?;
        let xml = with_cameras(&composition.visual_xml, &lean, rng)?;
        let xml = with_surfaces(&xml, data, rng)?;
        Self::compile(problem, &composition, &xml, |model| vary_lights(model, rng))
    }

    fn compile(
        problem: &Problem,
        composition: &Composition,
        xml: &str,
        change: impl FnOnce(&mut MjModel),
    ) -> Result<Self> {
        let mut model = compile(xml)?;
        change(&mut model);
        let names = SceneNames::find(&model, composition, &problem.regions)?;
        let labels = Labels::new(&model, &names);
        let plan = PlacementPlan::new(problem, composition)?;
        let workspace = composition.workspace;
        let range = surface(problem).map_or([0.0; 4], |surface| area(problem, &surface));
        let [x, y, _] = workspace.origin;
        let within = |at: f64, origin: f64, most: f64| origin + at.clamp(-most, most);
        let [along, across] = MOST_AREA;
        let area = [
            within(range[0], x, along),
            within(range[1], y, across),
            within(range[2], x, along),
            within(range[3], y, across),
        ];
        let mut physics = Physics::new(ModelView::new(Arc::new(model)))?;
        for site in physics.view_mut().site_rgba_mut() {
            site[3] = 0.0;
        }
        Ok(Self { names, plan, workspace, area, labels, gl: None, physics })
    }

    /// One of the view's cameras: the benchmark's own half of the time.
    pub fn camera(&self, view: View, rng: &mut NumpyRandom) -> usize {
        if rng.random() < 0.5 {
            return self.original_camera(view);
        }
        let name = varied_name(view, rng.below(CAMERAS as u32) as usize);
        self.names.camera(&name).unwrap_or_else(|| self.original_camera(view))
    }

    pub fn original_camera(&self, view: View) -> usize {
        self.names.camera(original_name(view)).unwrap_or_default()
    }

    pub fn camera_name(&self, camera: usize) -> &str {
        let found = self.names.cameras.iter().find(|(_, id)| *id == camera);
        found.map_or("", |(name, _)| name)
    }

    /// Takes over a state of the benchmark's own scene.
    pub fn set_state(&mut self, state: &SimState) -> Result<()> {
        self.physics.set_integration_state(&state.integration)?;
        let fixtures = self.names.objects.iter().filter(|object| object.fixture);
        for (fixture, pose) in fixtures.zip(&state.fixtures) {
            let [x, y, z, qw, qx, qy, qz] = *pose;
            self.physics.view_mut().set_body_pose(fixture.body, [x, y, z], [qw, qx, qy, qz]);
        }
        self.show_burners();
        self.physics.kinematics();
        Ok(())
    }

    /// Shows the burner of each stove that is on.
    pub fn show_burners(&mut self) {
        for object in &self.names.objects {
            let (Some(site), Some(articulation)) = (object.burner, object.category.articulation)
            else {
                continue;
            };
            let qpos = self.physics.qpos();
            let on = object.joints.iter().any(|joint| articulation.is_on(qpos[joint.qpos]));
            self.physics.view_mut().site_rgba_mut()[site][3] = if on { 2.0 } else { 0.0 };
        }
    }

    pub fn picture(&mut self, device: &EglDevice, camera: usize) -> Result<Picture> {
        let gl = match &mut self.gl {
            Some(gl) => gl,
            none => none.insert(Gl::new(&self.physics, device, SIDE, SIDE)?),
        };
        let mut drawing = gl.draw(&mut self.physics, camera, [SIDE, SIDE], Quality::Full);
        let mut color = drawing.color(None);
        let small = [LABEL_SIDE, LABEL_SIDE];
        let mut drawing = gl.draw(&mut self.physics, camera, small, Quality::Full);
        let mut depth = Vec::new();
        drawing.color(Some(&mut depth));
        let mut elements = drawing.elements();

        flip(&mut color, 3 * SIDE as usize);
        flip(&mut depth, LABEL_SIDE as usize);
        flip(&mut elements, LABEL_SIDE as usize);
        let model = self.physics.view().raw();
        let planes = [model.vis.map.znear, model.vis.map.zfar];
        let [near, far] = planes.map(|plane| f64::from(plane) * model.stat.extent);
        for value in &mut depth {
            *value = (near / (1.0 - f64::from(*value) * (1.0 - near / far))) as f32;
        }
        let sights = self.labels.see(&self.physics, camera, &elements, &depth, LABEL_SIDE);
        Ok(Picture { color, sights, depth })
    }
}

fn compile(xml: &str) -> Result<MjModel> {
    let model = MjModel::from_xml_string(xml);
    release_compiler_memory();
    Ok(model?)
}

fn original_name(view: View) -> &'static str {
    match view {
        View::Scene => SCENE_CAMERA,
        View::Wrist => WRIST_CAMERA,
    }
}

fn varied_name(view: View, index: usize) -> String {
    format!("varied_{}_{index}", original_name(view))
}

/// Adds, beside each of the two cameras, others that stand a little off.
fn with_cameras(xml: &str, model: &MjModel, rng: &mut NumpyRandom) -> Result<String> {
    let mut xml = xml.to_owned();
    for (view, shift, turn, zoom) in
        [(View::Scene, 0.04, 0.04, 3.0), (View::Wrist, 0.004, 0.03, 2.0)]
    {
        let name = original_name(view);
        let missing = || eyre!("the scene has no camera {name:?}");
        let id = model.name_to_id(MjtObjBase::mjOBJ_CAMERA, name).ok_or_else(missing)?;
        let [qw, qx, qy, qz] = model.cam_quat()[id];
        let turned = UnitQuaternion::from_quaternion(Quaternion::new(qw, qx, qy, qz));
        let mut cameras = String::new();
        for index in 0..CAMERAS {
            let [x, y, z] = model.cam_pos()[id].map(|x| x + shift * rng.standard_normal());
            let axis = Vector3::from_fn(|_, _| turn * rng.standard_normal());
            let q = turned * UnitQuaternion::from_scaled_axis(axis);
            let fovy = model.cam_fovy()[id] + zoom * rng.standard_normal();
            cameras += &format!(
                "<camera name=\"{}\" pos=\"{x} {y} {z}\" quat=\"{} {} {} {}\" fovy=\"{fovy}\"/>",
                varied_name(view, index),
                q.w,
                q.i,
                q.j,
                q.k,
            );
        }
        let at = xml.find(&format!("name=\"{name}\"")).ok_or_else(missing)?;
        let at = xml[..at].rfind('<').ok_or_else(missing)?;
        xml.insert_str(at, &cameras);
    }
    Ok(xml)
}

/// Now and then gives tables, floors and walls another texture of the benchmark.
fn with_surfaces(xml: &str, data: &Data, rng: &mut NumpyRandom) -> Result<String> {
    const FOLDER: &str = "/textures/";
    const CHANCE: f64 = 0.2;
    // MuJoCo takes square pictures alone for some of them.
    const OBLONG: &str = "table_light_wood.png";

    let mut textures: Vec<String> = std::fs::read_dir(data.assets().join("textures"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".png") && name != OBLONG)
        .collect();
    textures.sort();
    let assets = data.assets().display().to_string();
    let mut varied = String::new();
    for (index, piece) in xml.split_inclusive('"').enumerate() {
        let is_surface = piece.contains(FOLDER) && piece.starts_with(&assets);
        if index > 0 && is_surface && !piece.contains("articulated") && rng.random() < CHANCE {
            let name = &textures[rng.below(textures.len() as u32) as usize];
            varied += &format!("{assets}{FOLDER}{name}\"");
        } else {
            varied += piece;
        }
    }
    Ok(varied)
}

fn vary_lights(model: &mut MjModel, rng: &mut NumpyRandom) {
    let strength = rng.uniform(0.7, 1.2) as f32;
    for diffuse in model.light_diffuse_mut() {
        for channel in diffuse {
            *channel *= strength * rng.uniform(0.93, 1.07) as f32;
        }
    }
    for position in model.light_pos_mut() {
        for coordinate in position {
            *coordinate += 0.3 * rng.standard_normal();
        }
    }
}

/// Turns a picture upside down: GL starts at the bottom.
fn flip<T: Copy>(pixels: &mut [T], row: usize) {
    let rows = pixels.len() / row;
    for top in 0..rows / 2 {
        let (upper, lower) = pixels.split_at_mut((rows - 1 - top) * row);
        upper[top * row..(top + 1) * row].swap_with_slice(&mut lower[..row]);
    }
}
