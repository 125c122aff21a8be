//! Elementwise functions that are no ufuncs, and comparisons of whole arrays.

use ruaflow_array::print::{
    self, ElementFormat, FloatMode, Formatter, Layout, Options, Sign, Trim, options, set_options,
};
use ruaflow_array::{DType, Operand, Scalar, ufunc};
use rustpython_vm::builtins::PyDict;
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

use crate::convert::{array_of, scalar, unwrap};
use crate::error::{OrRaise as _, Reaction, Reactions, reactions, set_reactions};
use crate::signature::{Args, Entry};

pub(crate) const MATH: &[Entry] = &[
    ("divmod(x1, x2, /)", crate::ufunc::divmod),
    ("clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None)", clip),
    ("round(a, decimals=0, out=None)", round),
    ("around(a, decimals=0, out=None)", round),
    ("fix(x, out=None)", |args, vm| {
        let result = ufunc::unary(ufunc::Unary::Trunc, &args.operand(0, vm)?, &Default::default());
        args.finish(result.or_raise(vm)?, vm)
    }),
    ("nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None)", nan_to_num),
    ("isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)", |args, vm| {
        let (rtol, atol, equal_nan) = tolerances(args, vm)?;
        let close =
            ufunc::isclose(&args.operand(0, vm)?, &args.operand(1, vm)?, rtol, atol, equal_nan);
        Ok(unwrap(close.or_raise(vm)?, vm))
    }),
    ("allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)", |args, vm| {
        let (rtol, atol, equal_nan) = tolerances(args, vm)?;
        let close =
            ufunc::allclose(&args.operand(0, vm)?, &args.operand(1, vm)?, rtol, atol, equal_nan);
        Ok(vm.ctx.new_bool(close.or_raise(vm)?).into())
    }),
    ("array_equal(a1, a2, equal_nan=False)", |args, vm| {
        let equal_nan = args.flag("equal_nan", false, vm)?;
        let equal = ufunc::array_equal(&args.array(0, vm)?, &args.array(1, vm)?, equal_nan);
        Ok(vm.ctx.new_bool(equal.or_raise(vm)?).into())
    }),
    ("isneginf(x, out=None)", |args, vm| infinite(args, true, vm)),
    ("isposinf(x, out=None)", |args, vm| infinite(args, false, vm)),
    ("angle(z, deg=False)", |args, vm| {
        let negative = ufunc::binary(
            ufunc::Binary::Arctan2,
            &Operand::from(0.0),
            &args.operand(0, vm)?,
            &Default::default(),
        );
        let angle = negative.or_raise(vm)?;
        if args.flag("deg", false, vm)? {
            let degrees = ufunc::unary(ufunc::Unary::Rad2deg, &angle.into(), &Default::default());
            return Ok(unwrap(degrees.or_raise(vm)?, vm));
        }
        Ok(unwrap(angle, vm))
    }),
    ("shares_memory(a, b, /, max_work=None)", shares_memory),
    ("may_share_memory(a, b, /, max_work=None)", shares_memory),
];

pub(crate) const PRINT: &[Entry] = &[
    (
        "set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, suppress=None, nanstr=None, infstr=None, formatter=None, sign=None, floatmode=None, *, legacy=None, override_repr=None)",
        |args, vm| {
            let mut changed = with_arguments(options(), args, vm)?;
            if args.get("formatter", vm).is_none() {
                changed.formatter = Formatter::default();
            }
            set_options(changed);
            Ok(vm.ctx.none())
        },
    ),
    ("get_printoptions()", get_printoptions),
    (
        "array2string(a, max_line_width=None, precision=None, suppress_small=None, separator=' ', prefix='', *, formatter=None, threshold=None, edgeitems=None, sign=None, floatmode=None, suffix='', legacy=None)",
        |args, vm| {
            let options = with_arguments(options(), args, vm)?;
            let text = |name, default: &str| {
                Ok(args.text(name, vm)?.unwrap_or_else(|| default.to_owned()))
            };
            let (separator, prefix, suffix) =
                (text("separator", " ")?, text("prefix", "")?, text("suffix", "")?);
            let array = args.array(0, vm)?;
            let text = print::array2string(&array, &options, &separator, &prefix, &suffix);
            Ok(vm.ctx.new_str(text.or_raise(vm)?).into())
        },
    ),
    ("array_str(a, max_line_width=None, precision=None, suppress_small=None)", |args, vm| {
        let options = with_arguments(options(), args, vm)?;
        Ok(vm.ctx.new_str(print::array_str(&args.array(0, vm)?, &options).or_raise(vm)?).into())
    }),
    ("array_repr(arr, max_line_width=None, precision=None, suppress_small=None)", |args, vm| {
        let options = with_arguments(options(), args, vm)?;
        Ok(vm.ctx.new_str(print::array_repr(&args.array(0, vm)?, &options).or_raise(vm)?).into())
    }),
    (
        "format_float_positional(x, precision=None, unique=True, fractional=True, trim='k', sign=False, pad_left=None, pad_right=None, min_digits=None)",
        |args, vm| format_float(args, Layout::positional, vm),
    ),
    (
        "format_float_scientific(x, precision=None, unique=True, trim='k', sign=False, pad_left=None, exp_digits=None, min_digits=None)",
        |args, vm| format_float(args, Layout::scientific, vm),
    ),
];

pub(crate) const STATE: &[Entry] = &[
    ("seterr(all=None, divide=None, over=None, under=None, invalid=None)", |args, vm| {
        let before = reactions_dict(vm)?;
        let old = reactions();
        let all = reaction(args, "all", vm)?;
        let one = |name, old| Ok(reaction(args, name, vm)?.or(all).unwrap_or(old));
        set_reactions(Reactions {
            divide: one("divide", old.divide)?,
            over: one("over", old.over)?,
            under: one("under", old.under)?,
            invalid: one("invalid", old.invalid)?,
        });
        Ok(before)
    }),
    ("geterr()", |_, vm| reactions_dict(vm)),
];

fn tolerances(args: &Args, vm: &VirtualMachine) -> PyResult<(f64, f64, bool)> {
    Ok((
        args.float("rtol", 1e-5, vm)?,
        args.float("atol", 1e-8, vm)?,
        args.flag("equal_nan", false, vm)?,
    ))
}

fn clip(args: &Args, vm: &VirtualMachine) -> PyResult {
    let bound = |name, other| match args.operand_of(name, vm)? {
        Some(bound) => Ok(Some(bound)),
        None => args.operand_of(other, vm),
    };
    let (low, high): (Option<Operand>, Option<Operand>) =
        (bound("a_min", "min")?, bound("a_max", "max")?);
    let out = args.out(vm)?;
    let out_array = out.as_ref().and_then(|object| array_of(object));
    let options = ufunc::Options { out: out_array.as_ref(), ..Default::default() };
    let result = ufunc::clip(&args.operand(0, vm)?, low.as_ref(), high.as_ref(), &options);
    let result = result.or_raise(vm)?;
    Ok(out.unwrap_or_else(|| unwrap(result, vm)))
}

fn round(args: &Args, vm: &VirtualMachine) -> PyResult {
    let out = args.out(vm)?;
    let out_array = out.as_ref().and_then(|object| array_of(object));
    let decimals = args.int("decimals", 0, vm)? as i32;
    if decimals != 0 && args.array(0, vm)?.dtype() == DType::Bool {
        return Err(vm.new_type_error(
            "Cannot cast ufunc 'multiply' output from dtype('float64') to dtype('bool') with casting rule 'same_kind'",
        ));
    }
    let result = ufunc::round(&args.operand(0, vm)?, decimals, out_array.as_ref()).or_raise(vm)?;
    Ok(out.unwrap_or_else(|| unwrap(result, vm)))
}

fn nan_to_num(args: &Args, vm: &VirtualMachine) -> PyResult {
    let array = args.array(0, vm)?;
    let limit = |name| args.get(name, vm).map(|_| args.float(name, 0.0, vm)).transpose();
    let result =
        ufunc::nan_to_num(&array, args.float("nan", 0.0, vm)?, limit("posinf")?, limit("neginf")?);
    let result = result.or_raise(vm)?;
    if !args.flag("copy", true, vm)? && array_of(args.required(0, vm)?).is_some() {
        array.assign(&[ruaflow_array::index::Index::Ellipsis], &result.into()).or_raise(vm)?;
        return Ok(args.required(0, vm)?.clone());
    }
    Ok(unwrap(result, vm))
}

fn infinite(args: &Args, negative: bool, vm: &VirtualMachine) -> PyResult {
    let bound = if negative { f64::NEG_INFINITY } else { f64::INFINITY };
    let equal = ufunc::binary(
        ufunc::Binary::Equal,
        &args.operand(0, vm)?,
        &Operand::from(bound),
        &Default::default(),
    );
    args.finish(equal.or_raise(vm)?, vm)
}

fn shares_memory(args: &Args, vm: &VirtualMachine) -> PyResult {
    let shared = args.array(0, vm)?.may_share_memory(&args.array(1, vm)?);
    Ok(vm.ctx.new_bool(shared).into())
}

/// Print options with what a call changes.
fn with_arguments(mut options: Options, args: &Args, vm: &VirtualMachine) -> PyResult<Options> {
    let count = |name| -> PyResult<Option<usize>> {
        let Some(object) = args.get(name, vm) else { return Ok(None) };
        if name == "threshold"
            && object.try_float(vm).is_ok_and(|float| float.to_f64() == f64::INFINITY)
        {
            return Ok(Some(usize::MAX));
        }
        let value = crate::convert::to_index(object, vm)?;
        usize::try_from(value)
            .map(Some)
            .map_err(|_| vm.new_value_error(format!("{name} must be positive")))
    };
    let set = |slot: &mut usize, name| -> PyResult<()> {
        *slot = count(name)?.unwrap_or(*slot);
        Ok(())
    };
    set(&mut options.precision, "precision")?;
    set(&mut options.threshold, "threshold")?;
    set(&mut options.edgeitems, "edgeitems")?;
    set(&mut options.linewidth, "linewidth")?;
    set(&mut options.linewidth, "max_line_width")?;
    options.suppress = args
        .get("suppress", vm)
        .or_else(|| args.get("suppress_small", vm))
        .map_or(Ok(options.suppress), |flag| flag.clone().try_to_bool(vm))?;
    if let Some(text) = args.text("nanstr", vm)? {
        options.nanstr = text;
    }
    if let Some(text) = args.text("infstr", vm)? {
        options.infstr = text;
    }
    if let Some(name) = args.text("sign", vm)? {
        options.sign = Sign::from_name(&name).or_raise(vm)?;
    }
    if let Some(name) = args.text("floatmode", vm)? {
        options.floatmode = FloatMode::from_name(&name).or_raise(vm)?;
    }
    if let Some(formatter) = args.get("formatter", vm) {
        options.formatter = own_formats(formatter, vm)?;
    }
    Ok(options)
}

/// `formatter={'float': f}`: Python functions that write elements.
fn own_formats(object: &PyObjectRef, vm: &VirtualMachine) -> PyResult<Formatter> {
    let Some(dict) = object.downcast_ref::<PyDict>() else {
        return Err(vm.new_type_error("formatter must be a dict"));
    };
    let find = |names: &[&str]| -> PyResult<Option<ElementFormat>> {
        for name in names {
            if let Some(function) = dict.get_item_opt(*name, vm)? {
                return Ok(Some(own_format(function)));
            }
        }
        Ok(None)
    };
    Ok(Formatter {
        bool: find(&["bool", "all"])?,
        int: find(&["int", "int_kind", "all"])?,
        float: find(&["float", "float_kind", "all"])?,
    })
}

fn own_format(function: PyObjectRef) -> ElementFormat {
    std::rc::Rc::new(move |value: Scalar| {
        rustpython_vm::vm::thread::with_current_vm(|vm| {
            let text = function.call((scalar(value, vm),), vm).and_then(|text| text.str(vm));
            text.map(|text| text.to_string_lossy().into_owned()).map_err(crate::error::pending)
        })
    })
}

fn get_printoptions(_args: &Args, vm: &VirtualMachine) -> PyResult {
    let options = options();
    let dict = vm.ctx.new_dict();
    let threshold: PyObjectRef = if options.threshold == usize::MAX {
        vm.ctx.new_float(f64::INFINITY).into()
    } else {
        vm.ctx.new_int(options.threshold).into()
    };
    let pairs: [(&str, PyObjectRef); 12] = [
        ("precision", vm.ctx.new_int(options.precision).into()),
        ("threshold", threshold),
        ("edgeitems", vm.ctx.new_int(options.edgeitems).into()),
        ("linewidth", vm.ctx.new_int(options.linewidth).into()),
        ("suppress", vm.ctx.new_bool(options.suppress).into()),
        ("nanstr", vm.ctx.new_str(options.nanstr.as_str()).into()),
        ("infstr", vm.ctx.new_str(options.infstr.as_str()).into()),
        ("sign", vm.ctx.new_str(options.sign.name()).into()),
        ("formatter", vm.ctx.none()),
        ("floatmode", vm.ctx.new_str(options.floatmode.name()).into()),
        ("legacy", vm.ctx.new_bool(false).into()),
        ("override_repr", vm.ctx.none()),
    ];
    for (name, value) in pairs {
        dict.set_item(name, value, vm)?;
    }
    Ok(dict.into())
}

fn format_float(
    args: &Args,
    write: fn(&Layout, print::Float) -> String,
    vm: &VirtualMachine,
) -> PyResult {
    let value = args.array(0, vm)?.item().or_raise(vm)?;
    let letter = args.text("trim", vm)?.and_then(|trim| trim.chars().next()).unwrap_or('k');
    let trim = Trim::from_char(letter)
        .ok_or_else(|| vm.new_type_error("if supplied, trim must be 'k', '.', '0' or '-'"))?;
    let mut layout = Layout::unique(trim);
    let count = |name| -> PyResult<Option<usize>> {
        Ok(args
            .get(name, vm)
            .map(|_| args.int(name, 0, vm))
            .transpose()?
            .and_then(|n| usize::try_from(n).ok()))
    };
    layout.precision = count("precision")?;
    layout.min_digits = count("min_digits")?.unwrap_or(0);
    layout.unique = args.flag("unique", true, vm)?;
    layout.sign = args.flag("sign", false, vm)?;
    layout.pad_left = count("pad_left")?.unwrap_or(0);
    layout.pad_right = count("pad_right")?.unwrap_or(0);
    layout.exp_digits = count("exp_digits")?.unwrap_or(2);
    layout.fractional = args.flag("fractional", true, vm)?;
    Ok(vm.ctx.new_str(write(&layout, print::Float::of(value))).into())
}

fn reaction(args: &Args, name: &str, vm: &VirtualMachine) -> PyResult<Option<Reaction>> {
    match args.text(name, vm)?.as_deref() {
        None => Ok(None),
        Some("ignore") => Ok(Some(Reaction::Ignore)),
        Some("warn" | "print" | "log") => Ok(Some(Reaction::Warn)),
        Some("raise" | "call") => Ok(Some(Reaction::Raise)),
        Some(other) => Err(vm.new_value_error(format!("invalid error handling: {other}"))),
    }
}

fn reactions_dict(vm: &VirtualMachine) -> PyResult {
    let now = reactions();
    let dict = vm.ctx.new_dict();
    let kinds = [
        ("divide", now.divide),
        ("over", now.over),
        ("under", now.under),
        ("invalid", now.invalid),
    ];
    for (name, reaction) in kinds {
        let text = match reaction {
            Reaction::Ignore => "ignore",
            Reaction::Warn => "warn",
            Reaction::Raise => "raise",
        };
        dict.set_item(name, vm.ctx.new_str(text).into(), vm)?;
    }
    Ok(dict.into())
}
