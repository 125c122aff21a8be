//! `_cell`: the few native functions under a cell's Python.

pub(super) use _cell::module_def;

#[rustpython_vm::pymodule]
mod _cell {
    use std::time::{Duration, Instant};

    use rustpython_vm::builtins::{PyDictRef, PyStrRef, PyTupleRef};
    use rustpython_vm::function::ArgIntoFloat;
    use rustpython_vm::types::Constructor;
    use rustpython_vm::{Py, PyObjectRef, PyPayload, PyResult, VirtualMachine, pyclass};
    use serde_json::Map;

    use crate::protocol::{Finish, Stream as Kind};
    use crate::vm::cell;
    use crate::vm::convert::{arg_from_python, python_from_json};
    use crate::vm::link;

    /// How long a sleeping cell goes without looking for an interrupt.
    const SLICE: Duration = Duration::from_millis(10);

    /// Longer than any cell lives, and short enough for a clock.
    const FOREVER_S: f64 = 1e9;

    const MAX_RECURSION: usize = 10_000;

    /// Checks a method's arguments and calls it; returns (refusal or None, value, message).
    #[pyfunction]
    fn call(method: PyStrRef, arguments: PyDictRef, vm: &VirtualMachine) -> PyResult<PyTupleRef> {
        let (robot, primitives) =
            link::get().robot().ok_or_else(|| vm.new_runtime_error("there is no robot yet"))?;
        let method = method.to_string_lossy().into_owned();
        // The node refuses it and writes that down.
        if robot.method(&method).is_some_and(|method| !method.is_in(primitives)) {
            return cell::call(method, Map::new(), vm);
        }
        let mut given = Vec::new();
        for (name, value) in arguments.items_vec() {
            let name = name.str(vm)?.to_string_lossy().into_owned();
            given.push((name, arg_from_python(&value, vm)?));
        }
        let given = given.iter().map(|(name, arg)| (name.as_str(), arg.clone()));
        let checked =
            robot.check(&method, given).map_err(|error| vm.new_value_error(error.to_string()))?;
        cell::call(method, checked.args, vm)
    }

    /// Reads a changing attribute of `robo`; returns as `call` does.
    #[pyfunction]
    fn attribute(name: PyStrRef, vm: &VirtualMachine) -> PyResult<PyTupleRef> {
        cell::attribute(name.to_string_lossy().into_owned(), vm)
    }

    #[pyfunction]
    fn finish(status: PyStrRef, summary: PyStrRef, vm: &VirtualMachine) -> PyResult<()> {
        let finish = Finish {
            status: status.to_string_lossy().into_owned(),
            summary: crate::text::clip(&summary.to_string_lossy(), cell::MAX_SUMMARY),
        };
        if !finish.is_valid() {
            return Err(vm.new_value_error("a status is success, failure or stuck"));
        }
        link::get().finish(finish);
        Ok(())
    }

    /// Waits that many seconds.
    #[pyfunction]
    fn sleep(seconds: ArgIntoFloat, vm: &VirtualMachine) -> PyResult<()> {
        let seconds = seconds.into_float();
        if seconds.is_nan() || seconds < 0.0 {
            return Err(vm.new_value_error("sleep length must be a non-negative number"));
        }
        link::get().flush();
        let end = Instant::now() + Duration::from_secs_f64(seconds.min(FOREVER_S));
        loop {
            vm.check_signals()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(SLICE));
        }
    }

    /// Sets how deep calls may go; deeper than [`MAX_RECURSION`] an error would
    /// take longer to print than its cell may run.
    #[pyfunction]
    fn setrecursionlimit(limit: isize, vm: &VirtualMachine) -> PyResult<()> {
        let limit = usize::try_from(limit)
            .ok()
            .filter(|limit| (1..=MAX_RECURSION).contains(limit))
            .ok_or_else(|| {
                vm.new_value_error(format!(
                    "the recursion limit of a cell is {MAX_RECURSION} at most, and 1 at least"
                ))
            })?;
        vm.recursion_limit.set(limit);
        Ok(())
    }

    #[pyfunction]
    fn urandom(size: isize, vm: &VirtualMachine) -> PyResult<Vec<u8>> {
        let size = usize::try_from(size)
            .ok()
            .filter(|size| *size <= 1 << 20)
            .ok_or_else(|| vm.new_value_error("urandom() gives 0 to 1048576 bytes"))?;
        let mut bytes = vec![0; size];
        for part in bytes.chunks_mut(256) {
            // SAFETY: the buffer is valid for its length. Up to 256 bytes come
            // whole and without an interruption.
            let got = unsafe { libc::getrandom(part.as_mut_ptr().cast(), part.len(), 0) };
            if usize::try_from(got) != Ok(part.len()) {
                return Err(vm.new_os_error("the system has no random numbers"));
            }
        }
        Ok(bytes)
    }

    /// `sys.stdout` and `sys.stderr` of a cell: text goes to the node.
    #[pyattr]
    #[pyclass(module = "_cell", name = "Stream")]
    #[derive(Debug, PyPayload)]
    struct Stream {
        kind: Kind,
    }

    impl Constructor for Stream {
        type Args = (PyStrRef,);

        fn py_new(
            _class: &Py<rustpython_vm::builtins::PyType>,
            (name,): Self::Args,
            _vm: &VirtualMachine,
        ) -> PyResult<Self> {
            let kind = match name.to_str() {
                Some("stderr") => Kind::Stderr,
                _ => Kind::Stdout,
            };
            Ok(Self { kind })
        }
    }

    #[pyclass(with(Constructor))]
    impl Stream {
        #[pymethod]
        fn write(zelf: &Py<Self>, text: PyStrRef) -> usize {
            link::get().print(zelf.kind, &text.to_string_lossy());
            text.char_len()
        }

        #[pymethod]
        fn flush(_zelf: &Py<Self>) {
            link::get().flush();
        }

        #[pymethod]
        fn isatty(_zelf: &Py<Self>) -> bool {
            false
        }

        #[pymethod]
        fn writable(_zelf: &Py<Self>) -> bool {
            true
        }

        #[pymethod]
        fn readable(_zelf: &Py<Self>) -> bool {
            false
        }

        #[pygetset]
        fn encoding(_zelf: &Py<Self>) -> &'static str {
            "utf-8"
        }

        #[pygetset]
        fn errors(_zelf: &Py<Self>) -> &'static str {
            "replace"
        }

        #[pygetset]
        fn closed(_zelf: &Py<Self>) -> bool {
            false
        }

        #[pygetset]
        fn name(zelf: &Py<Self>) -> &'static str {
            match zelf.kind {
                Kind::Stdout => "<stdout>",
                Kind::Stderr => "<stderr>",
            }
        }
    }

    /// [`outcome`] of a question that was not refused.
    pub(in crate::vm) fn answered(value: PyObjectRef, vm: &VirtualMachine) -> PyResult<PyTupleRef> {
        Ok(vm.ctx.new_tuple(vec![vm.ctx.none(), value, vm.ctx.new_str("").into()]))
    }

    /// (refusal or None, value, message) for the Python side.
    pub(in crate::vm) fn outcome(
        refusal: Option<&str>,
        value: &serde_json::Value,
        message: &str,
        vm: &VirtualMachine,
    ) -> PyResult<PyTupleRef> {
        let refusal: PyObjectRef = match refusal {
            Some(refusal) => vm.ctx.new_str(refusal).into(),
            None => vm.ctx.none(),
        };
        let message = vm.ctx.new_str(message).into();
        Ok(vm.ctx.new_tuple(vec![refusal, python_from_json(value, vm)?, message]))
    }
}

pub(super) use _cell::{answered, outcome};
