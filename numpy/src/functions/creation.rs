//! Making arrays.

use ruaflow_array::{Array, DType, Operand, Scalar, create, result_type};
use rustpython_vm::protocol::PyBuffer;
use rustpython_vm::{
    AsObject as _, PyObject, PyObjectRef, PyResult, TryFromBorrowedObject as _, VirtualMachine,
};

use crate::convert::{
    array_of, to_array, to_array_as, to_shape, to_signed_shape, weak_of, wrap, wrap_related,
};
use crate::dtype::dtype_of;
use crate::error::OrRaise as _;
use crate::operators::to_operand;
use crate::signature::{Args, Entry};

pub(crate) const CREATION: &[Entry] = &[
    (
        "array(object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, ndmax=0, like=None)",
        array,
    ),
    ("asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None)", asarray),
    ("asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None)", asarray),
    ("ascontiguousarray(a, dtype=None, *, like=None)", ascontiguousarray),
    ("require(a, dtype=None, requirements=None, *, like=None)", ascontiguousarray),
    ("copy(a, order='K', subok=False)", copy),
    ("zeros(shape, dtype=None, order='C', *, device=None, like=None)", |args, vm| {
        filled(args, 0, vm)
    }),
    ("ones(shape, dtype=None, order='C', *, device=None, like=None)", |args, vm| {
        filled(args, 1, vm)
    }),
    ("empty(shape, dtype=None, order='C', *, device=None, like=None)", |args, vm| {
        filled(args, 0, vm)
    }),
    ("full(shape, fill_value, dtype=None, order='C', *, device=None, like=None)", full),
    ("zeros_like(a, dtype=None, order='K', subok=True, shape=None, *, device=None)", |args, vm| {
        filled_like(args, 0, vm)
    }),
    ("ones_like(a, dtype=None, order='K', subok=True, shape=None, *, device=None)", |args, vm| {
        filled_like(args, 1, vm)
    }),
    ("empty_like(a, dtype=None, order='K', subok=True, shape=None, *, device=None)", |args, vm| {
        filled_like(args, 0, vm)
    }),
    (
        "full_like(a, fill_value, dtype=None, order='K', subok=True, shape=None, *, device=None)",
        full_like,
    ),
    (
        "arange(start_or_stop=None, /, stop=None, step=1, dtype=None, *, start=None, device=None, like=None)",
        arange,
    ),
    (
        "linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None)",
        linspace,
    ),
    ("logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None)", logspace),
    ("geomspace(start, stop, num=50, endpoint=True, dtype=None)", geomspace),
    ("eye(N, M=None, k=0, dtype=None, order='C', *, device=None, like=None)", eye),
    ("identity(n, dtype=None, *, like=None)", eye),
    ("tri(N, M=None, k=0, dtype=None, *, like=None)", tri),
    ("frombuffer(buffer, dtype=None, count=-1, offset=0, *, like=None)", frombuffer),
    ("indices(dimensions, dtype=None, sparse=False)", indices),
    ("meshgrid(*xi, copy=True, sparse=False, indexing='xy')", meshgrid),
];

fn array(args: &Args, vm: &VirtualMachine) -> PyResult {
    let object = args.required(0, vm)?;
    let dtype = args.dtype(vm)?;
    let copied = match args.given("copy") {
        Some(copy) if vm.is_none(copy) => false,
        Some(copy) => copy.clone().try_to_bool(vm)?,
        None => true,
    };
    let mut array = to_array_as(object, dtype, vm)?;
    let shared =
        array_of(object).is_some_and(|of| std::rc::Rc::ptr_eq(of.buffer(), array.buffer()));
    if copied && shared {
        array = array.copy_keeping_order().or_raise(vm)?;
    } else if args.given("copy").is_some_and(|copy| copy.is(&vm.ctx.false_value)) && !shared {
        return Err(vm.new_value_error(
            "Unable to avoid copy while creating an array as requested.\nIf using `np.array(obj, copy=False)` replace it with `np.asarray(obj)` to allow a copy when needed (no behavior change in NumPy 1.x).",
        ));
    } else if shared
        && array_of(object).is_some_and(|of| of.is_same_view(&array))
        && args.int("ndmin", 0, vm)? <= array.ndim() as i64
    {
        return Ok(object.clone());
    }
    let missing = args.int("ndmin", 0, vm)? - array.ndim() as i64;
    if missing > 0 {
        let axes: Vec<i64> = (0..missing).collect();
        array = array.expand_dims(&axes).or_raise(vm)?;
    }
    Ok(wrap_related(array, object, vm))
}

fn asarray(args: &Args, vm: &VirtualMachine) -> PyResult {
    let object = args.required(0, vm)?;
    let array = to_array_as(object, args.dtype(vm)?, vm)?;
    let same = array_of(object).is_some_and(|of| of.is_same_view(&array));
    if args.get("copy", vm).is_some() && args.flag("copy", false, vm)? {
        return Ok(wrap(array.copy_keeping_order().or_raise(vm)?, vm));
    }
    if same { Ok(object.clone()) } else { Ok(wrap(array, vm)) }
}

fn ascontiguousarray(args: &Args, vm: &VirtualMachine) -> PyResult {
    let object = args.required(0, vm)?;
    let array = to_array_as(object, args.dtype(vm)?, vm)?;
    let array = if array.ndim() == 0 { array.reshape(&[1]).or_raise(vm)? } else { array };
    let same =
        array.is_c_contiguous() && array_of(object).is_some_and(|of| of.is_same_view(&array));
    if same { Ok(object.clone()) } else { Ok(wrap(array.contiguous().or_raise(vm)?, vm)) }
}

fn copy(args: &Args, vm: &VirtualMachine) -> PyResult {
    Ok(wrap(args.array(0, vm)?.copy_keeping_order().or_raise(vm)?, vm))
}

fn filled(args: &Args, value: i64, vm: &VirtualMachine) -> PyResult {
    let shape = to_shape(args.required(0, vm)?, vm)?;
    let dtype = args.dtype(vm)?.unwrap_or(DType::F64);
    Ok(wrap(of_value(&shape, value, dtype).or_raise(vm)?, vm))
}

fn of_value(shape: &[usize], value: i64, dtype: DType) -> ruaflow_array::Result<Array> {
    match value {
        0 => Array::zeros(shape, dtype),
        value => Array::full(shape, Scalar::I64(value).cast(dtype)),
    }
}

fn filled_like(args: &Args, value: i64, vm: &VirtualMachine) -> PyResult {
    let model = args.array(0, vm)?;
    let shape = args.get("shape", vm).map(|shape| to_shape(shape, vm)).transpose()?;
    let dtype = args.dtype(vm)?.unwrap_or(model.dtype());
    let array = of_value(shape.as_deref().unwrap_or(model.shape()), value, dtype);
    Ok(wrap(array.or_raise(vm)?, vm))
}

fn full(args: &Args, vm: &VirtualMachine) -> PyResult {
    let shape = to_shape(args.required(0, vm)?, vm)?;
    fill(&shape, args.required(1, vm)?, args.dtype(vm)?, vm)
}

fn full_like(args: &Args, vm: &VirtualMachine) -> PyResult {
    let model = args.array(0, vm)?;
    let shape = args.get("shape", vm).map(|shape| to_shape(shape, vm)).transpose()?;
    let dtype = args.dtype(vm)?.unwrap_or(model.dtype());
    fill(shape.as_deref().unwrap_or(model.shape()), args.required(1, vm)?, Some(dtype), vm)
}

fn fill(shape: &[usize], value: &PyObject, dtype: Option<DType>, vm: &VirtualMachine) -> PyResult {
    let value = match dtype {
        Some(dtype) => crate::index::assigned(dtype, value, vm)?,
        None => to_array(value, vm)?.into(),
    };
    let target = Array::zeros(shape, dtype.unwrap_or(value.dtype())).or_raise(vm)?;
    target.assign(&[ruaflow_array::index::Index::Ellipsis], &value).or_raise(vm)?;
    Ok(wrap(target, vm))
}

fn arange(args: &Args, vm: &VirtualMachine) -> PyResult {
    let first = args.get("start_or_stop", vm).or_else(|| args.get("start", vm));
    let (start, stop) = match (first, args.get("stop", vm)) {
        (first, Some(stop)) => (first, stop),
        (Some(stop), None) => (None, stop),
        (None, None) => return Err(vm.new_type_error("arange() requires stop to be specified.")),
    };
    let number = |object: &PyObject| to_operand(object, vm);
    let zero = Operand::from(0);
    let start = start.map_or(Ok(zero), |start| number(start))?;
    let stop = number(stop)?;
    let step = args.get("step", vm).map_or(Ok(Operand::from(1)), |step| number(step))?;
    if [&start, &stop, &step].iter().any(|operand| !operand.shape().is_empty()) {
        return Err(vm.new_type_error("arange() takes numbers, no arrays"));
    }
    Ok(wrap(create::arange(&start, &stop, &step, args.dtype(vm)?).or_raise(vm)?, vm))
}

fn linspace(args: &Args, vm: &VirtualMachine) -> PyResult {
    let (start, stop) = (args.operand(0, vm)?, args.operand(1, vm)?);
    let (num, endpoint) = (count(args, vm)?, args.flag("endpoint", true, vm)?);
    let axis = args.int("axis", 0, vm)?;
    let made = create::linspace(&start, &stop, num, endpoint, args.dtype(vm)?, axis);
    let (array, step) = made.or_raise(vm)?;
    let array = wrap(array, vm);
    if !args.flag("retstep", false, vm)? {
        return Ok(array);
    }
    Ok(vm.ctx.new_tuple(vec![array, crate::convert::unwrap(step, vm)]).into())
}

/// `num=`: how many points.
fn count(args: &Args, vm: &VirtualMachine) -> PyResult<usize> {
    let num = args.int("num", 50, vm)?;
    usize::try_from(num)
        .map_err(|_| vm.new_value_error(format!("Number of samples, {num}, must be non-negative.")))
}

fn logspace(args: &Args, vm: &VirtualMachine) -> PyResult {
    let made = create::logspace(
        &args.operand(0, vm)?,
        &args.operand(1, vm)?,
        count(args, vm)?,
        args.flag("endpoint", true, vm)?,
        args.float("base", 10.0, vm)?,
        args.dtype(vm)?,
    );
    Ok(wrap(made.or_raise(vm)?, vm))
}

fn geomspace(args: &Args, vm: &VirtualMachine) -> PyResult {
    let made = create::geomspace(
        args.required(0, vm)?.try_float(vm)?.to_f64(),
        args.required(1, vm)?.try_float(vm)?.to_f64(),
        count(args, vm)?,
        args.flag("endpoint", true, vm)?,
        args.dtype(vm)?,
    );
    Ok(wrap(made.or_raise(vm)?, vm))
}

fn side(object: &PyObject, vm: &VirtualMachine) -> PyResult<usize> {
    let length = crate::convert::to_index(object, vm)?;
    usize::try_from(length).map_err(|_| vm.new_value_error("negative dimensions are not allowed"))
}

fn eye(args: &Args, vm: &VirtualMachine) -> PyResult {
    let rows = side(args.required(0, vm)?, vm)?;
    let columns = args.get("M", vm).map_or(Ok(rows), |columns| side(columns, vm))?;
    let dtype = args.dtype(vm)?.unwrap_or(DType::F64);
    Ok(wrap(create::eye(rows, columns, args.int("k", 0, vm)?, dtype).or_raise(vm)?, vm))
}

fn tri(args: &Args, vm: &VirtualMachine) -> PyResult {
    let rows = side(args.required(0, vm)?, vm)?;
    let columns = args.get("M", vm).map_or(Ok(rows), |columns| side(columns, vm))?;
    let dtype = args.dtype(vm)?.unwrap_or(DType::F64);
    Ok(wrap(create::tri(rows, columns, args.int("k", 0, vm)?, dtype).or_raise(vm)?, vm))
}

fn frombuffer(args: &Args, vm: &VirtualMachine) -> PyResult {
    let bytes: Vec<u8> = {
        let buffer = PyBuffer::try_from_borrowed_object(vm, args.required(0, vm)?)?;
        buffer.contiguous_or_collect(<[u8]>::to_vec)
    };
    let dtype = args.dtype(vm)?.unwrap_or(DType::F64);
    let offset = usize::try_from(args.int("offset", 0, vm)?)
        .ok()
        .filter(|&offset| offset <= bytes.len())
        .ok_or_else(|| {
            vm.new_value_error("offset must be non-negative and no greater than buffer length")
        })?;
    let bytes = &bytes[offset..];
    let size = dtype.itemsize();
    let count = match args.int("count", -1, vm)? {
        count if count < 0 => {
            if !bytes.len().is_multiple_of(size) {
                return Err(vm.new_value_error("buffer size must be a multiple of element size"));
            }
            bytes.len() / size
        }
        count => count as usize,
    };
    if count * size > bytes.len() {
        return Err(vm.new_value_error("buffer is smaller than requested size"));
    }
    let bytes = Array::vector(bytes[..count * size].to_vec());
    let mut view = bytes.view_dtype(dtype).or_raise(vm)?;
    view.set_writeable(false).or_raise(vm)?;
    Ok(wrap(view, vm))
}

fn indices(args: &Args, vm: &VirtualMachine) -> PyResult {
    let shape = to_shape(args.required(0, vm)?, vm)?;
    let dtype = args.dtype(vm)?.unwrap_or(DType::I64);
    if args.flag("sparse", false, vm)? {
        let axes = create::open_indices(&shape, dtype).or_raise(vm)?;
        let axes = axes.into_iter().map(|axis| wrap(axis, vm)).collect();
        return Ok(vm.ctx.new_tuple(axes).into());
    }
    Ok(wrap(create::indices(&shape, dtype).or_raise(vm)?, vm))
}

fn meshgrid(args: &Args, vm: &VirtualMachine) -> PyResult {
    let arrays = args.rest.iter().map(|one| to_array(one, vm)).collect::<PyResult<Vec<_>>>()?;
    let indexing = args.text("indexing", vm)?;
    let by_xy = match indexing.as_deref() {
        None | Some("xy") => true,
        Some("ij") => false,
        _ => return Err(vm.new_value_error("Valid values for `indexing` are 'xy' and 'ij'.")),
    };
    let sparse = args.flag("sparse", false, vm)?;
    let grids = create::meshgrid(&arrays, by_xy, sparse).or_raise(vm)?;
    let grids = grids.into_iter().map(|grid| wrap(grid, vm)).collect();
    Ok(vm.ctx.new_tuple(grids).into())
}

/// `result_type`, `promote_types`, `can_cast`, `min_scalar_type`.
pub(crate) const TYPES: &[Entry] = &[
    ("result_type(*arrays_and_dtypes)", |args, vm| {
        if args.rest.is_empty() {
            return Err(vm.new_value_error("at least one array or dtype is required"));
        }
        let operands = args.rest.iter().map(|one| typed(one, vm)).collect::<PyResult<Vec<_>>>()?;
        Ok(crate::dtype::dtype_object(result_type(&operands), vm))
    }),
    ("promote_types(type1, type2)", |args, vm| {
        let (a, b) = (dtype_of(args.required(0, vm)?, vm)?, dtype_of(args.required(1, vm)?, vm)?);
        Ok(crate::dtype::dtype_object(ruaflow_array::promote(a, b), vm))
    }),
    ("can_cast(from_, to, casting='safe')", |args, vm| {
        let from = args.required(0, vm)?;
        if weak_of(from, vm).is_some() {
            return Err(vm.new_type_error(
                "can_cast() does not support Python ints, floats, and complex because the result used to depend on the value.\nThis change was part of adopting NEP 50, we may explicitly allow them again in the future.",
            ));
        }
        let (from, to) = (dtype_of(from, vm)?, dtype_of(args.required(1, vm)?, vm)?);
        let casting = args.text("casting", vm)?;
        let allowed = match casting.as_deref() {
            None | Some("safe") => ruaflow_array::can_cast_safely(from, to),
            Some("same_kind") => {
                ruaflow_array::can_cast_safely(from, to)
                    || ruaflow_array::can_cast_same_kind(from, to)
            }
            Some("unsafe") => true,
            Some("no" | "equiv") => from == to,
            Some(_) => return Err(vm.new_value_error(
                "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe', 'same_value'",
            )),
        };
        Ok(vm.ctx.new_bool(allowed).into())
    }),
    ("issubdtype(arg1, arg2)", crate::dtype::issubdtype),
];

/// An operand from an array, a number, or a dtype in whose place an empty array stands.
fn typed(object: &PyObjectRef, vm: &VirtualMachine) -> PyResult<Operand> {
    if let Some(operand) = crate::operators::operand(object, vm) {
        return operand;
    }
    let dtype = dtype_of(object, vm)?;
    Ok(Array::zeros(&[0], dtype).or_raise(vm)?.into())
}

/// The shape of `to_signed_shape`, for `reshape` and its kin.
pub(crate) fn shape_from(objects: &[PyObjectRef], vm: &VirtualMachine) -> PyResult<Vec<i64>> {
    match objects {
        [one] => to_signed_shape(one, vm),
        many => many.iter().map(|one| crate::convert::to_index(one, vm)).collect(),
    }
}
