//! How a child's process ended, told from its status and its last words.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Exit {
    /// By the node.
    #[error("the cell's process was killed")]
    Killed,
    #[error("the cell used more memory than it may ({} MiB)", .limit_bytes >> 20)]
    OutOfMemory { limit_bytes: u64 },
    #[error(
        "the cell's process was killed by the system, most likely because the machine has no memory left"
    )]
    KilledBySystem,
    #[error("the cell used more processor time than it may")]
    OutOfTime,
    #[error("the cell's native stack overflowed: too deep a nesting of objects or calls")]
    StackOverflow,
    #[error("the cell's process made a system call that the sandbox forbids, and was stopped")]
    Forbidden,
    #[error("the cell's process was killed, because it {what}")]
    Misbehaved { what: String },
    #[error("the cell's process crashed with signal {signal}{last_words}")]
    Crashed { signal: i32, last_words: String },
    #[error("the cell's process ended with status {code}{last_words}")]
    Left { code: i32, last_words: String },
}

impl Exit {
    /// Of a process that the node has not killed. `words` is what it wrote to
    /// its standard error.
    pub(crate) fn of(status: Option<ExitStatus>, words: &str, limit_bytes: u64) -> Self {
        let last_words = words.lines().last().map(|line| format!(": {line}")).unwrap_or_default();
        let Some(status) = status else {
            return Self::Killed;
        };
        match status.signal() {
            // Rust's own words when an allocation fails and when a guard page is hit.
            Some(libc::SIGABRT) if words.lines().any(is_failed_allocation) => {
                Self::OutOfMemory { limit_bytes }
            }
            Some(libc::SIGABRT | libc::SIGSEGV)
                if words.lines().any(|line| line.ends_with("has overflowed its stack")) =>
            {
                Self::StackOverflow
            }
            Some(libc::SIGSYS) => Self::Forbidden,
            Some(libc::SIGXCPU) => Self::OutOfTime,
            Some(libc::SIGKILL) => Self::KilledBySystem,
            Some(signal) => Self::Crashed { signal, last_words },
            None => Self::Left { code: status.code().unwrap_or(-1), last_words },
        }
    }
}

fn is_failed_allocation(line: &str) -> bool {
    line.starts_with("memory allocation of ") && line.ends_with(" bytes failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(signal: i32, words: &str) -> Exit {
        Exit::of(Some(ExitStatus::from_raw(signal)), words, 64)
    }

    #[test]
    fn memory_is_told_from_a_crash() {
        let words = "memory allocation of 4096 bytes failed\n";
        assert_eq!(exit(libc::SIGABRT, words), Exit::OutOfMemory { limit_bytes: 64 });
        // The words alone prove nothing: a cell can have them printed by a panic.
        let crashed = Exit::Crashed {
            signal: libc::SIGSEGV,
            last_words: ": memory allocation of 4096 bytes failed".to_owned(),
        };
        assert_eq!(exit(libc::SIGSEGV, words), crashed);
    }

    #[test]
    fn signals_have_their_reasons() {
        let overflow = "\nthread 'cell' (7) has overflowed its stack\nfatal runtime error\n";
        assert_eq!(exit(libc::SIGABRT, overflow), Exit::StackOverflow);
        assert_eq!(exit(libc::SIGSYS, ""), Exit::Forbidden);
        assert_eq!(exit(libc::SIGKILL, ""), Exit::KilledBySystem);
        assert_eq!(exit(libc::SIGXCPU, ""), Exit::OutOfTime);
        let left = Exit::of(Some(ExitStatus::from_raw(3 << 8)), "why\n", 64);
        assert_eq!(left, Exit::Left { code: 3, last_words: ": why".to_owned() });
    }
}
