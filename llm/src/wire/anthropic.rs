//! Anthropic Messages, with prompt caching.
//!
//! Source: <https://platform.claude.com/docs/en/api/messages>; where the marks go:
//! <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Draft, Prompt, arguments, count, picture, put, string};
use crate::failure::Failure;
use crate::{Message, Part, Role, Stop, ToolCall, Usage};

/// The wire wants a limit; this one leaves room to think and is in every
/// current model's reach.
const MAX_TOKENS: u64 = 16_000;

pub(super) fn body(prompt: &Prompt) -> Value {
    let endpoint = prompt.endpoint;
    let limit = endpoint.max_output_tokens.unwrap_or(MAX_TOKENS);
    let mut body = json!({"model": endpoint.model, "max_tokens": limit});
    if endpoint.stream {
        body["stream"] = true.into();
    }
    put(&mut body, "temperature", endpoint.temperature);
    if let Some(effort) = &endpoint.effort {
        body["thinking"] = json!({"type": "adaptive"});
        body["output_config"] = json!({"effort": effort});
    }
    if !prompt.tools.is_empty() {
        let tools = prompt.tools.iter().map(|tool| {
            json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema})
        });
        body["tools"] = tools.collect();
    }
    if !prompt.system.is_empty() {
        body["system"] = json!([{"type": "text", "text": prompt.system}]);
    }
    let messages = prompt.messages.iter().filter_map(|message| {
        let content = content(message);
        let role = if message.role == Role::User { "user" } else { "assistant" };
        (!content.is_empty()).then(|| json!({"role": role, "content": content}))
    });
    body["messages"] = messages.collect();
    if prompt.cache {
        mark(&mut body);
    }
    body
}

/// Marks what the next request will begin with: tools and system prompt, and the
/// conversation up to the last two of the user's messages. The older one of these
/// is where the last request's entry in the cache ends. Four marks are allowed.
fn mark(body: &mut Value) {
    let mark = |block: Option<&mut Value>| {
        if let Some(block) = block {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
    };
    for name in ["tools", "system"] {
        mark(body.get_mut(name).and_then(Value::as_array_mut).and_then(|list| list.last_mut()));
    }
    let messages = body["messages"].as_array_mut().into_iter().flatten();
    let users = messages.rev().filter(|message| message["role"] == "user");
    for message in users.take(2) {
        mark(message["content"].as_array_mut().and_then(|blocks| blocks.last_mut()));
    }
}

fn content(message: &Message) -> Vec<Value> {
    // The wire wants answers before anything else.
    let (answers, others): (Vec<_>, Vec<_>) =
        message.parts.iter().partition(|part| matches!(part, Part::Answer(_)));
    answers.into_iter().chain(others).filter_map(block).collect()
}

fn block(part: &Part) -> Option<Value> {
    Some(match part {
        // The wire refuses empty texts.
        Part::Text(text) if text.is_empty() => return None,
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image(image) => {
            let data = picture(image);
            let source = json!({"type": "base64", "media_type": "image/png", "data": data});
            json!({"type": "image", "source": source})
        }
        Part::Call(call) => {
            let input = arguments(call);
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
        }
        Part::Answer(answer) => {
            let parts = answer.parts.iter().filter_map(block);
            let mut result = json!({"type": "tool_result", "tool_use_id": answer.id});
            result["content"] = parts.collect();
            if answer.failed {
                result["is_error"] = true.into();
            }
            result
        }
        Part::Opaque(block) => block.clone(),
    })
}

#[derive(Default)]
pub(crate) struct Decoder {
    blocks: BTreeMap<u64, Block>,
    usage: Map<String, Value>,
    stop: Option<String>,
    ended: bool,
}

/// A block of the reply, and the JSON text of its input as far as it came.
#[derive(Default)]
struct Block {
    fields: Map<String, Value>,
    input: String,
}

impl Decoder {
    pub fn event(&mut self, event: &Value, draft: &mut Draft) -> Result<(), Failure> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                draft.identify(&event["message"]);
                self.count(&event["message"]["usage"]);
            }
            "content_block_start" => {
                draft.began = true;
                let block = Block::new(&event["content_block"]);
                draft.show(block.text("text"));
                self.blocks.insert(count(&event["index"]), block);
            }
            "content_block_delta" => {
                let block = self.blocks.entry(count(&event["index"])).or_default();
                block.grow(&event["delta"], draft);
            }
            "message_delta" => {
                self.count(&event["usage"]);
                if let Some(stop) = event["delta"]["stop_reason"].as_str() {
                    self.stop = Some(stop.to_owned());
                }
            }
            "message_stop" => {
                self.ended = true;
                draft.ended = true;
            }
            "error" => return Err(Failure::from_stream(event)),
            _ => {}
        }
        Ok(())
    }

    pub fn whole(&mut self, body: &Value, draft: &mut Draft) -> Result<(), Failure> {
        let blocks = body["content"]
            .as_array()
            .ok_or_else(|| Failure::malformed("the reply has no `content`"))?;
        self.blocks = (0..).zip(blocks.iter().map(Block::new)).collect();
        self.count(&body["usage"]);
        self.stop = Some(string(&body["stop_reason"]));
        self.ended = true;
        draft.began = true;
        Ok(())
    }

    /// Later counts stand beside earlier ones, or replace them.
    fn count(&mut self, usage: &Value) {
        for (name, value) in usage.as_object().into_iter().flatten() {
            if !value.is_null() {
                self.usage.insert(name.clone(), value.clone());
            }
        }
    }

    pub fn finish(self, draft: &mut Draft) -> bool {
        let Some(stop) = self.stop else { return false };
        if !self.ended {
            return false;
        }
        draft.parts.extend(self.blocks.into_values().filter_map(Block::part));
        if !self.usage.is_empty() {
            let usage = Value::Object(self.usage);
            let cached = count(&usage["cache_read_input_tokens"]);
            let cache_written = count(&usage["cache_creation_input_tokens"]);
            draft.usage = Some(Usage {
                input: count(&usage["input_tokens"]) + cached + cache_written,
                cached,
                cache_written,
                output: count(&usage["output_tokens"]),
                reasoning: 0,
                estimated: false,
            });
            draft.received.usage = usage;
        }
        let reason = match stop.as_str() {
            "max_tokens" => Stop::Length,
            "refusal" => Stop::Refused,
            "model_context_window_exceeded" => Stop::ContextOverflow,
            _ => Stop::Done,
        };
        draft.received.stop = stop;
        draft.stopped(reason);
        true
    }
}

impl Block {
    fn new(block: &Value) -> Self {
        Block { fields: block.as_object().cloned().unwrap_or_default(), input: String::new() }
    }

    fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn grow(&mut self, delta: &Value, draft: &mut Draft) {
        for name in ["text", "thinking", "signature"] {
            let Some(more) = delta[name].as_str() else { continue };
            match self.fields.get_mut(name) {
                Some(Value::String(text)) => text.push_str(more),
                _ => drop(self.fields.insert(name.to_owned(), more.into())),
            }
            if name == "text" {
                draft.show(more);
            } else if name == "thinking" {
                draft.thought(more);
            }
        }
        if let Some(more) = delta["partial_json"].as_str() {
            draft.began = true;
            self.input += more;
        }
    }

    fn part(self) -> Option<Part> {
        match self.text("type") {
            "text" => {
                let text = self.text("text");
                (!text.is_empty()).then(|| Part::text(text))
            }
            "tool_use" => {
                let (id, name) = (self.text("id").to_owned(), self.text("name").to_owned());
                let whole = self.fields.get("input").map(Value::to_string).unwrap_or_default();
                let arguments = if self.input.is_empty() { whole } else { self.input };
                Some(Part::Call(ToolCall { id, name, arguments }))
            }
            // A thought is taken back only with its signature.
            "thinking" if self.text("signature").is_empty() => None,
            "thinking" | "redacted_thinking" => Some(Part::Opaque(Value::Object(self.fields))),
            _ => None,
        }
    }
}
