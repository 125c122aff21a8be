//! The backend `mcp`: whoever knows the token drives the robot.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ruaflow_kit::Settings;
use ruaflow_llm::Part;
use ruaflow_mcp::{Options, Server, Token};
use ruaflow_record::Happening;

use super::cli::private_file;
use super::counter::{self, Briefing};
use super::{LastWords, RuntimeError, TICK};
use crate::backend::{Backend, Ending};
use crate::episode::Episode;

/// What clients get to read their last answer.
const LAST_ANSWER: Duration = Duration::from_secs(2);

/// Where clients find the robot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Door {
    /// 0 for any.
    pub port: u16,
    /// Holds the token; made when it is not there.
    pub token_file: PathBuf,
}

impl Door {
    pub fn read(settings: &Settings, cwd: &Path) -> Result<Self, RuntimeError> {
        let port = settings.parse("MCP_PORT", 0, "a port number, or 0 for any")?;
        let token_file = settings.text("MCP_TOKEN_FILE").ok_or(RuntimeError::NoTokenFile)?;
        Ok(Door { port, token_file: cwd.join(token_file) })
    }

    /// The token of the file, or a new one, which is then written to it.
    fn token(&self) -> Result<Token, String> {
        let path = &self.token_file;
        let failed = |error: std::io::Error| format!("the token file {path:?}: {error}");
        match std::fs::read_to_string(path) {
            Ok(text) => {
                Token::new(text.trim()).map_err(|e| format!("the token file {path:?}: {e}"))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let token = Token::random();
                private_file(path, token.reveal().as_bytes()).map_err(failed)?;
                Ok(token)
            }
            Err(error) => Err(failed(error)),
        }
    }
}

/// Lets MCP clients play an episode.
pub(super) struct Served {
    pub door: Door,
}

impl Backend for Served {
    fn play(&mut self, episode: &mut Episode) -> Result<Ending, String> {
        let opening = match episode.opening() {
            Ok(opening) => opening,
            Err(over) => return Ok(over.into()),
        };
        let briefing = briefing(&episode.system(), opening);
        let token = self.door.token()?;
        let options = Options {
            port: self.door.port,
            token,
            instructions: briefing.text.clone(),
            ..Options::default()
        };
        let (tools, counter, mut window) = counter::open(episode, Some(briefing));
        let server = Server::start(options, &tools, counter)
            .map_err(|error| format!("the robot can't be served: {}", chain(&error)))?;
        episode.tell(Happening::Serving {
            episode: episode.number(),
            url: server.url(),
            token_file: self.door.token_file.clone(),
        });
        let mut last_words = LastWords::default();
        loop {
            let job = window.wait(TICK);
            let ending = job.and_then(|job| window.execute(episode, job));
            let over = last_words.are_spoken(episode).then_some(Ending::Over);
            if let Some(ending) = ending.or(over) {
                server.settle(LAST_ANSWER);
                return Ok(ending);
            }
        }
    }
}

fn briefing(system: &str, opening: Vec<Part>) -> Briefing {
    let mut briefing = Briefing { text: system.to_owned(), images: Vec::new() };
    for part in opening {
        match part {
            Part::Text(text) => briefing.text.push_str(&format!("\n\n{text}")),
            Part::Image(image) => briefing.images.push(image),
            _ => {}
        }
    }
    briefing
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_only_its_owner_reads_it() {
        let tmp = tempfile::tempdir().unwrap();
        let door = Door { port: 0, token_file: tmp.path().join("token") };
        let token = door.token().unwrap();
        assert_eq!(door.token().unwrap().reveal(), token.reveal());
        let mode = std::fs::metadata(&door.token_file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(&door.token_file, "weak").unwrap();
        assert!(door.token().unwrap_err().contains("16 to 512"));
    }
}
