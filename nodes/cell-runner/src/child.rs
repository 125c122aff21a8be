//! The node's side of a child process: start it, talk to it, end it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{self, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ruaflow_robots::Primitives;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::{Map, Value};

use crate::CHILD_ARGUMENT;
use crate::conduct::Conduct;
use crate::listener::Listener;
use crate::memory::Sealed;
use crate::outbox::Outbox;
use crate::protocol::{Answer, ArrayInfo, Done, FileRequest, Picture, Run, ToChild};
use crate::sandbox::Layer;

pub use crate::exit::Exit;

/// Characters kept of each of a cell's standard output and error.
pub const MAX_OUTPUT: usize = 8_000;

/// How long a process that closed its socket may take to die by itself.
const DEATH: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub struct ChildConfig {
    /// The `cell-runner` binary.
    pub program: PathBuf,
    /// What a cell may allocate, bytes.
    pub memory_bytes: u64,
}

/// What a child tells its node.
#[derive(Debug)]
pub enum ChildEvent {
    /// The interpreter is up, inside these walls.
    Ready {
        layers: Vec<Layer>,
    },
    /// Answer with [`Child::reply`].
    Call {
        id: u64,
        method: String,
        arguments: Map<String, Value>,
    },
    /// Answer with [`Child::reply`].
    Attribute {
        id: u64,
        name: String,
    },
    /// Answer with [`Child::reply`]. The bytes are as many as the shape says.
    Display {
        id: u64,
        picture: Picture,
        bytes: Vec<u8>,
    },
    /// Answer with [`Child::reply`]; a file's contents with [`Child::reply_arrays`].
    File {
        id: u64,
        request: FileRequest,
        bytes: Vec<u8>,
    },
    Done {
        done: Done,
        output: Output,
    },
    /// The process is gone; the last event of a child.
    Exited {
        exit: Exit,
        output: Output,
    },
}

/// What a cell printed, cut in the middle to [`MAX_OUTPUT`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    pub stdout: String,
    pub stderr: String,
}

#[derive(Debug, thiserror::Error)]
#[error("could not start the cell's process {program:?}: {source}")]
pub struct SpawnError {
    program: PathBuf,
    source: io::Error,
}

/// A child process and the socket to it. Dropping it kills it.
pub struct Child {
    shared: Arc<Shared>,
    outbox: Mutex<Outbox>,
    listener: Option<JoinHandle<()>>,
}

/// What the node's threads know of a process.
pub(crate) struct Shared {
    process: Mutex<Process>,
    pub(crate) killed: AtomicBool,
    pub(crate) conduct: Conduct,
}

impl Child {
    /// Starts a child; its events go to `sink` from a thread of its own.
    ///
    /// Call it from a thread that outlives the child: the child dies with the
    /// thread that started it.
    ///
    /// # Errors
    /// When the process or a thread cannot be started.
    pub fn spawn(
        config: &ChildConfig,
        sink: impl Fn(ChildEvent) + Send + 'static,
    ) -> Result<Self, SpawnError> {
        Self::start(config, sink)
            .map_err(|source| SpawnError { program: config.program.clone(), source })
    }

    fn start(config: &ChildConfig, sink: impl Fn(ChildEvent) + Send + 'static) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let from_child = ours.try_clone()?;
        let mut process = Command::new(&config.program)
            .arg(CHILD_ARGUMENT)
            .arg(config.memory_bytes.to_string())
            .env_clear()
            .current_dir("/")
            // Ctrl-C is for the node; it ends its cell in order.
            .process_group(0)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let last_words = process.stderr.take();
        // From here on the process is killed when something fails.
        let shared = Arc::new(Shared {
            process: Mutex::new(Process { child: process, reaped: false }),
            killed: AtomicBool::new(false),
            conduct: Conduct::default(),
        });
        let listen = || {
            let Some(last_words) = last_words else {
                return Err(io::Error::other("it has no standard error"));
            };
            let listener = Listener::new(Arc::clone(&shared), config.memory_bytes);
            let listener = thread::Builder::new()
                .name("from-cell".to_owned())
                .spawn(move || listener.listen(from_child, last_words, sink))?;
            Ok(listener)
        };
        match listen() {
            Ok(listener) => {
                let outbox = Mutex::new(Outbox::new(ours.into()));
                Ok(Self { shared, outbox, listener: Some(listener) })
            }
            Err(error) => {
                shared.kill();
                shared.wait();
                Err(error)
            }
        }
    }

    /// Says which robot's API the cells will use; once, before the first cell.
    pub fn init(&self, robot: &str, primitives: Primitives) {
        self.send(&ToChild::Init { robot: robot.to_owned(), primitives }, None);
    }

    /// Runs a cell; [`ChildEvent::Done`] or [`ChildEvent::Exited`] follows.
    pub fn run(&self, index: u32, code: &str) {
        self.shared.conduct.cell_begins(index);
        let filename = format!("<cell {index}>");
        self.send(&ToChild::Run(Run { index, filename, code: code.to_owned() }), None);
    }

    /// Answers a question. Not for [`Answer::Arrays`].
    pub fn reply(&self, id: u64, answer: Answer) {
        self.shared.conduct.answered();
        self.send(&ToChild::Reply { id, answer }, None);
    }

    /// Answers with arrays, which `memory` holds as `arrays` says.
    pub fn reply_arrays(&self, id: u64, value: Value, arrays: Vec<ArrayInfo>, memory: &Sealed) {
        self.shared.conduct.answered();
        self.send(&ToChild::Reply { id, answer: Answer::Arrays { value, arrays } }, Some(memory));
    }

    /// Raises `KeyboardInterrupt` in cell `index`. A cell may catch it, and
    /// native code does not look for it: [`kill`](Self::kill) is sure.
    pub fn interrupt(&self, index: u32, reason: &str) {
        self.send(&ToChild::Interrupt { index, reason: reason.to_owned() }, None);
    }

    /// Kills the process; [`ChildEvent::Exited`] follows.
    pub fn kill(&self) {
        self.shared.kill();
    }

    /// Process id, for tests and logs.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.shared.process().child.id()
    }

    fn send(&self, message: &ToChild, memory: Option<&Sealed>) {
        let mut outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = outbox.send(message, memory);
        match sent {
            Ok(()) => {}
            // It is gone, and Exited says so.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(error) => {
                tracing::warn!(%error, "a cell's process does not listen and is killed");
                self.kill();
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
        if let Some(listener) = self.listener.take()
            // The sink may own the last handle of this child.
            && listener.thread().id() != thread::current().id()
        {
            let _ = listener.join();
        }
    }
}

impl Shared {
    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills the process, and what it may have started without a sandbox.
    pub(crate) fn kill(&self) {
        self.killed.store(true, Ordering::Relaxed);
        self.process().kill();
    }

    /// Waits for a process that has closed its socket.
    pub(crate) fn wait(&self) -> Option<ExitStatus> {
        let end = Instant::now() + DEATH;
        while Instant::now() < end && !self.process().is_dead() {
            thread::sleep(Duration::from_millis(1));
        }
        self.process().reap()
    }
}

/// A process and the group that it leads.
struct Process {
    child: process::Child,
    /// Its id is no longer its own.
    reaped: bool,
}

impl Process {
    fn group(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id().cast_signed()).filter(|_| !self.reaped)
    }

    fn kill(&self) {
        let Some(group) = self.group() else { return };
        match kill_process_group(group, Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => tracing::warn!(%error, "could not kill a cell's process"),
        }
    }

    /// Whether it has died; it is not reaped yet, so that its id stays its own.
    fn is_dead(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.group().is_none_or(|group| {
            !matches!(waitid(WaitId::Pid(group), options), Ok(None) | Err(Errno::INTR))
        })
    }

    fn reap(&mut self) -> Option<ExitStatus> {
        self.kill();
        self.reaped = true;
        self.child.wait().ok()
    }
}
