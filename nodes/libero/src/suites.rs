//! Suites and their tasks, and which of them have all their files.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use ruaflow_kit::nearest;
use thiserror::Error;

use crate::{
    bddl::{BddlError, Problem},
    catalog,
    data::{self, Data, DataError},
    init_states,
};

/// Why a suite or task could not be found.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// The list of suites could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The list of suites is not what it should be.
    #[error("the list of suites {path:?}, line {line}: {message}: run `./rua setup`")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// No suite of that name.
    #[error("there is no suite {name:?}: did you mean {nearest:?}? `rua suites` lists them")]
    UnknownSuite {
        /// The name asked for.
        name: String,
        /// The closest name there is.
        nearest: String,
    },
    /// The suite has fewer tasks.
    #[error("suite {suite:?} has no task {task}: its tasks are 0 to {last}")]
    TaskOutOfRange {
        /// The suite.
        suite: String,
        /// The task asked for.
        task: usize,
        /// The last task there is.
        last: usize,
    },
}

/// One task of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The suite's name (`libero_spatial`).
    pub suite: String,
    /// Index in the suite, from 0.
    pub index: usize,
    /// Stem of its files.
    pub name: String,
    /// The instruction: the task file's `:language`, in lower case. In the `_lan` and `_task`
    /// suites only this one tells the task, their file names are those of the suite they vary.
    pub instruction: String,
    /// The instruction that the file's name spells, which policies of the original suites were trained on.
    pub name_instruction: String,
    /// The task file.
    pub bddl: PathBuf,
    /// The file of initial states.
    pub init_states: PathBuf,
}

/// A suite: a name and the names of its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suite {
    /// For example `libero_spatial_swap`.
    pub name: String,
    /// Stems of the tasks' files, in the benchmark's order.
    pub tasks: Vec<String>,
}

/// A task as a list shows it.
#[derive(Debug, Clone)]
pub struct TaskEntry {
    /// Index in the suite.
    pub index: usize,
    /// Stem of its files.
    pub name: String,
    /// The instruction, when the task file is there.
    pub instruction: Option<String>,
    /// What it lacks; empty when it can run.
    pub missing: Vec<String>,
}

/// Every suite that the benchmark lists, in its order.
///
/// # Errors
/// [`SuiteError`] when the list is missing or not understood.
pub fn all(data: &Data) -> Result<Vec<Suite>, SuiteError> {
    let path = data.task_map();
    let text = data::read_text("the list of suites", &path)?;
    parse_task_map(&text).map_err(|(line, message)| SuiteError::Syntax { path, line, message })
}

/// The suite of that name, case aside.
///
/// # Errors
/// [`SuiteError::UnknownSuite`] with the nearest name.
pub fn find(data: &Data, name: &str) -> Result<Suite, SuiteError> {
    let suites = all(data)?;
    if let Some(suite) = suites.iter().find(|suite| suite.name.eq_ignore_ascii_case(name)) {
        return Ok(suite.clone());
    }
    let nearest = nearest(&name.to_lowercase(), suites.iter().map(|suite| suite.name.as_str()));
    Err(SuiteError::UnknownSuite {
        name: name.to_owned(),
        nearest: nearest.unwrap_or_default().to_owned(),
    })
}

impl Suite {
    /// The task at `index`, with its problem.
    ///
    /// # Errors
    /// [`SuiteError::TaskOutOfRange`], or [`BddlError`] when its file can't be used.
    pub fn task(&self, data: &Data, index: usize) -> Result<(Task, Problem), TaskError> {
        let name = self.tasks.get(index).ok_or_else(|| SuiteError::TaskOutOfRange {
            suite: self.name.clone(),
            task: index,
            last: self.tasks.len().saturating_sub(1),
        })?;
        let bddl = self.bddl(data, name);
        let problem = Problem::read(&bddl)?;
        let task = Task {
            suite: self.name.clone(),
            index,
            name: name.clone(),
            instruction: problem.language.clone(),
            name_instruction: instruction_in_name(name),
            bddl,
            init_states: self.init_states(data, name),
        };
        Ok((task, problem))
    }

    /// Its tasks with what each of them lacks.
    pub fn entries(&self, data: &Data) -> Vec<TaskEntry> {
        let entry = |(index, name): (usize, &String)| {
            let mut missing = Vec::new();
            let states = self.init_states(data, name);
            match init_states::count(&states) {
                Ok(0) => missing.push("initial states (the file holds none)".to_owned()),
                Ok(_) => {}
                Err(_) => missing.push("initial states".to_owned()),
            }
            let problem = Problem::read(&self.bddl(data, name));
            match &problem {
                Ok(problem) => missing.extend(missing_models(data, problem)),
                Err(BddlError::Data(_)) => missing.push("task file".to_owned()),
                Err(error) => missing.push(error.to_string()),
            }
            TaskEntry {
                index,
                name: name.clone(),
                instruction: problem.ok().map(|problem| problem.language),
                missing,
            }
        };
        self.tasks.iter().enumerate().map(entry).collect()
    }

    fn bddl(&self, data: &Data, task: &str) -> PathBuf {
        data.bddl_root().join(&self.name).join(format!("{task}.bddl"))
    }

    fn init_states(&self, data: &Data, task: &str) -> PathBuf {
        data.init_states_root().join(&self.name).join(format!("{task}.pruned_init.npz"))
    }
}

/// Why a task could not be opened.
#[derive(Debug, Error)]
pub enum TaskError {
    /// No such suite or task.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// Its file can't be used.
    #[error(transparent)]
    Bddl(#[from] BddlError),
}

fn missing_models(data: &Data, problem: &Problem) -> BTreeSet<String> {
    let assets = data.assets();
    let groups = problem.objects.iter().chain(&problem.fixtures);
    let names = groups.map(|group| group.category.as_str());
    names
        .filter(|name| !catalog::is_workspace(name))
        .filter(|name| !has_model(&assets, name))
        .map(|name| format!("model of {name:?}"))
        .collect()
}

fn has_model(assets: &Path, category: &str) -> bool {
    catalog::find(category).is_some_and(|category| assets.join(category.model_path()).is_file())
}

/// `KITCHEN_SCENE3_turn_on_the_stove` spells "turn on the stove".
fn instruction_in_name(name: &str) -> String {
    let upper = name.chars().next().is_some_and(char::is_uppercase);
    let words = match name.split_once("SCENE") {
        // What follows SCENE is a number and an underscore.
        Some((_, rest)) if upper => rest.split_once('_').map_or("", |(_, words)| words),
        _ => name,
    };
    words.replace('_', " ")
}

/// Reads the one literal that the file holds: a dictionary of lists of strings.
fn parse_task_map(text: &str) -> Result<Vec<Suite>, (usize, String)> {
    let mut suites: Vec<Suite> = Vec::new();
    let mut list: Option<Suite> = None;
    // Strings without a comma between them are one, in Python; the file has such a pair.
    let mut string: Option<String> = None;
    for (index, line) in text.lines().enumerate() {
        let fault = |message: &str| Err((index + 1, message.to_owned()));
        let mut rest = line.trim();
        if rest.starts_with("libero_task_map") {
            rest = "";
        }
        while let Some(first) = rest.chars().next() {
            match (first, &mut list) {
                ('#', _) => break,
                ('"' | '\'', _) => {
                    let Some((part, after)) = rest[1..].split_once(first) else {
                        return fault("a string without its end");
                    };
                    string.get_or_insert_default().push_str(part);
                    rest = after.trim_start();
                    continue;
                }
                ('[', None) => match string.take() {
                    Some(name) => list = Some(Suite { name, tasks: Vec::new() }),
                    None => return fault("a list without a suite's name"),
                },
                (',' | ']', Some(suite)) => {
                    // A task named twice is one task.
                    let new = string.take().filter(|task| !suite.tasks.contains(task));
                    suite.tasks.extend(new);
                    if first == ']' {
                        suites.extend(list.take());
                    }
                }
                (',' | ':' | '}' | '{', None) => {}
                _ => return fault("expected a suite's name or a list of tasks"),
            }
            rest = rest[1..].trim_start();
        }
    }
    if suites.is_empty() || list.is_some() {
        return Err((text.lines().count().max(1), "the list ends early".to_owned()));
    }
    Ok(suites)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_task_map() {
        let text = "libero_task_map = {\n  \"a\": [\n  \"x_1\", # note \"y\"\n 'x_2', \"x_1\",\n \"y\"\n \"_1\"],\n\n  \"b\": [],\n}\n";
        let suites = parse_task_map(text).expect("two suites");
        assert_eq!(
            suites[0],
            Suite {
                name: "a".to_owned(),
                tasks: ["x_1", "x_2", "y_1"].map(str::to_owned).to_vec()
            }
        );
        assert_eq!(suites[1], Suite { name: "b".to_owned(), tasks: vec![] });
    }

    #[test]
    fn a_broken_task_map_names_the_line() {
        for (text, line) in [
            ("libero_task_map = {\n \"a\": [\n \"x", 3),
            ("libero_task_map = {\n [\n", 2),
            ("libero_task_map = {\n \"a\": [\n \"x\"\n", 3),
            ("import os\n", 1),
            ("", 1),
        ] {
            let (found, message) = parse_task_map(text).expect_err(text);
            assert_eq!(found, line, "{text:?}: {message}");
        }
    }

    #[test]
    fn names_spell_instructions() {
        assert_eq!(instruction_in_name("pick_up_the_milk"), "pick up the milk");
        assert_eq!(instruction_in_name("KITCHEN_SCENE3_turn_on_the_stove"), "turn on the stove");
        assert_eq!(instruction_in_name("KITCHEN_SCENE10_close_the_drawer"), "close the drawer");
    }
}
