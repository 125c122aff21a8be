//! An MCP client and an agent's command line, as small as they can be.

use std::io::{BufRead as _, BufReader, Read as _};

use serde_json::{Value, json};

/// Speaks MCP to one server.
pub(super) struct McpClient {
    url: String,
    token: String,
    session: String,
    asked: u32,
}

impl McpClient {
    pub fn connect(url: &str, token: &str) -> Self {
        let (url, token) = (url.to_owned(), token.to_owned());
        let mut client = McpClient { url, token, session: String::new(), asked: 0 };
        let about = json!({"name": "mini", "version": "1"});
        let (session, _) = client.post(&json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about},
        }));
        client.session = session;
        client.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    pub fn tools(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The text of a tool's answer, and whether it failed.
    pub fn call(&mut self, name: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": name, "arguments": arguments}));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        (text, answer["result"]["isError"] == true)
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        self.post(&request).1
    }

    /// The session and the answer, if there is one.
    fn post(&self, message: &Value) -> (String, Value) {
        let mut request = ureq::post(&self.url)
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        if !self.session.is_empty() {
            request = request.header("Mcp-Session-Id", &self.session);
        }
        let mut response = request.send(message.to_string()).unwrap();
        let session = response.headers().get("mcp-session-id");
        let session = session.map_or(String::new(), |id| id.to_str().unwrap().to_owned());
        let lines = BufReader::new(response.body_mut().as_reader()).lines().map(Result::unwrap);
        let mut values = lines.filter_map(|line| {
            let value: Value = serde_json::from_str(line.strip_prefix("data:")?).ok()?;
            value.get("id").is_some().then_some(value)
        });
        (session, values.next().unwrap_or_default())
    }
}

/// Not a test: what `codex` is in the tests. It does what Codex does, by the same
/// settings, variables and wires.
#[test]
#[ignore = "run as a program by other tests"]
fn a_small_codex() {
    let Ok(home) = std::env::var("CODEX_HOME") else { return };
    let config = std::fs::read_to_string(format!("{home}/config.toml")).unwrap();
    let config: toml::Table = config.parse().unwrap();
    let robot = &config["mcp_servers"]["robot"];
    let model = &config["model_providers"]["relay"];
    let token =
        |place: &toml::Value, key: &str| std::env::var(place[key].as_str().unwrap()).unwrap();
    let mut tools =
        McpClient::connect(robot["url"].as_str().unwrap(), &token(robot, "bearer_token_env_var"));
    let listed: Vec<Value> = tools
        .tools()
        .iter()
        .map(|name| {
            json!({
                "type": "function", "name": name, "parameters": {"type": "object"},
            })
        })
        .collect();
    let instructions = config["model_instructions_file"].as_str().unwrap();
    let instructions = std::fs::read_to_string(instructions).unwrap();
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt).unwrap();
    let content = json!([{"type": "input_text", "text": prompt}]);
    let mut input = vec![json!({"type": "message", "role": "user", "content": content})];
    loop {
        let request = json!({
            "model": config["model"].as_str().unwrap(),
            "instructions": instructions.trim_end(),
            "input": input,
            "tools": [{"type": "namespace", "name": "mcp__robot", "tools": listed}],
            "stream": true,
        });
        let url = format!("{}/responses", model["base_url"].as_str().unwrap());
        let response = ureq::post(url)
            .header("Authorization", format!("Bearer {}", token(model, "env_key")))
            .send(request.to_string());
        // The test binary's own words come on the same output; ours are whole lines of JSON.
        let mut response = match response {
            Ok(response) => response,
            Err(error) => {
                println!("\n{}", json!({"type": "error", "message": error.to_string()}));
                // As Codex does, it takes its time; the planner need not wait for it.
                std::thread::sleep(std::time::Duration::from_secs(60));
                return;
            }
        };
        let items = items(&response.body_mut().read_to_string().unwrap());
        let calls: Vec<&Value> =
            items.iter().filter(|item| item["type"] == "function_call").collect();
        for item in items.iter().filter(|item| item["type"] == "message") {
            let said = json!({"type": "agent_message", "text": item["content"][0]["text"]});
            println!("\n{}", json!({"type": "item.completed", "item": said}));
        }
        if calls.is_empty() {
            println!("\n{}", json!({"type": "turn.completed", "usage": {}}));
            return;
        }
        let mut outputs = Vec::new();
        for call in calls {
            assert_eq!(call["namespace"], "mcp__robot");
            let arguments = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
            let (text, _) = tools.call(call["name"].as_str().unwrap(), arguments);
            let id = &call["call_id"];
            outputs.push(json!({"type": "function_call_output", "call_id": id, "output": text}));
        }
        input.extend(items);
        input.extend(outputs);
    }
}

fn items(stream: &str) -> Vec<Value> {
    let datas = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = datas.map(|data| serde_json::from_str::<Value>(data).unwrap());
    let done = events.filter(|event| event["type"] == "response.output_item.done");
    done.map(|event| event["item"].clone()).collect()
}
