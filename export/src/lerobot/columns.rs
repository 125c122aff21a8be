//! The numbers of an episode as a dataset has them: vectors row by row, at its rate.

use std::collections::BTreeMap;

use ruaflow_schemas::{Action, ArmState};
use serde::{Deserialize, Serialize};

use super::ledger::Entry;
use super::stats::Stats;
use crate::{Episode, ExportError};

pub(super) const STATE: &str = "observation.state";
pub(super) const JOINTS: &str = "observation.joint_pos";
pub(super) const ACTION: &str = "action";
pub(super) const DONE: &str = "next.done";
pub(super) const SUCCESS: &str = "next.success";

/// The feature of a camera.
pub(super) fn image(camera: &str) -> String {
    format!("observation.images.{camera}")
}

/// What a robot's numbers are called. All episodes of a dataset have one layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Layout {
    pub robot: String,
    pub control_hz: f64,
    /// Kind of its commands, as in an `action`.
    pub action_kind: String,
    pub action: Vec<String>,
    pub state: Vec<String>,
    pub joints: Vec<String>,
}

impl Layout {
    pub fn of(episode: &Episode) -> Result<Self, ExportError> {
        let (first, arm) = (&episode.actions[0], &episode.card.arms[0]);
        let measured = &episode.observations[0].arms[0];
        let mut action: Vec<String> = match first.kind.as_str() {
            "osc_pose_delta" => named(["dx", "dy", "dz", "rx", "ry", "rz"]),
            "eef_pose" => named(["x", "y", "z", "qx", "qy", "qz", "qw"]),
            "joint_position" => arm.joints.clone(),
            "base_velocity" => named(["vx", "vy", "wz"]),
            _ => (0..first.values.len()).map(|n| format!("value_{n}")).collect(),
        };
        let odd = episode.actions.iter().find(|row| {
            row.kind != first.kind || row.values.len() != action.len() || row.arm != first.arm
        });
        if let Some(odd) = odd {
            return Err(episode.refused(format!(
                "action {} is {} numbers of {:?} for {:?}, the first one {} of {:?} for {:?}",
                odd.id,
                odd.values.len(),
                odd.kind,
                odd.arm,
                action.len(),
                first.kind,
                first.arm
            )));
        }
        let sizes = |arm: &ArmState| (arm.joint_pos.len(), arm.gripper_qpos.len());
        let expected = (arm.joints.len(), measured.gripper_qpos.len());
        if let Some(odd) = episode.observations.iter().find(|row| sizes(&row.arms[0]) != expected) {
            return Err(episode.refused(format!(
                "control step {} measures another number of joints than the robot has",
                odd.control_step
            )));
        }
        action.push("gripper".to_owned());
        let mut state = named(["x", "y", "z", "rx", "ry", "rz"]);
        state.extend((0..measured.gripper_qpos.len()).map(|n| format!("finger_{n}")));
        Ok(Layout {
            robot: episode.card.robot.clone(),
            control_hz: episode.card.control_hz,
            action_kind: first.kind.clone(),
            action,
            state,
            joints: arm.joints.clone(),
        })
    }
}

fn named<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

/// An episode's rows.
pub(super) struct Columns {
    pub fps: u32,
    /// The control step whose picture a row has.
    pub steps: Vec<u64>,
    pub vectors: Vec<Vector>,
    /// Whether the task was solved after a row's action.
    pub success: Vec<bool>,
}

/// A feature with several numbers a row.
pub(super) struct Vector {
    pub feature: &'static str,
    pub width: usize,
    /// Row after row.
    pub values: Vec<f32>,
}

impl Columns {
    pub fn of(episode: &Episode, fps: u32) -> Result<Self, ExportError> {
        let stride = stride(episode.card.control_hz, fps)?;
        let windows = || episode.actions.chunks(stride).zip(episode.observations.chunks(stride));
        let arms = || windows().map(|(_, rows)| &rows[0].arms[0]);
        // The observation after a window is the first of the next one, or the last of all.
        let after = |row: usize| {
            let last = episode.observations.len() - 1;
            &episode.observations[((row + 1) * stride).min(last)]
        };
        let mut vectors = vec![
            Vector::new(ACTION, windows().map(|(actions, _)| command(actions))),
            Vector::new(STATE, arms().map(state)),
            Vector::new(JOINTS, arms().map(|arm| single(&arm.joint_pos))),
        ];
        // A robot that measures no joints.
        vectors.retain(|vector| vector.width > 0);
        Ok(Columns {
            fps,
            steps: windows().map(|(_, rows)| rows[0].control_step).collect(),
            vectors,
            success: windows().enumerate().map(|(row, _)| after(row).success).collect(),
        })
    }

    pub fn rows(&self) -> usize {
        self.steps.len()
    }

    /// Seconds since the episode began.
    pub fn timestamps(&self) -> impl Iterator<Item = f32> {
        let fps = f64::from(self.fps);
        (0..self.rows()).map(move |row| (row as f64 / fps) as f32)
    }

    pub fn done(&self) -> impl Iterator<Item = bool> {
        let rows = self.rows();
        (0..rows).map(move |row| row + 1 == rows)
    }

    /// Statistics of everything but the pictures.
    pub fn stats(&self, entry: &Entry) -> BTreeMap<String, Stats> {
        let mut all: BTreeMap<String, Stats> = BTreeMap::new();
        for vector in &self.vectors {
            let values: Vec<f64> = vector.values.iter().copied().map(f64::from).collect();
            all.insert(vector.feature.to_owned(), Stats::of(&values, vector.width));
        }
        let flag = |flag: bool| f64::from(u8::from(flag));
        let rows = 0..entry.rows;
        let mut one = |feature: &str, values: Vec<f64>| {
            all.insert(feature.to_owned(), Stats::of(&values, 1));
        };
        one("timestamp", self.timestamps().map(f64::from).collect());
        one("frame_index", rows.clone().map(|row| row as f64).collect());
        one("episode_index", rows.clone().map(|_| entry.index as f64).collect());
        one("index", rows.clone().map(|row| (entry.from + row) as f64).collect());
        one("task_index", rows.map(|_| entry.task as f64).collect());
        one(DONE, self.done().map(flag).collect());
        one(SUCCESS, self.success.iter().copied().map(flag).collect());
        all
    }
}

impl Vector {
    fn new(feature: &'static str, rows: impl Iterator<Item = Vec<f32>>) -> Self {
        let rows: Vec<Vec<f32>> = rows.collect();
        let width = rows.first().map_or(0, Vec::len);
        Vector { feature, width, values: rows.concat() }
    }
}

/// Control steps a row.
fn stride(control_hz: f64, fps: u32) -> Result<usize, ExportError> {
    let stride = control_hz / f64::from(fps);
    if fps == 0 || stride < 1.0 || stride.fract() != 0.0 {
        return Err(ExportError::Rate { fps, control_hz });
    }
    Ok(stride as usize)
}

/// One command for several control steps: of relative ones the mean, so that holding it
/// for as long makes the same motion; of absolute ones the last. The gripper's last.
fn command(actions: &[Action]) -> Vec<f32> {
    let Some(last) = actions.last() else { return Vec::new() };
    let mut values = last.values.clone();
    if !matches!(last.kind.as_str(), "eef_pose" | "joint_position") {
        for (at, value) in values.iter_mut().enumerate() {
            let sum: f64 = actions.iter().map(|action| action.values[at]).sum();
            *value = sum / actions.len() as f64;
        }
    }
    values.push(last.gripper);
    single(&values)
}

/// End effector and fingers, as LIBERO's own datasets have them: position, rotation as
/// an axis-angle vector, finger joints.
fn state(arm: &ArmState) -> Vec<f32> {
    let mut values = arm.eef_pos.to_vec();
    values.extend(axis_angle(arm.eef_quat));
    values.extend(&arm.gripper_qpos);
    single(&values)
}

/// Rotation vector of an `xyzw` quaternion, radians. Its sign is left as it is, for then
/// a hand that points straight down does not jump between half a turn and minus half.
/// Source: robosuite's `quat2axisangle`.
fn axis_angle([x, y, z, w]: [f64; 4]) -> [f64; 3] {
    let w = w.clamp(-1.0, 1.0);
    let sine = (1.0 - w * w).sqrt();
    if sine < 1e-9 {
        return [0.0; 3];
    }
    let scale = 2.0 * w.acos() / sine;
    [x, y, z].map(|part| part * scale)
}

fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use ruaflow_schemas::{Arm, Card, Observation};

    use super::*;
    use crate::Source;

    /// An episode of `steps` actions at 20 Hz; action `k` moves x by k/100 of a unit.
    pub fn episode(run: &str, steps: u64, instruction: &str) -> Episode {
        let arm = Arm {
            name: "panda".to_owned(),
            joints: (1..=7).map(|n| format!("joint{n}")).collect(),
            ..Arm::default()
        };
        let card = Card {
            robot: "libero".to_owned(),
            instruction: instruction.to_owned(),
            control_hz: 20.0,
            arms: vec![arm],
            ..Card::default()
        };
        let observation = |step: u64| Observation {
            control_step: step,
            action_id: step,
            arms: vec![ArmState {
                name: "panda".to_owned(),
                joint_pos: vec![step as f64; 7],
                joint_vel: vec![0.0; 7],
                eef_pos: [step as f64, 0.0, 0.5],
                eef_quat: [1.0, 0.0, 0.0, 0.0],
                gripper_qpos: vec![0.04, -0.04],
                gripper_opening: 0.08,
            }],
            success: step == steps,
            ..Observation::default()
        };
        let action = |step: u64| Action {
            id: step + 1,
            arm: "panda".to_owned(),
            kind: "osc_pose_delta".to_owned(),
            values: vec![step as f64 / 100.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            gripper: if step < steps / 2 { -1.0 } else { 1.0 },
        };
        Episode {
            source: Source { run: run.to_owned(), episode: 0 },
            card,
            observations: (0..=steps).map(observation).collect(),
            actions: (0..steps).map(action).collect(),
        }
    }

    #[test]
    fn a_row_has_what_was_seen_before_its_action() {
        let columns = Columns::of(&episode("r", 5, "t"), 20).unwrap();
        assert_eq!(columns.steps, [0, 1, 2, 3, 4]);
        let [action, state, joints] = &columns.vectors[..] else { panic!("three vectors") };
        assert_eq!((action.width, state.width, joints.width), (7, 8, 7));
        assert_eq!(action.values[7 * 3], 0.03);
        assert_eq!(action.values[7 * 3 + 6], 1.0);
        assert_eq!(state.values[8 * 3], 3.0);
        assert_eq!(state.values[8 * 3 + 3], std::f32::consts::PI);
        assert_eq!(joints.values[7 * 4], 4.0);
        assert_eq!(columns.success, [false, false, false, false, true]);
        assert_eq!(columns.done().filter(|done| *done).count(), 1);
    }

    #[test]
    fn fewer_rows_hold_the_mean_of_relative_commands() {
        let columns = Columns::of(&episode("r", 5, "t"), 10).unwrap();
        assert_eq!(columns.steps, [0, 2, 4]);
        let action = &columns.vectors[0];
        let x: Vec<f32> = action.values.iter().step_by(7).copied().collect();
        assert_eq!(x, [0.005, 0.025, 0.04]);
        let gripper: Vec<f32> = action.values.iter().skip(6).step_by(7).copied().collect();
        assert_eq!(gripper, [-1.0, 1.0, 1.0]);
        assert_eq!(columns.timestamps().collect::<Vec<_>>(), [0.0, 0.1, 0.2]);
        assert_eq!(columns.success, [false, false, true]);
    }

    #[test]
    fn a_rate_must_divide_the_robots() {
        for fps in [0, 3, 7, 40] {
            let error = Columns::of(&episode("r", 5, "t"), fps).err().unwrap();
            assert!(error.to_string().contains("one of 20, 10, 5, 4, 2, 1"), "{error}");
        }
    }

    #[test]
    fn commands_of_two_kinds_are_refused() {
        let mut mixed = episode("r", 5, "t");
        mixed.actions[3].kind = "eef_pose".to_owned();
        let error = Layout::of(&mixed).unwrap_err().to_string();
        assert!(error.contains("action 4") && error.contains("eef_pose"), "{error}");
    }
}
