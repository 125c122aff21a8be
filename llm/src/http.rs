//! One HTTP exchange on a thread of its own, so that whoever waits for it can
//! look away, give up, and end it.

use std::io::Read as _;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use ureq::http::{HeaderMap, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Proxy, Timeout};

use crate::failure::Failure;
use crate::{ErrorKind, Timeouts};

/// Pieces that may wait to be read.
const BACKLOG: usize = 16;

/// A connection to one server, kept from request to request.
pub(crate) struct Connection {
    agent: Agent,
    proxied: bool,
    connect: Duration,
    total: Duration,
}

pub(crate) enum Piece {
    Head { status: u16, headers: HeaderMap },
    Bytes(Vec<u8>),
    End,
}

pub(crate) type Pieces = Receiver<Result<Piece, Failure>>;

impl Connection {
    pub fn new(url: &str, timeouts: Timeouts) -> Self {
        let uri = url.parse::<Uri>().ok();
        let proxied = !uri.is_some_and(|uri| is_loopback(&uri));
        let Timeouts { connect, total, .. } = timeouts;
        Connection { agent: agent(proxied, connect, total), proxied, connect, total }
    }

    /// Sends a request; what comes back is read piece by piece.
    pub fn post(
        &self,
        url: String,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    ) -> std::io::Result<Pieces> {
        let (sender, pieces) = sync_channel(BACKLOG);
        let agent = self.agent.clone();
        std::thread::Builder::new().name("model request".to_owned()).spawn(move || {
            if let Err(error) = exchange(&agent, &url, headers, &body, &sender) {
                // Nobody listens any more: it was given up.
                let _ = sender.send(Err(failure(error)));
            }
        })?;
        Ok(pieces)
    }

    /// Ends what is under way, at once, and begins anew.
    pub fn reset(&mut self) {
        let fresh = agent(self.proxied, self.connect, self.total);
        std::mem::replace(&mut self.agent, fresh).shutdown();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.agent.clone().shutdown();
    }
}

fn agent(proxied: bool, connect: Duration, total: Duration) -> Agent {
    let roots = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    Agent::config_builder()
        .tls_config(roots)
        .proxy(if proxied { Proxy::try_from_env() } else { None })
        .http_status_as_error(false)
        // A redirect could carry the key to anywhere.
        .max_redirects(0)
        .timeout_resolve(Some(connect))
        .timeout_connect(Some(connect))
        .timeout_global(Some(total))
        .user_agent(concat!("ruaflow/", env!("CARGO_PKG_VERSION")))
        .build()
        .into()
}

/// Whether an address stays on this machine.
pub(crate) fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || ip.is_ok_and(|ip| ip.is_loopback())
}

/// Ends early when nobody listens.
fn exchange(
    agent: &Agent,
    url: &str,
    headers: Vec<(&'static str, String)>,
    body: &[u8],
    sender: &SyncSender<Result<Piece, Failure>>,
) -> Result<(), ureq::Error> {
    let request = agent.post(url);
    let request =
        headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
    let (head, body) = request.send(body)?.into_parts();
    let head = Piece::Head { status: head.status.as_u16(), headers: head.headers };
    if sender.send(Ok(head)).is_err() {
        return Ok(());
    }
    let mut reader = body.into_reader();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let piece = match reader.read(&mut buffer)? {
            0 => Piece::End,
            count => Piece::Bytes(buffer[..count].to_vec()),
        };
        let ended = matches!(piece, Piece::End);
        if sender.send(Ok(piece)).is_err() || ended {
            return Ok(());
        }
    }
}

fn failure(error: ureq::Error) -> Failure {
    use ureq::Error as E;
    let kind = match &error {
        E::Timeout(Timeout::Resolve | Timeout::Connect) => ErrorKind::Unreachable,
        E::Timeout(_) => ErrorKind::Timeout,
        E::BadUri(_) | E::Http(_) | E::InvalidProxyUrl | E::RequireHttpsOnly(_) => {
            ErrorKind::BadRequest
        }
        E::Protocol(_) | E::LargeResponseHeader(..) => ErrorKind::Malformed,
        _ => ErrorKind::Unreachable,
    };
    Failure::new(kind, error.to_string())
}
