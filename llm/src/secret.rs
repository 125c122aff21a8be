//! A key that never prints.

use std::fmt;

use serde_json::Value;

use crate::{Part, Received};

/// Stands where a key was.
const MASK: &str = "[key]";

/// An API key. It shows itself nowhere but in the header that it is for.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// `None` for an empty text: no key.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty()).then(|| Secret(key.to_owned()))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// The text without the key. Placeholders such as `none`, which local servers
    /// are given for a key, are no secrets.
    pub fn scrub(&self, text: &str) -> String {
        if self.0.len() < 8 { text.to_owned() } else { text.replace(&self.0, MASK) }
    }

    fn scrub_json(&self, value: &mut Value) {
        let text = value.to_string();
        if text.contains(&self.0) {
            // Without the key it is still JSON, unless the key was part of it.
            *value = serde_json::from_str(&self.scrub(&text)).unwrap_or_default();
        }
    }
}

/// Takes the key out of a reply, into which a hostile or chatty server wrote it.
pub(crate) fn scrub_reply(key: &Secret, parts: &mut [Part], received: &mut Received) {
    for part in parts {
        match part {
            Part::Text(text) => *text = key.scrub(text),
            Part::Call(call) => {
                call.name = key.scrub(&call.name);
                call.arguments = key.scrub(&call.arguments);
            }
            Part::Opaque(value) => key.scrub_json(value),
            Part::Image(_) | Part::Answer(_) => {}
        }
    }
    for text in [&mut received.id, &mut received.model, &mut received.stop] {
        *text = key.scrub(text);
    }
    key.scrub_json(&mut received.usage);
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown_and_is_taken_out_of_texts() {
        let key = Secret::new(" sk-1234567890\n").unwrap();
        assert_eq!(format!("{key:?} {:#?}", Some(&key)), "[key] Some(\n    [key],\n)");
        assert_eq!(key.scrub("wrong key sk-1234567890!"), "wrong key [key]!");
        assert_eq!(Secret::new("x").unwrap().scrub("example"), "example");
        assert_eq!(Secret::new(" "), None);
    }
}
