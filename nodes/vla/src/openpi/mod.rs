//! openpi's websocket protocol: one binary msgpack map each way.
//!
//! On connecting the server sends a map about itself; then each observation is
//! answered with a map that holds `actions`. A text message is the server's
//! traceback. Source: openpi, `packages/openpi-client` and
//! `src/openpi/serving/websocket_policy_server.py`.

mod msgpack;

use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use tungstenite::client::IntoClientRequest as _;
use tungstenite::http::HeaderValue;
use tungstenite::http::header::AUTHORIZATION;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, HandshakeError, Message, WebSocket};

pub use self::msgpack::{decode_actions, encode_observation};
use crate::policy::{Actions, Policy, PolicyError, Shown};
use crate::settings::Secret;

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// An answer is an action chunk; no server has a reason to send more.
const MAX_MESSAGE: usize = 16 << 20;
const DEFAULT_PORT: u16 = 8000;

/// The address is not one that can be spoken to.
#[derive(Debug, thiserror::Error)]
#[error("VLA_URL is {url:?}, expected ws://HOST:PORT: {reason}")]
pub struct UrlError {
    url: String,
    reason: String,
}

/// A policy behind a server.
pub struct OpenPi {
    url: String,
    host: String,
    port: u16,
    key: Option<HeaderValue>,
    timeout: Duration,
    connection: Option<WebSocket<TcpStream>>,
}

impl OpenPi {
    /// A policy at `url`; nothing is sent before it is asked for actions.
    ///
    /// # Errors
    /// When the URL is not a plain websocket's, or the key can't be sent.
    pub fn new(url: &str, key: Option<Secret>, timeout: Duration) -> Result<Self, UrlError> {
        let fail = |reason: &str| UrlError { url: url.to_owned(), reason: reason.to_owned() };
        let uri: tungstenite::http::Uri = url.parse().map_err(|error| fail(&format!("{error}")))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@'))
            || uri.query().is_some()
        {
            // It may hold a key, which is not repeated.
            return Err(UrlError {
                url: "a URL with more than an address".to_owned(),
                reason: "a key goes into VLA_KEY".to_owned(),
            });
        }
        match uri.scheme_str() {
            Some("ws") => {}
            Some("wss") => {
                return Err(fail("for a server behind TLS, open a tunnel and name its near end"));
            }
            _ => return Err(fail("the scheme is missing")),
        }
        let host = uri.host().ok_or_else(|| fail("the host is missing"))?.to_owned();
        let key = key
            .map(|key| {
                let mut value = HeaderValue::try_from(format!("Api-Key {}", key.0))
                    .map_err(|_| fail("VLA_KEY holds characters that a header can't"))?;
                value.set_sensitive(true);
                Ok(value)
            })
            .transpose()?;
        Ok(OpenPi {
            url: url.to_owned(),
            host,
            port: uri.port_u16().unwrap_or(DEFAULT_PORT),
            key,
            timeout,
            connection: None,
        })
    }

    fn connect(&self) -> Result<WebSocket<TcpStream>, PolicyError> {
        let unreachable =
            |reason: String| PolicyError::Unreachable { url: self.url.clone(), reason };
        let stream = self.dial().map_err(|error| unreachable(error.to_string()))?;
        let mut request =
            self.url.as_str().into_client_request().map_err(|e| unreachable(e.to_string()))?;
        if let Some(key) = &self.key {
            request.headers_mut().insert(AUTHORIZATION, key.clone());
        }
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        let (mut connection, _) =
            tungstenite::client::client_with_config(request, stream, Some(config)).map_err(
                |error| match error {
                    HandshakeError::Failure(error) => unreachable(error.to_string()),
                    HandshakeError::Interrupted(_) => self.late(),
                },
            )?;
        // What the server says about itself is not needed.
        self.receive(&mut connection)?;
        Ok(connection)
    }

    fn dial(&self) -> io::Result<TcpStream> {
        // An IPv6 address stands in brackets in a URL.
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in (host, self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_LIMIT) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(self.timeout))?;
                    stream.set_write_timeout(Some(self.timeout))?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The next binary message.
    fn receive(&self, connection: &mut WebSocket<TcpStream>) -> Result<Vec<u8>, PolicyError> {
        let url = || self.url.clone();
        loop {
            match connection.read().map_err(|error| self.broken(&error))? {
                Message::Binary(bytes) => return Ok(bytes.into()),
                Message::Text(traceback) => {
                    let last = traceback.trim_end().lines().last().unwrap_or("no reason given");
                    return Err(PolicyError::Failed { url: url(), message: last.to_owned() });
                }
                Message::Close(frame) => {
                    let reason = frame.map_or_else(String::new, |frame| frame.reason.to_string());
                    return Err(PolicyError::Gone { url: url(), reason });
                }
                _ => {}
            }
        }
    }

    fn broken(&self, error: &Error) -> PolicyError {
        match error {
            Error::Io(error)
                if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
            {
                self.late()
            }
            other => PolicyError::Gone { url: self.url.clone(), reason: other.to_string() },
        }
    }

    fn late(&self) -> PolicyError {
        PolicyError::Late { url: self.url.clone(), seconds: self.timeout.as_secs() }
    }

    fn ask(&mut self, observation: &[u8]) -> Result<Vec<u8>, PolicyError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        connection
            .send(Message::Binary(observation.to_vec().into()))
            .map_err(|error| self.broken(&error))?;
        let answer = self.receive(&mut connection)?;
        // Only a connection on which all went well is used again.
        self.connection = Some(connection);
        Ok(answer)
    }
}

impl Policy for OpenPi {
    fn infer(&mut self, shown: &Shown) -> Result<Actions, PolicyError> {
        let observation = encode_observation(shown).map_err(PolicyError::Answer)?;
        let kept = self.connection.is_some();
        let answer = match self.ask(&observation) {
            // The server was started anew since the last chunk.
            Err(PolicyError::Gone { .. }) if kept => self.ask(&observation)?,
            other => other?,
        };
        decode_actions(&answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_websocket_can_be_spoken_to() {
        let new = |url: &str| OpenPi::new(url, None, Duration::from_secs(1));
        assert!(new("ws://127.0.0.1:8000").is_ok_and(|policy| policy.port == 8000));
        assert!(new("ws://[::1]:9/path").is_ok_and(|policy| policy.port == 9));
        for url in [
            "http://localhost:8000",
            "localhost:8000",
            "wss://example.org",
            "ws://",
            "ws://me:secret@localhost",
            "ws://localhost/?key=secret",
        ] {
            let error = new(url).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("expected ws://HOST:PORT"), "{url}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_server_that_is_not_there_is_named() {
        let mut policy = OpenPi::new("ws://127.0.0.1:1", None, Duration::from_secs(1))
            .unwrap_or_else(|error| panic!("{error}"));
        let error = policy.ask(&[]).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("ws://127.0.0.1:1") && error.contains("VLA_URL"), "{error}");
    }
}
