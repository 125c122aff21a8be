use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong with a run directory.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("run folder {0:?} exists and is not empty; choose another one, or empty it")]
    NotEmpty(PathBuf),

    #[error("run folder {path:?} can't be written: {source}")]
    NotWritable { path: PathBuf, source: io::Error },

    #[error("{0:?} is not a run folder of RuaFlow: it has no result.json")]
    NotARun(PathBuf),

    #[error("the run in {0:?} is still going on; end it first, for example with `rua stop`")]
    Live(PathBuf),

    #[error(
        "the disk is full, or the quota used up, in {dir:?}; what was written so far is readable"
    )]
    DiskFull { dir: PathBuf },

    #[error("could not write {path:?}: {source}")]
    Write { path: PathBuf, source: io::Error },

    #[error("could not read {path:?}: {source}")]
    Read { path: PathBuf, source: io::Error },

    #[error("{path:?} can't be understood: {reason}")]
    Content { path: PathBuf, reason: String },

    #[error(
        "the run in {dir:?} has no {what}: it was recorded, or pruned, to the level \"light\"; this needs a run of `--record standard` or `full`"
    )]
    Light { dir: PathBuf, what: &'static str },

    #[error("rows for {path:?} can't be encoded: {source}")]
    Encode { path: PathBuf, source: arrow::error::ArrowError },
}

impl RecordError {
    /// An error of writing `path`; a full disk is told apart, because only the user can mend it.
    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match source.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => {
                RecordError::DiskFull { dir: path.parent().unwrap_or(path).to_owned() }
            }
            _ => RecordError::Write { path: path.to_owned(), source },
        }
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        RecordError::Read { path: path.to_owned(), source }
    }

    pub(crate) fn content(path: &Path, reason: impl ToString) -> Self {
        RecordError::Content { path: path.to_owned(), reason: reason.to_string() }
    }
}
