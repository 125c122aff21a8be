//! Backends that leave the thinking to another program: an agent's command line
//! (`codex`, `claude`), or whatever MCP client comes (`mcp`).
//!
//! Each is offered the tools of the episode's arm over MCP; the calls are executed
//! where those of our own planners are.

mod claude;
mod cli;
mod codex;
mod counter;
mod events;
mod gallery;
#[cfg(test)]
mod mini;
mod process;
mod program;
mod relay;
mod served;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::{Duration, Instant};

use ruaflow_kit::{SettingError, Settings};
use ruaflow_llm::{Endpoint, Prices, Provider};
use serde_json::{Value, json};

use self::claude::Claude;
use self::cli::{Agent, Cli};
use self::codex::Codex;
use self::program::Program;
use self::served::{Door, Served};
use crate::backend::{Backend, Why};
use crate::episode::Episode;
use crate::{LAST_WORDS, planners};

/// What clients call our MCP server; part of each tool's name at the agent.
const SERVER: &str = "robot";
/// How often a waiting backend looks around.
const TICK: Duration = Duration::from_millis(50);

/// A program that plans.
#[derive(Clone, Debug)]
pub struct Runtime(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Agent { cli: &'static dyn Cli, program: Program, endpoint: Box<Endpoint>, prices: Prices },
    Mcp(Door),
}

/// Why a program can't plan.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error(transparent)]
    Model(#[from] ruaflow_llm::SettingError),
    #[error("{0}")]
    Program(String),
    #[error(
        "setting MCP_TOKEN_FILE is empty: it says where clients find the token that lets them in"
    )]
    NoTokenFile,
}

impl Runtime {
    /// The planners of this kind.
    pub const NAMES: [&'static str; 3] = ["codex", "claude", "mcp"];

    /// Reads what the settings say of the planner `name`; relative paths count from `cwd`.
    pub(crate) fn read(name: &str, settings: &Settings, cwd: &Path) -> Result<Self, RuntimeError> {
        let (cli, provider): (&dyn Cli, _) = match name {
            "codex" => (&Codex, Provider::OpenAi),
            "claude" => (&Claude, Provider::Anthropic),
            _ => return Door::read(settings, cwd).map(|door| Runtime(Kind::Mcp(door))),
        };
        let named = settings.text("CLI").map(|path| cwd.join(path));
        let program = Program::find(cli, named.as_deref()).map_err(RuntimeError::Program)?;
        let (endpoint, prices) = planners::endpoint(settings, cwd, provider)?;
        Ok(Runtime(Kind::Agent { cli, program, endpoint: Box::new(endpoint), prices }))
    }

    #[must_use]
    pub fn name(&self) -> &'static str {
        match &self.0 {
            Kind::Agent { cli, .. } => cli.facts().name,
            Kind::Mcp(_) => "mcp",
        }
    }

    /// The model it asks and the prices; none when that is the client's own affair.
    pub(crate) fn asks(&self) -> Option<(&Endpoint, &Prices)> {
        match &self.0 {
            Kind::Agent { endpoint, prices, .. } => Some((endpoint, prices)),
            Kind::Mcp(_) => None,
        }
    }

    /// A backend for one episode.
    #[must_use]
    pub fn backend(&self) -> Box<dyn Backend> {
        match &self.0 {
            Kind::Agent { cli, program, endpoint, prices } => {
                Box::new(Agent::new(*cli, program.clone(), (**endpoint).clone(), prices.clone()))
            }
            Kind::Mcp(door) => Box::new(Served { door: door.clone() }),
        }
    }

    /// Its own settings, for `settings.json`.
    pub(crate) fn setting(&self) -> (&'static str, Value) {
        match &self.0 {
            Kind::Agent { program, .. } => ("CLI", json!(program.path())),
            Kind::Mcp(door) => ("MCP_PORT", json!(door.port)),
        }
    }
}

/// Gives an agent whose budget is used up the time to say `finish`.
#[derive(Default)]
struct LastWords(Option<Instant>);

impl LastWords {
    /// Whether the backend is to end now.
    fn are_spoken(&mut self, episode: &Episode) -> bool {
        match episode.control().over() {
            Some(Why::Budget(_)) => {}
            Some(_) => return true,
            None if episode.spent().is_some() => {}
            None => return false,
        }
        // A little before the run ends it by itself.
        self.0.get_or_insert_with(Instant::now).elapsed() > LAST_WORDS.mul_f64(0.9)
    }
}
