//! The three wire formats: a prompt becomes a body, a response becomes a draft.

mod anthropic;
mod chat;
mod responses;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::failure::Failure;
use crate::sse::Event;
use crate::{Answer, Endpoint, Image, Message, Part, Received, Stop, Tool, ToolCall, Usage, Wire};

/// What is asked, after the tool mode has had its say.
pub(crate) struct Prompt<'a> {
    pub endpoint: &'a Endpoint,
    pub system: &'a str,
    pub messages: &'a [Message],
    /// Tools to be called in the wire's own way.
    pub tools: &'a [Tool],
    /// What the reply's text must look like.
    pub schema: Option<&'a Value>,
    pub cache: bool,
}

impl Prompt<'_> {
    /// The request's body. What grows from turn to turn comes last, so that one
    /// turn's body is the beginning of the next one's.
    pub fn body(&self) -> Value {
        match self.endpoint.wire {
            Wire::Chat => chat::body(self),
            Wire::Responses => responses::body(self),
            Wire::Anthropic => anthropic::body(self),
        }
    }

    /// A name for the prefix that all turns of a conversation share, by which
    /// OpenAI sends them to the machine that has it in its cache.
    fn cache_key(&self) -> Option<String> {
        let home = self.endpoint.base_url == self.endpoint.wire.home();
        home.then(|| hex(&Sha256::digest(self.system))[..16].to_owned())
    }
}

/// A picture's bytes as the wires carry them.
fn picture(image: &Image) -> String {
    STANDARD.encode(&image.png)
}

fn picture_url(image: &Image) -> String {
    format!("data:image/png;base64,{}", picture(image))
}

/// Puts `sha256:` and the digest of its bytes in place of each picture in a body
/// of any of the wires, so that a record of it stays small.
pub(crate) fn mask_pictures(body: &mut Value) {
    let masked = |data: &str| {
        let bytes = STANDARD.decode(data).unwrap_or_else(|_| data.into());
        format!("sha256:{}", hex(&Sha256::digest(bytes)))
    };
    match body {
        Value::Object(fields) => {
            let is_source = fields.get("type").is_some_and(|kind| kind == "base64");
            if is_source && let Some(Value::String(data)) = fields.get_mut("data") {
                *data = masked(data);
            }
            fields.values_mut().for_each(mask_pictures);
        }
        Value::Array(values) => values.iter_mut().for_each(mask_pictures),
        Value::String(text) if text.starts_with("data:image/") => {
            if let Some((head, data)) = text.split_once(";base64,") {
                *text = format!("{head};base64,{}", masked(data));
            }
        }
        _ => {}
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Endpoint {
    /// Where requests go.
    pub(crate) fn url(&self) -> String {
        let base = self.base_url.trim_end_matches('/');
        match self.wire {
            Wire::Chat => format!("{base}/chat/completions"),
            Wire::Responses => format!("{base}/responses"),
            // Anthropic's own tools leave the version out of the base.
            Wire::Anthropic if base.ends_with("/v1") => format!("{base}/messages"),
            Wire::Anthropic => format!("{base}/v1/messages"),
        }
    }

    /// What every request carries, the key among it.
    pub(crate) fn headers(&self) -> Vec<(&'static str, String)> {
        let key = self.key.as_ref().map(|key| key.reveal());
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("accept-encoding", "identity".to_owned()),
        ];
        if self.wire == Wire::Anthropic {
            headers.push(("anthropic-version", "2023-06-01".to_owned()));
            headers.extend(key.map(|key| ("x-api-key", key.to_owned())));
        } else {
            headers.extend(key.map(|key| ("authorization", format!("Bearer {key}"))));
        }
        headers
    }
}

/// A reply while it is being received.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub parts: Vec<Part>,
    pub stop: Stop,
    pub usage: Option<Usage>,
    pub received: Received,
    /// Text that nobody has been shown yet.
    pub fresh: String,
    /// The model has begun to answer or to think.
    pub began: bool,
    /// Nothing more will come.
    pub ended: bool,
}

impl Draft {
    fn show(&mut self, text: &str) {
        self.began = true;
        self.fresh.push_str(text);
    }

    fn thought(&mut self, text: &str) {
        self.began = true;
        self.received.thought_bytes += text.len() as u64;
    }

    fn identify(&mut self, message: &Value) {
        for (name, field) in [("id", &mut self.received.id), ("model", &mut self.received.model)] {
            if let Some(text) = message[name].as_str() {
                text.clone_into(field);
            }
        }
    }

    /// Ends the draft: a model that calls tools waits for them, whatever it says.
    fn stopped(&mut self, stop: Stop) {
        let calls = self.parts.iter().any(|part| matches!(part, Part::Call(_)));
        self.stop = if calls && stop == Stop::Done { Stop::Calls } else { stop };
    }
}

/// Reads one response.
pub(crate) enum Decoder {
    Chat(chat::Decoder),
    Responses(responses::Decoder),
    Anthropic(anthropic::Decoder),
}

impl Decoder {
    pub fn new(wire: Wire) -> Self {
        match wire {
            Wire::Chat => Decoder::Chat(chat::Decoder::default()),
            Wire::Responses => Decoder::Responses(responses::Decoder::default()),
            Wire::Anthropic => Decoder::Anthropic(anthropic::Decoder::default()),
        }
    }

    /// The next event of a stream.
    pub fn event(&mut self, event: &Event, draft: &mut Draft) -> Result<(), Failure> {
        if event.data.trim() == "[DONE]" {
            draft.ended = true;
            return Ok(());
        }
        let data: Value = serde_json::from_str(&event.data)
            .map_err(|e| Failure::malformed(format!("an event of the stream is no JSON ({e})")))?;
        match self {
            Decoder::Chat(decoder) => decoder.event(&data, draft),
            Decoder::Responses(decoder) => decoder.event(&data, draft),
            Decoder::Anthropic(decoder) => decoder.event(&data, draft),
        }
    }

    /// A response that came in one piece.
    pub fn whole(&mut self, body: &Value, draft: &mut Draft) -> Result<(), Failure> {
        if body.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Failure::from_stream(body));
        }
        draft.identify(body);
        draft.ended = true;
        match self {
            Decoder::Chat(decoder) => decoder.whole(body, draft),
            Decoder::Responses(decoder) => decoder.whole(body, draft),
            Decoder::Anthropic(decoder) => decoder.whole(body, draft),
        }
    }

    /// Completes the draft, or says that the response was cut.
    pub fn finish(self, draft: &mut Draft) -> Result<(), Failure> {
        let complete = match self {
            Decoder::Chat(decoder) => decoder.finish(draft),
            Decoder::Responses(decoder) => decoder.finish(draft),
            Decoder::Anthropic(decoder) => decoder.finish(draft),
        };
        if complete { Ok(()) } else { Err(cut()) }
    }
}

fn cut() -> Failure {
    Failure::new(crate::ErrorKind::Unreachable, "the reply broke off before its end")
}

/// Arguments as an object, which the wires want back even when the model wrote
/// something else.
fn arguments(call: &ToolCall) -> Map<String, Value> {
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(arguments)) => arguments,
        _ if call.arguments.trim().is_empty() => Map::new(),
        _ => Map::from_iter([("malformed_arguments".to_owned(), call.arguments.clone().into())]),
    }
}

/// The texts of an answer as one.
fn answer_text(answer: &Answer) -> String {
    let texts = answer.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn images(parts: &[Part]) -> impl Iterator<Item = &Image> {
    parts.iter().filter_map(|part| match part {
        Part::Image(image) => Some(image),
        _ => None,
    })
}

/// Puts an option in, when there is one.
fn put(body: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body[name] = value.into();
    }
}

/// A number of tokens or the like. What no reply can have would only overflow sums.
fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0).min(u32::MAX.into())
}

/// A text, or a list of objects with texts, as some servers have it.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn schema_format(schema: &Value) -> Value {
    json!({"name": "call", "schema": schema})
}

#[cfg(test)]
mod tests;
