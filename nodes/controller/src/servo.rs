//! The servo laws: from an error to one control step's command.
//!
//! Numbers are those of RPent's LIBERO primitives (`robots/libero/tools.py`),
//! so that a program written for them moves the robot the same way here.

use std::f64::consts::{PI, TAU};

/// Rotation that a full action of 1.0 is taken to command, radians. Smaller than
/// what the robot's controller makes of it (0.5 rad): the servo leans into the
/// controller's compliance.
pub const ROTATION_SCALE: f64 = 0.10;

/// What the servos look at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pose {
    /// End-effector position in the world, metres.
    pub position: [f64; 3],
    /// End-effector orientation, `xyzw`.
    pub quaternion: [f64; 4],
    /// Distance between the fingers, metres.
    pub opening: f64,
}

/// One control step's command: an `osc_pose_delta` action.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Command {
    /// `[dx dy dz rx ry rz]`, each in [-1, 1].
    pub values: [f64; 6],
    pub gripper: f64,
}

/// Position part: the error cut to `step_clip` metres per axis, in units of
/// `scale` metres.
pub fn translate(from: [f64; 3], to: [f64; 3], step_clip: f64, scale: f64) -> [f64; 3] {
    std::array::from_fn(|i| clip(clip(to[i] - from[i], step_clip) / scale, 1.0))
}

/// Rotation part about one axis: the error cut to `step_clip` radians.
pub fn rotate(error: f64, step_clip: f64) -> f64 {
    clip(clip(error, step_clip) / ROTATION_SCALE, 1.0)
}

/// The turn from one angle to another the short way, radians in [-pi, pi).
pub fn turn(from: f64, to: f64) -> f64 {
    (to - from + PI).rem_euclid(TAU) - PI
}

pub fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Unlike `f64::clamp`, takes a limit below zero without a panic.
fn clip(value: f64, limit: f64) -> f64 {
    value.max(-limit).min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len()
            && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn each_axis_is_clipped_by_itself() {
        assert!(near(&translate([0.0; 3], [0.10, -0.01, 0.0], 0.025, 0.05), &[0.5, -0.2, 0.0]));
        assert_eq!(translate([0.0; 3], [1.0, -1.0, 0.06], 0.2, 0.05), [1.0, -1.0, 1.0]);
    }

    #[test]
    fn a_rotation_saturates_at_a_tenth_of_a_radian() {
        assert!(near(
            &[rotate(0.5, 0.10), rotate(-0.5, 0.08), rotate(0.03, 0.10)],
            &[1.0, -0.8, 0.3]
        ));
        assert_eq!(rotate(0.5, 0.2), 1.0);
    }

    #[test]
    fn a_turn_takes_the_short_way() {
        assert!((turn(3.0, -3.0) - (TAU - 6.0)).abs() < 1e-12);
        assert!((turn(-3.0, 3.0) - (6.0 - TAU)).abs() < 1e-12);
        assert!((turn(0.0, 5.0 * TAU + 0.1) - 0.1).abs() < 1e-9);
        assert_eq!(turn(0.0, PI), -PI);
    }
}
