//! The control socket of a run: how a person reaches its controller from
//! outside the dataflow. A Unix socket in a folder only this user can enter.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use crate::line_socket::{LineServer, ask_line};
use crate::paths::runtime_dir;

/// Endings of the sockets' names: the controller's, and the planner's for a person's words.
pub(crate) const CONTROL: &str = "sock";
pub(crate) const STEERING: &str = "steer";

/// What a person may ask of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Hold the robot at once and take no further call.
    StopNow,
    /// End the episode and the run in good order.
    Stop,
}

impl Command {
    fn word(self) -> &'static str {
        match self {
            Command::StopNow => "stop-now",
            Command::Stop => "stop",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Command::StopNow, Command::Stop].into_iter().find(|c| c.word() == word)
    }
}

/// Takes commands for one run until it is dropped.
pub struct ControlServer {
    _socket: LineServer,
}

impl ControlServer {
    /// Listens for the run; `handle` is called on the server's thread and its text goes back.
    pub fn open(
        run: &str,
        handle: impl Fn(Command) -> String + Send + 'static,
    ) -> std::io::Result<Self> {
        let socket =
            LineServer::open(socket_path(run)?, move |line| match Command::from_word(line) {
                Some(command) => handle(command),
                None => format!("unknown command {line:?}"),
            })?;
        Ok(ControlServer { _socket: socket })
    }
}

/// Sends a command to a run and returns its answer.
pub fn ask(run: &str, command: Command) -> std::io::Result<String> {
    ask_line(&socket_path(run)?, command.word())
}

/// Ids of this user's runs whose controller answers. Sockets that nobody answers go.
pub fn live_runs() -> std::io::Result<Vec<String>> {
    let mut runs = Vec::new();
    for entry in std::fs::read_dir(runtime_dir()?)? {
        let path = entry?.path();
        let kind = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if ![CONTROL, STEERING].contains(&kind) {
            continue;
        }
        match UnixStream::connect(&path) {
            // Left behind by a node that was killed.
            Err(_) => std::fs::remove_file(&path)?,
            Ok(_) if kind == CONTROL => {
                runs.extend(path.file_stem().and_then(|s| s.to_str()).map(str::to_owned));
            }
            Ok(_) => {}
        }
    }
    runs.sort();
    Ok(runs)
}

fn socket_path(run: &str) -> std::io::Result<PathBuf> {
    run_socket(run, CONTROL)
}

/// A run's socket of one kind.
pub(crate) fn run_socket(run: &str, extension: &str) -> std::io::Result<PathBuf> {
    let safe =
        !run.is_empty() && run.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if !safe || run.len() > 64 {
        return Err(std::io::Error::other(format!("{run:?} is not a run id")));
    }
    Ok(runtime_dir()?.join(format!("{run}.{extension}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_command_reaches_the_run_and_the_socket_goes_with_it() {
        let run = format!("test-{}", std::process::id());
        let (sender, received) = std::sync::mpsc::channel();
        let server = ControlServer::open(&run, move |command| {
            sender.send(command).unwrap();
            "held".to_owned()
        })
        .unwrap();
        assert_eq!(ask(&run, Command::StopNow).unwrap(), "held");
        assert_eq!(received.recv().unwrap(), Command::StopNow);
        assert!(live_runs().unwrap().contains(&run));
        drop(server);
        assert!(ask(&run, Command::Stop).is_err());
    }

    #[test]
    fn a_run_id_cannot_leave_the_folder() {
        assert!(ask("../x", Command::Stop).is_err());
        assert!(ask("", Command::Stop).is_err());
    }
}
