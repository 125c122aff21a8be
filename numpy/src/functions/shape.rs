//! Other shapes and orders of the same elements; joining and splitting.

use ruaflow_array::rearrange::{self, Padding};
use ruaflow_array::{Array, DType, create, join};
use rustpython_vm::builtins::{PyStr, PyTuple};
use rustpython_vm::{PyObject, PyObjectRef, PyResult, VirtualMachine};

use super::creation::shape_from;
use crate::convert::{
    array_of, to_array, to_arrays, to_index, to_shape, to_signed_shape, unwrap, wrap, wrap_related,
};
use crate::error::OrRaise as _;
use crate::signature::{Args, Entry};

/// A result that may be a view of the first argument.
fn related(args: &Args, result: ruaflow_array::Result<Array>, vm: &VirtualMachine) -> PyResult {
    Ok(wrap_related(result.or_raise(vm)?, args.required(0, vm)?, vm))
}

fn fresh(result: ruaflow_array::Result<Array>, vm: &VirtualMachine) -> PyResult {
    Ok(wrap(result.or_raise(vm)?, vm))
}

pub(crate) const SHAPE: &[Entry] = &[
    ("reshape(a, /, shape, order='C', *, copy=None)", |args, vm| {
        let shape = to_signed_shape(args.required(1, vm)?, vm)?;
        let array = args.array(0, vm)?;
        reshape(args, &array, &shape, vm)
    }),
    ("ravel(a, order='C')", |args, vm| {
        let array = args.array(0, vm)?;
        match args.text("order", vm)?.as_deref() {
            Some("F") => fresh(array.transpose(None).and_then(|array| array.flatten()), vm),
            _ => related(args, array.ravel(), vm),
        }
    }),
    ("transpose(a, axes=None)", |args, vm| {
        let axes = args.get("axes", vm).map(|axes| to_signed_shape(axes, vm)).transpose()?;
        related(args, args.array(0, vm)?.transpose(axes.as_deref()), vm)
    }),
    ("permute_dims(a, axes=None)", |args, vm| {
        let axes = args.get("axes", vm).map(|axes| to_signed_shape(axes, vm)).transpose()?;
        related(args, args.array(0, vm)?.transpose(axes.as_deref()), vm)
    }),
    ("matrix_transpose(x, /)", |args, vm| {
        let array = args.array(0, vm)?;
        if array.ndim() < 2 {
            return Err(vm.new_value_error(format!(
                "Input array must be at least 2-dimensional, but it is {}",
                array.ndim()
            )));
        }
        related(args, array.swapaxes(-1, -2), vm)
    }),
    ("swapaxes(a, axis1, axis2)", |args, vm| {
        let (first, second) =
            (to_index(args.required(1, vm)?, vm)?, to_index(args.required(2, vm)?, vm)?);
        related(args, args.array(0, vm)?.swapaxes(first, second), vm)
    }),
    ("moveaxis(a, source, destination)", |args, vm| {
        let from = to_signed_shape(args.required(1, vm)?, vm)?;
        let to = to_signed_shape(args.required(2, vm)?, vm)?;
        related(args, args.array(0, vm)?.moveaxis(&from, &to), vm)
    }),
    ("rollaxis(a, axis, start=0)", rollaxis),
    ("squeeze(a, axis=None)", |args, vm| {
        related(args, args.array(0, vm)?.squeeze(args.axes("axis", vm)?.as_deref()), vm)
    }),
    ("expand_dims(a, axis)", |args, vm| {
        let axes = to_signed_shape(args.required(1, vm)?, vm)?;
        related(args, args.array(0, vm)?.expand_dims(&axes), vm)
    }),
    ("broadcast_to(array, shape, subok=False)", |args, vm| {
        let shape = to_shape(args.required(1, vm)?, vm)?;
        let mut view = args.array(0, vm)?.broadcast_to(&shape).or_raise(vm)?;
        view.set_writeable(false).or_raise(vm)?;
        Ok(wrap_related(view, args.required(0, vm)?, vm))
    }),
    ("broadcast_shapes(*shapes)", |args, vm| {
        let shapes = args.rest.iter().map(|one| to_shape(one, vm)).collect::<PyResult<Vec<_>>>()?;
        let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
        let shape = ruaflow_array::shape::broadcast_shapes(&shapes).or_raise(vm)?;
        Ok(vm.ctx.new_tuple(shape.into_iter().map(|n| vm.ctx.new_int(n).into()).collect()).into())
    }),
    ("diagonal(a, offset=0, axis1=0, axis2=1)", |args, vm| {
        let mut view = diagonal(args, vm)?;
        view.set_writeable(false).or_raise(vm)?;
        Ok(wrap_related(view, args.required(0, vm)?, vm))
    }),
    ("trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None)", |args, vm| {
        let options =
            ruaflow_array::reduce::Options { dtype: args.dtype(vm)?, ..Default::default() };
        let sum = ruaflow_array::reduce::reduce(
            ruaflow_array::reduce::Reduction::Sum,
            &diagonal(args, vm)?,
            Some(&[-1]),
            &options,
        );
        args.finish(sum.or_raise(vm)?, vm)
    }),
    ("atleast_1d(*arys)", |args, vm| at_least(args, 1, vm)),
    ("atleast_2d(*arys)", |args, vm| at_least(args, 2, vm)),
    ("atleast_3d(*arys)", |args, vm| at_least(args, 3, vm)),
];

pub(crate) const JOIN: &[Entry] = &[
    ("concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind')", concatenate),
    ("concat(arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind')", concatenate),
    ("stack(arrays, axis=0, out=None, *, dtype=None, casting='same_kind')", |args, vm| {
        let arrays = arrays(args, vm)?;
        let stacked = join::stack(&arrays, args.int("axis", 0, vm)?, args.dtype(vm)?);
        args.finish(stacked.or_raise(vm)?, vm)
    }),
    ("vstack(tup, *, dtype=None, casting='same_kind')", |args, vm| {
        fresh(join::vstack(&arrays(args, vm)?, args.dtype(vm)?), vm)
    }),
    ("hstack(tup, *, dtype=None, casting='same_kind')", |args, vm| {
        fresh(join::hstack(&arrays(args, vm)?, args.dtype(vm)?), vm)
    }),
    ("dstack(tup)", |args, vm| fresh(join::dstack(&arrays(args, vm)?, None), vm)),
    ("column_stack(tup)", |args, vm| fresh(join::column_stack(&arrays(args, vm)?), vm)),
    ("append(arr, values, axis=None)", |args, vm| {
        let result =
            rearrange::append(&args.array(0, vm)?, &args.array(1, vm)?, args.axis("axis", vm)?);
        fresh(result, vm)
    }),
    ("insert(arr, obj, values, axis=None)", insert),
    ("delete(arr, obj, axis=None)", |args, vm| {
        let (array, axis) = (args.array(0, vm)?, args.axis("axis", vm)?);
        let places = places(&array, axis, args.required(1, vm)?, vm)?;
        fresh(rearrange::delete(&array, &places, axis), vm)
    }),
    ("split(ary, indices_or_sections, axis=0)", |args, vm| {
        split(args, args.int("axis", 0, vm)?, true, vm)
    }),
    ("array_split(ary, indices_or_sections, axis=0)", |args, vm| {
        split(args, args.int("axis", 0, vm)?, false, vm)
    }),
    ("vsplit(ary, indices_or_sections)", |args, vm| split_deep(args, 2, 0, vm)),
    ("hsplit(ary, indices_or_sections)", |args, vm| {
        let axis = i64::from(args.array(0, vm)?.ndim() > 1);
        split_deep(args, 1, axis, vm)
    }),
    ("dsplit(ary, indices_or_sections)", |args, vm| split_deep(args, 3, 2, vm)),
    ("unstack(x, /, *, axis=0)", |args, vm| {
        let array = args.array(0, vm)?;
        let axis = array.axis(args.int("axis", 0, vm)?).or_raise(vm)?;
        let origin = args.required(0, vm)?;
        let parts = (0..array.shape()[axis]).map(|at| match array.ndim() {
            1 => unwrap(array.index_axis(axis, at), vm),
            _ => wrap_related(array.index_axis(axis, at), origin, vm),
        });
        Ok(vm.ctx.new_tuple(parts.collect()).into())
    }),
];

pub(crate) const REARRANGE: &[Entry] = &[
    ("tile(A, reps)", |args, vm| {
        fresh(rearrange::tile(&args.array(0, vm)?, &to_shape(args.required(1, vm)?, vm)?), vm)
    }),
    ("repeat(a, repeats, axis=None)", |args, vm| {
        let repeats = to_signed_shape(args.required(1, vm)?, vm)?;
        fresh(rearrange::repeat(&args.array(0, vm)?, &repeats, args.axis("axis", vm)?), vm)
    }),
    ("flip(m, axis=None)", |args, vm| {
        related(args, rearrange::flip(&args.array(0, vm)?, args.axes("axis", vm)?.as_deref()), vm)
    }),
    ("fliplr(m)", |args, vm| {
        let array = args.array(0, vm)?;
        if array.ndim() < 2 {
            return Err(vm.new_value_error("Input must be >= 2-d."));
        }
        related(args, rearrange::flip(&array, Some(&[1])), vm)
    }),
    ("flipud(m)", |args, vm| {
        let array = args.array(0, vm)?;
        if array.ndim() < 1 {
            return Err(vm.new_value_error("Input must be >= 1-d."));
        }
        related(args, rearrange::flip(&array, Some(&[0])), vm)
    }),
    ("roll(a, shift, axis=None)", |args, vm| {
        let shifts = to_signed_shape(args.required(1, vm)?, vm)?;
        let axes = args.axes("axis", vm)?;
        fresh(rearrange::roll(&args.array(0, vm)?, &shifts, axes.as_deref()), vm)
    }),
    ("rot90(m, k=1, axes=(0, 1))", |args, vm| {
        let axes = args.axes("axes", vm)?.unwrap_or_else(|| vec![0, 1]);
        let [first, second] = axes[..] else {
            return Err(vm.new_value_error("len(axes) must be 2."));
        };
        let turns = args.int("k", 1, vm)?;
        related(args, rearrange::rot90(&args.array(0, vm)?, turns, [first, second]), vm)
    }),
    (
        "pad(array, pad_width, mode='constant', *, constant_values=0, end_values=0, stat_length=None, reflect_type='even')",
        pad,
    ),
    ("take(a, indices, axis=None, out=None, mode='raise')", |args, vm| {
        let indices = args.array(1, vm)?;
        let mode = args.text("mode", vm)?;
        let result = rearrange::take(
            &args.array(0, vm)?,
            &indices,
            args.axis("axis", vm)?,
            mode.as_deref().unwrap_or("raise"),
        );
        args.finish(result.or_raise(vm)?, vm)
    }),
    ("take_along_axis(arr, indices, axis=-1)", |args, vm| {
        let axis = args.axis_or("axis", -1, vm)?;
        fresh(rearrange::take_along_axis(&args.array(0, vm)?, &args.array(1, vm)?, axis), vm)
    }),
    ("put_along_axis(arr, indices, values, axis)", |args, vm| {
        let (array, indices) = (args.array(0, vm)?, args.array(1, vm)?);
        let values = args.operand(2, vm)?;
        let axis = to_index(args.required(3, vm)?, vm)?;
        rearrange::put_along_axis(&array, &indices, &values, axis).or_raise(vm)?;
        Ok(vm.ctx.none())
    }),
    ("tril(m, k=0)", |args, vm| triangle(args, true, vm)),
    ("triu(m, k=0)", |args, vm| triangle(args, false, vm)),
    ("diag(v, k=0)", |args, vm| {
        related(args, create::diag(&args.array(0, vm)?, args.int("k", 0, vm)?), vm)
    }),
    ("diagflat(v, k=0)", |args, vm| {
        let flat = args.array(0, vm)?.ravel().or_raise(vm)?;
        fresh(create::diag(&flat, args.int("k", 0, vm)?), vm)
    }),
];

/// `reshape` for the function and the method, with Fortran's order too.
pub(crate) fn reshape(args: &Args, array: &Array, shape: &[i64], vm: &VirtualMachine) -> PyResult {
    match args.text("order", vm)?.as_deref() {
        None | Some("C" | "A") => related(args, array.reshape(shape), vm),
        Some("F") => related(args, array.reshape_fortran(shape), vm),
        Some(order) => Err(vm.new_value_error(format!(
            "order must be one of 'C', 'F', 'A', or 'K' (got '{order}')"
        ))),
    }
}

fn triangle(args: &Args, lower: bool, vm: &VirtualMachine) -> PyResult {
    if args.array(0, vm)?.ndim() == 0 {
        return Err(vm.new_type_error("tri() missing 1 required positional argument: 'N'"));
    }
    fresh(create::triangle(&args.array(0, vm)?, args.int("k", 0, vm)?, lower), vm)
}

fn rollaxis(args: &Args, vm: &VirtualMachine) -> PyResult {
    let array = args.array(0, vm)?;
    let count = array.ndim() as i64;
    let axis = array.axis(to_index(args.required(1, vm)?, vm)?).or_raise(vm)? as i64;
    let start = args.int("start", 0, vm)?;
    let start = if start < 0 { start + count } else { start };
    if !(0..=count).contains(&start) {
        return Err(vm.new_value_error("rollaxis(): start is out of bounds"));
    }
    let to = if axis < start { start - 1 } else { start };
    related(args, array.moveaxis(&[axis], &[to]), vm)
}

fn diagonal(args: &Args, vm: &VirtualMachine) -> PyResult<Array> {
    let (first, second) = (args.int("axis1", 0, vm)?, args.int("axis2", 1, vm)?);
    args.array(0, vm)?.diagonal(args.int("offset", 0, vm)?, first, second).or_raise(vm)
}

fn at_least(args: &Args, dims: usize, vm: &VirtualMachine) -> PyResult {
    let one = |object: &PyObjectRef| -> PyResult {
        let array = to_array(object, vm)?;
        let axes: &[i64] = match (dims, array.ndim()) {
            (1, 0) => &[0],
            (2, 0) => &[0, 1],
            (2, 1) => &[0],
            (3, 0) => &[0, 1, 2],
            (3, 1) => &[0, 2],
            (3, 2) => &[2],
            _ => {
                return Ok(if array_of(object).is_some() {
                    object.clone()
                } else {
                    wrap(array, vm)
                });
            }
        };
        Ok(wrap_related(array.expand_dims(axes).or_raise(vm)?, object, vm))
    };
    if let [object] = args.rest.as_slice() {
        return one(object);
    }
    Ok(vm.ctx.new_tuple(args.rest.iter().map(one).collect::<PyResult<_>>()?).into())
}

fn arrays(args: &Args, vm: &VirtualMachine) -> PyResult<Vec<Array>> {
    to_arrays(args.required(0, vm)?, vm)
}

fn concatenate(args: &Args, vm: &VirtualMachine) -> PyResult {
    let axis = args.axis_or("axis", 0, vm)?;
    let joined = join::concatenate(&arrays(args, vm)?, axis, args.dtype(vm)?);
    args.finish(joined.or_raise(vm)?, vm)
}

fn split(args: &Args, axis: i64, equal: bool, vm: &VirtualMachine) -> PyResult {
    let (array, how) = (args.array(0, vm)?, args.required(1, vm)?);
    let origin = args.required(0, vm)?;
    let parts = match to_index(how, vm) {
        Ok(sections) => {
            let sections = usize::try_from(sections)
                .ok()
                .filter(|&sections| sections > 0)
                .ok_or_else(|| vm.new_value_error("number sections must be larger than 0."))?;
            let split = if equal { join::split } else { join::array_split };
            split(&array, sections, axis)
        }
        Err(_) => join::split_at(&array, &to_signed_shape(how, vm)?, axis),
    };
    let parts = parts.or_raise(vm)?.into_iter().map(|part| wrap_related(part, origin, vm));
    Ok(vm.ctx.new_list(parts.collect()).into())
}

fn split_deep(args: &Args, least: usize, axis: i64, vm: &VirtualMachine) -> PyResult {
    if args.array(0, vm)?.ndim() < least {
        return Err(vm.new_value_error(format!(
            "{} only works on arrays of {least} or more dimensions",
            args.name()
        )));
    }
    split(args, axis, true, vm)
}

/// The places along an axis that an index, a slice or a mask means.
fn places(
    array: &Array,
    axis: Option<i64>,
    object: &PyObject,
    vm: &VirtualMachine,
) -> PyResult<Vec<i64>> {
    let length = match axis {
        Some(axis) => array.shape()[array.axis(axis).or_raise(vm)?],
        None => array.size(),
    };
    let is_slice = object.downcast_ref::<rustpython_vm::builtins::PySlice>().is_some();
    if !is_slice {
        let given = to_array(object, vm)?;
        if given.dtype() != DType::Bool {
            return to_signed_shape(object, vm).map(|places| places.into_iter().collect());
        }
    }
    let line: Vec<i64> = (0..length as i64).collect();
    let chosen = Array::vector(line).index(&crate::index::parse(object, vm)?).or_raise(vm)?;
    Ok((0..chosen.size()).map(|at| chosen.flat(at).to_i64()).collect())
}

fn insert(args: &Args, vm: &VirtualMachine) -> PyResult {
    let (array, axis) = (args.array(0, vm)?, args.axis("axis", vm)?);
    let object = args.required(1, vm)?;
    let single = to_array(object, vm).is_ok_and(|array| array.ndim() == 0);
    let places = places(&array, axis, object, vm)?;
    let values = crate::convert::to_array_as(args.required(2, vm)?, Some(array.dtype()), vm)?;
    fresh(rearrange::insert(&array, &places, single, &values.into(), axis), vm)
}

fn pad(args: &Args, vm: &VirtualMachine) -> PyResult {
    let array = args.array(0, vm)?;
    let widths = crate::convert::to_array_as(args.required(1, vm)?, Some(DType::I64), vm)?;
    let widths = per_axis(&widths, array.ndim(), vm)?
        .into_iter()
        .map(|(before, after)| {
            let side = |value: f64| {
                usize::try_from(value as i64)
                    .map_err(|_| vm.new_value_error("index can't contain negative values"))
            };
            Ok((side(before)?, side(after)?))
        })
        .collect::<PyResult<Vec<_>>>()?;
    let mode = args.get("mode", vm);
    let mode = match mode {
        None => "constant".to_owned(),
        Some(mode) if mode.downcast_ref::<PyStr>().is_some() => {
            mode.str(vm)?.to_string_lossy().into_owned()
        }
        Some(_) => {
            return Err(vm.new_not_implemented_error(
                "RuaFlow's numpy has no pad with a function; nearest: mode='constant', 'edge', 'reflect', 'symmetric', 'wrap', 'mean', 'maximum'",
            ));
        }
    };
    let padding = match mode.as_str() {
        "constant" => {
            let values = match args.get("constant_values", vm) {
                None => vec![(0.0, 0.0); array.ndim()],
                Some(value) => {
                    let values = crate::convert::to_array_as(value, Some(DType::F64), vm)?;
                    per_axis(&values, array.ndim(), vm)?
                }
            };
            return constant(&array, &widths, &values, vm);
        }
        "edge" => Padding::Edge,
        "reflect" => Padding::Reflect,
        "symmetric" => Padding::Symmetric,
        "wrap" => Padding::Wrap,
        "empty" => Padding::Constant(0.0, 0.0),
        "mean" | "median" | "minimum" | "maximum" | "linear_ramp" => {
            return Err(vm.new_not_implemented_error(format!(
                "RuaFlow's numpy has no pad with mode={mode:?}; nearest: 'constant', 'edge', 'reflect', 'symmetric', 'wrap'"
            )));
        }
        _ => return Err(vm.new_value_error(format!("mode '{mode}' is not supported"))),
    };
    fresh(rearrange::pad(&array, &widths, padding), vm)
}

/// Numbers around an array, one axis after the other, since each may have its own.
fn constant(
    array: &Array,
    widths: &[(usize, usize)],
    values: &[(f64, f64)],
    vm: &VirtualMachine,
) -> PyResult {
    if values.windows(2).all(|pair| pair[0] == pair[1]) {
        let (before, after) = values.first().copied().unwrap_or_default();
        return fresh(rearrange::pad(array, widths, Padding::Constant(before, after)), vm);
    }
    let mut padded = array.clone();
    for (axis, (&width, &(before, after))) in widths.iter().zip(values).enumerate() {
        let mut one = vec![(0, 0); array.ndim()];
        one[axis] = width;
        padded = rearrange::pad(&padded, &one, Padding::Constant(before, after)).or_raise(vm)?;
    }
    Ok(wrap(padded, vm))
}

/// `pad`'s numbers before and after each axis: one for all, one pair for all, or a pair each.
fn per_axis(values: &Array, ndim: usize, vm: &VirtualMachine) -> PyResult<Vec<(f64, f64)>> {
    let wide = values.broadcast_to(&[ndim, 2]).or_raise(vm)?;
    Ok((0..ndim)
        .map(|axis| (wide.get(&[axis, 0]).to_f64(), wide.get(&[axis, 1]).to_f64()))
        .collect())
}

/// The methods with shapes as separate arguments: `a.reshape(2, 3)`, `a.transpose(1, 0)`.
pub(crate) const METHODS: &[Entry] = &[
    ("reshape(*shape, order='C', copy=None)", |args, vm| {
        let shape = shape_from(&args.rest, vm)?;
        reshape(args, &args.array(0, vm)?, &shape, vm)
    }),
    ("transpose(*axes)", |args, vm| {
        let array = args.array(0, vm)?;
        let axes = match args.rest.as_slice() {
            [] => None,
            [none] if vm.is_none(none) => None,
            [tuple] if tuple.downcast_ref::<PyTuple>().is_some() => {
                Some(to_signed_shape(tuple, vm)?)
            }
            many => Some(shape_from(many, vm)?),
        };
        related(args, array.transpose(axes.as_deref()), vm)
    }),
    ("flatten(order='C')", |args, vm| {
        let array = args.array(0, vm)?;
        match args.text("order", vm)?.as_deref() {
            Some("F") => fresh(array.transpose(None).and_then(|array| array.flatten()), vm),
            _ => fresh(array.flatten(), vm),
        }
    }),
    ("view(dtype=None, type=None)", |args, vm| {
        let object = args.required(0, vm)?;
        let array = args.array(0, vm)?;
        let view = match args.dtype(vm)? {
            Some(dtype) => array.view_dtype(dtype).or_raise(vm)?,
            None => array,
        };
        Ok(if array_of(object).is_some() {
            crate::convert::wrap_view(view, object, vm)
        } else {
            unwrap(view, vm)
        })
    }),
];
