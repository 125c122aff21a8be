//! An interpreter with the module, for tests.

use rustpython_vm::builtins::PyModule;
use rustpython_vm::common::rc::PyRc;
use rustpython_vm::scope::Scope;
use rustpython_vm::vm::Paths;
use rustpython_vm::{
    Interpreter, PyObjectRef, PyRef, PyResult, Settings, VirtualMachine, compiler,
};
use serde_json::Value;

const DESCRIBE: &str = include_str!("../differential/describe.py");

/// There are no streams in here, but warnings want to be written.
const STREAMS: &str = "import io, sys\nsys.stdout, sys.stderr = io.StringIO(), io.StringIO()";

/// Deep recursion of Python needs room.
const STACK_BYTES: usize = 256 << 20;

/// The interpreter of [`in_interpreter`].
pub struct Python<'vm> {
    pub vm: &'vm VirtualMachine,
    #[allow(dead_code)]
    describe: PyRef<PyModule>,
    #[allow(dead_code)]
    json: PyObjectRef,
}

impl Python<'_> {
    /// What `describe.py` says of a snippet.
    #[allow(dead_code)]
    pub fn describe(&self, code: &str) -> Value {
        let vm = self.vm;
        let described = self
            .describe
            .get_attr("run", vm)
            .and_then(|run| run.call((code.to_owned(),), vm))
            .and_then(|outcome| vm.call_method(&self.json, "dumps", (outcome,)))
            .and_then(|text| text.str(vm));
        match described {
            Ok(text) => serde_json::from_str(&text.to_string_lossy()).unwrap(),
            Err(error) => {
                let mut text = String::new();
                vm.write_exception(&mut text, &error).unwrap();
                panic!("{code}\n{text}")
            }
        }
    }

    /// Runs code and gives the value of its last expression.
    #[allow(dead_code)]
    pub fn run(&self, code: &str) -> PyResult {
        let vm = self.vm;
        let compiled = vm
            .compile(code, compiler::Mode::BlockExpr, "<test>".to_owned())
            .map_err(|error| error.into_pyexception(vm, Some(code)))?;
        vm.run_code_obj(compiled, vm.new_scope_with_builtins())
    }
}

/// Runs a function with an interpreter that has numpy, in a thread of its own.
pub fn in_interpreter<T: Send + 'static>(
    body: impl FnOnce(&Python<'_>) -> T + Send + 'static,
) -> T {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        build().enter(|vm| {
            let python = prepare(vm).unwrap_or_else(|error| {
                let mut text = String::new();
                vm.write_exception(&mut text, &error).unwrap();
                panic!("{text}")
            });
            body(&python)
        })
    });
    match thread.unwrap().join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn build() -> Interpreter {
    let mut settings = Settings::default();
    settings.install_signal_handlers = false;
    settings.import_site = false;
    settings.ignore_environment = true;
    settings.hash_seed = Some(0);
    let builder = Interpreter::builder(settings);
    let mut modules = rustpython_stdlib::stdlib_module_defs(&builder.ctx);
    modules.push(ruaflow_numpy::module_def(&builder.ctx));
    builder
        .add_native_modules(&modules)
        .add_frozen_modules(rustpython_pylib::FROZEN_STDLIB)
        .init_hook(|vm| {
            if let Some(state) = PyRc::get_mut(&mut vm.state) {
                state.config.paths = Paths::default();
            }
        })
        .build()
}

fn prepare(vm: &VirtualMachine) -> PyResult<Python<'_>> {
    // There is no operating system in here; the shim takes its place.
    vm.import("_dummy_os", 0)?;
    let streams = vm
        .compile(STREAMS, compiler::Mode::Exec, "streams".to_owned())
        .map_err(|error| error.into_pyexception(vm, Some(STREAMS)))?;
    vm.run_code_obj(streams, vm.new_scope_with_builtins())?;
    let describe = vm.new_module("describe", vm.ctx.new_dict(), None);
    let code = vm
        .compile(DESCRIBE, compiler::Mode::Exec, "describe.py".to_owned())
        .map_err(|error| error.into_pyexception(vm, Some(DESCRIBE)))?;
    vm.run_code_obj(code, Scope::with_builtins(None, describe.dict(), vm))?;
    Ok(Python { vm, describe, json: vm.import("json", 0)? })
}
