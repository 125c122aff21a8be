//! A robot's tools over the Model Context Protocol, on loopback.
//!
//! A [`Server`] offers tools at `http://127.0.0.1:PORT/mcp` (streamable HTTP) to
//! every client that knows its [`Token`]: an IDE, a desktop assistant, an agent's
//! command line. One call runs at a time. The client that first calls a tool which
//! may move the robot holds the robot until it leaves or falls silent; others are
//! told who does.
//!
//! [`Loopback`] is the part below, for other services that only this machine may reach.

mod error;
mod gate;
mod lease;
mod loopback;
mod server;
mod service;
mod token;
mod tool;

pub use error::Error;
pub use loopback::Loopback;
pub use server::{Options, Server};
pub use token::{Token, TokenError};
pub use tool::{Answer, Call, Effect, Handler, Tool};
