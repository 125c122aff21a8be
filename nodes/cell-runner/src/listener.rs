//! Hears a child, on a thread of its own, until the process is gone.

use std::io::{self, BufReader, Read as _};
use std::os::unix::net::UnixStream;
use std::process::ChildStderr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use crate::child::{ChildEvent, MAX_OUTPUT, Output, Shared};
use crate::conduct::Record;
use crate::exit::Exit;
use crate::protocol::{FROM_CHILD, FromChild, Stream, read_message};
use crate::text::Capture;

/// Bytes kept of what the process itself said before it died.
const MAX_LAST_WORDS: usize = 4_096;

/// How long the words of a dead process may take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);

pub(crate) struct Listener {
    shared: Arc<Shared>,
    memory_bytes: u64,
    record: Record,
    stdout: Capture,
    stderr: Capture,
}

impl Listener {
    pub(crate) fn new(shared: Arc<Shared>, memory_bytes: u64) -> Self {
        Self {
            shared,
            memory_bytes,
            record: Record::default(),
            stdout: Capture::new(MAX_OUTPUT),
            stderr: Capture::new(MAX_OUTPUT),
        }
    }

    pub(crate) fn listen(
        mut self,
        from_child: UnixStream,
        last_words: ChildStderr,
        sink: impl Fn(ChildEvent),
    ) {
        let (words, last) = crossbeam_channel::bounded(1);
        let collector = thread::Builder::new().name("cell-stderr".to_owned()).spawn(move || {
            // False only when nobody waits any more.
            let _ = words.send(collect(last_words));
        });
        if let Err(error) = collector {
            tracing::warn!(%error, "a cell's last words will not be heard");
        }
        let misbehaved = self.hear(from_child, &sink);
        let killed = self.shared.killed.load(Ordering::Relaxed);
        if misbehaved.is_some() {
            // Nothing it does counts any more.
            self.shared.kill();
        }
        let status = self.shared.wait();
        let words = last.recv_timeout(LAST_WORDS).unwrap_or_default();
        let exit = match misbehaved {
            _ if killed => Exit::Killed,
            Some(what) => Exit::Misbehaved { what },
            None => Exit::of(status, words.trim(), self.memory_bytes),
        };
        let output = self.output();
        sink(ChildEvent::Exited { exit, output });
    }

    /// Until the socket closes, or until it does something no child of ours
    /// would: that is returned.
    fn hear(&mut self, from_child: UnixStream, sink: &impl Fn(ChildEvent)) -> Option<String> {
        let mut from_child = BufReader::with_capacity(1 << 16, from_child);
        loop {
            match read_message::<FromChild>(&mut from_child, FROM_CHILD) {
                Ok(Some((message, bytes))) => {
                    let checked = self.record.check(&self.shared.conduct, &message, &bytes);
                    if let Err(what) = checked {
                        return Some(what.to_owned());
                    }
                    if let Some(event) = self.take(message, bytes) {
                        sink(event);
                    }
                }
                Ok(None) => return None,
                // It died with something of ours unread, or in the middle of a message.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof
                    ) =>
                {
                    return None;
                }
                Err(error) => return Some(format!("sent something else than a message: {error}")),
            }
        }
    }

    fn take(&mut self, message: FromChild, bytes: Vec<u8>) -> Option<ChildEvent> {
        Some(match message {
            FromChild::Ready { layers } => ChildEvent::Ready { layers },
            FromChild::Call { id, method, arguments } => ChildEvent::Call { id, method, arguments },
            FromChild::Attribute { id, name } => ChildEvent::Attribute { id, name },
            FromChild::Display { id, picture } => ChildEvent::Display { id, picture, bytes },
            FromChild::File { id, request } => ChildEvent::File { id, request, bytes },
            FromChild::Done(done) => ChildEvent::Done { done, output: self.output() },
            FromChild::Output { stream, text, skipped } => {
                let capture = match stream {
                    Stream::Stdout => &mut self.stdout,
                    Stream::Stderr => &mut self.stderr,
                };
                capture.skip(skipped);
                capture.push(&text);
                return None;
            }
        })
    }

    fn output(&mut self) -> Output {
        let stdout = std::mem::replace(&mut self.stdout, Capture::new(MAX_OUTPUT));
        let stderr = std::mem::replace(&mut self.stderr, Capture::new(MAX_OUTPUT));
        Output { stdout: stdout.text(), stderr: stderr.text() }
    }
}

/// The end of what the process wrote to standard error.
fn collect(mut stderr: ChildStderr) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(count) = stderr.read(&mut buffer) {
        if count == 0 {
            break;
        }
        kept.extend_from_slice(&buffer[..count]);
        if kept.len() > MAX_LAST_WORDS {
            kept.drain(..kept.len() - MAX_LAST_WORDS);
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}
