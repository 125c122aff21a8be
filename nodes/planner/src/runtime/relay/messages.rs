//! Anthropic Messages as Claude Code speaks it.
//!
//! Source: <https://docs.anthropic.com/en/api/messages> and its streaming page.

use ruaflow_llm::{Answer, Part, Reply, Role, Stop, Tool, ToolCall};
use serde_json::{Map, Value, json};

use super::{Asked, carried, carrier, picture, text};
use crate::runtime::SERVER;

/// How Claude Code calls its bill, which it puts before the system prompt.
const BILLING: &str = "x-anthropic-billing-header";

/// What Claude Code puts before the name of an MCP server's tool.
fn prefix() -> String {
    format!("mcp__{SERVER}__")
}

fn plain(name: &Value) -> String {
    let name = text(name);
    name.strip_prefix(&prefix()).map_or_else(|| name.clone(), str::to_owned)
}

pub(super) fn read(body: &Value) -> Asked {
    let mut asked = Asked::default();
    for part in contents(&body["system"]) {
        if let Part::Text(text) = part
            && !text.starts_with(BILLING)
        {
            asked.add_system(&text);
        }
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        if tool["name"].as_str().is_some_and(|name| name.starts_with(&prefix())) {
            asked.tools.push(Tool {
                name: plain(&tool["name"]),
                description: text(&tool["description"]),
                schema: tool["input_schema"].clone(),
            });
        }
    }
    for message in body["messages"].as_array().into_iter().flatten() {
        let role = if message["role"] == "assistant" { Role::Assistant } else { Role::User };
        asked.add(role, contents(&message["content"]));
    }
    asked
}

/// A text, or a list of blocks.
fn contents(content: &Value) -> Vec<Part> {
    if let Some(text) = content.as_str() {
        return vec![Part::text(text)];
    }
    content.as_array().into_iter().flatten().filter_map(block).collect()
}

fn block(block: &Value) -> Option<Part> {
    match block["type"].as_str()? {
        "text" => Some(Part::text(block["text"].as_str()?)),
        "image" => Some(picture(block["source"]["data"].as_str()?)),
        "tool_use" => Some(Part::Call(ToolCall {
            id: text(&block["id"]),
            name: plain(&block["name"]),
            arguments: block["input"].to_string(),
        })),
        "tool_result" => Some(Part::Answer(Answer {
            id: text(&block["tool_use_id"]),
            parts: contents(&block["content"]),
            failed: block["is_error"] == true,
        })),
        "redacted_thinking" => block["data"].as_str().and_then(carried).map(Part::Opaque),
        _ => None,
    }
}

/// The reply as one message.
pub(super) fn write_whole(reply: &Reply, id: &str, model: &str) -> Value {
    let content: Vec<Value> = reply.parts.iter().filter_map(written).collect();
    let calls = reply.calls().next().is_some();
    let stop = match reply.stop {
        _ if calls => "tool_use",
        Stop::Length | Stop::ContextOverflow => "max_tokens",
        Stop::Refused => "refusal",
        Stop::Done | Stop::Calls => "end_turn",
    };
    let usage = reply.usage;
    json!({
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input.saturating_sub(usage.cached + usage.cache_written),
            "cache_read_input_tokens": usage.cached,
            "cache_creation_input_tokens": usage.cache_written,
            "output_tokens": usage.output,
        },
    })
}

/// The reply as events of a stream.
pub(super) fn write(reply: &Reply, id: &str, model: &str) -> Vec<Value> {
    let mut message = write_whole(reply, id, model);
    let blocks = std::mem::replace(&mut message["content"], json!([]));
    let stop = message["stop_reason"].take();
    let usage = message["usage"].clone();
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, mut block) in blocks.as_array().into_iter().flatten().cloned().enumerate() {
        let delta = match block["type"].as_str() {
            Some("text") => {
                let text = std::mem::replace(&mut block["text"], json!(""));
                Some(json!({"type": "text_delta", "text": text}))
            }
            Some("tool_use") => {
                let input = std::mem::replace(&mut block["input"], json!({}));
                Some(json!({"type": "input_json_delta", "partial_json": input.to_string()}))
            }
            _ => None,
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        let delta = delta
            .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.extend(delta);
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": null},
        "usage": usage,
    }));
    events.push(json!({"type": "message_stop"}));
    events
}

fn written(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Call(call) => Some(json!({
            "type": "tool_use",
            "id": call.id,
            "name": format!("{}{}", prefix(), call.name),
            "input": input(&call.arguments),
        })),
        Part::Opaque(kept) => Some(json!({"type": "redacted_thinking", "data": carrier(kept)})),
        Part::Image(_) | Part::Answer(_) => None,
    }
}

/// The wire wants an object; what is none goes on to the tool, which says how to mend it.
fn input(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(arguments)) => Value::Object(arguments),
        _ if arguments.trim().is_empty() => Value::Object(Map::new()),
        _ => json!({"malformed_arguments": arguments}),
    }
}

/// An error that Claude Code does not ask again for.
pub(super) fn error(text: &str, too_long: bool) -> Value {
    // Its words for this make Claude Code shorten the conversation.
    let text = if too_long { format!("prompt is too long: {text}") } else { text.to_owned() };
    json!({"type": "error", "error": {"type": "invalid_request_error", "message": text}})
}
