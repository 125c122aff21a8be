use std::path::{Path, PathBuf};
use std::str::FromStr;

use ruaflow_schemas::{Card, State};

use crate::recording::scene_card;
use crate::{Level, RecordError, RunDir, read_rows};

/// The recorded states of an episode, and the scene they are states of.
#[derive(Clone, Debug)]
pub struct Trajectory {
    /// The robot's card: its kind, suite, task and seed.
    pub card: Card,
    /// One a control step, in order; there may be gaps where rows were lost.
    pub states: Vec<State>,
}

impl Trajectory {
    /// Reads an episode, also of a run that still goes on.
    ///
    /// # Errors
    /// When the episode has no card or no states, as of a real robot, or they can't be
    /// read; [`RecordError::Light`] when they were not recorded.
    pub fn read(dir: &RunDir, episode: u32) -> Result<Self, RecordError> {
        let card = scene_card(dir, episode)?;
        let path = dir.topic_path(Some(episode), "state");
        if !path.exists() && dir.result().is_ok_and(|result| result.record == Level::Light) {
            let what = "simulator states";
            return Err(RecordError::Light { dir: dir.root().to_owned(), what });
        }
        let mut states: Vec<State> = read_rows(&path)?;
        if states.is_empty() {
            return Err(RecordError::content(&path, "it holds no state"));
        }
        states.sort_by_key(|state| state.control_step);
        Ok(Trajectory { card, states })
    }

    /// The state of a control step; -1 is the last one.
    pub fn at(&self, control_step: i64) -> Option<&State> {
        match u64::try_from(control_step) {
            Ok(step) => self.states.iter().find(|state| state.control_step == step),
            Err(_) => self.states.iter().rev().nth((-1 - control_step) as usize),
        }
    }

    /// The last control step that was recorded.
    pub fn last_step(&self) -> u64 {
        self.states.last().map_or(0, |state| state.control_step)
    }
}

/// Where a recorded state is: `RUN:STEP`, or `RUN:EPISODE:STEP`; a step below 0 counts from the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateAddress {
    /// Folder of the run.
    pub run: PathBuf,
    /// From 0.
    pub episode: u32,
    /// Control step.
    pub control_step: i64,
}

impl StateAddress {
    /// The state, and the card of its scene.
    ///
    /// # Errors
    /// [`RecordError`], also when there is no such control step.
    pub fn read(&self, cwd: &Path) -> Result<(Card, State), RecordError> {
        let dir = RunDir::open(&cwd.join(&self.run))?;
        let trajectory = Trajectory::read(&dir, self.episode)?;
        match trajectory.at(self.control_step) {
            Some(state) => Ok((trajectory.card.clone(), state.clone())),
            None => Err(RecordError::content(
                &dir.topic_path(Some(self.episode), "state"),
                format!(
                    "no control step {}; the last one is {}",
                    self.control_step,
                    trajectory.last_step()
                ),
            )),
        }
    }
}

impl FromStr for StateAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is neither RUN:STEP nor RUN:EPISODE:STEP");
        let (rest, step) = text.rsplit_once(':').ok_or_else(wrong)?;
        let control_step = step.parse().map_err(|_| wrong())?;
        let with_episode = rest.rsplit_once(':').and_then(|(run, episode)| {
            Some((run, episode.parse().ok()?)).filter(|(run, _)| !run.is_empty())
        });
        let (run, episode) = with_episode.unwrap_or((rest, 0));
        if run.is_empty() {
            return Err(wrong());
        }
        Ok(StateAddress { run: run.into(), episode, control_step })
    }
}

impl std::fmt::Display for StateAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.run.display(), self.episode, self.control_step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TopicWriter, stamped_batch};

    fn address(run: &str, episode: u32, control_step: i64) -> StateAddress {
        StateAddress { run: run.into(), episode, control_step }
    }

    #[test]
    fn an_address_names_run_episode_and_step() {
        for (text, expected) in [
            ("runs/a:12", address("runs/a", 0, 12)),
            ("runs/a:3:12", address("runs/a", 3, 12)),
            ("a:b:-1", address("a:b", 0, -1)),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        for text in ["runs/a", ":3", "a:", "a:x", ""] {
            assert!(text.parse::<StateAddress>().is_err(), "{text}");
        }
        let shown = address("a", 2, 7);
        assert_eq!(shown.to_string().parse(), Ok(shown));
    }

    #[test]
    fn states_are_found_by_step_and_from_the_end() {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().join("run");
        let (dir, _lock) = RunDir::create(&root, "r").unwrap();
        std::fs::create_dir_all(dir.episode_dir(1)).unwrap();
        let card = Card { suite: "s".into(), ..Card::default() };
        let batch = stamped_batch(1, 0, 0, &[Card { error: "no".into(), ..card.clone() }, card]);
        let path = dir.topic_path(Some(1), "card");
        TopicWriter::create(&path, batch.schema()).unwrap().append(&batch).unwrap();
        let states: Vec<State> = (0..4)
            .map(|n| State { control_step: n, time_ns: 10 * n, ..State::default() })
            .collect();
        let batch = stamped_batch(1, 0, 0, &states);
        let path = dir.topic_path(Some(1), "state");
        TopicWriter::create(&path, batch.schema()).unwrap().append(&batch).unwrap();

        let read = |step| address("run", 1, step).read(tmp.path());
        assert_eq!(read(2).unwrap().1.time_ns, 20);
        assert_eq!(read(-1).unwrap().1.time_ns, 30);
        assert_eq!(read(-4).unwrap().0.suite, "s");
        for step in [4, -5] {
            let error = read(step).unwrap_err().to_string();
            assert!(error.contains("the last one is 3"), "{error}");
        }
        assert!(address("run", 0, 0).read(tmp.path()).is_err());

        std::fs::remove_file(&path).unwrap();
        let result = crate::RunResult {
            schema: crate::RunResult::SCHEMA.into(),
            record: Level::Light,
            ..crate::RunResult::default()
        };
        dir.write_result(&result).unwrap();
        let error = read(0).unwrap_err().to_string();
        assert!(error.contains("--record standard"), "{error}");
    }
}
