//! What a cell whose code had taken over its process would try. Each is made
//! natively, in a process of its own inside the sandbox, so that the walls can
//! be tested without an interpreter in between.

use std::io;
use std::process::ExitCode;

use super::{Sandbox, Wall};

/// First argument of a process that tries something: its name, then the walls to leave out.
pub const ARGUMENT: &str = "--attempt";

/// Status of a process whose attempt succeeded, and of one that was refused.
pub const ESCAPED: u8 = 10;
pub const REFUSED: u8 = 11;

/// An attempt gives what the system call returned: negative when refused.
type Attempt = unsafe fn() -> i64;

/// All of them by name.
pub const ATTEMPTS: &[(&str, Attempt)] = &[
    ("read a file", read_a_file),
    ("write a file", write_a_file),
    ("list a folder", list_a_folder),
    ("remove a file", remove_a_file),
    ("ask for a file's size", stat_a_file),
    ("make a folder", make_a_folder),
    ("change the folder", change_the_folder),
    ("make a memory file", make_a_memory_file),
    ("open an internet socket", open_an_internet_socket),
    ("open a local socket", open_a_local_socket),
    ("make a socket pair", make_a_socket_pair),
    ("make a pipe", make_a_pipe),
    ("send a file over the node's socket", send_a_file),
    ("fork", fork),
    ("make a thread", make_a_thread),
    ("run a program", run_a_program),
    ("signal the node", signal_the_node),
    ("signal everybody", signal_everybody),
    ("trace the node", trace_the_node),
    ("read the node's memory", read_the_nodes_memory),
    ("map memory to run", map_memory_to_run),
    ("make memory run", make_memory_run),
    ("raise a limit", raise_a_limit),
    ("become another user", become_another_user),
    ("mount something", mount_something),
    ("enter a namespace", enter_a_namespace),
    ("load a kernel program", load_a_kernel_program),
    ("watch performance", watch_performance),
    ("queue to the kernel", queue_to_the_kernel),
    ("keep a key", keep_a_key),
    ("wait for the end of others", wait_for_others),
];

/// Enters the sandbox and tries `name`; the exit status tells how it went,
/// unless a wall kills the process.
pub fn main(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let name = arguments.next().unwrap_or_default();
    let Some((_, attempt)) = ATTEMPTS.iter().find(|(known, _)| *known == name) else {
        eprintln!("{ARGUMENT} is for tests; there is no attempt {name:?}");
        return ExitCode::from(2);
    };
    let without: Vec<Wall> = arguments
        .filter_map(|name| Wall::ALL.into_iter().find(|wall| wall.name() == name))
        .collect();
    match Sandbox::enter(&without) {
        Ok((sandbox, _socket)) => {
            sandbox.close(1 << 28);
        }
        Err(error) => {
            eprintln!("cell: {error}");
            return ExitCode::FAILURE;
        }
    }
    // SAFETY: each attempt is sound with any outcome.
    let outcome = unsafe { attempt() };
    if outcome < 0 {
        eprintln!("{}", io::Error::last_os_error());
        return ExitCode::from(REFUSED);
    }
    ExitCode::from(ESCAPED)
}

const SELF: &std::ffi::CStr = c"/proc/self/exe";
const FOLDER: &std::ffi::CStr = c"/";
const NEW: &std::ffi::CStr = c"/dev/shm/escaped-from-a-cell";

unsafe fn read_a_file() -> i64 {
    unsafe { libc::open(SELF.as_ptr(), libc::O_RDONLY).into() }
}

unsafe fn write_a_file() -> i64 {
    unsafe {
        let file = libc::open(NEW.as_ptr(), libc::O_WRONLY | libc::O_CREAT, 0o600);
        if file >= 0 {
            libc::unlink(NEW.as_ptr());
        }
        file.into()
    }
}

unsafe fn list_a_folder() -> i64 {
    unsafe { libc::open(FOLDER.as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY).into() }
}

unsafe fn remove_a_file() -> i64 {
    unsafe {
        let removed = libc::unlink(NEW.as_ptr());
        // Reached the file system, where it is not.
        i64::from(removed).max(-i64::from(*libc::__errno_location() != libc::ENOENT))
    }
}

unsafe fn stat_a_file() -> i64 {
    unsafe {
        let mut stat = std::mem::zeroed();
        libc::stat(SELF.as_ptr(), &raw mut stat).into()
    }
}

unsafe fn make_a_folder() -> i64 {
    unsafe {
        let made = libc::mkdir(NEW.as_ptr(), 0o700);
        if made == 0 {
            libc::rmdir(NEW.as_ptr());
        }
        made.into()
    }
}

unsafe fn change_the_folder() -> i64 {
    unsafe { libc::chdir(FOLDER.as_ptr()).into() }
}

unsafe fn make_a_memory_file() -> i64 {
    unsafe { libc::memfd_create(c"cell".as_ptr(), 0).into() }
}

unsafe fn open_an_internet_socket() -> i64 {
    unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0).into() }
}

unsafe fn open_a_local_socket() -> i64 {
    unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0).into() }
}

unsafe fn make_a_socket_pair() -> i64 {
    let mut pair = [0; 2];
    unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, pair.as_mut_ptr()).into() }
}

unsafe fn make_a_pipe() -> i64 {
    let mut pair = [0; 2];
    unsafe { libc::pipe(pair.as_mut_ptr()).into() }
}

unsafe fn send_a_file() -> i64 {
    unsafe {
        let message: libc::msghdr = std::mem::zeroed();
        libc::sendmsg(super::NODE, &raw const message, 0) as i64
    }
}

unsafe fn fork() -> i64 {
    unsafe {
        // The C library's fork would first tidy up.
        let child = libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0);
        if child == 0 {
            libc::_exit(0);
        }
        child
    }
}

unsafe fn make_a_thread() -> i64 {
    match std::thread::Builder::new().spawn(|| ()) {
        Ok(_) => 0,
        Err(_) => -1,
    }
}

unsafe fn run_a_program() -> i64 {
    let arguments = [SELF.as_ptr(), c"--version".as_ptr(), std::ptr::null()];
    unsafe { libc::execv(SELF.as_ptr(), arguments.as_ptr()).into() }
}

unsafe fn signal_the_node() -> i64 {
    unsafe { libc::kill(libc::getppid(), 0).into() }
}

unsafe fn signal_everybody() -> i64 {
    unsafe { libc::kill(-1, 0).into() }
}

unsafe fn trace_the_node() -> i64 {
    unsafe {
        let node = libc::getppid();
        libc::syscall(libc::SYS_ptrace, libc::PTRACE_SEIZE, node, 0, 0)
    }
}

unsafe fn read_the_nodes_memory() -> i64 {
    let mut word = [0_u8; 8];
    unsafe {
        let here = libc::iovec { iov_base: word.as_mut_ptr().cast(), iov_len: word.len() };
        // Any place will do: without the right, the address is not even looked at.
        let there = libc::iovec { iov_base: word.as_mut_ptr().cast(), iov_len: word.len() };
        libc::process_vm_readv(libc::getppid(), &raw const here, 1, &raw const there, 1, 0) as i64
    }
}

unsafe fn map_memory_to_run() -> i64 {
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let sharing = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let place = unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, sharing, -1, 0) };
    -i64::from(place == libc::MAP_FAILED)
}

unsafe fn make_memory_run() -> i64 {
    unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let sharing = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let place = libc::mmap(std::ptr::null_mut(), 4096, protection, sharing, -1, 0);
        libc::mprotect(place, 4096, libc::PROT_READ | libc::PROT_EXEC).into()
    }
}

unsafe fn raise_a_limit() -> i64 {
    unsafe {
        let limits = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        libc::setrlimit(libc::RLIMIT_AS, &raw const limits).into()
    }
}

unsafe fn become_another_user() -> i64 {
    unsafe { libc::setuid(12_345).into() }
}

unsafe fn mount_something() -> i64 {
    unsafe {
        let kind = c"tmpfs".as_ptr();
        libc::mount(kind, c"/mnt".as_ptr(), kind, 0, std::ptr::null()).into()
    }
}

unsafe fn enter_a_namespace() -> i64 {
    unsafe { libc::unshare(libc::CLONE_NEWUSER).into() }
}

unsafe fn load_a_kernel_program() -> i64 {
    let attributes = [0_u64; 16];
    unsafe { libc::syscall(libc::SYS_bpf, 0, attributes.as_ptr(), size_of_val(&attributes)) }
}

unsafe fn watch_performance() -> i64 {
    let attributes = [0_u64; 16];
    unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), 0, -1, -1, 0) }
}

unsafe fn queue_to_the_kernel() -> i64 {
    let mut parameters = [0_u32; 30];
    unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) }
}

unsafe fn keep_a_key() -> i64 {
    let kind = c"user".as_ptr();
    unsafe { libc::syscall(libc::SYS_add_key, kind, kind, kind, 1, -2) }
}

unsafe fn wait_for_others() -> i64 {
    unsafe { libc::syscall(libc::SYS_pidfd_open, libc::getppid(), 0) }
}
