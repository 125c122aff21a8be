//! What the child gives up before it runs anybody's code.

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd as _, IntoRawFd as _};

const FROM_NODE: i32 = 3;
const TO_NODE: i32 = 4;

/// Open files at most: the two pipes, the three standard ones, and what the
/// runtime opens for a moment (`/proc/self/maps` at a thread's start).
const MAX_FILES: u64 = 16;

/// Takes the pipes from standard input and output, closes every other file but
/// standard error, and sets the limits that hold from the start.
///
/// Returns the pipe from the node and the pipe to it.
pub(super) fn enter() -> io::Result<(File, File)> {
    // SAFETY: plain system calls on descriptors that nothing in this process
    // owns yet; FROM_NODE and TO_NODE are given to one File each.
    let pipes = unsafe {
        // The node may die without closing anything; its end also closes the pipe.
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        check(libc::dup2(0, FROM_NODE))?;
        check(libc::dup2(1, TO_NODE))?;
        let null = File::options().read(true).write(true).open("/dev/null")?;
        let null = null.into_raw_fd();
        check(libc::dup2(null, 0))?;
        check(libc::dup2(null, 1))?;
        close_from(TO_NODE + 1)?;
        (File::from_raw_fd(FROM_NODE), File::from_raw_fd(TO_NODE))
    };
    // A dump of a full process would take longer than the cell's deadline.
    limit(libc::RLIMIT_CORE, 0)?;
    limit(libc::RLIMIT_FSIZE, 0)?;
    limit(libc::RLIMIT_NOFILE, MAX_FILES)?;
    Ok(pipes)
}

/// Limits what the process may allocate from now on.
pub(super) fn limit_memory(bytes: u64) -> io::Result<()> {
    let sizes = std::fs::read_to_string("/proc/self/statm")?;
    // The first number is the address space in pages.
    let pages: u64 = sizes
        .split_whitespace()
        .next()
        .and_then(|pages| pages.parse().ok())
        .ok_or_else(|| io::Error::other("/proc/self/statm has no size"))?;
    // SAFETY: a plain query.
    let page_bytes = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) })
        .map_err(|_| io::Error::other("the page size is unknown"))?;
    limit(libc::RLIMIT_AS, pages * page_bytes + bytes)
}

/// # Safety
/// No File or OwnedFd may own a descriptor from `first` on.
unsafe fn close_from(first: i32) -> io::Result<()> {
    // SAFETY: as promised by the caller.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) == 0 {
            return Ok(());
        }
        // Before Linux 5.9.
        for descriptor in first..1024 {
            libc::close(descriptor);
        }
    }
    Ok(())
}

fn limit(resource: libc::__rlimit_resource_t, value: u64) -> io::Result<()> {
    let limits = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: `limits` lives through the call.
    check(unsafe { libc::setrlimit(resource, &raw const limits) })
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
