//! The tools an agent calls.

use ruaflow_robots::RobotApi;
use serde::Serialize;
use serde_json::{Value, json};

use crate::hidden;
use crate::rules::{Arm, Rules};

/// Runs a cell.
pub const PYTHON: &str = "python";
/// Runs a whole program.
pub const RUN_PROGRAM: &str = "run_program";
/// Ends the episode.
pub const FINISH: &str = "finish";

/// A function that an agent may call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub schema: Value,
    /// Whether it may move the robot.
    #[serde(skip)]
    pub moves: bool,
}

/// The tools of an arm, `finish` last; none for one that calls none.
#[must_use]
pub fn tools(api: &RobotApi, rules: &Rules) -> Vec<Tool> {
    let mut tools = match rules.arm {
        Arm::SingleShot => return Vec::new(),
        Arm::Cells => vec![python()],
        Arm::Program => vec![run_program()],
        Arm::Tools => methods(api, rules),
    };
    tools.push(finish());
    tools
}

fn python() -> Tool {
    tool(
        PYTHON,
        "Runs a cell of Python beside the live robot.",
        json!({
            "type": "object",
            "properties": { "code": { "type": "string" } },
            "required": ["code"],
            "additionalProperties": false,
        }),
    )
}

fn run_program() -> Tool {
    tool(
        RUN_PROGRAM,
        "Runs a program, a complete file that defines run(robo). Give its text, or the path of a \
         file in the workspace.",
        json!({
            "type": "object",
            "properties": {
                "code": { "type": "string" },
                "path": { "type": "string" },
            },
            "required": [],
            "additionalProperties": false,
        }),
    )
}

fn finish() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "status": { "enum": ["success", "failure", "stuck"] },
            "summary": { "type": "string", "description": "what happened" },
        },
        "required": ["status", "summary"],
        "additionalProperties": false,
    });
    Tool { moves: false, ..tool(FINISH, "Ends the episode.", schema) }
}

fn methods(api: &RobotApi, rules: &Rules) -> Vec<Tool> {
    let moves = |name: &str| api.method(name).is_some_and(|method| method.stateful());
    api.tools(rules.told())
        .into_iter()
        .filter(|tool| !hidden(rules).contains(&tool.name))
        .map(|tool| Tool {
            name: tool.name.to_owned(),
            description: tool.description,
            schema: tool.input_schema,
            moves: moves(tool.name),
        })
        .collect()
}

fn tool(name: &str, description: &str, schema: Value) -> Tool {
    Tool { name: name.to_owned(), description: description.to_owned(), schema, moves: true }
}
