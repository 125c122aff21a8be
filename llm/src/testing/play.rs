//! One line of a script.

use std::time::Duration;

use serde_json::Value;

use crate::{Stop, Usage};

/// What the scripted server does with one request.
#[derive(Clone, Debug, Default)]
pub struct Play {
    pub(super) text: String,
    pub(super) thought: String,
    pub(super) calls: Vec<(String, String)>,
    pub(super) usage: Option<Usage>,
    pub(super) no_usage: bool,
    pub(super) stop: Option<Stop>,
    pub(super) whole: bool,
    pub(super) piece: usize,
    pub(super) pause: Duration,
    pub(super) fault: Option<Fault>,
}

#[derive(Clone, Debug)]
pub(super) enum Fault {
    Status { status: u16, headers: Vec<(String, String)>, body: String },
    Raw { kind: String, body: String },
    Bytes(Vec<u8>),
    Cut { after: usize, clean: bool },
    Silent,
    Endless(String),
}

/// Replies.
impl Play {
    /// A reply without anything in it.
    pub fn nothing() -> Self {
        Play::default()
    }

    pub fn text(text: impl Into<String>) -> Self {
        Play { text: text.into(), ..Play::default() }
    }

    /// A call of a tool. A tool that the request has in a namespace, or with a prefix
    /// such as `mcp__robot__`, is called as the request has it.
    pub fn call(name: &str, arguments: Value) -> Self {
        Play::default().and_call(name, arguments)
    }

    /// One more call in the same reply.
    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        self.and_call_with(name, &arguments.to_string())
    }

    /// A call with arguments that need not be JSON.
    pub fn and_call_with(mut self, name: &str, arguments: &str) -> Self {
        self.calls.push((name.to_owned(), arguments.to_owned()));
        self
    }

    /// Text before the calls.
    pub fn saying(self, text: impl Into<String>) -> Self {
        Play { text: text.into(), ..self }
    }

    /// Reasoning before everything: encrypted on Responses, signed on Anthropic,
    /// readable on Chat.
    pub fn thinking(self, thought: &str) -> Self {
        Play { thought: thought.to_owned(), ..self }
    }

    pub fn refusal(text: &str) -> Self {
        Play::text(text).stopping(Stop::Refused)
    }

    /// Why the model stopped, when it did not just end.
    pub fn stopping(self, stop: Stop) -> Self {
        Play { stop: Some(stop), ..self }
    }

    /// Tokens; otherwise a token is four bytes.
    pub fn costing(self, usage: Usage) -> Self {
        Play { usage: Some(usage), ..self }
    }

    /// Says nothing about tokens.
    pub fn without_usage(self) -> Self {
        Play { no_usage: true, ..self }
    }

    /// Does not stream, whatever was asked.
    pub fn in_one_piece(self) -> Self {
        Play { whole: true, ..self }
    }

    /// Sends so many bytes at a time.
    pub fn in_pieces_of(self, bytes: usize) -> Self {
        Play { piece: bytes, ..self }
    }

    /// Waits after each piece.
    pub fn slowly(self, pause: Duration) -> Self {
        Play { pause, ..self }
    }
}

/// Faults.
impl Play {
    /// A response with another status than 200.
    pub fn status(status: u16, body: impl Into<String>) -> Self {
        let fault = Fault::Status { status, headers: Vec::new(), body: body.into() };
        Play { fault: Some(fault), ..Play::default() }
    }

    /// With one more header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Some(Fault::Status { headers, .. }) = &mut self.fault {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// A response with a body of one's own.
    pub fn raw(kind: &str, body: impl Into<String>) -> Self {
        let fault = Fault::Raw { kind: kind.to_owned(), body: body.into() };
        Play { fault: Some(fault), ..Play::default() }
    }

    /// Anything at all in place of HTTP.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Play { fault: Some(Fault::Bytes(bytes.into())), ..Play::default() }
    }

    /// The connection breaks after so many bytes of the body.
    pub fn broken_after(self, bytes: usize) -> Self {
        Play { fault: Some(Fault::Cut { after: bytes, clean: false }), ..self }
    }

    /// The body ends in good order after so many bytes, but is not complete.
    pub fn ending_after(self, bytes: usize) -> Self {
        Play { fault: Some(Fault::Cut { after: bytes, clean: true }), ..self }
    }

    /// Nothing comes back, and the connection stays open.
    pub fn silence() -> Self {
        Play { fault: Some(Fault::Silent), ..Play::default() }
    }

    /// The same piece of a body again and again.
    pub fn endless(piece: &str) -> Self {
        Play { fault: Some(Fault::Endless(piece.to_owned())), ..Play::default() }
    }
}
