//! Sorting, searching and sets.

use ruaflow_array::sort::{self, Side};
use ruaflow_array::{Array, Result as ArrayResult};
use rustpython_vm::{AsObject as _, PyResult, VirtualMachine};

use crate::convert::{to_array, to_arrays, to_signed_shape, unwrap, wrap};
use crate::error::OrRaise as _;
use crate::signature::{Args, Entry};

pub(crate) const SORT: &[Entry] = &[
    ("sort(a, axis=-1, kind=None, order=None, *, stable=None)", |args, vm| {
        let array = at_least_1d(args, vm)?;
        Ok(wrap(sort::sort(&array, args.axis_or("axis", -1, vm)?).or_raise(vm)?, vm))
    }),
    ("argsort(a, axis=-1, kind=None, order=None, *, stable=None)", |args, vm| {
        let indices = sort::argsort(&args.array(0, vm)?, args.axis_or("axis", -1, vm)?);
        Ok(wrap(indices.or_raise(vm)?, vm))
    }),
    ("partition(a, kth, axis=-1, kind='introselect', order=None)", |args, vm| {
        let kth = to_signed_shape(args.required(1, vm)?, vm)?;
        let axis = args.axis_or("axis", -1, vm)?;
        Ok(wrap(sort::partition(&args.array(0, vm)?, &kth, axis).or_raise(vm)?, vm))
    }),
    ("argpartition(a, kth, axis=-1, kind='introselect', order=None)", |args, vm| {
        let kth = to_signed_shape(args.required(1, vm)?, vm)?;
        let axis = args.axis_or("axis", -1, vm)?;
        Ok(wrap(sort::argpartition(&args.array(0, vm)?, &kth, axis).or_raise(vm)?, vm))
    }),
    ("lexsort(keys, axis=-1)", |args, vm| {
        Ok(wrap(sort::lexsort(&to_arrays(args.required(0, vm)?, vm)?).or_raise(vm)?, vm))
    }),
    ("searchsorted(a, v, side='left', sorter=None)", |args, vm| {
        let side = args.text("side", vm)?;
        let side = Side::from_name(side.as_deref().unwrap_or("left")).or_raise(vm)?;
        let sorter = args.array_of("sorter", vm)?;
        let places =
            sort::searchsorted(&args.array(0, vm)?, &args.array(1, vm)?, side, sorter.as_ref());
        Ok(unwrap(places.or_raise(vm)?, vm))
    }),
    ("digitize(x, bins, right=False)", |args, vm| {
        let right = args.flag("right", false, vm)?;
        let places = sort::digitize(&args.array(0, vm)?, &args.array(1, vm)?, right);
        Ok(unwrap(places.or_raise(vm)?, vm))
    }),
];

pub(crate) const SETS: &[Entry] = &[
    (
        "unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True)",
        unique,
    ),
    ("unique_values(x, /)", |args, vm| {
        Ok(wrap(sort::unique_values(&args.array(0, vm)?).or_raise(vm)?, vm))
    }),
    (
        "isin(element, test_elements, assume_unique=False, invert=False, *, kind=None)",
        |args, vm| {
            let test = sort::isin(
                &args.array(0, vm)?,
                &args.array(1, vm)?,
                args.flag("invert", false, vm)?,
            );
            Ok(unwrap(test.or_raise(vm)?, vm))
        },
    ),
    ("intersect1d(ar1, ar2, assume_unique=False, return_indices=False)", |args, vm| {
        let (values, first, second) =
            sort::intersect1d(&args.array(0, vm)?, &args.array(1, vm)?).or_raise(vm)?;
        if !args.flag("return_indices", false, vm)? {
            return Ok(wrap(values, vm));
        }
        let all = [values, first, second].map(|array| wrap(array, vm));
        Ok(vm.ctx.new_tuple(all.to_vec()).into())
    }),
    ("union1d(ar1, ar2)", |args, vm| set(sort::union1d, args, vm)),
    ("setdiff1d(ar1, ar2, assume_unique=False)", |args, vm| set(sort::setdiff1d, args, vm)),
    ("setxor1d(ar1, ar2, assume_unique=False)", |args, vm| set(sort::setxor1d, args, vm)),
];

fn at_least_1d(args: &Args, vm: &VirtualMachine) -> PyResult<Array> {
    let array = to_array(args.required(0, vm)?.as_object(), vm)?;
    if array.ndim() > 0 {
        return Ok(array);
    }
    Err(vm.new_exception_msg(
        crate::classes::classes().axis_error.clone(),
        "axis -1 is out of bounds for array of dimension 0".into(),
    ))
}

fn set(
    operation: fn(&Array, &Array) -> ArrayResult<Array>,
    args: &Args,
    vm: &VirtualMachine,
) -> PyResult {
    Ok(wrap(operation(&args.array(0, vm)?, &args.array(1, vm)?).or_raise(vm)?, vm))
}

fn unique(args: &Args, vm: &VirtualMachine) -> PyResult {
    let (array, axis) = (args.array(0, vm)?, args.axis("axis", vm)?);
    let flag = |name| args.flag(name, false, vm);
    let wanted = [flag("return_index")?, flag("return_inverse")?, flag("return_counts")?];
    if axis.is_none() && wanted == [false; 3] {
        return Ok(wrap(sort::unique_values(&array).or_raise(vm)?, vm));
    }
    let found = sort::unique(&array, axis).or_raise(vm)?;
    let extras = [found.index, found.inverse, found.counts].into_iter().zip(wanted);
    let mut results = vec![wrap(found.values, vm)];
    results.extend(extras.filter(|(_, wanted)| *wanted).map(|(array, _)| wrap(array, vm)));
    Ok(match results.len() {
        1 => results.swap_remove(0),
        _ => vm.ctx.new_tuple(results).into(),
    })
}
