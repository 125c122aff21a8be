//! OpenAI Chat Completions.
//!
//! Source: <https://platform.openai.com/docs/api-reference/chat>, and what other
//! servers make of it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    Draft, Prompt, answer_text, arguments, count, images, picture_url, put, string, text_of,
};
use crate::failure::Failure;
use crate::{Message, Part, Role, Stop, ToolCall, Usage};

pub(super) fn body(prompt: &Prompt) -> Value {
    let endpoint = prompt.endpoint;
    let mut body = json!({"model": endpoint.model});
    if endpoint.stream {
        body["stream"] = true.into();
        body["stream_options"] = json!({"include_usage": true});
    }
    put(&mut body, "temperature", endpoint.temperature);
    put(&mut body, "reasoning_effort", endpoint.effort.as_deref());
    put(&mut body, "max_tokens", endpoint.max_output_tokens);
    put(&mut body, "prompt_cache_key", prompt.cache_key());
    if let Some(schema) = prompt.schema {
        let format = super::schema_format(schema);
        body["response_format"] = json!({"type": "json_schema", "json_schema": format});
    }
    if !prompt.tools.is_empty() {
        let tools = prompt.tools.iter().map(|tool| {
            let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
            json!({"type": "function", "function": function})
        });
        body["tools"] = tools.collect();
    }
    let mut messages = Vec::new();
    if !prompt.system.is_empty() {
        messages.push(json!({"role": "system", "content": prompt.system}));
    }
    for message in prompt.messages {
        match message.role {
            Role::User => user(message, &mut messages),
            Role::Assistant => messages.extend(assistant(message)),
        }
    }
    body["messages"] = messages.into();
    body
}

/// Answers are messages of their own here, and only a user may show images.
fn user(message: &Message, messages: &mut Vec<Value>) {
    let image = |image| json!({"type": "image_url", "image_url": {"url": picture_url(image)}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let mut content = Vec::new();
    for part in &message.parts {
        match part {
            Part::Answer(answer) => {
                let id = &answer.id;
                messages.push(
                    json!({"role": "tool", "tool_call_id": id, "content": answer_text(answer)}),
                );
                let mut images = images(&answer.parts).map(image).peekable();
                if images.peek().is_some() {
                    content.push(text(&format!("Images that {id} returned:")));
                    content.extend(images);
                }
            }
            Part::Text(words) => content.push(text(words)),
            Part::Image(picture) => content.push(image(picture)),
            Part::Call(_) | Part::Opaque(_) => {}
        }
    }
    // A lone text as a string: the one form that every server reads.
    let content = match &content[..] {
        [] => return,
        [only] if only["type"] == "text" => only["text"].clone(),
        _ => content.into(),
    };
    messages.push(json!({"role": "user", "content": content}));
}

fn assistant(message: &Message) -> Option<Value> {
    let mut text = String::new();
    let mut calls = Vec::new();
    let mut kept = &Value::Null;
    for part in &message.parts {
        match part {
            Part::Text(words) => text.push_str(words),
            Part::Call(call) => {
                let arguments = Value::Object(arguments(call)).to_string();
                let function = json!({"name": call.name, "arguments": arguments});
                let mut entry = json!({"id": call.id, "type": "function", "function": function});
                put(&mut entry, EXTRA, kept[EXTRA].get(&call.id).cloned());
                calls.push(entry);
            }
            Part::Opaque(opaque) => kept = opaque,
            Part::Image(_) | Part::Answer(_) => {}
        }
    }
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let content = if text.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    put(&mut message, THOUGHT, kept.get(THOUGHT).cloned());
    Some(message)
}

/// What some servers want back with a call: DeepSeek and its likes the reasoning
/// that led to it, Google a signature of it.
const THOUGHT: &str = "reasoning_content";
const EXTRA: &str = "extra_content";

#[derive(Default)]
pub(crate) struct Decoder {
    text: String,
    refusal: String,
    thought: String,
    extra: Map<String, Value>,
    calls: BTreeMap<u64, ToolCall>,
    finish: Option<String>,
}

impl Decoder {
    pub fn event(&mut self, chunk: &Value, draft: &mut Draft) -> Result<(), Failure> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Failure::from_stream(chunk));
        }
        draft.identify(chunk);
        self.usage(chunk, draft);
        let Some(choice) = chunk["choices"].get(0) else { return Ok(()) };
        self.delta(&choice["delta"], draft);
        if let Some(finish) = choice["finish_reason"].as_str() {
            self.finish = Some(finish.to_owned());
        }
        Ok(())
    }

    pub fn whole(&mut self, body: &Value, draft: &mut Draft) -> Result<(), Failure> {
        let choice = body["choices"]
            .get(0)
            .ok_or_else(|| Failure::malformed("the reply has no `choices`"))?;
        self.usage(body, draft);
        self.delta(&choice["message"], draft);
        self.finish = Some(string(&choice["finish_reason"]));
        Ok(())
    }

    fn delta(&mut self, delta: &Value, draft: &mut Draft) {
        let text = text_of(&delta["content"]);
        if !text.is_empty() {
            draft.show(&text);
            self.text += &text;
        }
        for name in [THOUGHT, "reasoning", "thinking"] {
            let thought = text_of(&delta[name]);
            if !thought.is_empty() {
                draft.thought(&thought);
                if name == THOUGHT {
                    self.thought += &thought;
                }
                break;
            }
        }
        if let Some(refusal) = delta["refusal"].as_str() {
            draft.began = true;
            self.refusal += refusal;
        }
        for fragment in delta["tool_calls"].as_array().into_iter().flatten() {
            draft.began = true;
            self.fragment(fragment);
        }
    }

    /// A piece of a call. OpenAI numbers the calls; servers that don't send each
    /// one whole, or repeat its id.
    fn fragment(&mut self, fragment: &Value) {
        let id = fragment["id"].as_str().unwrap_or_default();
        let function = &fragment["function"];
        let name = function["name"].as_str().unwrap_or_default();
        let last = self.calls.last_key_value();
        let next = last.map_or(0, |(index, _)| index.saturating_add(1));
        let index = fragment["index"].as_u64().unwrap_or_else(|| match last {
            Some((index, _)) if id.is_empty() && name.is_empty() => *index,
            Some((index, call)) if call.id == id && !id.is_empty() => *index,
            _ => next,
        });
        let call = self.calls.entry(index).or_insert_with(|| ToolCall {
            id: String::new(),
            name: String::new(),
            arguments: String::new(),
        });
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        match &function["arguments"] {
            Value::String(more) => call.arguments += more,
            Value::Null => {}
            whole => call.arguments = whole.to_string(),
        }
        if let Some(extra) = fragment.get(EXTRA) {
            self.extra.insert(call.id.clone(), extra.clone());
        }
    }

    fn usage(&self, chunk: &Value, draft: &mut Draft) {
        let usage = &chunk["usage"];
        if !usage.is_object() {
            return;
        }
        draft.received.usage = usage.clone();
        draft.usage = Some(Usage {
            input: count(&usage["prompt_tokens"]),
            cached: count(&usage["prompt_tokens_details"]["cached_tokens"]),
            cache_written: count(&usage["prompt_tokens_details"]["cache_write_tokens"]),
            output: count(&usage["completion_tokens"]),
            reasoning: count(&usage["completion_tokens_details"]["reasoning_tokens"]),
            estimated: false,
        });
    }

    pub fn finish(self, draft: &mut Draft) -> bool {
        let Some(finish) = self.finish else { return false };
        let stop = match finish.as_str() {
            "length" => Stop::Length,
            "content_filter" => Stop::Refused,
            _ if !self.refusal.is_empty() => Stop::Refused,
            _ => Stop::Done,
        };
        let text = without_thought(self.text, draft);
        draft.parts.extend(kept(self.thought, self.extra, !self.calls.is_empty()));
        let texts = [text, self.refusal].into_iter().filter(|text| !text.is_empty());
        draft.parts.extend(texts.map(Part::Text));
        draft.parts.extend(self.calls.into_values().map(Part::Call));
        draft.received.stop = finish;
        draft.stopped(stop);
        true
    }
}

fn kept(thought: String, extra: Map<String, Value>, called: bool) -> Option<Part> {
    let mut kept = Map::new();
    if called && !thought.is_empty() {
        kept.insert(THOUGHT.to_owned(), thought.into());
    }
    if !extra.is_empty() {
        kept.insert(EXTRA.to_owned(), extra.into());
    }
    (!kept.is_empty()).then_some(Part::Opaque(Value::Object(kept)))
}

/// Some servers leave a local model's thoughts in its text.
fn without_thought(text: String, draft: &mut Draft) -> String {
    let thought = text.trim_start().strip_prefix("<think>");
    match thought.and_then(|thought| thought.split_once("</think>")) {
        Some((thought, said)) => {
            draft.thought(thought);
            said.trim_start().to_owned()
        }
        None => text,
    }
}
