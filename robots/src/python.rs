//! The Python side of a robot: the `Robo` class and its result records.

use std::fmt::Write as _;

use crate::api::{
    Default, Field, Method, Param, ParamKind, Primitives, Record, Returns, RobotApi, Type,
};

impl RobotApi {
    /// Python source that defines the result records and `Robo`.
    ///
    /// It expects in its globals `Record` (a base class that takes a dict of
    /// field values), `_call(method, args)` which returns such a dict or raises,
    /// and `_attribute(name)`. A method that is not in the primitive set is
    /// called without its arguments, for the node to refuse.
    #[must_use]
    pub fn python_source(&self, primitives: Primitives) -> String {
        let mut out = String::new();
        for record in self.records_of(primitives) {
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
            if method.is_in(primitives) {
                self.write_method(&mut out, method);
            } else {
                write_hidden(&mut out, method);
            }
        }
        out
    }

    /// A method's parameters as in a Python signature, without `self`:
    /// `xyz, gripper=-1.0, *, tol=0.012`.
    #[must_use]
    pub fn signature(&self, method: &Method) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut last = ParamKind::Positional;
        for param in method.params {
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
            parts.push(match self.default_text(param.default) {
                Some(default) => format!("{}={default}", param.name),
                None => param.name.to_owned(),
            });
        }
        if last == ParamKind::Positional && !parts.is_empty() {
            parts.push("/".to_owned());
        }
        parts.join(", ")
    }

    fn default_text(&self, default: Default) -> Option<String> {
        match default {
            Default::Required => None,
            Default::None => Some("None".to_owned()),
            Default::Float(value) => Some(format!("{value:?}")),
            Default::Int(value) => Some(value.to_string()),
            Default::Str(value) => Some(format!("{value:?}")),
            Default::FirstCamera => Some(format!("{:?}", self.first_camera())),
        }
    }

    fn write_method(&self, out: &mut String, method: &Method) {
        let signature = self.signature(method);
        let comma = if signature.is_empty() { "" } else { ", " };
        let _ = writeln!(out, "\n    def {}(self{comma}{signature}):", method.name);
        let _ = writeln!(out, "        \"\"\"{}\n", method.doc);
        for param in method.params {
            let _ = writeln!(out, "        {}", param_line(param));
        }
        let _ = writeln!(out, "\n        Returns {}.", returned(method.returns));
        for error in method.errors {
            let _ = writeln!(out, "        {}: {}.", error.exception, error.when);
        }
        let _ = writeln!(out, "        \"\"\"");
        let args: Vec<String> =
            method.params.iter().map(|param| format!("{:?}: {}", param.name, param.name)).collect();
        let call = format!("_call({:?}, {{{}}})", method.name, args.join(", "));
        let _ = match method.returns {
            Returns::Record(record) => writeln!(out, "        return {}({call})", record.name),
            Returns::Array(_) | Returns::Dict(_) => writeln!(out, "        return {call}"),
            Returns::Bytes => writeln!(out, "        return {call}.tobytes()"),
            Returns::Nothing => writeln!(out, "        {call}"),
        };
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
            Self::Ints(len) => format!("{len} ints"),
            Self::Camera => "str".to_owned(),
            Self::Size => "str, int or 2 ints".to_owned(),
            Self::Dict => "dict".to_owned(),
            Self::Records(record) => format!("tuple of {}", record.name),
            Self::Mask => "bool array (height, width)".to_owned(),
        }
    }
}

pub(crate) fn param_line(param: &Param) -> String {
    let type_name = qualified(param.ty, param.unit, param.default == Default::None);
    line(param.name, &type_name, param.doc)
}

pub(crate) fn field_line(field: &Field) -> String {
    line(field.name, &qualified(field.ty, field.unit, field.optional), field.doc)
}

/// What a method returns, in words.
pub(crate) fn returned(returns: Returns) -> &'static str {
    match returns {
        Returns::Record(record) => record.name,
        Returns::Array(what) => what,
        Returns::Bytes => "bytes",
        Returns::Dict(_) => "dict",
        Returns::Nothing => "None",
    }
}

fn line(name: &str, type_name: &str, doc: &str) -> String {
    let colon = if doc.is_empty() { "" } else { ": " };
    format!("{name} ({type_name}){colon}{doc}")
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

fn write_record(out: &mut String, record: &Record) {
    // An array is too big to print and can't be compared as a value.
    let plain = record.fields.iter().filter(|field| field.ty != Type::Mask);
    let names: Vec<String> = plain.map(|field| format!("{:?}", field.name)).collect();
    let _ = writeln!(out, "class {}(Record):", record.name);
    let _ = writeln!(out, "    \"\"\"{}\n", record.doc);
    for field in record.fields {
        let _ = writeln!(out, "    {}", field_line(field));
    }
    let _ = writeln!(out, "    \"\"\"\n");
    let _ = writeln!(out, "    _fields = ({},)", names.join(", "));
    let inner: Vec<String> =
        record.inner().map(|(field, inner)| format!("{field:?}: {}", inner.name)).collect();
    if !inner.is_empty() {
        let _ = writeln!(out, "    _inner = {{{}}}", inner.join(", "));
    }
    let _ = writeln!(out, "\n");
}

fn write_hidden(out: &mut String, method: &Method) {
    let _ = writeln!(out, "\n    def {}(self, *args, **kwargs):", method.name);
    let _ = writeln!(out, "        \"\"\"{}\"\"\"", method.hidden());
    let _ = writeln!(out, "        _call({:?}, {{}})", method.name);
}
