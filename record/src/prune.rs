use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ruaflow_schemas::{Frame as _, State};

use crate::run_dir::{STREAM, TABLE};
use crate::{Level, RecordError, RunDir};

/// Names in a run's folder; what begins with a dot and ends as temporary files do is ours, too.
const OURS: [&str; 9] = [
    ".lock",
    ".reserve",
    "dora.log",
    "episodes",
    "progress.jsonl",
    "prompts",
    "result.json",
    "run",
    "settings.json",
];

impl RunDir {
    /// What the run takes on disk, bytes. Links are not followed.
    pub fn bytes(&self) -> u64 {
        bytes_below(self.root())
    }

    /// What the level `light` does without: states, and pictures that no agent saw.
    pub fn beyond_light(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for folder in self.topic_folders().unwrap_or_default() {
            if !is_folder(&folder) || !folder.parent().is_some_and(is_folder) {
                continue;
            }
            files.extend(entries(&folder).filter(|path| holds_states(path)));
            let pictures = folder.join("pictures");
            if is_folder(&pictures) {
                files.extend(entries(&pictures));
            }
        }
        files.retain(|path| path.symlink_metadata().is_ok_and(|kind| kind.is_file()));
        files
    }

    /// Lowers the run to the level `light`.
    ///
    /// # Errors
    /// [`RecordError::Live`] among others.
    pub fn lighten(&self) -> Result<(), RecordError> {
        let _lock = self.try_take()?;
        let mut result = self.result()?;
        if result.record != Level::Light {
            // First, so that nobody is promised what a kill has left half.
            result.record = Level::Light;
            self.write_result(&result)?;
        }
        self.beyond_light()
            .iter()
            .try_for_each(|path| fs::remove_file(path).map_err(|e| RecordError::write(path, e)))
    }

    /// What lies in the run's folder and is not of RuaFlow's making.
    pub fn strangers(&self) -> Vec<PathBuf> {
        let ours = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            OURS.contains(&&*name)
                || (name.starts_with('.') && name.ends_with(crate::atomic::TEMPORARY))
        };
        entries(self.root()).filter(|path| !ours(path)).collect()
    }

    /// Removes the run and its folder.
    ///
    /// # Errors
    /// [`RecordError::Live`] among others. What is left of a run is still known as one.
    pub fn remove(&self) -> Result<(), RecordError> {
        let _lock = self.try_take()?;
        let lock = self.root().join(".lock");
        let all = entries(self.root()).filter(|path| *path != lock).chain([lock.clone()]);
        let removed = all.map(|path| match path.symlink_metadata() {
            Ok(kind) if kind.is_dir() => fs::remove_dir_all(&path),
            Ok(_) => fs::remove_file(&path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        });
        removed
            .fold(Ok(()), io::Result::and)
            .and_then(|()| fs::remove_dir(self.root()))
            .map_err(|e| RecordError::write(self.root(), e))
    }
}

/// Also those that went on under another schema, in `state.2.parquet`.
fn holds_states(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let parts: Vec<&str> = name.split('.').collect();
    matches!(parts[..], [State::TOPIC, kind] | [State::TOPIC, _, kind] if [STREAM, TABLE].contains(&kind))
}

/// A folder itself, not a link to one.
fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|kind| kind.is_dir())
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn bytes_below(folder: &Path) -> u64 {
    entries(folder)
        .map(|path| match path.symlink_metadata() {
            Ok(kind) if kind.is_dir() => bytes_below(&path),
            Ok(kind) => kind.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::RunResult;

    /// A run with a state, a picture and what must stay.
    fn run(root: &Path) -> RunDir {
        let (dir, _lock) = RunDir::create(root, "r").unwrap();
        let schema = RunResult::SCHEMA.into();
        dir.write_result(&RunResult { schema, ..RunResult::default() }).unwrap();
        fs::create_dir_all(dir.pictures_dir(0)).unwrap();
        for name in ["state.parquet", "state.arrows", "action.parquet", "pictures/00000-a.png"] {
            fs::write(dir.episode_dir(0).join(name), [0; 100]).unwrap();
        }
        dir
    }

    #[test]
    fn a_lightened_run_keeps_what_it_is_judged_by_and_says_so() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = run(&tmp.path().join("r"));
        let before = dir.bytes();
        assert_eq!(dir.beyond_light().len(), 3);
        dir.lighten().unwrap();
        assert_eq!(dir.result().unwrap().record, Level::Light);
        assert!(dir.beyond_light().is_empty() && dir.bytes() < before);
        assert!(dir.episode_dir(0).join("action.parquet").exists());
        dir.lighten().unwrap();
    }

    #[test]
    fn links_are_never_followed_out_of_a_run() {
        let tmp = tempfile::tempdir().unwrap();
        let thesis = tmp.path().join("thesis");
        fs::create_dir_all(thesis.join("pictures")).unwrap();
        for name in ["state.parquet", "pictures/1.png", "notes"] {
            fs::write(thesis.join(name), "mine").unwrap();
        }
        let dir = run(&tmp.path().join("r"));
        symlink(&thesis, dir.episode_dir(1)).unwrap();
        fs::create_dir(dir.episode_dir(2)).unwrap();
        symlink(thesis.join("pictures"), dir.pictures_dir(2)).unwrap();
        symlink(thesis.join("state.parquet"), dir.episode_dir(2).join("state.parquet")).unwrap();
        dir.lighten().unwrap();
        dir.remove().unwrap();
        assert!(!dir.root().exists());
        assert_eq!(bytes_below(&thesis), 12);
    }

    #[test]
    fn a_live_run_is_left_alone() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = run(&tmp.path().join("r"));
        let _lock = dir.hold().unwrap();
        let before = dir.bytes();
        assert!(matches!(dir.lighten(), Err(RecordError::Live(_))));
        assert!(matches!(dir.remove(), Err(RecordError::Live(_))));
        assert_eq!(dir.bytes(), before);
    }

    #[test]
    fn what_somebody_has_put_into_a_run_is_found() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = run(&tmp.path().join("r"));
        fs::write(dir.root().join(".result.json.1.tmp"), "").unwrap();
        assert!(dir.strangers().is_empty());
        fs::write(dir.root().join("film.mp4"), "").unwrap();
        assert_eq!(dir.strangers(), [dir.root().join("film.mp4")]);
    }
}
