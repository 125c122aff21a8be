//! The motion primitives as values: each looks at the arm and says what to
//! command next. Nothing here waits, sends or knows of time.

mod gripper;
mod policy;
mod reach;
mod rotate;

use ruaflow_robots::{Checked, GripperCommand};
use serde_json::{Map, Value};

pub use self::gripper::{Release, SetGripper};
pub use self::policy::{Contact, Pick};
pub use self::reach::Reach;
pub use self::rotate::Rotate;
use crate::servo::{Command, Pose};

/// A running primitive.
pub trait Motion: Send {
    /// The next command, or `None` when the motion is over by its own rule.
    fn next(&mut self, pose: &Pose) -> Option<Command>;

    /// Takes note of where a command led.
    fn observe(&mut self, pose: &Pose);

    /// What it came to, field by field as in the method's record; `terminated`
    /// and `truncated` are the caller's to add.
    fn outcome(&self, pose: &Pose) -> Map<String, Value>;

    /// The instruction for a policy, when the motion needs an action chunk before
    /// it can go on; asked before [`next`](Self::next).
    fn wants_chunk(&self) -> Option<&str> {
        None
    }

    /// Takes the action chunk that it wanted.
    fn take_chunk(&mut self, _commands: Vec<Command>) {}

    /// The episode has ended under the motion, after its last observation.
    fn episode_ended(&mut self, _terminated: bool) {}

    /// Where the gripper is to go, if the motion has such a target.
    fn target(&self) -> Option<[f64; 3]> {
        None
    }
}

/// What a motion starts from, beside its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub pose: Pose,
    /// The last gripper command that was not 0, for `gripper="hold"`.
    pub held_gripper: f64,
    /// Position of one unit of an action, metres, where the method has no
    /// `action_scale` of its own.
    pub position_scale: f64,
}

impl Start {
    fn gripper(&self, command: GripperCommand) -> f64 {
        match command {
            GripperCommand::Value(value) => value,
            GripperCommand::Hold => self.held_gripper,
        }
    }
}

/// Why a checked call does not become a motion: a mistake in a robot's table.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the controller has no motion {0:?}")]
    Unknown(&'static str),
    #[error("the arguments of {method:?} do not fit: {source}")]
    Arguments { method: &'static str, source: serde_json::Error },
}

/// The motion of a checked call.
///
/// # Errors
/// When the robot's table names a motion that does not exist here, or with other
/// arguments.
pub fn start(call: &Checked, from: &Start) -> Result<Box<dyn Motion>, StartError> {
    let method = call.method.name;
    let arguments = |source| StartError::Arguments { method, source };
    Ok(match method {
        "move_to" => Box::new(Reach::move_to(call.parse().map_err(arguments)?, from)),
        "move_pose" => Box::new(Reach::move_pose(call.parse().map_err(arguments)?, from)),
        "rotate_wrist" => Box::new(Rotate::wrist(call.parse().map_err(arguments)?, from)),
        "rotate_pitch" => Box::new(Rotate::pitch(call.parse().map_err(arguments)?, from)),
        "set_gripper" => Box::new(SetGripper::new(call.parse().map_err(arguments)?, from)),
        "release" => Box::new(Release::new(call.parse().map_err(arguments)?, from)),
        "pi0_pick" => Box::new(Pick::new(call.parse().map_err(arguments)?, from)),
        "pi0_doubled" => Box::new(Contact::new(call.parse().map_err(arguments)?)),
        _ => return Err(StartError::Unknown(method)),
    })
}

/// A limit of control steps, as a count that a negative argument makes 0.
fn count(steps: i64) -> u32 {
    u32::try_from(steps.max(0)).unwrap_or(u32::MAX)
}

/// Adds the two fields of a motion that may stall.
fn report_stall(fields: &mut Map<String, Value>, reason: Option<String>) {
    fields.insert("stalled".to_owned(), reason.is_some().into());
    fields.insert("stall_reason".to_owned(), reason.map_or(Value::Null, Value::from));
}

fn fields<const N: usize>(values: [(&str, Value); N]) -> Map<String, Value> {
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests;
