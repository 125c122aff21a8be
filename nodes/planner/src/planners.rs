//! Which backend plans, with what it needs.

use std::path::{Path, PathBuf};

use ruaflow_kit::{SettingError, Settings};
use ruaflow_llm::{Endpoint, Files, Prices, Provider, Sources, ToolMode, Usage, Wire};
use ruaflow_record::{Policy, RecordError};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::backend::Backend;
use crate::builtin::Builtin;
use crate::model::Model;
use crate::recorded::Recorded;
use crate::runtime::{Runtime, RuntimeError};
use crate::script::{Script, ScriptError};

/// A backend that was asked for, checked.
#[derive(Clone, Debug)]
pub enum Planner {
    /// Plays a file.
    Script { script: Script, policy: Policy },
    /// Plays the cells of a recorded run again.
    Recording(Recorded),
    /// Asks a model itself.
    Model { provider: Provider, endpoint: Box<Endpoint>, prices: Prices },
    /// Leaves it to another program.
    Runtime(Runtime),
    /// Plays without a model; `by_default` when nobody asked for it.
    Builtin { by_default: bool },
}

#[derive(Debug, thiserror::Error)]
pub enum PlannerError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error(
        "setting POLICY is empty: the planner \"script\" plays a Python file, name one with --policy"
    )]
    NoPolicy,
    #[error("setting RECORDING: {0}")]
    Recording(#[from] RecordError),
    #[error(
        "setting BUDGET_DOLLARS: the price of model {0:?} is not known; put it into rua.toml under [prices]"
    )]
    NoPrice(String),
    #[error("planner {planner:?}: {reason}")]
    Model { planner: &'static str, reason: ruaflow_llm::SettingError },
    #[error(transparent)]
    RuaToml(ruaflow_llm::SettingError),
    #[error("planner {planner:?}: {reason}")]
    Runtime { planner: String, reason: RuntimeError },
    #[error(
        "planner {0:?} acts by tools: the arm single-shot is for the planners openai and anthropic"
    )]
    NoSingleShot(&'static str),
    #[error(
        "setting PLANNER is {name:?}, which is not known; there are builtin, script, recording, openai, anthropic, codex, claude, mcp"
    )]
    Unknown { name: String },
}

impl Planner {
    /// The planner that the settings ask for; relative paths count from `cwd`.
    pub(crate) fn read(settings: &Settings, cwd: &Path) -> Result<Self, PlannerError> {
        let Some(name) = settings.text("PLANNER") else { return by_default(settings, cwd) };
        match name.as_str() {
            "builtin" => Ok(Planner::Builtin { by_default: false }),
            "script" => script(settings, cwd),
            "recording" => recording(settings, cwd),
            "openai" => model(settings, cwd, Provider::OpenAi),
            "anthropic" => model(settings, cwd, Provider::Anthropic),
            name if Runtime::NAMES.contains(&name) => {
                let runtime = Runtime::read(name, settings, cwd);
                runtime
                    .map(Planner::Runtime)
                    .map_err(|reason| PlannerError::Runtime { planner: name.to_owned(), reason })
            }
            _ => Err(PlannerError::Unknown { name }),
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Planner::Script { .. } => "script",
            Planner::Recording(_) => "recording",
            Planner::Model { provider, .. } => planner_of(*provider),
            Planner::Runtime(runtime) => runtime.name(),
            Planner::Builtin { .. } => "builtin",
        }
    }

    /// What a person should know of how it came to be this one.
    pub(crate) fn note(&self) -> Option<&'static str> {
        match self {
            Planner::Builtin { by_default: true } => {
                Some("no model is configured, so the built-in planner plays; --model NAME asks one")
            }
            _ => None,
        }
    }

    /// The model it asks; empty when it asks none.
    pub fn model(&self) -> &str {
        self.asks().map_or("", |(endpoint, _)| &endpoint.model)
    }

    fn asks(&self) -> Option<(&Endpoint, &Prices)> {
        match self {
            Planner::Script { .. } | Planner::Recording(_) | Planner::Builtin { .. } => None,
            Planner::Model { endpoint, prices, .. } => Some((endpoint, prices)),
            Planner::Runtime(runtime) => runtime.asks(),
        }
    }

    pub fn policy(&self) -> Option<&Policy> {
        match self {
            Planner::Script { policy, .. } => Some(policy),
            Planner::Recording(_)
            | Planner::Model { .. }
            | Planner::Runtime(_)
            | Planner::Builtin { .. } => None,
        }
    }

    /// Whether what it costs can be told in dollars.
    pub(crate) fn has_price(&self) -> bool {
        self.asks().is_none_or(|(endpoint, prices)| {
            prices.price(&endpoint.model, &Usage::default()).is_some()
        })
    }

    /// A backend for one episode.
    pub fn backend(&self) -> Box<dyn Backend> {
        match self {
            Planner::Script { script, .. } => script.player(),
            Planner::Recording(recorded) => recorded.player(),
            Planner::Model { endpoint, prices, .. } => {
                Box::new(Model::new((**endpoint).clone(), prices.clone()))
            }
            Planner::Runtime(runtime) => runtime.backend(),
            Planner::Builtin { .. } => Box::new(Builtin),
        }
    }

    /// For `settings.json`; no key or other secret is in it.
    pub(crate) fn to_json(&self) -> Value {
        let mut settings = json!({
            "PLANNER": self.name(),
            "POLICY": self.policy().map(|policy| policy.path.clone()),
        });
        if let (Some((endpoint, prices)), Some(all)) = (self.asks(), settings.as_object_mut()) {
            all.extend(endpoint_json(endpoint));
            all.insert("PRICES".to_owned(), json!(prices.date));
        }
        if let Planner::Recording(recorded) = self {
            settings["RECORDING"] = recorded.address.to_string().into();
        }
        if let Planner::Runtime(runtime) = self {
            let (name, value) = runtime.setting();
            settings[name] = value;
        }
        settings
    }
}

/// A model's settings as they came out, by the variables that set them.
pub(crate) fn endpoint_json(endpoint: &Endpoint) -> Map<String, Value> {
    let wire = match endpoint.wire {
        Wire::Chat => "chat",
        Wire::Responses => "responses",
        Wire::Anthropic => "anthropic",
    };
    let tool_mode = match endpoint.tool_mode {
        ToolMode::Native => "native",
        ToolMode::Text => "text",
        ToolMode::JsonSchema => "json-schema",
    };
    let values = json!({
        "RUA_MODEL": endpoint.model,
        "RUA_BASE_URL": endpoint.base_url,
        "RUA_WIRE": wire,
        "RUA_KEY_ENV": endpoint.key_variable,
        "RUA_EFFORT": endpoint.effort,
        "RUA_TEMPERATURE": endpoint.temperature,
        "RUA_MAX_OUTPUT_TOKENS": endpoint.max_output_tokens,
        "RUA_TOOL_MODE": tool_mode,
        "RUA_STREAM": endpoint.stream,
        "RUA_RETRIES": endpoint.retries.max,
    });
    match values {
        Value::Object(values) => values,
        _ => Map::new(),
    }
}

/// The model that settings, the environment and `rua.toml` name together.
pub(crate) fn endpoint(
    settings: &Settings,
    cwd: &Path,
    provider: Provider,
) -> Result<(Endpoint, Prices), ruaflow_llm::SettingError> {
    let files = rua_toml(settings, cwd)?;
    let sources =
        Sources { given: &|name| settings.text(name), environment: &environment, files: &files };
    Ok((Endpoint::resolve(provider, &sources)?, files.prices()))
}

fn rua_toml(settings: &Settings, cwd: &Path) -> Result<Files, ruaflow_llm::SettingError> {
    // `rua play` says which folder it was called in.
    let folder = settings.text("RUA_FOLDER").map_or_else(|| cwd.to_owned(), PathBuf::from);
    Files::load(&folder, user_configuration().as_deref())
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// `XDG_CONFIG_HOME`, else `~/.config`.
fn user_configuration() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty());
    named.map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".config")))
}

/// Nobody was named: a file is played, else the model that is configured is asked.
fn by_default(settings: &Settings, cwd: &Path) -> Result<Planner, PlannerError> {
    if settings.text("POLICY").is_some() {
        return script(settings, cwd);
    }
    let files = rua_toml(settings, cwd).map_err(PlannerError::RuaToml)?;
    let sources =
        Sources { given: &|name| settings.text(name), environment: &environment, files: &files };
    match Provider::named(&sources) {
        Some(provider) => model(settings, cwd, provider),
        None => Ok(Planner::Builtin { by_default: true }),
    }
}

fn model(settings: &Settings, cwd: &Path, provider: Provider) -> Result<Planner, PlannerError> {
    match endpoint(settings, cwd, provider) {
        Ok((endpoint, prices)) => {
            Ok(Planner::Model { provider, endpoint: Box::new(endpoint), prices })
        }
        Err(reason) => Err(PlannerError::Model { planner: planner_of(provider), reason }),
    }
}

fn planner_of(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => "openai",
        Provider::Anthropic => "anthropic",
    }
}

fn recording(settings: &Settings, cwd: &Path) -> Result<Planner, PlannerError> {
    let text = settings.text("RECORDING").unwrap_or_default();
    let address = text.parse().map_err(|expected: String| SettingError::Value {
        name: "RECORDING".to_owned(),
        value: text,
        expected: expected.trim_start_matches("expected ").to_owned(),
    })?;
    Ok(Planner::Recording(Recorded::read(address, cwd)?))
}

fn script(settings: &Settings, cwd: &Path) -> Result<Planner, PlannerError> {
    let path = cwd.join(settings.text("POLICY").ok_or(PlannerError::NoPolicy)?);
    let path = path.canonicalize().unwrap_or(path);
    let (script, bytes) = Script::load(&path)?;
    let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let policy = Policy { path: path.display().to_string(), sha256, bytes: bytes.len() as u64 };
    Ok(Planner::Script { script, policy })
}
