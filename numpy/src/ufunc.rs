//! Universal functions: callable, with `reduce`, `accumulate`, `outer` and `at`.

use ruaflow_array::reduce::{self, Reduction};
use ruaflow_array::ufunc::{self, Binary, Options, Unary};
use ruaflow_array::{Array, DType, Operand};
use rustpython_vm::function::FuncArgs;
use rustpython_vm::types::{Callable, Representable};
use rustpython_vm::{Py, PyPayload, PyResult, VirtualMachine, pyclass};

use crate::convert::{array_of, to_array, unwrap};
use crate::error::{OrRaise as _, as_divmod, on_scalars};
use crate::signature::{Args, Signature};

#[derive(Debug, Clone, Copy)]
enum Kind {
    Unary(Unary),
    Binary(Binary),
}

/// `numpy.add` and its kin.
#[pyclass(module = "numpy", name = "ufunc")]
#[derive(Debug, PyPayload)]
pub(crate) struct Ufunc {
    name: &'static str,
    kind: Kind,
    signature: &'static Signature,
}

/// All of them under each of their names.
pub(crate) fn ufuncs() -> impl Iterator<Item = (&'static str, Ufunc)> {
    const ALIASES: &[(&str, &str)] = &[
        ("abs", "absolute"),
        ("true_divide", "divide"),
        ("mod", "remainder"),
        ("bitwise_not", "invert"),
        ("acos", "arccos"),
        ("acosh", "arccosh"),
        ("asin", "arcsin"),
        ("asinh", "arcsinh"),
        ("atan", "arctan"),
        ("atanh", "arctanh"),
        ("atan2", "arctan2"),
        ("pow", "power"),
        ("degrees", "rad2deg"),
        ("radians", "deg2rad"),
        ("conj", "conjugate"),
        ("bitwise_invert", "invert"),
        ("bitwise_left_shift", "left_shift"),
        ("bitwise_right_shift", "right_shift"),
    ];
    let unary = Unary::ALL.iter().map(|&op| (op.name(), Kind::Unary(op)));
    let binary = Binary::ALL.iter().map(|&op| (op.name(), Kind::Binary(op)));
    let made: Vec<_> = unary.chain(binary).collect();
    let by_name = made.clone();
    let aliases = ALIASES.iter().filter_map(move |&(alias, name)| {
        by_name.iter().find(|(known, _)| *known == name).map(|&(name, kind)| (alias, name, kind))
    });
    let own = made.into_iter().map(|(name, kind)| (name, name, kind));
    own.chain(aliases.collect::<Vec<_>>()).map(|(key, name, kind)| (key, Ufunc::new(name, kind)))
}

impl Ufunc {
    fn new(name: &'static str, kind: Kind) -> Self {
        let inputs = match kind {
            Kind::Unary(_) => "x",
            Kind::Binary(_) => "x1, x2",
        };
        let text = format!(
            "{name}({inputs}, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True, signature=None)"
        );
        let signature = Signature::parse(Box::leak(text.into_boxed_str()));
        Self { name, kind, signature: Box::leak(Box::new(signature)) }
    }

    fn binary(&self, what: &str, vm: &VirtualMachine) -> PyResult<Binary> {
        match self.kind {
            Kind::Binary(op) => Ok(op),
            Kind::Unary(_) => {
                Err(vm.new_value_error(format!("{what} only supported for binary functions")))
            }
        }
    }

    /// The type to compute in. Comparisons choose it themselves.
    fn dtype(&self, dtype: Option<DType>, vm: &VirtualMachine) -> PyResult<Option<DType>> {
        let compares = matches!(
            self.kind,
            Kind::Binary(
                Binary::Equal
                    | Binary::NotEqual
                    | Binary::Less
                    | Binary::LessEqual
                    | Binary::Greater
                    | Binary::GreaterEqual
            )
        );
        match dtype {
            Some(DType::Bool) if compares => Ok(None),
            Some(_) if compares => Err(vm.new_type_error(format!(
                "No loop matching the specified signature and casting was found for ufunc {}",
                self.name
            ))),
            dtype => Ok(dtype),
        }
    }

    fn run(&self, args: &Args, vm: &VirtualMachine) -> PyResult {
        let (mask, out) = (args.mask(vm)?, args.out(vm)?);
        let out_array = out.as_ref().and_then(|object| array_of(object));
        let dtype = self.dtype(args.dtype(vm)?, vm)?;
        let options = Options { out: out_array.as_ref(), mask: mask.as_ref(), dtype };
        let first = args.operand(0, vm)?;
        let result = match self.kind {
            Kind::Unary(op) => ufunc::unary(op, &first, &options),
            Kind::Binary(op) => ufunc::binary(op, &first, &args.operand(1, vm)?, &options),
        };
        let result = result.or_raise(vm)?;
        Ok(out.unwrap_or_else(|| unwrap(result, vm)))
    }
}

impl Callable for Ufunc {
    type Args = FuncArgs;

    fn call(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        zelf.run(&zelf.signature.bind(args, vm)?, vm)
    }
}

impl Representable for Ufunc {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        Ok(format!("<ufunc '{}'>", zelf.name))
    }
}

#[pyclass(with(Callable, Representable))]
impl Ufunc {
    #[pygetset]
    fn __name__(zelf: &Py<Self>) -> &'static str {
        zelf.name
    }

    #[pygetset]
    fn nin(zelf: &Py<Self>) -> usize {
        match zelf.kind {
            Kind::Unary(_) => 1,
            Kind::Binary(_) => 2,
        }
    }

    #[pygetset]
    fn nout(_zelf: &Py<Self>) -> usize {
        1
    }

    #[pymethod]
    fn reduce(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let args = bind(
            "reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True)",
            args,
            vm,
        )?;
        let op = zelf.binary("reduce", vm)?;
        let array = args.array(0, vm)?;
        let axes = match args.given("axis") {
            None => Some(vec![0]),
            Some(_) => args.axes("axis", vm)?,
        };
        let built_in = match op {
            Binary::Add => Some(Reduction::Sum),
            Binary::Multiply => Some(Reduction::Prod),
            Binary::Maximum => Some(Reduction::Max),
            Binary::Minimum => Some(Reduction::Min),
            Binary::LogicalAnd => Some(Reduction::All),
            Binary::LogicalOr => Some(Reduction::Any),
            _ => None,
        };
        if let Some(reduction) = built_in {
            let mask = args.mask(vm)?;
            let options = reduce::Options {
                keepdims: args.flag("keepdims", false, vm)?,
                dtype: args.dtype(vm)?,
                initial: args.scalar("initial", vm)?,
                mask: mask.as_ref(),
                ..Default::default()
            };
            let result = reduce::reduce(reduction, &array, axes.as_deref(), &options);
            return args.finish(result.or_raise(vm)?, vm);
        }
        let (array, axis) = match axes.as_deref() {
            None => (array.ravel().or_raise(vm)?, 0),
            Some([axis]) => (array.clone(), array.axis(*axis).or_raise(vm)?),
            Some(_) => {
                return Err(vm.new_not_implemented_error(format!(
                    "RuaFlow's numpy reduces with {} along one axis at a time",
                    zelf.name
                )));
            }
        };
        let mut result =
            fold(op, &array, axis, args.operand_of("initial", vm)?, |_| {}).or_raise(vm)?;
        if args.flag("keepdims", false, vm)? {
            result = result.expand_dims(&[axis as i64]).or_raise(vm)?;
        }
        args.finish(result, vm)
    }

    #[pymethod]
    fn accumulate(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let args = bind("accumulate(array, axis=0, dtype=None, out=None)", args, vm)?;
        let op = zelf.binary("accumulate", vm)?;
        let mut array = args.array(0, vm)?;
        if matches!(op, Binary::LogicalAnd | Binary::LogicalOr | Binary::LogicalXor) {
            array = array.cast(DType::Bool).or_raise(vm)?;
        }
        let axis = args.int("axis", 0, vm)?;
        let result = match op {
            Binary::Add => reduce::cumsum(&array, Some(axis), args.dtype(vm)?).or_raise(vm)?,
            Binary::Multiply => {
                reduce::cumprod(&array, Some(axis), args.dtype(vm)?).or_raise(vm)?
            }
            _ => {
                let at = array.axis(axis).or_raise(vm)?;
                let mut steps = Vec::new();
                fold(op, &array, at, None, |step| steps.push(step.clone())).or_raise(vm)?;
                ruaflow_array::join::stack(&steps, axis, None).or_raise(vm)?
            }
        };
        args.finish(result, vm)
    }

    #[pymethod]
    fn outer(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let args = bind("outer(A, B, /, *, dtype=None)", args, vm)?;
        let op = zelf.binary("outer product", vm)?;
        let (a, b) = (args.array(0, vm)?, args.array(1, vm)?);
        let mut shape: Vec<i64> = a.shape().iter().map(|&length| length as i64).collect();
        shape.extend(std::iter::repeat_n(1, b.ndim()));
        let a = a.reshape(&shape).or_raise(vm)?;
        let options = Options { dtype: args.dtype(vm)?, ..Options::default() };
        Ok(unwrap(ufunc::binary(op, &a.into(), &b.into(), &options).or_raise(vm)?, vm))
    }

    /// Applies the function at places one after the other, so that repeated places add up.
    #[pymethod]
    fn at(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let args = bind("at(a, indices, b=None, /)", args, vm)?;
        let Some(array) = array_of(args.required(0, vm)?) else {
            return Err(vm.new_type_error("first operand must be array"));
        };
        let count = array.size() as i64;
        let shape: Vec<i64> = array.shape().iter().map(|&length| length as i64).collect();
        let numbers =
            Array::vector((0..count).collect::<Vec<i64>>()).reshape(&shape).or_raise(vm)?;
        let key = crate::index::parse(args.required(1, vm)?, vm)?;
        let places = numbers.index(&key).or_raise(vm)?;
        let flat = array.reshape(&[-1]).or_raise(vm)?;
        let second = match (zelf.kind, args.given("b")) {
            (Kind::Unary(_), _) => None,
            (Kind::Binary(_), Some(second)) => {
                let second = to_array(second, vm)?;
                Some(second.broadcast_to(places.shape()).or_raise(vm)?)
            }
            (Kind::Binary(_), None) => {
                return Err(vm.new_value_error("second operand needed for ufunc"));
            }
        };
        for at in 0..places.size() {
            let place = [places.flat(at).to_i64() as usize];
            let value = Operand::from(flat.get(&place));
            let options = Options::default();
            let result = match (zelf.kind, &second) {
                (Kind::Binary(op), Some(second)) => {
                    on_scalars(|| ufunc::binary(op, &value, &second.flat(at).into(), &options))
                }
                (Kind::Unary(op), _) => ufunc::unary(op, &value, &options),
                (Kind::Binary(_), None) => break,
            };
            flat.set(&place, result.or_raise(vm)?.get(&[])).or_raise(vm)?;
        }
        if !std::rc::Rc::ptr_eq(flat.buffer(), array.buffer()) {
            let back = flat.reshape(&shape).or_raise(vm)?;
            let everywhere = [ruaflow_array::index::Index::Ellipsis];
            array.assign(&everywhere, &back.into()).or_raise(vm)?;
        }
        Ok(vm.ctx.none())
    }
}

fn bind(text: &'static str, args: FuncArgs, vm: &VirtualMachine) -> PyResult<Args> {
    thread_local! {
        static KNOWN: std::cell::RefCell<Vec<(&'static str, &'static Signature)>> =
            const { std::cell::RefCell::new(Vec::new()) };
    }
    let signature = KNOWN.with(|known| {
        let mut known = known.borrow_mut();
        if let Some(&(_, signature)) = known.iter().find(|(key, _)| *key == text) {
            return signature;
        }
        let signature: &'static Signature = Box::leak(Box::new(Signature::parse(text)));
        known.push((text, signature));
        signature
    });
    signature.bind(args, vm)
}

/// Left to right along an axis; tells `step` every intermediate result.
fn fold(
    op: Binary,
    array: &Array,
    axis: usize,
    initial: Option<Operand>,
    mut step: impl FnMut(&Array),
) -> ruaflow_array::Result<Array> {
    let length = array.shape()[axis];
    let mut total: Option<Array> = match initial {
        Some(initial) => {
            let start = initial.to_array(array.dtype())?;
            let shape: Vec<usize> = array
                .shape()
                .iter()
                .enumerate()
                .filter_map(|(at, &n)| (at != axis).then_some(n))
                .collect();
            Some(start.broadcast_to(&shape)?)
        }
        None => None,
    };
    for at in 0..length {
        let row = array.index_axis(axis, at);
        let next = match total {
            None => row.copy()?,
            Some(total) => ufunc::binary(op, &total.into(), &row.into(), &Options::default())?,
        };
        step(&next);
        total = Some(next);
    }
    total.ok_or_else(|| {
        ruaflow_array::Error::Value(format!(
            "zero-size array to reduction operation {} which has no identity",
            op.name()
        ))
    })
}

/// The functions that numpy has as ufuncs with two results.
pub(crate) fn divmod(args: &Args, vm: &VirtualMachine) -> PyResult {
    let (a, b) = (args.operand(0, vm)?, args.operand(1, vm)?);
    let (quotient, rest) = as_divmod(|| ufunc::divmod(&a, &b)).or_raise(vm)?;
    Ok(vm.ctx.new_tuple(vec![unwrap(quotient, vm), unwrap(rest, vm)]).into())
}
