use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A node's settings: the file that `RUA_SETTINGS` names, else the environment.
///
/// `rua play` writes that file, readable by its owner only, so that a value may
/// hold anything and dora never shows it. Under `dora run` and `dora start` the
/// dataflow's `env:` block gives the defaults and `--env` overrides them.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    file: BTreeMap<String, String>,
    isolated: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    #[error("settings file {path:?}: {reason}")]
    File { path: PathBuf, reason: String },
    #[error("setting {name} is {value:?}, expected {expected}")]
    Value { name: String, value: String, expected: String },
}

impl Settings {
    pub const FILE_VARIABLE: &'static str = "RUA_SETTINGS";

    /// Every setting of a run. Keys are not among them: they stay in the environment.
    pub const NAMES: [&'static str; 44] = [
        "ROBOT",
        "SUITE",
        "TASK",
        "SEED",
        "SETTLE",
        "FROM",
        "EPISODES",
        "SCENES",
        "PLANNER",
        "POLICY",
        "PRIMITIVES",
        "OUT",
        "RUN_ID",
        "BUDGET_S",
        "MAX_STEPS",
        "CELL_TIMEOUT_S",
        "CALL_TIMEOUT_S",
        "PICTURES",
        "RECORD",
        "RECORDING",
        "SPEED",
        "FEEDBACK",
        "IMAGES",
        "ARM",
        "MAX_PROGRAMS",
        "MAX_TURNS",
        "BUDGET_CALLS",
        "BUDGET_TOKENS",
        "BUDGET_DOLLARS",
        "SHOW_BUDGETS",
        "TRANSFER",
        "GUIDES",
        "EGL_DEVICE",
        "VLA",
        "VLA_URL",
        "VLA_MODEL",
        "VLA_TIMEOUT_S",
        "CHUNK_TIMEOUT_S",
        "PERCEPTION",
        "BUILTIN_DIR",
        "SAM3_DIR",
        "CLI",
        "MCP_PORT",
        "MCP_TOKEN_FILE",
    ];

    pub fn load() -> Result<Self, SettingError> {
        match std::env::var_os(Self::FILE_VARIABLE) {
            Some(path) if !path.is_empty() => Self::from_file(Path::new(&path)),
            _ => Ok(Self::default()),
        }
    }

    pub fn from_file(path: &Path) -> Result<Self, SettingError> {
        let fail = |reason: String| SettingError::File { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|e| fail(e.to_string()))?;
        let file = serde_json::from_str(&text).map_err(|e| fail(e.to_string()))?;
        Ok(Settings { file, isolated: false })
    }

    /// Settings that do not look at the environment, for tests.
    pub fn fixed<const N: usize>(values: [(&str, &str); N]) -> Self {
        let file = values.map(|(k, v)| (k.to_owned(), v.to_owned())).into_iter().collect();
        Settings { file, isolated: true }
    }

    /// A setting's text; an empty one counts as not set.
    pub fn text(&self, name: &str) -> Option<String> {
        let environment = || if self.isolated { None } else { std::env::var(name).ok() };
        self.file.get(name).cloned().or_else(environment).filter(|value| !value.is_empty())
    }

    /// A setting as a number or the like; `expected` completes "expected …".
    pub fn parse<T: FromStr>(
        &self,
        name: &str,
        default: T,
        expected: &str,
    ) -> Result<T, SettingError> {
        let Some(value) = self.text(name) else { return Ok(default) };
        value.trim().parse().map_err(|_| SettingError::Value {
            name: name.to_owned(),
            value,
            expected: expected.to_owned(),
        })
    }
}
