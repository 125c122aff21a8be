//! `rua suites`: the benchmark's suites and tasks.

use std::process::ExitCode;

use eyre::Result;
use libero::data::Data;
use libero::suites::{self, Suite, SuiteError, TaskEntry};
use serde_json::json;

use crate::args::Suites;
use crate::failure::usage;
use crate::print;

pub fn run(args: &Suites) -> Result<ExitCode> {
    let data = Data::locate()?;
    match &args.suite {
        None => list_suites(&data, args.json)?,
        Some(name) => list_tasks(&data, &find(&data, name)?, args.json)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The suite of that name; an unknown one is wrong usage.
pub fn find(data: &Data, name: &str) -> Result<Suite> {
    suites::find(data, name).map_err(|error| match error {
        SuiteError::UnknownSuite { .. } => usage(error.to_string()),
        other => other.into(),
    })
}

fn list_suites(data: &Data, as_json: bool) -> Result<()> {
    let all = suites::all(data)?;
    let complete =
        |suite: &Suite| suite.entries(data).iter().filter(|task| task.missing.is_empty()).count();
    if as_json {
        let rows = all.iter().map(|suite| json!({ "suite": suite.name, "tasks": suite.tasks.len(), "complete": complete(suite) }));
        return print::json(&rows.collect::<Vec<_>>());
    }
    let width = all.iter().map(|suite| suite.name.len()).max().unwrap_or(0);
    for suite in &all {
        let incomplete = match suite.tasks.len() - complete(suite) {
            0 => String::new(),
            n if n == suite.tasks.len() => ", all incomplete".to_owned(),
            n => format!(", {n} incomplete"),
        };
        print::line(format_args!(
            "{:width$}  {:3} tasks{incomplete}",
            suite.name,
            suite.tasks.len()
        ));
    }
    Ok(())
}

fn list_tasks(data: &Data, suite: &Suite, as_json: bool) -> Result<()> {
    let tasks = suite.entries(data);
    if as_json {
        return print::json(&tasks.iter().map(task_json).collect::<Vec<_>>());
    }
    for task in &tasks {
        let instruction = task.instruction.as_deref().unwrap_or(&task.name);
        print::line(format_args!("{:3}  {instruction}", task.index));
        if !task.missing.is_empty() {
            print::line(format_args!(
                "     incomplete, can't run; missing: {}",
                task.missing.join(", ")
            ));
        }
    }
    Ok(())
}

fn task_json(task: &TaskEntry) -> serde_json::Value {
    json!({ "task": task.index, "instruction": task.instruction, "name": task.name, "missing": task.missing })
}
