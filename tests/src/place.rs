use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ruaflow_kit::Settings;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{PATIENCE, Process, Records, Terminal, wait_until};

/// Marks every process that a test has started.
const MARK: &str = "XDG_RUNTIME_DIR";

/// The clone that is tested: `RUAFLOW_ROOT`, else the one this crate is in.
pub fn root() -> PathBuf {
    let root = match std::env::var_os("RUAFLOW_ROOT") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join(".."),
    };
    let root = root.canonicalize().expect("the clone");
    assert!(
        root.join("bin/rua").is_file(),
        "bin/rua is missing in {root:?}: run `./rua setup` first"
    );
    root
}

/// A test's own folder, with its own sockets; every process goes with it.
pub struct Place {
    dir: TempDir,
    started: AtomicU32,
}

impl Default for Place {
    fn default() -> Self {
        // A short path: the name of a socket has little room.
        let dir = tempfile::Builder::new().prefix("rua").rand_bytes(4).tempdir().unwrap();
        std::fs::create_dir(dir.path().join("run")).unwrap();
        Place { dir, started: AtomicU32::new(0) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for process in self.processes() {
            process.signal(Signal::KILL);
        }
    }
}

impl Place {
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A command that begins in this place and takes its processes along.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.dir.path())
            .env(MARK, self.path("run"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null());
        // What is the caller's must not decide a test.
        for setting in Settings::NAMES.into_iter().chain([Settings::FILE_VARIABLE]) {
            command.env_remove(setting);
        }
        for setting in ruaflow_llm::SETTINGS {
            command.env_remove(setting.variable());
        }
        command
    }

    pub fn rua<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.command(root().join("bin/rua"));
        command.env("RUAFLOW_ROOT", root()).args(args);
        command
    }

    /// The template robot, with a policy and more arguments; the run goes to `out`.
    pub fn play<'a>(&self, policy: &str, args: impl IntoIterator<Item = &'a str>) -> Command {
        self.play_to("out", policy, args)
    }

    pub fn play_to<'a>(
        &self,
        out: &str,
        policy: &str,
        args: impl IntoIterator<Item = &'a str>,
    ) -> Command {
        self.write("policy.py", policy);
        let mut command =
            self.rua(["play", "--robot", "template", "--policy", "policy.py", "--out", out]);
        command.args(args);
        command
    }

    /// Starts a command; what it prints goes to files.
    pub fn start(&self, mut command: Command) -> Running {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let [out, err] = ["out", "err"].map(|kind| self.path(&format!("printed-{number}.{kind}")));
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Running { child, out, err, started: Instant::now() }
    }

    /// Starts a command on a terminal of its own, on which keys can be pressed.
    pub fn start_on_terminal(&self, mut command: Command) -> (Running, Terminal) {
        let (terminal, theirs) = Terminal::open();
        command
            .env("TERM", "xterm")
            .stdin(theirs.try_clone().unwrap())
            .stdout(theirs.try_clone().unwrap())
            .stderr(theirs);
        terminal.be_controlling(&mut command);
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let [out, err] = ["out", "err"].map(|kind| self.path(&format!("printed-{number}.{kind}")));
        File::create(&err).unwrap();
        terminal.copy_to(File::create(&out).unwrap());
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        (Running { child, out, err, started: Instant::now() }, terminal)
    }

    pub fn run(&self, command: Command) -> Finished {
        self.start(command).wait()
    }

    /// The records in `out`.
    pub fn records(&self) -> Records {
        Records::open(&self.path("out"))
    }

    pub fn processes(&self) -> Vec<Process> {
        Process::with_variable(MARK, self.path("run").as_os_str())
    }

    /// The one process of a program, once it runs.
    pub fn process(&self, program: &str) -> Process {
        let mut found = None;
        wait_until(program, || {
            found = self.processes().into_iter().find(|process| process.runs(program));
            found.is_some()
        });
        found.unwrap()
    }

    /// Fails when a process of this place lives on, or a socket or a settings file.
    pub fn assert_nothing_left(&self) {
        let start = Instant::now();
        while !self.processes().is_empty() {
            assert!(
                start.elapsed() < Duration::from_secs(5),
                "left behind: {:#?}",
                self.processes()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        let left = std::fs::read_dir(self.path("run/ruaflow")).into_iter().flatten();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

/// A command that was started.
pub struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
    started: Instant,
}

impl Running {
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// What it has printed so far.
    pub fn printed(&self) -> String {
        std::fs::read_to_string(&self.out).unwrap()
    }

    pub fn wait(mut self) -> Finished {
        let mut status = None;
        while status.is_none() {
            if self.started.elapsed() > PATIENCE {
                let _ = self.child.kill();
                self.child.wait().unwrap();
                panic!("it did not end; {}", self.finished(None));
            }
            status = self.child.try_wait().unwrap();
            std::thread::sleep(Duration::from_millis(10));
        }
        self.finished(
            status.and_then(|status| status.code().or(status.signal().map(|signal| 128 + signal))),
        )
    }

    fn finished(&self, code: Option<i32>) -> Finished {
        Finished {
            code,
            out: std::fs::read_to_string(&self.out).unwrap(),
            err: std::fs::read_to_string(&self.err).unwrap(),
        }
    }
}

/// A command that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Exit status; 128 and more for a signal.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Finished {
    #[track_caller]
    pub fn assert_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Fails unless the error is one line that holds all these words.
    #[track_caller]
    pub fn assert_error(&self, words: &[&str]) -> &Self {
        assert_eq!(self.err.trim_end().lines().count(), 1, "expected one line of error; {self}");
        for word in words {
            assert!(self.err.contains(word), "expected {word:?} in the error; {self}");
        }
        self
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit status {:?}\n--- stdout\n{}--- stderr\n{}", self.code, self.out, self.err)
    }
}
