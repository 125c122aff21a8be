//! Language models over HTTP: three wire formats behind one client.
//!
//! A [`Client`] sends a conversation to an [`Endpoint`] and gives one [`Reply`],
//! whichever of OpenAI Chat Completions, OpenAI Responses or Anthropic Messages
//! the server speaks, whether or not it streams, counts tokens, or lets its model
//! call tools. Failures that pass are retried; those that don't end in an
//! [`Error`] that says what to do.

mod endpoint;
mod error;
mod message;
mod reply;
mod secret;
mod watch;

pub use endpoint::{Endpoint, Retries, Timeouts, ToolMode, Wire};
pub use error::{Error, ErrorKind};
pub use message::{Answer, Image, Message, Part, Request, Role, Tool, ToolCall};
pub use reply::{Attempt, Received, Reply, Stop, Timing, Usage};
pub use secret::Secret;
pub use watch::Watch;
