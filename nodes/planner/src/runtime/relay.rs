//! Between an agent's command line and its model.
//!
//! The command line sends its requests here, to loopback. Each is read, asked by our
//! own client, and answered in the command line's own wire format. So an agent works
//! behind any endpoint that we do, its key never leaves this process, and every
//! request is billed and recorded like those of our own planners.

mod messages;
mod responses;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ruaflow_llm::{Client, Error, ErrorKind, Message, Part, Reply, Role, Tool, Watch};
use ruaflow_mcp::{Loopback, Token};
use serde_json::Value;

use super::gallery::{Gallery, received};

/// A conversation with all its pictures.
const MAX_REQUEST: usize = 256 << 20;
/// Marks what another model's provider wants back unread.
const CARRIED: &str = "ruaflow:";

/// The wire format of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Responses,
    Messages,
}

/// What a command line asked its model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Asked {
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<Tool>,
}

/// A request and what became of it.
pub(super) struct Exchange {
    pub asked: Asked,
    pub outcome: Result<Reply, Error>,
}

/// Takes the requests of one command line until it is dropped.
pub(super) struct Relay {
    loopback: Loopback,
    exchanges: mpsc::Receiver<Exchange>,
    desk: Arc<Desk>,
}

struct Desk {
    dialect: Dialect,
    client: Mutex<Client>,
    gallery: Arc<Gallery>,
    exchanges: mpsc::Sender<Exchange>,
    running: AtomicUsize,
    requests: AtomicUsize,
    closed: AtomicBool,
}

impl Relay {
    pub fn start(
        dialect: Dialect,
        client: Client,
        gallery: Arc<Gallery>,
    ) -> Result<Self, ruaflow_mcp::Error> {
        let (sender, exchanges) = mpsc::channel();
        let desk = Arc::new(Desk {
            dialect,
            client: Mutex::new(client),
            gallery,
            exchanges: sender,
            running: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        });
        let path = match dialect {
            Dialect::Responses => "/v1/responses",
            Dialect::Messages => "/v1/messages",
        };
        let router = Router::new().route(path, post(forward)).with_state(desk.clone());
        let loopback = Loopback::serve(0, Token::random(), router)?;
        Ok(Relay { loopback, exchanges, desk })
    }

    /// Where the command line is to send its requests, without `/v1`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.loopback.port())
    }

    /// What it is to give for a key.
    pub fn token(&self) -> &Token {
        self.loopback.token()
    }

    /// Whether a model is being asked.
    pub fn is_busy(&self) -> bool {
        self.desk.running.load(Ordering::Relaxed) > 0
    }

    /// Requests that have come in.
    pub fn requests(&self) -> usize {
        self.desk.requests.load(Ordering::Relaxed)
    }

    /// The next exchange that has ended.
    pub fn next(&self) -> Option<Exchange> {
        self.exchanges.try_recv().ok()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.desk.closed.store(true, Ordering::Relaxed);
    }
}

async fn forward(State(desk): State<Arc<Desk>>, request: Request) -> Response {
    let Ok(body) = to_bytes(request.into_body(), MAX_REQUEST).await else {
        return desk.refusal(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long", false);
    };
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return desk.refusal(StatusCode::BAD_REQUEST, "the request is not JSON", false);
    };
    let working = desk.clone();
    let answered = tokio::task::spawn_blocking(move || working.answer(&body)).await;
    answered.unwrap_or_else(|error| {
        tracing::error!(%error, "a model request has failed");
        desk.refusal(StatusCode::INTERNAL_SERVER_ERROR, "the relay has failed", false)
    })
}

impl Desk {
    fn answer(&self, body: &Value) -> Response {
        self.running.fetch_add(1, Ordering::Relaxed);
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let mut asked = match self.dialect {
            Dialect::Responses => responses::read(body),
            Dialect::Messages => messages::read(body),
        };
        self.gallery.restore(&mut asked.messages);
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = client.complete(&asked.request(), &mut Listener(&self.closed));
        drop(client);
        let response = match &outcome {
            Ok(reply) => self.written(reply, body, number),
            Err(error) => {
                let too_long = error.kind == ErrorKind::ContextOverflow;
                self.refusal(StatusCode::BAD_REQUEST, &error.text, too_long)
            }
        };
        // Nobody is left to book it when the episode is over.
        let _ = self.exchanges.send(Exchange { asked, outcome });
        self.running.fetch_sub(1, Ordering::Relaxed);
        response
    }

    fn written(&self, reply: &Reply, body: &Value, number: usize) -> Response {
        let id = format!("r{number}");
        let model = body["model"].as_str().unwrap_or_default();
        let events = match self.dialect {
            Dialect::Responses => responses::write(reply, &id),
            Dialect::Messages if body["stream"] != true => {
                return json_response(StatusCode::OK, &messages::write_whole(reply, &id, model));
            }
            Dialect::Messages => messages::write(reply, &id, model),
        };
        ([(CONTENT_TYPE, "text/event-stream")], stream(&events)).into_response()
    }

    fn refusal(&self, status: StatusCode, text: &str, too_long: bool) -> Response {
        let body = match self.dialect {
            Dialect::Responses => responses::error(text, too_long),
            Dialect::Messages => messages::error(text, too_long),
        };
        json_response(status, &body)
    }
}

fn json_response(status: StatusCode, body: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

fn stream(events: &[Value]) -> String {
    let lines = events.iter().map(|event| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    });
    lines.collect()
}

/// Gives up when the relay closes.
struct Listener<'a>(&'a AtomicBool);

impl Watch for Listener<'_> {
    fn stopped(&mut self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Asked {
    /// For our own client.
    pub fn request(&self) -> ruaflow_llm::Request<'_> {
        let Asked { system, messages, tools } = self;
        ruaflow_llm::Request { system, messages, tools, cache: true }
    }

    /// Adds parts to the last message of this role, or to a new one.
    fn add(&mut self, role: Role, parts: impl IntoIterator<Item = Part>) {
        for part in parts {
            match self.messages.last_mut() {
                Some(last) if last.role == role => last.parts.push(part),
                _ => self.messages.push(Message { role, parts: vec![part] }),
            }
        }
    }

    fn add_system(&mut self, text: &str) {
        if !self.system.is_empty() {
            self.system.push_str("\n\n");
        }
        self.system.push_str(text);
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A picture as it stands in a request.
fn picture(base64: &str) -> Part {
    received(STANDARD.decode(base64).ok())
}

/// What a provider wants back, packed so that the command line keeps it unread.
fn carrier(kept: &Value) -> String {
    format!("{CARRIED}{}", STANDARD.encode(kept.to_string()))
}

fn carried(packed: &str) -> Option<Value> {
    let bytes = STANDARD.decode(packed.strip_prefix(CARRIED)?).ok()?;
    serde_json::from_slice(&bytes).ok()
}
