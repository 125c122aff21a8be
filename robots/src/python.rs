//! The Python side of a robot: the `Robo` class and its result records.

use std::fmt::Write as _;

use crate::api::{Default, Field, Method, Param, ParamKind, Record, RobotApi, Type};

impl RobotApi {
    /// Python source that defines the result records and `Robo`.
    ///
    /// It expects in its globals `Record` (a base class that takes a dict of
    /// field values), `_call(method, args)` which returns such a dict or raises,
    /// and `_attribute(name)`.
    #[must_use]
    pub fn python_source(&self) -> String {
        let mut out = String::new();
        for record in self.records() {
            write_record(&mut out, record);
        }
        // `write!` to a String cannot fail.
        let _ = writeln!(out, "class Robo:");
        let _ = writeln!(out, "    \"\"\"{}\"\"\"\n", self.doc);
        let _ = writeln!(out, "    __slots__ = ()");
        for constant in self.constants {
            let _ = writeln!(out, "    {} = {:?}", constant.name, constant.value);
        }
        for attribute in self.attributes {
            let name = attribute.name;
            let _ = writeln!(out, "\n    @property");
            let _ = writeln!(out, "    def {name}(self):");
            let _ = writeln!(out, "        \"\"\"{}\"\"\"", attribute.doc);
            let _ = writeln!(out, "        return _attribute({name:?})");
        }
        for method in self.methods {
            write_method(&mut out, method);
        }
        out
    }
}

impl Method {
    /// The parameters as in a Python signature, without `self`:
    /// `xyz, gripper=-1.0, *, tol=0.012`.
    #[must_use]
    pub fn signature(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut last = ParamKind::Positional;
        for param in self.params {
            if last == ParamKind::Positional
                && param.kind != ParamKind::Positional
                && !parts.is_empty()
            {
                parts.push("/".to_owned());
            }
            if last != ParamKind::Keyword && param.kind == ParamKind::Keyword {
                parts.push("*".to_owned());
            }
            last = param.kind;
            parts.push(match default_text(param.default) {
                Some(default) => format!("{}={default}", param.name),
                None => param.name.to_owned(),
            });
        }
        if last == ParamKind::Positional && !parts.is_empty() {
            parts.push("/".to_owned());
        }
        parts.join(", ")
    }
}

impl Type {
    /// The type in a Python programmer's words.
    #[must_use]
    pub fn python_name(self) -> String {
        match self {
            Self::Float => "float".to_owned(),
            Self::Int => "int".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Str => "str".to_owned(),
            Self::Vector(len) => format!("{len} floats"),
            Self::Strs => "tuple of str".to_owned(),
            Self::Gripper => "float or \"hold\"".to_owned(),
        }
    }
}

pub(crate) fn param_line(param: &Param) -> String {
    format!(
        "{} ({}): {}",
        param.name,
        qualified(param.ty, param.unit, param.default == Default::None),
        param.doc
    )
}

pub(crate) fn field_line(field: &Field) -> String {
    format!("{} ({}): {}", field.name, qualified(field.ty, field.unit, field.optional), field.doc)
}

fn qualified(ty: Type, unit: &str, optional: bool) -> String {
    let mut text = ty.python_name();
    if !unit.is_empty() {
        text = format!("{text}, {unit}");
    }
    if optional {
        text.push_str(", or None");
    }
    text
}

pub(crate) fn default_text(default: Default) -> Option<String> {
    match default {
        Default::Required => None,
        Default::None => Some("None".to_owned()),
        Default::Float(value) => Some(format!("{value:?}")),
        Default::Int(value) => Some(value.to_string()),
    }
}

fn write_record(out: &mut String, record: &Record) {
    let names: Vec<String> =
        record.fields.iter().map(|field| format!("{:?}", field.name)).collect();
    let _ = writeln!(out, "class {}(Record):", record.name);
    let _ = writeln!(out, "    \"\"\"{}\n", record.doc);
    for field in record.fields {
        let _ = writeln!(out, "    {}", field_line(field));
    }
    let _ = writeln!(out, "    \"\"\"\n");
    let _ = writeln!(out, "    _fields = ({},)\n\n", names.join(", "));
}

fn write_method(out: &mut String, method: &Method) {
    let signature = method.signature();
    let comma = if signature.is_empty() { "" } else { ", " };
    let _ = writeln!(out, "\n    def {}(self{comma}{signature}):", method.name);
    let _ = writeln!(out, "        \"\"\"{}\n", method.doc);
    for param in method.params {
        let _ = writeln!(out, "        {}", param_line(param));
    }
    let _ = writeln!(out, "\n        Returns {}.", method.result.name);
    for error in method.errors {
        let _ = writeln!(out, "        {}: {}.", error.exception, error.when);
    }
    let _ = writeln!(out, "        \"\"\"");
    let args: Vec<String> =
        method.params.iter().map(|param| format!("{:?}: {}", param.name, param.name)).collect();
    let _ = writeln!(
        out,
        "        return {}(_call({:?}, {{{}}}))",
        method.result.name,
        method.name,
        args.join(", ")
    );
}
