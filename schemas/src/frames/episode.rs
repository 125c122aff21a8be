//! Planner → robot and back: how an episode begins.

use crate::frame::{frame, row};
use crate::frames::robot::{Observation, State};

frame! {
    /// Planner → robot: set the scene of an episode. Answered by a `card` with the same `id`.
    topic "reset" version 2
    pub struct Reset / ResetRef {
        /// Request id. A robot that has already answered it sends the same card again.
        id: String,
        /// Benchmark suite, such as `libero_spatial`; empty for a robot without suites.
        suite: String,
        /// Task index within the suite, from 0.
        task: u32,
        /// Seed. The scene depends on suite, task and seed alone.
        seed: u64,
        /// Control steps of zero action with an open gripper before control step 0.
        settle: u32,
        /// Control steps the episode may use before it is truncated; 0 leaves the robot's own limit.
        max_control_steps: u32,
        /// Recorded state to begin in, instead of the seed's beginning; there is no settling then, and control steps count from 0 again. A robot that can't refuses.
        state: Option<State>,
    }
}

row! {
    /// A camera of the robot.
    pub struct Camera / CameraRef {
        /// Name used in `frame_request`.
        name: String,
        /// Default picture width in pixels.
        width: u32,
        /// Default picture height in pixels.
        height: u32,
        /// Vertical field of view, radians.
        fov_y: f64,
        /// Whether metric depth is available.
        depth: bool,
        /// Whether the robot can picture any earlier control step again. Otherwise only the ends of calls are kept.
        any_step: bool,
    }
}

row! {
    /// An arm of the robot and what commands it takes.
    pub struct Arm / ArmRef {
        /// Name used in `action` and `observation`.
        name: String,
        /// Joint names, base to tip.
        joints: Vec<String>,
        /// Action kinds it takes: `osc_pose_delta`, `eef_pose`, `joint_position`.
        action_kinds: Vec<String>,
        /// Position of one unit of an `osc_pose_delta` action, metres.
        position_scale: f64,
        /// Rotation of one unit of an `osc_pose_delta` action, radians.
        rotation_scale: f64,
        /// Finger distance with the gripper open, metres.
        gripper_open: f64,
        /// Corners `[x0 y0 z0 x1 y1 z1]` of the box the end effector must stay in, metres; empty when the robot declares none.
        workspace: Option<[f64; 6]>,
    }
}

frame! {
    /// The task as the agent may know it. The robot answers `reset` with it; the planner passes it on with its budgets filled in. Nothing privileged (object poses, predicate state) is in it.
    topic "card" version 1
    pub struct Card / CardRef {
        /// Id of the `reset` it answers.
        id: String,
        /// Why the reset failed; empty when it did not. The other fields are then meaningless.
        error: String,
        /// Kind of robot, the key of its API: `libero`, `template`.
        robot: String,
        /// Benchmark suite.
        suite: String,
        /// Task index within the suite.
        task: u32,
        /// Seed.
        seed: u64,
        /// The task in words, as the benchmark gives it.
        instruction: String,
        /// Names of the movable objects in the scene.
        object_names: Vec<String>,
        /// Cameras.
        cameras: Vec<Camera>,
        /// Arms.
        arms: Vec<Arm>,
        /// Control steps per second.
        control_hz: f64,
        /// Clock of the robot's times: `sim` or `monotonic`.
        clock: String,
        /// Control steps after which the robot truncates the episode; 0 for never.
        max_control_steps: u32,
        /// Wall-clock budget of the episode, milliseconds; 0 for none. Set by the planner.
        budget_ms: u64,
        /// Whether a benchmark predicate judges the episode.
        judged: bool,
        /// Settling control steps that were made.
        settle: u32,
        /// What the robot measures at control step 0.
        first: Observation,
    }
}
