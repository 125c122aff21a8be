//! Medians, quantiles, histograms and other statistics.

use ruaflow_array::stats::{self, QuantileMethod};
use ruaflow_array::{Array, Operand, Result as ArrayResult};
use rustpython_vm::{PyResult, VirtualMachine};

use crate::error::OrRaise as _;
use crate::signature::{Args, Entry};

type Quantile = fn(&Array, &Operand, Option<&[i64]>, QuantileMethod, bool) -> ArrayResult<Array>;

pub(crate) const STATS: &[Entry] = &[
    ("median(a, axis=None, out=None, overwrite_input=False, keepdims=False)", |args, vm| {
        median(stats::median, args, vm)
    }),
    ("nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False)", |args, vm| {
        median(stats::nanmedian, args, vm)
    }),
    (
        "quantile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None)",
        |args, vm| quantile(stats::quantile, args, vm),
    ),
    (
        "percentile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None)",
        |args, vm| quantile(stats::percentile, args, vm),
    ),
    (
        "nanquantile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None)",
        |args, vm| quantile(stats::nanquantile, args, vm),
    ),
    (
        "nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, weights=None)",
        |args, vm| quantile(stats::nanpercentile, args, vm),
    ),
];

fn median(
    of: fn(&Array, Option<&[i64]>, bool) -> ArrayResult<Array>,
    args: &Args,
    vm: &VirtualMachine,
) -> PyResult {
    let axes = args.axes("axis", vm)?;
    let result = of(&args.array(0, vm)?, axes.as_deref(), args.flag("keepdims", false, vm)?);
    args.finish(result.or_raise(vm)?, vm)
}

fn quantile(of: Quantile, args: &Args, vm: &VirtualMachine) -> PyResult {
    if args.get("weights", vm).is_some() {
        return Err(vm.new_not_implemented_error(format!(
            "RuaFlow's numpy has no {} with weights; nearest: repeat, then {}",
            args.name(),
            args.name()
        )));
    }
    let method = args.text("method", vm)?;
    let method = QuantileMethod::from_name(method.as_deref().unwrap_or("linear")).or_raise(vm)?;
    let axes = args.axes("axis", vm)?;
    let keepdims = args.flag("keepdims", false, vm)?;
    let (array, q) = (args.array(0, vm)?, args.operand(1, vm)?);
    args.finish(of(&array, &q, axes.as_deref(), method, keepdims).or_raise(vm)?, vm)
}
