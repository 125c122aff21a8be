//! Functions from a table: a signature as Python writes it, and a Rust function.
//!
//! Binding follows Python: positional, then keywords, `*` before keyword-only
//! ones, `/` after positional-only ones, `*name` for the rest.

use rustpython_vm::function::{FuncArgs, ItemDoc, PyMethodFlags};
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

/// What a table holds: `("median(a, axis=None, …)", function)`.
pub(crate) type Entry = (&'static str, Function);
pub(crate) type Function = fn(&Args, &VirtualMachine) -> PyResult;

/// The parameters of one function.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) name: &'static str,
    /// The parenthesised part.
    text: &'static str,
    parameters: Vec<Parameter>,
    positional: usize,
    takes_rest: bool,
}

#[derive(Debug)]
struct Parameter {
    name: &'static str,
    required: bool,
    keyword: bool,
}

/// The arguments of one call.
pub(crate) struct Args {
    signature: &'static Signature,
    values: Vec<Option<PyObjectRef>>,
    /// What `*name` took.
    pub(crate) rest: Vec<PyObjectRef>,
}

impl Args {
    /// A given argument, `None` too. Functions that share code ask for what they may lack.
    pub(crate) fn given(&self, name: &str) -> Option<&PyObjectRef> {
        let at = self.signature.parameters.iter().position(|parameter| parameter.name == name);
        self.values.get(at?)?.as_ref()
    }

    /// An argument that was given and is not `None`.
    pub(crate) fn get(&self, name: &str, vm: &VirtualMachine) -> Option<&PyObjectRef> {
        self.given(name).filter(|value| !vm.is_none(value))
    }

    /// The first, second, … parameter, which has no default.
    pub(crate) fn required(&self, index: usize, vm: &VirtualMachine) -> PyResult<&PyObjectRef> {
        self.values
            .get(index)
            .and_then(Option::as_ref)
            .ok_or_else(|| vm.new_type_error(format!("{}() lacks arguments", self.name())))
    }

    /// A flag's truth; `default` when it was not given.
    pub(crate) fn flag(&self, name: &str, default: bool, vm: &VirtualMachine) -> PyResult<bool> {
        self.given(name).map_or(Ok(default), |value| value.clone().try_to_bool(vm))
    }

    pub(crate) fn name(&self) -> &'static str {
        self.signature.name
    }
}

impl Signature {
    /// Reads `name(a, b=None, *, c=False)`.
    pub(crate) fn parse(text: &'static str) -> Self {
        let (name, list) = text.split_once('(').unwrap_or((text, ")"));
        let list = list.strip_suffix(')').unwrap_or(list);
        let mut signature = Self {
            name,
            text: &text[name.len()..],
            parameters: Vec::new(),
            positional: 0,
            takes_rest: false,
        };
        let mut keyword_only = false;
        for part in split_list(list) {
            match part {
                "" => {}
                "*" => keyword_only = true,
                "/" => signature.parameters.iter_mut().for_each(|one| one.keyword = false),
                _ if part.starts_with('*') => {
                    signature.takes_rest = true;
                    keyword_only = true;
                }
                _ => {
                    let (name, default) = match part.split_once('=') {
                        Some((name, _)) => (name, true),
                        None => (part, false),
                    };
                    let required = !default;
                    signature.parameters.push(Parameter { name, required, keyword: true });
                    signature.positional += usize::from(!keyword_only);
                }
            }
        }
        signature
    }

    /// Sorts a call's arguments in.
    ///
    /// # Errors
    /// `TypeError` for one too many, missing, unknown, or given twice.
    pub(crate) fn bind(&'static self, args: FuncArgs, vm: &VirtualMachine) -> PyResult<Args> {
        let FuncArgs { args: mut values, kwargs } = args;
        let mut rest = Vec::new();
        if values.len() > self.positional {
            if !self.takes_rest {
                return Err(vm.new_type_error(format!(
                    "{}() takes {} positional argument{} but {} were given",
                    self.name,
                    self.positional,
                    if self.positional == 1 { "" } else { "s" },
                    values.len()
                )));
            }
            rest = values.split_off(self.positional);
        }
        let mut bound: Vec<Option<PyObjectRef>> = values.into_iter().map(Some).collect();
        bound.resize(self.parameters.len(), None);
        for (key, value) in kwargs {
            let at = self
                .parameters
                .iter()
                .position(|one| one.keyword && one.name.as_bytes() == key.as_bytes());
            let Some(slot) = at.and_then(|at| bound.get_mut(at)) else {
                return Err(vm.new_type_error(format!(
                    "{}() got an unexpected keyword argument '{key}'",
                    self.name
                )));
            };
            if slot.replace(value).is_some() {
                return Err(vm.new_type_error(format!(
                    "{}() got multiple values for argument '{key}'",
                    self.name
                )));
            }
        }
        for (parameter, value) in self.parameters.iter().zip(&bound) {
            if parameter.required && value.is_none() {
                return Err(vm.new_type_error(format!(
                    "{}() missing 1 required positional argument: '{}'",
                    self.name, parameter.name
                )));
            }
        }
        Ok(Args { signature: self, values: bound, rest })
    }

    fn doc(&self, receiver: Option<&str>) -> ItemDoc {
        let inside = &self.text[1..];
        let text = match receiver {
            Some(receiver) if inside == ")" => format!("{}({receiver})\n--\n\n", self.name),
            Some(receiver) => format!("{}({receiver}, {inside}\n--\n\n", self.name),
            None => format!("{}{}\n--\n\n", self.name, self.text),
        };
        ItemDoc::static_text(Box::leak(text.into_boxed_str()))
    }
}

/// A function of a module. Its definition lives as long as the process.
pub(crate) fn function(entry: &Entry, vm: &VirtualMachine) -> (&'static str, PyObjectRef) {
    let &(text, call) = entry;
    let signature: &'static Signature = Box::leak(Box::new(Signature::parse(text)));
    let run = move |args: FuncArgs, vm: &VirtualMachine| -> PyResult {
        call(&signature.bind(args, vm)?, vm)
    };
    let doc = signature.doc(None);
    let method = vm.ctx.new_method_def(signature.name, run, PyMethodFlags::empty(), doc);
    (signature.name, method.build_function(vm, None).into())
}

/// A method of `class`; its Rust function finds the object before the arguments.
pub(crate) fn method(
    entry: &Entry,
    class: &'static rustpython_vm::Py<rustpython_vm::builtins::PyType>,
    vm: &VirtualMachine,
) -> (&'static str, PyObjectRef) {
    let &(text, call) = entry;
    let inner = Signature::parse(text);
    let doc = inner.doc(Some("$self, /"));
    let with_self: &'static str =
        Box::leak(format!("{}(self, /, {}", inner.name, &inner.text[1..]).into_boxed_str());
    let signature: &'static Signature = Box::leak(Box::new(Signature::parse(with_self)));
    let run = move |args: FuncArgs, vm: &VirtualMachine| -> PyResult {
        call(&signature.bind(args, vm)?, vm)
    };
    let method = vm.ctx.new_method_def(signature.name, run, PyMethodFlags::METHOD, doc);
    (signature.name, method.build_method(class, vm).into())
}

/// Splits at commas outside brackets.
fn split_list(list: &'static str) -> impl Iterator<Item = &'static str> {
    let mut depth = 0;
    list.split(move |character: char| {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    })
    .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_reads_as_python_means_it() {
        let signature = Signature::parse("pad(a, /, width, *rest, shape=(1, 2), mode=None)");
        assert_eq!(signature.name, "pad");
        assert_eq!(signature.positional, 2);
        assert!(signature.takes_rest);
        let names: Vec<_> = signature.parameters.iter().map(|one| one.name).collect();
        assert_eq!(names, ["a", "width", "shape", "mode"]);
        assert!(!signature.parameters[0].keyword && signature.parameters[1].keyword);
        assert!(signature.parameters[1].required && !signature.parameters[2].required);
    }
}
