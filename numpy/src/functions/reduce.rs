//! Sums, means, extrema: what takes dimensions away.

use ruaflow_array::reduce::{self, Options, Reduction};
use ruaflow_array::{Array, Result as ArrayResult, Scalar, Weak};
use rustpython_vm::{PyResult, VirtualMachine};

use crate::convert::{array_of, unwrap, weak_of};
use crate::error::OrRaise as _;
use crate::signature::{Args, Entry};

macro_rules! reductions {
    ($($op:ident: $($signature:literal),+;)*) => {
        &[$($(($signature, |args, vm| reduction(Reduction::$op, args, vm))),+),*]
    };
}

pub(crate) const REDUCTIONS: &[Entry] = reductions! {
    Sum: "sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True)";
    Prod: "prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True)";
    Mean: "mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True)";
    Std: "std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None)";
    Var: "var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None)";
    Min: "min(a, axis=None, out=None, keepdims=False, initial=None, where=True)",
         "amin(a, axis=None, out=None, keepdims=False, initial=None, where=True)";
    Max: "max(a, axis=None, out=None, keepdims=False, initial=None, where=True)",
         "amax(a, axis=None, out=None, keepdims=False, initial=None, where=True)";
    Ptp: "ptp(a, axis=None, out=None, keepdims=False)";
    Any: "any(a, axis=None, out=None, keepdims=False, *, where=True)";
    All: "all(a, axis=None, out=None, keepdims=False, *, where=True)";
    NanSum: "nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True)";
    NanProd: "nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True)";
    NanMean: "nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True)";
    NanStd: "nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None)";
    NanVar: "nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None)";
    NanMin: "nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True)";
    NanMax: "nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True)";
    CountNonzero: "count_nonzero(a, axis=None, *, keepdims=False)";
};

macro_rules! along_axis {
    ($($signature:literal: $function:ident;)*) => {
        &[$(($signature, |args, vm| {
            let result = reduce::$function(&args.array(0, vm)?, args.axis("axis", vm)?, args.flag("keepdims", false, vm)?);
            args.finish(result.or_raise(vm)?, vm)
        })),*]
    };
}

pub(crate) const EXTREMA: &[Entry] = along_axis! {
    "argmin(a, axis=None, out=None, *, keepdims=False)": argmin;
    "argmax(a, axis=None, out=None, *, keepdims=False)": argmax;
    "nanargmin(a, axis=None, out=None, *, keepdims=False)": nanargmin;
    "nanargmax(a, axis=None, out=None, *, keepdims=False)": nanargmax;
};

macro_rules! cumulative {
    ($($signature:literal: $function:ident;)*) => {
        &[$(($signature, |args, vm| {
            let result = reduce::$function(&args.array(0, vm)?, args.axis("axis", vm)?, args.dtype(vm)?);
            args.finish(result.or_raise(vm)?, vm)
        })),*]
    };
}

pub(crate) const CUMULATIVE: &[Entry] = cumulative! {
    "cumsum(a, axis=None, dtype=None, out=None)": cumsum;
    "cumprod(a, axis=None, dtype=None, out=None)": cumprod;
    "nancumsum(a, axis=None, dtype=None, out=None)": nancumsum;
    "nancumprod(a, axis=None, dtype=None, out=None)": nancumprod;
};

/// What to begin with; an extreme begins with a value of the array's type.
fn initial(
    op: Reduction,
    array: &Array,
    args: &Args,
    vm: &VirtualMachine,
) -> PyResult<Option<Scalar>> {
    let weak = args.get("initial", vm).and_then(|object| weak_of(object, vm));
    match (op, weak) {
        (Reduction::Min | Reduction::Max, Some(weak @ Weak::Int(_))) => {
            weak.to_scalar(array.dtype()).or_raise(vm).map(Some)
        }
        _ => args.scalar("initial", vm),
    }
}

/// Any of the reductions with the keywords that its signature has.
pub(crate) fn reduction(op: Reduction, args: &Args, vm: &VirtualMachine) -> PyResult {
    let array = args.array(0, vm)?;
    let axes = args.axes("axis", vm)?.filter(|axes| {
        // numpy takes the axis of an array that has none.
        array.ndim() > 0 || !matches!(axes[..], [0 | -1])
    });
    let mask = args.mask(vm)?;
    let out = args.out(vm)?;
    let out_array = out.as_ref().and_then(|object| array_of(object));
    let ddof = if args.get("correction", vm).is_some() { "correction" } else { "ddof" };
    let options = Options {
        keepdims: args.flag("keepdims", false, vm)?,
        dtype: args.dtype(vm)?,
        ddof: args.float(ddof, 0.0, vm)?,
        initial: initial(op, &array, args, vm)?,
        mask: mask.as_ref(),
        out: out_array.as_ref(),
    };
    let result: ArrayResult<Array> = reduce::reduce(op, &array, axes.as_deref(), &options);
    let result = result.or_raise(vm)?;
    Ok(out.unwrap_or_else(|| unwrap(result, vm)))
}
