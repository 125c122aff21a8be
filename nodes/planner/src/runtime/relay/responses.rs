//! OpenAI Responses as Codex speaks it.
//!
//! Codex groups an MCP server's tools in a `namespace`, which only OpenAI's own
//! servers understand, and adds tools of its own that read no robot. Here a model
//! sees the robot's tools alone, by their plain names, on whatever server.
//!
//! Source: <https://platform.openai.com/docs/api-reference/responses>; the namespaces
//! as Codex 0.155.1 and 0.171.0 send them.

use ruaflow_llm::{Answer, Part, Reply, Role, Tool, ToolCall};
use serde_json::{Value, json};

use super::{Asked, carried, carrier, picture, text};
use crate::runtime::SERVER;

/// How Codex calls the namespace of an MCP server.
fn namespace() -> String {
    format!("mcp__{SERVER}")
}

pub(super) fn read(body: &Value) -> Asked {
    let mut asked = Asked { system: text(&body["instructions"]), ..Asked::default() };
    for tool in body["tools"].as_array().into_iter().flatten() {
        if tool["type"] == "namespace" && tool["name"] == namespace().as_str() {
            asked.tools.extend(tool["tools"].as_array().into_iter().flatten().map(|tool| Tool {
                name: text(&tool["name"]),
                description: text(&tool["description"]),
                schema: tool["parameters"].clone(),
            }));
        }
    }
    for item in body["input"].as_array().into_iter().flatten() {
        read_item(item, &mut asked);
    }
    asked
}

fn read_item(item: &Value, asked: &mut Asked) {
    let id = text(&item["call_id"]);
    match item["type"].as_str().unwrap_or("message") {
        "message" => match item["role"].as_str() {
            Some("assistant") => asked.add(Role::Assistant, contents(&item["content"])),
            // What Codex puts before the conversation; the newest one sends its
            // instructions so, too.
            Some("developer" | "system") if asked.messages.is_empty() => {
                for part in contents(&item["content"]) {
                    if let Part::Text(text) = part {
                        asked.add_system(&text);
                    }
                }
            }
            _ => asked.add(Role::User, contents(&item["content"])),
        },
        "reasoning" => {
            let opaque = item["encrypted_content"].as_str().and_then(carried);
            asked.add(Role::Assistant, opaque.map(Part::Opaque));
        }
        "function_call" => {
            let (name, arguments) = (text(&item["name"]), text(&item["arguments"]));
            asked.add(Role::Assistant, [Part::Call(ToolCall { id, name, arguments })]);
        }
        "function_call_output" => {
            let parts = contents(&item["output"]);
            asked.add(Role::User, [Part::Answer(Answer { id, parts, failed: false })]);
        }
        _ => {}
    }
}

/// A text, or a list of texts and pictures.
fn contents(content: &Value) -> Vec<Part> {
    if let Some(text) = content.as_str() {
        return vec![Part::text(text)];
    }
    let parts = content.as_array().into_iter().flatten();
    let read = |part: &Value| match part["type"].as_str()? {
        "input_text" | "output_text" => Some(Part::text(part["text"].as_str()?)),
        "input_image" => Some(picture(part["image_url"].as_str()?.split_once(";base64,")?.1)),
        _ => None,
    };
    parts.filter_map(read).collect()
}

/// The reply as events of a stream.
pub(super) fn write(reply: &Reply, id: &str) -> Vec<Value> {
    let items: Vec<Value> =
        reply.parts.iter().enumerate().filter_map(|(n, part)| item(part, id, n)).collect();
    let usage = json!({
        "input_tokens": reply.usage.input,
        "input_tokens_details": {"cached_tokens": reply.usage.cached},
        "output_tokens": reply.usage.output,
        "output_tokens_details": {"reasoning_tokens": reply.usage.reasoning},
        "total_tokens": reply.usage.input + reply.usage.output,
    });
    let created = json!({"type": "response.created", "response": {"id": id}});
    let done = items.iter().enumerate().map(|(index, item)| {
        json!({"type": "response.output_item.done", "output_index": index, "item": item})
    });
    let completed = json!({
        "type": "response.completed",
        "response": {"id": id, "status": "completed", "output": items, "usage": usage},
    });
    std::iter::once(created).chain(done).chain([completed]).collect()
}

fn item(part: &Part, reply: &str, number: usize) -> Option<Value> {
    let id = |kind: &str| format!("{kind}_{reply}_{number}");
    match part {
        Part::Text(text) => Some(json!({
            "type": "message",
            "id": id("msg"),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        })),
        Part::Call(call) => Some(json!({
            "type": "function_call",
            "id": id("fc"),
            "call_id": call.id,
            "name": call.name,
            "namespace": namespace(),
            "arguments": call.arguments,
        })),
        Part::Opaque(kept) => Some(json!({
            "type": "reasoning",
            "id": id("rs"),
            "summary": [],
            "encrypted_content": carrier(kept),
        })),
        Part::Image(_) | Part::Answer(_) => None,
    }
}

/// An error that Codex does not ask again for.
pub(super) fn error(text: &str, too_long: bool) -> Value {
    let code = if too_long { "context_length_exceeded" } else { "invalid_request_error" };
    json!({"error": {"message": text, "type": "invalid_request_error", "code": code}})
}
