//! What a policy asks of `robo`, held against the robot's API.

use ruaflow_kit::nearest;
use ruaflow_robots::{Arg, Method, ParamKind, Primitives, RobotApi};
use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Arguments, Expr, ExprAttribute, ModModule};
use ruff_text_size::{Ranged as _, TextSize};

use super::bindings::{Bindings, record_of};
use super::finding::Finding;
use super::literal;

/// Names that `robo` has besides its API.
const OTHERS: [&str; 2] = ["ToolError", "EpisodeFinished"];

/// What finish() takes.
const ENDS: [&str; 3] = ["success", "failure", "stuck"];

pub(super) fn check(
    module: &ModModule,
    api: &'static RobotApi,
    primitives: Primitives,
    bindings: &Bindings,
) -> Vec<Finding> {
    let mut checker = Checker { api, primitives, bindings, findings: Vec::new() };
    checker.visit_body(&module.body);
    checker.findings
}

struct Checker<'a> {
    api: &'static RobotApi,
    primitives: Primitives,
    bindings: &'a Bindings,
    findings: Vec<Finding>,
}

impl Checker<'_> {
    fn error(&mut self, offset: TextSize, text: String) {
        self.findings.push(Finding::error(offset, text));
    }

    fn names(&self) -> Vec<&'static str> {
        let methods = self.api.methods_of(self.primitives).map(|method| method.name);
        let constants = self.api.constants.iter().map(|constant| constant.name);
        let attributes = self.api.attributes.iter().map(|attribute| attribute.name);
        methods.chain(constants).chain(attributes).collect()
    }

    /// `robo.name`.
    fn member(&mut self, attribute: &ExprAttribute) {
        let name = attribute.attr.as_str();
        if let Some(method) = self.api.method(name)
            && !method.is_in(self.primitives)
        {
            self.error(attribute.attr.start(), method.hidden());
            return;
        }
        // The audit tells of private names.
        if name.starts_with('_') || OTHERS.contains(&name) || self.names().contains(&name) {
            return;
        }
        let robot = self.api.name;
        let text = format!("the robot {robot:?} has no robo.{name}{}", hint(name, self.names()));
        self.error(attribute.attr.start(), text);
    }

    /// A field of a result.
    fn field(&mut self, attribute: &ExprAttribute) {
        let record = match attribute.value.as_ref() {
            Expr::Name(name) => self.bindings.record(name.id.as_str()),
            call => record_of(call, self.api),
        };
        let name = attribute.attr.as_str();
        let Some(record) = record.filter(|_| !name.starts_with('_')) else { return };
        let fields: Vec<&str> = record.fields.iter().map(|field| field.name).collect();
        if !fields.contains(&name) {
            let text = format!("{} has no field {name:?}{}", record.name, hint(name, fields));
            self.error(attribute.attr.start(), text);
        }
    }

    fn arguments(&mut self, method: &'static Method, arguments: &Arguments, at: TextSize) {
        let open = arguments.args.iter().any(Expr::is_starred_expr)
            || arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        let mut given: Vec<(&str, &Expr)> = Vec::new();
        let positional = method.params.iter().filter(|param| param.kind != ParamKind::Keyword);
        let places: Vec<&str> = positional.map(|param| param.name).collect();
        for (index, value) in arguments.args.iter().enumerate() {
            if value.is_starred_expr() {
                break;
            }
            match places.get(index) {
                Some(name) => given.push((name, value)),
                None => {
                    let (count, most) = (arguments.args.len(), places.len());
                    let text = format!(
                        "{}() takes {most} positional arguments at most, got {count}{}",
                        method.name,
                        by_name(method, most)
                    );
                    self.error(value.start(), text);
                    break;
                }
            }
        }
        for keyword in &arguments.keywords {
            let Some(name) = keyword.arg.as_ref().map(|name| name.as_str()) else { continue };
            let known: Vec<&str> = method.params.iter().map(|param| param.name).collect();
            if !known.contains(&name) {
                let text =
                    format!("{}() has no argument {name:?}{}", method.name, hint(name, known));
                self.error(keyword.start(), text);
            } else if given.iter().any(|(earlier, _)| *earlier == name) {
                let text = format!("{}() gets the argument {name:?} twice", method.name);
                self.error(keyword.start(), text);
            } else {
                given.push((name, &keyword.value));
            }
        }
        for (name, value) in &given {
            if let Some(arg) = literal::value(value, self.api)
                && let Err(error) = self.api.check_argument(method.name, name, &arg)
            {
                self.error(value.start(), error.to_string());
            }
        }
        if !open {
            self.missing(method, &given, at);
        }
    }

    fn missing(&mut self, method: &Method, given: &[(&str, &Expr)], at: TextSize) {
        for param in method.params {
            let is_given = given.iter().any(|(name, _)| *name == param.name);
            if param.default == ruaflow_robots::Default::Required && !is_given {
                let text = format!("{}() lacks the argument {:?}", method.name, param.name);
                self.error(at, text);
            }
        }
        if method.exactly_one_of.is_empty() {
            return;
        }
        let counts = |name: &&str| {
            given.iter().any(|(given, value)| given == name && !value.is_none_literal_expr())
        };
        let count = method.exactly_one_of.iter().filter(|name| counts(name)).count();
        // A variable may be None.
        let sure = given.iter().all(|(name, value)| {
            !method.exactly_one_of.contains(name) || literal::value(value, self.api).is_some()
        });
        if count == 0 || (count > 1 && sure) {
            let names = method.exactly_one_of.join(" and ");
            self.error(at, format!("{}() takes exactly one of {names}, got {count}", method.name));
        }
    }

    fn finish(&mut self, arguments: &Arguments) {
        let status = arguments.find_argument_value("status", 0);
        let Some(status) = status.and_then(|status| literal::value(status, self.api)) else {
            return;
        };
        if let Arg::Str(word) = &status
            && ENDS.contains(&word.as_str())
        {
            return;
        }
        let text = "finish(): status is \"success\", \"failure\" or \"stuck\"".to_owned();
        self.error(arguments.start(), text);
    }
}

impl<'a> Visitor<'a> for Checker<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Attribute(attribute) => match attribute.value.as_name_expr() {
                Some(owner) if owner.id == "robo" => self.member(attribute),
                _ => self.field(attribute),
            },
            Expr::Call(call) => match call.func.as_ref() {
                Expr::Attribute(method)
                    if method.value.as_name_expr().is_some_and(|owner| owner.id == "robo") =>
                {
                    let known = self.api.method(method.attr.as_str());
                    if let Some(known) = known.filter(|known| known.is_in(self.primitives)) {
                        self.arguments(known, &call.arguments, method.attr.start());
                    }
                }
                Expr::Name(name) if name.id == "finish" && !self.bindings.defines("finish") => {
                    self.finish(&call.arguments);
                }
                _ => {}
            },
            _ => {}
        }
        walk_expr(self, expression);
    }
}

fn hint<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}

/// Arguments that are only taken by name, for one who gave them by place.
fn by_name(method: &Method, places: usize) -> String {
    let names: Vec<&str> = method.params.iter().skip(places).map(|param| param.name).collect();
    if names.is_empty() {
        return String::new();
    }
    format!("; by name: {}", names.join(", "))
}
