//! A line of a script as each wire has it.

use serde_json::{Value, json};

use super::Play;
use crate::{Stop, Usage, Wire};

type Events = Vec<(&'static str, Value)>;

/// The events of a stream, by name.
pub(super) fn events(
    wire: Wire,
    play: &Play,
    number: usize,
    asked: &Value,
) -> Vec<(&'static str, String)> {
    let line = Line { play, number, asked };
    let events = match wire {
        Wire::Chat => line.chat_events(),
        Wire::Responses => line.responses_events(),
        Wire::Anthropic => line.anthropic_events(),
    };
    let mut events: Vec<_> =
        events.into_iter().map(|(name, data)| (name, data.to_string())).collect();
    if wire == Wire::Chat {
        events.push(("", "[DONE]".to_owned()));
    }
    events
}

/// The response in one piece.
pub(super) fn whole(wire: Wire, play: &Play, number: usize, asked: &Value) -> Value {
    let line = Line { play, number, asked };
    match wire {
        Wire::Chat => line.chat_whole(),
        Wire::Responses => line.response(&line.items()),
        Wire::Anthropic => line.message(line.blocks()),
    }
}

struct Line<'a> {
    play: &'a Play,
    number: usize,
    asked: &'a Value,
}

/// A tool as the request has it.
struct Callee {
    name: String,
    namespace: Option<String>,
}

impl Line<'_> {
    fn usage(&self) -> Option<Usage> {
        let tokens = |bytes: usize| bytes.div_ceil(4) as u64;
        let said = self.play.text.len() + self.play.calls.iter().map(|c| c.1.len()).sum::<usize>();
        let counted = Usage {
            input: tokens(self.asked.to_string().len()),
            output: tokens(said),
            ..Usage::default()
        };
        (!self.play.no_usage).then(|| self.play.usage.unwrap_or(counted))
    }

    fn stop(&self) -> Stop {
        let natural = if self.play.calls.is_empty() { Stop::Done } else { Stop::Calls };
        self.play.stop.unwrap_or(natural)
    }

    fn id(&self, of: &str) -> String {
        format!("{of}_{}", self.number)
    }

    fn call_id(&self, index: usize) -> String {
        format!("call_{}_{index}", self.number)
    }

    fn callee(&self, name: &str) -> Callee {
        let tools = self.asked["tools"].as_array();
        for tool in tools.into_iter().flatten() {
            let full = tool["name"].as_str().or(tool["function"]["name"].as_str());
            let full = full.unwrap_or_default();
            if tool["type"] == "namespace" {
                let inner = tool["tools"].as_array().into_iter().flatten();
                if inner.into_iter().any(|tool| tool["name"] == name) {
                    let namespace = Some(full.to_owned());
                    return Callee { name: name.to_owned(), namespace };
                }
            } else if full == name || full.ends_with(&format!("__{name}")) {
                return Callee { name: full.to_owned(), namespace: None };
            }
        }
        Callee { name: name.to_owned(), namespace: None }
    }

    fn calls(&self) -> impl Iterator<Item = (String, Callee, &str)> {
        self.play.calls.iter().enumerate().map(|(index, (name, arguments))| {
            (self.call_id(index), self.callee(name), arguments.as_str())
        })
    }
}

/// Chat Completions.
impl Line<'_> {
    fn chunk(&self, choices: Value) -> Value {
        let id = self.id("chatcmpl");
        json!({"id": id, "object": "chat.completion.chunk", "model": "scripted-1", "choices": choices})
    }

    fn finish_reason(&self) -> &'static str {
        match self.stop() {
            Stop::Done => "stop",
            Stop::Calls => "tool_calls",
            Stop::Length | Stop::ContextOverflow => "length",
            Stop::Refused => "content_filter",
        }
    }

    fn chat_usage(&self) -> Option<Value> {
        let usage = self.usage()?;
        Some(json!({
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        }))
    }

    fn chat_events(&self) -> Events {
        let mut events = Vec::new();
        let mut send = |delta: Value, finish: Option<&str>| {
            let choices = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
            events.push(("", self.chunk(choices)));
        };
        send(json!({"role": "assistant", "content": ""}), None);
        for piece in pieces(&self.play.thought) {
            send(json!({"reasoning_content": piece}), None);
        }
        for piece in pieces(&self.play.text) {
            send(json!({"content": piece}), None);
        }
        for (index, (id, callee, arguments)) in self.calls().enumerate() {
            let function = json!({"name": callee.name, "arguments": ""});
            let start = json!({"index": index, "id": id, "type": "function", "function": function});
            send(json!({"tool_calls": [start]}), None);
            for piece in pieces(arguments) {
                let more = json!({"index": index, "function": {"arguments": piece}});
                send(json!({"tool_calls": [more]}), None);
            }
        }
        send(json!({}), Some(self.finish_reason()));
        let asked = self.asked["stream_options"]["include_usage"] == true;
        if let Some(usage) = self.chat_usage().filter(|_| asked) {
            let mut last = self.chunk(json!([]));
            last["usage"] = usage;
            events.push(("", last));
        }
        events
    }

    fn chat_whole(&self) -> Value {
        let calls = self.calls().map(|(id, callee, arguments)| {
            let function = json!({"name": callee.name, "arguments": arguments});
            json!({"id": id, "type": "function", "function": function})
        });
        let calls: Vec<Value> = calls.collect();
        let mut message = json!({"role": "assistant", "content": self.play.text});
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": self.finish_reason()});
        let mut body = self.chunk(json!([choice]));
        body["object"] = "chat.completion".into();
        if let Some(usage) = self.chat_usage() {
            body["usage"] = usage;
        }
        body
    }
}

/// Responses.
impl Line<'_> {
    fn items(&self) -> Vec<Value> {
        let mut items = Vec::new();
        if !self.play.thought.is_empty() {
            let sealed = format!("sealed:{}", self.play.thought);
            items.push(json!({"id": self.id("rs"), "type": "reasoning", "summary": [], "encrypted_content": sealed, "status": null}));
        }
        if !self.play.text.is_empty() {
            let content = if self.stop() == Stop::Refused {
                json!({"type": "refusal", "refusal": self.play.text})
            } else {
                json!({"type": "output_text", "text": self.play.text, "annotations": []})
            };
            items.push(json!({"id": self.id("msg"), "type": "message", "role": "assistant", "status": "completed", "content": [content]}));
        }
        for (id, callee, arguments) in self.calls() {
            let mut item = json!({"id": format!("fc_{id}"), "type": "function_call", "status": "completed", "call_id": id, "name": callee.name, "arguments": arguments});
            if let Some(namespace) = callee.namespace {
                item["namespace"] = namespace.into();
            }
            items.push(item);
        }
        items
    }

    fn response(&self, items: &[Value]) -> Value {
        let mut response = json!({"id": self.id("resp"), "object": "response", "model": "scripted-1", "status": "completed", "output": items});
        if matches!(self.stop(), Stop::Length | Stop::ContextOverflow) {
            response["status"] = "incomplete".into();
            response["incomplete_details"] = json!({"reason": "max_output_tokens"});
        }
        if let Some(usage) = self.usage() {
            response["usage"] = json!({
                "input_tokens": usage.input,
                "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
                "output_tokens": usage.output,
                "output_tokens_details": {"reasoning_tokens": usage.reasoning},
                "total_tokens": usage.input + usage.output,
            });
        }
        response
    }

    fn responses_events(&self) -> Events {
        let mut events = Vec::new();
        let mut send = |name: &'static str, fields: Value| {
            let mut event = json!({"type": name, "sequence_number": events.len()});
            if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
                event.extend(fields);
            }
            events.push((name, event));
        };
        let started = json!({"id": self.id("resp"), "model": "scripted-1", "status": "in_progress", "output": []});
        send("response.created", json!({"response": started}));
        let items = self.items();
        for (index, item) in items.iter().enumerate() {
            let mut added = item.clone();
            let id = &item["id"];
            match item["type"].as_str() {
                Some("message") => {
                    added["status"] = "in_progress".into();
                    added["content"] = json!([]);
                    send(
                        "response.output_item.added",
                        json!({"output_index": index, "item": added}),
                    );
                    let part = &item["content"][0];
                    let is_refusal = part["type"] == "refusal";
                    let (field, delta, done) = if is_refusal {
                        ("refusal", "response.refusal.delta", "response.refusal.done")
                    } else {
                        ("text", "response.output_text.delta", "response.output_text.done")
                    };
                    let mut empty = part.clone();
                    empty[field] = "".into();
                    send(
                        "response.content_part.added",
                        json!({"item_id": id, "output_index": index, "content_index": 0, "part": empty}),
                    );
                    for piece in pieces(&self.play.text) {
                        send(
                            delta,
                            json!({"item_id": id, "output_index": index, "content_index": 0, "delta": piece, "logprobs": []}),
                        );
                    }
                    send(
                        done,
                        json!({"item_id": id, "output_index": index, "content_index": 0, field: self.play.text, "logprobs": []}),
                    );
                    send(
                        "response.content_part.done",
                        json!({"item_id": id, "output_index": index, "content_index": 0, "part": part}),
                    );
                }
                Some("function_call") => {
                    added["status"] = "in_progress".into();
                    added["arguments"] = "".into();
                    send(
                        "response.output_item.added",
                        json!({"output_index": index, "item": added}),
                    );
                    let arguments = &item["arguments"];
                    for piece in pieces(arguments.as_str().unwrap_or_default()) {
                        send(
                            "response.function_call_arguments.delta",
                            json!({"item_id": id, "output_index": index, "delta": piece}),
                        );
                    }
                    send(
                        "response.function_call_arguments.done",
                        json!({"item_id": id, "output_index": index, "name": item["name"], "arguments": arguments}),
                    );
                }
                _ => send(
                    "response.output_item.added",
                    json!({"output_index": index, "item": added}),
                ),
            }
            send("response.output_item.done", json!({"output_index": index, "item": item}));
        }
        let response = self.response(&items);
        let name = if response["status"] == "incomplete" {
            "response.incomplete"
        } else {
            "response.completed"
        };
        send(name, json!({"response": response}));
        events
    }
}

/// Messages.
impl Line<'_> {
    fn stop_reason(&self) -> &'static str {
        match self.stop() {
            Stop::Done => "end_turn",
            Stop::Calls => "tool_use",
            Stop::Length => "max_tokens",
            Stop::Refused => "refusal",
            Stop::ContextOverflow => "model_context_window_exceeded",
        }
    }

    fn message_usage(&self) -> Option<Value> {
        let usage = self.usage()?;
        Some(json!({
            "input_tokens": usage.input - usage.cached - usage.cache_written,
            "cache_read_input_tokens": usage.cached,
            "cache_creation_input_tokens": usage.cache_written,
            "output_tokens": usage.output,
        }))
    }

    fn blocks(&self) -> Vec<Value> {
        let mut blocks = Vec::new();
        if !self.play.thought.is_empty() {
            let signature = self.id("signature");
            blocks.push(
                json!({"type": "thinking", "thinking": self.play.thought, "signature": signature}),
            );
        }
        if !self.play.text.is_empty() {
            blocks.push(json!({"type": "text", "text": self.play.text}));
        }
        for (id, callee, arguments) in self.calls() {
            let input: Value = serde_json::from_str(arguments).unwrap_or_default();
            blocks.push(json!({"type": "tool_use", "id": id, "name": callee.name, "input": input}));
        }
        blocks
    }

    fn message(&self, blocks: Vec<Value>) -> Value {
        let mut message = json!({"id": self.id("msg"), "type": "message", "role": "assistant", "model": "scripted-1", "content": blocks, "stop_reason": self.stop_reason()});
        if let Some(usage) = self.message_usage() {
            message["usage"] = usage;
        }
        message
    }

    fn anthropic_events(&self) -> Events {
        let mut events: Events = Vec::new();
        let mut start = self.message(Vec::new());
        start["stop_reason"] = Value::Null;
        if let Some(usage) = start.get_mut("usage") {
            usage["output_tokens"] = 1.into();
        }
        events.push(("message_start", json!({"type": "message_start", "message": start})));
        events.push(("ping", json!({"type": "ping"})));
        for (index, mut block) in self.blocks().into_iter().enumerate() {
            let arguments = self.calls().find(|(id, ..)| block["id"] == id.as_str());
            let mut deltas = Vec::new();
            if let Some((_, _, arguments)) = arguments {
                block["input"] = json!({});
                let more = |piece| json!({"type": "input_json_delta", "partial_json": piece});
                deltas.extend(pieces(arguments).map(more));
            }
            for (field, kind) in [
                ("text", "text_delta"),
                ("thinking", "thinking_delta"),
                ("signature", "signature_delta"),
            ] {
                let text = block[field].as_str().unwrap_or_default().to_owned();
                if !text.is_empty() {
                    block[field] = "".into();
                    deltas.extend(pieces(&text).map(|piece| json!({"type": kind, field: piece})));
                }
            }
            let name = "content_block_start";
            events.push((name, json!({"type": name, "index": index, "content_block": block})));
            for delta in deltas {
                let name = "content_block_delta";
                events.push((name, json!({"type": name, "index": index, "delta": delta})));
            }
            let name = "content_block_stop";
            events.push((name, json!({"type": name, "index": index})));
        }
        let delta = json!({"stop_reason": self.stop_reason(), "stop_sequence": null});
        let mut last = json!({"type": "message_delta", "delta": delta});
        if let Some(usage) = self.usage() {
            last["usage"] = json!({"output_tokens": usage.output});
        }
        events.push(("message_delta", last));
        events.push(("message_stop", json!({"type": "message_stop"})));
        events
    }
}

/// A text in pieces of a few characters, as models write.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(5).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
