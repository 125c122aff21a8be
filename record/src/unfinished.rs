use std::path::PathBuf;
use std::time::SystemTime;

use ruaflow_schemas::{CallResult, Frame, Observation};

use crate::run_dir::STREAM;
use crate::{
    EpisodeResult, Failure, Reason, RecordError, RunDir, RunResult, Status, TopicReader,
    frame_rows, read_rows,
};

impl RunDir {
    /// Finishes the result of a run whose planner is gone, from what the
    /// recorder has; `node` is who is to blame, empty when nobody knows.
    ///
    /// Does nothing and returns `false` when the run already has its result.
    pub fn finish_as_failed(&self, node: &str, message: &str) -> Result<bool, RecordError> {
        self.finish_unfinished(
            Failure { node: node.to_owned(), message: message.to_owned() },
            SystemTime::now(),
        )
    }

    pub(crate) fn finish_unfinished(
        &self,
        failure: Failure,
        ended: SystemTime,
    ) -> Result<bool, RecordError> {
        let mut result = match self.result() {
            Ok(result) if result.status != Status::Running => return Ok(false),
            Ok(result) => result,
            Err(error) if self.is_of_another_version() => return Err(error),
            // Killed before it was written, or lost.
            Err(_) => self.minimal_result(ended),
        };
        for n in 0..self.episodes_on_disk()? {
            if result.episodes.iter().all(|e| e.episode != n) {
                result.episodes.push(EpisodeResult { episode: n, ..EpisodeResult::default() });
            }
        }
        result.episodes.sort_by_key(|e| e.episode);
        for episode in result.episodes.iter_mut().filter(|e| e.status == Status::Running) {
            episode.status = Status::Failed;
            episode.reason = Some(Reason::NodeDied);
            episode.error = Some(failure.clone());
            self.fill_in(episode);
        }
        result.sum_up();
        result.status = Status::Failed;
        result.reason = Some(Reason::NodeDied);
        result.error = Some(failure);
        result.total_wall_s = humantime::parse_rfc3339(&result.created_at)
            .ok()
            .and_then(|created| ended.duration_since(created).ok())
            .map_or(0.0, |d| d.as_secs_f64());
        result.finished_at = Some(humantime::format_rfc3339_seconds(ended).to_string());
        self.write_result(&result)?;
        self.free_reserve();
        Ok(true)
    }

    fn minimal_result(&self, at: SystemTime) -> RunResult {
        RunResult {
            schema: RunResult::SCHEMA.to_owned(),
            system: "ruaflow".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            run: self.run().to_owned(),
            created_at: humantime::format_rfc3339_seconds(at).to_string(),
            ..RunResult::default()
        }
    }

    /// Takes from the recorded rows what the planner had no time to say.
    fn fill_in(&self, episode: &mut EpisodeResult) {
        if let Some(last) = self.last_observation(episode.episode) {
            episode.env_steps = last.control_step;
            episode.terminated = last.terminated;
            episode.truncated = last.truncated;
            episode.environment_success = last.success;
        }
        let calls = self.count_rows(&self.topic_path(Some(episode.episode), CallResult::TOPIC));
        episode.calls = episode.calls.max(calls);
        episode.stateful_calls = episode.stateful_calls.max(calls);
    }

    /// The last recorded observation of an episode.
    fn last_observation(&self, episode: u32) -> Option<Observation> {
        let mut reader =
            TopicReader::open(&self.topic_path(Some(episode), Observation::TOPIC)).ok()?;
        let mut last = None;
        while let Ok(Some(batch)) = reader.next_batch() {
            last = Some(batch);
        }
        let rows = frame_rows::<Observation>(&last?).ok()?;
        (!rows.is_empty()).then(|| rows.get(rows.len() - 1).to_owned())
    }

    fn count_rows(&self, path: &std::path::Path) -> u64 {
        read_rows::<CallResult>(path).map_or(0, |rows| rows.len() as u64)
    }

    fn episodes_on_disk(&self) -> Result<u32, RecordError> {
        let dir = self.episodes_dir();
        let Ok(entries) = std::fs::read_dir(&dir) else { return Ok(0) };
        let numbers =
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        Ok(numbers.map(|n| n.saturating_add(1)).max().unwrap_or(0))
    }

    /// Whether `result.json` is one that only another version can read.
    pub(crate) fn is_of_another_version(&self) -> bool {
        let text = std::fs::read_to_string(self.result_path()).unwrap_or_default();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        value["schema"].as_str().is_some_and(|schema| schema != RunResult::SCHEMA)
    }

    /// The folders that topic files lie in.
    pub(crate) fn topic_folders(&self) -> Result<Vec<PathBuf>, RecordError> {
        let episodes = (0..self.episodes_on_disk()?).map(|n| self.episode_dir(n));
        Ok(std::iter::once(self.outside_dir()).chain(episodes).collect())
    }

    /// The topics' streams, of all episodes and outside one.
    pub(crate) fn streams(&self) -> Result<Vec<PathBuf>, RecordError> {
        let mut files = Vec::new();
        for folder in self.topic_folders()? {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            files.extend(entries.flatten().map(|e| e.path()).filter(|path| {
                path.extension().is_some_and(|kind| kind == STREAM)
                    && path.symlink_metadata().is_ok_and(|m| m.is_file())
            }));
        }
        files.sort();
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TopicWriter, stamped_batch};

    fn run() -> (tempfile::TempDir, RunDir) {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, _lock) = RunDir::create(&tmp.path().join("r"), "r-7").unwrap();
        (tmp, dir)
    }

    fn record_observations(dir: &RunDir, episode: u32, steps: u64) {
        std::fs::create_dir_all(dir.episode_dir(episode)).unwrap();
        let rows: Vec<Observation> = (0..=steps)
            .map(|control_step| Observation {
                control_step,
                success: control_step == steps,
                ..Observation::default()
            })
            .collect();
        let batch = stamped_batch(episode.into(), 0, 0, &rows);
        let mut writer =
            TopicWriter::create(&dir.topic_path(Some(episode), "observation"), batch.schema())
                .unwrap();
        writer.append(&batch).unwrap();
    }

    #[test]
    fn a_run_without_its_planner_is_finished_from_what_was_recorded() {
        let (_tmp, dir) = run();
        let done =
            EpisodeResult { status: Status::Completed, env_steps: 3, ..EpisodeResult::default() };
        let open = EpisodeResult { episode: 1, ..EpisodeResult::default() };
        let result = RunResult {
            schema: RunResult::SCHEMA.into(),
            run: "r-7".into(),
            seeds: vec![0, 1],
            episodes: vec![done, open],
            created_at: "2026-01-01T00:00:00Z".into(),
            ..RunResult::default()
        };
        dir.write_result(&result).unwrap();
        record_observations(&dir, 1, 9);

        assert!(dir.finish_as_failed("planner", "node \"planner\" died").unwrap());
        let result = dir.result().unwrap();
        assert_eq!((result.status, result.env_steps), (Status::Failed, 12));
        assert_eq!(result.error.unwrap().node, "planner");
        assert_eq!(result.episodes[0].status, Status::Completed);
        assert!(result.episodes[1].environment_success);
        assert!(result.total_wall_s > 0.0);

        assert!(!dir.finish_as_failed("recorder", "later").unwrap());
        assert_eq!(dir.result().unwrap().error.unwrap().node, "planner");
    }

    #[test]
    fn a_run_killed_before_its_first_result_gets_one() {
        let (_tmp, dir) = run();
        record_observations(&dir, 0, 2);
        assert!(dir.finish_as_failed("", "gone").unwrap());
        let result = dir.result().unwrap();
        assert_eq!((result.run.as_str(), result.episodes.len()), ("r-7", 1));
        assert_eq!(result.episodes[0].env_steps, 2);
    }
}
