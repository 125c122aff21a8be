use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::RecordError;

/// Replaces a file as a whole: a reader sees the old text or the new one, also
/// after a power cut.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let temporary = temporary_name(path);
    replace(path, &temporary, bytes).map_err(|error| {
        // It may not have come into being; the error that counts is the first.
        let _ = fs::remove_file(&temporary);
        RecordError::write(path, error)
    })
}

fn replace(path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(temporary, path)?;
    sync_folder_of(path)
}

/// Makes a new or renamed file's name durable.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// Two processes may replace the same file, so the name holds the process id.
pub(crate) fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}{TEMPORARY}", std::process::id()))
}

/// How the names of half-written files end.
pub(crate) const TEMPORARY: &str = ".tmp";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("missing/a.json");
        let error = write_atomically(&path, b"one").unwrap_err().to_string();
        assert!(error.contains("missing/a.json"), "{error}");
    }
}
