//! The module `numpy` of the cell's Python, over the arrays of `ruaflow-array`.
//!
//! A host adds [`module_def`] to its interpreter's native modules; `import numpy` then gives
//! numpy 2's functions, `numpy.linalg`, `numpy.random` and `numpy.testing`. Arrays go in with
//! [`to_python`] and come out with [`from_python`], both without a copy.
//!
//! Most functions are one line of a table: their signature as numpy writes it, and the Rust
//! function behind it (`functions/`). Compositions of them are Python (`python/`).

mod arguments;
mod classes;
mod convert;
mod dtype;
mod error;
mod flat;
mod functions;
mod index;
mod linalg;
mod methods;
mod module;
mod ndarray;
mod operators;
mod random;
mod scalar;
mod signature;
mod ufunc;

use ruaflow_array::{Array, Scalar};
use rustpython_vm::{PyObject, PyObjectRef, PyResult, VirtualMachine};

pub use module::module_def;

/// An `ndarray` over an array, without a copy.
///
/// The module `numpy` must have been imported.
pub fn to_python(array: Array, vm: &VirtualMachine) -> PyObjectRef {
    convert::wrap(array, vm)
}

/// The array of an `ndarray`, as another view of its elements; `None` for anything else.
pub fn from_python(object: &PyObject) -> Option<Array> {
    convert::array_of(object)
}

/// Anything as an array, like `numpy.asarray`.
///
/// # Errors
/// `ValueError` for ragged lists, `TypeError` for elements that are no numbers, and what the
/// object's `__array__` raises.
pub fn as_array(object: &PyObject, vm: &VirtualMachine) -> PyResult<Array> {
    convert::to_array(object, vm)
}

/// The value of a numpy scalar; `None` for anything else.
pub fn number(object: &PyObject) -> Option<Scalar> {
    convert::scalar_of(object)
}
