//! Claude Code.
//!
//! Tried with 2.1.197.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::SERVER;
use super::cli::{Cli, Facts, Home, Links, Opening, Said, private_file};
use super::relay::Dialect;

#[derive(Debug)]
pub(super) struct Claude;

const ROBOT_TOKEN: &str = "RUA_ROBOT_TOKEN";

impl Cli for Claude {
    fn facts(&self) -> Facts {
        Facts {
            name: "claude",
            about: "Claude Code",
            package: "@anthropic-ai/claude-code",
            oldest: [2, 1, 0],
            dialect: Dialect::Messages,
        }
    }

    fn prepare(
        &self,
        command: &mut Command,
        home: &Home,
        links: &Links,
        opening: &Opening,
    ) -> std::io::Result<Vec<u8>> {
        let (system, servers) = (home.path("system.md"), home.path("mcp.json"));
        private_file(&system, links.system.as_bytes())?;
        private_file(&servers, servers_json(links).to_string().as_bytes())?;
        command
            .args(["--print", "--verbose", "--model", links.model])
            .args(["--input-format", "stream-json", "--output-format", "stream-json"])
            .arg("--mcp-config")
            .arg(&servers)
            .arg("--strict-mcp-config")
            .args(["--allowedTools", &format!("mcp__{SERVER}")])
            // No tools of its own, settings, skills or sessions.
            .args(["--tools", "", "--setting-sources", ""])
            .args(["--disable-slash-commands", "--no-session-persistence"])
            .arg("--system-prompt-file")
            .arg(&system);
        if let Some(effort) = links.effort {
            command.args(["--effort", effort]);
        }
        let milliseconds = links.patience.as_millis().to_string();
        command
            .env("CLAUDE_CONFIG_DIR", home.folder("claude")?)
            .env("ANTHROPIC_BASE_URL", links.model_url)
            .env("ANTHROPIC_API_KEY", links.model_token)
            .env(ROBOT_TOKEN, links.robot_token)
            .env("API_TIMEOUT_MS", &milliseconds)
            .env("MCP_TOOL_TIMEOUT", &milliseconds)
            .env("MCP_CONNECTION_NONBLOCKING", "0")
            // A cell's answer is as long as it is.
            .env("MAX_MCP_OUTPUT_TOKENS", "1000000")
            .env("CLAUDE_CODE_MAX_RETRIES", "0")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")
            .env("DISABLE_AUTOUPDATER", "1");
        Ok(first_message(opening))
    }

    /// It leaves without a word when its input ends before its tools are there.
    fn holds_input(&self) -> bool {
        true
    }

    fn read(&self, event: &Value) -> Said {
        match event["type"].as_str() {
            Some("assistant") => words(&event["message"]["content"]),
            Some("result") if event["is_error"] == true => Said::Failed(
                event["result"]
                    .as_str()
                    .or(event["subtype"].as_str())
                    .unwrap_or("error")
                    .to_owned(),
            ),
            Some("result") => Said::Ended,
            Some("system") => system(event),
            _ => Said::Nothing,
        }
    }
}

fn words(content: &Value) -> Said {
    let blocks = content.as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    if texts.is_empty() { Said::Nothing } else { Said::Words(texts.join("\n")) }
}

fn system(event: &Value) -> Said {
    match event["subtype"].as_str() {
        Some("api_retry") => {
            let status = event["error_status"].to_string();
            Said::Trouble(format!("asking its model again after status {status}"))
        }
        Some("init") => {
            let servers = event["mcp_servers"].as_array().into_iter().flatten();
            let failed = |server: &&Value| server["status"] == "failed";
            match servers.into_iter().find(failed) {
                Some(_) => Said::Failed("it could not reach the robot's tools".to_owned()),
                None => Said::Nothing,
            }
        }
        _ => Said::Nothing,
    }
}

fn servers_json(links: &Links) -> Value {
    json!({"mcpServers": {SERVER: {
        "type": "http",
        "url": links.robot_url,
        "headers": {"Authorization": format!("Bearer ${{{ROBOT_TOKEN}}}")},
    }}})
}

fn first_message(opening: &Opening) -> Vec<u8> {
    let text = json!({"type": "text", "text": opening.text});
    let images = opening.images.iter().map(|image| {
        let data = STANDARD.encode(&image.png);
        let source = json!({"type": "base64", "media_type": "image/png", "data": data});
        json!({"type": "image", "source": source})
    });
    let content: Vec<Value> = std::iter::once(text).chain(images).collect();
    let message = json!({"role": "user", "content": content});
    let line = json!({
        "type": "user",
        "message": message,
        "parent_tool_use_id": null,
        "session_id": "",
    });
    format!("{line}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use ruaflow_llm::Image;

    use super::*;

    #[test]
    fn its_events_are_understood() {
        let read = |event: Value| Claude.read(&event);
        let said =
            |content: Value| read(json!({"type": "assistant", "message": {"content": content}}));
        let text = json!({"type": "text", "text": "All done"});
        assert_eq!(said(json!([text])), Said::Words("All done".to_owned()));
        let call =
            json!({"type": "tool_use", "id": "t", "name": "mcp__robot__python", "input": {}});
        assert_eq!(said(json!([call])), Said::Nothing);
        let result = |error: bool| json!({"type": "result", "subtype": "success", "is_error": error, "result": "API Error: 401"});
        assert_eq!(read(result(false)), Said::Ended);
        assert_eq!(read(result(true)), Said::Failed("API Error: 401".to_owned()));
        let turns = json!({"type": "result", "subtype": "error_max_turns", "is_error": true});
        assert_eq!(read(turns), Said::Failed("error_max_turns".to_owned()));
        let retry = json!({"type": "system", "subtype": "api_retry", "error_status": 529});
        assert!(matches!(read(retry), Said::Trouble(text) if text.ends_with("529")));
        let init = |status: &str| json!({"type": "system", "subtype": "init", "mcp_servers": [{"name": "robot", "status": status}]});
        assert_eq!(read(init("connected")), Said::Nothing);
        assert!(matches!(read(init("failed")), Said::Failed(_)));
        assert_eq!(read(json!("x")), Said::Nothing);
    }

    #[test]
    fn the_first_message_is_one_line_with_text_and_pictures() {
        let image = Image { png: vec![1, 2, 3].into(), width: 1, height: 1 };
        let opening = Opening { text: "two\nlines".to_owned(), images: vec![image] };
        let line = String::from_utf8(first_message(&opening)).unwrap();
        assert_eq!(line.lines().count(), 1);
        let message: Value = serde_json::from_str(&line).unwrap();
        let content = &message["message"]["content"];
        assert_eq!(content[0]["text"], "two\nlines");
        assert_eq!(content[1]["source"]["data"], "AQID");
    }
}
