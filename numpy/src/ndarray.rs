//! `numpy.ndarray`.

use std::cell::{Cell, RefCell};

use ruaflow_array::print::{array_repr, array_str, options};
use ruaflow_array::{Array, DType, Scalar};
use rustpython_vm::builtins::{PyStr, PyStrRef, PyType, PyTypeRef};
use rustpython_vm::function::{FuncArgs, PySetterValue};
use rustpython_vm::protocol::{
    PyIterReturn, PyMappingMethods, PyNumber, PyNumberMethods, PySequenceMethods,
};
use rustpython_vm::types::{
    AsMapping, AsNumber, AsSequence, Comparable, Constructor, IterNext, Iterable, PyComparisonOp,
    Representable, SelfIter,
};
use rustpython_vm::{
    AsObject as _, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine, pyclass,
};

use crate::convert::{array_of, python_number, scalar, to_array, to_signed_shape, wrap, wrap_view};
use crate::dtype::dtype_object;
use crate::error::OrRaise as _;
use crate::flat::Flat;
use crate::index::{assign, subscript};
use crate::operators::{BINARY, compared_by_elements, in_place};

/// An array as a Python object.
#[pyclass(module = "numpy", name = "ndarray", unhashable = true)]
#[derive(Debug, PyPayload)]
pub(crate) struct NdArray {
    /// Changes only when `shape` or a flag is set.
    array: RefCell<Array>,
    /// The array that this one is a view of.
    base: Option<PyObjectRef>,
}

impl NdArray {
    pub(crate) fn new(array: Array, base: Option<PyObjectRef>) -> Self {
        Self { array: RefCell::new(array), base }
    }

    pub(crate) fn array(&self) -> Array {
        self.array.borrow().clone()
    }

    /// What a view of this array has as its base: never a view itself.
    pub(crate) fn owner(&self, object: &PyObject) -> PyObjectRef {
        self.base.clone().unwrap_or_else(|| object.to_owned())
    }
}

fn array(object: &PyObject, vm: &VirtualMachine) -> PyResult<Array> {
    array_of(object).ok_or_else(|| vm.new_type_error("this is no numpy array"))
}

/// The one element of an array, for conversions to Python numbers.
fn single(number: PyNumber<'_>, what: &str, vm: &VirtualMachine) -> PyResult<Scalar> {
    let array = array(number.obj, vm)?;
    if array.ndim() > 0 && what == "index" || array.size() != 1 {
        return Err(vm.new_type_error(if what == "index" {
            "only integer scalar arrays can be converted to a scalar index"
        } else if array.ndim() > 0 {
            "only 0-dimensional arrays can be converted to Python scalars"
        } else {
            "only length-1 arrays can be converted to Python scalars"
        }));
    }
    if array.ndim() > 0 {
        return Err(
            vm.new_type_error("only 0-dimensional arrays can be converted to Python scalars")
        );
    }
    array.item().or_raise(vm)
}

impl Constructor for NdArray {
    type Args = FuncArgs;

    fn slot_new(_class: PyTypeRef, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let Some(shape) = args.args.first().or_else(|| args.kwargs.get("shape")) else {
            return Err(vm.new_type_error("ndarray() missing required argument 'shape' (pos 1)"));
        };
        let dtype = args.args.get(1).or_else(|| args.kwargs.get("dtype"));
        let dtype = dtype.map_or(Ok(DType::F64), |dtype| crate::dtype::dtype_of(dtype, vm))?;
        if args.args.len() > 2 || args.kwargs.contains_key("buffer") {
            return Err(vm.new_not_implemented_error(
                "RuaFlow's numpy makes no ndarray over a buffer; nearest: numpy.frombuffer",
            ));
        }
        let shape = crate::convert::to_shape(shape, vm)?;
        Ok(wrap(Array::zeros(&shape, dtype).or_raise(vm)?, vm))
    }

    fn py_new(_class: &Py<PyType>, _args: FuncArgs, vm: &VirtualMachine) -> PyResult<Self> {
        Err(vm.new_type_error("an array is made by numpy.array"))
    }
}

macro_rules! in_place {
    ($op:ident) => {
        Some(|a, b, vm| in_place(ruaflow_array::ufunc::Binary::$op, a, b, vm))
    };
}

impl AsNumber for NdArray {
    fn as_number() -> &'static PyNumberMethods {
        static METHODS: PyNumberMethods = PyNumberMethods {
            boolean: Some(|number, vm| {
                let array = array(number.obj, vm)?;
                match array.size() {
                    1 => Ok(array.item().or_raise(vm)?.to_bool()),
                    0 => Err(vm.new_value_error(
                        "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.",
                    )),
                    _ => Err(vm.new_value_error(
                        "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
                    )),
                }
            }),
            int: Some(|number, vm| {
                let value = python_number(single(number, "int", vm)?, vm);
                Ok(value.try_int(vm)?.into())
            }),
            float: Some(|number, vm| {
                Ok(vm.ctx.new_float(single(number, "float", vm)?.to_f64()).into())
            }),
            index: Some(|number, vm| {
                let value = single(number, "index", vm)?;
                if value.dtype().is_integer() {
                    return Ok(python_number(value, vm));
                }
                Err(vm.new_type_error(
                    "only integer scalar arrays can be converted to a scalar index",
                ))
            }),
            inplace_add: in_place!(Add),
            inplace_subtract: in_place!(Subtract),
            inplace_multiply: in_place!(Multiply),
            inplace_true_divide: in_place!(Divide),
            inplace_floor_divide: in_place!(FloorDivide),
            inplace_remainder: in_place!(Remainder),
            inplace_and: in_place!(BitwiseAnd),
            inplace_or: in_place!(BitwiseOr),
            inplace_xor: in_place!(BitwiseXor),
            inplace_lshift: in_place!(LeftShift),
            inplace_rshift: in_place!(RightShift),
            inplace_power: Some(|a, b, _, vm| crate::operators::in_place_power(a, b, vm)),
            inplace_matrix_multiply: Some(|a, b, vm| {
                let product = vm._matmul(a, b)?;
                assign(&array(a, vm)?, vm.ctx.ellipsis.as_object(), &product, vm)?;
                Ok(a.to_owned())
            }),
            ..BINARY
        };
        &METHODS
    }
}

compared_by_elements!(NdArray);

impl Representable for NdArray {
    fn slot_repr(zelf: &PyObject, vm: &VirtualMachine) -> PyResult<PyStrRef> {
        Ok(vm.ctx.new_str(array_repr(&array(zelf, vm)?, &options()).or_raise(vm)?))
    }

    fn repr_str(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<String> {
        array_repr(&zelf.array(), &options()).or_raise(vm)
    }
}

impl AsMapping for NdArray {
    fn as_mapping() -> &'static PyMappingMethods {
        static METHODS: PyMappingMethods = PyMappingMethods {
            length: Some(|mapping, vm| length(mapping.obj, vm)),
            subscript: Some(|mapping, key, vm| {
                let Some(zelf) = mapping.obj.downcast_ref::<NdArray>() else {
                    return Err(vm.new_type_error("this is no numpy array"));
                };
                let array = zelf.array.borrow();
                subscript(&array, mapping.obj, key, vm)
            }),
            ass_subscript: Some(|mapping, key, value, vm| {
                let Some(value) = value else {
                    return Err(vm.new_value_error("cannot delete array elements"));
                };
                assign(&array(mapping.obj, vm)?, key, &value, vm)
            }),
        };
        &METHODS
    }
}

impl AsSequence for NdArray {
    fn as_sequence() -> &'static PySequenceMethods {
        static METHODS: PySequenceMethods = PySequenceMethods {
            length: Some(|sequence, vm| length(sequence.obj, vm)),
            item: Some(|sequence, at, vm| {
                let key = vm.ctx.new_int(at);
                subscript(&array(sequence.obj, vm)?, sequence.obj, key.as_object(), vm)
            }),
            ass_item: Some(|sequence, at, value, vm| {
                let key = vm.ctx.new_int(at);
                let Some(value) = value else {
                    return Err(vm.new_value_error("cannot delete array elements"));
                };
                assign(&array(sequence.obj, vm)?, key.as_object(), &value, vm)
            }),
            contains: Some(|sequence, item, vm| {
                let equal = sequence.obj.to_owned().rich_compare(
                    item.to_owned(),
                    PyComparisonOp::Eq,
                    vm,
                )?;
                let equal = to_array(&equal, vm)?;
                Ok((0..equal.size()).any(|at| equal.flat(at).to_bool()))
            }),
            concat: None,
            repeat: None,
            inplace_concat: None,
            inplace_repeat: None,
        };
        &METHODS
    }
}

fn length(object: &PyObject, vm: &VirtualMachine) -> PyResult<usize> {
    let array = array(object, vm)?;
    array.shape().first().copied().ok_or_else(|| vm.new_type_error("len() of unsized object"))
}

impl Iterable for NdArray {
    fn iter(zelf: PyRef<Self>, vm: &VirtualMachine) -> PyResult {
        if zelf.array.borrow().ndim() == 0 {
            return Err(vm.new_type_error("iteration over a 0-d array"));
        }
        Ok(Rows { of: zelf, next: Cell::new(0) }.into_pyobject(vm))
    }
}

/// Iterates over the first axis.
#[pyclass(module = "numpy", name = "ndarray_iterator")]
#[derive(Debug, PyPayload)]
pub(crate) struct Rows {
    of: PyRef<NdArray>,
    next: Cell<usize>,
}

#[pyclass(with(IterNext, Iterable))]
impl Rows {
    #[pymethod]
    fn __length_hint__(zelf: &Py<Self>) -> usize {
        let length = zelf.of.array.borrow().shape().first().copied();
        length.unwrap_or(0).saturating_sub(zelf.next.get())
    }
}

impl SelfIter for Rows {}
impl IterNext for Rows {
    fn next(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<PyIterReturn> {
        let array = zelf.of.array.borrow();
        let at = zelf.next.get();
        if array.shape().first().is_none_or(|&length| at >= length) {
            return Ok(PyIterReturn::StopIteration(None));
        }
        zelf.next.set(at + 1);
        Ok(PyIterReturn::Return(if array.ndim() == 1 {
            scalar(array.get(&[at]), vm)
        } else {
            wrap_view(array.index_axis(0, at), zelf.of.as_object(), vm)
        }))
    }
}

#[pyclass(with(Constructor, AsNumber, Comparable, Representable, AsMapping, AsSequence, Iterable))]
impl NdArray {
    #[pyslot]
    fn slot_str(zelf: &PyObject, vm: &VirtualMachine) -> PyResult<PyStrRef> {
        Ok(vm.ctx.new_str(array_str(&array(zelf, vm)?, &options()).or_raise(vm)?))
    }

    #[pymethod]
    fn __format__(zelf: PyRef<Self>, spec: PyRef<PyStr>, vm: &VirtualMachine) -> PyResult {
        let array = zelf.array();
        if array.ndim() == 0 {
            return vm.call_method(&scalar(array.get(&[]), vm), "__format__", (spec,));
        }
        if !spec.is_empty() {
            return Err(
                vm.new_type_error("unsupported format string passed to numpy.ndarray.__format__")
            );
        }
        Ok(zelf.as_object().str(vm)?.into())
    }

    #[pymethod]
    fn __array__(zelf: PyRef<Self>, _args: FuncArgs) -> PyRef<Self> {
        zelf
    }

    #[pymethod]
    fn __copy__(zelf: PyRef<Self>, vm: &VirtualMachine) -> PyResult {
        Ok(wrap(zelf.array().copy_keeping_order().or_raise(vm)?, vm))
    }

    #[pymethod]
    fn __deepcopy__(zelf: PyRef<Self>, _memo: PyObjectRef, vm: &VirtualMachine) -> PyResult {
        Ok(wrap(zelf.array().copy_keeping_order().or_raise(vm)?, vm))
    }

    #[pymethod]
    fn __reduce__(zelf: PyRef<Self>, vm: &VirtualMachine) -> PyResult {
        let make = vm.import("numpy", 0)?.get_attr("array", vm)?;
        let array = zelf.array();
        let values = tolist(&array, vm);
        let args = vm.ctx.new_tuple(vec![values, dtype_object(array.dtype(), vm)]);
        Ok(vm.ctx.new_tuple(vec![make, args.into()]).into())
    }

    #[pymethod]
    fn __round__(zelf: PyRef<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        vm.call_method(zelf.as_object(), "round", args)
    }

    #[pygetset]
    fn shape(zelf: &Py<Self>, vm: &VirtualMachine) -> PyObjectRef {
        let array = zelf.array.borrow();
        let lengths = array.shape().iter().map(|&length| vm.ctx.new_int(length).into());
        vm.ctx.new_tuple(lengths.collect()).into()
    }

    #[pygetset(setter)]
    fn set_shape(zelf: &Py<Self>, value: PySetterValue, vm: &VirtualMachine) -> PyResult<()> {
        let PySetterValue::Assign(value) = value else {
            return Err(vm.new_attribute_error("Cannot delete array shape"));
        };
        let shape = to_signed_shape(&value, vm)?;
        let old = zelf.array();
        let new = old.reshape(&shape).or_raise(vm)?;
        if !std::rc::Rc::ptr_eq(old.buffer(), new.buffer()) {
            return Err(vm.new_attribute_error(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape.",
            ));
        }
        *zelf.array.borrow_mut() = new;
        Ok(())
    }

    #[pygetset]
    fn ndim(zelf: &Py<Self>) -> usize {
        zelf.array.borrow().ndim()
    }

    #[pygetset]
    fn size(zelf: &Py<Self>) -> usize {
        zelf.array.borrow().size()
    }

    #[pygetset]
    fn dtype(zelf: &Py<Self>, vm: &VirtualMachine) -> PyObjectRef {
        dtype_object(zelf.array.borrow().dtype(), vm)
    }

    #[pygetset]
    fn itemsize(zelf: &Py<Self>) -> usize {
        zelf.array.borrow().dtype().itemsize()
    }

    #[pygetset]
    fn nbytes(zelf: &Py<Self>) -> usize {
        let array = zelf.array.borrow();
        array.size() * array.dtype().itemsize()
    }

    #[pygetset]
    fn strides(zelf: &Py<Self>, vm: &VirtualMachine) -> PyObjectRef {
        let array = zelf.array.borrow();
        let itemsize = array.dtype().itemsize() as isize;
        let strides = array.strides().iter().map(|&step| vm.ctx.new_int(step * itemsize).into());
        vm.ctx.new_tuple(strides.collect()).into()
    }

    #[pygetset]
    fn base(zelf: &Py<Self>, vm: &VirtualMachine) -> PyObjectRef {
        zelf.base.clone().unwrap_or_else(|| vm.ctx.none())
    }

    #[pygetset(name = "T")]
    fn transposed(zelf: PyRef<Self>, vm: &VirtualMachine) -> PyResult {
        let transposed = zelf.array().transpose(None).or_raise(vm)?;
        Ok(wrap_view(transposed, zelf.as_object(), vm))
    }

    #[pygetset(name = "mT")]
    fn matrix_transposed(zelf: PyRef<Self>, vm: &VirtualMachine) -> PyResult {
        let array = zelf.array();
        if array.ndim() < 2 {
            return Err(vm.new_value_error("matrix transpose with ndim < 2 is undefined"));
        }
        Ok(wrap_view(array.swapaxes(-1, -2).or_raise(vm)?, zelf.as_object(), vm))
    }

    #[pygetset]
    fn real(zelf: PyRef<Self>) -> PyRef<Self> {
        zelf
    }

    #[pygetset]
    fn imag(zelf: PyRef<Self>, vm: &VirtualMachine) -> PyResult {
        let array = zelf.array();
        Ok(wrap(Array::zeros(array.shape(), array.dtype()).or_raise(vm)?, vm))
    }

    #[pygetset]
    fn flat(zelf: PyRef<Self>) -> Flat {
        Flat::new(zelf)
    }

    #[pygetset(setter)]
    fn set_flat(zelf: PyRef<Self>, value: PySetterValue, vm: &VirtualMachine) -> PyResult<()> {
        let PySetterValue::Assign(value) = value else {
            return Err(vm.new_attribute_error("Cannot delete flat"));
        };
        let whole = vm.ctx.new_pyref(rustpython_vm::builtins::PySlice {
            start: None,
            stop: vm.ctx.none(),
            step: None,
        });
        let _: &PyRef<rustpython_vm::builtins::PySlice> = &whole;
        crate::flat::set(&zelf.array(), whole.as_object(), &value, vm)
    }

    #[pygetset]
    fn flags(zelf: PyRef<Self>) -> Flags {
        Flags { of: zelf }
    }

    #[pygetset]
    fn __array_priority__(_zelf: &Py<Self>) -> f64 {
        0.0
    }
}

/// Nested lists of Python numbers; for no dimensions the number.
pub(crate) fn tolist(array: &Array, vm: &VirtualMachine) -> PyObjectRef {
    match array.ndim() {
        0 => python_number(array.get(&[]), vm),
        1 => {
            let values = (0..array.size()).map(|at| python_number(array.get(&[at]), vm));
            vm.ctx.new_list(values.collect()).into()
        }
        _ => {
            let rows = (0..array.shape()[0]).map(|at| tolist(&array.index_axis(0, at), vm));
            vm.ctx.new_list(rows.collect()).into()
        }
    }
}

/// `ndarray.flags`.
#[pyclass(module = "numpy", name = "flagsobj")]
#[derive(Debug, PyPayload)]
pub(crate) struct Flags {
    of: PyRef<NdArray>,
}

impl Flags {
    fn read(&self, name: &str) -> Option<bool> {
        let array = self.of.array.borrow();
        Some(match name {
            "writeable" | "WRITEABLE" | "W" => array.is_writeable(),
            "c_contiguous" | "C_CONTIGUOUS" | "C" | "contiguous" => array.is_c_contiguous(),
            "f_contiguous" | "F_CONTIGUOUS" | "F" | "fortran" => array.is_f_contiguous(),
            "owndata" | "OWNDATA" | "O" => self.of.base.is_none(),
            "aligned" | "ALIGNED" | "A" => true,
            "writebackifcopy" | "WRITEBACKIFCOPY" | "X" => false,
            _ => return None,
        })
    }

    fn write(&self, value: bool, vm: &VirtualMachine) -> PyResult<()> {
        self.of.array.borrow_mut().set_writeable(value).or_raise(vm)
    }
}

impl Representable for Flags {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        const NAMES: [&str; 6] =
            ["C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY"];
        let line = |name: &&str| match zelf.read(name) {
            Some(true) => format!("  {name} : True\n"),
            _ => format!("  {name} : False\n"),
        };
        Ok(NAMES.iter().map(line).collect())
    }
}

impl AsMapping for Flags {
    fn as_mapping() -> &'static PyMappingMethods {
        static METHODS: PyMappingMethods = PyMappingMethods {
            length: None,
            subscript: Some(|mapping, key, vm| {
                let name = key.str(vm)?.to_string_lossy().into_owned();
                let flag = Flags::mapping_downcast(mapping).read(&name);
                let flag = flag.ok_or_else(|| vm.new_key_error(key.to_owned()))?;
                Ok(vm.ctx.new_bool(flag).into())
            }),
            ass_subscript: Some(|mapping, key, value, vm| {
                let name = key.str(vm)?.to_string_lossy().into_owned();
                match (name.as_str(), value) {
                    ("WRITEABLE" | "W", Some(value)) => {
                        Flags::mapping_downcast(mapping).write(value.try_to_bool(vm)?, vm)
                    }
                    _ => Err(vm.new_key_error(key.to_owned())),
                }
            }),
        };
        &METHODS
    }
}

#[pyclass(with(Representable, AsMapping))]
impl Flags {
    #[pygetset]
    fn writeable(zelf: &Py<Self>) -> bool {
        zelf.read("W") == Some(true)
    }

    #[pygetset(setter)]
    fn set_writeable(zelf: &Py<Self>, value: bool, vm: &VirtualMachine) -> PyResult<()> {
        zelf.write(value, vm)
    }

    #[pygetset]
    fn c_contiguous(zelf: &Py<Self>) -> bool {
        zelf.read("C") == Some(true)
    }

    #[pygetset]
    fn f_contiguous(zelf: &Py<Self>) -> bool {
        zelf.read("F") == Some(true)
    }

    #[pygetset]
    fn contiguous(zelf: &Py<Self>) -> bool {
        zelf.read("C") == Some(true)
    }

    #[pygetset]
    fn owndata(zelf: &Py<Self>) -> bool {
        zelf.read("O") == Some(true)
    }

    #[pygetset]
    fn aligned(_zelf: &Py<Self>) -> bool {
        true
    }
}
