//! The arm's kinematics: the hand goes where it is told, a little late.

/// Metres and radians of one unit of an action.
pub const POSITION_SCALE: f64 = 0.05;
pub const ROTATION_SCALE: f64 = 0.5;
/// Finger distance when open, metres, and its change in one control step.
pub const GRIPPER_OPEN: f64 = 0.08;
const GRIPPER_STEP: f64 = 0.016;

/// The shoulder above the base, and the length of upper arm and forearm, metres.
pub const SHOULDER: [f64; 3] = [0.0, 0.0, 0.3];
const LINK: f64 = 0.5;
/// How far the hand can be from the shoulder, metres; nearer or farther it would
/// have no elbow angle.
const REACH: std::ops::RangeInclusive<f64> = 0.15..=0.98;
/// The part of a command's velocity that one control step takes up.
const LAG: f64 = 0.6;

/// Where the arm is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Between the finger tips, metres.
    pub position: [f64; 3],
    /// Orientation of the hand, `xyzw`.
    pub quaternion: [f64; 4],
    /// Distance between the fingers, metres.
    pub opening: f64,
    /// Metres, then radians, of the last control step.
    velocity: [f64; 6],
}

impl Pose {
    /// In front of the base, fingers down and open; the seed moves it sideways.
    pub fn home(seed: u64) -> Self {
        let sideways = (seed % 7) as f64 * 0.02 - 0.06;
        Pose {
            position: [0.3, sideways, 0.4],
            quaternion: [1.0, 0.0, 0.0, 0.0],
            opening: GRIPPER_OPEN,
            velocity: [0.0; 6],
        }
    }

    /// One control step on.
    pub fn step(&self, action: [f64; 6], gripper: f64) -> Self {
        let scale = |i: usize| if i < 3 { POSITION_SCALE } else { ROTATION_SCALE };
        let mut velocity: [f64; 6] = std::array::from_fn(|i| {
            self.velocity[i] + LAG * (scale(i) * action[i] - self.velocity[i])
        });
        let mut position: [f64; 3] = std::array::from_fn(|i| self.position[i] + velocity[i]);
        if position[2] < 0.0 || !REACH.contains(&distance(position, SHOULDER)) {
            position = self.position;
            velocity[..3].fill(0.0);
        }
        let [.., rx, ry, rz] = velocity;
        Pose {
            position,
            quaternion: turned([rx, ry, rz], self.quaternion),
            opening: (self.opening - GRIPPER_STEP * gripper).clamp(0.0, GRIPPER_OPEN),
            velocity,
        }
    }

    /// Joint angles, radians: base, shoulder and elbow by inverse kinematics of
    /// two links, then the hand's roll, pitch and yaw, which its wrist keeps level
    /// with the world.
    pub fn joints(&self) -> [f64; 6] {
        let [x, y, z] = self.position;
        let (out, up) = (x.hypot(y), z - SHOULDER[2]);
        let span = out.hypot(up).min(2.0 * LINK);
        let inner = (span / (2.0 * LINK)).acos();
        let [qx, qy, qz, qw] = self.quaternion;
        [
            y.atan2(x),
            up.atan2(out) + inner,
            -2.0 * inner,
            (2.0 * (qw * qx + qy * qz)).atan2(1.0 - 2.0 * (qx * qx + qy * qy)),
            (2.0 * (qw * qy - qz * qx)).clamp(-1.0, 1.0).asin(),
            (2.0 * (qw * qz + qx * qy)).atan2(1.0 - 2.0 * (qy * qy + qz * qz)),
        ]
    }

    /// Where the elbow is, metres.
    pub fn elbow(&self) -> [f64; 3] {
        let [base, shoulder, ..] = self.joints();
        let out = LINK * shoulder.cos();
        [out * base.cos(), out * base.sin(), SHOULDER[2] + LINK * shoulder.sin()]
    }

    /// The finger tips, metres: apart along the hand's y axis.
    pub fn fingers(&self) -> [[f64; 3]; 2] {
        let [x, y, z, w] = self.quaternion;
        let side = [2.0 * (x * y - z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + x * w)];
        [0.5, -0.5]
            .map(|half| std::array::from_fn(|i| self.position[i] + half * self.opening * side[i]))
    }

    /// Everything that the next step depends on.
    pub fn numbers(&self) -> Vec<f64> {
        [&self.position[..], &self.quaternion, &[self.opening], &self.velocity].concat()
    }

    #[cfg(test)]
    pub fn from_numbers(numbers: &[f64]) -> Option<Self> {
        Some(Pose {
            position: numbers.get(..3)?.try_into().ok()?,
            quaternion: numbers.get(3..7)?.try_into().ok()?,
            opening: *numbers.get(7)?,
            velocity: numbers.get(8..)?.try_into().ok()?,
        })
    }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// A quaternion turned by a rotation vector in the world frame, radians.
fn turned([rx, ry, rz]: [f64; 3], [x, y, z, w]: [f64; 4]) -> [f64; 4] {
    let angle = (rx * rx + ry * ry + rz * rz).sqrt();
    if angle == 0.0 {
        return [x, y, z, w];
    }
    let s = (angle / 2.0).sin() / angle;
    let (ax, ay, az, aw) = (rx * s, ry * s, rz * s, (angle / 2.0).cos());
    let q = [
        aw * x + ax * w + ay * z - az * y,
        aw * y - ax * z + ay * w + az * x,
        aw * z + ax * y - ay * x + az * w,
        aw * w - ax * x - ay * y - az * z,
    ];
    let norm = q.iter().map(|v| v * v).sum::<f64>().sqrt();
    q.map(|v| v / norm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_links_meet_at_the_hand() {
        let mut pose = Pose::home(2);
        for step in 0..40 {
            pose =
                pose.step([0.3, if step % 2 == 0 { 0.8 } else { -0.1 }, -0.1, 0.2, 0.0, -0.3], 0.0);
            let elbow = pose.elbow();
            assert!((distance(SHOULDER, elbow) - LINK).abs() < 1e-9);
            assert!((distance(elbow, pose.position) - LINK).abs() < 1e-9, "{pose:?}");
        }
    }

    #[test]
    fn the_arm_stops_at_its_reach_and_above_the_floor() {
        let mut pose = Pose::home(0);
        for _ in 0..200 {
            pose = pose.step([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.0);
        }
        assert!(distance(pose.position, SHOULDER) <= *REACH.end());
        for _ in 0..200 {
            pose = pose.step([-0.1, 0.0, -1.0, 0.0, 0.0, 0.0], 0.0);
        }
        assert!(pose.position[2] >= 0.0 && REACH.contains(&distance(pose.position, SHOULDER)));
    }

    #[test]
    fn fingers_are_as_far_apart_as_they_say() {
        let pose = Pose::home(0).step([0.0, 0.0, 0.0, 0.3, 0.5, -0.7], 1.0);
        let [left, right] = pose.fingers();
        assert!((distance(left, right) - pose.opening).abs() < 1e-9);
    }
}
