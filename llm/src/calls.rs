//! Tool calls that a model wrote into its text.

use serde_json::{Value, json};

use crate::{Part, Tool, ToolCall};

/// Takes the calls out of a text: fenced or bare JSON such as
/// `{"name": "look", "arguments": {}}`, with `tool` and `args` as well, and
/// fenced Python, which is a call of the first tool that takes `code`.
///
/// Gives the text before the first call, then the calls. A call must name a tool
/// that there is. What follows a call counts only when it is another call: the
/// rest of such a text is the model's idea of what will come back.
pub(crate) fn split(text: &str, tools: &[Tool]) -> Option<Vec<Part>> {
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while let Some(next) = next_call(text, at, tools) {
        if !found.is_empty() && !is_glue(&text[at..next.start]) {
            break;
        }
        at = next.end;
        found.push(next);
    }
    let before = without_tags(text[..found.first()?.start].trim());
    let mut parts = Vec::new();
    if !before.is_empty() {
        parts.push(Part::text(before));
    }
    parts.extend(found.into_iter().flat_map(|found| found.calls).map(Part::Call));
    Some(parts)
}

/// Calls in a text, and where they stand.
struct Found {
    calls: Vec<ToolCall>,
    start: usize,
    end: usize,
}

fn next_call(text: &str, from: usize, tools: &[Tool]) -> Option<Found> {
    let mut at = from;
    loop {
        let candidate = at + text[at..].find(['`', '{', '['])?;
        let rest = &text[candidate..];
        if let Some(fence) = Fence::read(rest) {
            let end = candidate + fence.len;
            let calls = fence.calls(tools);
            if !calls.is_empty() {
                return Some(Found { calls, start: candidate, end });
            }
            at = end;
        } else if let Some((value, len)) = json_at(rest) {
            let end = candidate + len;
            let calls = calls_of(&value, tools);
            if !calls.is_empty() {
                return Some(Found { calls, start: candidate, end });
            }
            at = end;
        } else {
            at = candidate + 1;
        }
    }
}

/// A fenced block at the start of a text.
struct Fence<'a> {
    language: &'a str,
    inside: &'a str,
    len: usize,
}

impl<'a> Fence<'a> {
    fn read(text: &'a str) -> Option<Self> {
        const MARK: &str = "```";
        let (language, body) = text.strip_prefix(MARK)?.split_once('\n')?;
        if language.contains('`') {
            return None;
        }
        // The mark ends a block where it begins a line, so that strings may hold it.
        let end = if body.starts_with(MARK) { 0 } else { body.find("\n```")? + 1 };
        let len = text.len() - body.len() + end + MARK.len();
        Some(Fence { language: language.trim(), inside: &body[..end], len })
    }

    fn calls(&self, tools: &[Tool]) -> Vec<ToolCall> {
        match self.language.to_ascii_lowercase().as_str() {
            "python" | "py" | "python3" => python(self.inside, tools).into_iter().collect(),
            _ => match serde_json::from_str(self.inside) {
                Ok(value) => calls_of(&value, tools),
                // One call a line, or a call among other words.
                Err(_) => match next_call(self.inside, 0, tools) {
                    Some(found) => found.calls,
                    None => Vec::new(),
                },
            },
        }
    }
}

fn python(code: &str, tools: &[Tool]) -> Option<ToolCall> {
    let name = tools.iter().find(|tool| tool.takes_code())?.name.clone();
    if code.trim().is_empty() {
        return None;
    }
    Some(call(name, json!({"code": code.trim_end()}).to_string()))
}

/// A JSON object or list at the start of a text, and its length.
fn json_at(text: &str) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

fn calls_of(value: &Value, tools: &[Tool]) -> Vec<ToolCall> {
    match value {
        Value::Array(values) => {
            // A list is calls or it is something else.
            let calls: Vec<ToolCall> =
                values.iter().filter_map(|value| call_of(value, tools)).collect();
            if calls.len() == values.len() { calls } else { Vec::new() }
        }
        value => call_of(value, tools).into_iter().collect(),
    }
}

fn call_of(value: &Value, tools: &[Tool]) -> Option<ToolCall> {
    let inner = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
    let field = |names: &[&str]| names.iter().find_map(|name| inner.get(*name));
    let name = field(&["name", "tool", "function", "tool_name"])?.as_str()?;
    let tool = tools.iter().find(|tool| tool.name == name)?;
    let arguments = match field(&["arguments", "args", "parameters", "input"]) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => "{}".to_owned(),
        Some(arguments) => arguments.to_string(),
    };
    Some(call(tool.name.clone(), arguments))
}

/// Ids are given later.
fn call(name: String, arguments: String) -> ToolCall {
    ToolCall { id: String::new(), name, arguments }
}

/// Marks that models put around their calls.
const TAGS: [&str; 4] = ["<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<|python_tag|>"];

/// Whether a text between two calls only joins them.
fn is_glue(text: &str) -> bool {
    let rest = TAGS.iter().fold(text.to_owned(), |text, tag| text.replace(tag, ""));
    rest.chars().all(|c| c.is_whitespace() || matches!(c, ',' | ';'))
}

fn without_tags(text: &str) -> &str {
    TAGS.iter().fold(text, |text, tag| text.strip_suffix(tag).unwrap_or(text).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<Tool> {
        let tool = |name: &str, properties: Value| Tool {
            name: name.to_owned(),
            description: String::new(),
            schema: json!({"type": "object", "properties": properties}),
        };
        vec![tool("look", json!({})), tool("python", json!({"code": {"type": "string"}}))]
    }

    /// The text before the calls, and each call as `name arguments`.
    fn found(text: &str) -> (String, Vec<String>) {
        let mut before = String::new();
        let mut calls = Vec::new();
        for part in split(text, &tools()).unwrap_or_default() {
            match part {
                Part::Text(text) => before = text,
                Part::Call(call) => calls.push(format!("{} {}", call.name, call.arguments)),
                other => panic!("{other:?}"),
            }
        }
        (before, calls)
    }

    #[test]
    fn a_call_is_understood_however_it_is_written() {
        for text in [
            r#"{"name": "look", "arguments": {"camera": "wrist"}}"#,
            r#"{"tool": "look", "args": {"camera": "wrist"}}"#,
            r#"{"type": "function", "function": {"name": "look", "arguments": "{\"camera\":\"wrist\"}"}}"#,
            r#"[{"name": "look", "parameters": {"camera": "wrist"}}]"#,
            "```json\n{\"name\": \"look\",\n \"arguments\": {\"camera\": \"wrist\"}}\n```",
            "```\n{\"tool\": \"look\", \"arguments\": {\"camera\": \"wrist\"}}\n```\n",
            "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"camera\": \"wrist\"}}\n</tool_call>",
            "[TOOL_CALLS][{\"name\": \"look\", \"arguments\": {\"camera\": \"wrist\"}}]",
        ] {
            let expected = vec![r#"look {"camera":"wrist"}"#.to_owned()];
            assert_eq!(found(text), (String::new(), expected), "{text}");
        }
    }

    #[test]
    fn python_in_a_fence_is_a_call_of_the_tool_that_takes_code() {
        let text = "I look first.\n\n```python\nprint({\"name\": \"look\"})\ns = '```'\n```\nDone.";
        let code = json!({"code": "print({\"name\": \"look\"})\ns = '```'"});
        let expected = ("I look first.".to_owned(), vec![format!("python {code}")]);
        assert_eq!(found(text), expected);
        assert_eq!(split(text, &tools()[..1]), None);
    }

    #[test]
    fn several_calls_count_only_one_after_the_other() {
        let two = "{\"name\": \"look\"},\n{\"name\": \"look\", \"arguments\": null}";
        assert_eq!(found(two).1, ["look {}", "look {}"]);
        let dreamt =
            "{\"name\": \"look\"}\nResult: a cup.\n{\"name\": \"python\", \"arguments\": {}}";
        assert_eq!(found(dreamt).1, ["look {}"]);
    }

    #[test]
    fn what_only_looks_like_a_call_is_text() {
        for text in [
            "",
            "no call",
            "{\"name\": \"fly\", \"arguments\": {}}",
            "[1, 2] and {\"a\": 1}",
            "[{\"name\": \"look\"}, 3]",
            "{\"name\": \"look\", ",
            "```json\n{\"name\": \"fly\"}\n```",
            "```python\nprint(1)",
            "```python\n\n```",
            "`code` {{{[[[ ß",
        ] {
            assert_eq!(split(text, &tools()), None, "{text}");
        }
    }

    #[test]
    fn no_text_is_too_odd() {
        arbtest::arbtest(|u| {
            let pieces = [
                "```", "python", "json", "\n", "{", "}", "[", "]", "\"name\"", ": ", "\"look\"",
                ",", "ß", "`",
            ];
            let mut text = String::new();
            for _ in 0..u.int_in_range(0..=30)? {
                text += u.choose(&pieces)?;
            }
            if let Some(parts) = split(&text, &tools()) {
                assert!(parts.iter().any(|part| matches!(part, Part::Call(_))), "{text}");
            }
            Ok(())
        });
    }
}
