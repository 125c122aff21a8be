//! The steering socket of a run: how a person speaks with its agent.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::control::{STEERING, run_socket};
use crate::line_socket::{LineServer, ask_line};

/// What a person wants of the agent or the robot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steer {
    /// Words to the agent, with its next turn.
    Say(String),
    /// Run no further cell and ask no model until [`Steer::Resume`].
    Pause,
    Resume,
    /// End the running cell early, or run the next one not at all.
    Skip,
    /// A cell of the person's own, before the agent's next one.
    Cell(String),
}

/// Takes wishes for one run until it is dropped.
pub struct SteerServer {
    _socket: LineServer,
}

impl SteerServer {
    /// Listens for the run; `handle` is called on the server's thread and its text goes back.
    ///
    /// # Errors
    /// When the socket can't be made.
    pub fn open(
        run: &str,
        handle: impl Fn(Steer) -> String + Send + 'static,
    ) -> std::io::Result<Self> {
        let socket = LineServer::open(path(run)?, move |line| match serde_json::from_str(line) {
            Ok(wish) => handle(wish),
            Err(error) => format!("not understood: {error}"),
        })?;
        Ok(SteerServer { _socket: socket })
    }
}

/// Sends a wish to a run and returns its answer.
///
/// # Errors
/// When the run does not answer.
pub fn steer(run: &str, wish: &Steer) -> std::io::Result<String> {
    ask_line(&path(run)?, &serde_json::to_string(wish)?)
}

fn path(run: &str) -> std::io::Result<PathBuf> {
    run_socket(run, STEERING)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_with_several_lines_arrives_whole() {
        let run = format!("test-steer-{}", std::process::id());
        let (sender, received) = std::sync::mpsc::channel();
        let server = SteerServer::open(&run, move |wish| {
            sender.send(wish).unwrap();
            "done".to_owned()
        })
        .unwrap();
        let wish = Steer::Cell("x = 1\nprint(x)\n".to_owned());
        assert_eq!(steer(&run, &wish).unwrap(), "done");
        assert_eq!(received.recv().unwrap(), wish);
        assert!(ask_line(&path(&run).unwrap(), "{}").unwrap().contains("not understood"));
        assert!(!crate::live_runs().unwrap().contains(&run), "it is no controller");
        drop(server);
        assert!(steer(&run, &Steer::Pause).is_err());
    }
}
