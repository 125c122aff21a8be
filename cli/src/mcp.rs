//! `rua mcp`: a robot that MCP clients drive.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use eyre::{Context as _, Result};

use crate::args::{Mcp, Play};
use crate::play;

/// Where clients find the robot.
#[derive(Clone)]
pub struct Door {
    pub port: u16,
    pub token_file: PathBuf,
}

pub fn run(args: Mcp) -> Result<ExitCode> {
    let token = TokenFile::choose(args.token_file)?;
    let door = Door { port: args.port, token_file: token.path().to_owned() };
    let play = Play {
        planner: Some("mcp".to_owned()),
        door: Some(door),
        stage: args.stage,
        budget: Some(args.budget),
        agent: args.agent,
        ..Play::default()
    };
    play::run(&play)
}

/// A file for the token: the user's own, or one that goes with the run.
enum TokenFile {
    Kept(PathBuf),
    Passing(PathBuf),
}

impl TokenFile {
    fn choose(named: Option<PathBuf>) -> Result<Self> {
        if let Some(path) = named {
            return Ok(TokenFile::Kept(std::path::absolute(path)?));
        }
        let folder = ruaflow_kit::runtime_dir().wrap_err("no place for the token")?;
        Ok(TokenFile::Passing(folder.join(format!("mcp-{}.token", std::process::id()))))
    }

    fn path(&self) -> &Path {
        match self {
            TokenFile::Kept(path) | TokenFile::Passing(path) => path,
        }
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        if let TokenFile::Passing(path) = self {
            // Not there when the run did not come so far.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// How clients get to a robot, ready to be copied.
pub fn ways_in(url: &str, token_file: &Path) -> [String; 4] {
    let file = quoted(&token_file.display().to_string());
    [
        format!("the robot is at {url}, its token in {file}; Ctrl-C ends"),
        format!(
            "  Claude Code: claude mcp add --transport http robot {url} --header \"Authorization: Bearer $(cat {file})\""
        ),
        format!(
            "  Codex: RUA_TOKEN=$(cat {file}) codex -c 'mcp_servers.robot={{url=\"{url}\", bearer_token_env_var=\"RUA_TOKEN\", tool_timeout_sec=600}}'"
        ),
        format!(
            "  others: {{\"mcpServers\": {{\"robot\": {{\"type\": \"http\", \"url\": \"{url}\", \"headers\": {{\"Authorization\": \"Bearer TOKEN\"}}}}}}}} with the token for TOKEN"
        ),
    ]
}

/// A word for a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_in_can_be_copied_into_a_shell_and_hold_no_token() {
        let ways = ways_in("http://127.0.0.1:7000/mcp", Path::new("/a b/it's"));
        assert!(ways[1].contains("$(cat '/a b/it'\\''s')"), "{}", ways[1]);
        let json = ways[3].split_once("others: ").unwrap().1.split(" with ").next().unwrap();
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(json["mcpServers"]["robot"]["url"], "http://127.0.0.1:7000/mcp");
    }

    #[test]
    fn a_token_file_of_our_own_goes_and_the_users_stays() {
        let tmp = tempfile::tempdir().unwrap();
        let (own, theirs) = (tmp.path().join("own"), tmp.path().join("theirs"));
        for path in [&own, &theirs] {
            std::fs::write(path, "token").unwrap();
        }
        drop(TokenFile::Passing(own.clone()));
        drop(TokenFile::choose(Some(theirs.clone())).unwrap());
        assert!(!own.exists() && theirs.exists());
    }
}
