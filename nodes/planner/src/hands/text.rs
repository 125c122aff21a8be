//! A tool call as Python, and its outcome as text.

use std::fmt::Write as _;

use ruaflow_robots::Method;
use ruaflow_schemas::CellResult;
use serde_json::{Map, Value, json};

/// Characters of a cell's title.
const MAX_TITLE: usize = 60;

/// `robo.move_to(xyz=[0.1, 0.2, 0.3])`; a motion asks for the robot's state, too.
pub(super) fn call_source(method: &Method, arguments: &Map<String, Value>) -> String {
    let given: Vec<String> =
        arguments.iter().map(|(name, value)| format!("{name}={}", literal(value))).collect();
    let mut code = format!("robo.{}({})\n", method.name, given.join(", "));
    if method.stateful() {
        code.push_str("robo.state()\n");
    }
    code
}

/// What a call measured and where the robot is, a JSON object.
pub(super) fn measured(method: &Method, cell: &CellResult) -> String {
    let outcome = |name: &str| cell.ledger.iter().find(|entry| entry.method == name);
    let json = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    let mut told = Map::new();
    match outcome(method.name) {
        Some(entry) if entry.ok => told.insert("result".to_owned(), json(&entry.outcome)),
        Some(entry) => told.insert("error".to_owned(), Value::from(entry.outcome.trim())),
        None => told.insert("error".to_owned(), Value::from(last_line(&cell.error))),
    };
    if method.stateful()
        && let Some(state) = outcome("state").filter(|entry| entry.ok)
    {
        told.insert("state".to_owned(), json(&state.outcome));
    }
    if cell.status == "cancelled" && cell.ledger.is_empty() {
        told.insert("error".to_owned(), json!(cell.feedback.trim()));
    }
    let names: Vec<&str> = cell.images.iter().map(|image| image.name.as_str()).collect();
    if !names.is_empty() {
        told.insert("pictures".to_owned(), json!(names));
    }
    Value::Object(told).to_string()
}

/// The first line's comment, which says what a cell is for.
pub(super) fn title_of(code: &str) -> String {
    let first = code.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let comment = first.trim().strip_prefix('#').unwrap_or_default();
    comment.trim_start_matches([' ', '%', '#']).trim_end().chars().take(MAX_TITLE).collect()
}

/// A JSON value as a Python literal.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", quoted(name), literal(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

/// A text that Python reads as it is, whatever is in it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                // `write!` to a String cannot fail.
                let _ = write!(out, "\\U{:08x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

fn last_line(text: &str) -> &str {
    text.trim_end().lines().last().unwrap_or("the call was not made")
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::LedgerEntry;

    use super::*;

    fn method(name: &str) -> &'static Method {
        ruaflow_robots::find("libero").unwrap().method(name).unwrap()
    }

    #[test]
    fn a_call_becomes_a_line_of_python_that_cannot_be_more() {
        let arguments = json!({
            "prompt": "a \"mug\"\n'; robo.release()", "point": [1, 2], "min_score": 0.5, "step": null,
        });
        let code = call_source(method("segment"), arguments.as_object().unwrap());
        assert_eq!(
            code,
            "robo.segment(prompt=\"a \\\"mug\\\"\\U0000000a'; robo.release()\", point=[1, 2], min_score=0.5, step=None)\n"
        );
        assert!(call_source(method("release"), &Map::new()).ends_with("robo.state()\n"));
    }

    #[test]
    fn a_motion_tells_its_result_and_the_state() {
        let entry = |method: &str, outcome: &str, ok| LedgerEntry {
            method: method.into(),
            outcome: outcome.into(),
            ok,
            ..LedgerEntry::default()
        };
        let cell = CellResult {
            status: "ok".into(),
            ledger: vec![
                entry("move_to", r#"{"reached":true}"#, true),
                entry("state", r#"{"step":1}"#, true),
            ],
            ..CellResult::default()
        };
        assert_eq!(
            measured(method("move_to"), &cell),
            r#"{"result":{"reached":true},"state":{"step":1}}"#
        );
        let refused = CellResult {
            status: "error".into(),
            ledger: vec![entry("move_to", "move_to(): too far", false)],
            ..CellResult::default()
        };
        assert_eq!(measured(method("move_to"), &refused), r#"{"error":"move_to(): too far"}"#);
        let broken = CellResult {
            status: "error".into(),
            error: "Traceback\nValueError: xyz".into(),
            ..CellResult::default()
        };
        assert_eq!(measured(method("move_to"), &broken), r#"{"error":"ValueError: xyz"}"#);
    }

    #[test]
    fn a_cell_is_called_by_its_first_comment() {
        assert_eq!(title_of("\n# %% above the bowl \nx = 1"), "above the bowl");
        assert_eq!(title_of("x = 1 # no"), "");
    }
}
