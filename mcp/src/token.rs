//! What a client must know.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

/// Shortest token that is taken from a user.
const LEAST: usize = 16;
const MOST: usize = 512;

/// A bearer token. It does not show itself in logs.
#[derive(Clone)]
pub struct Token(Arc<str>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token is {LEAST} to {MOST} visible ASCII characters without spaces")]
pub struct TokenError;

impl Token {
    /// One of 244 random bits, from the system's generator.
    #[must_use]
    pub fn random() -> Self {
        let half = || uuid::Uuid::new_v4().simple();
        Token(format!("{}{}", half(), half()).into())
    }

    /// A token of the user's own.
    ///
    /// # Errors
    /// When it can't stand in a header, or is easily guessed.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let fits = (LEAST..=MOST).contains(&text.len());
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits && visible { Ok(Token(text.into())) } else { Err(TokenError) }
    }

    /// Its text, for the one who is to use it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on where the two differ.
    pub(crate) fn is(&self, given: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differing = own.iter().zip(given).fold(0, |all, (a, b)| black_box(all | (a ^ b)));
        own.len() == given.len() && differing == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[token]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_token_is_one() {
        let token = Token::new("0123456789abcdef").unwrap();
        assert!(token.is(b"0123456789abcdef"));
        for other in ["0123456789abcdeF", "0123456789abcde", "0123456789abcdef0", ""] {
            assert!(!token.is(other.as_bytes()), "{other:?}");
        }
        assert_eq!(format!("{token:?}"), "[token]");
    }

    #[test]
    fn two_random_tokens_differ_and_can_be_given_again() {
        let (one, other) = (Token::random(), Token::random());
        assert_ne!(one.reveal(), other.reveal());
        assert!(Token::new(one.reveal()).unwrap().is(one.reveal().as_bytes()));
    }

    #[test]
    fn a_weak_token_is_refused() {
        for weak in ["", "short", "with spaces in it all", "0123456789abcdef\n", &"x".repeat(513)] {
            assert!(Token::new(weak).is_err(), "{weak:?}");
        }
    }
}
