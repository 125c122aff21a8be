//! Values between Python and the rest of RuaFlow.

use ruaflow_array::{Array, Scalar};
use ruaflow_robots::Arg;
use rustpython_vm::builtins::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyStr, PyTuple,
};
use rustpython_vm::{AsObject, PyObject, PyObjectRef, PyResult, VirtualMachine};
use serde_json::Value;

/// Items of a sequence at most; the longest argument of any method has three.
const MAX_ITEMS: usize = 10_000;
const MAX_DEPTH: usize = 4;

/// An argument of a call. Tuples, lists, arrays and other iterables become lists;
/// anything with `__float__` or `__index__` becomes a number.
pub(super) fn arg_from_python(object: &PyObject, vm: &VirtualMachine) -> PyResult<Arg> {
    nested(object, vm, 0)
}

/// A result for Python; arrays become tuples.
pub(super) fn python_from_json(value: &Value, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
    Ok(match value {
        Value::Null => vm.ctx.none(),
        Value::Bool(value) => vm.ctx.new_bool(*value).into(),
        Value::Number(number) => match number.as_i64() {
            Some(value) => vm.ctx.new_int(value).into(),
            None => vm.ctx.new_float(number.as_f64().unwrap_or(f64::NAN)).into(),
        },
        Value::String(text) => vm.ctx.new_str(text.as_str()).into(),
        Value::Array(items) => {
            let items = items.iter().map(|item| python_from_json(item, vm));
            vm.ctx.new_tuple(items.collect::<PyResult<_>>()?).into()
        }
        Value::Object(fields) => {
            let dict = vm.ctx.new_dict();
            for (name, value) in fields {
                dict.set_item(name.as_str(), python_from_json(value, vm)?, vm)?;
            }
            dict.into()
        }
    })
}

fn nested(object: &PyObject, vm: &VirtualMachine, depth: usize) -> PyResult<Arg> {
    let other = || Arg::Other(object.class().name().to_string());
    if vm.is_none(object) {
        return Ok(Arg::None);
    }
    if object.downcast_ref::<PyBool>().is_some() {
        return Ok(Arg::Bool(object.to_owned().is_true(vm)?));
    }
    if object.downcast_ref::<PyInt>().is_some() {
        return integer(object, vm);
    }
    if let Some(float) = object.downcast_ref::<PyFloat>() {
        return Ok(Arg::Float(float.to_f64()));
    }
    if let Some(number) = ruaflow_numpy::number(object) {
        return Ok(of_scalar(number));
    }
    if let Some(array) = ruaflow_numpy::from_python(object) {
        return Ok(of_array(&array, depth));
    }
    if let Some(text) = object.downcast_ref::<PyStr>() {
        return Ok(Arg::Str(text.to_string_lossy().into_owned()));
    }
    let no_sequence = object.downcast_ref::<PyDict>().is_some()
        || object.downcast_ref::<PyBytes>().is_some()
        || object.downcast_ref::<PyByteArray>().is_some();
    if no_sequence || depth == MAX_DEPTH {
        return Ok(other());
    }
    if let Some(list) = object.downcast_ref::<PyList>() {
        let items = list.borrow_vec().to_vec();
        return sequence(items, vm, depth);
    }
    if let Some(tuple) = object.downcast_ref::<PyTuple>() {
        return sequence(tuple.as_slice().to_vec(), vm, depth);
    }
    if let Some(index) = object.to_owned().try_index_opt(vm) {
        return integer(index?.as_object(), vm);
    }
    if object.class().get_attr(vm.ctx.intern_str("__float__")).is_some() {
        return Ok(Arg::Float(object.try_float(vm)?.to_f64()));
    }
    let Ok(iterator) = object.get_iter(vm) else {
        return Ok(other());
    };
    let mut items = Vec::new();
    for item in iterator.iter::<PyObjectRef>(vm)? {
        items.push(item?);
        if items.len() > MAX_ITEMS {
            break;
        }
    }
    sequence(items, vm, depth)
}

fn of_scalar(number: Scalar) -> Arg {
    match number {
        Scalar::Bool(value) => Arg::Bool(value),
        number if number.dtype().is_integer() => Arg::Int(number.to_i64()),
        number => Arg::Float(number.to_f64()),
    }
}

fn of_array(array: &Array, depth: usize) -> Arg {
    if array.ndim() == 0 {
        return of_scalar(array.get(&[]));
    }
    if array.ndim() + depth > MAX_DEPTH || array.size() > MAX_ITEMS {
        return Arg::Other("a large array".to_owned());
    }
    let rows = (0..array.shape()[0]).map(|row| of_array(&array.index_axis(0, row), depth + 1));
    Arg::List(rows.collect())
}

fn sequence(items: Vec<PyObjectRef>, vm: &VirtualMachine, depth: usize) -> PyResult<Arg> {
    if items.len() > MAX_ITEMS {
        return Ok(Arg::Other(format!("more than {MAX_ITEMS} items")));
    }
    let items = items.iter().map(|item| nested(item, vm, depth + 1));
    Ok(Arg::List(items.collect::<PyResult<_>>()?))
}

fn integer(object: &PyObject, vm: &VirtualMachine) -> PyResult<Arg> {
    let Some(int) = object.downcast_ref::<PyInt>() else {
        return Ok(Arg::Other(object.class().name().to_string()));
    };
    // One that does not fit is as good as infinite for any argument here.
    Ok(int.try_to_primitive::<i64>(vm).map_or(Arg::Float(f64::INFINITY), Arg::Int))
}
