//! What a command line tells of itself, kept with the episode.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use serde_json::Value;

/// Longer texts are pictures, which the run has as files.
const LONGEST_TEXT: usize = 16 << 10;

/// A file of events, one a line.
pub(super) struct EventLog(File);

impl EventLog {
    pub fn create(path: &Path) -> std::io::Result<Self> {
        Ok(EventLog(File::create(path)?))
    }

    pub fn keep(&mut self, event: &Value) {
        let mut event = event.clone();
        shorten(&mut event);
        if let Err(error) = writeln!(self.0, "{event}") {
            tracing::warn!(%error, "an agent's event is not kept");
        }
    }
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONGEST_TEXT => {
            *text = format!("[{} bytes]", text.len());
        }
        Value::Array(values) => values.iter_mut().for_each(shorten),
        Value::Object(values) => values.values_mut().for_each(shorten),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_kept_without_their_pictures() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut log = EventLog::create(file.path()).unwrap();
        let picture = "x".repeat(LONGEST_TEXT + 1);
        log.keep(&json!({"content": [{"data": picture}, {"text": "short"}]}));
        log.keep(&json!(1));
        let kept = std::fs::read_to_string(file.path()).unwrap();
        let expected = "{\"content\":[{\"data\":\"[16385 bytes]\"},{\"text\":\"short\"}]}\n1\n";
        assert_eq!(kept, expected);
    }
}
