use ruaflow_robots::{GripperCommand, eef_pitch, eef_yaw};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Motion, Start, count, fields, report_stall};
use crate::servo::{Command, Pose, distance, rotate, translate, turn};
use crate::stall::{Progress, WINDOW};

/// The least that counts as progress: 1 mm, 5 mrad.
const LEAST_MOVE: f64 = 1e-3;
const LEAST_TURN: f64 = 5e-3;

#[derive(Debug, Deserialize)]
pub struct MoveToArguments {
    xyz: [f64; 3],
    gripper: GripperCommand,
    tol: f64,
    step_clip: f64,
    max_steps: i64,
    target_yaw: Option<f64>,
    /// Absent where the robot's table has no turning on the way.
    #[serde(default)]
    yaw_step_clip: f64,
    action_scale: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub struct MovePoseArguments {
    xyz: [f64; 3],
    target_pitch: Option<f64>,
    target_yaw: Option<f64>,
    gripper: GripperCommand,
    step_clip: f64,
    pitch_step: f64,
    yaw_step: f64,
    tol: f64,
    ori_tol: f64,
    max_steps: i64,
    action_scale: Option<f64>,
}

/// `move_to` and `move_pose`: a proportional servo to a position, turning on the
/// way when an angle is given.
///
/// It never gives up before `max_steps`: a push that sticks and comes loose is a
/// result, and the reference's step counts stay what they are.
#[derive(Debug)]
pub struct Reach {
    report: Report,
    target: [f64; 3],
    pitch: Option<Angle>,
    yaw: Option<Angle>,
    gripper: f64,
    step_clip: f64,
    scale: f64,
    tol: f64,
    /// Angles must be this near to end the motion; `None` lets them be.
    ori_tol: Option<f64>,
    max_steps: u32,
    /// Looks at the arm, the one that ended the motion included.
    used: u32,
    progress: Progress,
}

#[derive(Debug)]
enum Report {
    MoveTo { max_steps: i64 },
    MovePose,
}

#[derive(Debug)]
struct Angle {
    target: f64,
    step_clip: f64,
    progress: Progress,
}

impl Angle {
    fn new(target: f64, now: f64, step_clip: f64) -> Self {
        let progress = Progress::new(turn(now, target), LEAST_TURN.min(step_clip));
        Angle { target, step_clip, progress }
    }

    fn error(&self, now: f64) -> f64 {
        turn(now, self.target)
    }
}

impl Reach {
    pub fn move_to(arguments: MoveToArguments, from: &Start) -> Self {
        let MoveToArguments {
            xyz,
            gripper,
            tol,
            step_clip,
            max_steps,
            target_yaw,
            yaw_step_clip,
            action_scale,
        } = arguments;
        let now = eef_yaw(from.pose.quaternion);
        Reach {
            report: Report::MoveTo { max_steps },
            target: xyz,
            pitch: None,
            yaw: target_yaw.map(|target| Angle::new(target, now, yaw_step_clip)),
            gripper: from.gripper(gripper),
            step_clip,
            scale: action_scale.unwrap_or(from.position_scale),
            tol,
            ori_tol: None,
            max_steps: count(max_steps),
            used: 0,
            progress: Progress::new(distance(from.pose.position, xyz), LEAST_MOVE.min(step_clip)),
        }
    }

    pub fn move_pose(arguments: MovePoseArguments, from: &Start) -> Self {
        let a = arguments;
        let quaternion = from.pose.quaternion;
        Reach {
            report: Report::MovePose,
            target: a.xyz,
            pitch: a
                .target_pitch
                .map(|target| Angle::new(target, eef_pitch(quaternion), a.pitch_step)),
            yaw: a.target_yaw.map(|target| Angle::new(target, eef_yaw(quaternion), a.yaw_step)),
            gripper: from.gripper(a.gripper),
            step_clip: a.step_clip,
            scale: a.action_scale.unwrap_or(from.position_scale),
            tol: a.tol,
            ori_tol: Some(a.ori_tol),
            max_steps: count(a.max_steps),
            used: 0,
            progress: Progress::new(
                distance(from.pose.position, a.xyz),
                LEAST_MOVE.min(a.step_clip),
            ),
        }
    }

    fn errors(&self, pose: &Pose) -> (f64, f64, f64) {
        let pitch =
            self.pitch.as_ref().map_or(0.0, |angle| angle.error(eef_pitch(pose.quaternion)));
        let yaw = self.yaw.as_ref().map_or(0.0, |angle| angle.error(eef_yaw(pose.quaternion)));
        (distance(pose.position, self.target), pitch, yaw)
    }

    fn arrived(&self, (left, pitch, yaw): (f64, f64, f64)) -> bool {
        left < self.tol && self.ori_tol.is_none_or(|tol| pitch.abs() < tol && yaw.abs() < tol)
    }

    /// Only what may end the motion counts: `move_to` does not wait for its yaw.
    fn stall_reason(&self, pose: &Pose) -> Option<String> {
        let errors @ (left, pitch, yaw) = self.errors(pose);
        if self.arrived(errors) {
            return None;
        }
        let angles =
            [(&self.pitch, "pitch", pitch), (&self.yaw, "yaw", yaw)].map(|(angle, name, error)| {
                angle.as_ref().filter(|_| self.ori_tol.is_some()).map(|angle| (angle, name, error))
            });
        let watched =
            angles.iter().flatten().map(|(angle, ..)| &angle.progress).chain([&self.progress]);
        let without = watched.map(Progress::without).min().filter(|&without| without >= WINDOW)?;
        let mut text = format!("{left:.4} m from the target");
        for (_, name, error) in angles.iter().flatten() {
            text += &format!(", {name} off by {error:.4} rad");
        }
        Some(format!(
            "{text}; no progress of {:.4} m in the last {without} control steps",
            self.progress.least()
        ))
    }
}

impl Motion for Reach {
    fn next(&mut self, pose: &Pose) -> Option<Command> {
        if self.used >= self.max_steps {
            return None;
        }
        self.used += 1;
        let errors @ (_, pitch, yaw) = self.errors(pose);
        if self.arrived(errors) {
            return None;
        }
        let [dx, dy, dz] = translate(pose.position, self.target, self.step_clip, self.scale);
        let rx = self.pitch.as_ref().map_or(0.0, |angle| rotate(pitch, angle.step_clip));
        let rz = self.yaw.as_ref().map_or(0.0, |angle| rotate(yaw, angle.step_clip));
        Some(Command { values: [dx, dy, dz, rx, 0.0, rz], gripper: self.gripper })
    }

    fn observe(&mut self, pose: &Pose) {
        let (left, pitch, yaw) = self.errors(pose);
        self.progress.observe(left);
        if let Some(angle) = &mut self.pitch {
            angle.progress.observe(pitch);
        }
        if let Some(angle) = &mut self.yaw {
            angle.progress.observe(yaw);
        }
    }

    fn outcome(&self, pose: &Pose) -> Map<String, Value> {
        let left = distance(pose.position, self.target);
        let mut outcome = match self.report {
            Report::MoveTo { max_steps } => {
                fields([("target_xyz", json!(self.target)), ("max_steps", max_steps.into())])
            }
            Report::MovePose => fields([("final_pitch", eef_pitch(pose.quaternion).into())]),
        };
        outcome.extend(fields([
            ("final_eef_pos", json!(pose.position)),
            ("final_dist_m", left.into()),
            ("reached", (left <= self.tol).into()),
            ("steps_used", self.used.into()),
        ]));
        report_stall(&mut outcome, self.stall_reason(pose));
        outcome
    }

    fn target(&self) -> Option<[f64; 3]> {
        Some(self.target)
    }
}
