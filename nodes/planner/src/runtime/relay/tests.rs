use std::time::{Duration, Instant};

use ruaflow_llm::testing::{Play, Server};
use ruaflow_llm::{Answer, Endpoint, Image, Reply, Retries, Stop, ToolCall, Usage, Wire};
use serde_json::json;

use super::*;

/// A request as Codex 0.155.1 sends it, without what does not matter here.
fn codex_request(input: Value) -> Value {
    json!({
        "model": "m",
        "instructions": "You drive a robot.",
        "input": input,
        "tools": [
            {"type": "function", "name": "list_mcp_resources", "parameters": {}},
            {"type": "namespace", "name": "mcp__other", "tools": [
                {"type": "function", "name": "steal", "parameters": {}},
            ]},
            {"type": "namespace", "name": "mcp__robot", "tools": [
                {"type": "function", "name": "python", "description": "Runs a cell.",
                 "strict": false, "parameters": {"type": "object"}},
            ]},
        ],
        "parallel_tool_calls": true,
        "store": false,
        "stream": true,
    })
}

/// One as Claude Code 2.1.197 sends it.
fn claude_request(messages: Value) -> Value {
    json!({
        "model": "m",
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.197;"},
            {"type": "text", "text": "You drive a robot.", "cache_control": {"type": "ephemeral"}},
        ],
        "messages": messages,
        "tools": [
            {"name": "Bash", "input_schema": {"type": "object"}},
            {"name": "mcp__robot__python", "description": "Runs a cell.",
             "input_schema": {"type": "object"}},
        ],
        "stream": true,
    })
}

/// The smallest picture there is.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn picture_part() -> Part {
    Part::Image(Image::from_png(STANDARD.decode(PNG).unwrap()).unwrap())
}

fn call(name: &str, arguments: &str) -> Part {
    let (id, name) = ("c1".to_owned(), name.to_owned());
    Part::Call(ToolCall { id, name, arguments: arguments.to_owned() })
}

fn reply(parts: Vec<Part>) -> Reply {
    Reply {
        parts,
        stop: Stop::Done,
        usage: Usage {
            input: 100,
            cached: 60,
            cache_written: 10,
            output: 5,
            reasoning: 2,
            estimated: false,
        },
        timing: ruaflow_llm::Timing::default(),
        attempts: Vec::new(),
        sent: Value::Null,
        received: ruaflow_llm::Received::default(),
    }
}

fn assert_robots_tools(asked: &Asked) {
    let expected = Tool {
        name: "python".to_owned(),
        description: "Runs a cell.".to_owned(),
        schema: json!({"type": "object"}),
    };
    assert_eq!(asked.tools, [expected], "only the robot's, by their plain names");
    assert_eq!(asked.system, "You drive a robot.");
}

#[test]
fn a_request_of_codex_is_understood() {
    let url = format!("data:image/png;base64,{PNG}");
    let input = json!([
        {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "move"},
            {"type": "input_image", "image_url": url, "detail": "high"},
        ]},
        {"type": "reasoning", "summary": [], "encrypted_content": "someone else's"},
        {"type": "function_call", "call_id": "c1", "name": "python", "namespace": "mcp__robot",
         "arguments": "{\"code\": \"x\"}"},
        {"type": "function_call_output", "call_id": "c1", "output": [
            {"type": "input_text", "text": "Wall time: 0.1 seconds\nOutput:"},
            {"type": "input_image", "image_url": url},
        ]},
        {"type": "function_call_output", "call_id": "c2", "output": "unsupported call"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]},
        {"type": "something_new"},
    ]);
    let asked = responses::read(&codex_request(input));
    assert_robots_tools(&asked);
    let answer = |id: &str, parts| Part::Answer(Answer { id: id.to_owned(), parts, failed: false });
    let output = vec![Part::text("Wall time: 0.1 seconds\nOutput:"), picture_part()];
    assert_eq!(
        asked.messages,
        [
            Message::user(vec![Part::text("move"), picture_part()]),
            Message::assistant(vec![call("python", "{\"code\": \"x\"}")]),
            Message::user(vec![
                answer("c1", output),
                answer("c2", vec![Part::text("unsupported call")])
            ]),
            Message::assistant(vec![Part::text("ok")]),
        ]
    );
}

#[test]
fn instructions_may_come_as_a_developers_message() {
    let mut request = codex_request(json!([
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "You drive a robot."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "move"}]},
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "hurry"}]},
    ]));
    request["instructions"] = Value::Null;
    let asked = responses::read(&request);
    assert_robots_tools(&asked);
    assert_eq!(asked.messages, [Message::user(vec![Part::text("move"), Part::text("hurry")])]);
}

#[test]
fn a_request_of_claude_code_is_understood() {
    let asked = messages::read(&claude_request(json!([
        {"role": "user", "content": [
            {"type": "text", "text": "move"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        ]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "c1", "name": "mcp__robot__python", "input": {"code": "x"}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "is_error": true, "content": [
                {"type": "text", "text": "wrong"},
            ]},
        ]},
        {"role": "user", "content": "go on"},
    ])));
    assert_robots_tools(&asked);
    let answer = Answer { id: "c1".to_owned(), parts: vec![Part::text("wrong")], failed: true };
    assert_eq!(
        asked.messages,
        [
            Message::user(vec![Part::text("move"), picture_part()]),
            Message::assistant(vec![call("python", "{\"code\":\"x\"}")]),
            Message::user(vec![Part::Answer(answer), Part::text("go on")]),
        ]
    );
}

/// What a command line sends back of a reply that it was given.
fn echo(dialect: Dialect, reply: &Reply) -> Asked {
    match dialect {
        Dialect::Responses => {
            let events = responses::write(reply, "r1");
            let items = events.iter().filter(|event| event["type"] == "response.output_item.done");
            let items: Vec<Value> = items.map(|event| event["item"].clone()).collect();
            responses::read(&codex_request(json!(items)))
        }
        Dialect::Messages => {
            let content = messages::write_whole(reply, "r1", "m")["content"].clone();
            let message = json!({"role": "assistant", "content": content});
            messages::read(&claude_request(json!([message])))
        }
    }
}

#[test]
fn a_reply_comes_back_as_it_was_given() {
    let kept = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let parts = vec![
        Part::Opaque(kept),
        Part::text("I look first."),
        call("python", "{\"code\":\"robo.state()\"}"),
    ];
    for dialect in [Dialect::Responses, Dialect::Messages] {
        let asked = echo(dialect, &reply(parts.clone()));
        assert_eq!(asked.messages, [Message::assistant(parts.clone())], "{dialect:?}");
    }
}

#[test]
fn malformed_arguments_reach_the_tool() {
    let malformed = reply(vec![call("python", "{\"code\": ")]);
    let codex = echo(Dialect::Responses, &malformed);
    assert_eq!(codex.messages[0].parts, malformed.parts);
    let claude = echo(Dialect::Messages, &malformed);
    let expected = json!({"malformed_arguments": "{\"code\": "}).to_string();
    assert_eq!(claude.messages[0].parts, [call("python", &expected)]);
}

#[test]
fn codex_gets_its_namespace_and_counts() {
    let events = responses::write(&reply(vec![call("python", "{}")]), "r1");
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["response.created", "response.output_item.done", "response.completed"]);
    let item = &events[1]["item"];
    assert_eq!((&item["namespace"], &item["name"]), (&json!("mcp__robot"), &json!("python")));
    let usage = &events[2]["response"]["usage"];
    assert_eq!(usage["input_tokens_details"]["cached_tokens"], 60);
    assert_eq!(usage["total_tokens"], 105);
}

#[test]
fn claude_code_gets_blocks_and_counts() {
    let parts = vec![Part::text("I look."), call("python", "{\"code\":\"x\"}")];
    let events = messages::write(&reply(parts), "r1", "m");
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let expected: Vec<&str> =
        [&["message_start"][..], &block, &block, &["message_delta", "message_stop"]].concat();
    assert_eq!(types, expected);
    assert_eq!(events[2]["delta"]["text"], "I look.");
    assert_eq!(events[4]["content_block"]["name"], "mcp__robot__python");
    assert_eq!(events[5]["delta"]["partial_json"], "{\"code\":\"x\"}");
    assert_eq!(events[7]["delta"]["stop_reason"], "tool_use");
    let usage = &events[7]["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["cache_read_input_tokens"]),
        (&json!(30), &json!(60))
    );
}

fn relay(dialect: Dialect, server: &Server) -> Relay {
    let mut endpoint = Endpoint::new(Wire::Chat, &server.url(), "m");
    endpoint.key = ruaflow_llm::Secret::new("sk-very-secret-key");
    endpoint.retries = Retries { max: 0, ..Retries::default() };
    Relay::start(dialect, Client::new(endpoint), Arc::default()).unwrap()
}

fn post(url: &str, token: &str, body: &Value) -> (u16, String) {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let request = agent.post(url).header("x-api-key", token);
    let mut response = request.send(body.to_string()).unwrap();
    (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
}

fn next(relay: &Relay) -> Exchange {
    let start = Instant::now();
    loop {
        if let Some(exchange) = relay.next() {
            return exchange;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain for an exchange");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A server that knows Chat Completions alone serves both command lines.
#[test]
fn requests_are_asked_in_the_endpoints_wire_and_answered_in_the_command_lines() {
    let user = json!([{"role": "user", "content": "move"}]);
    let item = json!([{"type": "message", "role": "user", "content": "move"}]);
    for (dialect, path, body, sign) in [
        (Dialect::Responses, "/v1/responses", codex_request(item), "response.completed"),
        (Dialect::Messages, "/v1/messages?beta=true", claude_request(user), "message_stop"),
    ] {
        let server = Server::start([Play::call("python", json!({"code": "1"}))]).unwrap();
        let relay = relay(dialect, &server);
        let (status, text) = post(&format!("{}{path}", relay.url()), relay.token().reveal(), &body);
        assert_eq!(status, 200, "{text}");
        assert!(text.contains(&format!("event: {sign}\n")), "{text}");
        let exchange = next(&relay);
        assert_eq!(exchange.asked.messages, [Message::user(vec![Part::text("move")])]);
        assert_eq!(exchange.outcome.unwrap().calls().next().unwrap().name, "python");
        assert!(!relay.is_busy());
        let asked = server.asked();
        assert!(asked[0].path.ends_with("/chat/completions"), "{}", asked[0].path);
        assert_eq!(asked[0].body["tools"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn an_endpoints_error_is_told_to_both_sides_without_the_key() {
    let refusal = json!({"error": {"message": "bad key sk-very-secret-key"}});
    let server = Server::start([Play::status(401, refusal.to_string())]).unwrap();
    let relay = relay(Dialect::Responses, &server);
    let url = format!("{}/v1/responses", relay.url());
    let (status, text) = post(&url, relay.token().reveal(), &codex_request(json!([])));
    assert_eq!(status, 400);
    let error = next(&relay).outcome.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unauthorized);
    for told in [text, error.text] {
        assert!(told.contains("bad key") && !told.contains("very-secret"), "{told}");
    }
}

#[test]
fn only_the_command_line_may_ask() {
    let server = Server::start([]).unwrap();
    let relay = relay(Dialect::Messages, &server);
    let url = format!("{}/v1/messages", relay.url());
    let (status, _) = post(&url, "0123456789abcdef", &claude_request(json!([])));
    assert_eq!(status, 401);
    assert!(server.asked().is_empty());
}
