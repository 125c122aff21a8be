//! Sessions of clients, and the one desk that all of them come to.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::Mutex as Turn;
use tokio_util::sync::CancellationToken;

use crate::gate::Gone;
use crate::lease::{Key, Lease};
use crate::{Answer, Call, Effect, Error, Handler, Tool};

/// Sessions at a time, those of vanished clients included.
const MAX_VISITS: usize = 64;
const MAX_NAME: usize = 60;
/// Where clients put the model's own id of a call: Codex and Claude Code.
const CALL_IDS: [&str; 2] = ["callId", "claudecode/toolUseId"];
const SESSION: &str = "mcp-session-id";

/// What all clients share.
pub(crate) struct Desk {
    tools: Vec<(rmcp::model::Tool, Effect)>,
    handler: Arc<dyn Handler>,
    instructions: String,
    lease: Mutex<Lease>,
    turn: Arc<Turn<()>>,
    visits: AtomicUsize,
    next: AtomicU64,
}

impl Desk {
    pub fn new(
        tools: &[Tool],
        handler: Arc<dyn Handler>,
        instructions: String,
        idle: Duration,
    ) -> Result<Self, Error> {
        let mut listed: Vec<(rmcp::model::Tool, Effect)> = Vec::new();
        for tool in tools {
            if listed.iter().any(|(other, _)| other.name == tool.name) {
                let reason = "there are two of this name";
                return Err(Error::Tool { name: tool.name.clone(), reason });
            }
            listed.push((tool.listed()?, tool.effect));
        }
        Ok(Desk {
            tools: listed,
            handler,
            instructions,
            lease: Mutex::new(Lease::new(idle)),
            turn: Arc::default(),
            visits: AtomicUsize::new(0),
            next: AtomicU64::new(0),
        })
    }

    fn effect(&self, name: &str) -> Result<Effect, ErrorData> {
        let found = self.tools.iter().find(|(tool, _)| tool.name == name);
        found.map(|(_, effect)| *effect).ok_or_else(|| {
            let known: Vec<&str> = self.tools.iter().map(|(tool, _)| tool.name.as_ref()).collect();
            let text = format!("there is no tool {name:?}; there are {}", known.join(", "));
            ErrorData::invalid_params(text, None)
        })
    }

    fn lease(&self) -> MutexGuard<'_, Lease> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes a call when it is its turn. It goes on when `unwanted` is cancelled
    /// only until the handler has ended it.
    async fn execute(&self, call: Call, unwanted: &[CancellationToken]) -> Answer {
        let turn = tokio::select! {
            turn = self.turn.clone().lock_owned() => turn,
            () = any(unwanted) => return Answer::failed("cancelled before its turn came"),
        };
        let handler = self.handler.clone();
        let mut wanted = Wanted(Some(handler.clone()));
        let mut running = tokio::task::spawn_blocking(move || {
            let answer = handler.call(&call);
            drop(turn);
            answer
        });
        let ended = tokio::select! {
            ended = &mut running => ended,
            () = any(unwanted) => {
                self.handler.cancel();
                running.await
            }
        };
        wanted.0 = None;
        ended.unwrap_or_else(|error| {
            tracing::error!(%error, "a tool call has failed");
            Answer::failed("the call failed by a fault of the server; its log says more")
        })
    }
}

/// Tells the handler when a call is dropped in its middle.
struct Wanted(Option<Arc<dyn Handler>>);

impl Drop for Wanted {
    fn drop(&mut self) {
        if let Some(handler) = &self.0 {
            handler.cancel();
        }
    }
}

/// Holds the lease during one call.
struct Held<'a> {
    desk: &'a Desk,
    key: Key,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.desk.lease().done(&self.key, Instant::now());
    }
}

async fn any(tokens: &[CancellationToken]) {
    match tokens {
        [one] => one.cancelled().await,
        [one, other, ..] => tokio::select! {
            () = one.cancelled() => {}
            () = other.cancelled() => {}
        },
        [] => std::future::pending().await,
    }
}

/// One client's session; of a client that keeps none, one request.
pub(crate) struct Visit {
    desk: Arc<Desk>,
    number: u64,
}

impl Visit {
    pub fn begin(desk: Arc<Desk>) -> io::Result<Self> {
        if desk.visits.fetch_add(1, Ordering::Relaxed) >= MAX_VISITS {
            desk.visits.fetch_sub(1, Ordering::Relaxed);
            return Err(io::Error::other("too many clients are connected"));
        }
        let number = desk.next.fetch_add(1, Ordering::Relaxed);
        Ok(Visit { desk, number })
    }

    fn key(&self, context: &RequestContext<RoleServer>, client: &str) -> Key {
        let parts = context.extensions.get::<Parts>();
        match parts.is_some_and(|parts| parts.headers.contains_key(SESSION)) {
            true => Key::Session(self.number),
            false => Key::Named(client.to_owned()),
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.desk.visits.fetch_sub(1, Ordering::Relaxed);
        self.desk.lease().leave(&Key::Session(self.number));
    }
}

impl ServerHandler for Visit {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("ruaflow", env!("CARGO_PKG_VERSION")).with_title("RuaFlow");
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let config = ServerConfig::new(capabilities).with_server_info(about);
        match self.desk.instructions.as_str() {
            "" => config,
            text => config.with_instructions(text),
        }
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.desk.tools.iter().map(|(tool, _)| tool.clone()).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let effect = self.desk.effect(&request.name)?;
        let client = client(&context);
        let mut held = None;
        if effect != Effect::Reads {
            let key = self.key(&context, &client);
            if let Err(refusal) = self.desk.lease().take(&key, &client, Instant::now()) {
                return Ok(result(Answer::failed(refusal)).into());
            }
            held = Some(Held { desk: &self.desk, key });
        }
        let call = Call {
            tool: request.name.into_owned(),
            arguments: Value::Object(request.arguments.unwrap_or_default()),
            id: call_id(&context),
            client,
        };
        let gone = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get());
        let gone = gone.map(|Gone(token)| token.clone());
        let unwanted: Vec<CancellationToken> =
            [context.ct].into_iter().chain(gone.clone()).collect();
        let answer = self.desk.execute(call, &unwanted).await;
        if let Some(Held { key, .. }) = &held
            && gone.is_some_and(|gone| gone.is_cancelled())
        {
            // Who leaves in mid-call has not said so.
            self.desk.lease().leave(key);
        }
        drop(held);
        Ok(result(answer).into())
    }
}

/// What a client calls itself, fit for a log and for another client's model.
fn client(context: &RequestContext<RoleServer>) -> String {
    let Some(about) = context.client_info() else { return "an unnamed client".to_owned() };
    let told = format!("{} {}", about.name, about.version);
    let fit = |c: &char| c.is_ascii_graphic() || *c == ' ';
    let told: String = told.chars().filter(fit).take(MAX_NAME).collect();
    told.trim().to_owned()
}

fn call_id(context: &RequestContext<RoleServer>) -> String {
    let told = CALL_IDS.iter().find_map(|key| context.meta.get(*key)?.as_str());
    told.map_or_else(|| context.id.to_string(), str::to_owned)
}

fn result(answer: Answer) -> CallToolResult {
    let pictures = answer.pictures.iter();
    let pictures = pictures.map(|png| ContentBlock::image(STANDARD.encode(png), "image/png"));
    let content = [ContentBlock::text(answer.text)].into_iter().chain(pictures).collect();
    match answer.failed {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    }
}
