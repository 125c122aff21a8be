//! Takes the files that a user has into RuaFlow's own folder, once they are right.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Sam3;
use crate::eyes::EyesError;

/// What was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub dir: PathBuf,
    /// Names and sizes in bytes.
    pub files: Vec<(String, u64)>,
}

/// Checks the SAM3 files in `from` by loading them, and links or copies them into
/// `into`, in place of what was there.
///
/// # Errors
/// As [`Sam3::open`]; [`EyesError::Files`] when a file can't be written.
pub fn import(from: &Path, into: &Path) -> Result<Imported, EyesError> {
    let names = super::files(from)?;
    drop(Sam3::open(from)?);

    // Beside the folder, so that the last step is a rename.
    let arriving = into.with_extension("arriving");
    let failed =
        |path: &Path, error: &io::Error| EyesError::Files(format!("{}: {error}", path.display()));
    let clear = |path: &Path| match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(path, &error)),
        _ => Ok(()),
    };
    clear(&arriving)?;
    fs::create_dir_all(&arriving).map_err(|error| failed(&arriving, &error))?;
    let mut files = Vec::new();
    for name in names {
        let (source, target) = (from.join(&name), arriving.join(&name));
        // A link costs no room; another disk needs a copy.
        let linked = fs::canonicalize(&source).and_then(|source| fs::hard_link(source, &target));
        if linked.is_err() {
            fs::copy(&source, &target).map_err(|error| failed(&target, &error))?;
        }
        let size = fs::metadata(&target).map_err(|error| failed(&target, &error))?.len();
        files.push((name, size));
    }
    clear(into)?;
    fs::rename(&arriving, into).map_err(|error| failed(into, &error))?;
    Ok(Imported { dir: into.to_owned(), files })
}
