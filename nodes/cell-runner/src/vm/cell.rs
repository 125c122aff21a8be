//! Runs cells: one namespace, one at a time.

use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, TryRecvError};
use ruaflow_robots::Primitives;
use rustpython_vm::builtins::{PyBaseExceptionRef, PyDictRef, PyTupleRef};
use rustpython_vm::scope::Scope;
use rustpython_vm::{AsObject, PyObjectRef, PyResult, VirtualMachine, compiler};
use serde_json::{Map, Value};

use super::convert::python_from_json;
use super::inbox::Delivery;
use super::native::{answered, outcome};
use super::{arrays, interpreter, link};
use crate::protocol::{
    Answer, CellError, Done, ErrorKind, FromChild, Refusal, Run, Stream, ToChild,
};
use crate::text::clip;

/// Characters of the echoed value, a traceback, the text given to `finish`.
const MAX_VALUE: usize = 4_000;
const MAX_TRACEBACK: usize = 4_000;
/// Exit status of a process whose interpreter has panicked, as Rust has it.
const PANICKED: i32 = 101;
pub(super) const MAX_SUMMARY: usize = 4_000;

/// How long a cell that waits for an answer goes without looking for an interrupt.
const SLICE: Duration = Duration::from_millis(10);

static NEXT_QUESTION: AtomicU64 = AtomicU64::new(0);

pub(super) struct Session<'vm> {
    vm: &'vm VirtualMachine,
    /// Our Python module; an error when the interpreter could not be prepared.
    runtime: Result<PyObjectRef, String>,
    scope: Option<Scope>,
}

impl<'vm> Session<'vm> {
    pub(super) fn new(vm: &'vm VirtualMachine) -> Self {
        let runtime = interpreter::prepare(vm).map_err(|error| {
            let mut text = String::new();
            let _ = vm.write_exception(&mut text, &error);
            text
        });
        Self { vm, runtime, scope: None }
    }

    /// Runs what comes, for ever.
    pub(super) fn serve(&mut self) {
        let messages = link::get().messages();
        let mut warm = false;
        loop {
            let message = match messages.try_recv() {
                Err(TryRecvError::Empty) if !warm => {
                    self.warm_up();
                    warm = true;
                    continue;
                }
                Err(TryRecvError::Empty) => messages.recv().ok(),
                other => other.ok(),
            };
            let Some(Delivery { message, .. }) = message else { return };
            match message {
                ToChild::Init { robot, primitives } => {
                    if let Err(error) = self.init(&robot, primitives) {
                        self.runtime = Err(error);
                    }
                }
                ToChild::Run(run) => {
                    let done = self.run(&run);
                    link::get().send(&FromChild::Done(done), b"");
                }
                // An answer that came after its cell was interrupted.
                ToChild::Reply { .. } | ToChild::Interrupt { .. } => {}
            }
        }
    }

    /// Loads in idle time what takes long, so that a new process is up soon.
    fn warm_up(&self) {
        if let Ok(runtime) = &self.runtime {
            // What fails here fails again, and with an answer, when it is needed.
            let _ = self.vm.call_method(runtime, "warm_up", ());
        }
    }

    fn init(&mut self, robot: &str, primitives: Primitives) -> Result<(), String> {
        let robot = ruaflow_robots::find(robot).map_err(|error| error.to_string())?;
        link::get().set_robot(robot, primitives);
        let runtime = self.runtime.clone()?;
        let vm = self.vm;
        let source = robot.python_source(primitives);
        self.scope = Some(namespace(vm, &runtime, &source).map_err(|error| {
            let mut text = String::new();
            let _ = vm.write_exception(&mut text, &error);
            text
        })?);
        Ok(())
    }

    fn run(&self, run: &Run) -> Done {
        let link = link::get();
        let mut done = Done { index: run.index, value: None, error: None, finish: None };
        let (runtime, scope) = match (&self.runtime, &self.scope) {
            (Ok(runtime), Some(scope)) => (runtime, scope),
            (Err(error), _) => {
                done.error = Some(interpreter_error(error));
                return done;
            }
            (Ok(_), None) => {
                done.error = Some(interpreter_error("no robot was given before the first cell"));
                return done;
            }
        };
        link.begin(run.index);
        let ran = catch_unwind(AssertUnwindSafe(|| self.execute(run, scope)));
        match ran {
            Ok(Ok(value)) => done.value = value,
            Ok(Err(error)) => {
                let reported = catch_unwind(AssertUnwindSafe(|| self.report(runtime, &error)));
                done.error = reported
                    .unwrap_or_else(|panic| Some(interpreter_error(&panic_text(panic.as_ref()))));
            }
            // What is left of the interpreter is broken; a fresh one takes the next cell.
            Err(_) => {
                link.end();
                std::process::exit(PANICKED);
            }
        }
        // An interrupt in it has been reported, or comes too late.
        let _ = catch_unwind(AssertUnwindSafe(|| self.vm.call_method(runtime, "end_cell", ())));
        done.finish = link.end();
        done
    }

    fn execute(&self, run: &Run, scope: &Scope) -> PyResult<Option<String>> {
        let vm = self.vm;
        let code = vm
            .compile(&run.code, compiler::Mode::BlockExpr, run.filename.clone())
            .map_err(|error| error.into_pyexception(vm, Some(&run.code)))?;
        // Tracebacks show the cell's lines.
        vm.register_code_in_linecache(&code, &run.code)?;
        let value = vm.run_code_obj(code, scope.clone())?;
        if vm.is_none(&value) {
            return Ok(None);
        }
        let repr = value.repr(vm)?;
        Ok(Some(clip(&repr.to_string_lossy(), MAX_VALUE)))
    }

    /// What the agent is told of an exception; `None` for one that only ends the cell.
    fn report(&self, runtime: &PyObjectRef, error: &PyBaseExceptionRef) -> Option<CellError> {
        let vm = self.vm;
        let is = |name: &str| {
            runtime
                .get_attr(vm.ctx.intern_str(name), vm)
                .is_ok_and(|class| error.class().is(&class))
        };
        if is("Finished") {
            return None;
        }
        if error.fast_isinstance(vm.ctx.exceptions.system_exit) {
            self.say_exit(error);
            return None;
        }
        let kind = if is("EpisodeFinished") {
            ErrorKind::EpisodeFinished
        } else if error.fast_isinstance(vm.ctx.exceptions.keyboard_interrupt) {
            ErrorKind::Interrupted
        } else {
            ErrorKind::Raised
        };
        Some(CellError { kind, traceback: clip(&self.traceback(runtime, error), MAX_TRACEBACK) })
    }

    /// `sys.exit("text")` prints its text.
    fn say_exit(&self, error: &PyBaseExceptionRef) {
        let vm = self.vm;
        if let Some(code) = error.get_arg(0)
            && !vm.is_none(&code)
            && !code.fast_isinstance(vm.ctx.types.int_type)
            && let Ok(text) = code.str(vm)
        {
            link::get().print(Stream::Stderr, &format!("{}\n", text.to_string_lossy()));
        }
    }

    fn traceback(&self, runtime: &PyObjectRef, error: &PyBaseExceptionRef) -> String {
        let vm = self.vm;
        let formatted =
            vm.call_method(runtime, "format_error", (error.clone(),)).and_then(|text| text.str(vm));
        match formatted {
            Ok(text) => text.to_string_lossy().into_owned(),
            // An exception whose own methods fail, or an interrupt meanwhile.
            Err(_) => format!("{}: (its traceback could not be made)\n", error.class().name()),
        }
    }
}

/// Calls a method of the robot and waits for the answer.
pub(super) fn call(
    method: String,
    arguments: Map<String, Value>,
    vm: &VirtualMachine,
) -> PyResult<PyTupleRef> {
    ask(|id| FromChild::Call { id, method, arguments }, b"", vm)
}

/// Reads an attribute of the robot and waits for the answer.
pub(super) fn attribute(name: String, vm: &VirtualMachine) -> PyResult<PyTupleRef> {
    ask(|id| FromChild::Attribute { id, name }, b"", vm)
}

/// Asks the node something and waits for the answer: (refusal or None, value, message).
///
/// `bytes` go with the question.
pub(super) fn ask(
    question: impl FnOnce(u64) -> FromChild,
    bytes: &[u8],
    vm: &VirtualMachine,
) -> PyResult<PyTupleRef> {
    let link = link::get();
    // Also after an `except BaseException` around `finish`.
    if link.is_finished() {
        return outcome(Some("episode_finished"), &Value::Null, "finish() was called", vm);
    }
    let id = NEXT_QUESTION.fetch_add(1, Ordering::Relaxed);
    link.flush();
    link.send(&question(id), bytes);
    let (answer, memory) = wait(id, vm)?;
    match answer {
        Answer::Value(value) => answered(python_from_json(&value, vm)?, vm),
        Answer::Arrays { value, arrays } => {
            let memory = memory.ok_or_else(|| vm.new_runtime_error("arrays without memory"))?;
            answered(arrays::received(&value, &arrays, &memory, vm)?, vm)
        }
        Answer::Refused { kind, message, payload } => {
            let kind = match kind {
                Refusal::Value => "value",
                Refusal::Tool => "tool",
                Refusal::EpisodeFinished => "episode_finished",
                Refusal::Hidden => "hidden",
            };
            outcome(Some(kind), &payload, &message, vm)
        }
    }
}

fn wait(id: u64, vm: &VirtualMachine) -> PyResult<(Answer, Option<OwnedFd>)> {
    loop {
        match link::get().messages().recv_timeout(SLICE) {
            Ok(Delivery { message: ToChild::Reply { id: of, answer }, memory }) if of == id => {
                return Ok((answer, memory));
            }
            // Answers to questions that were interrupted.
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(vm.new_runtime_error("the node is gone"));
            }
        }
        vm.check_signals()?;
    }
}

/// The namespace of an episode: `__main__`, with the names every cell has.
fn namespace(vm: &VirtualMachine, runtime: &PyObjectRef, robo_source: &str) -> PyResult<Scope> {
    let names = vm.ctx.new_dict();
    names.set_item("__name__", vm.ctx.new_str("robo").into(), vm)?;
    for (name, from) in [("Record", "Record"), ("_call", "call"), ("_attribute", "attribute")] {
        names.set_item(name, runtime.get_attr(vm.ctx.intern_str(from), vm)?, vm)?;
    }
    run_source(vm, robo_source, "<ruaflow robo>", names.clone())?;
    let robo = vm.call_method(runtime, "make_robo", (names,))?;

    let scope = vm.new_scope_with_main()?;
    let globals = &scope.globals;
    globals.set_item("robo", robo, vm)?;
    for module in ["math", "time"] {
        globals.set_item(module, vm.import(module, 0)?, vm)?;
    }
    let numpy = vm.import("numpy", 0)?;
    for name in ["np", "numpy"] {
        globals.set_item(name, numpy.clone(), vm)?;
    }
    for name in ["display", "finish"] {
        globals.set_item(name, runtime.get_attr(vm.ctx.intern_str(name), vm)?, vm)?;
    }
    globals.set_item("log", vm.builtins.get_attr("print", vm)?, vm)?;
    Ok(scope)
}

fn run_source(
    vm: &VirtualMachine,
    source: &str,
    filename: &str,
    globals: PyDictRef,
) -> PyResult<()> {
    let code = vm
        .compile(source, compiler::Mode::Exec, filename.to_owned())
        .map_err(|error| error.into_pyexception(vm, Some(source)))?;
    vm.run_code_obj(code, Scope::with_builtins(None, globals, vm))?;
    Ok(())
}

fn interpreter_error(text: &str) -> CellError {
    CellError {
        kind: ErrorKind::Interpreter,
        traceback: clip(&format!("the interpreter failed: {text}"), MAX_TRACEBACK),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "a panic without words".to_owned())
}
