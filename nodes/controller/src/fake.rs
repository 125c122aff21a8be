//! A kinematic arm for tests: it goes where it is told, or a part of the way.

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
        pose.quaternion = multiply(from_rotation_vector(turn), pose.quaternion);
        pose.opening = (pose.opening - 0.01 * command.gripper).clamp(0.0, 0.08);
    }
}

fn from_rotation_vector(v: [f64; 3]) -> [f64; 4] {
    let angle = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    if angle == 0.0 {
        return [0.0, 0.0, 0.0, 1.0];
    }
    let s = (angle / 2.0).sin() / angle;
    [v[0] * s, v[1] * s, v[2] * s, (angle / 2.0).cos()]
}

fn multiply(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}
