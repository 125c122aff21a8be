use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ruaflow_schemas::{Action, Card, Event, Frame, Observation, Reset, event};

use crate::{RecordError, RunDir, read_rows};

/// What a robot was told in an episode and what it measured, to be played again.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What the scene was set by.
    pub reset: Reset,
    /// The robot's card.
    pub card: Card,
    /// In the order of their ids, those included that were refused.
    pub actions: Vec<Action>,
    /// In the order of their control steps.
    pub observations: Vec<Observation>,
    /// What the scene and its motion depended on, such as a simulator's version; empty
    /// in records that do not tell.
    pub versions: BTreeMap<String, String>,
}

impl Recording {
    /// Reads an episode, also of a run that still goes on or was cut.
    ///
    /// # Errors
    /// When no scene was set, or the rows can't be read.
    pub fn read(dir: &RunDir, episode: u32) -> Result<Self, RecordError> {
        let path = |topic: &str| dir.topic_path(Some(episode), topic);
        let card = scene_card(dir, episode)?;
        let resets: Vec<Reset> = read_rows(&path(Reset::TOPIC))?;
        let reset = resets.into_iter().find(|reset| reset.id == card.id).ok_or_else(|| {
            RecordError::content(&path(Reset::TOPIC), "the scene's reset is not in it")
        })?;
        let mut actions: Vec<Action> = rows_if_any(&path(Action::TOPIC))?;
        actions.sort_by_key(|action| action.id);
        actions.dedup_by_key(|action| action.id);
        let mut observations: Vec<Observation> = rows_if_any(&path(Observation::TOPIC))?;
        observations.sort_by_key(|observation| observation.control_step);
        observations.dedup_by_key(|observation| observation.control_step);
        let events: Vec<Event> = rows_if_any(&path(Event::TOPIC))?;
        let told = events.iter().find(|event| event.kind == event::VERSIONS);
        let versions = told.and_then(|event| serde_json::from_str(&event.data).ok());
        let versions = versions.unwrap_or_default();
        Ok(Recording { reset, card, actions, observations, versions })
    }

    /// The actions that led from one control step to the next, from step 1 on; it ends
    /// where a row is missing.
    pub fn steps(&self) -> impl Iterator<Item = &Action> {
        let mut actions = self.actions.iter();
        let made = self.observations.iter().filter(|observation| observation.control_step > 0);
        made.zip(1..).map_while(move |(observation, step)| {
            let in_order = observation.control_step == step;
            in_order.then(|| actions.find(|action| action.id == observation.action_id))?
        })
    }

    /// The last control step that the robot made.
    pub fn last_step(&self) -> u64 {
        self.observations.last().map_or(0, |last| last.control_step)
    }
}

/// The robot's card of an episode.
pub(crate) fn scene_card(dir: &RunDir, episode: u32) -> Result<Card, RecordError> {
    let path = dir.topic_path(Some(episode), Card::TOPIC);
    let cards: Vec<Card> = rows_if_any(&path)?;
    let card = cards.into_iter().find(|card| card.error.is_empty());
    card.ok_or_else(|| RecordError::content(&path, "no scene was set"))
}

/// Rows of a topic that may have had none.
fn rows_if_any<F: Frame>(path: &Path) -> Result<Vec<F>, RecordError> {
    match read_rows(path) {
        Err(RecordError::Read { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            Ok(Vec::new())
        }
        other => other,
    }
}

/// Recorded episodes: `RUN` for all of a run, or `RUN:EPISODE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingAddress {
    /// Folder of the run.
    pub run: PathBuf,
    /// From 0.
    pub episode: Option<u32>,
}

impl RecordingAddress {
    /// The run, and the numbers of the episodes that are meant.
    ///
    /// # Errors
    /// [`RecordError`], also when there is no such episode.
    pub fn open(&self, cwd: &Path) -> Result<(RunDir, Vec<u32>), RecordError> {
        let dir = RunDir::open(&cwd.join(&self.run))?;
        let result = dir.result()?;
        let mut episodes: Vec<u32> = result.episodes.iter().map(|e| e.episode).collect();
        if let Some(wanted) = self.episode {
            episodes.retain(|&episode| episode == wanted);
        }
        if !episodes.is_empty() {
            return Ok((dir, episodes));
        }
        let reason = match (self.episode, result.episodes.len()) {
            (_, 0) => "the run has no episode".to_owned(),
            (wanted, 1) => format!("the run has no episode {}; its only one is 0", shown(wanted)),
            (wanted, all) => {
                format!("the run has no episode {}; they are 0 to {}", shown(wanted), all - 1)
            }
        };
        Err(RecordError::content(&dir.result_path(), reason))
    }
}

fn shown(episode: Option<u32>) -> String {
    episode.map(|episode| episode.to_string()).unwrap_or_default()
}

impl FromStr for RecordingAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let with_episode = text
            .rsplit_once(':')
            .and_then(|(run, episode)| Some((run, episode.parse().ok()?)))
            .filter(|(run, _)| !run.is_empty());
        match with_episode {
            Some((run, episode)) => {
                Ok(RecordingAddress { run: run.into(), episode: Some(episode) })
            }
            None if text.is_empty() => Err("expected RUN or RUN:EPISODE".to_owned()),
            None => Ok(RecordingAddress { run: text.into(), episode: None }),
        }
    }
}

impl std::fmt::Display for RecordingAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.episode {
            Some(episode) => write!(f, "{}:{episode}", self.run.display()),
            None => write!(f, "{}", self.run.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EpisodeResult, RunResult, TopicWriter, stamped_batch};

    fn write<F: Frame>(dir: &RunDir, rows: &[F]) {
        std::fs::create_dir_all(dir.episode_dir(0)).unwrap();
        let batch = stamped_batch(0, 0, 0, rows);
        let path = dir.topic_path(Some(0), F::TOPIC);
        TopicWriter::create(&path, batch.schema()).unwrap().append(&batch).unwrap();
    }

    fn observation(control_step: u64, action_id: u64) -> Observation {
        Observation { control_step, action_id, ..Observation::default() }
    }

    fn run() -> (tempfile::TempDir, RunDir) {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, _lock) = RunDir::create(&tmp.path().join("r"), "r").unwrap();
        let id = "r-0-reset".to_owned();
        write(&dir, &[Reset { seed: 3, id: id.clone(), ..Reset::default() }]);
        write(&dir, &[Card { id, ..Card::default() }]);
        (tmp, dir)
    }

    #[test]
    fn steps_are_the_actions_that_were_carried_out() {
        let (_tmp, dir) = run();
        // The second was refused, the third lost its observation.
        let ids = [1, 2, 3, 4, 5];
        write(&dir, &ids.map(|id| Action { id, ..Action::default() }));
        write(&dir, &[observation(0, 0), observation(2, 3), observation(1, 1), observation(4, 5)]);
        write(
            &dir,
            &[Event {
                kind: event::VERSIONS.into(),
                data: r#"{"mujoco": "1.2.3"}"#.into(),
                ..Event::default()
            }],
        );
        let recording = Recording::read(&dir, 0).unwrap();
        assert_eq!(recording.reset.seed, 3);
        assert_eq!(recording.steps().map(|action| action.id).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(recording.last_step(), 4);
        assert_eq!(recording.versions["mujoco"], "1.2.3");
    }

    #[test]
    fn an_episode_in_which_nothing_moved_has_no_steps() {
        let (_tmp, dir) = run();
        let recording = Recording::read(&dir, 0).unwrap();
        assert_eq!((recording.steps().count(), recording.last_step()), (0, 0));
        assert!(recording.versions.is_empty());
    }

    #[test]
    fn an_episode_whose_scene_was_never_set_says_so() {
        let (_tmp, dir) = run();
        std::fs::remove_file(dir.topic_path(Some(0), Card::TOPIC)).unwrap();
        let error = Recording::read(&dir, 0).unwrap_err().to_string();
        assert!(error.contains("no scene was set"), "{error}");
    }

    #[test]
    fn an_address_names_a_run_or_one_of_its_episodes() {
        for (text, run, episode) in
            [("runs/a", "runs/a", None), ("runs/a:2", "runs/a", Some(2)), ("a:b", "a:b", None)]
        {
            let address: RecordingAddress = text.parse().unwrap();
            assert_eq!(address, RecordingAddress { run: run.into(), episode });
            assert_eq!(address.to_string(), text);
        }
        assert!("".parse::<RecordingAddress>().is_err());
    }

    #[test]
    fn an_episode_that_is_not_there_is_told_with_those_that_are() {
        let (_tmp, dir) = run();
        let result = |episodes: u32| RunResult {
            schema: RunResult::SCHEMA.into(),
            episodes: (0..episodes)
                .map(|episode| EpisodeResult { episode, ..EpisodeResult::default() })
                .collect(),
            ..RunResult::default()
        };
        let open = |episode| {
            let address = RecordingAddress { run: dir.root().to_owned(), episode };
            address.open(Path::new("")).map(|(_, episodes)| episodes)
        };
        dir.write_result(&result(3)).unwrap();
        assert_eq!(open(None).unwrap(), [0, 1, 2]);
        assert_eq!(open(Some(1)).unwrap(), [1]);
        assert!(open(Some(3)).unwrap_err().to_string().contains("no episode 3; they are 0 to 2"));
        dir.write_result(&result(0)).unwrap();
        assert!(open(None).unwrap_err().to_string().contains("no episode"));
    }
}
