//! Which model, where, and how: from flags, the environment and `rua.toml`.

mod file;

use std::str::FromStr;
use std::time::Duration;

use ureq::http::Uri;

pub use file::Files;
use file::Profile;

use crate::http::is_loopback;
use crate::{Endpoint, Retries, Secret, Timeouts, ToolMode, Wire};

/// One setting of a model: `--max-output-tokens` as a flag, `RUA_MAX_OUTPUT_TOKENS`
/// in the environment, `max_output_tokens` in a profile of `rua.toml`. The first of
/// these that is there counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// As a flag, without the dashes before it.
    pub name: &'static str,
    /// What a value looks like.
    pub value: &'static str,
    pub default: &'static str,
    pub about: &'static str,
}

impl Setting {
    /// Its name in the environment.
    pub fn variable(&self) -> String {
        format!("RUA_{}", self.key().to_uppercase())
    }

    /// Its name in `rua.toml`.
    pub fn key(&self) -> String {
        self.name.replace('-', "_")
    }
}

/// Every setting of a model.
pub const SETTINGS: [Setting; 15] = [
    Setting {
        name: "model",
        value: "NAME",
        default: "`model` in `rua.toml`",
        about: "the model, or a profile of `rua.toml`",
    },
    Setting {
        name: "base-url",
        value: "URL",
        default: "OPENAI_BASE_URL or ANTHROPIC_BASE_URL, else the provider's own",
        about: "where the server is, such as `http://127.0.0.1:8080/v1`",
    },
    Setting {
        name: "wire",
        value: "chat, responses or anthropic",
        default: "`responses` at OpenAI, `chat` elsewhere; `anthropic` for that planner",
        about: "the format of requests and replies",
    },
    Setting {
        name: "key-env",
        value: "VARIABLE",
        default: "OPENAI_API_KEY or ANTHROPIC_API_KEY",
        about: "the environment variable that holds the key; a key itself is never a setting",
    },
    Setting {
        name: "effort",
        value: "WORD",
        default: "the model's own",
        about: "how hard to reason: `low`, `medium`, `high` or what else the model knows",
    },
    Setting {
        name: "temperature",
        value: "NUMBER",
        default: "the model's own",
        about: "how freely to sample; most reasoning models take none",
    },
    Setting {
        name: "max-output-tokens",
        value: "COUNT",
        default: "the server's own; 16000 for `anthropic`",
        about: "where a reply is cut off, reasoning included",
    },
    Setting {
        name: "tool-mode",
        value: "native, text or json-schema",
        default: "native",
        about: "how the model is told of tools and calls them",
    },
    Setting {
        name: "stream",
        value: "true or false",
        default: "true",
        about: "ask for replies piece by piece",
    },
    Setting {
        name: "retries",
        value: "COUNT",
        default: "6",
        about: "requests after the first one, for failures that pass",
    },
    Setting {
        name: "longest-pause",
        value: "DURATION",
        default: "2m",
        about: "a server that asks for a longer pause before the next request is given up on",
    },
    Setting {
        name: "connect-timeout",
        value: "DURATION",
        default: "10s",
        about: "until the connection stands",
    },
    Setting {
        name: "first-token-timeout",
        value: "DURATION",
        default: "5m",
        about: "until a reply begins",
    },
    Setting {
        name: "idle-timeout",
        value: "DURATION",
        default: "2m",
        about: "between two pieces of a reply",
    },
    Setting {
        name: "request-timeout",
        value: "DURATION",
        default: "15m",
        about: "a reply with all its retries and pauses",
    },
];

/// The settings as a table in Markdown.
pub fn table() -> String {
    let mut table = "| flag | variable | in `rua.toml` | value | default | |\n".to_owned();
    table += "| --- | --- | --- | --- | --- | --- |\n";
    for setting in SETTINGS {
        let Setting { name, value, default, about } = setting;
        let (variable, key) = (setting.variable(), setting.key());
        table +=
            &format!("| `--{name}` | `{variable}` | `{key}` | {value} | {default} | {about} |\n");
    }
    table
}

/// Whose models are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// OpenAI, and everybody who speaks like it.
    OpenAi,
    Anthropic,
}

impl Provider {
    /// Whose model the settings name, by its wire or its name; `None` without a model.
    pub fn named(sources: &Sources) -> Option<Self> {
        let values = Values::new(sources).ok()?;
        let anthropic = match values.text("wire") {
            Some(wire) => wire.text == "anthropic",
            None => values.text("base-url").is_none() && values.model.starts_with("claude"),
        };
        Some(if anthropic { Provider::Anthropic } else { Provider::OpenAi })
    }
}

/// Where settings come from.
pub struct Sources<'a> {
    /// A setting that was given as a flag or in the environment, by its variable's name.
    pub given: &'a dyn Fn(&str) -> Option<String>,
    /// The environment, for keys and the providers' own variables.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    pub files: &'a Files,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    #[error("{path}: {reason}")]
    File { path: String, reason: String },
    #[error("{from} is {value:?}, expected {expected}")]
    Value { from: String, value: String, expected: &'static str },
    #[error("no model is named: give --model NAME, or `model = \"NAME\"` in rua.toml")]
    NoModel,
    #[error("{variable} is not set: it holds the key for {url}")]
    NoKey { variable: String, url: String },
    #[error(
        "{path} sends the key in {variable} to {url}: a file in the working folder may not \
         choose both; say --key-env {variable} yourself, or move the profile to \
         ~/.config/ruaflow/rua.toml"
    )]
    Untrusted { path: String, variable: String, url: String },
    #[error("--tool-mode json-schema needs a server with --wire chat or responses")]
    NoSchema,
}

impl Endpoint {
    /// A model by its settings.
    ///
    /// # Errors
    /// When a setting is wrong or missing; the text says which one, and from where.
    pub fn resolve(provider: Provider, sources: &Sources) -> Result<Self, SettingError> {
        let values = Values::new(sources)?;
        let environment = |name: &str| (sources.environment)(name).filter(|v| !v.is_empty());
        let own = match provider {
            Provider::OpenAi => Wire::Responses,
            Provider::Anthropic => Wire::Anthropic,
        };
        let asked = values.one_of("wire", &WIRES)?;
        let home = asked.unwrap_or(own);
        let base = values.text("base-url");
        let base_url = match &base {
            Some(value) => value.text.clone(),
            None => environment(&home.key_variable().replace("_API_KEY", "_BASE_URL"))
                .unwrap_or_else(|| home.home().to_owned()),
        };
        let uri = address(&base_url, base.as_ref())?;
        let wire = match asked {
            Some(wire) => wire,
            None if provider == Provider::OpenAi && base_url != own.home() => Wire::Chat,
            None => own,
        };
        let mut endpoint = Endpoint::new(wire, &base_url, &values.model);
        let key = values.text("key-env");
        if let Some(key) = &key {
            key.text.clone_into(&mut endpoint.key_variable);
        }
        let stays = is_loopback(&uri) || endpoint.base_url == wire.home();
        let variable = endpoint.key_variable.clone();
        endpoint.key = environment(&variable).and_then(|key| Secret::new(&key));
        if let Some(path) = base.and_then(|base| base.untrusted)
            && !stays
            && endpoint.key.is_some()
            && key.is_none_or(|key| key.untrusted.is_some())
        {
            return Err(SettingError::Untrusted { path, variable, url: base_url });
        }
        if endpoint.key.is_none() && endpoint.base_url == wire.home() {
            return Err(SettingError::NoKey { variable, url: base_url });
        }
        values.fill(&mut endpoint)?;
        if endpoint.tool_mode == ToolMode::JsonSchema && wire == Wire::Anthropic {
            return Err(SettingError::NoSchema);
        }
        Ok(endpoint)
    }
}

const WIRES: [(&str, Wire); 3] =
    [("chat", Wire::Chat), ("responses", Wire::Responses), ("anthropic", Wire::Anthropic)];

const TOOL_MODES: [(&str, ToolMode); 3] =
    [("native", ToolMode::Native), ("text", ToolMode::Text), ("json-schema", ToolMode::JsonSchema)];

/// A base address without anything that could hold a secret or a surprise.
fn address(url: &str, from: Option<&Text>) -> Result<Uri, SettingError> {
    let uri = url.parse::<Uri>().ok().filter(|uri| {
        let http = matches!(uri.scheme_str(), Some("http" | "https"));
        let plain = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        http && plain && uri.query().is_none() && !url.contains('#')
    });
    uri.ok_or_else(|| SettingError::Value {
        from: from.map_or("the base URL in the environment".to_owned(), |text| text.from.clone()),
        // Whatever stands before an @ may be a password.
        value: url.rsplit('@').next().unwrap_or_default().to_owned(),
        expected: "an address such as https://example.com/v1, without a user or a query",
    })
}

/// Settings that somebody made.
struct Values<'a> {
    sources: &'a Sources<'a>,
    model: String,
    profile: Option<Profile<'a>>,
}

/// A value and where it came from.
struct Text {
    text: String,
    from: String,
    /// The file in the working folder that said so, if one did.
    untrusted: Option<String>,
}

impl<'a> Values<'a> {
    fn new(sources: &'a Sources<'a>) -> Result<Self, SettingError> {
        let given = (sources.given)("RUA_MODEL").filter(|name| !name.is_empty());
        let name = given.or_else(|| sources.files.model()).ok_or(SettingError::NoModel)?;
        let profile = sources.files.profile(&name);
        let model = profile.as_ref().and_then(|profile| profile.text("model"));
        Ok(Values { sources, model: model.unwrap_or(name), profile })
    }

    fn text(&self, name: &str) -> Option<Text> {
        let setting = SETTINGS.iter().find(|setting| setting.name == name)?;
        let variable = setting.variable();
        if let Some(text) = (self.sources.given)(&variable).filter(|text| !text.is_empty()) {
            return Some(Text { text, from: format!("--{name} ({variable})"), untrusted: None });
        }
        let profile = self.profile.as_ref()?;
        let text = profile.text(&setting.key())?;
        let from = format!("{} in {}", setting.key(), profile.path);
        Some(Text { text, from, untrusted: profile.untrusted.then(|| profile.path.to_owned()) })
    }

    fn read<T>(
        &self,
        name: &str,
        expected: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, SettingError> {
        let Some(Text { text, from, .. }) = self.text(name) else { return Ok(None) };
        let value = read(text.trim());
        value.map(Some).ok_or(SettingError::Value { from, value: text, expected })
    }

    fn parse<T: FromStr>(
        &self,
        name: &str,
        expected: &'static str,
    ) -> Result<Option<T>, SettingError> {
        self.read(name, expected, |text| text.parse().ok())
    }

    fn one_of<T: Copy>(
        &self,
        name: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, SettingError> {
        let expected = SETTINGS.iter().find(|s| s.name == name).map_or("", |s| s.value);
        let choose = |text: &str| choices.iter().find(|(word, _)| *word == text).map(|c| c.1);
        self.read(name, expected, choose)
    }

    fn duration(&self, name: &str, default: Duration) -> Result<Duration, SettingError> {
        let read = |text: &str| {
            let seconds = text.parse::<f64>().ok();
            let seconds = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
            seconds.or_else(|| humantime::parse_duration(text).ok())
        };
        let value = self.read(name, "a duration such as 90s or 5m", read)?;
        Ok(value.unwrap_or(default))
    }

    /// Everything but the address, the wire and the key.
    fn fill(&self, endpoint: &mut Endpoint) -> Result<(), SettingError> {
        endpoint.effort = self.text("effort").map(|effort| effort.text);
        let temperature = |text: &str| text.parse::<f64>().ok().filter(|t| (0.0..=2.0).contains(t));
        endpoint.temperature = self.read("temperature", "a number from 0 to 2", temperature)?;
        endpoint.max_output_tokens = self
            .parse::<std::num::NonZeroU64>("max-output-tokens", "a number of tokens")?
            .map(std::num::NonZeroU64::get);
        if let Some(mode) = self.one_of("tool-mode", &TOOL_MODES)? {
            endpoint.tool_mode = mode;
        }
        if let Some(stream) = self.parse("stream", "true or false")? {
            endpoint.stream = stream;
        }
        let Retries { max, longest_pause, backoff } = endpoint.retries;
        endpoint.retries = Retries {
            max: self.parse("retries", "a number of requests")?.unwrap_or(max),
            longest_pause: self.duration("longest-pause", longest_pause)?,
            backoff,
        };
        let Timeouts { connect, first_token, idle, total } = endpoint.timeouts;
        endpoint.timeouts = Timeouts {
            connect: self.duration("connect-timeout", connect)?,
            first_token: self.duration("first-token-timeout", first_token)?,
            idle: self.duration("idle-timeout", idle)?,
            total: self.duration("request-timeout", total)?,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests;
