//! Executes what an agent calls, whoever brings the call: the native model loop,
//! the MCP server or a runtime's command line. One place, so that every way of
//! acting has the same primitives, answers and records.

mod program;
mod text;

use std::sync::Arc;
use std::time::Instant;

use ruaflow_llm::Image;
use ruaflow_prompt::{Arm, FINISH, PYTHON, RUN_PROGRAM, Tool};
use ruaflow_record::{CallRecord, PartRecord, cell_text, picture_name};
use ruaflow_robots::Method;
use ruaflow_schemas::CellResult;
use serde_json::{Map, Value};

use self::text::{call_source, measured, title_of};
use crate::backend::{Ending, Over, Why};
use crate::episode::Episode;

/// Executes an agent's tool calls in one episode.
pub struct Hands {
    tools: Vec<Tool>,
    programs: u32,
}

/// What a tool call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What the agent reads.
    pub text: String,
    /// Pictures it sees after the text.
    pub images: Vec<Image>,
    /// Whether it was refused or went wrong.
    pub failed: bool,
    /// Set when the episode is over: what the backend is to end with.
    pub ending: Option<Ending>,
    /// Number of the call in `turns.jsonl`.
    pub number: u32,
}

/// What was done, before it is written down.
#[derive(Default)]
struct Done {
    text: String,
    failed: bool,
    ending: Option<Ending>,
    cell: Option<CellResult>,
}

impl Done {
    fn refused(text: impl Into<String>) -> Self {
        Done { text: text.into(), failed: true, ..Done::default() }
    }
}

impl Hands {
    /// Hands with the tools of the episode's arm.
    #[must_use]
    pub fn new(episode: &Episode) -> Self {
        Hands { tools: ruaflow_prompt::tools(episode.api(), episode.rules()), programs: 0 }
    }

    /// The tools an agent has, `finish` last.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Executes a call and writes it down.
    ///
    /// `arguments` is JSON text as a model wrote it: what is malformed gets an answer
    /// that says how to mend it. `id` is the model's own for the call, if it gave one.
    pub fn call(
        &mut self,
        episode: &mut Episode,
        id: &str,
        name: &str,
        arguments: &str,
    ) -> Outcome {
        let began = Instant::now();
        let name = plain_name(name);
        let done = self.act(episode, name, arguments);
        self.written(
            episode,
            began,
            CallRecord {
                id: id.to_owned(),
                tool: name.to_owned(),
                arguments: arguments.to_owned(),
                ..CallRecord::default()
            },
            done,
        )
    }

    /// Writes down a call that is not executed, and why.
    pub fn refuse(
        &mut self,
        episode: &mut Episode,
        id: &str,
        name: &str,
        arguments: &str,
        why: &str,
    ) -> Outcome {
        let record = CallRecord {
            id: id.to_owned(),
            tool: plain_name(name).to_owned(),
            arguments: arguments.to_owned(),
            ..CallRecord::default()
        };
        self.written(episode, Instant::now(), record, Done::refused(why))
    }

    fn written(
        &self,
        episode: &mut Episode,
        began: Instant,
        record: CallRecord,
        done: Done,
    ) -> Outcome {
        let images = done.cell.as_ref().map(pictures).unwrap_or_default();
        let acts = record.tool != FINISH;
        let record = CallRecord {
            answer: done.text.clone(),
            images: done.cell.as_ref().map(picture_records).unwrap_or_default(),
            failed: done.failed,
            cell: done.cell.as_ref().map(|cell| cell.index).filter(|index| *index > 0),
            audit: done.cell.map(|cell| cell.audit).unwrap_or_default(),
            seconds: began.elapsed().as_secs_f64(),
            ..record
        };
        let number = episode.book_call(record, acts);
        Outcome { text: done.text, images, failed: done.failed, ending: done.ending, number }
    }

    fn act(&mut self, episode: &mut Episode, name: &str, arguments: &str) -> Done {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else {
            let known: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
            return Done::refused(format!(
                "there is no tool {name:?}; there are {}. Nothing was run.",
                known.join(", ")
            ));
        };
        let arguments = match object(tool, arguments) {
            Ok(arguments) => arguments,
            Err(text) => return Done::refused(text),
        };
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        match (name, episode.api().method(name)) {
            (FINISH, _) => finish(text("status"), text("summary")),
            (PYTHON, _) => cell_done(episode.run(text("code"), &title_of(text("code")))),
            (RUN_PROGRAM, _) => self.program(episode, text("code"), text("path")),
            (_, Some(method)) => primitive(episode, method, &arguments),
            (_, None) => Done::refused(format!("{name}: the robot has no such method")),
        }
    }

    fn program(&mut self, episode: &mut Episode, code: &str, path: &str) -> Done {
        let most = episode.rules().max_programs;
        if most.is_some_and(|most| self.programs >= most) {
            return Done::refused("no program is left: call finish");
        }
        let code = match program::source(&episode.dir().join("workspace"), code, path) {
            Ok(code) => code,
            Err(why) => return Done::refused(format!("{why}. Nothing was run.")),
        };
        self.programs += 1;
        let mut done = cell_done(episode.run_fresh(&code, &format!("program {}", self.programs)));
        if let Some(most) = most {
            let left = most.saturating_sub(self.programs);
            done.text.push_str(&format!("[programs left: {left}]\n"));
        }
        done
    }
}

/// A program in one reply: the arm `single-shot`. `None` when the text holds no code.
#[must_use]
pub fn program_in(reply: &str) -> Option<String> {
    program::fenced(reply)
}

/// A program that defines `run(robo)`, ready to be a cell.
///
/// # Errors
/// What is wrong with it.
pub fn program_cell(code: &str) -> Result<String, String> {
    program::cell(code)
}

/// The pictures of a cell, for a model.
#[must_use]
pub fn pictures(cell: &CellResult) -> Vec<Image> {
    let image = |picture: &ruaflow_schemas::Picture| Image {
        png: Arc::from(picture.png.0.as_slice()),
        width: picture.width,
        height: picture.height,
    };
    cell.images.iter().map(image).collect()
}

/// Where the recorder keeps a cell's picture, counted from 0, in the episode's folder.
pub(crate) fn picture_file(cell: u32, number: usize, name: &str) -> String {
    format!("cells/{cell:03}.{}", picture_name(number + 1, name))
}

fn picture_records(cell: &CellResult) -> Vec<PartRecord> {
    let numbered = cell.images.iter().enumerate();
    numbered
        .map(|(number, picture)| PartRecord::Image {
            file: picture_file(cell.index, number, &picture.name),
            width: picture.width,
            height: picture.height,
        })
        .collect()
}

fn cell_done(ran: Result<CellResult, Over>) -> Done {
    match ran {
        Ok(cell) => Done {
            text: cell_text(&cell),
            failed: cell.status != "ok",
            ending: None,
            cell: Some(cell),
        },
        Err(over) => over_done(over, cell_text),
    }
}

/// The last cell's answer, and why there is no further one.
fn over_done(over: Over, tell: impl Fn(&CellResult) -> String) -> Done {
    let mut text = over.last.as_deref().map(tell).unwrap_or_default();
    let last_words = matches!(over.why, Why::Budget(_));
    if last_words || text.is_empty() {
        text.push_str(&format!("[{}]\n", over.why.words()));
    }
    Done {
        text,
        failed: over.last.as_ref().is_none_or(|cell| cell.status == "error"),
        ending: (!last_words).then_some(Ending::Over),
        cell: over.last.map(|cell| *cell),
    }
}

/// One method as a cell of one line, so that every arm has the same robot.
fn primitive(episode: &mut Episode, method: &Method, arguments: &Map<String, Value>) -> Done {
    let code = call_source(method, arguments);
    match episode.run(&code, method.name) {
        Ok(cell) => Done {
            text: measured(method, &cell),
            failed: cell.status != "ok",
            ending: None,
            cell: Some(cell),
        },
        Err(over) => over_done(over, |cell| measured(method, cell)),
    }
}

fn finish(status: &str, summary: &str) -> Done {
    if !FINISH_STATUSES.contains(&status) {
        return Done::refused(format!(
            "finish: status is {status:?}, expected one of {}",
            FINISH_STATUSES.join(", ")
        ));
    }
    let ending = Ending::Finished { status: status.to_owned(), summary: summary.to_owned() };
    Done { text: "the episode ends here".to_owned(), ending: Some(ending), ..Done::default() }
}

const FINISH_STATUSES: [&str; 3] = ["success", "failure", "stuck"];

/// The arguments, with what the tool requires among them.
fn object(tool: &Tool, arguments: &str) -> Result<Map<String, Value>, String> {
    let text = if arguments.trim().is_empty() { "{}" } else { arguments };
    let example = || example(tool);
    let wrong = |why: String| {
        format!("{}: {why}. Nothing was run. Send a JSON object like {}", tool.name, example())
    };
    let given = match serde_json::from_str(text) {
        Ok(Value::Object(given)) => given,
        // Some models send the object as a text.
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(given)) => given,
            _ => return Err(wrong("the arguments are a text, not an object".to_owned())),
        },
        Ok(_) => return Err(wrong("the arguments are not an object".to_owned())),
        Err(error) => return Err(wrong(format!("the arguments are not JSON ({error})"))),
    };
    let required = tool.schema["required"].as_array().into_iter().flatten();
    let missing: Vec<&str> =
        required.filter_map(Value::as_str).filter(|name| !given.contains_key(*name)).collect();
    let unknown: Vec<&str> = given
        .keys()
        .map(String::as_str)
        .filter(|name| tool.schema["properties"].get(name).is_none())
        .collect();
    if !missing.is_empty() {
        return Err(wrong(format!("{} is missing", missing.join(", "))));
    }
    if !unknown.is_empty() {
        return Err(wrong(format!("there is no argument {}", unknown.join(", "))));
    }
    Ok(given)
}

fn example(tool: &Tool) -> String {
    let names = tool.schema["properties"].as_object().into_iter().flatten();
    let required = |name: &str| {
        tool.schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name))
    };
    let mut shown: Vec<String> =
        names.filter(|(name, _)| required(name)).map(|(name, _)| format!("{name:?}: …")).collect();
    if shown.is_empty() && tool.name == RUN_PROGRAM {
        shown.push("\"code\": …".to_owned());
    }
    format!("{{{}}}", shown.join(", "))
}

/// Without the server's name that MCP clients put before a tool's.
fn plain_name(name: &str) -> &str {
    match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some((_, tool)) => tool,
        None => name,
    }
}

/// Whether the arm's agent calls tools at all.
#[must_use]
pub fn has_tools(arm: Arm) -> bool {
    arm != Arm::SingleShot
}
