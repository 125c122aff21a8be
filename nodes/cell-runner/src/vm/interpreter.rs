//! Builds the interpreter and takes away what a cell has no use for.

use rustpython_vm::builtins::PyModule;
use rustpython_vm::common::rc::PyRc;
use rustpython_vm::signal::UserSignalReceiver;
use rustpython_vm::vm::Paths;
use rustpython_vm::{
    Interpreter, PyObjectRef, PyRef, PyResult, Settings, VirtualMachine, compiler, import,
};

use super::{closed, host, native, pil};

const OS: &str = include_str!("python/os.py");
const RUNTIME: &str = include_str!("python/runtime.py");

/// What the runtime is made of, in the order in which it is loaded.
const PARTS: [(&str, &str, &str); 3] = [
    ("_workspace", "<ruaflow workspace>", include_str!("python/workspace.py")),
    ("_modules", "<ruaflow modules>", include_str!("python/modules.py")),
    ("_display", "<ruaflow display>", include_str!("python/display.py")),
];

pub(super) fn build(interrupts: UserSignalReceiver) -> Interpreter {
    let mut settings = Settings::default();
    settings.install_signal_handlers = false;
    settings.import_site = false;
    settings.ignore_environment = true;
    // Sets of text iterate in the same order in every run.
    settings.hash_seed = Some(0);
    let builder = Interpreter::builder(settings);
    let mut modules = closed::modules(&builder.ctx);
    let ours = [native::module_def, host::module_def, pil::module_def, ruaflow_numpy::module_def];
    modules.extend(ours.map(|module| module(&builder.ctx)));
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
    vm.import("numpy", 0)?;
    for (name, filename, source) in PARTS {
        load(vm, name, filename, source)?;
    }
    let runtime = load(vm, "_ruaflow", "<ruaflow runtime>", RUNTIME)?;
    let runtime: PyObjectRef = runtime.into();
    vm.call_method(&runtime, "install", ())?;
    let modules = vm.sys_module.get_attr("modules", vm)?;
    // The cell's `_cell` is what the runtime holds; nobody else needs it.
    modules.del_item("_ruaflow", vm)?;
    for (name, ..) in PARTS {
        modules.del_item(name, vm)?;
    }
    closed::close(vm)?;
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
