//! An agent's command line as a backend: it thinks, the robot's tools reach it over
//! MCP, its model through the relay.

use std::fmt::Debug;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ruaflow_llm::{Client, Endpoint, ErrorKind, Image, Part, Prices};
use ruaflow_mcp::{Options, Server};
use serde_json::Value;
use tempfile::TempDir;

use super::counter::{self, Window};
use super::events::EventLog;
use super::gallery::Gallery;
use super::process::Process;
use super::program::Program;
use super::relay::{Dialect, Exchange, Relay};
use super::{LastWords, TICK};
use crate::backend::{Backend, Ending};
use crate::episode::Episode;
use crate::scribe::Scribe;

/// A command line that neither speaks, calls, nor asks its model for this long hangs.
const PATIENCE: Duration = Duration::from_secs(180);
/// No call and no reply takes longer: cells have their own deadline, requests theirs.
const LONGEST_WAIT: Duration = Duration::from_secs(6 * 3600);
const LAST_ANSWER: Duration = Duration::from_secs(2);
/// A process that has ended may have left lines on their way.
const LAST_LINES: Duration = Duration::from_millis(500);
/// Characters of what it said that are told.
const MAX_SAID: usize = 300;

/// What a command line is called, and what it speaks.
pub(super) struct Facts {
    /// Of its program and of the planner.
    pub name: &'static str,
    pub about: &'static str,
    /// In npm's registry.
    pub package: &'static str,
    /// Oldest version that is known to work.
    pub oldest: [u32; 3],
    pub dialect: Dialect,
}

/// What differs from one command line to another.
pub(super) trait Cli: Debug + Send + Sync {
    fn facts(&self) -> Facts;
    /// Completes the command and its files; what goes to its standard input comes back.
    fn prepare(
        &self,
        command: &mut Command,
        home: &Home,
        links: &Links,
        opening: &Opening,
    ) -> std::io::Result<Vec<u8>>;
    /// Whether its input stays open until it has ended its work.
    fn holds_input(&self) -> bool;
    /// What a line of its output says.
    fn read(&self, event: &Value) -> Said;
}

/// What a command line is to reach, and how.
pub(super) struct Links<'a> {
    pub model: &'a str,
    pub effort: Option<&'a str>,
    pub model_url: &'a str,
    pub model_token: &'a str,
    pub robot_url: &'a str,
    pub robot_token: &'a str,
    pub system: &'a str,
    /// How long it is to wait for a tool or its model.
    pub patience: Duration,
}

/// The first message.
pub(super) struct Opening {
    pub text: String,
    pub images: Vec<Image>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// The agent's words.
    Words(String),
    /// Something went wrong that it may overcome.
    Trouble(String),
    /// It can't go on.
    Failed(String),
    /// Its work is done.
    Ended,
    Nothing,
}

/// A place that only this user can read, for one agent in one episode.
pub(super) struct Home(TempDir);

impl Home {
    fn make() -> std::io::Result<Self> {
        let home = Home(tempfile::Builder::new().prefix("ruaflow-agent-").tempdir()?);
        for name in ["home", "workspace", "tmp"] {
            home.folder(name)?;
        }
        Ok(home)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn folder(&self, name: &str) -> std::io::Result<PathBuf> {
        let path = self.path(name);
        std::fs::create_dir_all(&path)?;
        Ok(path)
    }
}

/// Writes a file that only this user can read.
pub(super) fn private_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}

/// Plays an episode by a command line.
pub(super) struct Agent {
    pub cli: &'static dyn Cli,
    pub program: Program,
    pub endpoint: Endpoint,
    pub prices: Prices,
    pub patience: Duration,
}

impl Agent {
    pub fn new(
        cli: &'static dyn Cli,
        program: Program,
        endpoint: Endpoint,
        prices: Prices,
    ) -> Self {
        Agent { cli, program, endpoint, prices, patience: PATIENCE }
    }

    fn command(&self, home: &Home) -> Command {
        let mut command = Command::new(self.program.path());
        command
            .env_clear()
            .env("PATH", self.program.search_path())
            .env("HOME", home.path("home"))
            .env("TMPDIR", home.path("tmp"))
            .env("LANG", "C.UTF-8")
            .env("SHELL", "/bin/sh")
            .env("NO_PROXY", "127.0.0.1,localhost")
            .current_dir(home.path("workspace"));
        command
    }

    /// Starts the command line with all that it needs.
    fn start(
        &self,
        episode: &Episode,
        home: &Home,
        links: &Links,
        opening: &Opening,
    ) -> Result<Process, String> {
        let name = self.cli.facts().name;
        let failed = |error: std::io::Error| format!("{name} can't be started: {error}");
        let mut command = self.command(home);
        let input = self.cli.prepare(&mut command, home, links, opening).map_err(failed)?;
        std::fs::create_dir_all(episode.dir()).map_err(failed)?;
        let errors = episode.dir().join(format!("{name}_stderr.txt"));
        let mut process = Process::start(command, input, &errors).map_err(failed)?;
        if !self.cli.holds_input() {
            process.end_input();
        }
        Ok(process)
    }
}

impl Backend for Agent {
    fn play(&mut self, episode: &mut Episode) -> Result<Ending, String> {
        let name = self.cli.facts().name;
        self.program.check(self.cli)?;
        let opening = match episode.opening() {
            Ok(parts) => opening(parts),
            Err(over) => return Ok(over.into()),
        };
        let offered = |error: ruaflow_mcp::Error| format!("{name} can't be served: {error}");
        let (tools, counter, mut window) = counter::open(episode, None);
        let gallery = Arc::<Gallery>::default();
        gallery.hang("", opening.images.clone());
        window.gallery = Some(gallery.clone());
        let server = Server::start(Options::default(), &tools, counter).map_err(offered)?;
        let client = Client::new(self.endpoint.clone());
        let relay = Relay::start(self.cli.facts().dialect, client, gallery).map_err(offered)?;
        let home = Home::make().map_err(|error| format!("{name} has no home: {error}"))?;
        let links = Links {
            model: &self.endpoint.model,
            effort: self.endpoint.effort.as_deref(),
            model_url: &relay.url(),
            model_token: relay.token().reveal(),
            robot_url: &server.url(),
            robot_token: server.token().reveal(),
            system: &episode.system(),
            patience: LONGEST_WAIT,
        };
        let process = self.start(episode, &home, &links, &opening)?;
        let log = EventLog::create(&episode.dir().join(format!("{name}_events.jsonl")))
            .map_err(|error| format!("{name}'s events can't be kept: {error}"))?;
        let mut attended = Attended {
            agent: self,
            server: &server,
            relay,
            window,
            process,
            log,
            scribe: Scribe::new(&self.endpoint.model, self.prices.clone()),
            turns: 0,
            requests: 0,
            last_request: None,
            words: String::new(),
            failed: None,
        };
        attended.run(episode)
    }
}

fn opening(parts: Vec<Part>) -> Opening {
    let mut opening = Opening { text: String::new(), images: Vec::new() };
    for part in parts {
        match part {
            Part::Text(text) => opening.text.push_str(&text),
            Part::Image(image) => opening.images.push(image),
            _ => {}
        }
    }
    opening
}

/// A command line at work.
struct Attended<'a> {
    agent: &'a Agent,
    server: &'a Server,
    relay: Relay,
    window: Window,
    process: Process,
    log: EventLog,
    scribe: Scribe,
    turns: u32,
    /// Requests to its model that have come in, and the last one that is allowed.
    requests: usize,
    last_request: Option<usize>,
    /// What the agent said last.
    words: String,
    /// Why it can't go on, in its own words.
    failed: Option<String>,
}

impl Attended<'_> {
    fn run(&mut self, episode: &mut Episode) -> Result<Ending, String> {
        let mut last_words = LastWords::default();
        let mut heard = Instant::now();
        loop {
            let job = self.window.wait(TICK);
            let mut busy = self.relay.is_busy() || job.is_some();
            // First the reply that asks for the call.
            busy |= self.book(episode)?;
            if let Some(ending) = job.and_then(|job| self.window.execute(episode, job)) {
                self.server.settle(LAST_ANSWER);
                return Ok(ending);
            }
            let status = self.process.ended();
            busy |= self.hear(Duration::ZERO);
            if self.is_spent(episode) || last_words.are_spoken(episode) {
                return Ok(Ending::Over);
            }
            let name = self.agent.cli.facts().name;
            match status {
                Ok(None) => {}
                Ok(Some(status)) => {
                    self.book(episode)?;
                    return self.ended(status);
                }
                Err(error) => return Err(format!("{name} can't be watched: {error}")),
            }
            if busy {
                heard = Instant::now();
            } else if heard.elapsed() > self.agent.patience {
                let seconds = self.agent.patience.as_secs();
                let why = format!("{name} has neither spoken nor acted for {seconds} s");
                return Err(self.with_errors(why));
            }
        }
    }

    /// Whether it asks its model once more than its budgets allow. The request that finds
    /// one used up, and one for `finish`, are let through.
    fn is_spent(&mut self, episode: &mut Episode) -> bool {
        let requests = self.relay.requests();
        if requests > self.requests {
            self.requests = requests;
            if self.last_request.is_none() && episode.used_up().is_some() {
                self.last_request = Some(requests + 1);
            }
        }
        self.last_request.is_some_and(|last| requests > last)
    }

    /// Books what its model was asked.
    fn book(&mut self, episode: &mut Episode) -> Result<bool, String> {
        let mut any = false;
        while let Some(Exchange { asked, outcome }) = self.relay.next() {
            any = true;
            match outcome {
                Ok(reply) => {
                    episode.excuse(reply.timing.waited);
                    self.turns = self.scribe.turn(episode, &asked.request(), &reply, Vec::new());
                }
                // The command line may shorten its conversation and ask again.
                Err(error) if error.kind == ErrorKind::ContextOverflow => {
                    episode.note(&format!("the model gave no reply: {}", error.text));
                }
                Err(error) if error.kind == ErrorKind::Stopped => {}
                Err(error) => {
                    episode.note(&format!("the model gave no reply: {}", error.text));
                    return Err(error.text);
                }
            }
        }
        Ok(any)
    }

    /// Reads what it has written.
    fn hear(&mut self, within: Duration) -> bool {
        let mut any = false;
        while let Some(line) = self.process.line(within) {
            any = true;
            let Ok(event) = serde_json::from_str(&line) else { continue };
            self.log.keep(&event);
            match self.agent.cli.read(&event) {
                Said::Words(words) => self.words = words,
                Said::Trouble(why) => {
                    tracing::warn!(why, "{} has trouble", self.agent.cli.facts().name)
                }
                Said::Failed(why) => {
                    self.failed = Some(why);
                    self.process.end_input();
                }
                // It goes when nothing more is to come.
                Said::Ended => self.process.end_input(),
                Said::Nothing => {}
            }
        }
        any
    }

    fn ended(&mut self, status: std::process::ExitStatus) -> Result<Ending, String> {
        self.hear(LAST_LINES);
        let name = self.agent.cli.facts().name;
        if let Some(why) = self.failed.take() {
            return Err(self.with_errors(format!("{name} failed: {why}")));
        }
        if !status.success() {
            return Err(self.with_errors(format!("{name} ended with {status}")));
        }
        if self.turns == 0 {
            return Err(self.with_errors(format!("{name} ended without asking its model")));
        }
        let said: String = self.words.trim().chars().take(MAX_SAID).collect();
        Ok(Ending::GaveUp { why: format!("{name} ended without finish; it said: {said}") })
    }

    fn with_errors(&self, why: String) -> String {
        match self.process.errors().as_str() {
            "" => why,
            errors => format!("{why}; its standard error ends: {errors}"),
        }
    }
}
