//! The server as a client sees it, over the wire.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

use ruaflow_mcp::{Answer, Call, Effect, Handler, Options, Server, Tool};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

/// A robot that says what it was asked; `wait` lasts until it is cancelled.
#[derive(Default)]
struct Robot {
    calls: Mutex<Vec<Call>>,
    at_once: AtomicU32,
    most: AtomicU32,
    cancelled: AtomicBool,
}

impl Handler for Robot {
    fn call(&self, call: &Call) -> Answer {
        let running = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        self.calls.lock().unwrap().push(call.clone());
        if call.tool == "wait" {
            wait_until("a cancel", || self.cancelled.swap(false, Ordering::SeqCst));
        }
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        Answer {
            text: format!("{} by {}", call.arguments, call.client),
            pictures: vec![Arc::from(*b"\x89PNG")],
            failed: call.tool == "fail",
        }
    }

    fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }
}

fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn serve() -> (Arc<Robot>, Server) {
    serve_with(Options::default())
}

fn serve_with(options: Options) -> (Arc<Robot>, Server) {
    let tool = |name: &str, effect| Tool {
        name: name.to_owned(),
        description: format!("to {name}"),
        schema: json!({"type": "object", "properties": {"x": {"type": "number"}}}),
        effect,
    };
    let tools = [
        tool("look", Effect::Reads),
        tool("move", Effect::Moves),
        tool("wait", Effect::Moves),
        tool("fail", Effect::Moves),
    ];
    let robot = Arc::new(Robot::default());
    let server = Server::start(options, &tools, robot.clone()).unwrap();
    (robot, server)
}

struct Client {
    url: String,
    token: String,
    session: String,
    id: AtomicU32,
}

impl Client {
    /// A client in a session of its own.
    fn new(server: &Server, name: &str) -> Self {
        let (url, token) = (server.url(), server.token().reveal().to_owned());
        let mut client = Client { url, token, session: String::new(), id: AtomicU32::new(0) };
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": name, "version": "1"},
        });
        let mut response = client.post(&client.request("initialize", params));
        client.session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        assert_eq!(
            reply(response.body_mut().as_reader())["result"]["serverInfo"]["name"],
            "ruaflow"
        );
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&told).status().as_u16(), 202);
        client
    }

    fn request(&self, method: &str, params: Value) -> Value {
        let id = self.id.fetch_add(1, Ordering::SeqCst);
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    fn post(&self, body: &Value) -> ureq::http::Response<ureq::Body> {
        self.try_post(body).unwrap()
    }

    fn try_post(&self, body: &Value) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
        let agent: ureq::Agent =
            ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let mut request = agent
            .post(&self.url)
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        if !self.session.is_empty() {
            request = request.header("Mcp-Session-Id", &self.session);
        }
        request.send(body.to_string())
    }

    fn ask(&self, method: &str, params: Value) -> Value {
        let mut response = self.post(&self.request(method, params));
        assert_eq!(response.status().as_u16(), 200);
        reply(response.body_mut().as_reader())
    }

    fn call(&self, tool: &str) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": {"x": 1}}))
    }

    fn leave(&self) {
        ureq::delete(&self.url)
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Mcp-Session-Id", &self.session)
            .call()
            .unwrap();
    }
}

/// The answer in a stream of events.
fn reply(stream: impl std::io::Read) -> Value {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let datas = lines.filter_map(|line| line.strip_prefix("data:").map(str::to_owned));
    let mut values = datas.filter_map(|data| serde_json::from_str::<Value>(&data).ok());
    values.find(|value| value.get("id").is_some()).expect("an answer")
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn a_client_lists_and_calls_the_tools() {
    let (robot, server) = serve();
    let client = Client::new(&server, "ide");
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["look", "move", "wait", "fail"]);
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    assert_eq!(tools[1]["annotations"]["destructiveHint"], true);
    assert_eq!(tools[1]["inputSchema"]["properties"]["x"]["type"], "number");

    let moved = client.call("move");
    assert_eq!(text(&moved), "{\"x\":1} by ide 1");
    assert_eq!(moved["result"]["isError"], false);
    let picture = &moved["result"]["content"][1];
    assert_eq!((&picture["type"], &picture["mimeType"]), (&json!("image"), &json!("image/png")));
    assert_eq!(picture["data"], "iVBORw==");
    assert_eq!(client.call("fail")["result"]["isError"], true);
    let unknown = client.call("fly");
    assert!(unknown["error"]["message"].as_str().unwrap().contains("look, move"), "{unknown}");
    assert_eq!(robot.calls.lock().unwrap().len(), 2);
}

#[test]
fn a_models_own_id_of_a_call_comes_along() {
    let (robot, server) = serve();
    let client = Client::new(&server, "codex");
    for key in ["callId", "claudecode/toolUseId"] {
        client.ask("tools/call", json!({"name": "look", "_meta": {key: "call_7"}}));
    }
    client.ask("tools/call", json!({"name": "look"}));
    let ids: Vec<String> = robot.calls.lock().unwrap().iter().map(|c| c.id.clone()).collect();
    assert_eq!(ids[..2], ["call_7", "call_7"]);
    assert_ne!(ids[2], "call_7");
}

#[test]
fn who_does_not_know_the_token_is_not_heard() {
    let (robot, server) = serve();
    let mut client = Client::new(&server, "ide");
    client.token = "0123456789abcdef0123456789abcdef".to_owned();
    let call = client.request("tools/call", json!({"name": "move"}));
    let mut refused = client.post(&call);
    assert_eq!(refused.status().as_u16(), 401);
    assert!(refused.body_mut().read_to_string().unwrap().contains("token"));
    assert!(robot.calls.lock().unwrap().is_empty());
}

#[test]
fn a_request_has_a_largest_size() {
    let (robot, server) = serve();
    let client = Client::new(&server, "ide");
    let long = "x".repeat(2 << 20);
    let call = client.request("tools/call", json!({"name": "move", "arguments": {"x": long}}));
    // The server answers before it has read all, and may have closed by then.
    let refused = client.try_post(&call).map_or(413, |response| response.status().as_u16());
    assert_eq!(refused, 413);
    assert!(robot.calls.lock().unwrap().is_empty());
}

#[test]
fn one_client_holds_the_robot_others_may_look() {
    let (_robot, server) = serve();
    let (first, second) = (Client::new(&server, "first"), Client::new(&server, "second"));
    first.call("move");
    let refused = second.call("move");
    assert_eq!(refused["result"]["isError"], true);
    assert!(text(&refused).starts_with("first 1 holds the robot"), "{refused}");
    assert_eq!(text(&second.call("look")), "{\"x\":1} by second 1");
    first.leave();
    // The session ends on its own task.
    wait_until("the robot to be free", || second.call("move")["result"]["isError"] == false);
    assert!(text(&first_again(&server).call("move")).contains("second 1 holds"));
}

fn first_again(server: &Server) -> Client {
    Client::new(server, "first")
}

#[test]
fn a_silent_holder_loses_the_robot() {
    let (_robot, server) = serve_with(Options { lease: Duration::ZERO, ..Options::default() });
    let (first, second) = (Client::new(&server, "first"), Client::new(&server, "second"));
    assert_eq!(first.call("move")["result"]["isError"], false);
    assert_eq!(second.call("move")["result"]["isError"], false);
}

#[test]
fn calls_wait_for_each_other() {
    let (robot, server) = serve();
    let clients: Vec<Client> = (0..4).map(|n| Client::new(&server, &n.to_string())).collect();
    let together = Barrier::new(clients.len());
    std::thread::scope(|scope| {
        for client in &clients {
            scope.spawn(|| {
                together.wait();
                for _ in 0..5 {
                    assert_eq!(client.call("look")["result"]["isError"], false);
                }
            });
        }
    });
    assert_eq!(robot.calls.lock().unwrap().len(), 20);
    assert_eq!(robot.most.load(Ordering::SeqCst), 1);
}

#[test]
fn a_cancelled_call_is_stopped() {
    let (robot, server) = serve();
    let client = Client::new(&server, "ide");
    let call = client.request("tools/call", json!({"name": "wait"}));
    std::thread::scope(|scope| {
        // Kept, for a client that drops it is gone.
        let answer = scope.spawn(|| client.post(&call));
        wait_until("the call", || robot.at_once.load(Ordering::SeqCst) == 1);
        let told = json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": call["id"], "reason": "enough"},
        });
        client.post(&told);
        wait_until("its end", || robot.at_once.load(Ordering::SeqCst) == 0);
        drop(answer.join());
    });
    assert_eq!(client.call("move")["result"]["isError"], false, "the robot goes on");
}

#[test]
fn the_call_of_a_client_that_vanishes_is_stopped() {
    let (robot, server) = serve();
    let client = Client::new(&server, "ide");
    let body = client.request("tools/call", json!({"name": "wait"})).to_string();
    let address = server.url().replace("http://", "").replace("/mcp", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
         Mcp-Session-Id: {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        client.token,
        client.session,
        body.len(),
    )
    .unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    wait_until("the call", || robot.at_once.load(Ordering::SeqCst) == 1);
    let other = Client::new(&server, "other");
    assert_eq!(other.call("move")["result"]["isError"], true, "it is held");
    drop(stream);
    wait_until("its end", || robot.at_once.load(Ordering::SeqCst) == 0);
    wait_until("the robot to be free", || other.call("move")["result"]["isError"] == false);
}

#[test]
fn the_server_goes_with_its_owner() {
    let (_robot, server) = serve();
    let client = Client::new(&server, "ide");
    client.call("look");
    server.settle(PATIENCE);
    let address = server.url().replace("http://", "").replace("/mcp", "");
    drop(server);
    assert!(TcpStream::connect(address).is_err());
}
