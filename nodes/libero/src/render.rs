//! Pictures of a simulation's state: colour, metric depth, instances, and the camera's geometry.

use std::sync::Arc;

use mujoco_rs::mujoco_c::mjtObj;
use mujoco_rs::wrappers::MjModel;
use mujoco_rs::wrappers::mj_model::MjtObjBase;

use crate::camera::Camera;
use crate::egl::{EglDevice, EglError};
use crate::gl::{Drawing, Gl, Quality};
use crate::physics::{ModelView, Physics, PhysicsError};
use crate::scene::Scene;
use crate::state::SimState;
use crate::visual_model::{VisualModel, VisualModelError};

/// Smallest and largest side of a picture, pixels.
pub const SIDES: std::ops::RangeInclusive<u32> = 1..=2048;

#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    #[error("there is no camera {name:?}; this scene has {}", .known.join(", "))]
    UnknownCamera { name: String, known: Vec<String> },
    #[error("a picture of {width} x {height} pixels is not possible; each side must be 1 to 2048")]
    Size { width: u32, height: u32 },
    #[error("the state has {found} {what}, this scene has {expected}")]
    State { what: &'static str, expected: usize, found: usize },
    #[error(transparent)]
    Egl(#[from] EglError),
    #[error(transparent)]
    Model(#[from] VisualModelError),
    #[error(transparent)]
    Physics(#[from] PhysicsError),
}

/// What a renderer needs of a scene. Can be sent to the thread that renders.
#[derive(Clone)]
pub struct RenderScene {
    /// Without looks, for names and numbers.
    model: Arc<MjModel>,
    /// With looks, compiled by the first renderer.
    visual_model: Arc<VisualModel>,
    /// Bodies of the fixtures, in the order of [`SimState::fixtures`].
    fixture_bodies: Vec<usize>,
    /// Sites that show or hide, in the order of [`SimState::visuals`].
    toggle_sites: Vec<usize>,
    /// Names of the things that segmentation tells apart.
    instances: Vec<String>,
    /// Bodies whose poses people look at: the robot's, then objects and fixtures.
    bodies: Vec<(String, usize)>,
    /// For each geom its thing's label; 0 for the room.
    label_of_geom: Vec<u32>,
}

impl RenderScene {
    pub(crate) fn new(scene: &Scene, fixture_bodies: Vec<usize>, toggle_sites: Vec<usize>) -> Self {
        let (model, names) = (&scene.model, &scene.names);
        let robot_root = model.body_rootid()[names.hand_body];
        let on_robot = |body: usize| model.body_rootid()[body] == robot_root;
        let mut label_of_geom: Vec<u32> =
            model.geom_bodyid().iter().map(|&body| u32::from(on_robot(body as usize))).collect();
        let links = (0..model.nbody() as usize).filter(|&body| on_robot(body));
        let mut bodies: Vec<(String, usize)> = links
            .filter_map(|body| {
                let name = model.id_to_name(MjtObjBase::mjOBJ_BODY, body)?;
                Some((format!("robot/{name}"), body))
            })
            .collect();
        let mut instances = vec!["robot".to_owned()];
        for object in &names.objects {
            bodies.push((format!("objects/{}", object.name), object.body));
            instances.push(object.name.clone());
            for &geom in &object.visual_geoms {
                label_of_geom[geom] = instances.len() as u32;
            }
        }
        RenderScene {
            model: Arc::clone(model),
            visual_model: Arc::clone(&scene.visual_model),
            fixture_bodies,
            toggle_sites,
            instances,
            bodies,
            label_of_geom,
        }
    }

    /// Names of the instances; label `i + 1` of a segmentation is entry `i`.
    pub fn instances(&self) -> &[String] {
        &self.instances
    }

    /// Names of the cameras.
    pub fn cameras(&self) -> Vec<String> {
        Camera::names(&self.model)
    }
}

/// What to make beside the colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Want {
    pub depth: bool,
    pub segmentation: bool,
}

/// One picture; top row first everywhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// RGB, `height x width x 3`.
    pub color: Vec<u8>,
    /// Depth along the optical axis, metres, `height x width`; NaN where nothing was
    /// seen; empty when not asked for.
    pub depth: Vec<f32>,
    /// Nearest and farthest depth there can be, metres: the camera's clipping planes.
    pub depth_range: [f64; 2],
    /// Instance per pixel, `height x width`: 0 is background, `i + 1` is entry `i` of
    /// [`RenderScene::instances`]; empty when not asked for.
    pub segmentation: Vec<u32>,
    /// Intrinsic matrix, 3 x 3 by rows, pixels; see [`Camera::intrinsics`].
    pub intrinsics: [f64; 9],
    /// Camera to world, 4 x 4 by rows, metres; camera axes x right, y down, z forward.
    pub camera_to_world: [f64; 16],
}

/// Where a body is in the world.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyPose {
    /// `robot/<body>` or `objects/<instance>`.
    pub name: String,
    /// Metres.
    pub position: [f64; 3],
    /// `xyzw`.
    pub quaternion: [f64; 4],
}

/// Renders states of one scene, of as many simulators as there are.
///
/// It has its own data and its own view of the model, so a simulator never waits
/// for it. The EGL context, one for all sizes, is made for the first picture and
/// belongs to the thread that asked for it.
pub struct Renderer {
    scene: RenderScene,
    device: EglDevice,
    // Before the physics, which it was made from.
    gl: Option<Gl>,
    physics: Physics,
    /// Alpha of every toggle's site when it is hidden.
    hidden_alpha: Vec<f32>,
}

impl Renderer {
    /// A renderer on the first EGL device that works.
    ///
    /// # Errors
    /// [`RenderError::Model`], [`RenderError::Physics`].
    pub fn new(scene: RenderScene) -> Result<Self, RenderError> {
        Self::on(scene, EglDevice::Any)
    }

    /// A renderer on a device of one's choice.
    ///
    /// # Errors
    /// As [`Self::new`]; whether the device is there shows at the first picture.
    pub fn on(scene: RenderScene, device: EglDevice) -> Result<Self, RenderError> {
        let model = scene.visual_model.get()?;
        let toggles = scene.toggle_sites.iter();
        let hidden_alpha = toggles.map(|&site| model.site_rgba()[site][3]).collect();
        let view = ModelView::new(model);
        Ok(Renderer { scene, device, gl: None, physics: Physics::new(view)?, hidden_alpha })
    }

    pub fn scene(&self) -> &RenderScene {
        &self.scene
    }

    /// A picture of `state` from a camera of the model, or one of its short names
    /// (`wrist`), equal to the benchmark's own.
    ///
    /// # Errors
    /// [`RenderError::UnknownCamera`]; [`RenderError::Size`] when a side is not 1 to
    /// 2048; [`RenderError::Egl`] when this machine cannot render;
    /// [`RenderError::State`] or [`RenderError::Physics`] when the state is not one of
    /// this scene.
    pub fn render(
        &mut self,
        state: &SimState,
        camera: &str,
        width: u32,
        height: u32,
        want: Want,
    ) -> Result<Picture, RenderError> {
        self.render_in(Quality::Full, state, camera, [width, height], want)
    }

    /// As [`Self::render`], in a quality of one's choice.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn render_in(
        &mut self,
        quality: Quality,
        state: &SimState,
        camera: &str,
        [width, height]: [u32; 2],
        want: Want,
    ) -> Result<Picture, RenderError> {
        let camera = self.camera(camera)?;
        let depth_range = self.depth_range();
        let mut drawing = self.draw(quality, state, &camera, [width, height])?;
        let mut depth = Vec::new();
        let mut color = drawing.color(want.depth.then_some(&mut depth));
        let elements = if want.segmentation { drawing.elements() } else { Vec::new() };

        let row = width as usize;
        flip(&mut color, 3 * row);
        flip(&mut depth, row);
        to_metres(&mut depth, depth_range);
        Ok(Picture {
            width,
            height,
            color,
            depth,
            depth_range,
            segmentation: self.labels(elements, row),
            intrinsics: camera.intrinsics(width, height),
            camera_to_world: camera.to_world(&self.physics),
        })
    }

    /// Only the instance labels of a picture, as in [`Picture::segmentation`].
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn segment(
        &mut self,
        state: &SimState,
        camera: &str,
        [width, height]: [u32; 2],
    ) -> Result<Vec<u32>, RenderError> {
        let camera = self.camera(camera)?;
        let elements = self.draw(Quality::Full, state, &camera, [width, height])?.elements();
        Ok(self.labels(elements, width as usize))
    }

    /// Where the robot's bodies, the objects and the fixtures are. For people who look at
    /// a recording: no agent may see it.
    ///
    /// # Errors
    /// [`RenderError::State`] or [`RenderError::Physics`] when the state is not one of
    /// this scene.
    pub fn body_poses(&mut self, state: &SimState) -> Result<Vec<BodyPose>, RenderError> {
        self.apply(state)?;
        let (positions, orientations) = (self.physics.xpos(), self.physics.xquat());
        let pose = |(name, body): &(String, usize)| {
            let [w, x, y, z] = orientations[*body];
            let (position, quaternion) = (positions[*body], [x, y, z, w]);
            BodyPose { name: name.clone(), position, quaternion }
        };
        Ok(self.scene.bodies.iter().map(pose).collect())
    }

    fn camera(&self, name: &str) -> Result<Camera, RenderError> {
        Camera::find(&self.scene.model, name).ok_or_else(|| RenderError::UnknownCamera {
            name: name.to_owned(),
            known: self.scene.cameras(),
        })
    }

    fn draw(
        &mut self,
        quality: Quality,
        state: &SimState,
        camera: &Camera,
        [width, height]: [u32; 2],
    ) -> Result<Drawing<'_>, RenderError> {
        if !SIDES.contains(&width) || !SIDES.contains(&height) {
            return Err(RenderError::Size { width, height });
        }
        self.apply(state)?;
        let gl = match &mut self.gl {
            Some(gl) => gl,
            none => none.insert(Gl::new(&self.physics, &self.device, width, height)?),
        };
        Ok(gl.draw(&mut self.physics, camera.id(), [width, height], quality))
    }

    fn apply(&mut self, state: &SimState) -> Result<(), RenderError> {
        let scene = &self.scene;
        same_count("fixtures", scene.fixture_bodies.len(), state.fixtures.len())?;
        same_count("visual toggles", scene.toggle_sites.len(), state.visuals.len())?;
        self.physics.set_integration_state(&state.integration)?;
        let view = self.physics.view_mut();
        for (&body, pose) in scene.fixture_bodies.iter().zip(&state.fixtures) {
            let [x, y, z, qw, qx, qy, qz] = *pose;
            view.set_body_pose(body, [x, y, z], [qw, qx, qy, qz]);
        }
        let toggles = scene.toggle_sites.iter().zip(&self.hidden_alpha);
        for ((&site, &hidden), &shown) in toggles.zip(&state.visuals) {
            // The reference toggles by 1 - alpha, from an alpha below zero.
            view.site_rgba_mut()[site][3] = if shown { 1.0 - hidden } else { hidden };
        }
        self.physics.kinematics();
        Ok(())
    }

    /// Labels of the model's elements, top row first.
    fn labels(&self, elements: Vec<Option<(i32, i32)>>, row: usize) -> Vec<u32> {
        let mut labels: Vec<u32> = elements
            .into_iter()
            .map(|element| match element {
                Some((kind, id)) if kind == mjtObj::mjOBJ_GEOM as i32 => {
                    self.scene.label_of_geom[id as usize]
                }
                _ => 0,
            })
            .collect();
        flip(&mut labels, row);
        labels
    }

    fn depth_range(&self) -> [f64; 2] {
        let model = self.physics.view().raw();
        [model.vis.map.znear, model.vis.map.zfar].map(|plane| f64::from(plane) * model.stat.extent)
    }
}

/// Turns numbers of the depth buffer into metres.
fn to_metres(depth: &mut [f32], [near, far]: [f64; 2]) {
    for value in depth {
        let buffer = f64::from(*value);
        *value = match buffer < 1.0 {
            true => (near / (1.0 - buffer * (1.0 - near / far))) as f32,
            false => f32::NAN,
        };
    }
}

fn same_count(what: &'static str, expected: usize, found: usize) -> Result<(), RenderError> {
    match expected == found {
        true => Ok(()),
        false => Err(RenderError::State { what, expected, found }),
    }
}

/// Turns a picture upside down: GL starts at the bottom.
fn flip<T>(pixels: &mut [T], row: usize) {
    let rows = pixels.len() / row;
    for top in 0..rows / 2 {
        let bottom = rows - 1 - top;
        let (upper, lower) = pixels.split_at_mut(bottom * row);
        upper[top * row..(top + 1) * row].swap_with_slice(&mut lower[..row]);
    }
}
