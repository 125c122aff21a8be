//! Functions of samples: weighted means, histograms, differences, interpolation.

use ruaflow_array::stats::{self, Bins, Overlap, Range};
use ruaflow_array::warn::{Warning, warn};
use ruaflow_array::{Array, DType, Operand};
use rustpython_vm::builtins::PyStr;
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

use crate::convert::{array_of, to_array, unwrap, wrap, wrap_related};
use crate::error::OrRaise as _;
use crate::operators::to_operand;
use crate::signature::{Args, Entry};

pub(crate) const SAMPLES: &[Entry] = &[
    ("average(a, axis=None, weights=None, returned=False, *, keepdims=False)", average),
    ("histogram(a, bins=10, range=None, density=None, weights=None)", |args, vm| {
        let (array, weights) = (args.array(0, vm)?, args.array_of("weights", vm)?);
        let bins = bins(args.get("bins", vm), vm)?;
        let range = range(args.get("range", vm), vm)?;
        let density = args.flag("density", false, vm)?;
        let (counts, edges) =
            stats::histogram(&array, &bins, range.as_ref(), density, weights.as_ref())
                .or_raise(vm)?;
        Ok(tuple([counts, edges], vm))
    }),
    ("histogram_bin_edges(a, bins=10, range=None, weights=None)", |args, vm| {
        let bins = bins(args.get("bins", vm), vm)?;
        let range = range(args.get("range", vm), vm)?;
        let edges = stats::histogram_bin_edges(&args.array(0, vm)?, &bins, range.as_ref());
        Ok(wrap(edges.or_raise(vm)?, vm))
    }),
    ("histogram2d(x, y, bins=10, range=None, density=None, weights=None)", histogram2d),
    ("bincount(x, /, weights=None, minlength=0)", bincount),
    ("diff(a, n=1, axis=-1, prepend=None, append=None)", |args, vm| {
        let (prepend, append) = (args.array_of("prepend", vm)?, args.array_of("append", vm)?);
        let (n, axis) = (args.int("n", 1, vm)?, args.int("axis", -1, vm)?);
        let steps = stats::diff(&args.array(0, vm)?, n, axis, prepend.as_ref(), append.as_ref());
        Ok(wrap_related(steps.or_raise(vm)?, args.required(0, vm)?, vm))
    }),
    ("ediff1d(ary, to_end=None, to_begin=None)", |args, vm| {
        let (begin, end) = (args.array_of("to_begin", vm)?, args.array_of("to_end", vm)?);
        let steps = stats::ediff1d(&args.array(0, vm)?, begin.as_ref(), end.as_ref());
        Ok(wrap(steps.or_raise(vm)?, vm))
    }),
    ("trapezoid(y, x=None, dx=1.0, axis=-1)", |args, vm| {
        let x = args.array_of("x", vm)?;
        let dx = args.operand_of("dx", vm)?.unwrap_or_else(|| Operand::from(1.0));
        let axis = args.int("axis", -1, vm)?;
        let area = stats::trapezoid(&args.array(0, vm)?, x.as_ref(), &dx, axis);
        Ok(unwrap(area.or_raise(vm)?, vm))
    }),
    ("interp(x, xp, fp, left=None, right=None, period=None)", |args, vm| {
        let [x, xp, fp] = [args.array(0, vm)?, args.array(1, vm)?, args.array(2, vm)?];
        let limit = |name| args.float_of(name, vm);
        let (left, right, period) = (limit("left")?, limit("right")?, limit("period")?);
        let values = stats::interp(&x, &xp, &fp, left, right, period);
        Ok(unwrap(values.or_raise(vm)?, vm))
    }),
    ("convolve(a, v, mode='full')", |args, vm| {
        let overlap = overlap(args, Overlap::Full, vm)?;
        let product = stats::convolve(&args.array(0, vm)?, &args.array(1, vm)?, overlap);
        Ok(wrap(product.or_raise(vm)?, vm))
    }),
    ("correlate(a, v, mode='valid')", |args, vm| {
        let overlap = overlap(args, Overlap::Valid, vm)?;
        let product = stats::correlate(&args.array(0, vm)?, &args.array(1, vm)?, overlap);
        Ok(wrap(product.or_raise(vm)?, vm))
    }),
];

fn average(args: &Args, vm: &VirtualMachine) -> PyResult {
    let (axes, weights) = (args.axes("axis", vm)?, args.array_of("weights", vm)?);
    let keepdims = args.flag("keepdims", false, vm)?;
    let (mean, sum) =
        stats::average(&args.array(0, vm)?, axes.as_deref(), weights.as_ref(), keepdims)
            .or_raise(vm)?;
    if args.flag("returned", false, vm)? {
        return Ok(vm.ctx.new_tuple(vec![unwrap(mean, vm), unwrap(sum, vm)]).into());
    }
    Ok(unwrap(mean, vm))
}

fn bincount(args: &Args, vm: &VirtualMachine) -> PyResult {
    let mut array = args.array(0, vm)?;
    // A list of floats is still taken, an array is not.
    if array.dtype().is_float() && array_of(args.required(0, vm)?).is_none() {
        if !array.is_empty() {
            let text = "Non-integer input passed to bincount. In a future version of NumPy, this \
                        will be an error. (Deprecated NumPy 2.1)";
            warn(Warning::Deprecation, text).or_raise(vm)?;
        }
        array = array.cast(DType::I64).or_raise(vm)?;
    }
    let weights = args.array_of("weights", vm)?;
    let counts = stats::bincount(&array, weights.as_ref(), args.int("minlength", 0, vm)?);
    Ok(wrap(counts.or_raise(vm)?, vm))
}

fn histogram2d(args: &Args, vm: &VirtualMachine) -> PyResult {
    let (x, y) = (args.array(0, vm)?, args.array(1, vm)?);
    let weights = args.array_of("weights", vm)?;
    // Two of anything are one for each dimension, else both have the same.
    let bins = match args.get("bins", vm) {
        Some(object) if to_array(object, vm).is_ok_and(|bins| bins.ndim() == 0) => {
            let both = bins(Some(object), vm)?;
            [both.clone(), both]
        }
        Some(object) => match &elements(object, vm)?[..] {
            [x, y] => [bins(Some(x), vm)?, bins(Some(y), vm)?],
            _ => [bins(Some(object), vm)?, bins(Some(object), vm)?],
        },
        None => [bins(None, vm)?, bins(None, vm)?],
    };
    let ranges = match args.get("range", vm) {
        None => [None, None],
        Some(object) => match &elements(object, vm)?[..] {
            [x, y] => {
                let of = |object: &PyObjectRef| match vm.is_none(object) {
                    true => Ok(None),
                    false => range(Some(object), vm),
                };
                [of(x)?, of(y)?]
            }
            _ => return Err(vm.new_value_error("range argument must have one entry per dimension")),
        },
    };
    let (counts, x_edges, y_edges) = stats::histogram2d(
        &x,
        &y,
        bins.each_ref(),
        ranges.each_ref().map(Option::as_ref),
        args.flag("density", false, vm)?,
        weights.as_ref(),
    )
    .or_raise(vm)?;
    Ok(tuple([counts, x_edges, y_edges], vm))
}

/// A number of bins, ten unless given, or their edges.
fn bins(object: Option<&PyObjectRef>, vm: &VirtualMachine) -> PyResult<Bins> {
    let Some(object) = object else { return Ok(Bins::Count(10)) };
    if let Some(name) = object.downcast_ref::<PyStr>() {
        return Err(vm.new_not_implemented_error(format!(
            "RuaFlow's numpy chooses no bins by {name:?}; nearest: a number of bins, or edges",
            name = name.to_string_lossy()
        )));
    }
    let array = to_array(object, vm)?;
    match array.ndim() {
        0 if array.dtype().is_float() => {
            Err(vm.new_type_error("`bins` must be an integer, a string, or an array"))
        }
        0 => Ok(Bins::Count(array.item().or_raise(vm)?.to_i64())),
        _ => Ok(Bins::Edges(array)),
    }
}

fn range(object: Option<&PyObjectRef>, vm: &VirtualMachine) -> PyResult<Option<Range>> {
    let Some(object) = object else { return Ok(None) };
    match &elements(object, vm)?[..] {
        [first, last] => Ok(Some((to_operand(first, vm)?, to_operand(last, vm)?))),
        other => Err(vm.new_value_error(format!(
            "range must hold the first and the last edge, and it holds {}",
            other.len()
        ))),
    }
}

fn overlap(args: &Args, default: Overlap, vm: &VirtualMachine) -> PyResult<Overlap> {
    args.text("mode", vm)?.map_or(Ok(default), |mode| Overlap::from_name(&mode).or_raise(vm))
}

/// What an iterable yields.
fn elements(object: &PyObjectRef, vm: &VirtualMachine) -> PyResult<Vec<PyObjectRef>> {
    object.clone().get_iter(vm)?.iter::<PyObjectRef>(vm)?.collect()
}

fn tuple<const N: usize>(arrays: [Array; N], vm: &VirtualMachine) -> PyObjectRef {
    vm.ctx.new_tuple(arrays.map(|array| wrap(array, vm)).to_vec()).into()
}
