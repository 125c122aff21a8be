use ruaflow_robots::{GripperCommand, eef_pitch, eef_yaw};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Motion, Start, count, fields, report_stall};
use crate::servo::{Command, Pose, rotate, turn};
use crate::stall::{Progress, WINDOW};

/// The least that counts as progress, radians.
const LEAST_TURN: f64 = 5e-3;

#[derive(Debug, Deserialize)]
pub struct WristArguments {
    target_yaw: Option<f64>,
    delta_yaw: Option<f64>,
    #[serde(flatten)]
    common: CommonArguments,
}

#[derive(Debug, Deserialize)]
pub struct PitchArguments {
    target_pitch: Option<f64>,
    delta_pitch: Option<f64>,
    #[serde(flatten)]
    common: CommonArguments,
}

#[derive(Debug, Deserialize)]
struct CommonArguments {
    gripper: GripperCommand,
    max_steps: i64,
    tol: f64,
    step_clip: f64,
}

/// `rotate_wrist` and `rotate_pitch`: a servo about one axis, the position held
/// open loop. Like [`Reach`](super::Reach) it never gives up early.
#[derive(Debug)]
pub struct Rotate {
    axis: Axis,
    start: f64,
    target: f64,
    gripper: f64,
    step_clip: f64,
    tol: f64,
    max_steps: u32,
    /// Looks at the arm, the one that ended the motion included.
    used: u32,
    progress: Progress,
}

#[derive(Clone, Copy, Debug)]
enum Axis {
    Pitch,
    Yaw,
}

impl Axis {
    fn angle(self, pose: &Pose) -> f64 {
        match self {
            Axis::Pitch => eef_pitch(pose.quaternion),
            Axis::Yaw => eef_yaw(pose.quaternion),
        }
    }

    /// Its place in an action.
    fn index(self) -> usize {
        match self {
            Axis::Pitch => 3,
            Axis::Yaw => 5,
        }
    }
}

impl Rotate {
    pub fn wrist(arguments: WristArguments, from: &Start) -> Self {
        Rotate::new(Axis::Yaw, arguments.target_yaw, arguments.delta_yaw, arguments.common, from)
    }

    pub fn pitch(arguments: PitchArguments, from: &Start) -> Self {
        Rotate::new(
            Axis::Pitch,
            arguments.target_pitch,
            arguments.delta_pitch,
            arguments.common,
            from,
        )
    }

    /// The checks have made sure that one of `target` and `delta` is given.
    fn new(
        axis: Axis,
        target: Option<f64>,
        delta: Option<f64>,
        common: CommonArguments,
        from: &Start,
    ) -> Self {
        let start = axis.angle(&from.pose);
        let target = target.unwrap_or(start + delta.unwrap_or(0.0));
        Rotate {
            axis,
            start,
            target,
            gripper: from.gripper(common.gripper),
            step_clip: common.step_clip,
            tol: common.tol,
            max_steps: count(common.max_steps),
            used: 0,
            progress: Progress::new(turn(start, target), LEAST_TURN.min(common.step_clip)),
        }
    }

    fn error(&self, pose: &Pose) -> f64 {
        turn(self.axis.angle(pose), self.target)
    }

    fn stall_reason(&self, error: f64) -> Option<String> {
        let without = self.progress.without();
        (error.abs() >= self.tol && without >= WINDOW).then(|| {
            let least = self.progress.least();
            format!("{:.4} rad from the target; no progress of {least:.4} rad in the last {without} control steps", error.abs())
        })
    }
}

impl Motion for Rotate {
    fn next(&mut self, pose: &Pose) -> Option<Command> {
        if self.used >= self.max_steps {
            return None;
        }
        self.used += 1;
        let error = self.error(pose);
        if error.abs() < self.tol {
            return None;
        }
        let mut values = [0.0; 6];
        values[self.axis.index()] = rotate(error, self.step_clip);
        Some(Command { values, gripper: self.gripper })
    }

    fn observe(&mut self, pose: &Pose) {
        let error = self.error(pose);
        self.progress.observe(error);
    }

    fn outcome(&self, pose: &Pose) -> Map<String, Value> {
        let error = self.error(pose);
        let mut outcome = fields([
            ("start", self.start.into()),
            ("target", self.target.into()),
            ("final", self.axis.angle(pose).into()),
            ("final_err", error.into()),
            ("reached", (error.abs() <= self.tol).into()),
            ("steps_used", self.used.into()),
        ]);
        report_stall(&mut outcome, self.stall_reason(error));
        outcome
    }
}
