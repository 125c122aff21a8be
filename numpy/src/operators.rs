//! Python's operators on arrays and numpy scalars.

use ruaflow_array::ufunc::{self, Binary, Options, Unary};
use ruaflow_array::{Array, Operand, Scalar, Weak};
use rustpython_vm::builtins::{PyFloat, PyList, PyStr, PyTuple};
use rustpython_vm::function::{Either, PyComparisonValue};
use rustpython_vm::protocol::PyNumberMethods;
use rustpython_vm::types::PyComparisonOp;
use rustpython_vm::{PyObject, PyObjectRef, PyResult, VirtualMachine};

use crate::convert::{array_of, python_number, scalar, scalar_of, to_array, unwrap, weak_of};
use crate::error::{OrRaise as _, as_divmod, on_scalars, overflow};
use crate::ndarray::NdArray;

macro_rules! binary {
    ($op:ident) => {
        Some(|a, b, vm| operate(Binary::$op, a, b, vm))
    };
}

macro_rules! unary {
    ($op:ident) => {
        Some(|number, vm| {
            let Some(operand) = operand(number.obj, vm) else {
                return Ok(vm.ctx.not_implemented());
            };
            let result = ufunc::unary(Unary::$op, &operand?, &Options::default());
            Ok(unwrap(result.or_raise(vm)?, vm))
        })
    };
}

/// The operators that arrays and scalars share.
pub(crate) const BINARY: PyNumberMethods = PyNumberMethods {
    add: binary!(Add),
    subtract: binary!(Subtract),
    multiply: binary!(Multiply),
    true_divide: binary!(Divide),
    floor_divide: binary!(FloorDivide),
    remainder: binary!(Remainder),
    and: binary!(BitwiseAnd),
    or: binary!(BitwiseOr),
    xor: binary!(BitwiseXor),
    lshift: binary!(LeftShift),
    rshift: binary!(RightShift),
    power: Some(power),
    divmod: Some(|a, b, vm| {
        let (Some(a), Some(b)) = (operand(a, vm), operand(b, vm)) else {
            return Ok(vm.ctx.not_implemented());
        };
        let (quotient, rest) = {
            let (a, b) = (a?, b?);
            as_divmod(|| ufunc::divmod(&a, &b)).or_raise(vm)?
        };
        Ok(vm.ctx.new_tuple(vec![unwrap(quotient, vm), unwrap(rest, vm)]).into())
    }),
    matrix_multiply: Some(|a, b, vm| {
        let (Some(a), Some(b)) = (operand(a, vm), operand(b, vm)) else {
            return Ok(vm.ctx.not_implemented());
        };
        let [a, b] = [a?, b?].map(|operand| operand.to_array(operand.dtype()));
        let product = ruaflow_array::linalg::matmul(&a.or_raise(vm)?, &b.or_raise(vm)?);
        Ok(unwrap(product.or_raise(vm)?, vm))
    }),
    negative: unary!(Negative),
    positive: unary!(Positive),
    absolute: unary!(Absolute),
    invert: unary!(Invert),
    ..PyNumberMethods::NOT_IMPLEMENTED
};

/// `a ** b`; a Python number as the exponent has shortcuts.
fn power(a: &PyObject, b: &PyObject, modulus: &PyObject, vm: &VirtualMachine) -> PyResult {
    let (Some(left), Some(right)) = (operand(a, vm), operand(b, vm)) else {
        return Ok(vm.ctx.not_implemented());
    };
    if !vm.is_none(modulus) {
        return Ok(vm.ctx.not_implemented());
    }
    let (left, right) = (left?, right?);
    let run = || ufunc::power_operator(&left, &right, &Options::default());
    let are_scalars = !is_array(a) && !is_array(b);
    let result = if are_scalars { on_scalars(run) } else { run() };
    Ok(unwrap(result.or_raise(vm)?, vm))
}

/// `a op= b`: the elements change, for every view of them.
pub(crate) fn in_place(op: Binary, a: &PyObject, b: &PyObject, vm: &VirtualMachine) -> PyResult {
    let (Some(array), Some(b)) = (array_of(a), operand(b, vm)) else {
        return Ok(vm.ctx.not_implemented());
    };
    let options = Options { out: Some(&array), ..Options::default() };
    ufunc::binary(op, &(&array).into(), &b?, &options).or_raise(vm)?;
    Ok(a.to_owned())
}

pub(crate) fn in_place_power(a: &PyObject, b: &PyObject, vm: &VirtualMachine) -> PyResult {
    let (Some(array), Some(b)) = (array_of(a), operand(b, vm)) else {
        return Ok(vm.ctx.not_implemented());
    };
    let options = Options { out: Some(&array), ..Options::default() };
    ufunc::power_operator(&(&array).into(), &b?, &options).or_raise(vm)?;
    Ok(a.to_owned())
}

/// `a op b`, or `NotImplemented` so that Python asks the other one.
pub(crate) fn operate(op: Binary, a: &PyObject, b: &PyObject, vm: &VirtualMachine) -> PyResult {
    if let Some(result) = floats(op, a, b, vm) {
        return Ok(result);
    }
    if op == Binary::Multiply
        && let Some(repeated) = repeat(a, b, vm).or_else(|| repeat(b, a, vm))
    {
        return repeated;
    }
    let (Some(left), Some(right)) = (operand(a, vm), operand(b, vm)) else {
        return Ok(vm.ctx.not_implemented());
    };
    let (left, right) = (left?, right?);
    let run = || ufunc::binary(op, &left, &right, &Options::default());
    let are_scalars = !is_array(a) && !is_array(b);
    let result = if are_scalars { on_scalars(run) } else { run() };
    let result = result.or_raise(vm)?;
    if are_scalars && result.ndim() == 0 && wrapped(op, &left, &right, result.get(&[])) {
        overflow(op.name(), vm)?;
    }
    Ok(unwrap(result, vm))
}

/// Whether an integer operation between scalars went beyond its type.
fn wrapped(op: Binary, a: &Operand, b: &Operand, result: Scalar) -> bool {
    let exact = |operand: &Operand| match operand {
        Operand::Array(array) if array.ndim() == 0 => Some(i128::from(array.get(&[]).to_i64())),
        Operand::Weak(Weak::Int(value)) => Some(*value),
        _ => None,
    };
    let (true, Some(a), Some(b)) = (result.dtype().is_integer(), exact(a), exact(b)) else {
        return false;
    };
    let expected = match op {
        Binary::Add => a.checked_add(b),
        Binary::Subtract => a.checked_sub(b),
        Binary::Multiply => a.checked_mul(b),
        _ => return false,
    };
    expected != Some(result.to_i64().into())
}

fn is_array(object: &PyObject) -> bool {
    object.downcast_ref::<NdArray>().is_some()
}

/// Plain float arithmetic between scalars, when nothing is to be warned of.
fn floats(op: Binary, a: &PyObject, b: &PyObject, vm: &VirtualMachine) -> Option<PyObjectRef> {
    let (a, b) = (float(a)?, float(b)?);
    let result = match op {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        _ => return None,
    };
    result.is_finite().then(|| scalar(Scalar::F64(result), vm))
}

fn float(object: &PyObject) -> Option<f64> {
    object.downcast_ref::<PyFloat>().map(|float| float.to_f64())
}

/// A numpy integer repeats a list, as Python's do; a float raises as Python's do.
fn repeat(count: &PyObject, what: &PyObject, vm: &VirtualMachine) -> Option<PyResult> {
    let sequence = what.downcast_ref::<PyList>().is_some()
        || what.downcast_ref::<PyTuple>().is_some()
        || what.downcast_ref::<PyStr>().is_some();
    let count = scalar_of(count).filter(|_| sequence)?;
    Some(vm._mul(what, &python_number(count, vm)))
}

/// What an operator takes: arrays, numbers, lists. `None` for anything else.
pub(crate) fn operand(object: &PyObject, vm: &VirtualMachine) -> Option<PyResult<Operand>> {
    if let Some(array) = array_of(object) {
        return Some(Ok(array.into()));
    }
    if let Some(value) = scalar_of(object) {
        return Some(Ok(value.into()));
    }
    if let Some(weak) = weak_of(object, vm) {
        return Some(Ok(weak.into()));
    }
    let listed =
        object.downcast_ref::<PyList>().is_some() || object.downcast_ref::<PyTuple>().is_some();
    let array_like = || object.class().get_attr(vm.ctx.intern_str("__array__")).is_some();
    (listed || array_like()).then(|| to_array(object, vm).map(Operand::from))
}

/// What a function takes: anything that can be an array.
pub(crate) fn to_operand(object: &PyObject, vm: &VirtualMachine) -> PyResult<Operand> {
    match operand(object, vm) {
        Some(operand) => operand,
        None => to_array(object, vm).map(Operand::from),
    }
}

/// Makes a class whose objects are compared element by element.
macro_rules! compared_by_elements {
    ($class:ty) => {
        impl rustpython_vm::types::Comparable for $class {
            fn slot_richcompare(
                zelf: &rustpython_vm::PyObject,
                other: &rustpython_vm::PyObject,
                op: rustpython_vm::types::PyComparisonOp,
                vm: &rustpython_vm::VirtualMachine,
            ) -> $crate::operators::Compared {
                $crate::operators::compare(zelf, other, op, vm)
            }

            fn cmp(
                _zelf: &rustpython_vm::Py<Self>,
                _other: &rustpython_vm::PyObject,
                _op: rustpython_vm::types::PyComparisonOp,
                _vm: &rustpython_vm::VirtualMachine,
            ) -> rustpython_vm::PyResult<rustpython_vm::function::PyComparisonValue> {
                Ok(rustpython_vm::function::PyComparisonValue::NotImplemented)
            }
        }
    };
}
pub(crate) use compared_by_elements;

/// Elements, or one answer.
pub(crate) type Compared = PyResult<Either<PyObjectRef, PyComparisonValue>>;

/// `a < b` and its kin: arrays of bool.
pub(crate) fn compare(
    a: &PyObject,
    b: &PyObject,
    op: PyComparisonOp,
    vm: &VirtualMachine,
) -> Compared {
    let binary = match op {
        PyComparisonOp::Eq => Binary::Equal,
        PyComparisonOp::Ne => Binary::NotEqual,
        PyComparisonOp::Lt => Binary::Less,
        PyComparisonOp::Le => Binary::LessEqual,
        PyComparisonOp::Gt => Binary::Greater,
        PyComparisonOp::Ge => Binary::GreaterEqual,
    };
    if let (Some(a), Some(b)) = (float(a), float(b)) {
        let result = match op {
            PyComparisonOp::Eq => a == b,
            PyComparisonOp::Ne => a != b,
            PyComparisonOp::Lt => a < b,
            PyComparisonOp::Le => a <= b,
            PyComparisonOp::Gt => a > b,
            PyComparisonOp::Ge => a >= b,
        };
        return Ok(Either::A(scalar(Scalar::Bool(result), vm)));
    }
    let Some(left) = operand(a, vm) else {
        return Ok(Either::B(PyComparisonValue::NotImplemented));
    };
    let Some(right) = operand(b, vm) else {
        return unlike(a, op, vm);
    };
    let result = ufunc::binary(binary, &left?, &right?, &Options::default()).or_raise(vm)?;
    Ok(Either::A(unwrap(result, vm)))
}

/// An array compared with something that is no number: nowhere equal.
fn unlike(a: &PyObject, op: PyComparisonOp, vm: &VirtualMachine) -> Compared {
    match (array_of(a), op) {
        (Some(array), PyComparisonOp::Eq | PyComparisonOp::Ne) => {
            let value = Scalar::Bool(op == PyComparisonOp::Ne);
            Ok(Either::A(unwrap(Array::full(array.shape(), value).or_raise(vm)?, vm)))
        }
        _ => Ok(Either::B(PyComparisonValue::NotImplemented)),
    }
}
