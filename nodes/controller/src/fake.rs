//! A kinematic arm for tests: it goes where it is told, or a part of the way.

use ruaflow_robots::{quat_from_rotation_vector, quat_product};

use crate::servo::{Command, Pose};

pub const START: [f64; 3] = [0.1, 0.0, 1.0];

#[derive(Clone, Debug)]
pub struct Arm {
    pub pose: Pose,
    /// Part of a commanded move that is made.
    pub gain: f64,
    /// Rotation that a full action makes, radians.
    pub turn_per_unit: f64,
    /// Where the arm is blocked along x.
    pub wall_x: Option<f64>,
}

impl Arm {
    /// An arm above the table, gripper down and open, that does what it is told.
    pub fn obeying() -> Self {
        let pose = Pose { position: START, quaternion: [1.0, 0.0, 0.0, 0.0], opening: 0.08 };
        Arm { pose, gain: 1.0, turn_per_unit: 0.10, wall_x: None }
    }

    pub fn step(&mut self, command: &Command) {
        let pose = &mut self.pose;
        for i in 0..3 {
            pose.position[i] += self.gain * 0.05 * command.values[i];
        }
        if let Some(wall) = self.wall_x {
            pose.position[0] = pose.position[0].min(wall);
        }
        let turn: [f64; 3] = std::array::from_fn(|i| command.values[3 + i] * self.turn_per_unit);
        pose.quaternion = quat_product(quat_from_rotation_vector(turn), pose.quaternion);
        pose.opening = (pose.opening - 0.01 * command.gripper).clamp(0.0, 0.08);
    }
}
