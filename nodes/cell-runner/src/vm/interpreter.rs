//! Builds the interpreter and takes away what a cell has no use for.

use rustpython_vm::builtins::PyModule;
use rustpython_vm::common::rc::PyRc;
use rustpython_vm::signal::UserSignalReceiver;
use rustpython_vm::vm::Paths;
use rustpython_vm::{
    Interpreter, PyObjectRef, PyRef, PyResult, Settings, VirtualMachine, compiler, import,
};

use super::native;

const OS: &str = include_str!("python/os.py");
const RUNTIME: &str = include_str!("python/runtime.py");

/// Native modules that reach around the interpreter: bytecode and its loading,
/// other interpreters, memory inspection.
const REMOVED: &[&str] = &[
    "marshal",
    "_imp",
    "_interpreters",
    "_interpchannels",
    "_interpqueues",
    "_testinternalcapi",
    "_remote_debugging",
    "gc",
];

pub(super) fn build(interrupts: UserSignalReceiver) -> Interpreter {
    let mut settings = Settings::default();
    settings.install_signal_handlers = false;
    settings.import_site = false;
    settings.ignore_environment = true;
    // Sets of text iterate in the same order in every run.
    settings.hash_seed = Some(0);
    let builder = Interpreter::builder(settings);
    let mut modules = rustpython_stdlib::stdlib_module_defs(&builder.ctx);
    modules.push(native::module_def(&builder.ctx));
    builder
        .add_native_modules(&modules)
        .add_frozen_modules(rustpython_pylib::FROZEN_STDLIB)
        .init_hook(|vm| {
            vm.set_user_signal_channel(interrupts);
            // Where things lie on this machine is no cell's business.
            if let Some(state) = PyRc::get_mut(&mut vm.state) {
                state.config.paths = Paths::default();
            }
        })
        .build()
}

/// Loads the cell's own Python parts and closes the doors.
///
/// Returns the runtime module.
pub(super) fn prepare(vm: &VirtualMachine) -> PyResult<PyObjectRef> {
    import::import_builtin(vm, "_cell")?;
    load(vm, "os", "<ruaflow os>", OS)?;
    let runtime = load(vm, "_ruaflow", "<ruaflow runtime>", RUNTIME)?;
    let runtime: PyObjectRef = runtime.into();
    vm.call_method(&runtime, "install", ())?;
    let modules = vm.sys_module.get_attr("modules", vm)?;
    // The cell's `_cell` is what the runtime holds; nobody else needs it.
    modules.del_item("_ruaflow", vm)?;
    for name in REMOVED {
        modules.set_item(*name, vm.ctx.none(), vm)?;
    }
    // A code object made of random bytes can crash the interpreter.
    let code = vm.ctx.types.code_type;
    for name in ["replace", "__replace__"] {
        code.set_attr(vm.ctx.intern_str(name), vm.ctx.none());
    }
    code.slots().new.store(None);
    code.modified();
    Ok(runtime)
}

fn load(
    vm: &VirtualMachine,
    name: &str,
    filename: &str,
    source: &str,
) -> PyResult<PyRef<PyModule>> {
    let code = vm
        .compile(source, compiler::Mode::Exec, filename.to_owned())
        .map_err(|error| error.into_pyexception(vm, Some(source)))?;
    let module = vm.new_module(name, vm.ctx.new_dict(), None);
    let modules = vm.sys_module.get_attr("modules", vm)?;
    modules.set_item(name, module.clone().into(), vm)?;
    let scope = rustpython_vm::scope::Scope::with_builtins(None, module.dict(), vm);
    vm.run_code_obj(code, scope)?;
    Ok(module)
}
