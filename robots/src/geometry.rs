//! Orientation quaternions (`xyzw`), and the angles of a gripper that points down.

use serde_json::{Map, Value};

/// The rotation about the direction of `vector` by its length, radians.
#[must_use]
pub fn quat_from_rotation_vector(vector: [f64; 3]) -> [f64; 4] {
    let angle = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    if angle == 0.0 {
        return [0.0, 0.0, 0.0, 1.0];
    }
    let s = (angle / 2.0).sin() / angle;
    [vector[0] * s, vector[1] * s, vector[2] * s, (angle / 2.0).cos()]
}

/// The rotation `b` followed by `a`.
#[must_use]
pub fn quat_product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// Rotation of the gripper about the world's z axis, radians in (-pi, pi].
///
/// `atan2(R10, R00)` of the rotation matrix of `quat` (`xyzw`).
#[must_use]
pub fn eef_yaw(quat: [f64; 4]) -> f64 {
    let [x, y, z, w] = quat;
    (2.0 * (x * y + z * w)).atan2(1.0 - 2.0 * (y * y + z * z))
}

/// Tilt of the gripper, radians in (-pi, pi]: 0 points straight down.
///
/// `atan2(R12, -R22)` of the rotation matrix of `quat` (`xyzw`).
#[must_use]
pub fn eef_pitch(quat: [f64; 4]) -> f64 {
    let [x, y, z, w] = quat;
    (2.0 * (y * z - x * w)).atan2(2.0 * (x * x + y * y) - 1.0)
}

pub(crate) fn yaw_of_record(values: &Map<String, Value>) -> Option<f64> {
    quat_of_record(values).map(eef_yaw)
}

pub(crate) fn pitch_of_record(values: &Map<String, Value>) -> Option<f64> {
    quat_of_record(values).map(eef_pitch)
}

fn quat_of_record(values: &Map<String, Value>) -> Option<[f64; 4]> {
    let items = values.get("eef_quat")?.as_array()?;
    let numbers: Option<Vec<f64>> = items.iter().map(Value::as_f64).collect();
    numbers?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_4;

    use super::*;

    fn about(axis: [f64; 3], angle: f64) -> [f64; 4] {
        quat_from_rotation_vector(axis.map(|x| x * angle))
    }

    #[test]
    fn a_gripper_straight_down_has_no_pitch_and_turns_about_z() {
        let down = about([1.0, 0.0, 0.0], std::f64::consts::PI);
        assert!(eef_pitch(down).abs() < 1e-12);
        assert!(eef_yaw(down).abs() < 1e-12);
        let turned = quat_product(about([0.0, 0.0, 1.0], FRAC_PI_4), down);
        assert!((eef_yaw(turned) - FRAC_PI_4).abs() < 1e-12);
        assert!(eef_pitch(turned).abs() < 1e-12);
    }

    #[test]
    fn tilting_about_x_is_the_pitch() {
        let down = about([1.0, 0.0, 0.0], std::f64::consts::PI);
        let tilted = quat_product(about([1.0, 0.0, 0.0], 0.3), down);
        assert!((eef_pitch(tilted).abs() - 0.3).abs() < 1e-12);
    }
}
