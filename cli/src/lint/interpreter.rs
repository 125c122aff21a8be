//! Asks the cells' own interpreter which names there are, so that there is no
//! list to keep.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use cell_runner::child::{Child, ChildConfig, ChildEvent};
use cell_runner::modules;
use eyre::{Result, WrapErr as _, bail};
use ruaflow_kit::nearest;
use ruaflow_robots::{NONE, Primitives};
use serde::Deserialize;
use serde_json::json;

use super::bindings::Bindings;
use super::finding::Finding;
use super::references::{Member, References};
use crate::clone::Clone;

const PATIENCE: Duration = Duration::from_secs(60);
const MEMORY_BYTES: u64 = 512 << 20;

/// Answers that are still worth reading, and that a cell can print.
const MAX_ANSWERS: usize = 40;

/// Follows each way from its module as long as there are modules and classes.
const QUESTION: &str = r#"
import difflib, json, types

def missing(module, path):
    at = __import__(module, fromlist=["_"])
    for index, name in enumerate(path):
        if not isinstance(at, (types.ModuleType, type)):
            return None
        if hasattr(at, name):
            at = getattr(at, name)
            continue
        try:
            at = __import__(".".join([module, *path[:index + 1]]), fromlist=["_"])
        except ImportError:
            near = difflib.get_close_matches(name, dir(at), 1)
            return [index, near[0] if near else None]
    return None

def unknown(name):
    try:
        eval(name)
    except NameError:
        return True

def answer(members, names, most):
    found = [[i, *gap] for i, gap in enumerate(missing(*member) for member in members) if gap]
    absent = [name for name in names if unknown(name)]
    return json.dumps({"members": found[:most], "names": absent[:most]})
"#;

#[derive(Debug, Deserialize)]
struct Answer {
    /// Number of the member, of its part that is not there, and what is near.
    members: Vec<(usize, usize, Option<String>)>,
    /// Names that Python does not have either.
    names: Vec<String>,
}

pub(super) struct Interpreter {
    program: PathBuf,
}

impl Interpreter {
    pub fn new(clone: &Clone) -> Self {
        Self { program: clone.program("cell-runner") }
    }

    /// Errors for names that are not in their module, or nowhere; `given` are those
    /// that every cell has.
    ///
    /// # Errors
    /// When the interpreter can't be asked.
    pub fn check(
        &self,
        references: &References,
        bindings: &Bindings,
        given: &[&str],
    ) -> Result<Vec<Finding>> {
        let known = |name: &str| bindings.defines(name) || given.contains(&name);
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in &references.loads {
            if !known(name) && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let members: Vec<&Member> =
            references.members.iter().filter(|m| modules::is_available(&m.module)).collect();
        if names.is_empty() && members.is_empty() {
            return Ok(Vec::new());
        }
        let answer = self.ask(&members, &names)?;
        let mut findings = Vec::new();
        for (member, part, near) in answer.members {
            if let Some(member) = members.get(member)
                && let Some((name, at)) = member.path.get(part)
            {
                let near =
                    near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
                let text = format!("{}: there is no {name:?} in it{near}", member.written);
                findings.push(Finding::error(*at, text));
            }
        }
        for (name, at) in &references.loads {
            if answer.names.contains(name) {
                let near = nearest(name, bindings.names().chain(given.iter().copied()));
                let near =
                    near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
                findings.push(Finding::error(*at, format!("nothing defines {name:?}{near}")));
            }
        }
        Ok(findings)
    }

    fn ask(&self, members: &[&Member], names: &[&str]) -> Result<Answer> {
        let members: Vec<_> = members
            .iter()
            .map(|member| {
                let path: Vec<&str> = member.path.iter().map(|(name, _)| name.as_str()).collect();
                json!([member.module, path])
            })
            .collect();
        let question = format!(
            "{QUESTION}\nprint(answer({}, {}, {MAX_ANSWERS}))\n",
            json!(members),
            json!(names)
        );
        let printed = self.run(&question)?;
        serde_json::from_str(&printed)
            .wrap_err_with(|| format!("the cells' interpreter answered {printed:?}"))
    }

    fn run(&self, code: &str) -> Result<String> {
        let (sender, events) = mpsc::channel();
        let config = ChildConfig { program: self.program.clone(), memory_bytes: MEMORY_BYTES };
        let child = Child::spawn(&config, move |event| {
            // Nobody waits any more once there is an answer.
            let _ = sender.send(event);
        })
        .wrap_err("bin/cell-runner is needed to look names up: run `./rua setup`")?;
        child.init(NONE.name, Primitives::Full);
        child.run(1, code);
        let end = Instant::now() + PATIENCE;
        loop {
            match events.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(ChildEvent::Done { done, output }) => match done.error {
                    Some(error) => bail!("the cells' interpreter failed: {}", error.traceback),
                    None => return Ok(output.stdout),
                },
                Ok(ChildEvent::Exited { exit, .. }) => bail!("the cells' interpreter died: {exit}"),
                Ok(_) => {}
                Err(_) => bail!("the cells' interpreter did not answer within {PATIENCE:?}"),
            }
        }
    }
}
