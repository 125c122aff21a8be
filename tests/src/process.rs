use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use rustix::process::{Pid, Signal, kill_process};

/// A running process.
#[derive(Clone, Debug)]
pub struct Process {
    pub pid: Pid,
    /// Its command line.
    pub command: String,
}

impl Process {
    /// Processes whose environment holds this variable with this value.
    ///
    /// A process that has ended and waits to be reaped has none.
    pub fn with_variable(name: &str, value: &OsStr) -> Vec<Self> {
        let wanted = [name.as_bytes(), b"=", value.as_bytes()].concat();
        std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(Pid::from_raw)
            .filter(|pid| {
                let environment =
                    std::fs::read(format!("/proc/{pid}/environ", pid = pid.as_raw_nonzero()));
                environment
                    .is_ok_and(|bytes| bytes.split(|b| *b == 0).any(|variable| variable == wanted))
            })
            .map(|pid| Process { pid, command: command(pid) })
            .collect()
    }

    /// Whether the first word of its command line is this program.
    pub fn runs(&self, program: &str) -> bool {
        self.command.split(' ').next().is_some_and(|path| path.rsplit('/').next() == Some(program))
    }

    pub fn signal(&self, signal: Signal) {
        // It may just have ended.
        let _ = kill_process(self.pid, signal);
    }
}

fn command(pid: Pid) -> String {
    let bytes =
        std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').replace('\0', " ")
}
