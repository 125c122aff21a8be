//! Language models over HTTP: three wire formats behind one client.
//!
//! A [`Client`] sends a conversation to an [`Endpoint`] and gives one [`Reply`],
//! whichever of OpenAI Chat Completions, OpenAI Responses or Anthropic Messages
//! the server speaks, whether or not it streams, counts tokens, or lets its model
//! call tools. Failures that pass are retried; those that don't end in an
//! [`Error`] that says what to do.

mod calls;
mod client;
mod describe;
mod endpoint;
mod error;
mod failure;
mod hint;
mod http;
mod in_text;
mod message;
mod pictures;
mod prices;
mod quirks;
mod reply;
mod secret;
mod settings;
mod sse;
pub mod testing;
mod watch;
mod wire;

pub use client::Client;
pub use endpoint::{Endpoint, Retries, Timeouts, ToolMode, Wire};
pub use error::{Error, ErrorKind};
pub use message::{Answer, Image, Message, Part, Request, Role, Tool, ToolCall};
pub use pictures::image_tokens;
pub use prices::{Long, Price, Prices};
pub use reply::{Attempt, Received, Reply, Stop, Timing, Usage};
pub use secret::Secret;
pub use settings::{
    Files, Provider, SETTINGS, Setting, SettingError, Sources, table as settings_table,
};
pub use watch::Watch;
