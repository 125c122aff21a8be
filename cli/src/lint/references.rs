//! What a policy refers to: modules, names in them, and names of its own.

use std::collections::HashMap;

use cell_runner::modules;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, ModModule, Stmt};
use ruff_text_size::{Ranged as _, TextSize};

use super::bindings::Bindings;
use super::finding::Finding;

/// Modules that every cell has under a name.
const GIVEN: [(&str, &str); 4] =
    [("np", "numpy"), ("numpy", "numpy"), ("math", "math"), ("time", "time")];

#[derive(Default)]
pub(super) struct References {
    /// Modules that are imported, and where.
    imports: Vec<(String, TextSize)>,
    /// Names in modules: the module, the way from there, and where each part is.
    pub members: Vec<Member>,
    /// Names that are read.
    pub loads: Vec<(String, TextSize)>,
    modules: HashMap<String, String>,
}

/// `np.linalg.norm` is `numpy` and `[linalg, norm]`.
pub(super) struct Member {
    pub module: String,
    pub path: Vec<(String, TextSize)>,
    /// As it is written.
    pub written: String,
}

impl References {
    pub fn of(module: &ModModule, bindings: &Bindings) -> Self {
        let mut references = Self::default();
        for (name, module) in GIVEN {
            if !bindings.defines(name) {
                references.modules.insert(name.to_owned(), module.to_owned());
            }
        }
        // Imports first: a function may use one that comes after it.
        let mut imports = Imports(&mut references);
        imports.visit_body(&module.body);
        references.visit_body(&module.body);
        references
    }

    /// Errors for modules that cells do not have.
    pub fn missing_modules(&self) -> impl Iterator<Item = Finding> {
        let missing = self.imports.iter().filter(|(module, _)| !modules::is_available(module));
        missing.map(|(module, offset)| Finding::error(*offset, modules::refusal(module)))
    }

    /// The dotted name that an expression is, with where its parts are.
    fn dotted(expression: &Expr) -> Option<(&str, Vec<(String, TextSize)>)> {
        match expression {
            Expr::Name(name) => Some((name.id.as_str(), Vec::new())),
            Expr::Attribute(attribute) => {
                let (root, mut path) = Self::dotted(&attribute.value)?;
                path.push((attribute.attr.as_str().to_owned(), attribute.attr.start()));
                Some((root, path))
            }
            _ => None,
        }
    }
}

impl<'a> Visitor<'a> for References {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Attribute(_) = expression
            && let Some((root, path)) = Self::dotted(expression)
            && let Some(module) = self.modules.get(root)
        {
            let words: Vec<&str> = path.iter().map(|(name, _)| name.as_str()).collect();
            let written = format!("{root}.{}", words.join("."));
            self.members.push(Member { module: module.clone(), path, written });
            return;
        }
        if let Expr::Name(name) = expression
            && name.ctx == ExprContext::Load
        {
            self.loads.push((name.id.as_str().to_owned(), name.start()));
        }
        walk_expr(self, expression);
    }
}

struct Imports<'r>(&'r mut References);

impl Imports<'_> {
    fn import(&mut self, module: &str, at: TextSize) {
        self.0.imports.push((module.to_owned(), at));
    }
}

impl<'a> Visitor<'a> for Imports<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let module = alias.name.as_str();
                    self.import(module, alias.start());
                    if !modules::is_available(module) || module == "robo" {
                        continue;
                    }
                    let (name, bound) = match &alias.asname {
                        Some(name) => (name.as_str(), module),
                        None => {
                            let root = module.split('.').next().unwrap_or_default();
                            (root, root)
                        }
                    };
                    self.0.modules.insert(name.to_owned(), bound.to_owned());
                }
            }
            Stmt::ImportFrom(import) if import.level == 0 => {
                let Some(module) = &import.module else { return };
                self.import(module.as_str(), module.start());
                if modules::is_available(module.as_str()) && module.as_str() != "robo" {
                    let names = import.names.iter().filter(|alias| alias.name.as_str() != "*");
                    self.0.members.extend(names.map(|alias| Member {
                        module: module.as_str().to_owned(),
                        path: vec![(alias.name.as_str().to_owned(), alias.start())],
                        written: format!("{}.{}", module.as_str(), alias.name.as_str()),
                    }));
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }
}
