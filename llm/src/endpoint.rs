//! Where a model is, and how to talk to it.

use std::time::Duration;

use crate::Secret;

/// A model behind an address.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub wire: Wire,
    /// Such as `https://api.openai.com/v1`.
    pub base_url: String,
    pub key: Option<Secret>,
    /// The variable the key came from or is expected in, for messages.
    pub key_variable: String,
    pub model: String,
    /// Reasoning effort, a word of the provider's such as `low`.
    pub effort: Option<String>,
    pub temperature: Option<f64>,
    pub max_output_tokens: Option<u64>,
    pub tool_mode: ToolMode,
    /// Ask for the reply piece by piece.
    pub stream: bool,
    pub timeouts: Timeouts,
    pub retries: Retries,
}

impl Endpoint {
    /// A model with every default, and no key.
    pub fn new(wire: Wire, base_url: &str, model: &str) -> Self {
        Endpoint {
            wire,
            base_url: base_url.trim_end_matches('/').to_owned(),
            key: None,
            key_variable: wire.key_variable().to_owned(),
            model: model.to_owned(),
            effort: None,
            temperature: None,
            max_output_tokens: None,
            tool_mode: ToolMode::Native,
            stream: true,
            timeouts: Timeouts::default(),
            retries: Retries::default(),
        }
    }
}

/// The format of requests and replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// OpenAI Chat Completions, which nearly every server speaks.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
}

impl Wire {
    /// What people call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Wire::Chat => "OpenAI Chat Completions",
            Wire::Responses => "OpenAI Responses",
            Wire::Anthropic => "Anthropic Messages",
        }
    }

    /// Where the provider that made the wire serves it.
    pub fn home(self) -> &'static str {
        match self {
            Wire::Chat | Wire::Responses => "https://api.openai.com/v1",
            Wire::Anthropic => "https://api.anthropic.com/v1",
        }
    }

    /// The variable which that provider's tools read the key from.
    pub fn key_variable(self) -> &'static str {
        match self {
            Wire::Chat | Wire::Responses => "OPENAI_API_KEY",
            Wire::Anthropic => "ANTHROPIC_API_KEY",
        }
    }
}

/// How a model is told of tools, and calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolMode {
    /// In the wire's own way. When a model writes its call into the text
    /// instead, it is understood all the same.
    Native,
    /// Described in the system prompt, called in the text.
    Text,
    /// As `Text`, and the server's grammar lets the model write nothing but a call.
    JsonSchema,
}

/// How long to wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the request to the first piece of the reply. Models that reason
    /// silently take minutes.
    pub first_token: Duration,
    /// Between two pieces of a reply.
    pub idle: Duration,
    /// A reply with all its retries and pauses.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Timeouts {
            connect: seconds(10),
            first_token: seconds(300),
            idle: seconds(120),
            total: seconds(900),
        }
    }
}

/// What to do about failures that pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Requests after the first one.
    pub max: u32,
    /// The first pause; each further one is twice as long, up to a minute. A
    /// server's own hint goes before.
    pub backoff: Duration,
    /// A server that asks for a longer pause is given up on.
    pub longest_pause: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Retries { max: 6, backoff: seconds(1), longest_pause: seconds(120) }
    }
}
