use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::atomic::write_atomically;
use crate::{RecordError, RunResult};

const RESULT: &str = "result.json";
const SETTINGS: &str = "settings.json";
const PROGRESS: &str = "progress.jsonl";
const LOCK: &str = ".lock";
/// Room for a last `result.json` on a disk that has become full.
const RESERVE: &str = ".reserve";
const RESERVE_BYTES: usize = 64 << 10;
const MARK: &str = "ruaflow run ";
/// How the name of a topic's file ends while it grows, and when it is compacted.
pub(crate) const STREAM: &str = "arrows";
pub(crate) const TABLE: &str = "parquet";

/// A folder that holds what one start of a dataflow left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir {
    root: PathBuf,
    run: String,
}

/// Says that the run is alive, until it is dropped or the process ends.
///
/// The planner and the recorder each hold one (a shared `flock` on `.lock`).
#[derive(Debug)]
pub struct LiveLock {
    _file: File,
}

impl RunDir {
    /// Makes the folder of a new run, parents included, and marks it as alive.
    ///
    /// # Errors
    /// When the folder exists and is not empty, or can't be written.
    pub fn create(root: &Path, run: &str) -> Result<(Self, LiveLock), RecordError> {
        let fail = |source| RecordError::NotWritable { path: root.to_owned(), source };
        fs::create_dir_all(root).map_err(fail)?;
        let root = root.canonicalize().map_err(fail)?;
        if fs::read_dir(&root).map_err(fail)?.next().is_some() {
            return Err(RecordError::NotEmpty(root));
        }
        let lock = root.join(LOCK);
        // `create_new` also decides between two runs that want the same folder.
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&lock) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(RecordError::NotEmpty(root));
            }
            Err(error) => return Err(fail(error)),
        };
        file.lock_shared().map_err(fail)?;
        writeln!(file, "{MARK}{run}").map_err(|e| RecordError::write(&lock, e))?;
        let dir = RunDir { root, run: run.to_owned() };
        for folder in [dir.episodes_dir(), dir.outside_dir()] {
            fs::create_dir(&folder).map_err(|e| RecordError::write(&folder, e))?;
        }
        let reserve = dir.root.join(RESERVE);
        // Not zeros: a file system may store those without using a block.
        fs::write(&reserve, [b'.'; RESERVE_BYTES]).map_err(|e| RecordError::write(&reserve, e))?;
        Ok((dir, LiveLock { _file: file }))
    }

    /// Opens the folder of a run, finished or not.
    ///
    /// # Errors
    /// [`RecordError::NotARun`] for a folder that RuaFlow did not make.
    pub fn open(root: &Path) -> Result<Self, RecordError> {
        let not_ours = || RecordError::NotARun(root.to_owned());
        let root = root.canonicalize().map_err(|_| not_ours())?;
        let marked = fs::read_to_string(root.join(LOCK)).ok();
        let marked = marked.as_deref().and_then(|text| text.lines().next()?.strip_prefix(MARK));
        if let Some(run) = marked {
            return Ok(RunDir { run: run.to_owned(), root });
        }
        // A copy may have lost its hidden files.
        let dir = RunDir { root, run: String::new() };
        match dir.result() {
            Ok(result) => Ok(RunDir { run: result.run, ..dir }),
            Err(_) => Err(not_ours()),
        }
    }

    /// Id of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn result_path(&self) -> PathBuf {
        self.root.join(RESULT)
    }

    pub fn settings_path(&self) -> PathBuf {
        self.root.join(SETTINGS)
    }

    pub fn progress_path(&self) -> PathBuf {
        self.root.join(PROGRESS)
    }

    pub fn episodes_dir(&self) -> PathBuf {
        self.root.join("episodes")
    }

    /// Files of one episode.
    pub fn episode_dir(&self, episode: u32) -> PathBuf {
        self.episodes_dir().join(format!("{episode:03}"))
    }

    pub fn cells_dir(&self, episode: u32) -> PathBuf {
        self.episode_dir(episode).join("cells")
    }

    /// The files an episode's cells may read and write.
    pub fn workspace_dir(&self, episode: u32) -> PathBuf {
        self.episode_dir(episode).join("workspace")
    }

    /// The prompts and tools that the episodes' turns name.
    pub fn prompts_dir(&self) -> PathBuf {
        self.root.join("prompts")
    }

    pub fn pictures_dir(&self, episode: u32) -> PathBuf {
        self.episode_dir(episode).join("pictures")
    }

    /// Rows that belong to no episode.
    pub fn outside_dir(&self) -> PathBuf {
        self.root.join("run")
    }

    /// Where a topic's rows of an episode are read; `None` for those outside one.
    ///
    /// The table, when the stream has become one. While both are there the stream counts.
    pub fn topic_path(&self, episode: Option<u32>, topic: &str) -> PathBuf {
        let stream = self.stream_path(episode, topic);
        let table = stream.with_extension(TABLE);
        if !stream.exists() && table.exists() { table } else { stream }
    }

    /// Where a topic's rows of an episode are written.
    pub fn stream_path(&self, episode: Option<u32>, topic: &str) -> PathBuf {
        let folder = episode.map_or_else(|| self.outside_dir(), |n| self.episode_dir(n));
        folder.join(format!("{topic}.{STREAM}"))
    }

    /// Reads `result.json`.
    pub fn result(&self) -> Result<RunResult, RecordError> {
        let path = self.result_path();
        let text = fs::read_to_string(&path).map_err(|e| RecordError::read(&path, e))?;
        RunResult::parse(&text).map_err(|reason| RecordError::content(&path, reason))
    }

    /// Writes `result.json` as a whole. On a full disk it uses up the room kept for that.
    pub fn write_result(&self, result: &RunResult) -> Result<(), RecordError> {
        let path = self.result_path();
        let mut text =
            serde_json::to_vec_pretty(result).map_err(|e| RecordError::content(&path, e))?;
        text.push(b'\n');
        match write_atomically(&path, &text) {
            Err(RecordError::DiskFull { dir }) if self.free_reserve() => {
                tracing::warn!(
                    ?dir,
                    "the disk is full; the last result takes the room kept for it"
                );
                write_atomically(&path, &text)
            }
            other => other,
        }
    }

    /// Writes `settings.json`: what was asked, without keys.
    pub fn write_settings(&self, settings: &serde_json::Value) -> Result<(), RecordError> {
        let path = self.settings_path();
        let mut text =
            serde_json::to_vec_pretty(settings).map_err(|e| RecordError::content(&path, e))?;
        text.push(b'\n');
        write_atomically(&path, &text)
    }

    /// Marks the run as alive for as long as the lock is held.
    pub fn hold(&self) -> Result<LiveLock, RecordError> {
        let path = self.root.join(LOCK);
        let file = File::open(&path).map_err(|e| RecordError::read(&path, e))?;
        file.lock_shared().map_err(|e| RecordError::read(&path, e))?;
        Ok(LiveLock { _file: file })
    }

    /// Whether a planner or a recorder still works on it.
    pub fn is_live(&self) -> bool {
        self.try_take().is_err()
    }

    /// Takes the run for oneself; nobody else may be at work on it.
    pub(crate) fn try_take(&self) -> Result<Option<LiveLock>, RecordError> {
        let Ok(file) = File::open(self.root.join(LOCK)) else { return Ok(None) };
        match file.try_lock() {
            Ok(()) => Ok(Some(LiveLock { _file: file })),
            Err(_) => Err(RecordError::Live(self.root.clone())),
        }
    }

    /// Gives back the room kept for a last result; the run is over.
    pub fn free_reserve(&self) -> bool {
        fs::remove_file(self.root.join(RESERVE)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_folder_is_made_with_its_parents_and_found_again() {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().join("a/b");
        let (dir, _lock) = RunDir::create(&root, "r-1").unwrap();
        assert_eq!(RunDir::open(&root).unwrap(), dir);
        assert_eq!(dir.run(), "r-1");
        assert!(dir.topic_path(Some(7), "state").ends_with("episodes/007/state.arrows"));
        assert!(dir.topic_path(None, "event").ends_with("run/event.arrows"));
    }

    #[test]
    fn a_folder_with_something_in_it_is_refused_and_left_alone() {
        let tmp = tempfile::tempdir().unwrap();
        fs::write(tmp.path().join("thesis.tex"), "x").unwrap();
        let error = RunDir::create(tmp.path(), "r").unwrap_err();
        assert!(matches!(error, RecordError::NotEmpty(_)), "{error}");
        assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_written_says_so() {
        let tmp = tempfile::tempdir().unwrap();
        fs::write(tmp.path().join("file"), "x").unwrap();
        let error = RunDir::create(&tmp.path().join("file/run"), "r").unwrap_err();
        assert!(error.to_string().contains("can't be written"), "{error}");
    }

    #[test]
    fn somebody_elses_folder_is_not_a_run() {
        let tmp = tempfile::tempdir().unwrap();
        fs::write(tmp.path().join("result.json"), r#"{"schema": "other-v1"}"#).unwrap();
        assert!(matches!(RunDir::open(tmp.path()), Err(RecordError::NotARun(_))));
        assert!(matches!(RunDir::open(&tmp.path().join("missing")), Err(RecordError::NotARun(_))));
    }

    #[test]
    fn a_run_lives_as_long_as_somebody_holds_it() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, planner) = RunDir::create(&tmp.path().join("r"), "r").unwrap();
        let recorder = dir.hold().unwrap();
        drop(planner);
        assert!(dir.is_live());
        drop(recorder);
        assert!(!dir.is_live());
    }

    #[test]
    fn the_result_is_read_back_as_it_was_written() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, _lock) = RunDir::create(&tmp.path().join("r"), "r").unwrap();
        let result = RunResult {
            schema: RunResult::SCHEMA.into(),
            seeds: vec![3, 4],
            ..RunResult::default()
        };
        dir.write_result(&result).unwrap();
        assert_eq!(dir.result().unwrap(), result);
    }
}
