//! `ndarray.flat`: all elements in a row.

use std::cell::Cell;

use ruaflow_array::Array;
use rustpython_vm::function::FuncArgs;
use rustpython_vm::protocol::{PyIterReturn, PyMappingMethods};
use rustpython_vm::types::{AsMapping, IterNext, Iterable, SelfIter};
use rustpython_vm::{
    AsObject as _, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine, pyclass,
};

use crate::convert::{scalar, wrap};
use crate::error::OrRaise as _;
use crate::index::{assign, subscript};
use crate::ndarray::NdArray;

/// An iterator that can also be indexed.
#[pyclass(module = "numpy", name = "flatiter")]
#[derive(Debug, PyPayload)]
pub(crate) struct Flat {
    of: PyRef<NdArray>,
    next: Cell<usize>,
}

impl Flat {
    pub(crate) fn new(of: PyRef<NdArray>) -> Self {
        Self { of, next: Cell::new(0) }
    }
}

/// Sets elements by their number in C order, also where that is no view.
pub(crate) fn set(
    array: &Array,
    key: &PyObject,
    value: &PyObject,
    vm: &VirtualMachine,
) -> PyResult<()> {
    array.require_writeable().or_raise(vm)?;
    let flat = array.reshape(&[-1]).or_raise(vm)?;
    let value = short(&flat, key, value, vm)?;
    assign(&flat, key, &value, vm)?;
    if std::rc::Rc::ptr_eq(flat.buffer(), array.buffer()) {
        return Ok(());
    }
    let shape: Vec<i64> = array.shape().iter().map(|&length| length as i64).collect();
    let back = flat.reshape(&shape).or_raise(vm)?;
    array.assign(&[ruaflow_array::index::Index::Ellipsis], &back.into()).or_raise(vm)
}

/// Values of another number than the places repeat.
fn short(flat: &Array, key: &PyObject, value: &PyObject, vm: &VirtualMachine) -> PyResult {
    if crate::convert::weak_of(value, vm).is_some() {
        return Ok(value.to_owned());
    }
    let value = crate::convert::to_array_as(value, Some(flat.dtype()), vm)?;
    let places = flat.index(&crate::index::parse(key, vm)?).or_raise(vm)?.size();
    if value.size() == places || value.is_empty() {
        return Ok(wrap(value.reshape(&[-1]).or_raise(vm)?, vm));
    }
    let times = places.div_ceil(value.size());
    let row = value.reshape(&[-1]).or_raise(vm)?;
    let repeated =
        ruaflow_array::join::concatenate(&vec![row; times.max(1)], Some(0), None).or_raise(vm)?;
    Ok(wrap(repeated.slice_axis(0, 0, places), vm))
}

impl AsMapping for Flat {
    fn as_mapping() -> &'static PyMappingMethods {
        static METHODS: PyMappingMethods = PyMappingMethods {
            length: Some(|mapping, _vm| Ok(Flat::mapping_downcast(mapping).of.array().size())),
            subscript: Some(|mapping, key, vm| {
                let flat = Flat::mapping_downcast(mapping).of.array().flatten().or_raise(vm)?;
                let object = wrap(flat.copy().or_raise(vm)?, vm);
                let key: PyObjectRef = key.to_owned();
                subscript(&flat, &object, &key, vm)
            }),
            ass_subscript: Some(|mapping, key, value, vm| {
                let Some(value) = value else {
                    return Err(vm.new_type_error("Cannot delete iterator elements"));
                };
                set(&Flat::mapping_downcast(mapping).of.array(), key, &value, vm)
            }),
        };
        &METHODS
    }
}

impl SelfIter for Flat {}
impl IterNext for Flat {
    fn next(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<PyIterReturn> {
        let (array, at) = (zelf.of.array(), zelf.next.get());
        if at >= array.size() {
            return Ok(PyIterReturn::StopIteration(None));
        }
        zelf.next.set(at + 1);
        Ok(PyIterReturn::Return(scalar(array.flat(at), vm)))
    }
}

#[pyclass(with(AsMapping, IterNext, Iterable))]
impl Flat {
    #[pymethod]
    fn copy(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult {
        Ok(wrap(zelf.of.array().flatten().or_raise(vm)?, vm))
    }

    #[pymethod]
    fn __array__(zelf: &Py<Self>, _args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        Self::copy(zelf, vm)
    }

    #[pygetset]
    fn base(zelf: &Py<Self>) -> PyObjectRef {
        zelf.of.as_object().to_owned()
    }

    #[pygetset]
    fn index(zelf: &Py<Self>) -> usize {
        zelf.next.get()
    }
}
