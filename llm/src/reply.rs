//! What comes back from a model.

use std::ops::AddAssign;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Part, ToolCall};

#[derive(Clone, Debug)]
pub struct Reply {
    /// Texts, calls and opaque parts, in the model's order. May be empty.
    pub parts: Vec<Part>,
    pub stop: Stop,
    pub usage: Usage,
    pub timing: Timing,
    /// Every request that was made for this reply; the last one succeeded.
    pub attempts: Vec<Attempt>,
    /// The body that was sent, with each image replaced by its SHA-256, and no key.
    pub sent: Value,
    pub received: Received,
}

impl Reply {
    /// All text, without what the model only thought.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It had nothing more to say.
    #[default]
    Done,
    /// It waits for the answers to its calls.
    Calls,
    /// The limit of output tokens cut it off; the last part may be incomplete.
    Length,
    /// The model or a filter refused; the text may say why.
    Refused,
    /// The context window was full in mid-reply.
    ContextOverflow,
}

/// Tokens of one reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All input, the cached and the newly cached included.
    pub input: u64,
    /// Input that was read from the provider's cache.
    pub cached: u64,
    /// Input that was written to the provider's cache at a price of its own.
    pub cache_written: u64,
    /// All output, reasoning included.
    pub output: u64,
    /// Output that was only thought.
    pub reasoning: u64,
    /// The server gave no numbers: these are guesses from the number of bytes
    /// and the sizes of the images.
    pub estimated: bool,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, more: Usage) {
        self.input += more.input;
        self.cached += more.cached;
        self.cache_written += more.cache_written;
        self.output += more.output;
        self.reasoning += more.reasoning;
        self.estimated |= more.estimated;
    }
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// From the start of the attempt that succeeded to its first text,
    /// reasoning or call.
    pub first_token: Duration,
    /// The attempt that succeeded, from its start to its end.
    pub answering: Duration,
    /// Attempts that failed, and the pauses after them.
    pub waited: Duration,
}

/// One request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// HTTP status; none when there was no response.
    pub status: Option<u16>,
    /// Why it failed; empty for the one that succeeded.
    pub error: String,
    pub took: Duration,
    /// The pause after it.
    pub paused: Duration,
}

/// What the server said about its reply, in its own words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Received {
    pub id: String,
    /// The model that answered; may be more exact than the one asked for.
    pub model: String,
    pub stop: String,
    /// As on the wire; null when there was none.
    pub usage: Value,
    /// Bytes of reasoning that came as readable text. It is not kept.
    pub thought_bytes: u64,
    /// Calls were found in the text, for the model made none in the wire's way.
    pub calls_in_text: bool,
}
