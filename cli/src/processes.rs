//! Leaving no process behind.
//!
//! dora makes each node the leader of its own process group, so a signal to
//! dora's group does not reach them. Instead this process adopts whatever its
//! children leave behind, and ends that.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper,
    set_parent_process_death_signal, waitpid,
};

const POLL: Duration = Duration::from_millis(20);
/// A killed process in a system call may take a moment to go.
const KILL_WAIT: Duration = Duration::from_secs(5);

/// From now on a process whose parent ends becomes a child of this one.
pub fn adopt_orphans() -> std::io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Gets a SIGTERM when the process that started this one ends.
pub fn end_with_parent() -> std::io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::TERM))?)
}

/// Waits `grace` for this process's children to end, then kills them, and so
/// on with the children they leave.
pub fn end_children(grace: Duration) {
    let start = Instant::now();
    while start.elapsed() < grace + KILL_WAIT {
        let children = children();
        if children.is_empty() {
            return;
        }
        for pid in children {
            if start.elapsed() >= grace {
                // It may just have ended by itself.
                let _ = kill_process(pid, Signal::KILL);
            }
            reap(pid);
        }
        std::thread::sleep(POLL);
    }
    tracing::warn!("some processes of the dataflow could not be ended");
}

fn reap(pid: Pid) {
    while let Err(Errno::INTR) = waitpid(Some(pid), WaitOptions::NOHANG) {}
}

fn children() -> Vec<Pid> {
    let me = getpid();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(Pid::from_raw)
        .filter(|&pid| parent(pid) == Some(me))
        .collect()
}

/// From `/proc/<pid>/stat`, whose second field may hold anything, in brackets.
fn parent(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Pid::from_raw(rest.split_whitespace().nth(1)?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// One test, because what it does concerns all children of the process.
    #[test]
    fn grandchildren_are_ended_too() {
        adopt_orphans().unwrap();
        // The shell ends at once and leaves a sleep in a session of its own.
        let script = "setsid sleep 1000 & setsid sh -c 'sleep 1001 & sleep 1002' & echo";
        let mut shell = Command::new("sh").args(["-c", script]).spawn().unwrap();
        shell.wait().unwrap();
        let start = Instant::now();
        while children().len() < 2 && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(POLL);
        }
        assert_eq!(children().len(), 2);
        end_children(Duration::ZERO);
        assert!(children().is_empty());
    }
}
