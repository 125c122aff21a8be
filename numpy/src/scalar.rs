//! numpy's scalar classes: `float64` (a Python float too), `float32`, `int64`, …
//!
//! All share the behaviour of `numpy.generic`. A `float64` holds Python's own float, the
//! others a [`PyScalar`]; so methods take any object and look for its value.

use ruaflow_array::{DType, Scalar};
use rustpython_vm::builtins::{PyStr, PyType, PyTypeRef};
use rustpython_vm::common::hash::PyHash;
use rustpython_vm::function::FuncArgs;
use rustpython_vm::protocol::PyNumberMethods;
use rustpython_vm::types::{AsMapping, AsNumber, Comparable, Constructor, Hashable, Representable};
use rustpython_vm::{
    AsObject as _, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine, pyclass,
};

use crate::classes::classes;
use crate::convert::{python_number, scalar, scalar_of, to_array_as, unwrap, wrap};
use crate::dtype::dtype_object;
use crate::error::OrRaise as _;
use crate::index::subscript;
use crate::operators::{BINARY, compared_by_elements};

/// A number with a type: an instance of every scalar class but `float64`.
#[pyclass(module = "numpy", name = "generic")]
#[derive(Debug)]
pub(crate) struct PyScalar {
    value: Scalar,
}

impl PyPayload for PyScalar {
    fn class(_ctx: &rustpython_vm::Context) -> &'static Py<PyType> {
        <Self as rustpython_vm::class::StaticType>::static_type()
    }
}

impl PyScalar {
    pub(crate) fn new(value: Scalar) -> Self {
        Self { value }
    }

    pub(crate) fn value(&self) -> Scalar {
        self.value
    }
}

fn value_of(object: &PyObject, vm: &VirtualMachine) -> PyResult<Scalar> {
    scalar_of(object).ok_or_else(|| vm.new_type_error("this is no numpy scalar"))
}

impl Constructor for PyScalar {
    type Args = FuncArgs;

    fn slot_new(class: PyTypeRef, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let Some(dtype) = classes().dtype(class.as_object()) else {
            return Err(
                vm.new_type_error(format!("cannot create 'numpy.{}' instances", class.name()))
            );
        };
        if args.args.len() > 1 || !args.kwargs.is_empty() {
            return Err(vm.new_type_error(format!("{}() takes one argument", class.name())));
        }
        let Some(object) = args.args.first() else {
            return Ok(scalar(Scalar::Bool(false).cast(dtype), vm));
        };
        if let Some(value) = scalar_of(object) {
            return Ok(scalar(value.cast(dtype), vm));
        }
        if let Some(text) = object.downcast_ref::<PyStr>() {
            return from_text(text, dtype, vm);
        }
        Ok(unwrap(to_array_as(object, Some(dtype), vm)?, vm))
    }

    fn py_new(_class: &Py<PyType>, _args: FuncArgs, vm: &VirtualMachine) -> PyResult<Self> {
        Err(vm.new_type_error("a numpy scalar is made by its class"))
    }
}

/// `np.float64("1.5")`, through Python's own reading of numbers.
fn from_text(text: &Py<PyStr>, dtype: DType, vm: &VirtualMachine) -> PyResult {
    let types = &vm.ctx.types;
    let class: PyObjectRef = match dtype {
        DType::Bool => types.bool_type,
        dtype if dtype.is_float() => types.float_type,
        _ => types.int_type,
    }
    .to_owned()
    .into();
    let number = class.call((text.to_owned(),), vm)?;
    Ok(unwrap(to_array_as(&number, Some(dtype), vm)?, vm))
}

impl AsNumber for PyScalar {
    fn as_number() -> &'static PyNumberMethods {
        static METHODS: PyNumberMethods = PyNumberMethods {
            boolean: Some(|number, vm| Ok(value_of(number.obj, vm)?.to_bool())),
            int: Some(|number, vm| {
                let value = python_number(value_of(number.obj, vm)?, vm);
                Ok(value.try_int(vm)?.into())
            }),
            float: Some(|number, vm| {
                Ok(vm.ctx.new_float(value_of(number.obj, vm)?.to_f64()).into())
            }),
            index: Some(|number, vm| {
                let value = value_of(number.obj, vm)?;
                if value.dtype().is_integer() {
                    return Ok(python_number(value, vm));
                }
                Err(vm.new_type_error(format!(
                    "'{}' object cannot be interpreted as an integer",
                    number.obj.class().slot_name()
                )))
            }),
            // In-place operators rebind: scalars do not change.
            ..BINARY
        };
        &METHODS
    }
}

compared_by_elements!(PyScalar);

impl Hashable for PyScalar {
    fn slot_hash(zelf: &PyObject, vm: &VirtualMachine) -> PyResult<PyHash> {
        // Equal numbers hash alike.
        python_number(value_of(zelf, vm)?, vm).hash(vm)
    }

    fn hash(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<PyHash> {
        Self::slot_hash(zelf.as_object(), vm)
    }
}

impl Representable for PyScalar {
    fn slot_repr(zelf: &PyObject, vm: &VirtualMachine) -> PyResult<PyRef<PyStr>> {
        Ok(vm.ctx.new_str(ruaflow_array::print::scalar_repr(value_of(zelf, vm)?)))
    }

    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        Ok(ruaflow_array::print::scalar_repr(zelf.value))
    }
}

impl AsMapping for PyScalar {
    fn as_mapping() -> &'static rustpython_vm::protocol::PyMappingMethods {
        static METHODS: rustpython_vm::protocol::PyMappingMethods =
            rustpython_vm::protocol::PyMappingMethods {
                length: None,
                subscript: Some(|mapping, key, vm| {
                    let value = ruaflow_array::Array::scalar(value_of(mapping.obj, vm)?);
                    if key.downcast_ref::<rustpython_vm::builtins::PyInt>().is_some() {
                        return Err(vm.new_type_error(format!(
                            "'{}' object is not subscriptable",
                            mapping.obj.class().slot_name()
                        )));
                    }
                    subscript(&value, wrap(value.clone(), vm).as_object(), key, vm)
                }),
                ass_subscript: None,
            };
        &METHODS
    }
}

#[pyclass(with(Constructor, AsNumber, Comparable, Hashable, Representable, AsMapping))]
impl PyScalar {
    #[pyslot]
    fn slot_str(zelf: &PyObject, vm: &VirtualMachine) -> PyResult<PyRef<PyStr>> {
        Ok(vm.ctx.new_str(ruaflow_array::print::scalar_str(value_of(zelf, vm)?)))
    }

    #[pymethod]
    fn __format__(zelf: PyObjectRef, spec: PyRef<PyStr>, vm: &VirtualMachine) -> PyResult {
        let value = value_of(&zelf, vm)?;
        if spec.is_empty() {
            return Ok(vm.ctx.new_str(ruaflow_array::print::scalar_str(value)).into());
        }
        let number = python_number(value, vm);
        vm.call_method(&number, "__format__", (spec,))
    }

    /// A Python integer without digits, else the same type.
    #[pymethod]
    fn __round__(zelf: PyObjectRef, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let value = value_of(&zelf, vm)?;
        if value.dtype() == DType::Bool {
            return Err(vm.new_type_error("type numpy.bool doesn't define __round__ method"));
        }
        match args.args.first().filter(|digits| !vm.is_none(digits)) {
            Some(digits) => {
                let digits = crate::convert::to_index(digits, vm)?;
                let rounded = ruaflow_array::ufunc::round(&value.into(), digits as i32, None);
                Ok(unwrap(rounded.or_raise(vm)?, vm))
            }
            None => vm.call_method(&python_number(value, vm), "__round__", ()),
        }
    }

    #[pymethod]
    fn __complex__(zelf: PyObjectRef, vm: &VirtualMachine) -> PyResult {
        let number = python_number(value_of(&zelf, vm)?, vm);
        vm.ctx.types.complex_type.to_owned().as_object().call((number,), vm)
    }

    #[pymethod]
    fn __copy__(zelf: PyObjectRef) -> PyObjectRef {
        zelf
    }

    #[pymethod]
    fn __deepcopy__(zelf: PyObjectRef, _memo: PyObjectRef) -> PyObjectRef {
        zelf
    }

    #[pymethod]
    fn __reduce__(zelf: PyObjectRef, vm: &VirtualMachine) -> PyResult {
        let number = python_number(value_of(&zelf, vm)?, vm);
        let class: PyObjectRef = zelf.class().to_owned().into();
        Ok(vm.ctx.new_tuple(vec![class, vm.ctx.new_tuple(vec![number]).into()]).into())
    }

    #[pymethod]
    fn is_integer(zelf: PyObjectRef, vm: &VirtualMachine) -> PyResult<bool> {
        let value = value_of(&zelf, vm)?.to_f64();
        Ok(value.is_finite() && value.trunc() == value)
    }

    #[pymethod]
    fn __array__(zelf: PyObjectRef, _args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        Ok(wrap(ruaflow_array::Array::scalar(value_of(&zelf, vm)?), vm))
    }

    #[pygetset]
    fn dtype(zelf: PyObjectRef, vm: &VirtualMachine) -> PyResult {
        Ok(dtype_object(value_of(&zelf, vm)?.dtype(), vm))
    }

    #[pygetset]
    fn shape(_zelf: PyObjectRef, vm: &VirtualMachine) -> PyObjectRef {
        vm.ctx.empty_tuple.clone().into()
    }

    #[pygetset]
    fn ndim(_zelf: PyObjectRef) -> usize {
        0
    }

    #[pygetset]
    fn size(_zelf: PyObjectRef) -> usize {
        1
    }

    #[pygetset]
    fn itemsize(zelf: PyObjectRef, vm: &VirtualMachine) -> PyResult<usize> {
        Ok(value_of(&zelf, vm)?.dtype().itemsize())
    }

    #[pygetset]
    fn nbytes(zelf: PyObjectRef, vm: &VirtualMachine) -> PyResult<usize> {
        Ok(value_of(&zelf, vm)?.dtype().itemsize())
    }

    #[pygetset(name = "T")]
    fn transposed(zelf: PyObjectRef) -> PyObjectRef {
        zelf
    }

    #[pygetset]
    fn real(zelf: PyObjectRef) -> PyObjectRef {
        zelf
    }

    #[pygetset]
    fn imag(zelf: PyObjectRef, vm: &VirtualMachine) -> PyResult {
        let dtype = value_of(&zelf, vm)?.dtype();
        Ok(scalar(Scalar::Bool(false).cast(dtype), vm))
    }
}
