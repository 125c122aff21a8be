//! Operational-space control of the arm's end effector, as in robosuite 1.4.0.
//!
//! The command is a change of the end effector's pose. Joint torques follow from
//! the pose error through the arm's own inertia (Khatib 1987), with position and
//! orientation decoupled, plus a pull of the redundant joint towards the home
//! posture. Source of the gains, the order of operations and the quirks:
//! robosuite 1.4.0, `controllers/osc.py` and `utils/control_utils.py`.

use nalgebra::{Matrix3, SMatrix, SVector, Vector3, Vector6};

use crate::linalg::{self, gemm, gemv_n, gemv_t};

pub const ARM_JOINTS: usize = 7;

/// Change of position for a command of 1, metres.
pub const POSITION_SCALE: f64 = 0.05;
/// Change of orientation for a command of 1, radians.
pub const ROTATION_SCALE: f64 = 0.5;

const STIFFNESS: f64 = 150.0;
const POSTURE_STIFFNESS: f64 = 10.0;

pub type JointVector = SVector<f64, ARM_JOINTS>;
pub type JointMatrix = SMatrix<f64, ARM_JOINTS, ARM_JOINTS>;
pub type Jacobian = SMatrix<f64, 6, ARM_JOINTS>;

/// What the controller reads of the arm.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmReading {
    /// End-effector position in the world, metres.
    pub position: Vector3<f64>,
    /// End-effector orientation in the world.
    pub orientation: Matrix3<f64>,
    /// Linear velocity, m/s, then angular velocity, rad/s, in the world.
    pub velocity: Vector6<f64>,
    /// Joint positions, radians.
    pub joint_pos: JointVector,
    /// Joint velocities, rad/s.
    pub joint_vel: JointVector,
    /// End-effector Jacobian: three rows of translation, three of rotation.
    pub jacobian: Jacobian,
    /// Joint-space inertia of the arm.
    pub inertia: JointMatrix,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OscPose {
    goal_position: Vector3<f64>,
    goal_orientation: Matrix3<f64>,
    posture: JointVector,
    torque_limit: [(f64, f64); ARM_JOINTS],
}

impl OscPose {
    /// Holds the pose of `home`, whose joint positions are the posture to keep.
    /// `torque_limit` is `(low, high)` per joint, N m.
    pub fn new(home: &ArmReading, torque_limit: [(f64, f64); ARM_JOINTS]) -> Self {
        OscPose {
            goal_position: home.position,
            goal_orientation: home.orientation,
            posture: home.joint_pos,
            torque_limit,
        }
    }

    /// Aims at the pose of `reading`.
    pub fn hold(&mut self, reading: &ArmReading) {
        self.goal_position = reading.position;
        self.goal_orientation = reading.orientation;
    }

    /// Takes a command `[dx dy dz rx ry rz]`, each clipped to [-1, 1] and scaled.
    ///
    /// The position goal is the *present* position plus the change. The
    /// orientation goal stays what it was when the rotation is exactly zero.
    pub fn set_goal(&mut self, command: &[f64; 6], now: &ArmReading) {
        let scaled = |i: usize, scale: f64| command[i].clamp(-1.0, 1.0) * scale;
        let change = Vector3::from_fn(|i, _| scaled(i, POSITION_SCALE));
        let rotation = Vector3::from_fn(|i, _| scaled(i + 3, ROTATION_SCALE));
        if rotation.iter().any(|&r| r != 0.0) {
            self.goal_orientation = gemm(&rotation_matrix(&rotation), &now.orientation);
        }
        self.goal_position = now.position + change;
    }

    /// Joint torques, N m, within the limits. `bias` is what gravity and the
    /// present velocities ask of the joints.
    pub fn torque(&self, now: &ArmReading, bias: &JointVector) -> JointVector {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has both.
            return unsafe { self.torque_fused(now, bias) };
        }
        self.torque_anywhere(now, bias)
    }

    /// The same with the processor's own fused operations, a call each otherwise.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn torque_fused(&self, now: &ArmReading, bias: &JointVector) -> JointVector {
        self.torque_anywhere(now, bias)
    }

    #[inline(always)]
    fn torque_anywhere(&self, now: &ArmReading, bias: &JointVector) -> JointVector {
        let damping = 2.0 * STIFFNESS.sqrt();
        let linear = now.velocity.fixed_rows::<3>(0);
        let angular = now.velocity.fixed_rows::<3>(3);
        let force = (self.goal_position - now.position) * STIFFNESS + (-linear) * damping;
        let turn = orientation_error(&self.goal_orientation, &now.orientation);
        let moment = turn * STIFFNESS + (-angular) * damping;

        let jacobian = &now.jacobian;
        // Without an inverse a position is no number, which the physics will say.
        let inverse = linalg::inverse(&now.inertia).unwrap_or_else(SMatrix::zeros);
        let mobility = gemm(&gemm(jacobian, &inverse), &jacobian.transpose());
        let inertia_full = linalg::pseudo_inverse(&mobility);
        // A loop, so that the code for both is there once and stays in the cache.
        let mut inertia_of = [Matrix3::zeros(); 2];
        for (inertia, at) in inertia_of.iter_mut().zip([0, 3]) {
            *inertia = linalg::pseudo_inverse(&mobility.fixed_view::<3, 3>(at, at).into_owned());
        }
        let [inertia_linear, inertia_angular] = inertia_of;

        let mut wrench = [0.0; 6];
        let (linear, angular) = wrench.split_at_mut(3);
        gemv_n((3, 3), 1.0, |i, j| inertia_linear[(i, j)], |i| force[i], true, linear);
        gemv_n((3, 3), 1.0, |i, j| inertia_angular[(i, j)], |i| moment[i], true, angular);
        let mut torque = JointVector::zeros();
        gemv_t((6, ARM_JOINTS), |i, j| jacobian[(i, j)], |i| wrench[i], torque.as_mut_slice());
        torque += bias;

        let to_joints = gemm(&gemm(&inverse, &jacobian.transpose()), &inertia_full);
        let nullspace = JointMatrix::identity() - gemm(&to_joints, jacobian);
        let posture_damping = 2.0 * POSTURE_STIFFNESS.sqrt();
        let pull =
            (self.posture - now.joint_pos) * POSTURE_STIFFNESS - now.joint_vel * posture_damping;
        let size = (ARM_JOINTS, ARM_JOINTS);
        let (mut posture, mut hidden) = (JointVector::zeros(), JointVector::zeros());
        let inertia = |i: usize, j: usize| now.inertia[(i, j)];
        gemv_n(size, 1.0, inertia, |i| pull[i], true, posture.as_mut_slice());
        let transposed = |i: usize, j: usize| nullspace[(j, i)];
        gemv_n(size, 1.0, transposed, |i| posture[i], true, hidden.as_mut_slice());
        torque += hidden;

        JointVector::from_fn(|i, _| {
            let (low, high) = self.torque_limit[i];
            torque[i].clamp(low, high)
        })
    }

    /// The goal as numbers: position, then orientation by rows.
    pub fn goal(&self) -> [f64; 12] {
        let mut goal = [0.0; 12];
        goal[..3].copy_from_slice(self.goal_position.as_slice());
        goal[3..].copy_from_slice(self.goal_orientation.transpose().as_slice());
        goal
    }

    /// Puts back what [`Self::goal`] gave.
    pub fn set_goal_numbers(&mut self, goal: &[f64; 12]) {
        self.goal_position = Vector3::from_column_slice(&goal[..3]);
        self.goal_orientation = Matrix3::from_row_slice(&goal[3..]);
    }
}

/// Rotation matrix of an axis-angle vector.
///
/// robosuite computes it from a quaternion in single precision, and its compiled
/// code widens some of the terms to double before they are added. The rounding is
/// 1e-7, enough to part two trajectories, so it is repeated here.
fn rotation_matrix(axis_angle: &Vector3<f64>) -> Matrix3<f64> {
    let angle = axis_angle.norm();
    let axis = axis_angle / angle;
    let (sin, cos) = ((angle / 2.0).sin(), (angle / 2.0).cos());
    let [w, x, y, z] = [cos, axis.x * sin, axis.y * sin, axis.z * sin].map(|v| v as f32);
    // OpenBLAS's sdot: products in single precision, their sum in double.
    let norm = [w, x, y, z].iter().fold(0.0, |sum, &v| sum + f64::from(v * v)) as f32;
    let scale = (2.0 / f64::from(norm)).sqrt();
    let [w, x, y, z] = [w, x, y, z].map(|v| (f64::from(v) * scale) as f32);
    let diagonal = |a: f32, b: f32| 1.0 - f64::from(a * a) - f64::from(b * b);
    let plus = |a: f32, b: f32| f64::from(a + b);
    let minus = |a: f32, b: f32| f64::from(a - b);
    Matrix3::new(
        diagonal(y, z),
        minus(x * y, z * w),
        plus(x * z, y * w),
        plus(x * y, z * w),
        diagonal(x, z),
        minus(y * z, x * w),
        minus(x * z, y * w),
        plus(y * z, x * w),
        diagonal(x, y),
    )
}

/// Half the sum of the cross products of matching axes: for small errors, the
/// rotation vector from `current` to `desired`.
fn orientation_error(desired: &Matrix3<f64>, current: &Matrix3<f64>) -> Vector3<f64> {
    let cross = |i: usize| current.column(i).cross(&desired.column(i));
    (cross(0) + cross(1) + cross(2)) * 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: [(f64, f64); ARM_JOINTS] = [(-80.0, 80.0); ARM_JOINTS];

    /// An arm of no real robot, but well conditioned.
    fn reading() -> ArmReading {
        let wave = |i: usize, j: usize| ((3 * i + 5 * j + 1) as f64).sin();
        let half = JointMatrix::from_fn(wave);
        ArmReading {
            position: Vector3::new(0.4, -0.1, 1.1),
            orientation: rotation_matrix(&Vector3::new(3.0, 0.1, -0.2)),
            velocity: Vector6::zeros(),
            joint_pos: JointVector::from_fn(|i, _| 0.1 * i as f64 - 0.3),
            joint_vel: JointVector::zeros(),
            jacobian: Jacobian::from_fn(|i, j| wave(i + 2, j) + if i == j { 2.0 } else { 0.0 }),
            inertia: half * half.transpose() + JointMatrix::identity(),
        }
    }

    #[test]
    fn rotations_are_the_reference_s_to_the_bit() {
        // robosuite's compiled quat2mat(axisangle2quat(v)), printed with all digits.
        let recorded = [
            (
                [0.1, -0.2, 0.3],
                [
                    0.9357548039406538,
                    -0.3029327392578125,
                    -0.180540069937706,
                    0.28316497802734375,
                    0.950580617878586,
                    -0.1273345798254013,
                    0.21019171178340912,
                    0.06803131848573685,
                    0.9752903101034462,
                ],
            ),
            (
                [0.5, 0.5, 0.5],
                [
                    0.7652395963668823,
                    -0.3224220871925354,
                    0.5571824908256531,
                    0.5571824908256531,
                    0.7652395963668823,
                    -0.3224220871925354,
                    -0.3224220871925354,
                    0.5571824908256531,
                    0.7652395963668823,
                ],
            ),
            (
                [0.0, 0.0, -0.013],
                [
                    0.9999155011901166,
                    0.012999634258449078,
                    0.0,
                    -0.012999634258449078,
                    0.9999155011901166,
                    0.0,
                    0.0,
                    0.0,
                    1.0,
                ],
            ),
        ];
        for (axis_angle, expected) in recorded {
            let matrix = rotation_matrix(&Vector3::from(axis_angle));
            assert_eq!(matrix, Matrix3::from_row_slice(&expected), "{axis_angle:?}");
        }
    }

    #[test]
    fn at_rest_in_the_goal_only_the_bias_is_answered() {
        let now = reading();
        let bias = JointVector::from_fn(|i, _| i as f64 - 3.0);
        let torque = OscPose::new(&now, LIMIT).torque(&now, &bias);
        assert!((torque - bias).amax() < 1e-12, "{torque}");
    }

    #[test]
    fn an_error_is_pulled_back_with_unit_inertia_in_task_space() {
        // Decoupled: the acceleration along x is stiffness times the error in x, when
        // translation and rotation do not couple.
        let mut now = reading();
        now.jacobian = Jacobian::identity();
        let mut controller = OscPose::new(&now, LIMIT);
        controller.set_goal(&[0.4, 0.0, 0.0, 0.0, 0.0, 0.0], &now);
        now.inertia = JointMatrix::identity() * 2.0;
        let torque = controller.torque(&now, &JointVector::zeros());
        assert!((torque[0] - 2.0 * STIFFNESS * 0.4 * POSITION_SCALE).abs() < 1e-12, "{torque}");
        assert!(torque.rows(1, 6).amax() < 1e-12, "{torque}");
    }

    #[test]
    fn the_orientation_goal_changes_only_by_a_rotation() {
        let home = reading();
        let mut controller = OscPose::new(&home, LIMIT);
        let mut now = reading();
        now.position.x += 0.2;
        now.orientation = rotation_matrix(&Vector3::new(2.9, 0.0, 0.0));
        controller.set_goal(&[1.0, 0.0, -2.0, 0.0, -0.0, 0.0], &now);
        let [x, y, z, goal @ ..] = controller.goal();
        assert_eq!([x, y, z], [now.position.x + 0.05, now.position.y, now.position.z - 0.05]);
        assert_eq!(Matrix3::from_row_slice(&goal), home.orientation, "still home's");

        controller.set_goal(&[0.0, 0.0, 0.0, 0.0, 0.0, 1e-6], &now);
        let [_, _, _, goal @ ..] = controller.goal();
        let turned = Matrix3::from_row_slice(&goal);
        assert!((turned - now.orientation).amax() < 1e-6, "from the present one");
    }

    #[test]
    fn a_goal_survives_as_numbers() {
        let now = reading();
        let mut controller = OscPose::new(&now, LIMIT);
        controller.set_goal(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], &now);
        let mut other = OscPose::new(&now, LIMIT);
        other.set_goal_numbers(&controller.goal());
        assert_eq!(other, controller);
    }

    #[test]
    fn torque_keeps_its_limits_and_stays_finite_in_a_singular_posture() {
        let mut now = reading();
        let row = now.jacobian.row(0).into_owned();
        now.jacobian.set_row(1, &row);
        let mut controller = OscPose::new(&now, [(-1.0, 0.5); ARM_JOINTS]);
        controller.set_goal(&[1.0; 6], &now);
        let torque = controller.torque(&now, &JointVector::repeat(2.0));
        assert!(torque.iter().all(|t| (-1.0..=0.5).contains(t)), "{torque}");
        assert!(torque.amax() > 0.0);
    }
}
