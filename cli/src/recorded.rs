//! A run's folder that a command names.

use std::path::Path;

use eyre::{Report, Result};
use ruaflow_record::{RecordError, RunDir};

use crate::failure::usage;

/// Opens a run; a folder that is none is wrong usage.
pub fn open_run(path: &Path) -> Result<RunDir> {
    RunDir::open(path).map_err(not_a_run)
}

/// What was named is no run: wrong usage. Every other error stays what it is.
pub fn not_a_run(error: RecordError) -> Report {
    match error {
        RecordError::NotARun(_) => usage(error.to_string()),
        other => other.into(),
    }
}
