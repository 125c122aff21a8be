//! Puts the module together.

use rustpython_vm::builtins::{PyModule, PyModuleDef, PyType};
use rustpython_vm::class::{PyClassImpl, StaticType};
use rustpython_vm::frozen::FrozenCodeObject;
use rustpython_vm::scope::Scope;
use rustpython_vm::{Context, Py, PyObjectRef, PyPayload as _, PyRef, PyResult, VirtualMachine};

use crate::classes::classes;
use crate::dtype::PyDType;
use crate::ndarray::NdArray;
use crate::scalar::PyScalar;
use crate::signature::{Entry, function, method};
use crate::ufunc::{Ufunc, ufuncs};
use crate::{error, functions, linalg, methods, random};

/// A part in Python, compiled with the crate: compiling it in every process would take longer
/// than all the rest of the import.
macro_rules! part {
    ($file:tt, $name:tt) => {{
        // A changed file builds the crate anew.
        const _: &str = include_str!($file);
        rustpython_vm::py_compile!(file = $file, module_name = $name)
    }};
}

/// The version whose behaviour this one has.
const VERSION: &str = "2.4.6";

/// The native module `numpy`, for `InterpreterBuilder::add_native_modules`.
pub fn module_def(ctx: &Context) -> &'static PyModuleDef {
    numpy::module_def(ctx)
}

#[rustpython_vm::pymodule]
mod numpy {
    use rustpython_vm::builtins::PyModule;
    use rustpython_vm::{Py, PyResult, VirtualMachine};

    pub(crate) fn module_exec(vm: &VirtualMachine, module: &Py<PyModule>) -> PyResult<()> {
        __module_exec(vm, module);
        super::fill(module, vm)
    }
}

fn fill(module: &Py<PyModule>, vm: &VirtualMachine) -> PyResult<()> {
    error::connect();
    let modules = vm.sys_module.get_attr("modules", vm)?;
    modules.set_item("numpy", module.to_owned().into(), vm)?;
    let empty: PyObjectRef = vm.ctx.new_list(Vec::new()).into();
    module.set_attr("__path__", empty, vm)?;
    module.set_attr("__version__", vm.ctx.new_str(VERSION), vm)?;
    add_classes(module, vm)?;
    for (name, ufunc) in ufuncs() {
        module.set_attr(name, ufunc.into_ref(&vm.ctx), vm)?;
    }
    for table in functions::TABLES {
        add(module, table, vm)?;
    }
    add(module, linalg::TOP, vm)?;
    add_constants(module, vm)?;
    add_methods(vm);

    let exceptions = submodule(module, "exceptions", vm)?;
    let ours = classes();
    for class in [&ours.axis_error, &ours.rank_warning] {
        let name = vm.ctx.intern_str(class.name().to_string());
        exceptions.set_attr(name, class.clone(), vm)?;
    }
    let linear = submodule(module, "linalg", vm)?;
    add(&linear, linalg::TABLE, vm)?;
    linear.set_attr("LinAlgError", ours.lin_alg_error.clone(), vm)?;
    let randomness = submodule(module, "random", vm)?;
    random::fill(&randomness, vm)?;

    let parts = [
        part!("python/layer.py", "<ruaflow numpy>"),
        part!("python/statistics.py", "<ruaflow numpy statistics>"),
        part!("python/grids.py", "<ruaflow numpy grids>"),
        part!("python/missing.py", "<ruaflow numpy missing>"),
    ];
    for part in parts {
        run(part, module, vm)?;
    }
    let testing = submodule(module, "testing", vm)?;
    run(part!("python/testing.py", "<ruaflow numpy.testing>"), &testing, vm)
}

fn add(module: &Py<PyModule>, table: &[Entry], vm: &VirtualMachine) -> PyResult<()> {
    for entry in table {
        let (name, function) = function(entry, vm);
        module.set_attr(name, function, vm)?;
    }
    Ok(())
}

fn add_classes(module: &Py<PyModule>, vm: &VirtualMachine) -> PyResult<()> {
    // Makes the class objects that have no name in the module.
    class_of::<crate::ndarray::Rows>();
    let ours = classes();
    let named: [(&str, &Py<PyType>); 13] = [
        ("ndarray", class_of::<NdArray>()),
        ("dtype", class_of::<PyDType>()),
        ("ufunc", class_of::<Ufunc>()),
        ("flatiter", class_of::<crate::flat::Flat>()),
        ("flagsobj", class_of::<crate::ndarray::Flags>()),
        ("generic", PyScalar::static_type()),
        ("number", ours.number),
        ("integer", ours.integer),
        ("signedinteger", ours.signedinteger),
        ("unsignedinteger", ours.unsignedinteger),
        ("inexact", ours.inexact),
        ("floating", ours.floating),
        ("bool", ours.of(ruaflow_array::DType::Bool)),
    ];
    for (name, class) in named {
        module.set_attr(name, class.to_owned(), vm)?;
    }
    use ruaflow_array::DType::{Bool, F16, F32, F64, I32, I64, U8};
    let scalars = [
        (Bool, &["bool_"][..]),
        (U8, &["uint8", "ubyte"]),
        (I32, &["int32", "intc"]),
        (I64, &["int64", "int_", "intp", "long", "longlong"]),
        (F16, &["float16", "half"]),
        (F32, &["float32", "single"]),
        (F64, &["float64", "double"]),
    ];
    for (dtype, names) in scalars {
        for name in names {
            module.set_attr(*name, ours.of(dtype).to_owned(), vm)?;
        }
    }
    Ok(())
}

/// The class of a native type, made when it is first asked for.
fn class_of<T: PyClassImpl + StaticType>() -> &'static Py<PyType> {
    let _ = T::make_static_type();
    T::static_type()
}

fn add_constants(module: &Py<PyModule>, vm: &VirtualMachine) -> PyResult<()> {
    let numbers = [
        ("pi", std::f64::consts::PI),
        ("e", std::f64::consts::E),
        ("euler_gamma", 0.577_215_664_901_532_9),
        ("inf", f64::INFINITY),
        ("nan", f64::NAN),
    ];
    for (name, value) in numbers {
        module.set_attr(name, vm.ctx.new_float(value), vm)?;
    }
    module.set_attr("newaxis", vm.ctx.none(), vm)?;
    for (name, value) in [("True_", true), ("False_", false)] {
        let value = crate::convert::scalar(ruaflow_array::Scalar::Bool(value), vm);
        module.set_attr(name, value, vm)?;
    }
    Ok(())
}

/// The same methods for arrays and scalars.
fn add_methods(vm: &VirtualMachine) {
    for class in [NdArray::static_type(), PyScalar::static_type()] {
        let set = |entry: &Entry| {
            let (name, method) = method(entry, class, vm);
            class.set_attr(vm.ctx.intern_str(name), method);
        };
        for entry in methods::OWN.iter().chain(functions::SHAPE_METHODS) {
            set(entry);
        }
        let every = functions::TABLES.iter().copied().chain([linalg::TOP]).flatten();
        for (text, call) in every {
            let name = text.split('(').next().unwrap_or_default();
            if methods::LIKE_FUNCTIONS.contains(&name) {
                set(&(without_first(text), *call));
            }
        }
    }
}

/// `sum(a, axis=None)` as a method: `sum(axis=None)`.
fn without_first(text: &'static str) -> &'static str {
    let (name, list) = text.split_once('(').unwrap_or((text, ")"));
    let rest = match list.split_once(',') {
        Some((_, rest)) => rest.trim_start().trim_start_matches("/, "),
        None => ")",
    };
    Box::leak(format!("{name}({rest}").into_boxed_str())
}

fn submodule(module: &Py<PyModule>, name: &str, vm: &VirtualMachine) -> PyResult<PyRef<PyModule>> {
    let full = format!("numpy.{name}");
    let made = vm.new_module(&full, vm.ctx.new_dict(), None);
    let modules = vm.sys_module.get_attr("modules", vm)?;
    modules.set_item(full.as_str(), made.clone().into(), vm)?;
    let name = vm.ctx.intern_str(name);
    module.set_attr(name, made.clone(), vm)?;
    Ok(made)
}

/// Runs a part inside a module.
fn run(part: FrozenCodeObject<&[u8]>, module: &Py<PyModule>, vm: &VirtualMachine) -> PyResult<()> {
    vm.run_code_obj(vm.ctx.new_code(part), Scope::with_builtins(None, module.dict(), vm))?;
    Ok(())
}
