//! Errors, warnings and interrupts of the engine, as Python knows them.

use std::cell::{Cell, RefCell};

use ruaflow_array::warn::Warning;
use ruaflow_array::{Error, interrupt, warn};
use rustpython_vm::builtins::{PyBaseExceptionRef, PyTypeRef};
use rustpython_vm::vm::thread::with_current_vm;
use rustpython_vm::{AsObject as _, PyObjectRef, PyResult, VirtualMachine};

use crate::classes::classes;

/// A result of the engine becomes one of Python.
pub(crate) trait OrRaise<T> {
    fn or_raise(self, vm: &VirtualMachine) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Error> {
    fn or_raise(self, vm: &VirtualMachine) -> PyResult<T> {
        self.map_err(|error| exception(error, vm))
    }
}

/// What floating point trouble does (`numpy.errstate`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaction {
    Ignore,
    Warn,
    Raise,
}

/// One reaction for each of numpy's four kinds of trouble.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reactions {
    pub(crate) divide: Reaction,
    pub(crate) over: Reaction,
    pub(crate) under: Reaction,
    pub(crate) invalid: Reaction,
}

thread_local! {
    static REACTIONS: Cell<Reactions> = const {
        Cell::new(Reactions {
            divide: Reaction::Warn,
            over: Reaction::Warn,
            under: Reaction::Ignore,
            invalid: Reaction::Warn,
        })
    };
    /// The exception behind an [`Error::Warning`] or [`Error::Interrupted`].
    static PENDING: RefCell<Option<PyBaseExceptionRef>> = const { RefCell::new(None) };
    /// Whether the operation is between scalars, which numpy's texts tell.
    static SCALAR: Cell<bool> = const { Cell::new(false) };
    /// Whether the operations are the two parts of `divmod`.
    static DIVMOD: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn reactions() -> Reactions {
    REACTIONS.get()
}

pub(crate) fn set_reactions(reactions: Reactions) {
    REACTIONS.set(reactions);
}

/// Runs an operation on scalars, so that its warnings say so.
pub(crate) fn on_scalars<T>(operation: impl FnOnce() -> T) -> T {
    SCALAR.set(true);
    let result = operation();
    SCALAR.set(false);
    result
}

/// Runs the two parts of `divmod`, so that warnings name it.
pub(crate) fn as_divmod<T>(operation: impl FnOnce() -> T) -> T {
    DIVMOD.set(true);
    let result = operation();
    DIVMOD.set(false);
    result
}

/// Warns of an integer operation between scalars that wrapped around.
pub(crate) fn overflow(name: &str, vm: &VirtualMachine) -> PyResult<()> {
    let text = format!("overflow encountered in scalar {name}");
    give_warning(Warning::Runtime, &text, vm)
}

/// Lets the engine warn through Python's `warnings` and stop at Python's interrupts.
pub(crate) fn connect() {
    interrupt::set_hook(|| with_current_vm(|vm| keep(vm.check_signals()).is_err()));
    warn::set_sink(Box::new(|kind, text| {
        with_current_vm(|vm| keep(give_warning(kind, text, vm)))
            .map_err(|()| Error::Warning(text.to_owned()))
    }));
}

/// Keeps an exception while the engine unwinds.
pub(crate) fn pending(error: PyBaseExceptionRef) -> Error {
    let text = error.class().name().to_string();
    PENDING.with(|pending| *pending.borrow_mut() = Some(error));
    Error::Warning(text)
}

fn keep(result: PyResult<()>) -> Result<(), ()> {
    result.map_err(|error| {
        PENDING.with(|pending| *pending.borrow_mut() = Some(error));
    })
}

fn give_warning(kind: Warning, text: &str, vm: &VirtualMachine) -> PyResult<()> {
    let class = match kind {
        Warning::Runtime => match reaction(text) {
            Reaction::Ignore => return Ok(()),
            Reaction::Raise => {
                return Err(vm.new_exception_msg(
                    vm.ctx.exceptions.floating_point_error.to_owned(),
                    scalar_text(text).into(),
                ));
            }
            Reaction::Warn => vm.ctx.exceptions.runtime_warning.to_owned(),
        },
        Warning::Deprecation => vm.ctx.exceptions.deprecation_warning.to_owned(),
    };
    give(class, &scalar_text(text), vm)
}

fn give(class: PyTypeRef, text: &str, vm: &VirtualMachine) -> PyResult<()> {
    let text: PyObjectRef = vm.ctx.new_str(text).into();
    rustpython_vm::warn::warn(text, Some(class), 1, None, vm)
}

fn reaction(text: &str) -> Reaction {
    let reactions = reactions();
    if text.starts_with("divide by zero") {
        reactions.divide
    } else if text.starts_with("overflow") {
        reactions.over
    } else if text.starts_with("underflow") {
        reactions.under
    } else if text.starts_with("invalid value") {
        reactions.invalid
    } else {
        Reaction::Warn
    }
}

fn scalar_text(text: &str) -> String {
    match text.split_once(" encountered in ") {
        Some((what, _)) if DIVMOD.get() => format!("{what} encountered in divmod"),
        Some((what, operation)) if SCALAR.get() && operation != "cast" => {
            format!("{what} encountered in scalar {operation}")
        }
        _ => text.to_owned(),
    }
}

fn exception(error: Error, vm: &VirtualMachine) -> PyBaseExceptionRef {
    match error {
        // An axis with the name of its argument before it.
        Error::Value(text) if text.contains(": axis ") && text.contains(" is out of bounds") => {
            vm.new_exception_msg(classes().axis_error.clone(), text.into())
        }
        Error::Value(text) => vm.new_value_error(text),
        Error::Type(text) => vm.new_type_error(text),
        Error::Index(text) => vm.new_index_error(text),
        Error::Overflow(text) => vm.new_overflow_error(text),
        Error::ZeroDivision(text) => vm.new_zero_division_error(text),
        Error::Memory(text) => vm.new_memory_error(text),
        Error::NotImplemented(text) => vm.new_not_implemented_error(text),
        Error::LinAlg(text) => vm.new_exception_msg(classes().lin_alg_error.clone(), text.into()),
        Error::Axis { .. } => {
            vm.new_exception_msg(classes().axis_error.clone(), error.to_string().into())
        }
        Error::Interrupted | Error::Warning(_) => {
            PENDING.with(|pending| pending.borrow_mut().take()).unwrap_or_else(|| {
                let class = vm.ctx.exceptions.keyboard_interrupt.to_owned();
                vm.new_exception_empty(class)
            })
        }
    }
}

/// The `TypeError` for an operand of a strange type.
pub(crate) fn unsupported(
    what: &str,
    object: &rustpython_vm::PyObject,
    vm: &VirtualMachine,
) -> PyBaseExceptionRef {
    vm.new_type_error(format!(
        "{what}: RuaFlow's numpy has no arrays of {:?} objects, only of bool, uint8, int32, int64, float16, float32, float64",
        object.class().name().to_string()
    ))
}
