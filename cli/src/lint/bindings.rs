//! Which names a policy defines, and what is known of them.

use std::collections::HashMap;

use ruaflow_robots::{Record, RobotApi};
use ruff_python_ast::visitor::{
    Visitor, walk_except_handler, walk_expr, walk_parameter, walk_pattern, walk_stmt,
};
use ruff_python_ast::{ExceptHandler, Expr, ExprContext, ModModule, Parameter, Pattern, Stmt};

/// Names by what they are bound to; scopes are not told apart, so a name counts as
/// known only when all that binds it agrees.
pub(super) struct Bindings {
    names: HashMap<String, Bound>,
    /// `from x import *`: any name may be defined.
    pub anything: bool,
}

#[derive(Clone, Copy)]
enum Bound {
    /// The result of a method of `robo`.
    Record(&'static Record),
    Other,
}

impl Bindings {
    pub fn of(module: &ModModule, api: &'static RobotApi) -> Self {
        let found = Self { names: HashMap::new(), anything: false };
        let mut finder = Finder { api, found };
        finder.visit_body(&module.body);
        finder.found
    }

    pub fn defines(&self, name: &str) -> bool {
        self.anything || self.names.contains_key(name)
    }

    /// All names that are bound.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// The record that a name always holds, if it does.
    pub fn record(&self, name: &str) -> Option<&'static Record> {
        match self.names.get(name) {
            Some(Bound::Record(record)) => Some(record),
            _ => None,
        }
    }
}

struct Finder {
    api: &'static RobotApi,
    found: Bindings,
}

impl Finder {
    fn bind(&mut self, name: &str, bound: Bound) {
        let known = self.found.names.get(name).copied();
        let bound = match (known, bound) {
            (None, bound) => bound,
            (Some(Bound::Record(known)), Bound::Record(record)) if known.name == record.name => {
                Bound::Record(record)
            }
            _ => Bound::Other,
        };
        self.found.names.insert(name.to_owned(), bound);
    }

    fn other(&mut self, name: &str) {
        self.bind(name, Bound::Other);
    }
}

/// The record that a call of a method of `robo` gives.
pub(super) fn record_of(expression: &Expr, api: &'static RobotApi) -> Option<&'static Record> {
    let call = expression.as_call_expr()?;
    let method = call.func.as_attribute_expr()?;
    let robo = method.value.as_name_expr().is_some_and(|owner| owner.id == "robo");
    api.method(method.attr.as_str()).filter(|_| robo)?.record()
}

impl<'a> Visitor<'a> for Finder {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            // `move = robo.move_to(...)`: the name is known, not only bound.
            Stmt::Assign(assign) => {
                if let ([Expr::Name(name)], Some(record)) =
                    (assign.targets.as_slice(), record_of(&assign.value, self.api))
                {
                    self.bind(name.id.as_str(), Bound::Record(record));
                    self.visit_expr(&assign.value);
                    return;
                }
            }
            Stmt::FunctionDef(function) => self.other(function.name.as_str()),
            Stmt::ClassDef(class) => self.other(class.name.as_str()),
            Stmt::Import(import) => {
                for alias in &import.names {
                    let first = alias.name.as_str().split('.').next().unwrap_or_default();
                    self.other(alias.asname.as_ref().map_or(first, |name| name.as_str()));
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    self.found.anything |= name == "*";
                    self.other(name);
                }
            }
            Stmt::Global(global) => global.names.iter().for_each(|name| self.other(name.as_str())),
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression
            && name.ctx != ExprContext::Load
        {
            self.other(name.id.as_str());
        }
        walk_expr(self, expression);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.other(parameter.name.as_str());
        walk_parameter(self, parameter);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(caught) = handler;
        if let Some(name) = &caught.name {
            self.other(name.as_str());
        }
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(pattern) => pattern.name.as_ref(),
            Pattern::MatchStar(pattern) => pattern.name.as_ref(),
            Pattern::MatchMapping(pattern) => pattern.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.other(name.as_str());
        }
        walk_pattern(self, pattern);
    }
}
