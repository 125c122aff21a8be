//! `numpy.dtype`, and what may stand for one.

use ruaflow_array::DType;
use rustpython_vm::builtins::{PyStr, PyStrRef, PyType, PyTypeRef};
use rustpython_vm::class::StaticType as _;
use rustpython_vm::common::hash::PyHash;
use rustpython_vm::function::{FuncArgs, PyComparisonValue};
use rustpython_vm::types::{Comparable, Constructor, Hashable, PyComparisonOp, Representable};
use rustpython_vm::{
    AsObject as _, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine, pyclass,
};

use crate::classes::classes;
use crate::convert::array_of;
use crate::scalar::PyScalar;
use crate::signature::Args;

/// An element type as a Python object; there is one for each.
#[pyclass(module = "numpy", name = "dtype")]
#[derive(Debug, PyPayload)]
pub(crate) struct PyDType {
    dtype: DType,
}

/// The Python object of a dtype.
pub(crate) fn dtype_object(dtype: DType, vm: &VirtualMachine) -> PyObjectRef {
    PyDType { dtype }.into_ref(&vm.ctx).into()
}

/// What may be given as `dtype=`: a dtype, a scalar class, `float`, `"float32"`.
pub(crate) fn dtype_of(object: &PyObject, vm: &VirtualMachine) -> PyResult<DType> {
    if let Some(found) = known(object, vm) {
        return Ok(found);
    }
    let name = match object.downcast_ref::<PyStr>() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => match object.downcast_ref::<PyType>() {
            Some(class) => class.name().to_string(),
            None => {
                let text = object.repr(vm)?.to_string_lossy().into_owned();
                return Err(vm.new_type_error(format!("Cannot interpret '{text}' as a data type")));
            }
        },
    };
    Err(vm.new_type_error(match nearest(&name) {
        Some(nearest) => format!("RuaFlow's numpy has no {name:?} arrays; nearest: {nearest}"),
        None => format!("data type {name:?} not understood"),
    }))
}

/// An optional dtype argument.
pub(crate) fn dtype_arg(args: &Args, name: &str, vm: &VirtualMachine) -> PyResult<Option<DType>> {
    args.get(name, vm).map(|object| dtype_of(object, vm)).transpose()
}

fn known(object: &PyObject, vm: &VirtualMachine) -> Option<DType> {
    if let Some(dtype) = object.downcast_ref::<PyDType>() {
        return Some(dtype.dtype);
    }
    if let Some(name) = object.downcast_ref::<PyStr>() {
        return DType::from_name(&name.to_string_lossy());
    }
    if let Some(class) = object.downcast_ref::<PyType>() {
        let types = &vm.ctx.types;
        let (ours, is) = (classes(), |other: &Py<PyType>| class.is(other));
        return ours.dtype(object).or_else(|| {
            if is(types.float_type) || is(ours.floating) || is(ours.inexact) || is(ours.number) {
                Some(DType::F64)
            } else if is(types.int_type) || is(ours.integer) || is(ours.signedinteger) {
                Some(DType::I64)
            } else if is(types.bool_type) {
                Some(DType::Bool)
            } else {
                None
            }
        });
    }
    // numpy takes the attribute of anything that has one.
    array_of(object).map(|array| array.dtype())
}

/// What to use instead of a type that numpy has and this one lacks.
fn nearest(name: &str) -> Option<&'static str> {
    let bare = name.trim_start_matches(['<', '>', '=', '|']);
    Some(match bare {
        "int8" | "i1" | "b" | "byte" | "int16" | "i2" | "h" | "short" => "int32",
        "uint16" | "u2" | "H" | "ushort" => "int32",
        "uint32" | "u4" | "I" | "uintc" | "uint64" | "u8" | "L" | "Q" | "uint" | "ulong" => "int64",
        "longdouble" | "float128" | "f16" | "g" => "float64",
        "complex" | "complex64" | "complex128" | "c8" | "c16" | "F" | "D" => {
            "two float64 arrays, real and imaginary part"
        }
        "object" | "object_" | "O" | "str" | "str_" | "U" | "S" | "bytes" | "bytes_" => {
            "a Python list"
        }
        "datetime64" | "timedelta64" | "M8" | "m8" | "M" | "m" => "int64 or float64",
        "float64" | "float32" | "float16" | "int64" | "int32" => "the native byte order",
        _ => return None,
    })
}

impl Constructor for PyDType {
    type Args = FuncArgs;

    fn slot_new(_class: PyTypeRef, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let Some(object) = args.args.first().or_else(|| args.kwargs.get("dtype")) else {
            return Err(vm.new_type_error("dtype() missing required argument 'dtype' (pos 1)"));
        };
        if vm.is_none(object) {
            return Ok(dtype_object(DType::F64, vm));
        }
        Ok(dtype_object(dtype_of(object, vm)?, vm))
    }

    fn py_new(_class: &Py<PyType>, _args: FuncArgs, vm: &VirtualMachine) -> PyResult<Self> {
        Err(vm.new_type_error("dtype() makes dtypes through its class"))
    }
}

impl Comparable for PyDType {
    fn cmp(
        zelf: &Py<Self>,
        other: &PyObject,
        op: PyComparisonOp,
        vm: &VirtualMachine,
    ) -> PyResult<PyComparisonValue> {
        let Some(other) = known(other, vm) else {
            return op.eq_only(|| Ok(PyComparisonValue::Implemented(false)));
        };
        let (a, b) = (zelf.dtype, other);
        let below = ruaflow_array::can_cast_safely;
        Ok(PyComparisonValue::Implemented(match op {
            PyComparisonOp::Eq => a == b,
            PyComparisonOp::Ne => a != b,
            PyComparisonOp::Lt => a != b && below(a, b),
            PyComparisonOp::Le => below(a, b),
            PyComparisonOp::Gt => a != b && below(b, a),
            PyComparisonOp::Ge => below(b, a),
        }))
    }
}

impl Hashable for PyDType {
    fn hash(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<PyHash> {
        Ok(PyHash::from(zelf.dtype.char() as u8))
    }
}

impl Representable for PyDType {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        Ok(format!("dtype('{}')", zelf.dtype))
    }
}

#[pyclass(with(Constructor, Comparable, Hashable, Representable))]
impl PyDType {
    #[pyslot]
    fn slot_str(zelf: &PyObject, vm: &VirtualMachine) -> PyResult<PyStrRef> {
        let name = zelf.downcast_ref::<Self>().map_or("dtype", |zelf| zelf.dtype.name());
        Ok(vm.ctx.new_str(name))
    }

    #[pygetset]
    fn name(zelf: &Py<Self>) -> String {
        zelf.dtype.name().to_owned()
    }

    #[pygetset]
    fn kind(zelf: &Py<Self>) -> String {
        zelf.dtype.kind().to_string()
    }

    #[pygetset(name = "char")]
    fn character(zelf: &Py<Self>) -> String {
        zelf.dtype.char().to_string()
    }

    #[pygetset]
    fn itemsize(zelf: &Py<Self>) -> usize {
        zelf.dtype.itemsize()
    }

    #[pygetset]
    fn alignment(zelf: &Py<Self>) -> usize {
        zelf.dtype.itemsize()
    }

    #[pygetset]
    fn str(zelf: &Py<Self>) -> String {
        let order = if zelf.dtype.itemsize() == 1 { '|' } else { '<' };
        format!("{order}{}{}", zelf.dtype.kind(), zelf.dtype.itemsize())
    }

    #[pygetset]
    fn byteorder(zelf: &Py<Self>) -> &'static str {
        if zelf.dtype.itemsize() == 1 { "|" } else { "=" }
    }

    #[pygetset(name = "type")]
    fn class_(zelf: &Py<Self>) -> PyTypeRef {
        classes().of(zelf.dtype).to_owned()
    }

    #[pygetset]
    fn num(zelf: &Py<Self>) -> u8 {
        match zelf.dtype {
            DType::Bool => 0,
            DType::U8 => 2,
            DType::I32 => 5,
            DType::I64 => 7,
            DType::F16 => 23,
            DType::F32 => 11,
            DType::F64 => 12,
        }
    }

    #[pygetset]
    fn shape(_zelf: &Py<Self>, vm: &VirtualMachine) -> PyObjectRef {
        vm.ctx.empty_tuple.clone().into()
    }

    #[pygetset]
    fn names(_zelf: &Py<Self>, vm: &VirtualMachine) -> PyObjectRef {
        vm.ctx.none()
    }

    #[pymethod]
    fn __reduce__(zelf: PyRef<Self>, vm: &VirtualMachine) -> PyObjectRef {
        let name: PyStrRef = vm.ctx.new_str(zelf.dtype.name());
        let args = vm.ctx.new_tuple(vec![name.into()]);
        vm.ctx.new_tuple(vec![Self::static_type().to_owned().into(), args.into()]).into()
    }
}

/// `numpy.issubdtype`: whether a type is below a class of types.
pub(crate) fn issubdtype(args: &Args, vm: &VirtualMachine) -> PyResult {
    let class = |object: &PyObjectRef| -> PyResult<PyTypeRef> {
        if let Ok(class) = object.clone().downcast::<PyType>()
            && class.fast_issubclass(PyScalar::static_type())
        {
            return Ok(class);
        }
        Ok(classes().of(dtype_of(object, vm)?).to_owned())
    };
    let (below, above) = (class(args.required(0, vm)?)?, class(args.required(1, vm)?)?);
    Ok(vm.ctx.new_bool(below.fast_issubclass(&above)).into())
}
