//! What each wire carries, there and back.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use ruaflow_llm::testing::{Asked, Play, Server};
use ruaflow_llm::{
    Answer, Client, Endpoint, Image, Message, Part, Reply, Request, Stop, Tool, ToolMode, Usage,
    Wire,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const WIRES: [Wire; 3] = [Wire::Chat, Wire::Responses, Wire::Anthropic];

/// A PNG's first bytes; nobody here looks further.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\x01\0";

fn image() -> Image {
    Image::from_png(PNG).unwrap()
}

fn tools() -> Vec<Tool> {
    let tool = |name: &str, argument: &str| Tool {
        name: name.to_owned(),
        description: format!("The tool {name}."),
        schema: json!({
            "type": "object",
            "properties": {argument: {"type": "string"}},
            "required": [argument],
        }),
    };
    vec![tool("python", "code"), tool("finish", "status")]
}

fn client(wire: Wire, server: &Server) -> Client {
    Client::new(Endpoint::new(wire, &server.url(), "scripted"))
}

fn ask(client: &mut Client, messages: &[Message]) -> Reply {
    let tools = tools();
    let request = Request { system: "Be brief.", messages, tools: &tools, cache: true };
    client.complete(&request, &mut ()).unwrap()
}

fn hello() -> Vec<Message> {
    vec![Message::user(vec![Part::text("Hello."), Part::Image(image())])]
}

fn answer(reply: &Reply, parts: Vec<Part>, failed: bool) -> Message {
    let id = reply.calls().next().unwrap().id.clone();
    Message::user(vec![Part::Answer(Answer { id, parts, failed })])
}

#[test]
fn a_reply_is_the_same_on_every_wire_streamed_or_not_and_however_it_is_cut() {
    let usage =
        Usage { input: 900, cached: 600, cache_written: 200, output: 50, ..Usage::default() };
    let play = Play::call("python", json!({"code": "print('ß→🙂')"}))
        .and_call("finish", json!({"status": "done"}))
        .saying("I look. ß→🙂")
        .costing(usage);
    for wire in WIRES {
        let mut replies = Vec::new();
        let plays = [play.clone(), play.clone().in_pieces_of(1), play.clone().in_pieces_of(7)];
        for play in plays.into_iter().chain([play.clone().in_one_piece()]) {
            let server = Server::start([play]).unwrap();
            let reply = ask(&mut client(wire, &server), &hello());
            let calls: Vec<_> =
                reply.calls().map(|call| (call.name.clone(), call.arguments.clone())).collect();
            let code = json!({"code": "print('ß→🙂')"}).to_string();
            let status = json!({"status": "done"}).to_string();
            let expected = [("python".to_owned(), code), ("finish".to_owned(), status)];
            assert_eq!(calls, expected, "{wire:?}");
            assert_eq!(reply.text(), "I look. ß→🙂", "{wire:?}");
            assert_eq!(reply.stop, Stop::Calls, "{wire:?}");
            assert_eq!(reply.usage, usage, "{wire:?}");
            assert_eq!(reply.received.model, "scripted-1", "{wire:?}");
            assert!(!reply.received.calls_in_text);
            assert_eq!(reply.attempts.len(), 1);
            assert_eq!(reply.attempts[0].status, Some(200));
            replies.push(reply.parts);
        }
        assert!(replies.windows(2).all(|two| two[0] == two[1]), "{wire:?}: {replies:?}");
    }
}

#[test]
fn a_conversation_only_ever_grows_at_its_end() {
    for wire in WIRES {
        for mode in [ToolMode::Native, ToolMode::Text, ToolMode::JsonSchema] {
            let in_text = "```json\n{\"tool\": \"python\", \"arguments\": {\"code\": \"1\"}}\n```";
            let play = || match mode {
                ToolMode::Native => Play::call("python", json!({"code": "1"})).thinking("Hm."),
                _ => Play::text(in_text),
            };
            let server = Server::start((0..4).map(|_| play())).unwrap();
            let mut endpoint = Endpoint::new(wire, &server.url(), "scripted");
            endpoint.tool_mode = mode;
            let mut client = Client::new(endpoint);
            let mut messages = hello();
            for turn in 0..4 {
                let reply = ask(&mut client, &messages);
                let seen = vec![Part::text(format!("turn {turn}")), Part::Image(image())];
                let answer = answer(&reply, seen, turn == 1);
                messages.extend([Message::assistant(reply.parts), answer]);
            }
            let asked = server.asked();
            assert_eq!(asked.len(), 4);
            for two in asked.windows(2) {
                assert!(two[1].extends(&two[0]), "{wire:?} {mode:?}\n{:#}", two[1].body);
            }
            let ids: Vec<&str> = messages
                .iter()
                .flat_map(|message| &message.parts)
                .filter_map(|part| match part {
                    Part::Call(call) => Some(call.id.as_str()),
                    _ => None,
                })
                .collect();
            let unique: std::collections::BTreeSet<_> = ids.iter().collect();
            assert_eq!((ids.len(), unique.len()), (4, 4), "{ids:?}");
        }
    }
}

#[test]
fn text_reaches_the_watch_as_it_comes() {
    struct Seen(Vec<String>);
    impl ruaflow_llm::Watch for Seen {
        fn text(&mut self, more: &str) {
            self.0.push(more.to_owned());
        }
    }
    for wire in WIRES {
        let play =
            Play::text("one two three four").in_pieces_of(40).slowly(Duration::from_millis(10));
        let server = Server::start([play]).unwrap();
        let mut seen = Seen(Vec::new());
        let messages = hello();
        let request = Request { system: "", messages: &messages, tools: &[], cache: false };
        client(wire, &server).complete(&request, &mut seen).unwrap();
        assert_eq!(seen.0.concat(), "one two three four", "{wire:?}");
        assert!(seen.0.len() > 1, "{wire:?}: {:?}", seen.0);
    }
}

/// The second request after a call, its answer with a picture, and a further text.
fn second(wire: Wire, play: Play) -> Asked {
    let server = Server::start([play, Play::text("Good.")]).unwrap();
    let mut client = client(wire, &server);
    let mut messages = hello();
    let reply = ask(&mut client, &messages);
    let mut results: Vec<Part> = reply
        .calls()
        .map(|call| {
            let parts = vec![Part::text("two"), Part::Image(image())];
            Part::Answer(Answer { id: call.id.clone(), parts, failed: true })
        })
        .collect();
    results.push(Part::text("Hurry."));
    messages.extend([Message::assistant(reply.parts), Message::user(results)]);
    ask(&mut client, &messages);
    server.asked().pop().unwrap()
}

fn url() -> String {
    use base64::Engine as _;
    let data = base64::engine::general_purpose::STANDARD.encode(PNG);
    format!("data:image/png;base64,{data}")
}

#[test]
fn chat_carries_answers_as_messages_and_their_pictures_after_them() {
    let play =
        Play::call("python", json!({"code": "1"})).and_call("finish", json!({})).saying("Hm.");
    let asked = second(Wire::Chat, play);
    let image = json!({"type": "image_url", "image_url": {"url": url()}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let expected = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [text("Hello."), image]},
        {"role": "assistant", "content": "Hm.", "tool_calls": [
            call("call_1_0", "python", r#"{"code":"1"}"#), call("call_1_1", "finish", "{}"),
        ]},
        {"role": "tool", "tool_call_id": "call_1_0", "content": "two"},
        {"role": "tool", "tool_call_id": "call_1_1", "content": "two"},
        {"role": "user", "content": [
            text("Images that call_1_0 returned:"), image,
            text("Images that call_1_1 returned:"), image,
            text("Hurry."),
        ]},
    ]);
    assert_eq!(asked.body["messages"], expected);
    assert_eq!(asked.body["tools"][0]["function"]["parameters"], tools()[0].schema);
    assert_eq!(asked.body["stream_options"], json!({"include_usage": true}));
}

#[test]
fn responses_keeps_nothing_at_the_server_and_hands_reasoning_back() {
    let play = Play::call("python", json!({"code": "1"})).thinking("Hm.");
    let asked = second(Wire::Responses, play);
    let image = json!({"type": "input_image", "image_url": url()});
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let expected = json!([
        {"type": "message", "role": "user", "content": [text("Hello."), image]},
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "sealed:Hm."},
        {"type": "function_call", "call_id": "call_1_0", "name": "python", "arguments": r#"{"code":"1"}"#},
        {"type": "function_call_output", "call_id": "call_1_0", "output": [text("two"), image]},
        {"type": "message", "role": "user", "content": [text("Hurry.")]},
    ]);
    assert_eq!(asked.body["input"], expected);
    assert_eq!(asked.body["store"], false);
    assert_eq!(asked.body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(asked.body["instructions"], "Be brief.");
}

#[test]
fn anthropic_gets_answers_first_thoughts_back_and_marks_for_its_cache() {
    let play = Play::call("python", json!({"code": "1"})).thinking("Hm.");
    let asked = second(Wire::Anthropic, play);
    let data = url().replace("data:image/png;base64,", "");
    let image = |mark: bool| {
        let mut block = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
        if mark {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        block
    };
    let marked = json!({"type": "ephemeral"});
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "Hello."}, image(true)]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "signature_1"},
            {"type": "tool_use", "id": "call_1_0", "name": "python", "input": {"code": "1"}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "call_1_0", "content": [
                {"type": "text", "text": "two"}, image(false),
            ], "is_error": true},
            {"type": "text", "text": "Hurry.", "cache_control": marked},
        ]},
    ]);
    assert_eq!(asked.body["messages"], expected);
    assert_eq!(asked.body["system"][0]["cache_control"], marked);
    assert_eq!(asked.body["tools"][0].get("cache_control"), None);
    assert_eq!(asked.body["tools"][1]["cache_control"], marked);
    assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
}

#[test]
fn malformed_arguments_are_kept_as_written_and_go_back_as_an_object() {
    for wire in WIRES {
        let play = Play::nothing().and_call_with("python", "{\"code\": \"1");
        let asked = second(wire, play);
        let text = asked.body.to_string();
        let kept = match wire {
            Wire::Anthropic => json!({"malformed_arguments": "{\"code\": \"1"}).to_string(),
            _ => Value::from(json!({"malformed_arguments": "{\"code\": \"1"}).to_string())
                .to_string(),
        };
        assert!(text.contains(&kept), "{wire:?}: {text}");
    }
}

#[test]
fn what_is_set_is_sent_and_what_is_not_is_not() {
    for wire in WIRES {
        let server = Server::start([Play::nothing(), Play::nothing()]).unwrap();
        let mut endpoint = Endpoint::new(wire, &server.url(), "scripted");
        ask(&mut Client::new(endpoint.clone()), &hello());
        endpoint.effort = Some("low".to_owned());
        endpoint.temperature = Some(0.25);
        endpoint.max_output_tokens = Some(77);
        endpoint.stream = false;
        ask(&mut Client::new(endpoint), &hello());
        let [plain, set] = &server.asked()[..] else { panic!() };
        assert_eq!(plain.body.get("temperature"), None);
        assert_eq!(plain.body["stream"], true);
        assert_eq!(set.body["temperature"], 0.25);
        assert_eq!(set.body.get("stream"), None);
        assert!(!plain.body.to_string().contains("effort"));
        let (effort, limit) = match wire {
            Wire::Chat => (&set.body["reasoning_effort"], "max_tokens"),
            Wire::Responses => (&set.body["reasoning"]["effort"], "max_output_tokens"),
            Wire::Anthropic => (&set.body["output_config"]["effort"], "max_tokens"),
        };
        assert_eq!((effort, &set.body[limit]), (&json!("low"), &json!(77)), "{wire:?}");
    }
}

#[test]
fn a_call_in_the_text_is_a_call() {
    let in_json = "I look.\n{\"name\": \"finish\", \"arguments\": {\"status\": \"done\"}}";
    let in_python = "I look.\n```python\nprint(1)\n```\nIt printed 1.";
    for wire in WIRES {
        for mode in [ToolMode::Native, ToolMode::Text] {
            for (text, name, arguments) in [
                (in_json, "finish", json!({"status": "done"})),
                (in_python, "python", json!({"code": "print(1)"})),
            ] {
                let server = Server::start([Play::text(text)]).unwrap();
                let mut endpoint = Endpoint::new(wire, &server.url(), "scripted");
                endpoint.tool_mode = mode;
                let reply = ask(&mut Client::new(endpoint), &hello());
                let call = reply.calls().next().unwrap();
                assert_eq!((call.name.as_str(), &call.arguments), (name, &arguments.to_string()));
                assert_eq!(call.id, "call_1");
                assert_eq!(reply.text(), "I look.");
                assert_eq!(reply.stop, Stop::Calls);
                assert!(reply.received.calls_in_text);
                let body = &server.asked()[0].body;
                assert_eq!(body.get("tools").is_some(), mode == ToolMode::Native);
                assert_eq!(body.to_string().contains("# Tools"), mode == ToolMode::Text);
            }
        }
    }
}

#[test]
fn a_schema_lets_the_model_write_nothing_but_a_call() {
    for wire in [Wire::Chat, Wire::Responses] {
        let server =
            Server::start([Play::text("{\"tool\": \"finish\", \"arguments\": {}}")]).unwrap();
        let mut endpoint = Endpoint::new(wire, &server.url(), "scripted");
        endpoint.tool_mode = ToolMode::JsonSchema;
        let reply = ask(&mut Client::new(endpoint), &hello());
        assert_eq!(reply.calls().next().unwrap().name, "finish");
        let body = &server.asked()[0].body;
        let (kind, schema) = match wire {
            Wire::Chat => {
                let format = &body["response_format"];
                (&format["type"], &format["json_schema"]["schema"])
            }
            _ => (&body["text"]["format"]["type"], &body["text"]["format"]["schema"]),
        };
        assert_eq!(kind, "json_schema");
        assert_eq!(schema["anyOf"][1]["properties"]["tool"], json!({"const": "finish"}));
        assert_eq!(schema["anyOf"][0]["properties"]["arguments"], tools()[0].schema);
    }
}

#[test]
fn a_server_that_counts_nothing_gets_an_estimate_that_says_so() {
    for wire in WIRES {
        let server = Server::start([Play::text("four words are here").without_usage()]).unwrap();
        let reply = ask(&mut client(wire, &server), &hello());
        assert!(reply.usage.estimated, "{wire:?}");
        assert_eq!(reply.usage.output, 5, "{wire:?}");
        assert!(reply.usage.input > 50, "{wire:?}: {:?}", reply.usage);
        assert_eq!(reply.received.usage, Value::Null);
    }
}

#[test]
fn readable_reasoning_is_counted_and_not_said() {
    for text in ["Yes.", "<think>Hm, well.</think>\n\nYes."] {
        let server = Server::start([Play::text(text).thinking("Let me see.")]).unwrap();
        let reply = ask(&mut client(Wire::Chat, &server), &hello());
        assert_eq!(reply.parts, [Part::text("Yes.")]);
        let more = if text.starts_with('<') { 9 } else { 0 };
        assert_eq!(reply.received.thought_bytes, 11 + more);
    }
}

#[test]
fn chat_hands_back_what_servers_want_with_a_call() {
    let stream = [
        json!({"reasoning_content": "Hm."}),
        json!({"tool_calls": [{"id": "a", "function": {"name": "python", "arguments": {"code": "1"}}, "extra_content": {"google": {"thought_signature": "s"}}}]}),
        json!({"tool_calls": [{"id": "b", "function": {"name": "finish", "arguments": "{}"}}]}),
    ];
    let chunk = |delta: &Value, finish: Value| {
        let choice = json!({"delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"choices": [choice]}))
    };
    let mut body: String = stream.iter().map(|delta| chunk(delta, Value::Null)).collect();
    body += &chunk(&json!({}), "stop".into());
    let asked = second(Wire::Chat, Play::raw("text/event-stream", body));
    let assistant = &asked.body["messages"][2];
    assert_eq!(assistant["reasoning_content"], "Hm.");
    let calls = &assistant["tool_calls"];
    assert_eq!(calls[0]["extra_content"], json!({"google": {"thought_signature": "s"}}));
    assert_eq!(calls[0]["function"]["arguments"], r#"{"code":"1"}"#);
    assert_eq!((&calls[1]["id"], calls[1].get("extra_content")), (&json!("b"), None));
}

#[test]
fn a_model_that_stops_early_says_why() {
    for wire in WIRES {
        for (stop, text) in [(Stop::Length, "cut"), (Stop::Refused, "I won't."), (Stop::Done, "")] {
            let server = Server::start([Play::text(text).stopping(stop)]).unwrap();
            let reply = ask(&mut client(wire, &server), &hello());
            assert_eq!((reply.stop, reply.text().as_str()), (stop, text), "{wire:?}");
        }
    }
    let server = Server::start([Play::text("x").stopping(Stop::ContextOverflow)]).unwrap();
    let reply = ask(&mut client(Wire::Anthropic, &server), &hello());
    assert_eq!(reply.stop, Stop::ContextOverflow);
}

#[test]
fn a_record_of_what_was_sent_has_digests_for_pictures_and_no_key() {
    for wire in WIRES {
        let server = Server::start([Play::text("Yes.")]).unwrap();
        let mut endpoint = Endpoint::new(wire, &server.url(), "scripted");
        endpoint.key = ruaflow_llm::Secret::new("sk-very-secret");
        let reply = ask(&mut Client::new(endpoint), &hello());
        let asked = &server.asked()[0];
        let name = if wire == Wire::Anthropic { "x-api-key" } else { "authorization" };
        assert!(asked.header(name).unwrap().ends_with("sk-very-secret"));
        let data = url().replace("data:image/png;base64,", "");
        let sent = asked.body.to_string();
        assert!(sent.contains(&data));
        let digest: String = Sha256::digest(PNG).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(reply.sent.to_string(), sent.replace(&data, &format!("sha256:{digest}")));
        assert!(!format!("{reply:?}").contains("very-secret"));
    }
}
