//! A failure in words for a user.

use crate::failure::Failure;
use crate::{Attempt, Endpoint, Error, ErrorKind, Secret};

/// How much of a server's own text is passed on.
const MOST: usize = 600;

pub(crate) fn error(endpoint: &Endpoint, failure: &Failure, attempts: Vec<Attempt>) -> Error {
    let said = one_line(&failure.text, endpoint.key.as_ref());
    let status = failure.status.filter(|status| *status >= 300);
    let status = status.map(|status| format!("HTTP {status}: ")).unwrap_or_default();
    let requests = attempts.len();
    let tried = if requests > 1 { format!(" ({requests} requests)") } else { String::new() };
    let (model, url) = (&endpoint.model, &endpoint.base_url);
    let way_out = way_out(endpoint, failure);
    let text = format!("{model} at {url}{tried}: {status}{said}. {way_out}");
    Error { kind: failure.kind, text: text.trim_end().to_owned(), attempts }
}

fn way_out(endpoint: &Endpoint, failure: &Failure) -> String {
    let key = &endpoint.key_variable;
    match failure.kind {
        ErrorKind::Unreachable => "Is the server up, and --base-url its address?".to_owned(),
        ErrorKind::Unauthorized if endpoint.key.is_none() => {
            format!("Set {key} to your key, or name its variable with --key-env.")
        }
        ErrorKind::Unauthorized => format!("The key in {key} is not accepted for this model."),
        ErrorKind::RateLimited => match failure.hint {
            Some(hint) => {
                let seconds = hint.as_secs_f64().ceil();
                format!("The server wants {seconds} s of rest: try again then.")
            }
            None => "Try again later, or with more --retries.".to_owned(),
        },
        ErrorKind::Quota => "The account has no credit left.".to_owned(),
        ErrorKind::Overloaded => "The server has a problem: try again later.".to_owned(),
        ErrorKind::ContextOverflow => {
            "The conversation is longer than the model can read.".to_owned()
        }
        ErrorKind::BadRequest if matches!(failure.status, Some(300..400)) => {
            "Give the address it means as --base-url.".to_owned()
        }
        ErrorKind::BadRequest if failure.status == Some(404) => {
            "Do --base-url, --wire and --model fit the server?".to_owned()
        }
        ErrorKind::BadRequest => "The server does not take this request.".to_owned(),
        ErrorKind::Malformed => {
            format!("Does the server speak {}? See --wire.", endpoint.wire.name())
        }
        ErrorKind::Timeout => {
            "Longer limits: --first-token-timeout, --idle-timeout, --request-timeout.".to_owned()
        }
        ErrorKind::Stopped => String::new(),
    }
}

/// Foreign text, fit for a terminal: no key, no control characters, not too long.
pub(crate) fn one_line(text: &str, key: Option<&Secret>) -> String {
    let text = key.map_or_else(|| text.to_owned(), |key| key.scrub(text));
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wire;

    #[test]
    fn a_text_names_the_endpoint_and_the_way_out_but_no_key() {
        let mut endpoint = Endpoint::new(Wire::Chat, "http://h/v1/", "m");
        let failure = Failure::from_response(401, b"wrong key sk-12345678.\n\x1b[31mred");
        let text = |endpoint: &Endpoint| error(endpoint, &failure, Vec::new()).to_string();
        let expected = "m at http://h/v1: HTTP 401: wrong key sk-12345678. [31mred. Set OPENAI_API_KEY to your key, or name its variable with --key-env.";
        assert_eq!(text(&endpoint), expected);
        endpoint.key = Secret::new("sk-12345678");
        let expected = "m at http://h/v1: HTTP 401: wrong key [key]. [31mred. The key in OPENAI_API_KEY is not accepted for this model.";
        assert_eq!(text(&endpoint), expected);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let cut = one_line(&"ß".repeat(5000), None);
        assert_eq!(cut.chars().count(), MOST + 1);
        assert!(cut.ends_with('…'));
    }
}
