//! What the process gives up of the user's rights.

use std::io;

use super::check;

/// Leaves the user's and the network's namespaces, if the system lets it. What
/// it enters has no network device but an unconfigured loopback.
pub(super) fn leave_namespaces() -> Result<String, String> {
    let apart = libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
    // SAFETY: the process has one thread.
    unsafe {
        if libc::unshare(libc::CLONE_NEWUSER | apart) == 0 {
            return Ok("user, network, ipc".to_owned());
        }
        if libc::unshare(apart) == 0 {
            return Ok("network, ipc".to_owned());
        }
    }
    Err(format!("the system allows no new ones: {}", io::Error::last_os_error()))
}

/// Drops all capabilities, refuses new privileges, and cannot be traced or looked into.
pub(super) fn give_up() -> Result<String, String> {
    let given_up = || {
        drop_capabilities()?;
        // SAFETY: plain requests about this process.
        unsafe {
            check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
            check(libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0))
        }
    };
    given_up().map_err(|error: io::Error| error.to_string())?;
    Ok("no capabilities, no new privileges, not to be traced".to_owned())
}

/// Has the process killed when its node dies. After every change of rights,
/// because those undo it.
pub(super) fn die_with_parent() -> io::Result<()> {
    // SAFETY: a plain request about this process.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })
}

fn drop_capabilities() -> io::Result<()> {
    /// `_LINUX_CAPABILITY_VERSION_3`: two words of each set, capget(2).
    const VERSION: u32 = 0x2008_0522;
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    let header = Header { version: VERSION, pid: 0 };
    let none = [0_u32; 6];
    // SAFETY: both live through the call and are laid out as capset(2) says.
    unsafe {
        check(libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))?;
        if libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
