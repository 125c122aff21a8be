//! What a cell's source tries that a policy has no use for, found without running it.
//!
//! It holds nobody back, the sandbox does that; it is a record of what was tried,
//! for those who compare runs. Names that are put together at run time escape it.

use std::fmt;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ModModule, PySourceType, Stmt};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::Ranged;

use crate::modules;

/// Flags kept of one source.
pub const MAX_FLAGS: usize = 40;

/// Longer sources are not read; no policy is.
const MAX_SOURCE_BYTES: usize = 100_000;

/// Enough for a source that is nothing but brackets: the tree is walked, and
/// dropped, as deep as it is.
const STACK_BYTES: usize = 256 << 20;

/// How long the end of a cell waits for its audit.
const PATIENCE: Duration = Duration::from_millis(100);

/// Characters shown of a path.
const MAX_PATH_CHARS: usize = 80;

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    pub kind: FlagKind,
    /// The module, name or path.
    pub what: String,
    /// Where in the source, bytes.
    pub offset: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagKind {
    /// An import of a module that cells do not have.
    Import,
    /// An attribute that its owner calls private.
    PrivateAttribute,
    /// A name that leads from an object to the interpreter behind it.
    Escape,
    /// A look at names by way of text.
    Probe,
    /// Text that names a file outside the workspace.
    Path,
}

impl FlagKind {
    /// In words, for a person who reads `rua lint`.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Import => "a module that cells do not have",
            Self::PrivateAttribute => "a private attribute",
            Self::Escape => "a way into the interpreter",
            Self::Probe => "a name looked up as text",
            Self::Path => "a file outside the workspace",
        }
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            FlagKind::Import => "import",
            FlagKind::PrivateAttribute => "private-attr",
            FlagKind::Escape => "escape",
            FlagKind::Probe => "probe",
            FlagKind::Path => "path",
        };
        write!(f, "{kind}:{}", self.what)
    }
}

/// An audit under way. The node has deadlines to keep, and some sources that are
/// nothing but brackets take seconds to parse.
#[derive(Debug)]
pub struct Audit(Receiver<Vec<String>>);

impl Audit {
    /// Begins to read a cell's source on a thread of its own.
    #[must_use]
    pub fn start(source: &str) -> Self {
        let (sender, receiver) = mpsc::channel();
        let source = source.to_owned();
        let thread = thread::Builder::new().name("audit".to_owned()).stack_size(STACK_BYTES);
        let started = thread.spawn(move || sender.send(flags(&source)));
        if let Err(error) = started {
            tracing::warn!(%error, "a cell's source could not be read");
        }
        Self(receiver)
    }

    /// The flags, each once, at most [`MAX_FLAGS`].
    #[must_use]
    pub fn finish(self) -> Vec<String> {
        let unread = |_| vec!["source:not read in time".to_owned()];
        self.0.recv_timeout(PATIENCE).unwrap_or_else(unread)
    }
}

/// A syntax error hides what comes after it.
fn flags(source: &str) -> Vec<String> {
    if source.len() > MAX_SOURCE_BYTES {
        return vec![format!("source:{} bytes, not read", source.len())];
    }
    let parsed = parse_unchecked_source(source, PySourceType::Python);
    let mut flags: Vec<String> = Vec::new();
    for flag in audit(parsed.syntax()) {
        let flag = flag.to_string();
        if flags.len() < MAX_FLAGS && !flags.contains(&flag) {
            flags.push(flag);
        }
    }
    flags
}

/// Every flag of a module, in the order of its source.
#[must_use]
pub fn audit(module: &ModModule) -> Vec<Flag> {
    let mut auditor = Auditor { flags: Vec::new() };
    auditor.visit_body(&module.body);
    auditor.flags.sort_by_key(|flag| flag.offset);
    auditor.flags
}

/// Names that lead from a function, class or frame to everything else.
const ESCAPES: &[&str] = &[
    "__base__",
    "__bases__",
    "__builtins__",
    "__closure__",
    "__code__",
    "__func__",
    "__globals__",
    "__import__",
    "__loader__",
    "__mro__",
    "__self__",
    "__spec__",
    "__subclasses__",
    "__traceback__",
    "__wrapped__",
    "_getframe",
    "ag_frame",
    "cr_frame",
    "f_back",
    "f_builtins",
    "f_globals",
    "f_locals",
    "gi_frame",
    "mro",
    "tb_frame",
];

const PROBES: &[&str] = &[
    "compile", "delattr", "dir", "eval", "exec", "getattr", "globals", "locals", "setattr", "vars",
];

/// Private by spelling, public by documentation.
const NOT_PRIVATE: &[&str] = &["_asdict", "_fields", "_field_defaults", "_make", "_replace"];

struct Auditor {
    flags: Vec<Flag>,
}

impl Auditor {
    fn flag(&mut self, kind: FlagKind, what: &str, node: &impl Ranged) {
        self.flags.push(Flag { kind, what: what.to_owned(), offset: node.start().to_usize() });
    }

    fn import(&mut self, module: &str, node: &impl Ranged) {
        // One that nobody knows is a file of the workspace, or fails.
        if !modules::is_available(module) && modules::instead(module).is_some() {
            self.flag(FlagKind::Import, module, node);
        }
    }

    fn attribute(&mut self, owner: &Expr, name: &str, node: &impl Ranged) {
        let own =
            owner.as_name_expr().is_some_and(|owner| matches!(owner.id.as_str(), "self" | "cls"));
        let dunder = name.starts_with("__") && name.ends_with("__");
        if ESCAPES.contains(&name) {
            self.flag(FlagKind::Escape, name, node);
        } else if name.starts_with('_') && !dunder && !own && !NOT_PRIVATE.contains(&name) {
            self.flag(FlagKind::PrivateAttribute, name, node);
        }
    }

    fn text(&mut self, text: &str, node: &impl Ranged) {
        if text.starts_with("__") && ESCAPES.contains(&text) {
            self.flag(FlagKind::Escape, text, node);
        } else if leads_out(text) {
            let shown: String = text.chars().take(MAX_PATH_CHARS).collect();
            self.flag(FlagKind::Path, &shown, node);
        }
    }
}

impl<'a> Visitor<'a> for Auditor {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.import(alias.name.as_str(), alias);
                }
            }
            Stmt::ImportFrom(import) if import.level == 0 => {
                if let Some(module) = &import.module {
                    self.import(module.as_str(), module);
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Attribute(attribute) => {
                self.attribute(&attribute.value, attribute.attr.as_str(), &attribute.attr);
            }
            Expr::Name(name) => {
                let id = name.id.as_str();
                if id.starts_with("__") && ESCAPES.contains(&id) {
                    self.flag(FlagKind::Escape, id, name);
                }
            }
            Expr::Call(call) => {
                if let Some(name) = call.func.as_name_expr()
                    && PROBES.contains(&name.id.as_str())
                {
                    self.flag(FlagKind::Probe, name.id.as_str(), name);
                }
            }
            Expr::StringLiteral(text) => self.text(text.value.to_str(), text),
            _ => {}
        }
        walk_expr(self, expression);
    }
}

/// Whether text looks like a path that is not in the workspace.
fn leads_out(text: &str) -> bool {
    let name = |text: &str| {
        text.starts_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_')
            && !text.contains(char::is_whitespace)
    };
    text.strip_prefix('/').is_some_and(name)
        || text.strip_prefix("~/").is_some_and(name)
        || text == ".."
        || text.starts_with("../")
        || text.contains("/../")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_has_no_flags() {
        let policy = "
import math
import numpy as np
from PIL import Image
from collections import namedtuple
Pose = namedtuple('Pose', 'x y')
class Grasp:
    def __init__(self, xyz):
        super().__init__()
        self._xyz = xyz
p = Pose(1, 2)._replace(x=3)
for _ in range(3):
    r = robo.move_to([*p, 0.3], gripper=robo.OPEN)
    print('x/y', r.final_eef_pos, f'{r.final_dist_m:.3f}/m', 'done / open')
print(open('guides/' + 'env_calibration.md').read())
try:
    import helpers
except ImportError as error:
    print(error)
";
        assert_eq!(Audit::start(policy).0.recv().unwrap(), [""; 0]);
    }

    #[test]
    fn what_a_policy_has_no_use_for_is_flagged() {
        let hostile = "
import subprocess, os, socket as s
from ctypes import CDLL
robo._call('state')
f = (lambda: 0).__globals__['__builtins__']
getattr(robo, 'x')
open('/etc/passwd'); open('../../states.json'); '~/x'
().__class__.__base__.__subclasses__()
print(f'{sys._getframe().f_back}')
__import__('cv2')
";
        assert_eq!(
            flags(hostile),
            [
                "import:subprocess",
                "import:socket",
                "import:ctypes",
                "private-attr:_call",
                "escape:__globals__",
                "escape:__builtins__",
                "probe:getattr",
                "path:/etc/passwd",
                "path:../../states.json",
                "path:~/x",
                "escape:__base__",
                "escape:__subclasses__",
                "escape:_getframe",
                "escape:f_back",
                "escape:__import__",
            ]
        );
    }

    #[test]
    fn there_are_at_most_forty_and_each_once() {
        let many: String = (0..100).map(|n| format!("x._a{n}; x._a{n}\n")).collect();
        let flags = flags(&many);
        assert_eq!(flags.len(), MAX_FLAGS);
        assert_eq!(flags[1], "private-attr:_a1");
    }

    #[test]
    fn a_syntax_error_hides_nothing_before_it() {
        assert_eq!(flags("import socket\nfor in x:\n"), ["import:socket"]);
    }

    #[test]
    fn no_source_is_too_deep_or_too_long() {
        for deep in ["(", "[", "-", "not ", "a.", "lambda:", "f(", "{1:", "x if "] {
            let source = deep.repeat((MAX_SOURCE_BYTES - 1) / deep.len());
            for source in [source.clone(), source + "1"] {
                // Waits as long as it takes, to see that nothing overflows.
                assert_eq!(Audit::start(&source).0.recv().unwrap(), [""; 0], "{deep:?}");
            }
        }
        let long = Audit::start(&"#".repeat(200_000));
        assert_eq!(long.finish(), ["source:200000 bytes, not read"]);
    }
}
