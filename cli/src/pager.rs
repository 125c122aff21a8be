//! Long text, a page at a time on a terminal.

use std::io::{IsTerminal as _, Write as _, stdout};
use std::process::{Child, Command, Stdio};

/// Where the text goes: a pager, or standard output.
pub struct Pager {
    child: Option<Child>,
}

impl Pager {
    /// Starts `$PAGER`, else `less`, when the text goes to a terminal and one is wanted.
    pub fn open(wanted: bool) -> Self {
        let child = if wanted && stdout().is_terminal() { start() } else { None };
        Pager { child }
    }

    /// Writes a piece; a reader that has gone away is no error.
    pub fn write(&mut self, text: &str) {
        let _ = match self.child.as_mut().and_then(|child| child.stdin.as_mut()) {
            Some(pipe) => pipe.write_all(text.as_bytes()),
            None => stdout().write_all(text.as_bytes()),
        };
    }

    /// Waits until the reader has done.
    pub fn close(mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.stdin.take());
            // It may have been killed.
            let _ = child.wait();
        }
    }
}

fn start() -> Option<Child> {
    let named = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let pager = named.unwrap_or_else(|| "less".to_owned());
    let mut words = pager.split_whitespace();
    let mut command = Command::new(words.next()?);
    if std::env::var_os("LESS").is_none() {
        // Colours, and no page for what fits on one.
        command.env("LESS", "FRX");
    }
    command.args(words).stdin(Stdio::piped()).spawn().ok()
}
