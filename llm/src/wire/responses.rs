//! OpenAI Responses, without anything kept at the server: reasoning comes
//! encrypted and is handed back.
//!
//! Source: <https://platform.openai.com/docs/api-reference/responses>.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Draft, Prompt, answer_text, arguments, count, images, picture_url, put, string};
use crate::failure::Failure;
use crate::{Message, Part, Role, Stop, ToolCall, Usage};

pub(super) fn body(prompt: &Prompt) -> Value {
    let endpoint = prompt.endpoint;
    let mut body = json!({
        "model": endpoint.model,
        "store": false,
        "include": ["reasoning.encrypted_content"],
    });
    if endpoint.stream {
        body["stream"] = true.into();
    }
    put(&mut body, "temperature", endpoint.temperature);
    put(&mut body, "max_output_tokens", endpoint.max_output_tokens);
    put(&mut body, "prompt_cache_key", prompt.cache_key());
    if let Some(effort) = &endpoint.effort {
        body["reasoning"] = json!({"effort": effort});
    }
    if let Some(schema) = prompt.schema {
        let mut format = super::schema_format(schema);
        format["type"] = "json_schema".into();
        body["text"] = json!({"format": format});
    }
    if !prompt.tools.is_empty() {
        let tools = prompt.tools.iter().map(|tool| {
            json!({
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                "strict": false,
            })
        });
        body["tools"] = tools.collect();
    }
    if !prompt.system.is_empty() {
        body["instructions"] = prompt.system.into();
    }
    let mut input = Vec::new();
    for message in prompt.messages {
        match message.role {
            Role::User => user(message, &mut input),
            Role::Assistant => assistant(message, &mut input),
        }
    }
    body["input"] = input.into();
    body
}

fn user(message: &Message, input: &mut Vec<Value>) {
    let image = |image| json!({"type": "input_image", "image_url": picture_url(image)});
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let mut content = Vec::new();
    for part in &message.parts {
        match part {
            Part::Answer(answer) => {
                let words = answer_text(answer);
                let mut images = images(&answer.parts).map(image).peekable();
                // A lone text as a string: not every server reads the list.
                let output: Value = if images.peek().is_none() {
                    words.into()
                } else {
                    std::iter::once(text(&words)).chain(images).collect()
                };
                let id = &answer.id;
                input
                    .push(json!({"type": "function_call_output", "call_id": id, "output": output}));
            }
            Part::Text(words) => content.push(text(words)),
            Part::Image(picture) => content.push(image(picture)),
            Part::Call(_) | Part::Opaque(_) => {}
        }
    }
    if !content.is_empty() {
        input.push(json!({"type": "message", "role": "user", "content": content}));
    }
}

fn assistant(message: &Message, input: &mut Vec<Value>) {
    for part in &message.parts {
        match part {
            Part::Text(text) if !text.is_empty() => {
                let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
                input.push(json!({"type": "message", "role": "assistant", "content": content}));
            }
            Part::Call(call) => {
                let arguments = Value::Object(arguments(call)).to_string();
                let (id, name) = (&call.id, &call.name);
                input.push(
                    json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments}),
                );
            }
            Part::Opaque(item) => input.push(item.clone()),
            Part::Text(_) | Part::Image(_) | Part::Answer(_) => {}
        }
    }
}

#[derive(Default)]
pub(crate) struct Decoder {
    items: BTreeMap<u64, Value>,
    /// For servers that send pieces of text and never the whole.
    text: String,
    response: Option<Value>,
}

impl Decoder {
    pub fn event(&mut self, event: &Value, draft: &mut Draft) -> Result<(), Failure> {
        let delta = event["delta"].as_str().unwrap_or_default();
        let kind = event["type"].as_str().unwrap_or_default();
        match kind {
            "response.created" => draft.identify(&event["response"]),
            "response.output_text.delta" | "response.refusal.delta" => {
                draft.show(delta);
                self.text += delta;
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                draft.thought(delta);
            }
            "response.output_item.added" | "response.function_call_arguments.delta" => {
                draft.began = true;
            }
            "response.output_item.done" => {
                draft.began = true;
                let index = event["output_index"].as_u64();
                let index = index.unwrap_or(self.items.len() as u64);
                self.items.insert(index, event["item"].clone());
            }
            "response.completed" | "response.incomplete" => {
                draft.identify(&event["response"]);
                draft.ended = true;
                self.response = Some(event["response"].clone());
            }
            "response.failed" => return Err(Failure::from_stream(&event["response"])),
            "error" => return Err(Failure::from_stream(event)),
            _ => {}
        }
        Ok(())
    }

    pub fn whole(&mut self, body: &Value, draft: &mut Draft) -> Result<(), Failure> {
        if !body["output"].is_array() {
            return Err(Failure::malformed("the reply has no `output`"));
        }
        if body["status"] == "failed" {
            return Err(Failure::from_stream(body));
        }
        self.response = Some(body.clone());
        draft.began = true;
        Ok(())
    }

    pub fn finish(self, draft: &mut Draft) -> bool {
        let Some(response) = self.response else { return false };
        let mut items: Vec<Value> = self.items.into_values().collect();
        if items.is_empty() {
            items = response["output"].as_array().cloned().unwrap_or_default();
        }
        let mut refused = false;
        for item in items {
            draft.parts.extend(part(item, &mut refused));
        }
        if draft.parts.is_empty() && !self.text.is_empty() {
            draft.parts.push(Part::Text(self.text));
        }
        usage(&response["usage"], draft);
        let reason = string(&response["incomplete_details"]["reason"]);
        let stop = match reason.as_str() {
            "max_output_tokens" => Stop::Length,
            "content_filter" => Stop::Refused,
            _ if refused => Stop::Refused,
            _ => Stop::Done,
        };
        draft.received.stop = if reason.is_empty() { string(&response["status"]) } else { reason };
        draft.stopped(stop);
        true
    }
}

fn part(mut item: Value, refused: &mut bool) -> Option<Part> {
    match item["type"].as_str()? {
        "message" => {
            let mut text = String::new();
            for piece in item["content"].as_array().into_iter().flatten() {
                *refused |= piece["type"] == "refusal";
                text += piece["text"].as_str().or(piece["refusal"].as_str()).unwrap_or_default();
            }
            (!text.is_empty()).then_some(Part::Text(text))
        }
        "function_call" => Some(Part::Call(ToolCall {
            id: string(&item["call_id"]),
            name: string(&item["name"]),
            arguments: string(&item["arguments"]),
        })),
        // Without its content a stateless server could not read it again.
        "reasoning" if item["encrypted_content"].is_string() => {
            if let Some(fields) = item.as_object_mut() {
                fields.retain(|name, value| name != "status" && !value.is_null());
            }
            Some(Part::Opaque(item))
        }
        _ => None,
    }
}

fn usage(usage: &Value, draft: &mut Draft) {
    if !usage.is_object() {
        return;
    }
    draft.received.usage = usage.clone();
    draft.usage = Some(Usage {
        input: count(&usage["input_tokens"]),
        cached: count(&usage["input_tokens_details"]["cached_tokens"]),
        cache_written: count(&usage["input_tokens_details"]["cache_write_tokens"]),
        output: count(&usage["output_tokens"]),
        reasoning: count(&usage["output_tokens_details"]["reasoning_tokens"]),
        estimated: false,
    });
}
