//! A folder that changes as a whole.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::ExportError;

const STAGE: &str = "new";
const OLD: &str = "old";

/// The place beside a folder where its next form is made. Whoever has it, has the folder.
pub(super) struct Work {
    target: PathBuf,
    folder: PathBuf,
    _lock: File,
}

impl Work {
    /// # Errors
    /// [`ExportError::Busy`], [`ExportError::Write`].
    pub fn open(target: &Path) -> Result<Self, ExportError> {
        let unwritten = |error: io::Error| ExportError::write(target, error);
        // Through links, so that the folder changes and not the link to it.
        let absolute = target.canonicalize().or_else(|_| std::path::absolute(target));
        let absolute = absolute.map_err(unwritten)?;
        let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
            return Err(ExportError::write(target, "it has no folder above it"));
        };
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(".export");
        let folder = parent.join(hidden);
        fs::create_dir_all(&folder).map_err(unwritten)?;
        let lock = File::open(&folder).map_err(unwritten)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(ExportError::Busy { dir: absolute }),
            Err(TryLockError::Error(error)) => return Err(unwritten(error)),
        }
        let work = Work { target: absolute, folder, _lock: lock };
        work.recover().map_err(unwritten)?;
        Ok(work)
    }

    pub fn target(&self) -> &Path {
        &self.target
    }

    /// An empty folder for the next form.
    pub fn stage(&self) -> Result<Stage, ExportError> {
        let folder = self.folder.join(STAGE);
        let empty = || {
            remove(&folder)?;
            fs::create_dir(&folder)
        };
        empty().map_err(|error| ExportError::write(&folder, error))?;
        let old = self.folder.join(OLD);
        Ok(Stage { target: self.target.clone(), folder, old, new: Vec::new() })
    }

    /// Mends what a kill left: it may have come between the two renames of
    /// [`Stage::swap`].
    fn recover(&self) -> io::Result<()> {
        let old = self.folder.join(OLD);
        if old.exists() && !self.target.exists() {
            fs::rename(&old, &self.target)?;
        }
        remove(&old)?;
        remove(&self.folder.join(STAGE))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // Of no use to anybody; the next one clears it, too.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The next form of a folder; gone when dropped before it is published.
pub(super) struct Stage {
    target: PathBuf,
    folder: PathBuf,
    old: PathBuf,
    /// Files that are not yet known to be on disk.
    new: Vec<PathBuf>,
}

impl Stage {
    /// Where to write a new file.
    pub fn create(&mut self, file: &str) -> Result<PathBuf, ExportError> {
        let path = self.place(file)?;
        self.new.push(path.clone());
        Ok(path)
    }

    pub fn write(&mut self, file: &str, text: &str) -> Result<(), ExportError> {
        let path = self.create(file)?;
        fs::write(&path, text).map_err(|error| ExportError::write(&path, error))
    }

    /// Takes a file over as it is.
    pub fn keep(&mut self, file: &str) -> Result<(), ExportError> {
        let (from, to) = (self.target.join(file), self.place(file)?);
        if fs::hard_link(&from, &to).is_err() {
            // Some file systems have no links.
            fs::copy(&from, &to).map_err(|error| ExportError::write(&to, error))?;
            self.new.push(to);
        }
        Ok(())
    }

    /// Makes it the folder, in one step.
    pub fn publish(self) -> Result<(), ExportError> {
        for path in &self.new {
            let synced = File::open(path).and_then(|file| file.sync_all());
            synced.map_err(|error| ExportError::write(path, error))?;
        }
        self.swap().map_err(|error| ExportError::write(&self.target, error))
    }

    fn place(&self, file: &str) -> Result<PathBuf, ExportError> {
        let path = self.folder.join(file);
        let parent = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(|error| ExportError::write(&path, error))?;
        Ok(path)
    }

    fn swap(&self) -> io::Result<()> {
        if !self.target.exists() || fs::remove_dir(&self.target).is_ok() {
            fs::rename(&self.folder, &self.target)?;
        } else if renameat_with(CWD, &self.folder, CWD, &self.target, RenameFlags::EXCHANGE)
            .is_err()
        {
            // Not every file system can exchange; then there is a moment without it.
            fs::rename(&self.target, &self.old)?;
            fs::rename(&self.folder, &self.target)?;
            remove(&self.old)?;
        }
        match self.target.parent() {
            Some(parent) => File::open(parent)?.sync_all(),
            None => Ok(()),
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The form before, or one that came to nothing.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn publish(work: &Work, keep: &[&str], new: &str) {
        let mut stage = work.stage().unwrap();
        for file in keep {
            stage.keep(file).unwrap();
        }
        fs::write(stage.create(new).unwrap(), new).unwrap();
        stage.publish().unwrap();
    }

    #[test]
    fn a_folder_takes_its_next_form_at_once_and_leaves_nothing_beside_it() {
        let tmp = tempfile::tempdir().unwrap();
        let target = tmp.path().join("set");
        let work = Work::open(&target).unwrap();
        publish(&work, &[], "a/1");
        publish(&work, &["a/1"], "b");
        assert_eq!(names(&target), ["a", "b"]);
        publish(&work, &["b"], "c");
        assert_eq!(names(&target), ["b", "c"]);
        drop(work);
        assert_eq!(names(tmp.path()), ["set"]);
    }

    #[test]
    fn what_is_not_published_leaves_the_folder_as_it_was() {
        let tmp = tempfile::tempdir().unwrap();
        let target = tmp.path().join("set");
        let work = Work::open(&target).unwrap();
        publish(&work, &[], "a");
        let mut stage = work.stage().unwrap();
        fs::write(stage.create("b").unwrap(), "b").unwrap();
        drop(stage);
        assert_eq!(names(&target), ["a"]);
    }

    #[test]
    fn one_at_a_time() {
        let tmp = tempfile::tempdir().unwrap();
        let target = tmp.path().join("set");
        let work = Work::open(&target).unwrap();
        assert!(matches!(Work::open(&target), Err(ExportError::Busy { .. })));
        drop(work);
        assert!(Work::open(&target).is_ok());
    }

    #[test]
    fn a_kill_between_two_renames_is_mended() {
        let tmp = tempfile::tempdir().unwrap();
        let target = tmp.path().join("set");
        let left = tmp.path().join(".set.export");
        fs::create_dir_all(left.join(OLD).join("meta")).unwrap();
        fs::create_dir_all(left.join(STAGE)).unwrap();
        let work = Work::open(&target).unwrap();
        assert_eq!(names(&target), ["meta"]);
        assert_eq!(names(&left), [] as [&str; 0]);
        drop(work);
    }
}
