//! Tools, and what executes them.

use std::sync::Arc;

use rmcp::model::{JsonObject, ToolAnnotations};
use serde_json::Value;

use crate::Error;

/// A tool as clients see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Letters, digits, `_` and `-`; at most 64.
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub schema: Value,
    pub effect: Effect,
}

/// What calling a tool does to the world. Clients are told, and may ask a person before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it only looks.
    Reads,
    /// It may move the robot, which can't be undone.
    Moves,
    /// It ends the episode; a second call changes nothing more.
    Ends,
}

/// Executes calls.
pub trait Handler: Send + Sync + 'static {
    /// Executes a call to its end, on a thread that may block. There is never more
    /// than one at a time.
    fn call(&self, call: &Call) -> Answer;

    /// The running call is not wanted any more: its client cancelled it, or is gone.
    /// `call` should return soon. May come when no call runs; must not block.
    fn cancel(&self);
}

/// A call of a tool that exists. Its arguments are as the client sent them.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub tool: String,
    /// A JSON object.
    pub arguments: Value,
    /// The model's own id for the call when the client tells it, else the client's.
    pub id: String,
    /// Name and version of the client, in its own words.
    pub client: String,
}

/// What a call came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    /// PNG files, shown after the text.
    pub pictures: Vec<Arc<[u8]>>,
    pub failed: bool,
}

impl Answer {
    #[must_use]
    pub fn failed(text: impl Into<String>) -> Self {
        Answer { text: text.into(), failed: true, ..Answer::default() }
    }
}

impl Effect {
    /// Clients assume the worst of what is not said, so all of it is.
    fn annotations(self) -> ToolAnnotations {
        let told = ToolAnnotations::new().open_world(false);
        match self {
            Effect::Reads => told.read_only(true).destructive(false).idempotent(true),
            Effect::Moves => told.read_only(false).destructive(true).idempotent(false),
            Effect::Ends => told.read_only(false).destructive(true).idempotent(true),
        }
    }
}

impl Tool {
    /// In the protocol's words.
    pub(crate) fn listed(&self) -> Result<rmcp::model::Tool, Error> {
        let wrong = |reason| Error::Tool { name: self.name.clone(), reason };
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        if !(1..=64).contains(&self.name.len()) || !self.name.bytes().all(allowed) {
            return Err(wrong("a name is 1 to 64 letters, digits, _ and -"));
        }
        let Value::Object(schema) = &self.schema else {
            return Err(wrong("its schema is not an object"));
        };
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(wrong("its schema does not ask for an object"));
        }
        let schema: JsonObject = schema.clone();
        let tool = rmcp::model::Tool::new(self.name.clone(), self.description.clone(), schema);
        Ok(tool.with_annotations(self.effect.annotations()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, schema: Value) -> Tool {
        Tool { name: name.into(), description: "d".into(), schema, effect: Effect::Reads }
    }

    #[test]
    fn annotations_say_all_four_things() {
        let listed = |effect| {
            let tool = Tool { effect, ..tool("look", json!({"type": "object"})) };
            serde_json::to_value(tool.listed().unwrap()).unwrap()["annotations"].clone()
        };
        let told = |read_only, destructive, idempotent| {
            json!({
                "readOnlyHint": read_only,
                "destructiveHint": destructive,
                "idempotentHint": idempotent,
                "openWorldHint": false,
            })
        };
        assert_eq!(listed(Effect::Reads), told(true, false, true));
        assert_eq!(listed(Effect::Moves), told(false, true, false));
        assert_eq!(listed(Effect::Ends), told(false, true, true));
    }

    #[test]
    fn a_tool_that_clients_would_refuse_is_refused_here() {
        let error = |tool: Tool| tool.listed().unwrap_err().to_string();
        assert!(error(tool("a b", json!({"type": "object"}))).contains("\"a b\""));
        assert!(error(tool("", json!({"type": "object"}))).contains("name"));
        assert!(error(tool("a", json!([]))).contains("not an object"));
        assert!(error(tool("a", json!({"type": "array"}))).contains("ask for an object"));
    }
}
