//! What the process may use: memory, processor time, files, processes.

use std::fs::File;
use std::io::{self, Read as _};

use super::check;

/// Address space allowed for the program itself where `/proc` does not tell it.
const PROGRAM_BYTES: u64 = 1 << 30;

/// Open files at most: the socket, the three standard ones, and memory files
/// that have just come.
const MAX_FILES: u64 = 16;

/// Processor time of one namespace, seconds. The deadline of its cells comes long before.
const MAX_CPU_S: u64 = 6 * 3600;

/// When the machine runs out of memory, a cell goes before anything else.
pub(super) fn die_first() {
    // Fails without /proc; the limit on memory holds all the same.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

/// Sets all limits, that on memory so that `memory_bytes` can be allocated from now on.
pub(super) fn restrict(sizes: Option<File>, memory_bytes: u64) -> Result<String, String> {
    let program = sizes.and_then(|sizes| address_space(sizes).ok()).unwrap_or(PROGRAM_BYTES);
    for (name, resource, most) in [
        ("address space", libc::RLIMIT_AS, program.saturating_add(memory_bytes)),
        ("processor time", libc::RLIMIT_CPU, MAX_CPU_S),
        // A dump of a full process would take longer than the cell's deadline.
        ("core dumps", libc::RLIMIT_CORE, 0),
        ("file size", libc::RLIMIT_FSIZE, 0),
        ("open files", libc::RLIMIT_NOFILE, MAX_FILES),
        ("processes", libc::RLIMIT_NPROC, 0),
        ("locked memory", libc::RLIMIT_MEMLOCK, 0),
        ("message queues", libc::RLIMIT_MSGQUEUE, 0),
    ] {
        limit(resource, most).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(format!("{} MiB of memory, no new files or processes", memory_bytes >> 20))
}

/// The first number of `statm` is the address space in pages.
fn address_space(mut sizes: File) -> io::Result<u64> {
    let mut text = String::new();
    sizes.read_to_string(&mut text)?;
    let pages: u64 = text
        .split_whitespace()
        .next()
        .and_then(|pages| pages.parse().ok())
        .ok_or_else(|| io::Error::other("statm has no size"))?;
    // SAFETY: a plain query.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Ok(pages * u64::try_from(page_bytes).map_err(io::Error::other)?)
}

/// Limits a resource to `most`, or to less where less was allowed before.
fn limit(resource: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limits` lives through both calls.
    unsafe {
        check(libc::getrlimit(resource, &raw mut limits))?;
        let most = most.min(limits.rlim_max);
        limits = libc::rlimit { rlim_cur: most, rlim_max: most };
        check(libc::setrlimit(resource, &raw const limits))
    }
}
