//! What a server turned out not to take.

use serde_json::Value;

use crate::ErrorKind;
use crate::failure::Failure;

/// Parameters that are sent for comfort, not because the user asked for them.
/// A server that refuses one gets on without.
const COMFORTS: [&str; 5] = ["stream_options", "prompt_cache_key", "include", "thinking", "store"];

/// The two names of one limit: the older one, which nearly all servers know, and
/// the one that OpenAI's reasoning models want.
const LIMIT: [&str; 2] = ["max_tokens", "max_completion_tokens"];

#[derive(Debug, Default)]
pub(crate) struct Quirks {
    refused: Vec<&'static str>,
    new_limit: bool,
    one_piece: bool,
}

impl Quirks {
    /// Whether a failure teaches how to ask better.
    pub fn learn(&mut self, failure: &Failure) -> bool {
        if failure.kind != ErrorKind::BadRequest || !matches!(failure.status, Some(400 | 422)) {
            return false;
        }
        if failure.text.contains(LIMIT[1]) && !self.new_limit {
            self.new_limit = true;
            return true;
        }
        let blamed = COMFORTS.into_iter().find(|name| blames(failure, name));
        if let Some(name) = blamed.filter(|name| !self.refused.contains(name)) {
            self.refused.push(name);
            return true;
        }
        if blames(failure, "stream") && !self.one_piece {
            self.one_piece = true;
            return true;
        }
        false
    }

    /// Changes a body to what the server takes.
    pub fn heed(&self, body: &mut Value) {
        let Some(fields) = body.as_object_mut() else { return };
        let streaming = ["stream", "stream_options"].iter().filter(|_| self.one_piece);
        for name in self.refused.iter().chain(streaming) {
            fields.shift_remove(*name);
        }
        if self.new_limit
            && let Some(limit) = fields.shift_remove(LIMIT[0])
        {
            fields.insert(LIMIT[1].to_owned(), limit);
        }
    }
}

/// Whether a failure is about a parameter: named as such, or quoted in the text.
fn blames(failure: &Failure, name: &str) -> bool {
    let quoted = ['\'', '"', '`'].iter().any(|q| failure.text.contains(&format!("{q}{name}{q}")));
    let unmistakable = name.contains('_') && failure.text.contains(name);
    failure.parameter == name || quoted || unmistakable
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_refused_parameter_is_left_out_from_then_on_and_only_once_learned() {
        let mut quirks = Quirks::default();
        let refuse = |status: u16, text: &str| {
            let body = json!({"error": {"message": text}}).to_string();
            Failure::from_response(status, body.as_bytes())
        };
        let options = refuse(400, "Unknown field: stream_options");
        assert!(quirks.learn(&options));
        assert!(!quirks.learn(&options), "leaving it out did not help");
        assert!(quirks.learn(&refuse(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )));
        assert!(!quirks.learn(&refuse(400, "'temperature' does not support 0.2")));
        assert!(!quirks.learn(&refuse(401, "stream_options")));
        let mut body = json!({"model": "m", "stream": true, "stream_options": {}, "max_tokens": 9});
        quirks.heed(&mut body);
        assert_eq!(body, json!({"model": "m", "stream": true, "max_completion_tokens": 9}));
        assert!(quirks.learn(&refuse(400, "`stream` is not supported")));
        quirks.heed(&mut body);
        assert_eq!(body, json!({"model": "m", "max_completion_tokens": 9}));
    }
}
