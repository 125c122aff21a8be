//! Asking a model, as often as it takes.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::failure::Failure;
use crate::http::{Connection, Piece, Pieces};
use crate::in_text::Plain;
use crate::quirks::Quirks;
use crate::secret::scrub_reply;
use crate::sse::Parser;
use crate::wire::{Decoder, Draft, Prompt, mask_pictures};
use crate::{
    Attempt, Endpoint, Error, ErrorKind, Part, Reply, Request, Stop, Timeouts, Timing, ToolMode,
    Usage, Watch, calls, describe, hint, image_tokens,
};

/// The longest reply that is read, and the longest error.
const LONGEST_REPLY: usize = 64 << 20;
const LONGEST_ERROR: usize = 64 << 10;

/// How often [`Watch::stopped`] is asked.
const LOOK: Duration = Duration::from_millis(50);

const LONGEST_BACKOFF: Duration = Duration::from_secs(60);

/// Talks to one model. It keeps its connection, and what it learned about the server.
pub struct Client {
    endpoint: Endpoint,
    connection: Connection,
    quirks: Quirks,
    /// The server has answered at least once.
    reached: bool,
}

impl Client {
    pub fn new(endpoint: Endpoint) -> Self {
        let connection = Connection::new(&endpoint.base_url, endpoint.timeouts);
        Client { endpoint, connection, quirks: Quirks::default(), reached: false }
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Asks for the next reply, and waits for it. Nothing of a failed attempt is kept.
    ///
    /// # Errors
    /// When the request failed for good: see [`ErrorKind`].
    pub fn complete(&mut self, request: &Request, watch: &mut dyn Watch) -> Result<Reply, Error> {
        let begun = Instant::now();
        let deadline = begun + self.endpoint.timeouts.total;
        let mut attempts = Vec::new();
        let mut retries = 0;
        loop {
            let started = Instant::now();
            let failure = match self.attempt(request, watch, deadline) {
                Ok(heard) => {
                    if heard.open {
                        self.connection.reset();
                    }
                    let took = started.elapsed();
                    let status = Some(heard.status);
                    attempts.push(Attempt { status, took, ..Attempt::default() });
                    let waited = started - begun;
                    let first_token = heard.first_token.unwrap_or(took);
                    let timing = Timing { first_token, answering: took, waited };
                    return Ok(self.reply(request, heard.draft, timing, attempts));
                }
                Err(failure) => failure,
            };
            self.connection.reset();
            attempts.push(Attempt {
                status: failure.status,
                error: describe::one_line(&failure.text, self.endpoint.key.as_ref()),
                took: started.elapsed(),
                paused: Duration::ZERO,
            });
            if self.quirks.learn(&failure) {
                continue;
            }
            match self.pause(&failure, retries, deadline) {
                Some(pause) => {
                    retries += 1;
                    let last = attempts.len() - 1;
                    let why = &attempts[last].error;
                    tracing::warn!(why, ?pause, "the model's server failed, asking again");
                    watch.retry(why, pause);
                    attempts[last].paused = pause;
                    if wait(pause, watch) {
                        continue;
                    }
                    let stopped = Failure::new(ErrorKind::Stopped, "stopped");
                    return Err(describe::error(&self.endpoint, &stopped, attempts));
                }
                None => return Err(describe::error(&self.endpoint, &failure, attempts)),
            }
        }
    }

    /// How long to wait before the next attempt; `None` to give up.
    fn pause(&self, failure: &Failure, retries: u32, deadline: Instant) -> Option<Duration> {
        let policy = self.endpoint.retries;
        // An address that never answered is more likely wrong than tired, and a
        // server that talks nonsense rarely comes to its senses.
        let doubtful = failure.kind == ErrorKind::Malformed
            || failure.kind == ErrorKind::Unreachable && !self.reached;
        let most = if doubtful { policy.max.min(2) } else { policy.max };
        if !failure.kind.passes() || retries >= most {
            return None;
        }
        let backoff = policy.backoff.saturating_mul(1 << retries.min(16)).min(LONGEST_BACKOFF);
        // Many robots that were refused together must not come back together.
        let pause = match failure.hint {
            Some(hint) => hint + policy.backoff.mul_f64(random() / 4.0),
            None => backoff.mul_f64(0.75 + random() / 2.0),
        };
        (pause <= policy.longest_pause && Instant::now() + pause < deadline).then_some(pause)
    }

    fn attempt(
        &mut self,
        request: &Request,
        watch: &mut dyn Watch,
        deadline: Instant,
    ) -> Result<Heard, Failure> {
        let body = self.body(request).to_string().into_bytes();
        let endpoint = &self.endpoint;
        let pieces = self
            .connection
            .post(endpoint.url(), endpoint.headers(), body)
            .map_err(|e| Failure::new(ErrorKind::Unreachable, e.to_string()))?;
        let line = Line::new(pieces, watch, endpoint.timeouts, deadline);
        let heard = line.listen(Decoder::new(endpoint.wire));
        self.reached |= match &heard {
            Ok(_) => true,
            Err(failure) => failure.status.is_some(),
        };
        heard
    }

    /// The body of a request, as this server wants it.
    fn body(&self, request: &Request) -> Value {
        let endpoint = &self.endpoint;
        let plain = match endpoint.tool_mode {
            ToolMode::Native => None,
            mode => Some(Plain::new(request, mode)),
        };
        let prompt = match &plain {
            None => Prompt {
                endpoint,
                system: request.system,
                messages: request.messages,
                tools: request.tools,
                schema: None,
                cache: request.cache,
            },
            Some(plain) => Prompt {
                endpoint,
                system: &plain.system,
                messages: &plain.messages,
                tools: &[],
                schema: plain.schema.as_ref(),
                cache: request.cache,
            },
        };
        let mut body = prompt.body();
        self.quirks.heed(&mut body);
        body
    }

    fn reply(
        &self,
        request: &Request,
        mut draft: Draft,
        timing: Timing,
        attempts: Vec<Attempt>,
    ) -> Reply {
        let mut sent = self.body(request);
        mask_pictures(&mut sent);
        let usage = draft.usage.unwrap_or_else(|| self.estimate(request, &sent, &draft));
        find_calls(request, &mut draft);
        name_calls(request, &mut draft.parts);
        if let Some(key) = &self.endpoint.key {
            scrub_reply(key, &mut draft.parts, &mut draft.received);
        }
        let Draft { parts, stop, received, .. } = draft;
        Reply { parts, stop, usage, timing, attempts, sent, received }
    }

    /// Four bytes a token, as a rule of thumb, and the pictures by their size.
    fn estimate(&self, request: &Request, sent: &Value, draft: &Draft) -> Usage {
        let tokens = |bytes: usize| bytes.div_ceil(4) as u64;
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        let pictures = parts.flat_map(|part| match part {
            Part::Answer(answer) => &answer.parts[..],
            part => std::slice::from_ref(part),
        });
        let pictures = pictures.filter_map(|part| match part {
            Part::Image(image) => {
                Some(image_tokens(&self.endpoint.model, image.width, image.height))
            }
            _ => None,
        });
        let said = draft.parts.iter().map(|part| match part {
            Part::Text(text) => text.len(),
            Part::Call(call) => call.name.len() + call.arguments.len(),
            _ => 0,
        });
        let reasoning = tokens(draft.received.thought_bytes as usize);
        Usage {
            input: tokens(sent.to_string().len()) + pictures.sum::<u64>(),
            output: tokens(said.sum()) + reasoning,
            reasoning,
            estimated: true,
            ..Usage::default()
        }
    }
}

/// Waits, and says whether to go on.
fn wait(pause: Duration, watch: &mut dyn Watch) -> bool {
    let end = Instant::now() + pause;
    loop {
        if watch.stopped() {
            return false;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LOOK));
    }
}

/// From 0 to 1; good enough to spread retries.
fn random() -> f64 {
    let bits = RandomState::new().build_hasher().finish();
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Understands calls that the model wrote into its text.
fn find_calls(request: &Request, draft: &mut Draft) {
    let called = draft.parts.iter().any(|part| matches!(part, Part::Call(_)));
    if called || request.tools.is_empty() {
        return;
    }
    let texts = draft.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    if let Some(parts) = calls::split(&text, request.tools) {
        draft.parts.retain(|part| matches!(part, Part::Opaque(_)));
        draft.parts.extend(parts);
        draft.received.calls_in_text = true;
        if draft.stop == Stop::Done {
            draft.stop = Stop::Calls;
        }
    }
}

/// Gives an id of our own to each call that has none, or one that was used before.
fn name_calls(request: &Request, parts: &mut [Part]) {
    let before = request.messages.iter().flat_map(|message| &message.parts);
    let mut ids: Vec<String> = before
        .filter_map(|part| match part {
            Part::Call(call) => Some(call.id.clone()),
            _ => None,
        })
        .collect();
    for part in parts {
        if let Part::Call(call) = part {
            let mut number = ids.len();
            while call.id.is_empty() || ids.contains(&call.id) {
                number += 1;
                call.id = format!("call_{number}");
            }
            ids.push(call.id.clone());
        }
    }
}

/// A whole response.
struct Heard {
    draft: Draft,
    status: u16,
    first_token: Option<Duration>,
    /// The server has not hung up, though it had said everything.
    open: bool,
}

/// A response on its way, with all its limits.
struct Line<'a> {
    pieces: Pieces,
    watch: &'a mut dyn Watch,
    timeouts: Timeouts,
    deadline: Instant,
    started: Instant,
    /// When the last piece came.
    last: Instant,
    first_token: Option<Duration>,
    bytes: usize,
    open: bool,
}

impl<'a> Line<'a> {
    fn new(
        pieces: Pieces,
        watch: &'a mut dyn Watch,
        timeouts: Timeouts,
        deadline: Instant,
    ) -> Self {
        let started = Instant::now();
        let (last, first_token) = (started, None);
        Line {
            pieces,
            watch,
            timeouts,
            deadline,
            started,
            last,
            first_token,
            bytes: 0,
            open: false,
        }
    }

    fn listen(mut self, decoder: Decoder) -> Result<Heard, Failure> {
        let Piece::Head { status, headers } = self.next()? else {
            return Err(Failure::malformed("a response without a head"));
        };
        let header =
            |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        if !(200..300).contains(&status) {
            return Err(self.refusal(status, header));
        }
        if let Some(coding) = header("content-encoding").filter(|coding| coding != "identity") {
            let text = format!("the reply is compressed ({coding}), though that was not asked for");
            return Err(Failure::malformed(text));
        }
        let kind = header("content-type").unwrap_or_default();
        let draft = if kind.starts_with("text/event-stream") {
            self.stream(decoder)
        } else {
            self.whole(decoder)
        };
        // An error in mid-stream came with a status all the same.
        let draft = draft
            .map_err(|failure| Failure { status: failure.status.or(Some(status)), ..failure })?;
        Ok(Heard { draft, status, first_token: self.first_token, open: self.open })
    }

    fn stream(&mut self, mut decoder: Decoder) -> Result<Draft, Failure> {
        let mut draft = Draft::default();
        let mut parser = Parser::default();
        while let Piece::Bytes(bytes) = self.next()? {
            let events = parser.push(&bytes);
            for event in events.map_err(|_| Failure::malformed("an event without an end"))? {
                if !draft.ended {
                    decoder.event(&event, &mut draft)?;
                }
            }
            self.show(&mut draft);
            if draft.ended {
                self.open = !self.is_hung_up();
                break;
            }
        }
        decoder.finish(&mut draft)?;
        Ok(draft)
    }

    /// A response in one piece, from a server that doesn't stream. Or a stream
    /// that doesn't say so.
    fn whole(&mut self, mut decoder: Decoder) -> Result<Draft, Failure> {
        let mut draft = Draft::default();
        let body = self.rest(LONGEST_REPLY)?;
        match serde_json::from_slice::<Value>(&body) {
            Ok(body) => decoder.whole(&body, &mut draft)?,
            Err(error) => {
                let events = Parser::default().push(&body).unwrap_or_default();
                if events.is_empty() {
                    let text = format!("the reply is neither JSON nor a stream ({error})");
                    return Err(Failure::malformed(text));
                }
                for event in &events {
                    decoder.event(event, &mut draft)?;
                }
            }
        }
        self.show(&mut draft);
        decoder.finish(&mut draft)?;
        Ok(draft)
    }

    fn show(&mut self, draft: &mut Draft) {
        if draft.began {
            self.first_token.get_or_insert(self.started.elapsed());
        }
        if !draft.fresh.is_empty() {
            self.watch.text(&std::mem::take(&mut draft.fresh));
        }
    }

    /// What a response that is no success means.
    fn refusal(&mut self, status: u16, header: impl Fn(&str) -> Option<String>) -> Failure {
        if (300..400).contains(&status) {
            let to = header("location").unwrap_or_default();
            let to = to.split(['?', '#']).next().unwrap_or_default();
            let text = format!("it sends elsewhere, to {to:?}, where the key would go too");
            return Failure { status: Some(status), ..Failure::new(ErrorKind::BadRequest, text) };
        }
        // A body that breaks off, or never ends, says nothing; the status still does.
        let body = match self.rest(LONGEST_ERROR) {
            Ok(body) => body,
            Err(failure) if failure.kind == ErrorKind::Stopped => return failure,
            Err(_) => Vec::new(),
        };
        let failure = Failure::from_response(status, &body);
        let hint = hint::pause(header, &failure.text, SystemTime::now());
        Failure { hint, ..failure }
    }

    /// Everything up to the end, which must come before `most` bytes.
    fn rest(&mut self, most: usize) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Piece::Bytes(bytes) = self.next()? {
            body.extend(bytes);
            if body.len() > most {
                return Err(too_long());
            }
        }
        Ok(body)
    }

    fn next(&mut self) -> Result<Piece, Failure> {
        let Timeouts { first_token, idle, total, .. } = self.timeouts;
        let (soft, what, limit) = match self.first_token {
            None => (self.started + first_token, "no reply began within", first_token),
            Some(_) => (self.last + idle, "the reply stood still for", idle),
        };
        let late = |what: &str, limit| {
            let text = format!("{what} {}", humantime::format_duration(limit));
            Failure::new(ErrorKind::Timeout, text)
        };
        loop {
            if self.watch.stopped() {
                return Err(Failure::new(ErrorKind::Stopped, "stopped"));
            }
            let now = Instant::now();
            if now >= self.deadline {
                return Err(late("no whole reply within", total));
            }
            if now >= soft {
                return Err(late(what, limit));
            }
            match self.pieces.recv_timeout(LOOK.min(soft.min(self.deadline) - now)) {
                Ok(piece) => return self.took(piece?),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(Failure::new(ErrorKind::Unreachable, "the connection was lost"));
                }
            }
        }
    }

    fn took(&mut self, piece: Piece) -> Result<Piece, Failure> {
        self.last = Instant::now();
        if let Piece::Bytes(bytes) = &piece {
            self.bytes += bytes.len();
            if self.bytes > LONGEST_REPLY {
                return Err(too_long());
            }
        }
        Ok(piece)
    }

    /// Leaves a moment for the connection's proper end, so that it can be used again.
    fn is_hung_up(&self) -> bool {
        let end = Instant::now() + LOOK;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            match self.pieces.recv_timeout(left) {
                Ok(Ok(Piece::Bytes(_))) => {}
                Ok(Ok(Piece::End)) => return true,
                _ => break,
            }
        }
        false
    }
}

fn too_long() -> Failure {
    Failure::malformed("the reply is longer than any reply should be")
}
