use std::path::{Path, PathBuf};

use ruaflow_record::RecordError;
use ruaflow_video::VideoError;

/// Why something recorded could not be handed on.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Record(#[from] RecordError),

    #[error(transparent)]
    Video(#[from] VideoError),

    #[error("episode {episode} of run {run} can't be exported: {reason}")]
    Episode { run: String, episode: u32, reason: String },

    #[error(
        "{fps} pictures a second are not possible: the robot made {control_hz} control steps a second, so {}",
        possible(*.control_hz)
    )]
    Rate { fps: u32, control_hz: f64 },

    #[error(
        "{dir:?} exists and is no dataset that RuaFlow made; choose a folder that does not exist yet"
    )]
    Foreign { dir: PathBuf },

    #[error(
        "{dir:?} holds a dataset of {episodes} episodes; add the others with --resume, or choose another folder"
    )]
    Exists { dir: PathBuf, episodes: usize },

    #[error("{dir:?} is being written by another export")]
    Busy { dir: PathBuf },

    #[error("the dataset in {dir:?} has {what} {found}, not {wanted}: export into another folder")]
    Differs { dir: PathBuf, what: &'static str, found: String, wanted: String },

    #[error("{path:?} can't be understood: {reason}")]
    Content { path: PathBuf, reason: String },

    #[error("could not write {path:?}: {reason}")]
    Write { path: PathBuf, reason: String },
}

impl ExportError {
    pub(crate) fn write(path: &Path, reason: impl ToString) -> Self {
        ExportError::Write { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn content(path: &Path, reason: impl ToString) -> Self {
        ExportError::Content { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// The rates that divide a robot's own.
fn possible(control_hz: f64) -> String {
    if control_hz.fract() != 0.0 || control_hz < 1.0 {
        return "no whole number divides it".to_owned();
    }
    let hz = control_hz as u32;
    let rates: Vec<String> =
        (1..=hz).rev().filter(|fps| hz.is_multiple_of(*fps)).map(|fps| fps.to_string()).collect();
    format!("it is one of {}", rates.join(", "))
}
