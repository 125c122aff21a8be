//! What every request passes first: is it meant for this service, and may it?

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::Token;

/// Where Anthropic's clients put their key.
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

pub(crate) struct Gate {
    token: Token,
    /// `Host` as clients of this service send it.
    hosts: [String; 2],
    open: Arc<AtomicUsize>,
}

/// Cancelled when the client of a request has its answer, or is gone.
#[derive(Clone)]
pub(crate) struct Gone(pub CancellationToken);

impl Gate {
    pub fn new(token: Token, port: u16, open: Arc<AtomicUsize>) -> Self {
        let hosts = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{port}"));
        Gate { token, hosts, open }
    }

    /// A page in a browser can make it send requests here, under a name that leads
    /// here, too; it can't change these headers. Other users of this machine can do
    /// all that, but don't know the token.
    fn check(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let is_ours = |text: &[u8]| self.hosts.iter().any(|host| text == host.as_bytes());
        if !headers.get(HOST).is_some_and(|host| is_ours(host.as_bytes())) {
            return Err((StatusCode::FORBIDDEN, "the Host header names another server"));
        }
        let from_here = |origin: &[u8]| origin.strip_prefix(b"http://").is_some_and(is_ours);
        if !headers.get_all(ORIGIN).iter().all(|origin| from_here(origin.as_bytes())) {
            return Err((StatusCode::FORBIDDEN, "web pages of other origins are not served"));
        }
        let bearer = headers.get(AUTHORIZATION).map(|value| value.as_bytes());
        let bearer = bearer.and_then(|value| value.strip_prefix(b"Bearer "));
        let given = bearer.or_else(|| headers.get(API_KEY).map(|value| value.as_bytes()));
        if !given.is_some_and(|given| self.token.is(given)) {
            return Err((StatusCode::UNAUTHORIZED, "the bearer token is missing or wrong"));
        }
        Ok(())
    }
}

pub(crate) async fn pass(
    State(gate): State<Arc<Gate>>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err((status, why)) = gate.check(request.headers()) {
        return (status, [(WWW_AUTHENTICATE, "Bearer")], why).into_response();
    }
    let gone = CancellationToken::new();
    request.extensions_mut().insert(Gone(gone.clone()));
    // A stream of news, which a client holds open for good, is no question.
    let open = (request.method() == Method::POST).then(|| Open::new(gate.open.clone()));
    let presence = Presence { _gone: gone.drop_guard(), _open: open };
    let response = next.run(request).await;
    response.map(|body| Body::new(Attended { body, _presence: presence }))
}

/// Lives as long as somebody waits for an answer.
struct Presence {
    _gone: DropGuard,
    _open: Option<Open>,
}

/// Counts a request that has not its whole answer.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(count: Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Open(count)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A response's body; the server drops it when it is sent or nobody reads it any more.
struct Attended {
    body: Body,
    _presence: Presence,
}

impl HttpBody for Attended {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn check(headers: &[(&'static str, &'static str)]) -> Result<(), u16> {
        let token = Token::new("0123456789abcdef").unwrap();
        let gate = Gate::new(token, 4000, Arc::default());
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        gate.check(&pairs.collect()).map_err(|(status, _)| status.as_u16())
    }

    const KNOWS: (&str, &str) = ("authorization", "Bearer 0123456789abcdef");
    const HERE: (&str, &str) = ("host", "127.0.0.1:4000");

    #[test]
    fn who_knows_the_token_passes() {
        assert_eq!(check(&[HERE, KNOWS]), Ok(()));
        assert_eq!(check(&[("host", "localhost:4000"), KNOWS]), Ok(()));
        assert_eq!(check(&[HERE, ("x-api-key", "0123456789abcdef")]), Ok(()));
        assert_eq!(check(&[HERE, KNOWS, ("origin", "http://127.0.0.1:4000")]), Ok(()));
    }

    #[test]
    fn without_the_token_nothing_is_answered() {
        for wrong in ["", "Bearer ", "0123456789abcdef", "Bearer 0123456789abcdeX", "Basic x"] {
            assert_eq!(check(&[HERE, ("authorization", wrong)]), Err(401), "{wrong:?}");
        }
        assert_eq!(check(&[HERE]), Err(401));
    }

    #[test]
    fn a_web_page_is_refused_even_with_the_token() {
        for origin in
            ["http://evil.example", "null", "http://127.0.0.1:4001", "https://127.0.0.1:4000"]
        {
            assert_eq!(check(&[HERE, KNOWS, ("origin", origin)]), Err(403), "{origin}");
        }
        for host in ["evil.example", "127.0.0.1", "127.0.0.1:4001", "evil.example:4000"] {
            assert_eq!(check(&[("host", host), KNOWS]), Err(403), "{host}");
        }
        assert_eq!(check(&[KNOWS]), Err(403));
    }
}
