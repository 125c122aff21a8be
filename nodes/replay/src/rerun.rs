use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ruaflow_kit::{Robot, StepError};
use ruaflow_record::{RecordError, Recording, RunDir, Trajectory};
use ruaflow_schemas::State;

use crate::difference::{Difference, difference};
use crate::simulators::SIMULATORS;

/// The clock of a simulator; a robot with any other one is real.
const SIMULATED: &str = "sim";

/// A recorded episode with what its replay is compared to.
#[derive(Debug)]
pub struct Original {
    pub recording: Recording,
    /// In the order of their control steps.
    pub states: Vec<State>,
}

/// Why a recording can't be made again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(
        "{0:?} is a real robot, so there is nothing to compute: `--robot NODE --arm-robot` sends its actions to a live one"
    )]
    Real(String),
    #[error(
        "the simulator of robot {0:?} is not part of this program; it can replay {known}, `--cells` any robot with a dataflow",
        known = SIMULATORS.join(" and ")
    )]
    NoSimulator(String),
    #[error("the simulator's states were not recorded; `--record standard` and `full` keep them")]
    NoStates,
    #[error("the scene can't be set again: {0}")]
    Scene(String),
}

impl Original {
    /// Reads an episode of a simulator that [`Simulators`](crate::Simulators) has.
    ///
    /// # Errors
    /// [`ReplayError`] says what is missing.
    pub fn read(dir: &RunDir, episode: u32) -> Result<Self, ReplayError> {
        let recording = Recording::read(dir, episode)?;
        let robot = &recording.card.robot;
        if recording.card.clock != SIMULATED {
            return Err(ReplayError::Real(robot.clone()));
        }
        if !SIMULATORS.contains(&robot.as_str()) {
            return Err(ReplayError::NoSimulator(robot.clone()));
        }
        let states = match Trajectory::read(dir, episode) {
            Ok(trajectory) => trajectory.states,
            Err(error @ RecordError::Light { .. }) => return Err(error.into()),
            Err(_) if !dir.topic_path(Some(episode), "state").exists() => {
                return Err(ReplayError::NoStates);
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Original { recording, states })
    }

    /// What this program has in another version than the recording, with both.
    pub fn other_versions(&self, here: &BTreeMap<String, String>) -> Vec<(String, String, String)> {
        let recorded = self.recording.versions.iter();
        recorded
            .filter_map(|(name, then)| Some((name.clone(), then.clone(), here.get(name)?.clone())))
            .filter(|(_, then, now)| then != now)
            .collect()
    }
}

/// A recording that was made again.
#[derive(Clone, Debug, PartialEq)]
pub struct Rerun {
    pub outcome: Outcome,
    /// Control steps that were made.
    pub steps: u64,
    /// States that were compared; one more than the steps when none is missing.
    pub compared: u64,
    /// What the scene and its motion depend on here.
    pub versions: BTreeMap<String, String>,
    /// What setting the scene took.
    pub reset: Duration,
    /// What the control steps took.
    pub stepping: Duration,
}

/// How a replay compares with its recording.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Every state that was recorded came again, bit for bit.
    Equal,
    /// The first number that did not.
    Different(Difference),
    /// The simulator did not make a control step that the recorded one made.
    NotMade { control_step: u64, reason: String },
}

/// Makes a recording's actions again, up to the first difference; `made` hears of
/// every control step.
///
/// # Errors
/// [`ReplayError::Scene`] when the scene can't be set.
pub fn rerun(
    original: &Original,
    robot: &mut dyn Robot,
    mut made: impl FnMut(u64),
) -> Result<Rerun, ReplayError> {
    let began = Instant::now();
    let scene = |error: eyre::Report| ReplayError::Scene(format!("{error:#}"));
    robot.reset(&original.recording.reset).map_err(scene)?;
    let reset = began.elapsed();
    let mut rerun = Rerun {
        outcome: Outcome::Equal,
        steps: 0,
        compared: 0,
        versions: robot.versions(),
        reset,
        stepping: Duration::ZERO,
    };
    let began = Instant::now();
    let mut states = original.states.iter().peekable();
    let mut actions = original.recording.steps();
    loop {
        let step = rerun.steps;
        while states.next_if(|state| state.control_step < step).is_some() {}
        if let Some(recorded) = states.next_if(|state| state.control_step == step) {
            rerun.compared += 1;
            let replayed = robot.state().map(|state| State { control_step: step, ..state });
            if let Some(found) = difference(recorded, &replayed.unwrap_or_default()) {
                rerun.outcome = Outcome::Different(found);
                break;
            }
        }
        let Some(action) = actions.next() else { break };
        if let Err(StepError::Refused(reason) | StepError::Failed(reason)) = robot.step(action) {
            rerun.outcome = Outcome::NotMade { control_step: step + 1, reason };
            break;
        }
        rerun.steps += 1;
        made(rerun.steps);
    }
    rerun.stepping = began.elapsed();
    Ok(rerun)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
