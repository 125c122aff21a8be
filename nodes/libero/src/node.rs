//! The LIBERO simulator as a robot of the dataflow.

mod album;
mod painter;

use std::collections::BTreeMap;
use std::sync::Arc;

use eyre::{Result, WrapErr as _};
use ruaflow_kit::{FrameReply, Robot, Settings, StepError};
use ruaflow_schemas::{
    Action, Arm, ArmState, Camera, Card, FrameRequest, Observation, Reset, State,
};

pub use self::painter::Painter;
use crate::camera;
use crate::data::Data;
use crate::egl::EglDevice;
use crate::scene::Scene;
use crate::sim::{self, HORIZON, SimError, Simulator};
use crate::state::{SimState, nanoseconds};

const ARM: &str = "panda";
const CONTROL_HZ: f64 = 20.0;
/// Metres and radians of one unit of an action, from robosuite's `osc_pose.json`.
const POSITION_SCALE: f64 = 0.05;
const ROTATION_SCALE: f64 = 0.5;
/// Finger distance when open, metres: each finger's joint ends at 0.04.
const GRIPPER_OPEN: f64 = 0.08;
/// Pixels a side, the benchmark's own.
const PICTURE_SIDE: u32 = 256;
const CAMERAS: [&str; 2] = ["agentview", "wrist"];

/// Runs the node until the run is over.
///
/// # Errors
/// As [`ruaflow_kit::serve`].
pub fn run() -> Result<()> {
    // SAFETY: nothing in this process uses MuJoCo yet.
    unsafe { crate::physics::log_to_tracing() };
    ruaflow_kit::serve(Libero::new(&Settings::load()?))
}

/// A Panda arm in a LIBERO scene, one episode after another.
pub struct Libero {
    /// The scene of the last episode, kept because compiling one takes a second.
    loaded: Option<Loaded>,
    painter: Painter,
    device: EglDevice,
    /// Whether it is not known yet that there can be pictures.
    check_pictures: bool,
}

impl Libero {
    /// With the settings `PICTURES` and `EGL_DEVICE`.
    pub fn new(settings: &Settings) -> Self {
        let device = EglDevice::parse(settings.text("EGL_DEVICE").as_deref());
        Libero {
            loaded: None,
            painter: Painter::new(device.clone()),
            device,
            check_pictures: settings.text("PICTURES").as_deref() != Some("off"),
        }
    }
}

struct Loaded {
    suite: String,
    task: u32,
    simulator: Simulator,
    /// The state at each control step of the episode, for pictures of any of them.
    states: Vec<Arc<SimState>>,
}

impl Loaded {
    fn load(suite: &str, task: u32) -> Result<Self> {
        let scene = Scene::load(&Data::locate()?, suite, task as usize)?;
        Ok(Loaded {
            suite: suite.to_owned(),
            task,
            simulator: Simulator::new(scene)?,
            states: Vec::new(),
        })
    }

    fn card(&self) -> Card {
        let scene = self.simulator.scene();
        let movable = scene.names.objects.iter().filter(|object| !object.fixture);
        let cameras = CAMERAS.iter().filter_map(|name| {
            let fov_y = camera::Camera::find(&scene.model, name)?.fov_y();
            let (width, height) = (PICTURE_SIDE, PICTURE_SIDE);
            Some(Camera {
                name: (*name).to_owned(),
                width,
                height,
                fov_y,
                depth: true,
                any_step: true,
            })
        });
        Card {
            robot: "libero".to_owned(),
            instruction: scene.task.instruction.clone(),
            object_names: movable.map(|object| object.name.clone()).collect(),
            cameras: cameras.collect(),
            arms: vec![Arm {
                name: ARM.to_owned(),
                joints: (1..=7).map(|i| format!("joint{i}")).collect(),
                action_kinds: vec!["osc_pose_delta".to_owned()],
                position_scale: POSITION_SCALE,
                rotation_scale: ROTATION_SCALE,
                gripper_open: GRIPPER_OPEN,
                workspace: None,
            }],
            control_hz: CONTROL_HZ,
            clock: "sim".to_owned(),
            max_control_steps: HORIZON as u32,
            judged: true,
            first: observation(&self.simulator.observation()),
            ..Card::default()
        }
    }
}

impl Robot for Libero {
    fn reset(&mut self, reset: &Reset) -> Result<Card> {
        if self.check_pictures {
            // A run that is to have pictures says at once when there can be none.
            let checked = self.device.check();
            checked.wrap_err("there can be no pictures; PICTURES=off does without")?;
            self.check_pictures = false;
        }
        let same = |loaded: &Loaded| loaded.suite == reset.suite && loaded.task == reset.task;
        let loaded = match self.loaded.take() {
            Some(loaded) if same(&loaded) => loaded,
            old => {
                // The old scene goes first: two of them are 0.6 GB.
                drop(old);
                self.painter.clear();
                let loaded = Loaded::load(&reset.suite, reset.task)?;
                self.painter.show(loaded.simulator.render_scene());
                loaded
            }
        };
        let loaded = self.loaded.insert(loaded);
        self.painter.forget_pictures();
        match &reset.state {
            None => loaded.simulator.reset(reset.seed, reset.settle)?,
            Some(state) => loaded.simulator.begin_at(&SimState::try_from(state)?)?,
        }
        loaded.states = vec![Arc::new(loaded.simulator.state())];
        Ok(loaded.card())
    }

    fn resumes(&self) -> bool {
        true
    }

    fn step(&mut self, action: &Action) -> Result<Observation, StepError> {
        let refused = |reason: &str| StepError::Refused(reason.to_owned());
        let loaded = self.loaded.as_mut().ok_or_else(|| refused("no scene"))?;
        let [dx, dy, dz, rx, ry, rz] = action.values[..] else {
            return Err(refused("an action has 6 values"));
        };
        match loaded.simulator.step(&[dx, dy, dz, rx, ry, rz, action.gripper]) {
            Ok(()) => {}
            Err(error @ (SimError::Finished(_) | SimError::NotFinite { .. })) => {
                return Err(refused(&error.to_string()));
            }
            Err(error) => return Err(StepError::Failed(error.to_string())),
        }
        loaded.states.push(Arc::new(loaded.simulator.state()));
        Ok(observation(&loaded.simulator.observation()))
    }

    fn state(&mut self) -> Option<State> {
        self.loaded.as_ref()?.states.last().map(|state| State::from(&**state))
    }

    fn versions(&self) -> BTreeMap<String, String> {
        let data = Data::locate().ok().and_then(|data| data.version());
        let mujoco = Some(mujoco_rs::mujoco_version().to_owned());
        // Sines and the like are those of the C library.
        let versions = [("mujoco", mujoco), ("libero-data", data), ("libc", libc_version())];
        let known = versions.into_iter().filter_map(|(name, version)| Some((name, version?)));
        known.map(|(name, version)| (name.to_owned(), version)).collect()
    }

    /// Simulated time stands still between actions, so there is nothing to hold.
    fn hold(&mut self) {}

    fn frame(&mut self, request: FrameRequest, reply: FrameReply) {
        let states = self.loaded.as_ref().map_or(&[][..], |loaded| &loaded.states);
        match usize::try_from(request.control_step).ok().and_then(|step| states.get(step)) {
            Some(state) => self.painter.paint(state.clone(), request, reply),
            None => reply.refuse("the scene has no such control step"),
        }
    }
}

#[cfg(target_env = "gnu")]
fn libc_version() -> Option<String> {
    // SAFETY: it gives a text that lives as long as the process.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    Some(format!("glibc {}", version.to_string_lossy()))
}

#[cfg(not(target_env = "gnu"))]
fn libc_version() -> Option<String> {
    None
}

fn observation(measured: &sim::Observation) -> Observation {
    let [left, right] = measured.gripper_qpos;
    Observation {
        control_step: measured.control_step,
        action_id: 0,
        time_ns: nanoseconds(measured.time),
        arms: vec![ArmState {
            name: ARM.to_owned(),
            joint_pos: measured.joint_pos.to_vec(),
            joint_vel: measured.joint_vel.to_vec(),
            eef_pos: measured.eef_pos,
            eef_quat: measured.eef_quat,
            gripper_qpos: vec![left, right],
            gripper_opening: left.abs() + right.abs(),
        }],
        base_pose: None,
        terminated: measured.terminated,
        truncated: measured.truncated,
        success: measured.success,
    }
}
