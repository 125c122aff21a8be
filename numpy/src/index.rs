//! `a[key]` and `a[key] = value`.

use ruaflow_array::index::Index;
use ruaflow_array::{Array, DType, Operand, Scalar, Weak};
use rustpython_vm::builtins::{PyBool, PyEllipsis, PyFloat, PyInt, PySlice, PyTuple};
use rustpython_vm::{AsObject as _, PyObject, PyObjectRef, PyResult, VirtualMachine};

use crate::convert::{
    array_of, scalar, scalar_of, to_array, to_array_as, weak_of, wrap, wrap_view,
};
use crate::error::OrRaise as _;

/// `a[key]`: a scalar for a single element, a view for slices, else a copy.
pub(crate) fn subscript(
    array: &Array,
    object: &PyObject,
    key: &PyObject,
    vm: &VirtualMachine,
) -> PyResult {
    if let Some(place) = element(array, key, vm) {
        return Ok(scalar(array.get(&place), vm));
    }
    let indices = parse(key, vm)?;
    let result = array.index(&indices).or_raise(vm)?;
    let keeps_array = indices.iter().any(|index| matches!(index, Index::Ellipsis));
    if result.ndim() == 0 && !keeps_array {
        return Ok(scalar(result.get(&[]), vm));
    }
    Ok(if std::rc::Rc::ptr_eq(result.buffer(), array.buffer()) {
        wrap_view(result, object, vm)
    } else {
        wrap(result, vm)
    })
}

/// `a[key] = value`.
pub(crate) fn assign(
    array: &Array,
    key: &PyObject,
    value: &PyObject,
    vm: &VirtualMachine,
) -> PyResult<()> {
    let listed = array_of(value).is_none();
    let value = assigned(array.dtype(), value, vm)?;
    if listed && !value.shape().is_empty() && element(array, key, vm).is_some() {
        return Err(vm.new_value_error("setting an array element with a sequence."));
    }
    if let (Some(place), Operand::Weak(weak)) = (element(array, key, vm), &value) {
        let value = weak.to_scalar(array.dtype()).or_raise(vm)?;
        return array.set(&place, value).or_raise(vm);
    }
    array.assign(&parse(key, vm)?, &value).or_raise(vm)
}

/// A value on its way into an array of this type.
pub(crate) fn assigned(dtype: DType, value: &PyObject, vm: &VirtualMachine) -> PyResult<Operand> {
    if let Some(array) = array_of(value) {
        return Ok(array.into());
    }
    if let Some(value) = scalar_of(value) {
        return Ok(value.into());
    }
    match weak_of(value, vm) {
        Some(Weak::Float(float)) if dtype.is_integer() && float.is_nan() => {
            Err(vm.new_value_error("cannot convert float NaN to integer"))
        }
        Some(Weak::Float(float)) if dtype.is_integer() && float.is_infinite() => {
            Err(vm.new_overflow_error("cannot convert float infinity to integer"))
        }
        Some(Weak::Float(float)) if dtype.is_integer() => {
            Ok(Weak::Int(float.trunc() as i128).into())
        }
        Some(weak) => Ok(weak.into()),
        None => Ok(to_array_as(value, Some(dtype), vm)?.into()),
    }
}

/// The place of a single element, when the key is one integer for each dimension and inside.
/// Everything else, mistakes too, is for the engine.
fn element(array: &Array, key: &PyObject, vm: &VirtualMachine) -> Option<Vec<usize>> {
    let shape = array.shape();
    let place = |key: &PyObject, length: usize| {
        let at = match scalar_of(key) {
            Some(value) if value.dtype().is_integer() => value.to_i64(),
            Some(_) => return None,
            None => {
                if !key.class().is(vm.ctx.types.int_type) {
                    return None;
                }
                key.downcast_ref::<PyInt>()?.try_to_primitive::<i64>(vm).ok()?
            }
        };
        let at = if at < 0 { at + length as i64 } else { at };
        usize::try_from(at).ok().filter(|&at| at < length)
    };
    match key.downcast_ref::<PyTuple>() {
        Some(keys) if keys.len() == shape.len() && !shape.is_empty() => {
            keys.iter().zip(shape).map(|(key, &length)| place(key, length)).collect()
        }
        None if shape.len() == 1 => place(key, shape[0]).map(|at| vec![at]),
        _ => None,
    }
}

/// A Python key as the engine's indices.
pub(crate) fn parse(key: &PyObject, vm: &VirtualMachine) -> PyResult<Vec<Index>> {
    match key.downcast_ref::<PyTuple>() {
        Some(keys) => keys.iter().map(|key| one(key, vm)).collect(),
        None => Ok(vec![one(key, vm)?]),
    }
}

fn one(key: &PyObject, vm: &VirtualMachine) -> PyResult<Index> {
    if vm.is_none(key) {
        return Ok(Index::NewAxis);
    }
    if let Some(slice) = key.downcast_ref::<PySlice>() {
        let bound = |bound: Option<&PyObjectRef>| slice_bound(bound, vm);
        return Ok(Index::Slice {
            start: bound(slice.start.as_ref())?,
            stop: bound(Some(&slice.stop))?,
            step: bound(slice.step.as_ref())?,
        });
    }
    if key.downcast_ref::<PyEllipsis>().is_some() {
        return Ok(Index::Ellipsis);
    }
    if key.downcast_ref::<PyBool>().is_some() || key.class().is(vm.ctx.types.bool_type) {
        let value = key.to_owned().try_to_bool(vm)?;
        return Ok(Index::Mask(Array::scalar(Scalar::Bool(value))));
    }
    if let Some(int) = key.downcast_ref::<PyInt>() {
        return Ok(Index::Int(
            int.try_to_primitive::<i64>(vm)
                .map_err(|_| vm.new_index_error("cannot fit 'int' into an index-sized integer"))?,
        ));
    }
    let array = match (array_of(key), scalar_of(key)) {
        (Some(array), _) => array,
        (None, Some(value)) => Array::scalar(value),
        (None, None) => listed(key, vm)?,
    };
    match array.dtype() {
        DType::Bool => Ok(Index::Mask(array)),
        dtype if dtype.is_integer() && array.ndim() == 0 => Ok(Index::Int(array.get(&[]).to_i64())),
        dtype if dtype.is_integer() => Ok(Index::Take(array)),
        _ if scalar_of(key).is_some() => Err(no_index(vm)),
        _ => Err(vm.new_index_error("arrays used as indices must be of integer (or boolean) type")),
    }
}

/// A list as an index array; an empty one is of integers.
fn listed(key: &PyObject, vm: &VirtualMachine) -> PyResult<Array> {
    if key.downcast_ref::<PyFloat>().is_some() {
        return Err(no_index(vm));
    }
    if let Some(index) = key.try_index_opt(vm) {
        let index = index?.try_to_primitive::<i64>(vm)?;
        return Ok(Array::scalar(Scalar::I64(index)));
    }
    let array = to_array(key, vm).map_err(|error| {
        if error.fast_isinstance(vm.ctx.exceptions.type_error) { no_index(vm) } else { error }
    })?;
    if array.is_empty() { array.cast(DType::I64).or_raise(vm) } else { Ok(array) }
}

fn no_index(vm: &VirtualMachine) -> rustpython_vm::builtins::PyBaseExceptionRef {
    vm.new_index_error(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices",
    )
}

fn slice_bound(bound: Option<&PyObjectRef>, vm: &VirtualMachine) -> PyResult<Option<i64>> {
    let Some(bound) = bound.filter(|bound| !vm.is_none(bound)) else {
        return Ok(None);
    };
    if let Some(value) = scalar_of(bound).filter(|value| value.dtype().is_integer()) {
        return Ok(Some(value.to_i64()));
    }
    let Some(index) = bound.try_index_opt(vm) else {
        return Err(
            vm.new_type_error("slice indices must be integers or None or have an __index__ method")
        );
    };
    let index = index?;
    // One beyond 64 bits is as good as the end.
    Ok(Some(index.try_to_primitive::<i64>(vm).unwrap_or_else(|_| {
        match weak_of(index.as_object(), vm) {
            Some(Weak::Int(value)) if value < 0 => i64::MIN,
            _ => i64::MAX,
        }
    })))
}
