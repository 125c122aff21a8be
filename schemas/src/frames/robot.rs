//! Controller → robot and back: one action, one observation.

use crate::frame::{frame, row};

frame! {
    /// Controller → robot: the command of one control step. Answered by an `observation` with `action_id`, or by an `event` of kind `refused` that names it.
    topic "action" version 1
    pub struct Action / ActionRef {
        /// Action id, unique within the episode and increasing.
        id: u64,
        /// Arm the command is for.
        arm: String,
        /// `osc_pose_delta`: values are `[dx dy dz rx ry rz]` in units of the card's scales, each in [-1, 1], rotation as an axis-angle in the world frame. `eef_pose`: `[x y z qx qy qz qw]`. `joint_position`: radians per joint. `base_velocity`: `[vx vy wz]`.
        kind: String,
        /// Values of the command; units by `kind`.
        values: Vec<f64>,
        /// Gripper command in [-1, 1]: -1 opens, +1 closes.
        gripper: f64,
    }
}

row! {
    /// Proprioception of one arm.
    pub struct ArmState / ArmStateRef {
        /// Name of the arm.
        name: String,
        /// Joint positions, radians.
        joint_pos: Vec<f64>,
        /// Joint velocities, radians per second.
        joint_vel: Vec<f64>,
        /// End-effector position in the world, metres.
        eef_pos: [f64; 3],
        /// End-effector orientation in the world, `xyzw`.
        eef_quat: [f64; 4],
        /// Finger joint positions, metres.
        gripper_qpos: Vec<f64>,
        /// Distance between the fingers, metres.
        gripper_opening: f64,
    }
}

frame! {
    /// Robot → everyone: what the robot measures after a control step.
    topic "observation" version 1
    pub struct Observation / ObservationRef {
        /// Control steps made since the episode began; 0 is the initial scene.
        control_step: u64,
        /// Id of the action that led here; 0 before the first.
        action_id: u64,
        /// Time of the measurement, nanoseconds on the card's clock.
        time_ns: u64,
        /// One entry per arm, in the card's order.
        arms: Vec<ArmState>,
        /// Base pose `[x y z qx qy qz qw]` in the world; empty for a fixed base.
        base_pose: Option<[f64; 7]>,
        /// The episode is over because the task is solved (latched).
        terminated: bool,
        /// The episode is over because its control steps are used up (latched).
        truncated: bool,
        /// The benchmark's own predicate has fired (latched). Always false for a robot without a judge.
        success: bool,
    }
}

frame! {
    /// Robot → recorder: the simulator's whole state at a control step, enough to resume bit for bit and to render the step later. Recorded, not sent live.
    topic "state" version 1
    pub struct State / StateRef {
        /// Control step the state belongs to.
        control_step: u64,
        /// Simulated time, nanoseconds.
        time_ns: u64,
        /// Integration state (MuJoCo `mjSTATE_INTEGRATION`): positions, velocities, warm start, controls and the like.
        integration: Vec<f64>,
        /// Poses `[x y z qw qx qy qz]` of the fixtures drawn at reset, one after the other in the scene's fixture order (MuJoCo body frames, hence `wxyz`).
        fixtures: Vec<f64>,
        /// Visual toggles (a stove's flame), one per toggle in the scene's order: 0 hidden, 1 shown.
        visuals: Vec<f64>,
        /// Internals of the arm controller.
        controller: Vec<f64>,
        /// Internals of the gripper ramp.
        gripper: Vec<f64>,
        /// The success latch.
        success: bool,
    }
}
