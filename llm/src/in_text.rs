//! Tool modes for models that can't call tools: everything becomes text.

use serde_json::{Value, json};

use crate::{Answer, Message, Part, Request, Role, Tool, ToolCall, ToolMode};

/// A request in which tools, calls and answers are text.
pub(crate) struct Plain {
    pub system: String,
    pub messages: Vec<Message>,
    /// What the reply must look like, if the server enforces it.
    pub schema: Option<Value>,
}

impl Plain {
    pub fn new(request: &Request, mode: ToolMode) -> Self {
        let strict = mode == ToolMode::JsonSchema;
        let mut system = request.system.to_owned();
        if !request.tools.is_empty() {
            system += &described(request.tools, strict);
        }
        let messages =
            request.messages.iter().map(|message| plain(message, request, strict)).collect();
        let schema = (strict && !request.tools.is_empty()).then(|| schema(request.tools));
        Plain { system, messages, schema }
    }
}

/// The tools, and how to call them, as an end of the system prompt.
fn described(tools: &[Tool], strict: bool) -> String {
    let how = if strict {
        "Answer with nothing but one call of a tool, as JSON:"
    } else {
        "To call a tool, end your reply with its call as a block of JSON, and wait for the result:"
    };
    let example = json!({"tool": "NAME", "arguments": {"ARGUMENT": "VALUE"}});
    let example = if strict { example.to_string() } else { fenced("json", &example.to_string()) };
    let mut text = format!("\n\n# Tools\n\n{how}\n\n{example}\n");
    if !strict && let Some(tool) = tools.iter().find(|tool| tool.takes_code()) {
        let block = fenced("python", "...");
        text += &format!(
            "\nCode for `{}` may also stand in a block of its own:\n\n{block}\n",
            tool.name
        );
    }
    for tool in tools {
        let (name, about, schema) = (&tool.name, tool.description.trim(), &tool.schema);
        text += &format!("\n## {name}\n\n{about}\n\nArguments, as a JSON schema: {schema}\n");
    }
    text
}

fn fenced(language: &str, text: &str) -> String {
    format!("```{language}\n{text}\n```")
}

/// A call of one of the tools, and nothing else.
fn schema(tools: &[Tool]) -> Value {
    let call = |tool: &Tool| {
        json!({
            "type": "object",
            "properties": {"tool": {"const": tool.name}, "arguments": tool.schema},
            "required": ["tool", "arguments"],
            "additionalProperties": false,
        })
    };
    json!({"anyOf": tools.iter().map(call).collect::<Vec<_>>()})
}

fn plain(message: &Message, request: &Request, strict: bool) -> Message {
    let mut parts = Vec::new();
    for part in &message.parts {
        match part {
            Part::Call(call) => parts.push(Part::Text(call_text(call, request.tools, strict))),
            Part::Answer(answer) => plain_answer(answer, request, &mut parts),
            Part::Opaque(_) => {}
            other => parts.push(other.clone()),
        }
    }
    if message.role == Role::Assistant {
        parts = joined(parts);
    }
    Message { role: message.role, parts }
}

/// A call as the model is asked to write it.
fn call_text(call: &ToolCall, tools: &[Tool], strict: bool) -> String {
    let arguments = serde_json::from_str(&call.arguments)
        .unwrap_or_else(|_| Value::String(call.arguments.clone()));
    let json = json!({"tool": call.name, "arguments": arguments}).to_string();
    if strict {
        return json;
    }
    let is_code = tools.iter().find(|t| t.takes_code()).is_some_and(|t| t.name == call.name);
    let fields = arguments.as_object().filter(|fields| is_code && fields.len() == 1);
    match fields.and_then(|fields| fields.get("code")).and_then(Value::as_str) {
        Some(code) => fenced("python", code),
        None => fenced("json", &json),
    }
}

fn plain_answer(answer: &Answer, request: &Request, parts: &mut Vec<Part>) {
    let calls = request.messages.iter().flat_map(|message| &message.parts);
    let name = calls.into_iter().find_map(|part| match part {
        Part::Call(call) if call.id == answer.id => Some(call.name.as_str()),
        _ => None,
    });
    let name = name.unwrap_or("the tool");
    let verb = if answer.failed { "failed" } else { "returned" };
    parts.push(Part::Text(format!("{name} {verb}:")));
    parts.extend(answer.parts.iter().cloned());
}

/// The texts as one, so that the wires don't run them together.
fn joined(parts: Vec<Part>) -> Vec<Part> {
    let texts = parts.into_iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        _ => None,
    });
    vec![Part::Text(texts.collect::<Vec<_>>().join("\n\n"))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> Tool {
        Tool {
            name: name.to_owned(),
            description: format!("Does {name}."),
            schema: json!({"type": "object", "properties": {"code": {"type": "string"}}}),
        }
    }

    #[test]
    fn calls_and_answers_read_as_the_model_wrote_them() {
        let call = |id: &str, arguments: &str| {
            let (id, name) = (id.to_owned(), "python".to_owned());
            Part::Call(ToolCall { id, name, arguments: arguments.to_owned() })
        };
        let answer = Answer { id: "1".to_owned(), parts: vec![Part::text("4")], failed: true };
        let messages = [
            Message::assistant(vec![
                Part::text("Sum."),
                call("1", r#"{"code":"print(2+2)"}"#),
                call("2", "{oops"),
            ]),
            Message::user(vec![Part::Answer(answer)]),
        ];
        let tools = [tool("python")];
        let request =
            Request { system: "Be brief.", messages: &messages, tools: &tools, cache: false };
        let plain = Plain::new(&request, ToolMode::Text);
        assert!(plain.system.starts_with("Be brief.\n\n# Tools\n"), "{}", plain.system);
        assert!(plain.system.contains("## python\n\nDoes python.\n"), "{}", plain.system);
        assert_eq!(plain.schema, None);
        let said = "Sum.\n\n```python\nprint(2+2)\n```\n\n```json\n{\"tool\":\"python\",\"arguments\":\"{oops\"}\n```";
        assert_eq!(plain.messages[0].parts, [Part::text(said)]);
        assert_eq!(plain.messages[1].parts, [Part::text("python failed:"), Part::text("4")]);

        let strict = Plain::new(&request, ToolMode::JsonSchema);
        let schema = strict.schema.unwrap();
        assert_eq!(schema["anyOf"][0]["properties"]["tool"]["const"], "python");
        let said = strict.messages[0].parts[0].clone();
        let call = r#"{"tool":"python","arguments":{"code":"print(2+2)"}}"#;
        assert!(matches!(said, Part::Text(text) if text.contains(call)));
    }
}
