use std::collections::HashMap;

use ruaflow_record::{RunDir, read_rows};
use ruaflow_schemas::{Action, Card, Frame, Observation};
use serde::{Deserialize, Serialize};

use crate::ExportError;

/// Where an episode was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Id of the run.
    pub run: String,
    /// Number of the episode in it.
    pub episode: u32,
}

/// What a robot measured and was told, control step by control step.
#[derive(Clone, Debug)]
pub struct Episode {
    pub source: Source,
    pub card: Card,
    /// One a control step, without gaps; at least two.
    pub observations: Vec<Observation>,
    /// Entry `k` leads from observation `k` to the next, so there is one less.
    pub actions: Vec<Action>,
}

impl Episode {
    /// Reads an episode of a run that has one arm.
    ///
    /// # Errors
    /// [`ExportError::Episode`] when nothing moved in it or something was not recorded,
    /// [`ExportError::Record`] when a file can't be read.
    pub fn read(dir: &RunDir, number: u32) -> Result<Self, ExportError> {
        let source = Source { run: dir.run().to_owned(), episode: number };
        let refused = |reason: String| ExportError::Episode {
            run: source.run.clone(),
            episode: number,
            reason,
        };
        let cards: Vec<Card> = rows(dir, number)?;
        let card = cards.into_iter().find(|card| card.error.is_empty());
        let card = card.ok_or_else(|| refused("it never began".to_owned()))?;
        if card.arms.len() != 1 {
            return Err(refused(format!(
                "its robot has {} arms, and only one can be exported",
                card.arms.len()
            )));
        }

        let mut observations: Vec<Observation> = rows(dir, number)?;
        observations.sort_by_key(|observation| observation.control_step);
        observations.dedup_by_key(|observation| observation.control_step);
        if observations.len() < 2 {
            return Err(refused("nothing moved in it".to_owned()));
        }
        if let Some(observation) = observations.iter().find(|row| row.arms.len() != 1) {
            let step = observation.control_step;
            return Err(refused(format!("control step {step} does not measure its arm")));
        }
        let gap = observations.windows(2).find(|w| w[1].control_step != w[0].control_step + 1);
        if let Some(gap) = gap {
            let missing = gap[0].control_step + 1;
            return Err(refused(format!("control step {missing} was not recorded")));
        }

        let actions: Vec<Action> = rows(dir, number)?;
        let mut actions: HashMap<u64, Action> =
            actions.into_iter().map(|action| (action.id, action)).collect();
        let led_to = observations[1..].iter().map(|observation| {
            let lost = || {
                let step = observation.control_step;
                refused(format!("the action that led to control step {step} was not recorded"))
            };
            actions.remove(&observation.action_id).ok_or_else(lost)
        });
        let actions = led_to.collect::<Result<_, _>>()?;
        Ok(Episode { source, card, observations, actions })
    }

    /// The same error for whoever finds something else missing in it.
    pub fn refused(&self, reason: impl ToString) -> ExportError {
        ExportError::Episode {
            run: self.source.run.clone(),
            episode: self.source.episode,
            reason: reason.to_string(),
        }
    }
}

/// The rows of a topic; none when it was never sent.
fn rows<F: Frame>(dir: &RunDir, episode: u32) -> Result<Vec<F>, ExportError> {
    let path = dir.topic_path(Some(episode), F::TOPIC);
    if !path.exists() {
        return Ok(Vec::new());
    }
    Ok(read_rows(&path)?)
}
