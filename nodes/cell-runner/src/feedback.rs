//! What an agent reads after a cell.

use std::fmt::Write as _;

use ruaflow_robots::{Default, Param, RobotApi};
pub use ruaflow_robots::{Feedback, Images, UnknownKind};
use ruaflow_schemas::{CellResult, LedgerEntry};
use serde_json::{Map, Value};

use crate::text::clip;

/// Characters of the whole text.
pub const MAX_FEEDBACK: usize = 20_000;

/// Calls listed; a loop's last ones say most.
const MAX_CALLS: usize = 40;
/// Characters of a call's arguments, of its result, of its error.
const MAX_PART: usize = 300;

/// The text for a cell's result, which is complete but for it.
///
/// `over` says why the episode is over, if it is.
#[must_use]
pub fn text(
    result: &CellResult,
    kind: Feedback,
    api: Option<&RobotApi>,
    over: Option<&str>,
) -> String {
    let mut out = heading(result, kind);
    let mut add = |title: &str, text: &str| {
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            // `write!` to a String cannot fail.
            let _ = match title {
                "" => writeln!(out, "{text}"),
                _ => writeln!(out, "[{title}]\n{text}"),
            };
        }
    };
    add("", &result.stdout);
    add("stderr", &result.stderr);
    add("value", &result.value);
    add(if result.error.is_empty() { "" } else { &result.status }, &result.error);
    if result.namespace_lost {
        add("", "[names are lost: the next cell starts with an empty namespace]");
    }
    if !result.finish_status.is_empty() {
        add("finish", &format!("{}: {}", result.finish_status, result.finish_summary));
    }
    if kind == Feedback::Rich {
        add("calls", &calls(&result.ledger, api));
        if api.is_some_and(|api| !api.methods.is_empty()) {
            add("robot", &result.state_summary);
        }
    }
    if let Some(reason) = over {
        add("", &format!("[the episode is over: {reason}]"));
    }
    let names: Vec<&str> = result.images.iter().map(|image| image.name.as_str()).collect();
    if !names.is_empty() {
        add("", &format!("[pictures: {}]", names.join(", ")));
    }
    clip(&out, MAX_FEEDBACK)
}

/// `cell 3: ok, 1.20 s, 41 control steps`.
fn heading(result: &CellResult, kind: Feedback) -> String {
    let seconds = seconds(result.elapsed_ns);
    let mut line = format!("cell {}: {}, {seconds}", result.index, result.status);
    if kind == Feedback::Rich && result.ledger.iter().any(|call| call.stateful && call.ok) {
        let _ = write!(line, ", {} control steps", result.control_steps);
    }
    if result.stdout.is_empty() && result.error.is_empty() && result.value.is_empty() {
        line.push_str(", no output");
    }
    line + "\n"
}

fn calls(ledger: &[LedgerEntry], api: Option<&RobotApi>) -> String {
    let skipped = ledger.len().saturating_sub(MAX_CALLS);
    let mut out = String::new();
    if skipped > 0 {
        let _ = writeln!(out, "({skipped} earlier calls)");
    }
    for call in &ledger[skipped..] {
        let arguments = json(&call.arguments);
        let _ = write!(out, "{}({})", call.method, given(&arguments, &call.method, api));
        if call.stateful {
            let _ = write!(out, " {}, {} steps", seconds(call.elapsed_ns), call.control_steps);
        }
        let _ = if call.ok {
            writeln!(out, " -> {}", outcome(&call.outcome, &arguments))
        } else {
            writeln!(out, " refused: {}", one_line(&call.outcome))
        };
    }
    out
}

/// The arguments that are not the method's defaults: the agent knows those.
fn given(arguments: &Map<String, Value>, method: &str, api: Option<&RobotApi>) -> String {
    let method = api.and_then(|api| api.method(method));
    let parts: Vec<String> = arguments
        .iter()
        .filter(|(name, value)| {
            let param = method.and_then(|method| method.param(name));
            !param.is_some_and(|param| is_default(param, value, api))
        })
        .map(|(name, value)| format!("{name}={}", short(value)))
        .collect();
    clip(&parts.join(", "), MAX_PART)
}

fn is_default(param: &Param, value: &Value, api: Option<&RobotApi>) -> bool {
    match param.default {
        Default::Required => false,
        Default::None => value.is_null(),
        Default::Float(default) => value.as_f64() == Some(default),
        Default::Int(default) => value.as_i64() == Some(default),
        Default::Str(default) => value.as_str() == Some(default),
        Default::FirstCamera => {
            let first = api.and_then(|api| api.cameras.first()).map(|camera| camera.name);
            value.as_str() == first
        }
    }
}

/// What was measured, without what the arguments said and what did not happen.
fn outcome(text: &str, arguments: &Map<String, Value>) -> String {
    let fields = match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => fields,
        Ok(Value::Null) => return "done".to_owned(),
        Ok(value) => return clip(&short(&value), MAX_PART),
        Err(_) => return one_line(text),
    };
    let said = |value: &Value| arguments.values().any(|given| given == value);
    let parts: Vec<String> = fields
        .iter()
        .filter(|(name, value)| arguments.get(*name) != Some(value))
        .filter(|(name, value)| match value {
            Value::Null => false,
            Value::Bool(false) => !QUIET.contains(&name.as_str()),
            Value::Array(_) | Value::String(_) => !said(value),
            _ => true,
        })
        .map(|(name, value)| format!("{name}={}", short(value)))
        .collect();
    clip(&parts.join(", "), MAX_PART)
}

/// Fields that are only worth a word when they are true.
const QUIET: &[&str] = &["terminated", "truncated", "stalled"];

/// A value with at most four decimals.
fn short(value: &Value) -> String {
    match value {
        Value::Number(number) if !number.is_i64() && !number.is_u64() => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            let text = format!("{number:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(short).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    }
}

fn seconds(nanoseconds: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
    let seconds = nanoseconds as f64 / 1e9;
    format!("{seconds:.2} s")
}

fn one_line(text: &str) -> String {
    clip(text, MAX_PART).replace('\n', " ")
}

fn json(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::Picture;
    use serde_json::json;

    use super::*;

    fn moved(ok: bool, outcome: &str) -> LedgerEntry {
        LedgerEntry {
            method: "move_to".into(),
            arguments: json!({
                "xyz": [0.1, -0.2, 0.3], "gripper": 1.0, "tol": 0.012, "step_clip": 0.015,
                "max_steps": 80, "target_yaw": null, "yaw_step_clip": 0.1, "action_scale": 0.05,
            })
            .to_string(),
            ok,
            outcome: outcome.into(),
            stateful: true,
            control_steps: 21,
            elapsed_ns: 312_000_000,
            ..LedgerEntry::default()
        }
    }

    fn result() -> CellResult {
        let outcome = json!({
            "target_xyz": [0.1, -0.2, 0.3], "final_eef_pos": [0.100_04, -0.2, 0.311_112],
            "final_dist_m": 0.011_111_9, "reached": true, "steps_used": 22, "max_steps": 80,
            "terminated": false, "truncated": false, "stalled": false, "stall_reason": null,
        });
        CellResult {
            index: 3,
            status: "error".into(),
            stdout: "moving\n".into(),
            error: "Traceback …\nAssertionError: lost it\n".into(),
            ledger: vec![
                moved(true, &outcome.to_string()),
                moved(false, "move_to(): 0.4 m\nis too far"),
            ],
            control_steps: 21,
            elapsed_ns: 420_000_000,
            state_summary: "step 1, control step 21".into(),
            images: vec![Picture { name: "wrist".into(), ..Picture::default() }],
            ..CellResult::default()
        }
    }

    fn libero() -> Option<&'static RobotApi> {
        ruaflow_robots::find("libero").ok()
    }

    #[test]
    fn rich_feedback_tells_what_was_done() {
        let text = text(&result(), Feedback::Rich, libero(), Some("truncated"));
        assert_eq!(
            text,
            "cell 3: error, 0.42 s, 21 control steps
moving
[error]
Traceback …
AssertionError: lost it
[calls]
move_to(xyz=[0.1, -0.2, 0.3], gripper=1, step_clip=0.015) 0.31 s, 21 steps -> \
             final_eef_pos=[0.1, -0.2, 0.3111], final_dist_m=0.0111, reached=True, steps_used=22
move_to(xyz=[0.1, -0.2, 0.3], gripper=1, step_clip=0.015) 0.31 s, 21 steps refused: move_to(): 0.4 m is too far
[robot]
step 1, control step 21
[the episode is over: truncated]
[pictures: wrist]
"
        );
    }

    #[test]
    fn pure_feedback_is_what_the_cell_said() {
        let text = text(&result(), Feedback::Pure, libero(), None);
        assert_eq!(
            text,
            "cell 3: error, 0.42 s\nmoving\n[error]\nTraceback …\nAssertionError: lost it\n[pictures: wrist]\n"
        );
    }

    #[test]
    fn a_silent_cell_says_so() {
        let silent = CellResult { index: 1, status: "ok".into(), ..CellResult::default() };
        assert_eq!(text(&silent, Feedback::Rich, None, None), "cell 1: ok, 0.00 s, no output\n");
    }

    #[test]
    fn only_the_last_calls_are_listed() {
        let ledger = vec![moved(true, "null"); 100];
        let many = CellResult { ledger, ..CellResult::default() };
        let text = text(&many, Feedback::Rich, libero(), None);
        assert!(text.contains("(60 earlier calls)\n"), "{text}");
        assert_eq!(text.matches("-> done").count(), 40);
    }

    #[test]
    fn the_whole_is_cut_in_the_middle() {
        let half = |letter: &str| letter.repeat(MAX_FEEDBACK);
        let long = CellResult { stdout: half("a"), error: half("b"), ..CellResult::default() };
        let text = text(&long, Feedback::Pure, None, None);
        assert!(text.contains("characters cut"));
        assert!(text.chars().count() < MAX_FEEDBACK + 100);
        assert!(text.ends_with("b\n"));
    }
}
