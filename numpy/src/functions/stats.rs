//! Medians and quantiles.

use ruaflow_array::stats::{self, QuantileMethod, Quantiles};
use ruaflow_array::{Array, Operand, Result as ArrayResult};
use rustpython_vm::{PyResult, VirtualMachine};

use crate::error::OrRaise as _;
use crate::signature::{Args, Entry};

pub(crate) const MEDIANS: &[Entry] = &[
    ("median(a, axis=None, out=None, overwrite_input=False, keepdims=False)", |args, vm| {
        median(stats::median, args, vm)
    }),
    ("nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False)", |args, vm| {
        median(stats::nanmedian, args, vm)
    }),
];

/// Functions by the unit of `q`, and whether they skip NaN.
macro_rules! quantiles {
    ($($name:literal: $unit:ident, $skip_nan:literal;)*) => {
        &[$((
            concat!(
                $name,
                "(a, q, axis=None, out=None, overwrite_input=False, method='linear', \
                 keepdims=False, *, weights=None)"
            ),
            |args, vm| quantile(Quantiles::$unit, $skip_nan, args, vm),
        )),*]
    };
}

pub(crate) const QUANTILES: &[Entry] = quantiles! {
    "quantile": fractions, false;
    "percentile": percents, false;
    "nanquantile": fractions, true;
    "nanpercentile": percents, true;
};

fn median(
    of: fn(&Array, Option<&[i64]>, bool) -> ArrayResult<Array>,
    args: &Args,
    vm: &VirtualMachine,
) -> PyResult {
    let axes = args.axes("axis", vm)?;
    let result = of(&args.array(0, vm)?, axes.as_deref(), args.flag("keepdims", false, vm)?);
    args.finish(result.or_raise(vm)?, vm)
}

fn quantile(
    unit: fn(&Operand, QuantileMethod) -> ArrayResult<Quantiles>,
    skip_nan: bool,
    args: &Args,
    vm: &VirtualMachine,
) -> PyResult {
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
    let quantiles = unit(&q, method).or_raise(vm)?;
    args.finish(quantiles.of(&array, axes.as_deref(), keepdims, skip_nan).or_raise(vm)?, vm)
}
