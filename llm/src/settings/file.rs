//! `rua.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};

use super::{SETTINGS, SettingError};
use crate::{Price, Prices};

const NAME: &str = "rua.toml";

/// The `rua.toml` in the working folder and the user's own one, as far as they
/// exist. The former counts first.
#[derive(Clone, Debug, Default)]
pub struct Files {
    files: Vec<File>,
}

#[derive(Clone, Debug)]
struct File {
    path: String,
    /// It came with a folder, as code does, and not from the user.
    untrusted: bool,
    content: Content,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    /// The model that is meant when none is named.
    model: Option<String>,
    #[serde(default)]
    models: BTreeMap<String, Table>,
    #[serde(default)]
    prices: BTreeMap<String, Price>,
}

/// The settings of one model in one file.
pub(super) struct Profile<'a> {
    pub path: &'a str,
    pub untrusted: bool,
    values: &'a Table,
}

impl Files {
    /// Reads `rua.toml` in `folder`, and `ruaflow/rua.toml` in the user's
    /// configuration (`XDG_CONFIG_HOME`, else `~/.config`).
    ///
    /// # Errors
    /// When a file can't be read or has something in it that is no setting.
    pub fn load(folder: &Path, config: Option<&Path>) -> Result<Self, SettingError> {
        let own = config.map(|config| config.join("ruaflow").join(NAME));
        let places = [(Some(folder.join(NAME)), true), (own, false)];
        let mut files = Vec::new();
        for (path, untrusted) in places {
            let Some(path) = path else { continue };
            let name = path.display().to_string();
            match std::fs::read_to_string(&path) {
                Ok(text) => files.push(File::new(name, untrusted, &text)?),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(SettingError::File { path: name, reason: error.to_string() });
                }
            }
        }
        Ok(Files { files })
    }

    /// The list prices with the user's own ones before them.
    pub fn prices(&self) -> Prices {
        let own = self.files.iter().rev().flat_map(|file| file.content.prices.clone());
        Prices::shipped().with(own)
    }

    pub(super) fn model(&self) -> Option<String> {
        self.files.iter().find_map(|file| file.content.model.clone())
    }

    pub(super) fn profile(&self, name: &str) -> Option<Profile<'_>> {
        self.files.iter().find_map(|file| {
            let values = file.content.models.get(name)?;
            Some(Profile { path: &file.path, untrusted: file.untrusted, values })
        })
    }
}

impl File {
    fn new(path: String, untrusted: bool, text: &str) -> Result<Self, SettingError> {
        let fail = |reason: String| SettingError::File { path: path.clone(), reason };
        let content: Content = toml::from_str(text).map_err(|e| fail(e.to_string()))?;
        for (model, values) in &content.models {
            for (key, value) in values {
                let known = SETTINGS.iter().any(|setting| setting.key() == *key);
                if !known || text_of(value).is_none() {
                    let problem = if known { "is no single value" } else { "is no setting" };
                    return Err(fail(format!("{key} in [models.{model}] {problem}")));
                }
            }
        }
        Ok(File { path, untrusted, content })
    }
}

impl Profile<'_> {
    pub fn text(&self, key: &str) -> Option<String> {
        self.values.get(key).and_then(text_of)
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}
