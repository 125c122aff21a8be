//! The simulator: a LIBERO task that is reset, stepped, judged, saved and resumed.

use std::sync::Arc;

use crate::catalog::Articulation;
use crate::names::SceneObject;
use crate::physics::{ModelView, PhysicsError};
use crate::plant::{ControlState, Plant};
use crate::render::RenderScene;
use crate::scene::{Scene, SceneError};
use crate::state::SimState;

/// Control steps after which the reference refuses to go on.
pub const HORIZON: u64 = 1000;

/// The action that waits: no motion, gripper opening.
const WAIT: [f64; 7] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0];

#[derive(Debug, thiserror::Error)]
pub enum SimError {
    #[error("the episode is over: {0}; reset before stepping on")]
    Finished(Finish),
    #[error("action value {index} is {value}; every value must be a finite number")]
    NotFinite { index: usize, value: f64 },
    #[error("the state has {found} {what}, this scene has {expected}")]
    State { what: &'static str, expected: usize, found: usize },
    #[error(transparent)]
    Scene(#[from] SceneError),
    #[error(transparent)]
    Physics(#[from] PhysicsError),
}

/// Why an episode is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The goal held after a control step.
    Solved,
    /// The control steps are used up.
    Horizon,
}

impl std::fmt::Display for Finish {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Finish::Solved => "the task is solved",
            Finish::Horizon => "its control steps are used up",
        })
    }
}

/// What the robot measures, all of it at the end of the last control step.
///
/// The reference's own observations are older: robosuite 1.4.0 samples them in the
/// 24th of the 25 substeps, joints 2 ms and poses 4 ms before the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Radians.
    pub joint_pos: [f64; 7],
    /// Radians per second.
    pub joint_vel: [f64; 7],
    /// Point between the finger tips in the world, metres.
    pub eef_pos: [f64; 3],
    /// Orientation of the hand in the world, `xyzw`.
    pub eef_quat: [f64; 4],
    /// Finger joint positions, metres; the second counts down.
    pub gripper_qpos: [f64; 2],
    /// Simulated time, seconds.
    pub time: f64,
    /// Control steps since the episode began, settling not counted.
    pub control_step: u64,
    /// The task is solved (latched).
    pub terminated: bool,
    /// The control steps are used up (latched).
    pub truncated: bool,
    /// The benchmark's predicate has held after a control step (latched).
    pub success: bool,
}

/// One task, under control of its arm and judged by its goal.
pub struct Simulator {
    scene: Arc<Scene>,
    plant: Plant,
    /// Bodies of the fixtures.
    fixtures: Vec<usize>,
    toggles: Vec<Toggle>,
    visuals: Vec<bool>,
    control_step: u64,
    success: bool,
    /// What the last control step found of each goal condition.
    judged: Vec<bool>,
}

/// A site that shows while a knob is on: a stove's burner.
struct Toggle {
    site: usize,
    knob_qpos: Vec<usize>,
    articulation: Articulation,
}

impl Simulator {
    /// Must be reset before it is stepped. Takes a [`Scene`] of its own, or shares one
    /// with others: 10 MB each, instead of the model's size.
    ///
    /// # Errors
    /// [`SimError::Physics`] when there is no memory left.
    pub fn new(scene: impl Into<Arc<Scene>>) -> Result<Self, SimError> {
        let scene = scene.into();
        let view = ModelView::new(Arc::clone(&scene.model));
        let objects = &scene.names.objects;
        let fixtures = objects.iter().filter(|object| object.fixture).map(|object| object.body);
        let fixtures = fixtures.collect();
        let toggles: Vec<_> = objects.iter().filter_map(Toggle::of).collect();
        let visuals = vec![false; toggles.len()];
        let plant = Plant::new(view, &scene.names)?;
        Ok(Simulator {
            scene,
            plant,
            fixtures,
            toggles,
            visuals,
            control_step: 0,
            success: false,
            judged: Vec::new(),
        })
    }

    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Starts the episode of `seed`, as the reference does, and then waits `settle`
    /// control steps with the gripper opening; control step 0 comes after them.
    ///
    /// # Errors
    /// [`SimError::Scene`] when the seed is not below 2^32, or something finds no place.
    pub fn reset(&mut self, seed: u64, settle: u32) -> Result<(), SimError> {
        self.scene.reset(self.plant.physics_mut(), seed)?;
        self.plant.begin();
        for _ in 0..settle {
            self.plant.step(&WAIT)?;
        }
        self.control_step = 0;
        self.success = false;
        self.judged.clear();
        self.finish_step();
        Ok(())
    }

    /// One control step of 50 ms with `[dx dy dz rx ry rz gripper]`: each in [-1, 1]
    /// (clipped), position in units of 5 cm, rotation as an axis-angle vector in the
    /// world frame in units of 0.5 rad, gripper -1 opens and +1 closes.
    ///
    /// # Errors
    /// [`SimError::Finished`] once the task is solved or the horizon is reached, and
    /// [`SimError::NotFinite`]; nothing moves then. [`SimError::Physics`] when the
    /// simulation became unstable.
    pub fn step(&mut self, action: &[f64; 7]) -> Result<(), SimError> {
        if let Some(finish) = self.finished() {
            return Err(SimError::Finished(finish));
        }
        if let Some((index, &value)) = action.iter().enumerate().find(|(_, v)| !v.is_finite()) {
            return Err(SimError::NotFinite { index, value });
        }
        self.plant.step(action)?;
        self.control_step += 1;
        // Before the poses are brought up to date: the reference's judge sees those
        // of the last substep's beginning.
        self.judged = self.scene.goal.each(self.plant.physics());
        self.success = self.judged.iter().all(|&holds| holds);
        self.finish_step();
        Ok(())
    }

    /// Why no further step is taken, if so.
    pub fn finished(&self) -> Option<Finish> {
        if self.success {
            Some(Finish::Solved)
        } else if self.control_step >= HORIZON {
            Some(Finish::Horizon)
        } else {
            None
        }
    }

    pub fn observation(&self) -> Observation {
        let physics = self.plant.physics();
        let robot = self.plant.robot();
        let [w, x, y, z] = physics.xquat()[robot.hand_body];
        Observation {
            joint_pos: robot.arm_qpos.map(|address| physics.qpos()[address]),
            joint_vel: robot.arm_dof.map(|address| physics.qvel()[address]),
            eef_pos: physics.site_xpos()[robot.eef_site],
            eef_quat: [x, y, z, w],
            gripper_qpos: robot.finger_qpos.map(|address| physics.qpos()[address]),
            time: physics.time(),
            control_step: self.control_step,
            terminated: self.success,
            truncated: self.control_step >= HORIZON,
            success: self.success,
        }
    }

    pub fn state(&self) -> SimState {
        let physics = self.plant.physics();
        let control = self.plant.control_state();
        let mut controller = [0.0; 13];
        controller[..12].copy_from_slice(&control.goal);
        controller[12] = f64::from(u8::from(control.fresh));
        SimState {
            control_step: self.control_step,
            time: physics.time(),
            integration: physics.integration_state(),
            fixtures: self.fixtures.iter().map(|&body| physics.view().body_pose(body)).collect(),
            visuals: self.visuals.clone(),
            controller,
            gripper: control.fingers,
            success: self.success,
        }
    }

    /// Goes back, or on, to a state of this scene.
    ///
    /// # Errors
    /// [`SimError::State`] or [`SimError::Physics`] when it is not one of this scene;
    /// the simulation stays as it was.
    pub fn restore(&mut self, state: &SimState) -> Result<(), SimError> {
        same_count("fixtures", self.fixtures.len(), state.fixtures.len())?;
        same_count("visual toggles", self.toggles.len(), state.visuals.len())?;
        let physics = self.plant.physics_mut();
        physics.check_size(&state.integration)?;
        // Clears what a state does not hold, such as the counts of warnings.
        physics.reset();
        physics.set_integration_state(&state.integration)?;
        for (&body, pose) in self.fixtures.iter().zip(&state.fixtures) {
            let [x, y, z, qw, qx, qy, qz] = *pose;
            physics.view_mut().set_body_pose(body, [x, y, z], [qw, qx, qy, qz]);
        }
        physics.kinematics();
        let [goal @ .., fresh] = state.controller;
        let fingers = state.gripper;
        self.plant.set_control_state(&ControlState { goal, fresh: fresh != 0.0, fingers });
        self.visuals.clone_from(&state.visuals);
        self.control_step = state.control_step;
        self.success = state.success;
        self.judged.clear();
        Ok(())
    }

    /// Starts an episode in a recorded state; control steps count from 0 again.
    ///
    /// # Errors
    /// As [`Self::restore`].
    pub fn begin_at(&mut self, state: &SimState) -> Result<(), SimError> {
        self.restore(state)?;
        self.control_step = 0;
        Ok(())
    }

    /// What a renderer of this scene needs; it can go to another thread.
    pub fn render_scene(&self) -> RenderScene {
        let toggle_sites = self.toggles.iter().map(|toggle| toggle.site).collect();
        RenderScene::new(&self.scene, self.fixtures.clone(), toggle_sites)
    }

    /// What the last control step found of each goal condition, in the task's order;
    /// empty when there was none since the reset. For tests: no agent may see it.
    pub fn goal_conditions(&self) -> &[bool] {
        &self.judged
    }

    /// Position of an object or fixture in the world, metres. For tests and
    /// demonstrations: no agent may see it.
    pub fn thing_position(&self, name: &str) -> Option<[f64; 3]> {
        let object = self.scene.names.object(name)?;
        Some(self.plant.physics().xpos()[object.body])
    }

    /// Generalized positions of everything. For tests.
    pub fn qpos(&self) -> &[f64] {
        self.plant.physics().qpos()
    }

    /// The physics of the scene, for measurements.
    pub fn plant_mut(&mut self) -> &mut Plant {
        &mut self.plant
    }

    /// Brings the visual toggles and all poses up to date.
    fn finish_step(&mut self) {
        let qpos = self.plant.physics().qpos();
        for (visual, toggle) in self.visuals.iter_mut().zip(&self.toggles) {
            let on = |&address: &usize| toggle.articulation.is_on(qpos[address]);
            *visual = toggle.knob_qpos.iter().any(on);
        }
        self.plant.physics_mut().kinematics();
    }
}

fn same_count(what: &'static str, expected: usize, found: usize) -> Result<(), SimError> {
    match expected == found {
        true => Ok(()),
        false => Err(SimError::State { what, expected, found }),
    }
}

impl Toggle {
    fn of(object: &SceneObject) -> Option<Self> {
        let (site, articulation) = (object.burner?, object.category.articulation?);
        let knob_qpos = object.joints.iter().map(|joint| joint.qpos).collect();
        Some(Toggle { site, knob_qpos, articulation })
    }
}
