//! A Unix socket that takes one line a connection and answers with one.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

const ANSWER_WAIT: Duration = Duration::from_secs(2);
/// Long enough for a cell of Python.
const MAX_LINE: u64 = 1 << 20;

/// Listens until it is dropped.
pub(crate) struct LineServer {
    path: PathBuf,
}

impl LineServer {
    /// Listens at the path; `handle` is called on the server's thread and its text goes back.
    pub fn open(
        path: PathBuf,
        handle: impl Fn(&str) -> String + Send + 'static,
    ) -> std::io::Result<Self> {
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
        Ok(LineServer { path })
    }
}

impl Drop for LineServer {
    fn drop(&mut self) {
        // Another clean-up may have been faster.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn serve(mut stream: UnixStream, handle: &impl Fn(&str) -> String) -> std::io::Result<()> {
    stream.set_read_timeout(Some(ANSWER_WAIT))?;
    let mut line = String::new();
    BufReader::new(stream.try_clone()?.take(MAX_LINE)).read_line(&mut line)?;
    match line.trim() {
        "" => Ok(()),
        line => writeln!(stream, "{}", handle(line)),
    }
}

/// Sends a line and returns the answer.
pub(crate) fn ask_line(path: &Path, line: &str) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(ANSWER_WAIT))?;
    writeln!(stream, "{line}")?;
    let mut answer = String::new();
    BufReader::new(stream.take(MAX_LINE)).read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}
