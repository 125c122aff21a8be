//! The LIBERO simulator as a robot of the dataflow.

mod painter;

use std::sync::Arc;

use eyre::{Result, WrapErr as _};
use ruaflow_kit::{FrameReply, Robot, Settings, StepError};
use ruaflow_schemas::{
    Action, Arm, ArmState, Camera, Card, FrameRequest, Observation, Reset, State,
};

use self::painter::Painter;
use crate::camera;
use crate::data::Data;
use crate::gl;
use crate::scene::Scene;
use crate::sim::{self, HORIZON, SimError, Simulator};
use crate::state::SimState;

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
    ruaflow_kit::serve(Libero::default())
}

/// A Panda arm in a LIBERO scene, one episode after another.
#[derive(Default)]
pub struct Libero {
    /// The scene of the last episode, kept because compiling one takes a second.
    loaded: Option<Loaded>,
    painter: Painter,
    /// Whether it is known that there can be pictures, or that none are wanted.
    pictures_checked: bool,
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
        if !self.pictures_checked {
            check_pictures()?;
            self.pictures_checked = true;
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
        loaded.simulator.reset(reset.seed, reset.settle)?;
        loaded.states = vec![Arc::new(loaded.simulator.state())];
        Ok(loaded.card())
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
        let state = self.loaded.as_ref()?.states.last()?;
        Some(State {
            control_step: state.control_step,
            time_ns: nanoseconds(state.time),
            integration: state.integration.clone(),
            fixtures: state.fixtures.concat(),
            visuals: state.visuals.iter().map(|&shown| f64::from(u8::from(shown))).collect(),
            controller: state.controller.to_vec(),
            gripper: state.gripper.to_vec(),
            success: state.success,
        })
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

/// A run that is to have pictures says at once when there can be none.
fn check_pictures() -> Result<()> {
    match Settings::load()?.text("PICTURES").as_deref() {
        Some("off") => Ok(()),
        _ => gl::check().wrap_err("there can be no pictures; PICTURES=off does without"),
    }
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

fn nanoseconds(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9).round() as u64
}
