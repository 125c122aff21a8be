//! Model servers for tests: one that plays a script, speaks all three wires on
//! loopback, does everything wrong that it is told to, and remembers what it was asked;
//! and a real one, with a small model.

mod local_model;
mod play;
mod render;

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

pub use local_model::LocalModel;
use play::Fault;
pub use play::Play;

use crate::Wire;

/// How often a thread looks whether the server is to end.
const LOOK: Duration = Duration::from_millis(20);

/// A scripted server. It ends when dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stage: Arc<Stage>,
}

/// One request that a model would have answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

#[derive(Debug)]
struct Stage {
    /// In reverse.
    script: Mutex<Vec<Play>>,
    asked: Mutex<Vec<Asked>>,
    over: AtomicBool,
}

impl Server {
    /// Starts a server that answers each request with the next of the script, and
    /// then with HTTP 500.
    ///
    /// # Errors
    /// When no port can be opened.
    pub fn start(script: impl IntoIterator<Item = Play>) -> io::Result<Self> {
        let mut script: Vec<Play> = script.into_iter().collect();
        script.reverse();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let (script, asked, over) = (Mutex::new(script), Mutex::default(), AtomicBool::new(false));
        let stage = Arc::new(Stage { script, asked, over });
        let shared = stage.clone();
        std::thread::Builder::new().name("scripted model".to_owned()).spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.is_over() {
                    return;
                }
                let stage = shared.clone();
                // A connection that breaks is what the script wanted, or what the
                // other side did: the test will see.
                std::thread::spawn(move || drop(stage.serve(stream)));
            }
        })?;
        Ok(Server { address, stage })
    }

    /// The base URL, `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request so far, but for those that ask no model.
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.stage.asked).clone()
    }

    /// How much of the script has not been played.
    pub fn left(&self) -> usize {
        lock(&self.stage.script).len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stage.over.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Whether this request begins, byte for byte, with all of an earlier one, so
    /// that a provider finds that in its cache. Marks for the cache don't count.
    pub fn extends(&self, earlier: &Asked) -> bool {
        let text = |asked: &Asked| {
            let mut body = asked.body.clone();
            unmark(&mut body);
            body.to_string()
        };
        let earlier = text(earlier);
        let open = earlier.strip_suffix("]}").unwrap_or(&earlier);
        text(self).starts_with(open)
    }
}

fn unmark(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            fields.values_mut().for_each(unmark);
        }
        Value::Array(values) => values.iter_mut().for_each(unmark),
        _ => {}
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stage {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Answers the requests of one connection.
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LOOK))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut writer = stream;
        while let Some((method, asked)) = self.request(&mut reader)? {
            let wire = match asked.path.split('?').next().unwrap_or_default() {
                path if path.ends_with("/chat/completions") => Wire::Chat,
                path if path.ends_with("/responses") => Wire::Responses,
                path if path.ends_with("/messages") => Wire::Anthropic,
                path => {
                    let is_known = method != "POST" && (path == "/" || path.ends_with("/models"));
                    let status = if is_known { 200 } else { 404 };
                    let body = if method == "HEAD" { "" } else { r#"{"data":[]}"# };
                    respond(&mut writer, status, "", "application/json", body.as_bytes())?;
                    continue;
                }
            };
            let number = {
                let mut all = lock(&self.asked);
                all.push(asked.clone());
                all.len()
            };
            let play = lock(&self.script).pop().unwrap_or_else(|| {
                Play::status(500, r#"{"error":{"message":"the script is over"}}"#)
            });
            if !self.play(&play, wire, number, &asked, &mut writer)? {
                break;
            }
        }
        Ok(())
    }

    /// Reads a request; `None` at the connection's end.
    fn request(&self, reader: &mut BufReader<TcpStream>) -> io::Result<Option<(String, Asked)>> {
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            self.patiently(|| reader.read_until(b'\n', &mut line))?;
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            match line.as_str() {
                "" if lines.is_empty() => return Ok(None),
                "" => break,
                _ => lines.push(line),
            }
        }
        let mut words = lines[0].split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let headers: Vec<(String, String)> = lines[1..]
            .iter()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut asked = Asked { path, headers, body: Value::Null };
        let length = asked.header("content-length").and_then(|text| text.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        let mut filled = 0;
        while filled < body.len() {
            match self.patiently(|| reader.read(&mut body[filled..]))? {
                0 => return Ok(None),
                count => filled += count,
            }
        }
        asked.body = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Some((method, asked)))
    }

    /// Reads on, until the server ends.
    fn patiently<T>(&self, mut read: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        loop {
            match read() {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock && !self.is_over() => {}
                other => return other,
            }
        }
    }

    /// Answers a request; false when the connection is to be closed.
    fn play(
        &self,
        play: &Play,
        wire: Wire,
        number: usize,
        asked: &Asked,
        out: &mut TcpStream,
    ) -> io::Result<bool> {
        let streamed = asked.body["stream"] == true && !play.whole;
        let kind = if streamed { "text/event-stream" } else { "application/json" };
        let mut body = if streamed {
            let name = |name: &str| {
                if wire == Wire::Chat { String::new() } else { format!("event: {name}\n") }
            };
            let events = render::events(wire, play, number, &asked.body);
            events.iter().map(|(n, data)| format!("{}data: {data}\n\n", name(n))).collect()
        } else {
            render::whole(wire, play, number, &asked.body).to_string()
        };
        match &play.fault {
            None => {}
            Some(Fault::Status { status, headers, body }) => {
                let headers: String =
                    headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                respond(out, *status, &headers, "application/json", body.as_bytes())?;
                return Ok(true);
            }
            Some(Fault::Raw { kind, body }) => {
                respond(out, 200, "", kind, body.as_bytes())?;
                return Ok(true);
            }
            Some(Fault::Bytes(bytes)) => {
                out.write_all(bytes)?;
                return Ok(false);
            }
            Some(Fault::Cut { after, clean }) => {
                body.truncate(
                    (0..=*after).rev().find(|at| body.is_char_boundary(*at)).unwrap_or(0),
                );
                self.chunks(out, kind, body.as_bytes(), play)?;
                if *clean {
                    out.write_all(b"0\r\n\r\n")?;
                }
                return Ok(*clean);
            }
            Some(Fault::Silent) => {
                self.rest(Duration::MAX);
                return Ok(false);
            }
            Some(Fault::Endless(piece)) => {
                head(out, 200, "", kind, "transfer-encoding: chunked")?;
                while !self.is_over() {
                    chunk(out, piece.as_bytes())?;
                    self.rest(play.pause);
                }
                return Ok(false);
            }
        }
        self.chunks(out, kind, body.as_bytes(), play)?;
        out.write_all(b"0\r\n\r\n")?;
        Ok(true)
    }

    /// A body in the pieces that the script wants.
    fn chunks(&self, out: &mut TcpStream, kind: &str, body: &[u8], play: &Play) -> io::Result<()> {
        head(out, 200, "", kind, "transfer-encoding: chunked")?;
        let size = if play.piece == 0 { body.len().max(1) } else { play.piece };
        for piece in body.chunks(size) {
            chunk(out, piece)?;
            self.rest(play.pause);
        }
        Ok(())
    }

    /// Waits, unless the server ends.
    fn rest(&self, mut pause: Duration) {
        while !pause.is_zero() && !self.is_over() {
            let step = pause.min(LOOK);
            std::thread::sleep(step);
            pause -= step;
        }
    }
}

fn head(
    out: &mut TcpStream,
    status: u16,
    headers: &str,
    kind: &str,
    length: &str,
) -> io::Result<()> {
    write!(out, "HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\n{headers}{length}\r\n\r\n")
}

fn respond(
    out: &mut TcpStream,
    status: u16,
    headers: &str,
    kind: &str,
    body: &[u8],
) -> io::Result<()> {
    head(out, status, headers, kind, &format!("content-length: {}", body.len()))?;
    out.write_all(body)
}

fn chunk(out: &mut TcpStream, piece: &[u8]) -> io::Result<()> {
    write!(out, "{:x}\r\n", piece.len())?;
    out.write_all(piece)?;
    out.write_all(b"\r\n")?;
    out.flush()
}

/// The error body of a wire, for [`Play::status`].
pub fn error_body(kind: &str, message: &str) -> String {
    json!({"type": "error", "error": {"type": kind, "code": kind, "message": message}}).to_string()
}
