//! What the end-to-end tests share: a place of their own, `rua` and dora in it,
//! and a look at the processes and the records they leave.

// A harness for tests: a broken expectation is a failed test.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod place;
pub mod policies;
mod process;
mod records;
mod terminal;

pub use crate::place::{Finished, Place, Running, root};
pub use crate::process::Process;
pub use crate::records::Records;
pub use crate::terminal::Terminal;

use std::io::Write as _;
use std::time::{Duration, Instant};

/// Long enough for a loaded machine; only a failure takes as long.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Waits for something to become true.
pub fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Says, also when nobody asked to see what tests print, that something was not
/// tested, and why.
pub fn skipped(why: &str) {
    // Unlike `eprintln!`, this is not kept back.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
