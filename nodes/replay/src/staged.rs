//! Runs for tests: a robot is played without a dataflow, and its rows are recorded.

use ruaflow_kit::Robot;
use ruaflow_record::{EpisodeResult, RunDir, RunResult, TopicWriter, stamped_batch};
use ruaflow_schemas::{Action, Card, Event, Frame, Observation, Reset, State, event};
use tempfile::TempDir;

/// What is recorded of an episode.
pub struct Rows {
    pub reset: Reset,
    pub card: Card,
    pub actions: Vec<Action>,
    pub observations: Vec<Observation>,
    pub states: Vec<State>,
    pub events: Vec<Event>,
}

impl Rows {
    /// Plays actions, which are `[dx dy dz rx ry rz gripper]`.
    pub fn play(robot: &mut dyn Robot, reset: Reset, actions: &[[f64; 7]]) -> Self {
        let card = robot.reset(&reset).unwrap();
        let Reset { id, suite, task, seed, .. } = reset.clone();
        let card = Card { id, suite, task, seed, ..card };
        let versions = robot.versions().into_iter().map(|(k, v)| format!("{k:?}: {v:?}"));
        let data = format!("{{{}}}", versions.collect::<Vec<_>>().join(", "));
        let told = Event { kind: event::VERSIONS.into(), data, ..Event::default() };
        let mut rows = Rows {
            reset,
            actions: Vec::new(),
            observations: vec![card.first.clone()],
            states: vec![state(robot, 0)],
            events: vec![told],
            card,
        };
        for (values, id) in actions.iter().zip(1..) {
            let [motion @ .., gripper] = *values;
            let action = Action {
                id,
                arm: rows.card.arms[0].name.clone(),
                kind: "osc_pose_delta".into(),
                values: motion.to_vec(),
                gripper,
            };
            let measured = robot.step(&action).unwrap();
            rows.observations.push(Observation { control_step: id, action_id: id, ..measured });
            rows.states.push(state(robot, id));
            rows.actions.push(action);
        }
        rows
    }

    /// Writes them as the only episode of a run.
    pub fn write(&self) -> (TempDir, RunDir) {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, _lock) = RunDir::create(&tmp.path().join("run"), "run").unwrap();
        std::fs::create_dir_all(dir.episode_dir(0)).unwrap();
        write(&dir, std::slice::from_ref(&self.reset));
        write(&dir, std::slice::from_ref(&self.card));
        write(&dir, &self.actions);
        write(&dir, &self.observations);
        write(&dir, &self.states);
        write(&dir, &self.events);
        let result = RunResult {
            schema: RunResult::SCHEMA.into(),
            episodes: vec![EpisodeResult::default()],
            ..RunResult::default()
        };
        dir.write_result(&result).unwrap();
        (tmp, dir)
    }
}

fn state(robot: &mut dyn Robot, control_step: u64) -> State {
    State { control_step, ..robot.state().unwrap() }
}

fn write<F: Frame>(dir: &RunDir, rows: &[F]) {
    if rows.is_empty() {
        return;
    }
    let batch = stamped_batch(0, 0, 0, rows);
    let path = dir.topic_path(Some(0), F::TOPIC);
    TopicWriter::create(&path, batch.schema()).unwrap().append(&batch).unwrap();
}

/// Some motion in every direction.
pub fn wander(steps: usize) -> Vec<[f64; 7]> {
    let at = |step: usize| {
        let turn = if step.is_multiple_of(3) { 0.4 } else { 0.0 };
        [0.5, 0.3, -0.6, turn, -turn, 0.5 * turn, if step > 6 { 1.0 } else { -1.0 }]
    };
    (0..steps).map(at).collect()
}

pub fn reset(suite: &str, task: u32, seed: u64) -> Reset {
    Reset { id: "run-0-reset".into(), suite: suite.into(), task, seed, ..Reset::default() }
}
