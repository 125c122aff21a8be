//! Methods of arrays, which numpy's scalars have too.

use rustpython_vm::builtins::PyTuple;
use rustpython_vm::{AsObject as _, PyObjectRef, PyResult, VirtualMachine};

use crate::convert::{array_of, python_number, to_index, wrap};
use crate::dtype::dtype_of;
use crate::error::OrRaise as _;
use crate::index::{assigned, parse};
use crate::ndarray::tolist;
use crate::signature::{Args, Entry};

/// Functions whose first argument is the array of the method of this name.
pub(crate) const LIKE_FUNCTIONS: &[&str] = &[
    "all",
    "any",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "clip",
    "compress",
    "cumprod",
    "cumsum",
    "diagonal",
    "dot",
    "max",
    "mean",
    "min",
    "nonzero",
    "prod",
    "ravel",
    "repeat",
    "round",
    "searchsorted",
    "squeeze",
    "std",
    "sum",
    "swapaxes",
    "take",
    "trace",
    "var",
];

/// Methods that differ from the function of their name, or have none.
pub(crate) const OWN: &[Entry] = &[
    ("astype(dtype, order='K', casting='unsafe', subok=True, copy=True)", astype),
    ("copy(order='C')", |args, vm| {
        let array = args.array(0, vm)?;
        let copied = match args.text("order", vm)?.as_deref() {
            Some("K" | "A") => array.copy_keeping_order(),
            Some("F") => array
                .transpose(None)
                .and_then(|array| array.copy())
                .and_then(|array| array.transpose(None)),
            _ => array.copy(),
        };
        Ok(wrap(copied.or_raise(vm)?, vm))
    }),
    ("tolist()", |args, vm| Ok(tolist(&args.array(0, vm)?, vm))),
    ("item(*args)", item),
    ("itemset(*args)", |_, vm| {
        Err(vm.new_attribute_error(
            "`itemset` was removed from the ndarray class in NumPy 2.0. Use `arr[index] = value` instead.",
        ))
    }),
    ("fill(value)", |args, vm| {
        let array = args.array(0, vm)?;
        let value = assigned(array.dtype(), args.required(1, vm)?, vm)?;
        if !value.shape().is_empty() {
            return Err(vm.new_value_error("setting an array element with a sequence."));
        }
        array.assign(&[ruaflow_array::index::Index::Ellipsis], &value).or_raise(vm)?;
        Ok(vm.ctx.none())
    }),
    ("sort(axis=-1, kind=None, order=None, *, stable=None)", |args, vm| {
        ruaflow_array::sort::sort_in_place(&args.array(0, vm)?, args.int("axis", -1, vm)?)
            .or_raise(vm)?;
        Ok(vm.ctx.none())
    }),
    ("partition(kth, axis=-1, kind='introselect', order=None)", |args, vm| {
        let kth = crate::convert::to_signed_shape(args.required(1, vm)?, vm)?;
        let array = args.array(0, vm)?;
        ruaflow_array::sort::partition_in_place(&array, &kth, args.int("axis", -1, vm)?)
            .or_raise(vm)?;
        Ok(vm.ctx.none())
    }),
    ("put(indices, values, mode='raise')", |args, vm| {
        let put = vm.import("numpy", 0)?.get_attr("put", vm)?;
        let mode: PyObjectRef =
            vm.ctx.new_str(args.text("mode", vm)?.unwrap_or_else(|| "raise".to_owned())).into();
        put.call(
            (
                args.required(0, vm)?.clone(),
                args.required(1, vm)?.clone(),
                args.required(2, vm)?.clone(),
                mode,
            ),
            vm,
        )
    }),
    ("tobytes(order='C')", |args, vm| {
        let array = args.array(0, vm)?.contiguous().or_raise(vm)?;
        let bytes = array.size() * array.dtype().itemsize();
        let start = array.offset() * array.dtype().itemsize();
        // SAFETY: a contiguous array lies inside its buffer from its offset on, and no
        // Python code runs meanwhile that could write it.
        let bytes =
            unsafe { std::slice::from_raw_parts(array.buffer().as_ptr().add(start), bytes) };
        Ok(vm.ctx.new_bytes(bytes.to_vec()).into())
    }),
    ("resize(*new_shape, refcheck=True)", |_, vm| {
        Err(vm.new_not_implemented_error(
            "RuaFlow's numpy resizes no array in place; nearest: numpy.resize, which gives a new one",
        ))
    }),
    ("setflags(write=None, align=None, uic=None)", |args, vm| {
        if args.get("write", vm).is_some() {
            let write: PyObjectRef = vm.ctx.new_bool(args.flag("write", true, vm)?).into();
            let flags = args.required(0, vm)?.get_attr("flags", vm)?;
            flags.set_attr("writeable", write, vm)?;
        }
        Ok(vm.ctx.none())
    }),
    ("choose(choices, out=None, mode='raise')", |args, vm| {
        let choose = vm.import("numpy", 0)?.get_attr("choose", vm)?;
        choose.call((args.required(0, vm)?.clone(), args.required(1, vm)?.clone()), vm)
    }),
    ("conj()", |args, vm| args.required(0, vm).cloned()),
    ("conjugate()", |args, vm| args.required(0, vm).cloned()),
    ("ptp(*args)", |_, vm| {
        Err(vm.new_attribute_error(
            "`ptp` was removed from the ndarray class in NumPy 2.0. Use np.ptp(arr, ...) instead.",
        ))
    }),
];

fn astype(args: &Args, vm: &VirtualMachine) -> PyResult {
    let array = args.array(0, vm)?;
    let dtype = dtype_of(args.required(1, vm)?, vm)?;
    let casting = args.text("casting", vm)?;
    let allowed = match casting.as_deref() {
        Some("no" | "equiv") => array.dtype() == dtype,
        Some("safe") => ruaflow_array::can_cast_safely(array.dtype(), dtype),
        Some("same_kind") => ruaflow_array::can_cast_same_kind(array.dtype(), dtype),
        _ => true,
    };
    if !allowed {
        return Err(vm.new_type_error(format!(
            "Cannot cast array data from dtype('{}') to dtype('{dtype}') according to the rule '{}'",
            array.dtype(),
            casting.unwrap_or_default()
        )));
    }
    let object = args.required(0, vm)?;
    if array.dtype() == dtype && !args.flag("copy", true, vm)? && array_of(object).is_some() {
        return Ok(object.clone());
    }
    let made = array.astype(dtype).or_raise(vm)?;
    let is_array = array_of(object).is_some();
    Ok(if is_array { wrap(made, vm) } else { crate::convert::unwrap(made, vm) })
}

fn item(args: &Args, vm: &VirtualMachine) -> PyResult {
    let array = args.array(0, vm)?;
    let value = match args.rest.as_slice() {
        [] => array.item().or_raise(vm)?,
        [one] if one.downcast_ref::<PyTuple>().is_none() => {
            let at = to_index(one, vm)?;
            let size = array.size();
            let from_end = if at < 0 { at + size as i64 } else { at };
            match usize::try_from(from_end) {
                Ok(inside) if inside < size => array.flat(inside),
                _ => {
                    return Err(
                        vm.new_index_error(format!("index {at} is out of bounds for size {size}"))
                    );
                }
            }
        }
        many => {
            let key: PyObjectRef = match many {
                [tuple] => tuple.clone(),
                many => vm.ctx.new_tuple(many.to_vec()).into(),
            };
            array.index(&parse(key.as_object(), vm)?).or_raise(vm)?.item().or_raise(vm)?
        }
    };
    Ok(python_number(value, vm))
}
