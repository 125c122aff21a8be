//! Why there is no reply.

use crate::Attempt;

/// A request that failed for good, after all retries.
///
/// Its text is for a user: it names the endpoint and the way out, and holds no key.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{text}")]
pub struct Error {
    pub kind: ErrorKind,
    pub text: String,
    /// Every request that was made.
    pub attempts: Vec<Attempt>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No connection, or it broke in mid-reply.
    Unreachable,
    /// The key is missing, wrong, or may not use this model.
    Unauthorized,
    /// Too many requests or tokens.
    RateLimited,
    /// The account has no money left.
    Quota,
    /// The server has a problem (5xx, overloaded).
    Overloaded,
    /// The conversation is longer than the model can read.
    ContextOverflow,
    /// The server doesn't take this request, model or address.
    BadRequest,
    /// What came back is not the wire that was asked for, or never ends.
    Malformed,
    /// A limit of [`crate::Timeouts`] passed.
    Timeout,
    /// [`crate::Watch::stopped`] said so.
    Stopped,
}

impl ErrorKind {
    /// Whether the same request may succeed a little later.
    pub fn passes(self) -> bool {
        use ErrorKind::{Malformed, Overloaded, RateLimited, Timeout, Unreachable};
        matches!(self, Unreachable | RateLimited | Overloaded | Malformed | Timeout)
    }
}
