use ruaflow_robots::GripperCommand;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Motion, Start, count, fields};
use crate::servo::{Command, Pose};

const OPEN: f64 = -1.0;

#[derive(Debug, Deserialize)]
pub struct SetGripperArguments {
    gripper: GripperCommand,
    steps: i64,
}

#[derive(Debug, Deserialize)]
pub struct ReleaseArguments {
    max_steps: i64,
}

/// `set_gripper`: the arm gets no motion, the gripper its command.
#[derive(Debug)]
pub struct SetGripper {
    gripper: f64,
    steps: u32,
    made: u32,
}

impl SetGripper {
    pub fn new(arguments: SetGripperArguments, from: &Start) -> Self {
        SetGripper {
            gripper: from.gripper(arguments.gripper),
            steps: count(arguments.steps),
            made: 0,
        }
    }
}

impl Motion for SetGripper {
    fn next(&mut self, _: &Pose) -> Option<Command> {
        (self.made < self.steps).then_some(Command { values: [0.0; 6], gripper: self.gripper })
    }

    fn observe(&mut self, _: &Pose) {
        self.made += 1;
    }

    /// `steps` is what was made, fewer than asked for when the episode ended;
    /// the reference repeats its argument.
    fn outcome(&self, _: &Pose) -> Map<String, Value> {
        fields([("gripper", self.gripper.into()), ("steps", self.made.into())])
    }
}

/// `release`: opens in place; the end of the episode ends it early.
#[derive(Debug)]
pub struct Release {
    max_steps: u32,
    made: u32,
    start_opening: f64,
    peak_opening: f64,
}

impl Release {
    pub fn new(arguments: ReleaseArguments, from: &Start) -> Self {
        let opening = from.pose.opening;
        Release {
            max_steps: count(arguments.max_steps),
            made: 0,
            start_opening: opening,
            peak_opening: opening,
        }
    }
}

impl Motion for Release {
    fn next(&mut self, _: &Pose) -> Option<Command> {
        (self.made < self.max_steps).then_some(Command { values: [0.0; 6], gripper: OPEN })
    }

    fn observe(&mut self, pose: &Pose) {
        self.made += 1;
        self.peak_opening = self.peak_opening.max(pose.opening);
    }

    fn outcome(&self, pose: &Pose) -> Map<String, Value> {
        fields([
            ("steps_used", self.made.into()),
            ("start_gripper_opening", self.start_opening.into()),
            ("peak_gripper_opening", self.peak_opening.into()),
            ("final_gripper_opening", pose.opening.into()),
        ])
    }
}
