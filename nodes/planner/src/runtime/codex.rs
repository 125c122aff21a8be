//! Codex CLI.
//!
//! Tried with 0.155.1 and 0.171.0. Settings are those of its `config.toml`; one that a
//! version does not know is passed over by it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::SERVER;
use super::cli::{Cli, Facts, Home, Links, Opening, Said, private_file};
use super::relay::Dialect;

#[derive(Debug)]
pub(super) struct Codex;

/// Variables that hold the two tokens, both worth nothing outside of this episode.
const MODEL_TOKEN: &str = "RUA_MODEL_TOKEN";
const ROBOT_TOKEN: &str = "RUA_ROBOT_TOKEN";

impl Cli for Codex {
    fn facts(&self) -> Facts {
        Facts {
            name: "codex",
            about: "the Codex CLI",
            package: "@openai/codex",
            oldest: [0, 155, 0],
            dialect: Dialect::Responses,
        }
    }

    fn prepare(
        &self,
        command: &mut Command,
        home: &Home,
        links: &Links,
        opening: &Opening,
    ) -> std::io::Result<Vec<u8>> {
        let (config, system) = (home.folder("codex")?, home.path("system.md"));
        private_file(&system, links.system.as_bytes())?;
        private_file(&config.join("config.toml"), config_text(links, &system).as_bytes())?;
        command.args(["exec", "--skip-git-repo-check", "--json", "--ephemeral"]);
        for (number, image) in opening.images.iter().enumerate() {
            let path = home.path(&format!("picture-{}.png", number + 1));
            private_file(&path, &image.png)?;
            let mut argument = std::ffi::OsString::from("--image=");
            argument.push(path);
            command.arg(argument);
        }
        command
            .env("CODEX_HOME", config)
            .env(MODEL_TOKEN, links.model_token)
            .env(ROBOT_TOKEN, links.robot_token);
        Ok(opening.text.clone().into_bytes())
    }

    /// It waits for the end of its input before it begins.
    fn holds_input(&self) -> bool {
        false
    }

    fn read(&self, event: &Value) -> Said {
        let message = |value: &Value| value["message"].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str() {
            Some("item.completed") if event["item"]["type"] == "agent_message" => {
                Said::Words(event["item"]["text"].as_str().unwrap_or_default().to_owned())
            }
            Some("turn.completed") => Said::Ended,
            Some("turn.failed") => Said::Failed(message(&event["error"])),
            Some("error") => Said::Trouble(message(event)),
            _ => Said::Nothing,
        }
    }
}

/// Everything that is not the robot's tools is switched off.
fn config_text(links: &Links, system: &Path) -> String {
    let text = |value: &str| toml::Value::from(value).to_string();
    let (model, system) = (text(links.model), text(&system.display().to_string()));
    let (model_url, robot_url) = (text(&format!("{}/v1", links.model_url)), text(links.robot_url));
    let effort = links
        .effort
        .map_or(String::new(), |effort| format!("model_reasoning_effort = {}\n", text(effort)));
    let patience = links.patience.as_millis();
    let seconds = links.patience.as_secs();
    format!(
        r#"model = {model}
model_provider = "relay"
model_instructions_file = {system}
{effort}approval_policy = "never"
sandbox_mode = "read-only"
web_search = "disabled"
project_doc_max_bytes = 0
include_permissions_instructions = false
include_environment_context = false
include_apps_instructions = false
include_collaboration_mode_instructions = false
check_for_update_on_startup = false

[model_providers.relay]
name = "relay"
base_url = {model_url}
wire_api = "responses"
env_key = "{MODEL_TOKEN}"
request_max_retries = 0
stream_max_retries = 0
stream_idle_timeout_ms = {patience}

[mcp_servers.{SERVER}]
url = {robot_url}
bearer_token_env_var = "{ROBOT_TOKEN}"
required = true
default_tools_approval_mode = "approve"
startup_timeout_sec = 60
tool_timeout_sec = {seconds}

[skills]
include_instructions = false

[skills.bundled]
enabled = false

[tools]
view_image = false

[tools.experimental_request_user_input]
enabled = false

[history]
persistence = "none"

[analytics]
enabled = false

[features]
apps = false
enable_request_compression = false
goals = false
hooks = false
image_generation = false
memories = false
multi_agent = false
plugins = false
shell_snapshot = false
shell_tool = false
skill_search = false
tool_suggest = false
unified_exec = false
view_image = false
"#
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn its_settings_are_toml_whatever_the_model_is_called() {
        let links = Links {
            model: "a \"model\"\n[features]",
            effort: Some("high"),
            model_url: "http://127.0.0.1:1",
            model_token: "m",
            robot_url: "http://127.0.0.1:2/mcp",
            robot_token: "r",
            system: "s",
            patience: Duration::from_secs(3600),
        };
        let text = config_text(&links, Path::new("/a b/system.md"));
        let config: toml::Table = text.parse().unwrap();
        assert_eq!(config["model"].as_str(), Some("a \"model\"\n[features]"));
        assert_eq!(config["model_instructions_file"].as_str(), Some("/a b/system.md"));
        assert_eq!(config["model_reasoning_effort"].as_str(), Some("high"));
        let robot = &config["mcp_servers"]["robot"];
        assert_eq!(robot["url"].as_str(), Some("http://127.0.0.1:2/mcp"));
        assert_eq!(robot["tool_timeout_sec"].as_integer(), Some(3600));
        assert!(!text.contains("\"m\"") && !text.contains("\"r\""), "tokens stay out of files");
    }

    #[test]
    fn its_events_are_understood() {
        let read = |event: Value| Codex.read(&event);
        let item = json!({"id": "item_4", "type": "agent_message", "text": "All done"});
        let words = read(json!({"type": "item.completed", "item": item}));
        assert_eq!(words, Said::Words("All done".to_owned()));
        let usage = json!({"input_tokens": 600, "output_tokens": 30});
        assert_eq!(read(json!({"type": "turn.completed", "usage": usage})), Said::Ended);
        let failed = json!({"type": "turn.failed", "error": {"message": "status 401"}});
        assert_eq!(read(failed), Said::Failed("status 401".to_owned()));
        let trouble = json!({"type": "error", "message": "Reconnecting... 1/1"});
        assert_eq!(read(trouble), Said::Trouble("Reconnecting... 1/1".to_owned()));
        let warning = json!({"id": "item_0", "type": "error", "message": "Model metadata"});
        assert_eq!(read(json!({"type": "item.completed", "item": warning})), Said::Nothing);
        assert_eq!(read(json!({"type": "thread.started", "thread_id": "t"})), Said::Nothing);
        assert_eq!(read(json!(7)), Said::Nothing);
    }
}
