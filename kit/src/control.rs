//! The control socket of a run: how a person reaches its controller from
//! outside the dataflow. A Unix socket in a folder only this user can enter.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::paths::runtime_dir;

const ANSWER_WAIT: Duration = Duration::from_secs(2);
const MAX_LINE: u64 = 4096;

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
    path: PathBuf,
}

impl ControlServer {
    /// Listens for the run; `handle` is called on the server's thread and its text goes back.
    pub fn open(
        run: &str,
        handle: impl Fn(Command) -> String + Send + 'static,
    ) -> std::io::Result<Self> {
        let path = socket_path(run)?;
        if path.exists() && UnixStream::connect(&path).is_err() {
            std::fs::remove_file(&path)?;
        }
        let listener = UnixListener::bind(&path)?;
        std::thread::Builder::new().name("control".to_owned()).spawn(move || {
            for stream in listener.incoming().flatten() {
                if let Err(error) = serve(stream, &handle) {
                    tracing::warn!(%error, "control connection");
                }
            }
        })?;
        Ok(ControlServer { path })
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        // Another clean-up may have been faster.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn serve(mut stream: UnixStream, handle: &impl Fn(Command) -> String) -> std::io::Result<()> {
    stream.set_read_timeout(Some(ANSWER_WAIT))?;
    let mut line = String::new();
    BufReader::new(stream.try_clone()?.take(MAX_LINE)).read_line(&mut line)?;
    let answer = match Command::from_word(line.trim()) {
        Some(command) => handle(command),
        None if line.is_empty() => return Ok(()),
        None => format!("unknown command {:?}", line.trim()),
    };
    writeln!(stream, "{answer}")
}

/// Sends a command to a run and returns its answer.
pub fn ask(run: &str, command: Command) -> std::io::Result<String> {
    ask_at(&socket_path(run)?, command)
}

fn ask_at(path: &Path, command: Command) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(ANSWER_WAIT))?;
    writeln!(stream, "{}", command.word())?;
    let mut answer = String::new();
    BufReader::new(stream.take(MAX_LINE)).read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

/// Ids of this user's runs whose controller answers.
pub fn live_runs() -> std::io::Result<Vec<String>> {
    let mut runs = Vec::new();
    for entry in std::fs::read_dir(runtime_dir()?)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "sock")
            && let Some(run) = path.file_stem().and_then(|s| s.to_str())
        {
            match UnixStream::connect(&path) {
                Ok(_) => runs.push(run.to_owned()),
                // Left behind by a killed controller.
                Err(_) => std::fs::remove_file(&path)?,
            }
        }
    }
    runs.sort();
    Ok(runs)
}

fn socket_path(run: &str) -> std::io::Result<PathBuf> {
    let safe =
        !run.is_empty() && run.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if !safe || run.len() > 64 {
        return Err(std::io::Error::other(format!("{run:?} is not a run id")));
    }
    Ok(runtime_dir()?.join(format!("{run}.sock")))
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
