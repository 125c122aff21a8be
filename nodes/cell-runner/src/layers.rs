//! `cell-runner --layers`: which walls stand around a cell on this machine, and
//! whether anything gets through them.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use eyre::{Result, WrapErr as _, bail};

use crate::child::{Child, ChildConfig, ChildEvent};
use crate::sandbox::Layer;
use crate::sandbox::attempt::{ARGUMENT, ATTEMPTS, ESCAPED};

/// How long a child may take to come up on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Prints a line for each wall, and one for what was tried; fails when something got through.
pub(crate) fn main() -> ExitCode {
    match report() {
        Ok(escaped) if escaped.is_empty() => ExitCode::SUCCESS,
        Ok(escaped) => {
            println!("a process inside could still: {}", escaped.join(", "));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn report() -> Result<Vec<&'static str>> {
    let program = PathBuf::from("/proc/self/exe");
    for Layer { wall, holds, note } in layers(&program)? {
        let sign = if holds { "+" } else { "-" };
        println!("{sign} {}: {note}", wall.name());
    }
    let mut escaped = Vec::new();
    for (name, _) in ATTEMPTS {
        let status = Command::new(&program)
            .args([ARGUMENT, name])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .wrap_err_with(|| format!("attempt {name:?}"))?;
        if status.code() == Some(i32::from(ESCAPED)) {
            escaped.push(*name);
        }
    }
    println!("{} of {} attempts stopped", ATTEMPTS.len() - escaped.len(), ATTEMPTS.len());
    Ok(escaped)
}

fn layers(program: &Path) -> Result<Vec<Layer>> {
    let (sender, events) = crossbeam_channel::unbounded();
    let config = ChildConfig { program: program.to_owned(), memory_bytes: 1 << 28 };
    let _child = Child::spawn(&config, move |event| {
        // False only when nobody asks any more.
        let _ = sender.send(event);
    })?;
    match events.recv_timeout(PATIENCE)? {
        ChildEvent::Ready { layers } => Ok(layers),
        ChildEvent::Exited { exit, .. } => bail!(exit),
        other => bail!("the child began with {other:?}"),
    }
}
