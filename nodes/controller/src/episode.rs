use ruaflow_schemas::{Arm, ArmState, Card, Observation};
use serde_json::{Value, json};

use crate::servo::Pose;

/// What the controller knows of the episode that runs.
#[derive(Debug)]
pub struct Episode {
    pub card: Card,
    /// What the robot measured last.
    pub last: Observation,
    /// What it measured at each recorded step: 0 is the initial scene, each call
    /// that changes the scene adds one.
    steps: Vec<Observation>,
    /// The last gripper command that was not 0.
    pub held_gripper: f64,
    next_action: u64,
}

/// There is no such recorded step.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("state(): there is no step {step}; steps go from 0 to {latest}, -1 is the latest")]
pub struct NoStep {
    step: i64,
    latest: u64,
}

impl Episode {
    pub fn new(card: Card) -> Self {
        let last = card.first.clone();
        let open = card
            .arms
            .first()
            .zip(last.arms.first())
            .is_none_or(|(arm, state)| state.gripper_opening >= arm.gripper_open / 2.0);
        Episode {
            steps: vec![last.clone()],
            last,
            card,
            held_gripper: if open { -1.0 } else { 1.0 },
            next_action: 1,
        }
    }

    /// The arm that the methods without an `arm` argument move.
    pub fn arm(&self) -> Option<&Arm> {
        self.card.arms.first()
    }

    pub fn pose(&self) -> Pose {
        self.last.arms.first().map_or_else(Pose::default, pose)
    }

    /// Number of the recorded step that is the latest.
    pub fn step(&self) -> u64 {
        self.steps.len() as u64 - 1
    }

    /// Makes the last observation a recorded step.
    pub fn record_step(&mut self) {
        self.steps.push(self.last.clone());
    }

    /// Takes a newer observation; tells whether it was one.
    pub fn observe(&mut self, observation: Observation) -> bool {
        let newer = observation.control_step > self.last.control_step;
        if newer {
            self.last = observation;
        }
        newer
    }

    pub fn take_action_id(&mut self) -> u64 {
        self.next_action += 1;
        self.next_action - 1
    }

    /// The fields of the robots' `State` records at a recorded step.
    pub fn state(&self, step: i64) -> Result<Value, NoStep> {
        let index = if step == -1 { self.step() } else { u64::try_from(step).unwrap_or(u64::MAX) };
        let Some(observation) = self.steps.get(usize::try_from(index).unwrap_or(usize::MAX)) else {
            return Err(NoStep { step, latest: self.step() });
        };
        // -1 is what the robot measured last, also while a motion runs.
        let observation = if step == -1 { &self.last } else { observation };
        let nothing = ArmState::default();
        let arm = observation.arms.first().unwrap_or(&nothing);
        Ok(json!({
            "step": index,
            "task": self.card.instruction,
            "joint_pos": arm.joint_pos,
            "eef_pos": arm.eef_pos,
            "eef_quat": arm.eef_quat,
            "gripper_qpos": arm.gripper_qpos,
            "gripper_opening": arm.gripper_opening,
            "object_names": self.card.object_names,
            "terminated": observation.terminated,
            "truncated": observation.truncated,
        }))
    }
}

pub fn pose(arm: &ArmState) -> Pose {
    Pose { position: arm.eef_pos, quaternion: arm.eef_quat, opening: arm.gripper_opening }
}
