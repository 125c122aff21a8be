//! Takes from the interpreter what only an attack has a use for: ways to make
//! code from bytes, to change running code, and to reach other interpreters. Any
//! of these can corrupt the process's memory. The sandbox is what holds when
//! one has been forgotten.

use std::cell::RefCell;

use rustpython_vm::builtins::{PyModuleDef, PyType};
use rustpython_vm::{AsObject as _, Context, Py, PyObjectRef, PyResult, VirtualMachine};

/// Modules of the standard library that are left out: they look at memory, crash
/// on purpose, or have nothing to talk to.
const LEFT_OUT: &[&str] =
    &["_remote_debugging", "_testconsole", "faulthandler", "_multiprocessing", "syslog"];

/// Functions of `sys` that run code at each step of other code, look into it, or
/// undo what has been set up.
const SYS: &[&str] = &[
    "settrace",
    "setprofile",
    "_settraceallthreads",
    "_setprofileallthreads",
    "call_tracing",
    "monitoring",
    "addaudithook",
    "_current_frames",
    "_current_exceptions",
    "_clear_type_descriptors",
    "_baserepl",
    "remote_exec",
    "activate_stack_trampoline",
    "set_int_max_str_digits",
];

thread_local! {
    /// Descriptors that can also set, behind those that cannot.
    static CODE: RefCell<Option<PyObjectRef>> = const { RefCell::new(None) };
    static LINE: RefCell<Option<PyObjectRef>> = const { RefCell::new(None) };
}

/// The native modules of a cell's interpreter out of those of the standard
/// library, with substitutes for some that are part of the interpreter.
pub(super) fn modules(context: &Context) -> Vec<&'static PyModuleDef> {
    let mut modules = rustpython_stdlib::stdlib_module_defs(context);
    modules.retain(|module| !LEFT_OUT.contains(&module.name.as_str()));
    // One with the name of a built-in module takes its place.
    modules.extend([
        marshal::module_def(context),
        gc::module_def(context),
        interpreters::module_def(context),
        channels::module_def(context),
        queues::module_def(context),
        internals::module_def(context),
    ]);
    modules
}

/// The last thing before the first cell.
pub(super) fn close(vm: &VirtualMachine) -> PyResult<()> {
    let types = &vm.ctx.types;
    // A code object made of random bytes crashes the interpreter.
    for name in ["replace", "__replace__", "__new__"] {
        types.code_type.set_attr(vm.ctx.intern_str(name), vm.ctx.none());
    }
    types.code_type.slots().new.store(None);
    types.code_type.modified();

    // Nor may a function get other code, or a frame another line: what the
    // compiler has found out about them would be wrong.
    CODE.replace(Some(original(types.function_type, "__code__", vm)?));
    let code = vm.ctx.new_readonly_getset("__code__", types.function_type, code_of);
    types.function_type.set_attr(vm.ctx.intern_str("__code__"), code.into());
    types.function_type.modified();
    LINE.replace(Some(original(types.frame_type, "f_lineno", vm)?));
    let line = vm.ctx.new_readonly_getset("f_lineno", types.frame_type, line_of);
    types.frame_type.set_attr(vm.ctx.intern_str("f_lineno"), line.into());
    types.frame_type.modified();

    let sys = vm.sys_module.dict();
    for name in SYS {
        if sys.contains_key(*name, vm) {
            sys.del_item(*name, vm)?;
        }
    }
    // Makes modules afresh, also those that were changed above.
    let modules = vm.sys_module.get_attr("modules", vm)?;
    modules.set_item("_imp", vm.ctx.none(), vm)
}

fn original(class: &Py<PyType>, name: &'static str, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
    class
        .get_attr(vm.ctx.intern_str(name))
        .ok_or_else(|| vm.new_attribute_error(format!("{} has no {name}", class.name())))
}

fn code_of(function: PyObjectRef, vm: &VirtualMachine) -> PyResult {
    read(CODE.with_borrow(Clone::clone), function, vm)
}

fn line_of(frame: PyObjectRef, vm: &VirtualMachine) -> PyResult {
    read(LINE.with_borrow(Clone::clone), frame, vm)
}

fn read(descriptor: Option<PyObjectRef>, object: PyObjectRef, vm: &VirtualMachine) -> PyResult {
    let descriptor = descriptor.ok_or_else(|| vm.new_attribute_error("not to be read"))?;
    let class = object.class().to_owned();
    vm.call_method(&descriptor, "__get__", (object, class))
}

#[rustpython_vm::pymodule(name = "marshal")]
mod marshal {
    use rustpython_vm::function::FuncArgs;
    use rustpython_vm::{PyResult, VirtualMachine};

    #[pyfunction]
    fn loads(_args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        Err(vm.new_value_error("marshal is not available in a cell; use json"))
    }

    #[pyfunction]
    fn dumps(_args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        Err(vm.new_value_error("marshal is not available in a cell; use json"))
    }
}

/// Objects that nobody uses go by themselves; there is nothing to look at.
#[rustpython_vm::pymodule(name = "gc")]
mod gc {
    use rustpython_vm::function::FuncArgs;

    #[pyfunction]
    fn collect(_args: FuncArgs) -> usize {
        0
    }

    #[pyfunction]
    fn isenabled() -> bool {
        true
    }

    #[pyfunction]
    fn enable() {}

    #[pyfunction]
    fn disable() {}
}

#[rustpython_vm::pymodule(name = "_interpreters")]
mod interpreters {}

#[rustpython_vm::pymodule(name = "_interpchannels")]
mod channels {}

#[rustpython_vm::pymodule(name = "_interpqueues")]
mod queues {}

#[rustpython_vm::pymodule(name = "_testinternalcapi")]
mod internals {}
