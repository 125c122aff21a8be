//! Many episodes: `rua eval`, and what reads its runs or any others.

pub mod args;
mod catalog;
mod compare;
mod report;
mod runs;
mod show;
mod sides;
mod summarize;
mod table;
mod workers;

pub use self::compare::run as compare;
pub use self::report::run as report;
pub use self::runs::run as runs;
pub use self::show::run as show;
pub use self::summarize::run as summarize;
pub use self::workers::run as eval;

use std::path::PathBuf;

use ruaflow_eval::{Trial, find};

/// The episodes at or below the paths; what can't be read is told on standard error.
fn episodes(paths: &[PathBuf]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for path in paths {
        let found = find(path);
        for problem in &found.problems {
            eprintln!("rua: {problem}");
        }
        trials.extend(found.trials);
    }
    trials
}
