//! The walls around a cell's process. `docs/sandbox.md` says what each is for.
//!
//! They are built from inside, in two steps: [`Sandbox::enter`] before the
//! process has a second thread, [`Sandbox::close`] when the interpreter is up
//! and before it runs anybody's code. A wall that the kernel does not offer is
//! left out, and the [`Layer`]s say so.

pub mod attempt;
mod files;
mod limits;
mod privileges;
mod syscalls;

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::net::UnixStream;

use serde::{Deserialize, Serialize};

/// Where the process keeps its socket to the node.
const NODE: i32 = 3;

/// One of the walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// A filter of system calls (seccomp).
    SystemCalls,
    /// No files, ports, abstract sockets or signals (Landlock).
    Landlock,
    /// A user and a network namespace of its own.
    Namespaces,
    /// No capabilities, no new privileges, not to be traced.
    Privileges,
    /// Memory, processor time, files, processes (rlimits).
    Limits,
}

impl Wall {
    pub const ALL: [Self; 5] =
        [Self::SystemCalls, Self::Landlock, Self::Namespaces, Self::Privileges, Self::Limits];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SystemCalls => "seccomp",
            Self::Landlock => "landlock",
            Self::Namespaces => "namespaces",
            Self::Privileges => "privileges",
            Self::Limits => "limits",
        }
    }
}

/// How a wall stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    pub wall: Wall,
    pub holds: bool,
    /// What it does here, or why it does not stand.
    pub note: String,
}

/// A process on its way into the sandbox.
pub struct Sandbox {
    layers: Vec<Layer>,
    /// `/proc/self/statm`, opened while files can be.
    sizes: Option<File>,
    without: Vec<Wall>,
}

impl Sandbox {
    /// Takes the node's socket from standard input, closes every other file but
    /// standard error, and builds the walls that can stand from the start,
    /// except those to go `without`, which is for tests of the others.
    ///
    /// # Errors
    /// When the process cannot put its files in order.
    pub fn enter(without: &[Wall]) -> io::Result<(Self, UnixStream)> {
        let socket = keep_only_the_socket()?;
        let sizes = File::open("/proc/self/statm").ok();
        let mut sandbox = Self { layers: Vec::new(), sizes, without: without.to_vec() };
        limits::die_first();
        sandbox.build(Wall::Namespaces, privileges::leave_namespaces);
        sandbox.build(Wall::Privileges, privileges::give_up);
        sandbox.build(Wall::Landlock, files::restrict);
        privileges::die_with_parent()?;
        Ok((sandbox, socket))
    }

    /// Builds the rest, around every thread there is, and returns how all stand.
    ///
    /// `memory_bytes` may be allocated from now on.
    pub fn close(mut self, memory_bytes: u64) -> Vec<Layer> {
        let sizes = self.sizes.take();
        self.build(Wall::Limits, || limits::restrict(sizes, memory_bytes));
        self.build(Wall::SystemCalls, syscalls::restrict);
        self.layers
    }

    fn build(&mut self, wall: Wall, build: impl FnOnce() -> Result<String, String>) {
        let left_out = self.without.contains(&wall);
        let built = if left_out { Err("left out".to_owned()) } else { build() };
        let holds = built.is_ok();
        let (Ok(note) | Err(note)) = built;
        self.layers.push(Layer { wall, holds, note });
    }
}

fn keep_only_the_socket() -> io::Result<UnixStream> {
    // SAFETY: plain system calls on descriptors that nothing in this process
    // owns yet; NODE is given to one owner.
    unsafe {
        check(libc::dup2(0, NODE))?;
        close_from(NODE + 1);
        let null = File::options().read(true).write(true).open("/dev/null")?;
        check(libc::dup2(null.as_raw_fd(), 0))?;
        check(libc::dup2(null.as_raw_fd(), 1))?;
        Ok(UnixStream::from_raw_fd(NODE))
    }
}

/// # Safety
/// Nothing may own a descriptor from `first` on.
unsafe fn close_from(first: i32) {
    // SAFETY: as promised by the caller.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) == 0 {
            return;
        }
        // Before Linux 5.9.
        for descriptor in first..1024 {
            libc::close(descriptor);
        }
    }
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
