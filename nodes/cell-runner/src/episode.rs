//! What the runner knows of the episode.

use std::collections::BTreeMap;

use ruaflow_robots::RobotApi;
use ruaflow_schemas::{Card, Observation};

pub(crate) struct Episode {
    pub(crate) number: i64,
    pub(crate) card: Card,
    pub(crate) api: &'static RobotApi,
    pub(crate) latest: Observation,
    /// Observation at the end of each recorded step.
    steps: BTreeMap<u64, Observation>,
    /// Why nothing may move any more, from the planner or an emergency stop.
    pub(crate) over: Option<String>,
}

/// There is no such recorded step. A cell sees it as `ValueError`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{method}(): there is no step {step}; steps are 0 to {last}, -1 is the latest")]
pub(crate) struct NoStep {
    method: &'static str,
    step: i64,
    last: u64,
}

impl Episode {
    pub(crate) fn new(number: i64, card: Card, api: &'static RobotApi) -> Self {
        let first = card.first.clone();
        let steps = BTreeMap::from([(0, first.clone())]);
        Self { number, card, api, latest: first, steps, over: None }
    }

    /// Takes a newer observation.
    pub(crate) fn see(&mut self, observation: &Observation) {
        if observation.control_step >= self.latest.control_step {
            self.latest = observation.clone();
        }
    }

    /// A call has ended: the observation at the end of a recorded step.
    pub(crate) fn record(&mut self, step: u64, observation: Observation) {
        self.steps.insert(step, observation);
    }

    /// The latest recorded step.
    pub(crate) fn step(&self) -> u64 {
        self.steps.keys().next_back().copied().unwrap_or(0)
    }

    /// The recorded step that a method's argument means, and what was measured there.
    pub(crate) fn at(
        &self,
        method: &'static str,
        step: i64,
    ) -> Result<(u64, &Observation), NoStep> {
        let last = self.step();
        if step == -1 {
            return Ok((last, &self.latest));
        }
        let found = u64::try_from(step).ok().and_then(|step| self.steps.get_key_value(&step));
        found.map(|(step, observation)| (*step, observation)).ok_or(NoStep { method, step, last })
    }

    /// Why nothing may move, if so: what the planner said, else what the robot measured.
    pub(crate) fn end_reason(&self) -> Option<&str> {
        self.over
            .as_deref()
            .or(self.latest.terminated.then_some("terminated"))
            .or(self.latest.truncated.then_some("truncated"))
    }
}
