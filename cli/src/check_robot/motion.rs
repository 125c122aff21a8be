//! Motion: holding still, each kind of action, the gripper.

use eyre::Result;
use ruaflow_schemas::{Action, Arm, ArmState, Card, Observation};

use super::bench::{Answer, Bench};
use super::card;
use super::report::{Found, Report};

const HOLD_STEPS: u64 = 10;
/// What an arm may drift while it is told to hold.
const HOLD_TOLERANCE: f64 = 0.01;
/// How far a moving action is to go, and in how many control steps.
const STROKE: f64 = 0.05;
const STROKE_STEPS: u64 = 10;
const TURN: f64 = 0.2;
/// The least part of what was told that must be made, and the most of what was
/// made that may go aside. A compliant controller makes little of small steps:
/// LIBERO's a fifth.
const LEAST_PART: f64 = 0.1;
const MOST_ASIDE: f64 = 0.5;
/// For actions that name a target.
const TARGET_STEPS: u64 = 60;
const TARGET_TOLERANCE: f64 = 0.01;
const JOINT_STROKE: f64 = 0.05;
const JOINT_TOLERANCE: f64 = 0.02;
const GRIPPER_STEPS: u64 = 40;
/// Parts of the open width.
const OPEN_PART: f64 = 0.5;
const CLOSE_PART: f64 = 0.25;

const OPEN: f64 = -1.0;
const CLOSE: f64 = 1.0;

/// A robot at work: the last observation, and what its arms are.
pub struct Motion<'a> {
    pub bench: &'a mut Bench,
    pub card: &'a Card,
    pub last: Observation,
}

type Moved<T = ()> = Result<T, String>;

impl<'a> Motion<'a> {
    pub fn new(bench: &'a mut Bench, card: &'a Card) -> Self {
        Motion { bench, card, last: card.first.clone() }
    }

    pub fn check_all(&mut self, report: &mut Report) -> Result<()> {
        for index in 0..self.card.arms.len() {
            let arm = &self.card.arms[index];
            let name = &arm.name;
            let found = self.holds(index)?;
            report.found(&format!("arm {name:?} holds still when told to"), found)?;
            let found = self.moves_once(index)?;
            report.found(&format!("arm {name:?}: an action sent twice moves once"), found)?;
            for kind in &arm.action_kinds {
                match kind.as_str() {
                    "osc_pose_delta" => {
                        for axis in 0..3 {
                            let found = self.pushes(index, axis)?;
                            report.found(
                                &format!(
                                    "arm {name:?}: {kind} moves along +{}",
                                    ["x", "y", "z"][axis]
                                ),
                                found,
                            )?;
                        }
                        let found = self.turns(index)?;
                        report.found(&format!("arm {name:?}: {kind} turns about +z"), found)?;
                    }
                    "eef_pose" => {
                        let found = self.reaches_pose(index)?;
                        report.found(&format!("arm {name:?}: {kind} is reached"), found)?;
                    }
                    "joint_position" => {
                        let found = self.reaches_joints(index)?;
                        report.found(&format!("arm {name:?}: {kind} is reached"), found)?;
                    }
                    other => report.not_made(
                        &format!("arm {name:?}: {other}"),
                        "this version does not check it",
                    )?,
                }
            }
            let check = format!("arm {name:?}: the gripper opens and closes");
            if arm.gripper_open > 0.0 {
                let found = self.grips(index)?;
                report.found(&check, found)?;
            } else {
                report.not_made(&check, "gripper_open is 0")?;
            }
        }
        Ok(())
    }

    /// Makes one control step and checks what every observation must hold.
    pub fn step(&mut self, action: Action) -> Result<Moved> {
        let observation = match self.bench.step(action)? {
            Ok(observation) => observation,
            Err(why) => return Ok(Err(why)),
        };
        let expected = self.last.control_step + 1;
        if observation.control_step != expected {
            return Ok(Err(format!(
                "control_step {} came after {}",
                observation.control_step, self.last.control_step
            )));
        }
        if observation.time_ns <= self.last.time_ns {
            return Ok(Err(format!(
                "time_ns {} came after {}",
                observation.time_ns, self.last.time_ns
            )));
        }
        self.last = observation;
        Ok(card::observation(self.card, &self.last))
    }

    /// The action that keeps an arm where it is.
    pub fn hold(&self, index: usize) -> Action {
        let arm = &self.card.arms[index];
        let kind = arm.action_kinds.first().map_or("", String::as_str);
        let state = &self.last.arms[index];
        let values = match kind {
            "eef_pose" => [&state.eef_pos[..], &state.eef_quat].concat(),
            "joint_position" => state.joint_pos.clone(),
            "base_velocity" => vec![0.0; 3],
            _ => vec![0.0; 6],
        };
        action(arm, kind, values)
    }

    /// An action that would move the arm upwards.
    pub fn lift(&self, index: usize) -> Action {
        let arm = &self.card.arms[index];
        let kind = arm.action_kinds.first().map_or("", String::as_str);
        let mut action = self.hold(index);
        match kind {
            "eef_pose" => action.values[2] += STROKE,
            "osc_pose_delta" => action.values[2] = 1.0,
            _ => action.values[0] += JOINT_STROKE,
        }
        action
    }

    pub fn state(&self, index: usize) -> &ArmState {
        &self.last.arms[index]
    }

    fn holds(&mut self, index: usize) -> Result<Found> {
        let start = self.state(index).eef_pos;
        // One target for all steps, so that a drift is not followed.
        let hold = self.hold(index);
        for _ in 0..HOLD_STEPS {
            if let Err(why) = self.step(hold.clone())? {
                return Ok(Err(why));
            }
        }
        let drift = norm(minus(self.state(index).eef_pos, start));
        Ok(if drift <= HOLD_TOLERANCE {
            Ok(format!("{HOLD_STEPS} steps, drift {:.1} mm", drift * 1e3))
        } else {
            Err(format!(
                "it moved {:.1} mm in {HOLD_STEPS} steps, expected at most {:.0}",
                drift * 1e3,
                HOLD_TOLERANCE * 1e3
            ))
        })
    }

    /// The controller sends an action again when no answer has come.
    fn moves_once(&mut self, index: usize) -> Result<Found> {
        let hold = self.hold(index);
        if let Err(why) = self.step(hold.clone())? {
            return Ok(Err(why));
        }
        Ok(match self.bench.act_again(hold)? {
            Some(Answer::Observation(again)) if again == self.last => Ok(String::new()),
            Some(Answer::Observation(again)) => {
                Err(format!("the second answer is of control step {}", again.control_step))
            }
            Some(Answer::Refused(words)) => {
                Err(format!("the second time it was refused: {words:?}"))
            }
            None => Err("the second time it was not answered".to_owned()),
        })
    }

    fn pushes(&mut self, index: usize, axis: usize) -> Result<Found> {
        let arm = &self.card.arms[index];
        let start = self.state(index).eef_pos;
        let mut values = vec![0.0; 6];
        values[axis] = (STROKE / STROKE_STEPS as f64 / arm.position_scale).min(1.0);
        let told = values[axis] * arm.position_scale * STROKE_STEPS as f64;
        if let Err(why) = self.repeat(action(arm, "osc_pose_delta", values), STROKE_STEPS)? {
            return Ok(Err(why));
        }
        let moved = minus(self.state(index).eef_pos, start);
        Ok(along(moved, axis, told))
    }

    fn turns(&mut self, index: usize) -> Result<Found> {
        let arm = &self.card.arms[index];
        let start = self.state(index).eef_quat;
        let mut values = vec![0.0; 6];
        values[5] = (TURN / STROKE_STEPS as f64 / arm.rotation_scale).min(1.0);
        let told = values[5] * arm.rotation_scale * STROKE_STEPS as f64;
        if let Err(why) = self.repeat(action(arm, "osc_pose_delta", values), STROKE_STEPS)? {
            return Ok(Err(why));
        }
        Ok(along(rotation_between(start, self.state(index).eef_quat), 2, told))
    }

    fn reaches_pose(&mut self, index: usize) -> Result<Found> {
        let arm = &self.card.arms[index];
        let state = self.state(index).clone();
        let target = [state.eef_pos[0], state.eef_pos[1], state.eef_pos[2] + STROKE];
        let values = [&target[..], &state.eef_quat].concat();
        if let Err(why) = self.repeat(action(arm, "eef_pose", values), TARGET_STEPS)? {
            return Ok(Err(why));
        }
        let off = norm(minus(self.state(index).eef_pos, target));
        Ok(within(off, TARGET_TOLERANCE, "m"))
    }

    fn reaches_joints(&mut self, index: usize) -> Result<Found> {
        let arm = &self.card.arms[index];
        let mut target = self.state(index).joint_pos.clone();
        if let Some(first) = target.first_mut() {
            *first += JOINT_STROKE;
        }
        if let Err(why) =
            self.repeat(action(arm, "joint_position", target.clone()), TARGET_STEPS)?
        {
            return Ok(Err(why));
        }
        let off = self
            .state(index)
            .joint_pos
            .iter()
            .zip(&target)
            .map(|(is, t)| (is - t).abs())
            .fold(0.0, f64::max);
        Ok(within(off, JOINT_TOLERANCE, "rad"))
    }

    fn grips(&mut self, index: usize) -> Result<Found> {
        let width = self.card.arms[index].gripper_open;
        let mut openings = Vec::new();
        for gripper in [OPEN, CLOSE, OPEN] {
            let hold = Action { gripper, ..self.hold(index) };
            if let Err(why) = self.repeat(hold, GRIPPER_STEPS)? {
                return Ok(Err(why));
            }
            openings.push(self.state(index).gripper_opening);
        }
        let [open, closed, again] = openings[..] else {
            return Ok(Err("no opening was measured".to_owned()));
        };
        let measured = format!("open {open:.3} m, closed {closed:.3} m, open again {again:.3} m");
        let good = open >= OPEN_PART * width
            && again >= OPEN_PART * width
            && open - closed >= CLOSE_PART * width;
        Ok(if good {
            Ok(measured)
        } else {
            Err(format!("{measured}; the card says gripper_open {width:.3}"))
        })
    }

    fn repeat(&mut self, action: Action, steps: u64) -> Result<Moved> {
        for _ in 0..steps {
            if let Err(why) = self.step(action.clone())? {
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }
}

fn action(arm: &Arm, kind: &str, values: Vec<f64>) -> Action {
    Action { id: 0, arm: arm.name.clone(), kind: kind.to_owned(), values, gripper: OPEN }
}

/// Whether a motion went mainly along one axis, in the direction it was told.
fn along(moved: [f64; 3], axis: usize, told: f64) -> Found {
    let made = moved[axis];
    let aside = norm(std::array::from_fn(|i| if i == axis { 0.0 } else { moved[i] }));
    let measured = format!("told {told:.3}, made {made:.3}, aside {aside:.3}");
    if made >= LEAST_PART * told && aside <= MOST_ASIDE * made {
        Ok(measured)
    } else {
        Err(measured)
    }
}

fn within(off: f64, tolerance: f64, unit: &str) -> Found {
    let measured = format!("{off:.4} {unit} off after {TARGET_STEPS} steps");
    if off <= tolerance {
        Ok(measured)
    } else {
        Err(format!("{measured}, expected at most {tolerance}"))
    }
}

pub fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

pub fn norm(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The rotation from one orientation to another, as an axis-angle in the world; quaternions `xyzw`.
fn rotation_between(from: [f64; 4], to: [f64; 4]) -> [f64; 3] {
    let [ax, ay, az, aw] = to;
    let [bx, by, bz, bw] = [-from[0], -from[1], -from[2], from[3]];
    let mut q = [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ];
    // The short way round.
    if q[3] < 0.0 {
        q = q.map(|c| -c);
    }
    let sine = norm([q[0], q[1], q[2]]);
    if sine == 0.0 {
        return [0.0; 3];
    }
    let angle = 2.0 * sine.atan2(q[3]);
    [q[0], q[1], q[2]].map(|c| c / sine * angle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_must_go_where_it_was_told() {
        along([0.001, 0.0, 0.04], 2, 0.05).unwrap();
        along([0.001, 0.0, 0.01], 2, 0.05).unwrap();
        for wrong in [[0.0, 0.0, 0.001], [0.0, 0.0, -0.05], [0.04, 0.0, 0.04], [0.0, 0.05, 0.0]] {
            along(wrong, 2, 0.05).unwrap_err();
        }
    }

    #[test]
    fn rotations_are_measured_in_the_world() {
        // The gripper looks down: a half turn about x, then 0.2 rad about the world's z.
        let down = [1.0, 0.0, 0.0, 0.0];
        let (sine, cosine) = 0.1_f64.sin_cos();
        let turned = [cosine, sine, 0.0, 0.0];
        let rotation = rotation_between(down, turned);
        assert!(norm(minus(rotation, [0.0, 0.0, 0.2])) < 1e-12, "{rotation:?}");
        let same_turned = turned.map(|c| -c);
        assert!(norm(minus(rotation_between(down, same_turned), rotation)) < 1e-12);
        assert_eq!(rotation_between(down, down), [0.0; 3]);
    }
}
