//! Python objects to arrays and back.

use ruaflow_array::{Array, DType, Scalar, Weak, f16, shape_text};
use rustpython_vm::builtins::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PySet, PyStr, PyTuple,
};
use rustpython_vm::types::PyComparisonOp;
use rustpython_vm::{
    AsObject as _, Py, PyObject, PyObjectRef, PyPayload as _, PyRef, PyResult, VirtualMachine,
};

use crate::classes::classes;
use crate::error::{OrRaise as _, unsupported};
use crate::ndarray::NdArray;
use crate::scalar::PyScalar;

/// How deep lists may be nested, as in numpy.
const MAX_DEPTH: usize = 64;

/// The array of an `ndarray`; another view of the same elements.
pub fn array_of(object: &PyObject) -> Option<Array> {
    object.downcast_ref::<NdArray>().map(|array| array.array())
}

/// The value of a numpy scalar.
pub(crate) fn scalar_of(object: &PyObject) -> Option<Scalar> {
    if let Some(scalar) = object.downcast_ref::<PyScalar>() {
        return Some(scalar.value());
    }
    let float = object.downcast_ref::<PyFloat>()?;
    object.class().is(classes().of(DType::F64)).then(|| Scalar::F64(float.to_f64()))
}

/// The value of a Python number, which has no type of its own in numpy.
pub(crate) fn weak_of(object: &PyObject, vm: &VirtualMachine) -> Option<Weak> {
    if let Some(float) = object.downcast_ref::<PyFloat>() {
        let ours = object.class().is(classes().of(DType::F64));
        return (!ours).then(|| Weak::Float(float.to_f64()));
    }
    let int = object.downcast_ref::<PyInt>()?;
    if object.downcast_ref::<PyBool>().is_some() || object.class().is(vm.ctx.types.bool_type) {
        return Some(Weak::Bool(int.try_to_primitive::<u8>(vm).is_ok_and(|value| value != 0)));
    }
    Some(Weak::Int(integer(int, vm)))
}

/// A Python integer; one beyond 128 bits as the nearest.
fn integer(int: &Py<PyInt>, vm: &VirtualMachine) -> i128 {
    int.try_to_primitive::<i128>(vm).unwrap_or_else(|_| {
        let zero = vm.ctx.new_int(0);
        let negative = vm
            .ctx
            .new_bigint(int.as_bigint())
            .as_object()
            .rich_compare_bool(zero.as_object(), PyComparisonOp::Lt, vm)
            .unwrap_or(false);
        if negative { i128::MIN } else { i128::MAX }
    })
}

/// `numpy.ndarray` over an array.
pub(crate) fn wrap(array: Array, vm: &VirtualMachine) -> PyObjectRef {
    NdArray::new(array, None).into_ref(&vm.ctx).into()
}

/// An `ndarray` that is a view of another, which is its `base`.
pub(crate) fn wrap_view(array: Array, owner: &PyObject, vm: &VirtualMachine) -> PyObjectRef {
    let base = owner.downcast_ref::<NdArray>().map(|of| of.owner(owner));
    NdArray::new(array, base).into_ref(&vm.ctx).into()
}

/// A result: a view keeps the object that owns the elements as its base.
pub(crate) fn wrap_related(array: Array, origin: &PyObject, vm: &VirtualMachine) -> PyObjectRef {
    match array_of(origin) {
        Some(of) if std::rc::Rc::ptr_eq(of.buffer(), array.buffer()) => {
            wrap_view(array, origin, vm)
        }
        _ => wrap(array, vm),
    }
}

/// A result that numpy gives as a scalar when it has no dimensions.
pub(crate) fn unwrap(array: Array, vm: &VirtualMachine) -> PyObjectRef {
    if array.ndim() == 0 { scalar(array.get(&[]), vm) } else { wrap(array, vm) }
}

/// A numpy scalar.
pub(crate) fn scalar(value: Scalar, vm: &VirtualMachine) -> PyObjectRef {
    let class = classes().of(value.dtype()).to_owned();
    let _ = vm;
    match value {
        Scalar::F64(value) => PyRef::new_ref(PyFloat::from(value), class, None).into(),
        value => PyRef::new_ref(PyScalar::new(value), class, None).into(),
    }
}

/// A plain Python number, as `item()` and `tolist()` give.
pub(crate) fn python_number(value: Scalar, vm: &VirtualMachine) -> PyObjectRef {
    match value {
        Scalar::Bool(value) => vm.ctx.new_bool(value).into(),
        Scalar::U8(value) => vm.ctx.new_int(value).into(),
        Scalar::I32(value) => vm.ctx.new_int(value).into(),
        Scalar::I64(value) => vm.ctx.new_int(value).into(),
        Scalar::F16(value) => vm.ctx.new_float(value.to_f64()).into(),
        Scalar::F32(value) => vm.ctx.new_float(value.into()).into(),
        Scalar::F64(value) => vm.ctx.new_float(value).into(),
    }
}

/// Anything as an array, like `numpy.asarray`.
pub(crate) fn to_array(object: &PyObject, vm: &VirtualMachine) -> PyResult<Array> {
    to_array_as(object, None, vm)
}

/// Anything as an array of a type, like `numpy.asarray(x, dtype)`; an array that has it
/// already comes as a view.
pub(crate) fn to_array_as(
    object: &PyObject,
    dtype: Option<DType>,
    vm: &VirtualMachine,
) -> PyResult<Array> {
    if let Some(array) = array_of(object) {
        return match dtype {
            Some(dtype) => array.cast(dtype).or_raise(vm),
            None => Ok(array),
        };
    }
    if let Some(value) = scalar_of(object) {
        let array = Array::scalar(value);
        return array.cast(dtype.unwrap_or(value.dtype())).or_raise(vm);
    }
    if let Some(made) = object.get_attr("__array__", vm).ok().filter(|_| is_array_like(object, vm))
    {
        let made = made.call((), vm)?;
        let Some(array) = array_of(&made) else {
            return Err(vm.new_value_error("object __array__ method not producing an array"));
        };
        return array.cast(dtype.unwrap_or(array.dtype())).or_raise(vm);
    }
    let items = match items(object, vm)? {
        None => {
            let value = leaf(object, dtype, vm)?;
            return Ok(Array::scalar(value));
        }
        Some(items) => items,
    };
    if let Some(array) = stacked(&items, vm)? {
        return array.cast(dtype.unwrap_or(array.dtype())).or_raise(vm);
    }
    let mut nested = Nested { dtype, ..Nested::default() };
    nested.sequence(&items, 0, vm)?;
    nested.finish(vm)
}

fn is_array_like(object: &PyObject, vm: &VirtualMachine) -> bool {
    object.class().get_attr(vm.ctx.intern_str("__array__")).is_some()
}

/// Equal arrays in a list are joined in one go.
fn stacked(items: &[PyObjectRef], vm: &VirtualMachine) -> PyResult<Option<Array>> {
    let Some(first) = items.first().and_then(|item| array_of(item)) else {
        return Ok(None);
    };
    let arrays: Vec<Array> = items.iter().filter_map(|item| array_of(item)).collect();
    let alike = arrays.len() == items.len()
        && first.ndim() > 0
        && arrays.iter().all(|array| array.shape() == first.shape());
    if !alike {
        return Ok(None);
    }
    ruaflow_array::join::stack(&arrays, 0, None).or_raise(vm).map(Some)
}

/// The items of what numpy takes for a sequence.
fn items(object: &PyObject, vm: &VirtualMachine) -> PyResult<Option<Vec<PyObjectRef>>> {
    if let Some(list) = object.downcast_ref::<PyList>() {
        return Ok(Some(list.borrow_vec().to_vec()));
    }
    if let Some(tuple) = object.downcast_ref::<PyTuple>() {
        return Ok(Some(tuple.as_slice().to_vec()));
    }
    if let Some(bytes) = object.downcast_ref::<PyByteArray>() {
        let bytes = bytes.borrow_buf().to_vec();
        let numbers = bytes.into_iter().map(|byte| scalar(Scalar::U8(byte), vm));
        return Ok(Some(numbers.collect()));
    }
    let no_sequence = object.downcast_ref::<PyStr>().is_some()
        || object.downcast_ref::<PyBytes>().is_some()
        || object.downcast_ref::<PyDict>().is_some()
        || object.downcast_ref::<PySet>().is_some()
        || object.class().is(vm.ctx.types.type_type);
    let has = |name| object.class().get_attr(vm.ctx.intern_str(name)).is_some();
    if no_sequence || !has("__len__") || !has("__getitem__") {
        return Ok(None);
    }
    let iterator = object.to_owned().get_iter(vm)?;
    let items = iterator.iter::<PyObjectRef>(vm)?.collect::<PyResult<_>>()?;
    Ok(Some(items))
}

/// One element of a list, in the type that is asked for.
fn leaf(object: &PyObject, dtype: Option<DType>, vm: &VirtualMachine) -> PyResult<Scalar> {
    if let Some(value) = scalar_of(object) {
        return Ok(value.cast(dtype.unwrap_or(value.dtype())));
    }
    if let Some(weak) = weak_of(object, vm) {
        let dtype = dtype.unwrap_or(weak.dtype());
        if let (Weak::Float(value), true) = (weak, dtype.is_integer()) {
            if value.is_nan() {
                return Err(vm.new_value_error("cannot convert float NaN to integer"));
            }
            if value.is_infinite() {
                return Err(vm.new_overflow_error("cannot convert float infinity to integer"));
            }
        }
        return weak.to_scalar(dtype).or_raise(vm);
    }
    if let Some(dtype) = dtype.filter(|dtype| dtype.is_float()) {
        if vm.is_none(object) {
            return Ok(Scalar::F64(f64::NAN).cast(dtype));
        }
        if let Some(float) = object.try_float_opt(vm) {
            return Ok(Scalar::F64(float?.to_f64()).cast(dtype));
        }
        if let Some(text) = object.downcast_ref::<PyStr>() {
            let class: PyObjectRef = vm.ctx.types.float_type.to_owned().into();
            let float = class.call((text.to_owned(),), vm)?;
            return Ok(Scalar::F64(float.try_float(vm)?.to_f64()).cast(dtype));
        }
    }
    if dtype == Some(DType::Bool) {
        return Ok(Scalar::Bool(object.to_owned().try_to_bool(vm)?));
    }
    Err(unsupported("cannot make an array", object, vm))
}

/// Nested lists on their way to an array.
#[derive(Default)]
struct Nested {
    dtype: Option<DType>,
    shape: Vec<usize>,
    /// Whether the depth of the elements is known, and `shape` is complete.
    measured: bool,
    /// Dimensions that all branches agree on.
    regular: Option<usize>,
    leaves: Vec<Scalar>,
}

impl Nested {
    fn sequence(
        &mut self,
        items: &[PyObjectRef],
        depth: usize,
        vm: &VirtualMachine,
    ) -> PyResult<()> {
        if depth >= MAX_DEPTH {
            return Err(vm.new_value_error(
                "setting an array element with a sequence. The requested array would exceed the maximum number of dimension of 64.",
            ));
        }
        if !self.enter(items.len(), depth) {
            return Ok(());
        }
        for item in items {
            if let Some(array) = array_of(item) {
                self.array(&array, depth + 1);
            } else if let Some(inner) = self.inner(item, vm)? {
                self.sequence(&inner, depth + 1, vm)?;
            } else {
                self.leaf_at(depth + 1);
                let value = leaf(item, self.dtype, vm)?;
                self.leaves.push(value);
            }
        }
        if items.is_empty() {
            self.leaf_at(depth + 1);
        }
        Ok(())
    }

    fn inner(&self, item: &PyObject, vm: &VirtualMachine) -> PyResult<Option<Vec<PyObjectRef>>> {
        // The common case first: numbers are no sequences.
        if item.downcast_ref::<PyFloat>().is_some() || item.downcast_ref::<PyInt>().is_some() {
            return Ok(None);
        }
        if item.downcast_ref::<PyScalar>().is_some() {
            return Ok(None);
        }
        items(item, vm)
    }

    /// Notes a sequence of this length; false when it does not fit the others.
    fn enter(&mut self, length: usize, depth: usize) -> bool {
        match self.shape.get(depth) {
            Some(&known) if known == length => true,
            None if !self.measured => {
                self.shape.push(length);
                true
            }
            _ => {
                self.irregular(depth);
                false
            }
        }
    }

    fn leaf_at(&mut self, depth: usize) {
        if !self.measured {
            self.measured = true;
        }
        if depth != self.shape.len() {
            self.irregular(depth.min(self.shape.len()));
        }
    }

    fn array(&mut self, array: &Array, depth: usize) {
        for (offset, &length) in array.shape().iter().enumerate() {
            if !self.enter(length, depth + offset) {
                return;
            }
        }
        self.leaf_at(depth + array.ndim());
        self.leaves.extend((0..array.size()).map(|at| array.flat(at)));
    }

    fn irregular(&mut self, depth: usize) {
        self.regular = Some(self.regular.unwrap_or(usize::MAX).min(depth));
    }

    fn finish(self, vm: &VirtualMachine) -> PyResult<Array> {
        if let Some(regular) = self.regular {
            let shape = self.shape.get(..regular).unwrap_or(&self.shape);
            return Err(vm.new_value_error(format!(
                "setting an array element with a sequence. The requested array has an inhomogeneous shape after {} dimensions. The detected shape was {} + inhomogeneous part.",
                shape.len(),
                shape_text(shape)
            )));
        }
        let dtype = self.dtype.unwrap_or_else(|| common_dtype(&self.leaves));
        let (leaves, shape) = (&self.leaves, self.shape.as_slice());
        macro_rules! collect {
            ($type:ty) => {
                Array::from_vec(leaves.iter().map(|leaf| leaf.to::<$type>()).collect(), shape)
            };
        }
        match dtype {
            DType::Bool => collect!(bool),
            DType::U8 => collect!(u8),
            DType::I32 => collect!(i32),
            DType::I64 => collect!(i64),
            DType::F16 => collect!(f16),
            DType::F32 => collect!(f32),
            DType::F64 => collect!(f64),
        }
        .or_raise(vm)
    }
}

fn common_dtype(leaves: &[Scalar]) -> DType {
    let mut types = leaves.iter().map(|leaf| leaf.dtype());
    let Some(first) = types.next() else { return DType::F64 };
    types.fold(first, |a, b| if a == b { a } else { ruaflow_array::promote(a, b) })
}

/// A Python integer or anything with `__index__`.
pub(crate) fn to_index(object: &PyObject, vm: &VirtualMachine) -> PyResult<i64> {
    if let Some(value) = scalar_of(object)
        && value.dtype().is_integer()
    {
        return Ok(value.to_i64());
    }
    let int = object.try_index(vm)?;
    int.try_to_primitive::<i64>(vm)
}

/// A shape: an integer or a sequence of integers.
pub(crate) fn to_shape(object: &PyObject, vm: &VirtualMachine) -> PyResult<Vec<usize>> {
    to_signed_shape(object, vm)?
        .into_iter()
        .map(|length| {
            usize::try_from(length)
                .map_err(|_| vm.new_value_error("negative dimensions are not allowed"))
        })
        .collect()
}

/// A shape that may hold -1.
pub(crate) fn to_signed_shape(object: &PyObject, vm: &VirtualMachine) -> PyResult<Vec<i64>> {
    if let Some(array) = array_of(object).filter(|array| array.ndim() > 0) {
        if !array.dtype().is_integer() {
            return Err(vm.new_type_error(format!(
                "'{}' object cannot be interpreted as an integer",
                classes().of(array.dtype()).slot_name()
            )));
        }
        return Ok((0..array.size()).map(|at| array.flat(at).to_i64()).collect());
    }
    match items(object, vm)? {
        Some(items) => items.iter().map(|item| to_index(item, vm)).collect(),
        None => Ok(vec![to_index(object, vm)?]),
    }
}

/// A list of arrays: a list, a tuple, or an array's rows.
pub(crate) fn to_arrays(object: &PyObject, vm: &VirtualMachine) -> PyResult<Vec<Array>> {
    if let Some(array) = array_of(object) {
        if array.ndim() == 0 {
            return Err(vm.new_type_error("iteration over a 0-d array"));
        }
        return Ok((0..array.shape()[0]).map(|at| array.index_axis(0, at)).collect());
    }
    match items(object, vm)? {
        Some(items) => items.iter().map(|item| to_array(item, vm)).collect(),
        None => {
            let name = object.class().name().to_string();
            Err(vm.new_type_error(format!(
                "arrays to stack must be passed as a \"sequence\" type such as list or tuple, not {name:?}"
            )))
        }
    }
}
