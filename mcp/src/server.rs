//! The MCP server.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::service::{Desk, Visit};
use crate::{Error, Handler, Loopback, Token, Tool};

/// A call is a page of code at most.
const MAX_REQUEST: usize = 1 << 20;
/// Sessions whose client vanished without a word are forgotten after this silence.
/// An agent may think for long, and a call in progress makes no sound either.
const FORGET_AFTER: Duration = Duration::from_secs(6 * 3600);

/// How a server is offered.
#[derive(Clone, Debug)]
pub struct Options {
    /// 0 for any that is free.
    pub port: u16,
    pub token: Token,
    /// What clients may tell their model about these tools.
    pub instructions: String,
    /// A holder that has not called for this long loses the robot to who asks for it;
    /// one that keeps no session after a tenth of it.
    pub lease: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            port: 0,
            token: Token::random(),
            instructions: String::new(),
            lease: Duration::from_secs(600),
        }
    }
}

/// Tools offered over MCP until this is dropped.
#[derive(Debug)]
pub struct Server {
    loopback: Loopback,
}

impl Server {
    /// Offers the tools at [`url`](Self::url).
    ///
    /// # Errors
    /// When a tool can't be described to clients, or the port can't be had.
    pub fn start(
        options: Options,
        tools: &[Tool],
        handler: Arc<dyn Handler>,
    ) -> Result<Self, Error> {
        let desk = Arc::new(Desk::new(tools, handler, options.instructions, options.lease)?);
        let stop = CancellationToken::new();
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(FORGET_AFTER);
        // The gate has looked at Host and Origin already.
        let config = StreamableHttpServerConfig::default()
            .with_max_request_body_bytes(MAX_REQUEST)
            .with_cancellation_token(stop.clone());
        let visit = move || Visit::begin(desk.clone());
        let service = StreamableHttpService::new(visit, Arc::new(sessions), config);
        let router =
            Router::new().route_service("/mcp", service.clone()).route_service("/mcp/", service);
        let loopback = Loopback::serve_until(options.port, options.token, router, stop)?;
        Ok(Server { loopback })
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.loopback.port())
    }

    #[must_use]
    pub fn token(&self) -> &Token {
        self.loopback.token()
    }

    /// Waits until every client has its answers, but not longer.
    pub fn settle(&self, within: Duration) {
        self.loopback.settle(within);
    }
}
