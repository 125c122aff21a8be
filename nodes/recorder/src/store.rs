use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ruaflow_record::{RecordError, RunDir, TopicWriter};

use crate::batch::TopicRows;
use crate::compactor::Compactor;

/// Files a topic may fill in one episode when its schema changes on the way.
const MAX_SHAPES: usize = 4;
/// Topic files open at once.
const MAX_FILES: usize = 256;

/// The topic files of a run that are being written.
pub(crate) struct Store {
    dir: RunDir,
    /// Episode that runs or ran last.
    current: u32,
    /// Files of one episode and topic, one per shape of its rows.
    open: BTreeMap<(Option<u32>, String), Vec<TopicWriter>>,
    prepared: BTreeSet<u32>,
    /// Episodes before this one have ended on the disk, too.
    closed_before: u32,
    /// None when the system has no thread to give; the streams then stay.
    compactor: Option<Compactor>,
}

/// What became of rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Appended {
    /// Episode they lie with; nothing when they lie with those outside one.
    pub episode: Option<u32>,
    /// What is odd about them, in words for a warning.
    pub oddity: Option<String>,
}

impl Store {
    pub fn new(dir: RunDir) -> Self {
        Store {
            dir,
            current: 0,
            open: BTreeMap::new(),
            prepared: BTreeSet::new(),
            closed_before: 0,
            compactor: Compactor::start().ok(),
        }
    }

    pub fn dir(&self) -> &RunDir {
        &self.dir
    }

    pub fn set_current(&mut self, episode: u32) {
        self.current = episode;
    }

    /// Adds rows to their topic's file.
    ///
    /// Rows with another schema than their file get a file of their own, and
    /// rows of an episode that is not under way go where those outside one are.
    pub fn append(&mut self, rows: &TopicRows) -> Result<Appended, RecordError> {
        let episode = rows.episode.filter(|n| self.is_under_way(*n));
        let mut oddity = (episode != rows.episode).then(|| {
            format!(
                "topic {:?}: rows of episode {:?}, which is not under way",
                rows.topic,
                rows.episode.unwrap_or(0)
            )
        });
        let schema = rows.rows.schema();
        let count: usize = self.open.values().map(Vec::len).sum();
        let files = self.open.entry((episode, rows.topic.clone())).or_default();
        // Metadata holds the schema's version, so it counts too.
        let at = files.iter().position(|file| *file.schema() == schema);
        let at = match at {
            Some(at) => at,
            None if files.len() == MAX_SHAPES || count >= MAX_FILES => {
                let oddity = format!(
                    "topic {:?}: too many schemas or topics, rows are not recorded",
                    rows.topic
                );
                return Ok(Appended { episode: None, oddity: Some(oddity) });
            }
            None => {
                let shape = files.len() + 1;
                let name =
                    if shape == 1 { rows.topic.clone() } else { format!("{}.{shape}", rows.topic) };
                if shape > 1 {
                    oddity = Some(format!(
                        "topic {:?}: its schema has changed, recorded as {name:?}",
                        rows.topic
                    ));
                }
                if let Some(n) = episode
                    && self.prepared.insert(n)
                {
                    make_folder(&self.dir.episode_dir(n))?;
                }
                files.push(TopicWriter::create(&self.dir.stream_path(episode, &name), schema)?);
                shape - 1
            }
        };
        files[at].append(&rows.rows)?;
        Ok(Appended { episode, oddity })
    }

    /// Has a picture made smaller when there is time.
    pub fn pack(&self, picture: PathBuf) {
        if let Some(compactor) = &self.compactor {
            compactor.take(picture);
        }
    }

    /// Waits until all rows are on the disk.
    pub fn sync(&mut self) -> Result<(), RecordError> {
        self.open.values_mut().flatten().try_for_each(TopicWriter::sync)
    }

    /// Ends the files of episodes that nothing more is expected of, and has them compacted.
    pub fn finish_before(&mut self, episode: u32) -> Result<(), RecordError> {
        self.closed_before = self.closed_before.max(episode);
        self.finish(|of| of.is_some_and(|n| n < episode))
    }

    /// Ends all files, and waits until they are compacted.
    pub fn finish_all(&mut self) -> Result<(), RecordError> {
        self.closed_before = u32::MAX;
        let ended = self.finish(|_| true);
        self.compactor = None;
        ended
    }

    fn finish(&mut self, of: impl Fn(Option<u32>) -> bool) -> Result<(), RecordError> {
        let done: Vec<_> = self.open.keys().filter(|(episode, _)| of(*episode)).cloned().collect();
        let files = done.iter().filter_map(|key| self.open.remove(key)).flatten();
        // One file that fails must not keep the others from their end.
        let ends = files.map(|file| {
            let stream = file.path().to_owned();
            file.finish()?;
            if let Some(compactor) = &self.compactor {
                compactor.take(stream);
            }
            Ok(())
        });
        ends.fold(Ok(()), Result::and)
    }

    /// The next episode may begin for a node before this one hears of it, and
    /// rows of the last one may still be on their way.
    fn is_under_way(&self, episode: u32) -> bool {
        episode <= self.current.saturating_add(1)
            && episode.saturating_add(1) >= self.current
            && episode >= self.closed_before
    }
}

/// Makes a folder inside the run's; a run's folder that has vanished is not made anew.
pub(crate) fn make_folder(path: &Path) -> Result<(), RecordError> {
    match fs::create_dir(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(RecordError::NotWritable { path: path.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::StructArray;
    use ruaflow_record::{read_rows, stamped_batch};
    use ruaflow_schemas::{Cancel, Receipt};

    use super::*;
    use crate::batch::Incoming;
    use crate::batch::tests::incoming;

    fn cancels(episode: i64, ids: &[&str]) -> TopicRows {
        let frames: Vec<Cancel> =
            ids.iter().map(|id| Cancel { id: (*id).into(), reason: String::new() }).collect();
        incoming(episode, &frames).check().unwrap().remove(0)
    }

    fn store() -> (tempfile::TempDir, Store) {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, _lock) = RunDir::create(&tmp.path().join("r"), "r").unwrap();
        (tmp, Store::new(dir))
    }

    fn ids(dir: &RunDir, episode: Option<u32>, topic: &str) -> Vec<String> {
        let rows = read_rows::<Cancel>(&dir.topic_path(episode, topic)).unwrap();
        rows.into_iter().map(|c| c.id).collect()
    }

    #[test]
    fn rows_are_readable_at_once_and_lie_with_their_episode() {
        let (_tmp, mut store) = store();
        assert_eq!(store.append(&cancels(-1, &["out"])).unwrap(), Appended::default());
        let appended = Appended { episode: Some(0), oddity: None };
        assert_eq!(store.append(&cancels(0, &["a", "b"])).unwrap(), appended);
        assert_eq!(store.append(&cancels(0, &["c"])).unwrap(), appended);
        assert_eq!(ids(store.dir(), None, "cancel"), ["out"]);
        assert_eq!(ids(store.dir(), Some(0), "cancel"), ["a", "b", "c"]);
    }

    #[test]
    fn another_schema_under_the_same_name_gets_its_own_file() {
        let (_tmp, mut store) = store();
        store.append(&cancels(0, &["a"])).unwrap();
        let rows = stamped_batch(0, 0, 0, &[Receipt::default()]);
        let other = Incoming {
            topic: "cancel".into(),
            version: 1,
            array: Arc::new(StructArray::from(rows)),
        };
        let other = other.check().unwrap().remove(0);
        assert!(store.append(&other).unwrap().oddity.unwrap().contains("schema has changed"));
        assert_eq!(store.append(&other).unwrap().oddity, None, "one warning is enough");
        store.append(&cancels(0, &["b"])).unwrap();
        assert_eq!(ids(store.dir(), Some(0), "cancel"), ["a", "b"]);
        assert!(store.dir().topic_path(Some(0), "cancel.2").exists());
    }

    #[test]
    fn schemas_without_end_are_not_recorded_for_ever() {
        let (_tmp, mut store) = store();
        let results: Vec<_> = (0..10)
            .map(|version| {
                let batch = Incoming { version, ..incoming(0, &[Cancel::default()]) };
                store.append(&batch.check().unwrap()[0]).unwrap().oddity
            })
            .collect();
        assert!(results[9].as_ref().unwrap().contains("not recorded"));
        assert_eq!(fs::read_dir(store.dir().episode_dir(0)).unwrap().count(), MAX_SHAPES);
    }

    #[test]
    fn rows_of_an_unheard_of_episode_make_no_folder() {
        let (_tmp, mut store) = store();
        let far = store.append(&cancels(4_000_000_000, &["far"])).unwrap();
        assert!(far.oddity.is_some() && far.episode.is_none());
        assert_eq!(ids(store.dir(), None, "cancel"), ["far"]);
        store.set_current(5);
        assert!(store.append(&cancels(3, &["old"])).unwrap().oddity.is_some());
        for episode in [4, 5, 6] {
            assert_eq!(store.append(&cancels(episode, &["x"])).unwrap().oddity, None);
        }
    }

    #[test]
    fn ended_streams_become_tables() {
        let (_tmp, mut store) = store();
        store.append(&cancels(-1, &["out"])).unwrap();
        store.append(&cancels(0, &["a"])).unwrap();
        store.append(&cancels(1, &["b"])).unwrap();
        store.sync().unwrap();
        store.finish_before(1).unwrap();
        let late = store.append(&cancels(0, &["late"])).unwrap();
        assert!(late.oddity.is_some() && late.episode.is_none(), "a table takes no more rows");
        store.finish_all().unwrap();
        let dir = store.dir();
        for (episode, expected) in
            [(None, &["out", "late"][..]), (Some(0), &["a"]), (Some(1), &["b"])]
        {
            let path = dir.topic_path(episode, "cancel");
            assert!(path.extension().is_some_and(|kind| kind == "parquet"), "{path:?}");
            assert_eq!(ids(dir, episode, "cancel"), expected);
            assert!(!dir.stream_path(episode, "cancel").exists());
        }
    }

    #[test]
    fn a_stream_that_cannot_be_compacted_stays_and_ends_nothing() {
        let (_tmp, mut store) = store();
        store.append(&cancels(0, &["a"])).unwrap();
        let stream = store.dir().stream_path(Some(0), "cancel");
        // A file can't take a folder's place.
        fs::create_dir(stream.with_extension("parquet")).unwrap();
        store.finish_all().unwrap();
        assert_eq!(ids(store.dir(), Some(0), "cancel"), ["a"]);
        assert!(fs::read(&stream).unwrap().ends_with(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]));
    }
}
