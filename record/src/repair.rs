use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::atomic::TEMPORARY;
use crate::stream_reader::{StreamReader, Tail};
use crate::topic_writer::END_MARKER;
use crate::{Failure, RecordError, RunDir, compact};

/// What [`repair`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// Topic streams that were not whole.
    pub files: Vec<RepairedFile>,
    /// Streams that became tables.
    pub compacted: usize,
    /// Why some files were left as they are, in words.
    pub left: Vec<String>,
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
    /// Whether it held no whole row and is gone.
    pub removed: bool,
}

/// Mends a run that nobody could end: cuts torn tails off the topics' streams, adds
/// their end markers, finishes `result.json` as failed, and then makes the streams
/// into tables. Safe to run again, and to be killed.
///
/// # Errors
/// [`RecordError::Live`] when a planner or recorder is still at work,
/// [`RecordError::NotARun`] for a folder that RuaFlow did not make, and when the run
/// is of another version. A file that can't be mended is left and told in the report.
pub fn repair(root: &Path) -> Result<RepairReport, RecordError> {
    let dir = RunDir::open(root)?;
    let _lock = dir.try_take()?;
    if dir.is_of_another_version() {
        dir.result()?;
    }
    let mut report = RepairReport::default();
    let streams = dir.streams()?;
    let ended = last_change(&streams);
    for path in streams {
        match mend(&path) {
            Ok(mended) => report.files.extend(mended),
            Err(error) => report.left.push(error.to_string()),
        }
    }
    remove_half_written(dir.root());
    dir.topic_folders()?.iter().for_each(|folder| remove_half_written(folder));
    let failure = Failure {
        node: String::new(),
        message: "the run ended without a result: its planner and its recorder were gone"
            .to_owned(),
    };
    report.finished_result = dir.finish_unfinished(failure, ended)?;
    // What a full disk keeps from being made smaller is readable as it is.
    for path in dir.streams()? {
        match compact(&path) {
            Ok(()) => report.compacted += 1,
            Err(error) => report.left.push(error.to_string()),
        }
    }
    Ok(report)
}

/// Makes one topic file whole; `None` when it is.
fn mend(path: &Path) -> Result<Option<RepairedFile>, RecordError> {
    let mut reader = StreamReader::open(path)?;
    let mut batches = 0;
    while reader.next_batch()?.is_some() {
        batches += 1;
    }
    let cut_bytes = match reader.tail() {
        Tail::Foreign => return Ok(None),
        Tail::Ended if batches > 0 => return Ok(None),
        Tail::Ended | Tail::Open => 0,
        Tail::Cut { bytes, .. } => *bytes,
    };
    let end = reader.whole_bytes();
    let removed = batches == 0;
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
fn remove_half_written(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
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
        let table = path.with_extension("parquet");
        let bytes = fs::read(&path).unwrap();
        // Every byte of the last batch, and a few of what comes before it.
        let early =
            [0, 1, 7, 8, 9, 100, ends[0] as usize - 1, ends[0] as usize, ends[0] as usize + 8];
        for cut in early.into_iter().chain(ends[1] as usize..=bytes.len()) {
            let _ = fs::remove_file(&table);
            fs::write(&path, &bytes[..cut]).unwrap();
            let report = repair(dir.root()).unwrap();
            let whole = ends.iter().filter(|end| **end <= cut as u64).count();
            assert_eq!(report.files.len(), 1, "cut at {cut}");
            assert_eq!(report.files[0].batches, whole as u64, "cut at {cut}");
            if report.files[0].removed {
                assert!(!path.exists() && whole == 0);
                continue;
            }
            assert_eq!((report.compacted, report.left.len()), (1, 0));
            assert!(!path.exists());
            assert_eq!(read_rows::<Cancel>(&table).unwrap().len(), whole);
            let made = fs::read(&table).unwrap();
            let again = repair(dir.root()).unwrap();
            assert_eq!(again, RepairReport::default(), "second time, cut at {cut}");
            assert_eq!(fs::read(&table).unwrap(), made);
        }
    }

    #[test]
    fn whatever_a_kill_leaves_of_a_compaction_ends_as_one_table() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, path, _) = run(&tmp.path().join("r"));
        repair(dir.root()).unwrap();
        let table = path.with_extension("parquet");
        let made = fs::read(&table).unwrap();
        let half = path.with_file_name(".cancel.parquet.1.tmp");
        for before in [Some(&made[..]), Some(&made[..made.len() / 2]), None] {
            let (_, stream, _) =
                run(&tmp.path().join(format!("{}", before.map_or(0, <[u8]>::len))));
            fs::rename(&stream, &path).unwrap();
            fs::write(&half, "half").unwrap();
            match before {
                Some(bytes) => fs::write(&table, bytes).unwrap(),
                None => fs::remove_file(&table).unwrap(),
            }
            let read = |dir: &RunDir| {
                let path = dir.topic_path(Some(0), "cancel");
                read_rows::<Cancel>(&path).unwrap().len()
            };
            assert_eq!(read(&dir), 3, "readable before it is repaired");
            assert_eq!(repair(dir.root()).unwrap().compacted, 1);
            assert_eq!(read(&dir), 3);
            assert!(!path.exists() && !half.exists() && fs::read(&table).unwrap() == made);
        }
    }

    #[test]
    fn a_run_of_another_version_and_a_foreign_file_are_left_alone() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, path, _) = run(&tmp.path().join("r"));
        let foreign = path.with_file_name("table.arrows");
        fs::write(&foreign, "ARROW1").unwrap();
        let report = repair(dir.root()).unwrap();
        assert_eq!(report.compacted, 1);
        assert!(report.left[0].contains("table.arrows"), "{:?}", report.left);
        assert_eq!(fs::read(&foreign).unwrap(), b"ARROW1");

        let (dir, path, _) = run(&tmp.path().join("newer"));
        let newer = r#"{"schema": "ruaflow-run-v9", "status": "running"}"#;
        fs::write(dir.result_path(), newer).unwrap();
        let error = repair(dir.root()).unwrap_err().to_string();
        assert!(error.contains("ruaflow-run-v9"), "{error}");
        assert_eq!(fs::read_to_string(dir.result_path()).unwrap(), newer);
        assert!(path.exists());
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
    fn what_cannot_be_compacted_is_told_and_stays() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, path, _) = run(&tmp.path().join("r"));
        // A file can't take a folder's place.
        fs::create_dir(path.with_extension("parquet")).unwrap();
        let report = repair(dir.root()).unwrap();
        assert_eq!((report.compacted, report.left.len()), (0, 1));
        assert!(report.left[0].contains("cancel.parquet"), "{:?}", report.left);
        assert!(report.finished_result, "the result does not wait for it");
        assert_eq!(read_rows::<Cancel>(&path).unwrap().len(), 3);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
    }

    #[test]
    fn a_folder_of_somebody_else_is_left_alone() {
        let tmp = tempfile::tempdir().unwrap();
        fs::write(tmp.path().join("result.json"), "{}").unwrap();
        assert!(matches!(repair(tmp.path()), Err(RecordError::NotARun(_))));
        assert_eq!(fs::read(tmp.path().join("result.json")).unwrap(), b"{}");
    }
}
