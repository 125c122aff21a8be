//! The whole state of a simulation, as it is recorded, resumed and rendered.

use ruaflow_schemas::State;

/// Numbers of the arm controller in a state.
const CONTROLLER: usize = 13;

/// Everything that a later step, picture or verdict depends on. Stepping on from a
/// restored state is equal, bit for bit, to never having stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct SimState {
    /// Control steps since the episode began, settling not counted.
    pub control_step: u64,
    /// Simulated time, seconds.
    pub time: f64,
    /// MuJoCo's `mjSTATE_INTEGRATION`: positions, velocities, warm start, controls and the like.
    pub integration: Vec<f64>,
    /// Poses `[x y z qw qx qy qz]` of the fixtures drawn at reset, in the scene's
    /// fixture order, metres.
    pub fixtures: Vec<[f64; 7]>,
    /// Visual toggles (a stove's glowing burner) in the scene's order: whether each shows.
    pub visuals: Vec<bool>,
    /// The arm controller: goal position (3), goal orientation by rows (9), and 1
    /// when no step was made since the reset, else 0.
    pub controller: [f64; CONTROLLER],
    /// Finger commands in [-1, 1].
    pub gripper: [f64; 2],
    /// The success latch.
    pub success: bool,
}

/// A recorded state that no LIBERO scene can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordedStateError {
    /// A list has the wrong length.
    #[error("the recorded state has {found} numbers of {what}, expected {expected}")]
    Length {
        /// The list.
        what: &'static str,
        /// What its length must be.
        expected: &'static str,
        /// What it is.
        found: usize,
    },
    /// A number is infinite or none.
    #[error("the recorded state has a number that is not finite, in {what}")]
    NotFinite {
        /// The list.
        what: &'static str,
    },
}

impl From<&SimState> for State {
    fn from(state: &SimState) -> Self {
        State {
            control_step: state.control_step,
            time_ns: nanoseconds(state.time),
            integration: state.integration.clone(),
            fixtures: state.fixtures.concat(),
            visuals: state.visuals.iter().map(|&shown| f64::from(u8::from(shown))).collect(),
            controller: state.controller.to_vec(),
            gripper: state.gripper.to_vec(),
            success: state.success,
        }
    }
}

impl TryFrom<&State> for SimState {
    type Error = RecordedStateError;

    fn try_from(state: &State) -> Result<Self, RecordedStateError> {
        let lists = [
            ("the integration state", &state.integration),
            ("fixtures", &state.fixtures),
            ("visuals", &state.visuals),
            ("controller", &state.controller),
            ("gripper", &state.gripper),
        ];
        for (what, list) in lists {
            if list.iter().any(|number| !number.is_finite()) {
                return Err(RecordedStateError::NotFinite { what });
            }
        }
        let length = |what, expected, found| RecordedStateError::Length { what, expected, found };
        let (fixtures, rest) = state.fixtures.as_chunks();
        if !rest.is_empty() {
            return Err(length("fixtures", "seven a fixture", state.fixtures.len()));
        }
        let controller = state.controller[..].try_into();
        let gripper = state.gripper[..].try_into();
        Ok(SimState {
            control_step: state.control_step,
            time: state.time_ns as f64 / 1e9,
            integration: state.integration.clone(),
            fixtures: fixtures.to_vec(),
            visuals: state.visuals.iter().map(|&shown| shown != 0.0).collect(),
            controller: controller
                .map_err(|_| length("controller", "thirteen", state.controller.len()))?,
            gripper: gripper.map_err(|_| length("gripper", "two", state.gripper.len()))?,
            success: state.success,
        })
    }
}

/// Simulated time as frames have it.
pub fn nanoseconds(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> SimState {
        SimState {
            control_step: 3,
            time: 0.15,
            integration: vec![0.15, 2.0, 3.0],
            fixtures: vec![[1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]; 2],
            visuals: vec![true, false],
            controller: [0.5; 13],
            gripper: [-1.0, 1.0],
            success: false,
        }
    }

    #[test]
    fn a_state_comes_back_from_its_record() {
        let recorded = State::from(&state());
        assert_eq!(recorded.time_ns, 150_000_000);
        assert_eq!(SimState::try_from(&recorded), Ok(state()));
    }

    #[test]
    fn a_record_that_is_no_state_is_refused() {
        let refused = |change: fn(&mut State)| {
            let mut recorded = State::from(&state());
            change(&mut recorded);
            SimState::try_from(&recorded).expect_err("no state").to_string()
        };
        assert!(refused(|state| state.fixtures.truncate(13)).contains("13 numbers of fixtures"));
        assert!(refused(|state| state.controller.clear()).contains("controller"));
        assert!(refused(|state| state.gripper.push(0.0)).contains("gripper"));
        assert!(refused(|state| state.integration[1] = f64::NAN).contains("not finite"));
    }
}
