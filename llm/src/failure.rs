//! What went wrong in one attempt, told from a status, a body or a stream.

use std::time::Duration;

use serde_json::Value;

use crate::ErrorKind;

/// One attempt's failure. The text is the server's or the network's, unscrubbed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub kind: ErrorKind,
    pub status: Option<u16>,
    pub text: String,
    /// The parameter the server complains about, where it names one.
    pub parameter: String,
    /// How long the server asks to wait.
    pub hint: Option<Duration>,
}

impl Failure {
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Failure { kind, status: None, text: text.into(), parameter: String::new(), hint: None }
    }

    pub fn malformed(text: impl Into<String>) -> Self {
        Failure::new(ErrorKind::Malformed, text)
    }

    /// From a response that is no success.
    pub fn from_response(status: u16, body: &[u8]) -> Self {
        let said = match serde_json::from_slice(body) {
            Ok(body) => Said::read(&body),
            Err(_) => Said { text: String::from_utf8_lossy(body).into_owned(), ..Said::default() },
        };
        said.failure(Some(status))
    }

    /// From an error that came inside of a stream: an object with `error`, or
    /// that error itself.
    pub fn from_stream(body: &Value) -> Self {
        Said::read(body).failure(None)
    }
}

/// A server's words, whichever of the usual shapes they came in.
#[derive(Debug, Default)]
struct Said {
    text: String,
    /// `type` and `code`.
    codes: String,
    parameter: String,
}

impl Said {
    fn read(body: &Value) -> Self {
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        if let Some(text) = error.as_str() {
            return Said { text: text.to_owned(), ..Said::default() };
        }
        let field = |name: &str| match error.get(name) {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(other) => other.to_string(),
        };
        let texts = ["message", "detail", "error"].map(field);
        let text = texts.into_iter().find(|text| !text.is_empty());
        Said {
            text: text.unwrap_or_else(|| error.to_string()),
            codes: format!("{} {}", field("type"), field("code")),
            parameter: field("param"),
        }
    }

    fn failure(self, status: Option<u16>) -> Failure {
        let kind = self.kind(status);
        Failure { kind, status, text: self.text, parameter: self.parameter, hint: None }
    }

    fn kind(&self, status: Option<u16>) -> ErrorKind {
        let text = self.text.to_lowercase();
        let says = |words: &[&str]| {
            words.iter().any(|word| text.contains(word) || self.codes.contains(word))
        };
        // Any status: servers disagree about it.
        if status != Some(429) && says(OVERFLOW) || status == Some(413) {
            return ErrorKind::ContextOverflow;
        }
        if status == Some(402) || says(NO_MONEY) {
            return ErrorKind::Quota;
        }
        match status {
            Some(401 | 403) => ErrorKind::Unauthorized,
            Some(429) => ErrorKind::RateLimited,
            Some(408 | 409 | 425 | 500..) => ErrorKind::Overloaded,
            Some(_) => ErrorKind::BadRequest,
            None if says(&["rate_limit", "rate limit"]) => ErrorKind::RateLimited,
            None if says(&["authentication", "permission"]) => ErrorKind::Unauthorized,
            None if says(&["invalid_", "not_found"]) => ErrorKind::BadRequest,
            None => ErrorKind::Overloaded,
        }
    }
}

/// How OpenAI, Anthropic, llama.cpp, vLLM, Ollama, Groq, Mistral, Google and
/// their likes say that a conversation is too long.
const OVERFLOW: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size",
    "model_context_window_exceeded",
    "request_too_large",
    "context length",
    "context window",
    "context size",
    "context limit",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "reduce the length of the messages",
    "maximum number of tokens allowed",
];

const NO_MONEY: &[&str] = &[
    "insufficient_quota",
    "exceeded your current quota",
    "billing_hard_limit",
    "credit balance is too low",
    "insufficient balance",
    "insufficient credits",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(status: u16, body: &str) -> ErrorKind {
        Failure::from_response(status, body.as_bytes()).kind
    }

    #[test]
    fn a_context_overflow_is_known_by_what_each_server_says() {
        for (status, body) in [
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            ),
            (
                400,
                r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}}"#,
            ),
            (
                413,
                r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}"#,
            ),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}"#,
            ),
            (400, r#"{"error":"input length exceeds maximum context length"}"#),
            (
                400,
                r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
            ),
        ] {
            assert_eq!(kind(status, body), ErrorKind::ContextOverflow, "{body}");
        }
    }

    #[test]
    fn a_status_and_its_text_say_whether_it_passes() {
        use ErrorKind::{BadRequest, Overloaded, Quota, RateLimited, Unauthorized};
        for (status, body, expected) in [
            (401, "", Unauthorized),
            (429, r#"{"error":{"message":"Rate limit reached on tokens per min"}}"#, RateLimited),
            (429, r#"{"error":{"code":"insufficient_quota","message":"x"}}"#, Quota),
            (400, r#"{"error":{"message":"Your credit balance is too low"}}"#, Quota),
            (400, r#"{"error":{"message":"Unknown parameter: 'foo'.","param":"foo"}}"#, BadRequest),
            (404, "<html>nothing here</html>", BadRequest),
            (500, "", Overloaded),
            (503, "{}", Overloaded),
            (529, r#"{"error":{"type":"overloaded_error"}}"#, Overloaded),
        ] {
            assert_eq!(kind(status, body), expected, "{status} {body}");
            assert_eq!(expected.passes(), matches!(expected, RateLimited | Overloaded));
        }
    }

    #[test]
    fn an_error_inside_of_a_stream_is_told_apart_too() {
        let kind = |text: &str| Failure::from_stream(&serde_json::from_str(text).unwrap()).kind;
        let overloaded =
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        assert_eq!(kind(overloaded), ErrorKind::Overloaded);
        let limited = r#"{"code":"rate_limit_exceeded","message":"Try again in 2s"}"#;
        assert_eq!(kind(limited), ErrorKind::RateLimited);
        let long = r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#;
        assert_eq!(kind(long), ErrorKind::ContextOverflow);
        assert_eq!(kind(r#"{"code":"server_error","message":"x"}"#), ErrorKind::Overloaded);
    }
}
