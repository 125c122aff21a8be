use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::atomic::TEMPORARY;
use crate::topic_writer::END_MARKER;
use crate::{Failure, RecordError, RunDir, Tail, TopicReader};

/// What [`repair`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// Topic files that were not whole.
    pub files: Vec<RepairedFile>,
    /// Whether `result.json` had to be finished.
    pub finished_result: bool,
}

/// A topic file that was mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairedFile {
    pub path: PathBuf,
    /// Batches that are in the file.
    pub batches: u64,
    /// Bytes of a torn batch that were cut off.
    pub cut_bytes: u64,
    /// Whether it held no whole message at all and is gone.
    pub removed: bool,
}

/// Mends a run that nobody could end: cuts torn tails off the topic files, adds
/// their end markers, and finishes `result.json` as failed. Safe to run again.
///
/// # Errors
/// [`RecordError::Live`] when a planner or recorder is still at work, and
/// [`RecordError::NotARun`] for a folder that RuaFlow did not make.
pub fn repair(root: &Path) -> Result<RepairReport, RecordError> {
    let dir = RunDir::open(root)?;
    let _lock = dir.try_take()?;
    let mut report = RepairReport::default();
    let files = dir.topic_files()?;
    let ended = last_change(&files);
    for path in files {
        report.files.extend(mend(&path)?);
    }
    remove_half_written(&dir);
    let failure = Failure {
        node: String::new(),
        message: "the run ended without a result: its planner and its recorder were gone"
            .to_owned(),
    };
    report.finished_result = dir.finish_unfinished(failure, ended)?;
    Ok(report)
}

/// Makes one topic file whole; `None` when it is.
fn mend(path: &Path) -> Result<Option<RepairedFile>, RecordError> {
    let mut reader = TopicReader::open(path)?;
    let mut batches = 0;
    while reader.next_batch()?.is_some() {
        batches += 1;
    }
    let cut_bytes = match reader.tail() {
        Tail::Ended => return Ok(None),
        Tail::Open => 0,
        Tail::Cut { bytes, .. } => *bytes,
    };
    let end = reader.whole_bytes();
    let removed = end == 0;
    if removed {
        fs::remove_file(path).map_err(|e| RecordError::write(path, e))?;
    } else {
        let file =
            OpenOptions::new().write(true).open(path).map_err(|e| RecordError::write(path, e))?;
        file.set_len(end)
            .and_then(|()| file.write_all_at(&END_MARKER, end))
            .and_then(|()| file.sync_all())
            .map_err(|e| RecordError::write(path, e))?;
    }
    Ok(Some(RepairedFile { path: path.to_owned(), batches, cut_bytes, removed }))
}

fn last_change(files: &[PathBuf]) -> SystemTime {
    let times = files.iter().filter_map(|path| fs::metadata(path).ok()?.modified().ok());
    times.max().unwrap_or_else(SystemTime::now)
}

/// What a kill in the middle of replacing a file left behind.
fn remove_half_written(dir: &RunDir) {
    let Ok(entries) = fs::read_dir(dir.root()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if name.starts_with('.') && name.ends_with(TEMPORARY) {
            // Clutter at worst.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::Cancel;

    use super::*;
    use crate::{RunResult, Status, TopicWriter, read_rows, stamped_batch};

    fn cancel(n: u64) -> Cancel {
        Cancel { id: n.to_string(), reason: "because".into() }
    }

    /// A run of one episode with three batches in one file, and where they end.
    fn run(root: &Path) -> (RunDir, PathBuf, Vec<u64>) {
        let (dir, _lock) = RunDir::create(root, "r").unwrap();
        let result = RunResult {
            schema: RunResult::SCHEMA.into(),
            created_at: "2026-01-01T00:00:00Z".into(),
            ..RunResult::default()
        };
        dir.write_result(&result).unwrap();
        fs::create_dir(dir.episode_dir(0)).unwrap();
        let path = dir.topic_path(Some(0), "cancel");
        let mut writer =
            TopicWriter::create(&path, stamped_batch(0, 0, 0, &[cancel(0)]).schema()).unwrap();
        let ends = (0..3)
            .map(|n| {
                writer.append(&stamped_batch(0, n, 0, &[cancel(n)])).unwrap();
                writer.bytes()
            })
            .collect();
        (dir, path, ends)
    }

    #[test]
    fn a_file_cut_at_any_byte_becomes_whole_and_stays_so() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, path, ends) = run(&tmp.path().join("r"));
        let bytes = fs::read(&path).unwrap();
        // Every byte of the last batch, and a few of what comes before it.
        let early =
            [0, 1, 7, 8, 9, 100, ends[0] as usize - 1, ends[0] as usize, ends[0] as usize + 8];
        for cut in early.into_iter().chain(ends[1] as usize..=bytes.len()) {
            fs::write(&path, &bytes[..cut]).unwrap();
            let report = repair(dir.root()).unwrap();
            let whole = ends.iter().filter(|end| **end <= cut as u64).count();
            assert_eq!(report.files.len(), 1, "cut at {cut}");
            assert_eq!(report.files[0].batches, whole as u64, "cut at {cut}");
            if report.files[0].removed {
                assert!(!path.exists() && whole == 0);
                continue;
            }
            let strict =
                arrow::ipc::reader::StreamReader::try_new(fs::File::open(&path).unwrap(), None)
                    .unwrap();
            assert_eq!(strict.map(Result::unwrap).count(), whole);
            assert_eq!(read_rows::<Cancel>(&path).unwrap().len(), whole);
            assert!(fs::read(&path).unwrap().ends_with(&END_MARKER));

            let mended = fs::read(&path).unwrap();
            assert_eq!(
                repair(dir.root()).unwrap(),
                RepairReport::default(),
                "second time, cut at {cut}"
            );
            assert_eq!(fs::read(&path).unwrap(), mended);
        }
    }

    #[test]
    fn a_repaired_run_has_failed() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, ..) = run(&tmp.path().join("r"));
        fs::write(dir.root().join(".result.json.1.tmp"), "half").unwrap();
        assert!(repair(dir.root()).unwrap().finished_result);
        let result = dir.result().unwrap();
        assert_eq!(result.status, Status::Failed);
        assert!(result.finished_at.is_some());
        assert!(!dir.root().join(".result.json.1.tmp").exists());
    }

    #[test]
    fn a_live_run_is_left_alone() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, path, _) = run(&tmp.path().join("r"));
        let lock = dir.hold().unwrap();
        let before = fs::read(&path).unwrap();
        assert!(matches!(repair(dir.root()), Err(RecordError::Live(_))));
        assert_eq!(fs::read(&path).unwrap(), before);
        drop(lock);
        assert!(repair(dir.root()).unwrap().finished_result);
    }

    #[test]
    fn a_folder_of_somebody_else_is_left_alone() {
        let tmp = tempfile::tempdir().unwrap();
        fs::write(tmp.path().join("result.json"), "{}").unwrap();
        assert!(matches!(repair(tmp.path()), Err(RecordError::NotARun(_))));
        assert_eq!(fs::read(tmp.path().join("result.json")).unwrap(), b"{}");
    }
}
