//! The node's side of a child process: start it, talk to it, end it.

use std::io::{self, BufReader, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{self, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::CHILD_ARGUMENT;
use crate::outbox::Outbox;
use crate::protocol::{
    Answer, Done, FromChild, MAX_FROM_CHILD, Run, Stream, ToChild, read_message,
};
use crate::text::Capture;

/// Characters kept of each of a cell's standard output and error.
pub const MAX_OUTPUT: usize = 8_000;

/// Bytes kept of what the process itself said before it died.
const MAX_LAST_WORDS: usize = 4_096;

/// How long a process that closed its pipe may take to die by itself.
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
    /// The interpreter is up.
    Ready,
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

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Exit {
    #[error("the cell's process was killed")]
    Killed,
    #[error("the cell used more memory than it may ({} MiB)", .limit_bytes >> 20)]
    OutOfMemory { limit_bytes: u64 },
    #[error("the cell's native stack overflowed: too deep a nesting of objects or calls")]
    StackOverflow,
    #[error("the cell's process crashed with signal {signal}{last_words}")]
    Crashed { signal: i32, last_words: String },
    #[error("the cell's process ended with status {code}{last_words}")]
    Left { code: i32, last_words: String },
}

#[derive(Debug, thiserror::Error)]
#[error("could not start the cell's process {program:?}: {source}")]
pub struct SpawnError {
    program: PathBuf,
    source: io::Error,
}

/// A child process and its pipes. Dropping it kills it.
pub struct Child {
    shared: Arc<Shared>,
    outbox: Mutex<Outbox>,
    listener: Option<JoinHandle<()>>,
}

struct Shared {
    process: Mutex<process::Child>,
    killed: AtomicBool,
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
        let mut process = Command::new(&config.program)
            .arg(CHILD_ARGUMENT)
            .arg(config.memory_bytes.to_string())
            .env_clear()
            .current_dir("/")
            // Ctrl-C is for the node; it ends its cell in order.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        // From here on the process is killed when something fails.
        let shared =
            Arc::new(Shared { process: Mutex::new(process), killed: AtomicBool::new(false) });
        let listen = || {
            let (Some(to_child), Some(from_child), Some(last_words)) = pipes else {
                return Err(io::Error::other("it has no pipes"));
            };
            let listener = Listener {
                shared: Arc::clone(&shared),
                memory_bytes: config.memory_bytes,
                stdout: Capture::new(MAX_OUTPUT),
                stderr: Capture::new(MAX_OUTPUT),
            };
            let outbox = Outbox::new(to_child)?;
            let listener = thread::Builder::new()
                .name("from-cell".to_owned())
                .spawn(move || listener.listen(from_child, last_words, sink))?;
            Ok((outbox, listener))
        };
        match listen() {
            Ok((outbox, listener)) => {
                Ok(Self { shared, outbox: Mutex::new(outbox), listener: Some(listener) })
            }
            Err(error) => {
                shared.kill();
                shared.wait();
                Err(error)
            }
        }
    }

    /// Says which robot's API the cells will use; once, before the first cell.
    pub fn init(&self, robot: &str) {
        self.send(&ToChild::Init { robot: robot.to_owned() });
    }

    /// Runs a cell; [`ChildEvent::Done`] or [`ChildEvent::Exited`] follows.
    pub fn run(&self, index: u32, code: &str) {
        self.send(&ToChild::Run(Run {
            index,
            filename: format!("<cell {index}>"),
            code: code.to_owned(),
        }));
    }

    pub fn reply(&self, id: u64, answer: Answer) {
        self.send(&ToChild::Reply { id, answer });
    }

    /// Raises `KeyboardInterrupt` in cell `index`. A cell may catch it, and
    /// native code does not look for it: [`kill`](Self::kill) is sure.
    pub fn interrupt(&self, index: u32, reason: &str) {
        self.send(&ToChild::Interrupt { index, reason: reason.to_owned() });
    }

    /// Kills the process; [`ChildEvent::Exited`] follows.
    pub fn kill(&self) {
        self.shared.kill();
    }

    /// Process id, for tests and logs.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.shared.process().id()
    }

    fn send(&self, message: &ToChild) {
        let sent = self.outbox.lock().unwrap_or_else(PoisonError::into_inner).send(message);
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
    fn process(&self) -> MutexGuard<'_, process::Child> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kill(&self) {
        self.killed.store(true, Ordering::Relaxed);
        // Does nothing once the process has been waited for.
        if let Err(error) = self.process().kill() {
            tracing::warn!(%error, "could not kill a cell's process");
        }
    }

    /// Waits for a process that has closed its pipe.
    fn wait(&self) -> Option<ExitStatus> {
        let end = Instant::now() + DEATH;
        loop {
            let status = self.process().try_wait();
            match status {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(1)),
                Ok(None) | Err(_) => break,
            }
        }
        self.kill();
        self.process().wait().ok()
    }
}

struct Listener {
    shared: Arc<Shared>,
    memory_bytes: u64,
    stdout: Capture,
    stderr: Capture,
}

impl Listener {
    fn listen(
        mut self,
        from_child: ChildStdout,
        last_words: ChildStderr,
        sink: impl Fn(ChildEvent),
    ) {
        let last_words = thread::Builder::new()
            .name("cell-stderr".to_owned())
            .spawn(move || collect(last_words));
        let mut from_child = BufReader::with_capacity(1 << 16, from_child);
        let broken = loop {
            match read_message::<FromChild>(&mut from_child, MAX_FROM_CHILD) {
                Ok(Some(message)) => self.take(message, &sink),
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        let killed = self.shared.killed.load(Ordering::Relaxed);
        if broken.is_some() {
            // It does not speak the protocol any more, so nothing it does counts.
            self.shared.kill();
        }
        let status = self.shared.wait();
        let mut words = last_words.ok().and_then(|thread| thread.join().ok()).unwrap_or_default();
        if let Some(broken) = broken
            && !killed
        {
            words.push_str(&broken);
        }
        let exit = self.exit(status, killed, words.trim());
        let output = self.output();
        sink(ChildEvent::Exited { exit, output });
    }

    fn take(&mut self, message: FromChild, sink: &impl Fn(ChildEvent)) {
        match message {
            FromChild::Ready => sink(ChildEvent::Ready),
            FromChild::Call { id, method, arguments } => {
                sink(ChildEvent::Call { id, method, arguments })
            }
            FromChild::Attribute { id, name } => sink(ChildEvent::Attribute { id, name }),
            FromChild::Output { stream, text } => match stream {
                Stream::Stdout => self.stdout.push(&text),
                Stream::Stderr => self.stderr.push(&text),
            },
            FromChild::Done(done) => {
                let output = self.output();
                sink(ChildEvent::Done { done, output });
            }
        }
    }

    fn output(&mut self) -> Output {
        let stdout = std::mem::replace(&mut self.stdout, Capture::new(MAX_OUTPUT));
        let stderr = std::mem::replace(&mut self.stderr, Capture::new(MAX_OUTPUT));
        Output { stdout: stdout.text(), stderr: stderr.text() }
    }

    fn exit(&self, status: Option<ExitStatus>, killed: bool, words: &str) -> Exit {
        // Rust's own words when an allocation fails and when a guard page is hit.
        if words.contains("memory allocation of") {
            return Exit::OutOfMemory { limit_bytes: self.memory_bytes };
        }
        if words.contains("has overflowed its stack") {
            return Exit::StackOverflow;
        }
        let last_words = match words.lines().last() {
            Some(line) => format!(": {line}"),
            None => String::new(),
        };
        match status.and_then(|status| status.signal().or(Some(0)).zip(Some(status))) {
            _ if killed => Exit::Killed,
            Some((0, status)) => Exit::Left { code: status.code().unwrap_or(-1), last_words },
            Some((signal, _)) => Exit::Crashed { signal, last_words },
            None => Exit::Killed,
        }
    }
}

/// The end of what the process wrote to standard error.
fn collect(mut stderr: ChildStderr) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(count) = stderr.read(&mut buffer) {
        if count == 0 {
            break;
        }
        kept.extend_from_slice(&buffer[..count]);
        if kept.len() > MAX_LAST_WORDS {
            kept.drain(..kept.len() - MAX_LAST_WORDS);
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}
