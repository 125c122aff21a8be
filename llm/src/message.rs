//! What goes to a model: a conversation and the tools it may call.

use std::sync::Arc;

use serde_json::Value;

/// One question to a model. Everything that comes before the newest message
/// should be byte for byte what was sent the last time, so that the provider
/// finds it in its cache.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub system: &'a str,
    pub messages: &'a [Message],
    pub tools: &'a [Tool],
    /// Mark the stable prefix for caches that want marks (Anthropic). Other
    /// providers cache by themselves.
    pub cache: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub role: Role,
    pub parts: Vec<Part>,
}

impl Message {
    pub fn user(parts: Vec<Part>) -> Self {
        Message { role: Role::User, parts }
    }

    pub fn assistant(parts: Vec<Part>) -> Self {
        Message { role: Role::Assistant, parts }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    Image(Image),
    /// In an assistant's message.
    Call(ToolCall),
    /// In a user's message, for each call of the assistant's message before it.
    Answer(Answer),
    /// What a provider wants back unread, such as encrypted reasoning.
    Opaque(Value),
}

impl Part {
    pub fn text(text: impl Into<String>) -> Self {
        Part::Text(text.into())
    }
}

/// A PNG picture; cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub png: Arc<[u8]>,
    pub width: u32,
    pub height: u32,
}

impl Image {
    /// A picture from the bytes of a PNG file, whose size is read from its
    /// header. `None`: it is no PNG.
    pub fn from_png(png: impl Into<Arc<[u8]>>) -> Option<Self> {
        let png = png.into();
        let header = png.get(..24)?;
        if !header.starts_with(b"\x89PNG\r\n\x1a\n") || &header[12..16] != b"IHDR" {
            return None;
        }
        let number = |at: usize| {
            let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            u32::from_be_bytes(bytes)
        };
        Some(Image { width: number(16), height: number(20), png })
    }
}

/// What a tool call gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The call's [`ToolCall::id`].
    pub id: String,
    /// Texts and images.
    pub parts: Vec<Part>,
    pub failed: bool,
}

/// A function that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments, an object.
    pub schema: Value,
}

impl Tool {
    /// Whether a block of Python can be a call of it.
    pub(crate) fn takes_code(&self) -> bool {
        self.schema["properties"]["code"].is_object()
    }
}

/// A model's wish to call a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// Unique within a conversation.
    pub id: String,
    pub name: String,
    /// JSON text as the model wrote it; may be malformed.
    pub arguments: String,
}
