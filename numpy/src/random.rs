//! `numpy.random`: `default_rng` and the legacy functions, with numpy's streams.

use std::cell::RefCell;

use ruaflow_array::random::{Generator, Population, Random, RandomState, SeedSequence, words_of};
use ruaflow_array::{Array, DType, Weak, rearrange};
use rustpython_vm::builtins::{PyList, PyModule, PyType};
use rustpython_vm::function::FuncArgs;
use rustpython_vm::types::{Constructor, Representable};
use rustpython_vm::{
    AsObject as _, Py, PyObject, PyObjectRef, PyPayload, PyResult, VirtualMachine, pyclass,
};

use crate::convert::{
    array_of, python_number, to_array, to_index, to_shape, unwrap, weak_of, wrap,
};
use crate::error::OrRaise as _;
use crate::signature::{Args, Entry, function, method};

/// `numpy.random.Generator`.
#[pyclass(module = "numpy.random", name = "Generator")]
#[derive(Debug, PyPayload)]
pub(crate) struct PyGenerator {
    random: RefCell<Generator>,
}

/// `numpy.random.RandomState`.
#[pyclass(module = "numpy.random", name = "RandomState")]
#[derive(Debug, PyPayload)]
pub(crate) struct PyRandomState {
    random: RefCell<RandomState>,
}

impl Representable for PyGenerator {
    fn repr_str(_zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        Ok("Generator(PCG64)".to_owned())
    }
}

impl Representable for PyRandomState {
    fn repr_str(_zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        Ok("RandomState(MT19937)".to_owned())
    }
}

impl Constructor for PyRandomState {
    type Args = FuncArgs;

    fn py_new(_class: &Py<PyType>, args: FuncArgs, vm: &VirtualMachine) -> PyResult<Self> {
        let seed = args.args.first().or_else(|| args.kwargs.get("seed"));
        Ok(Self { random: RefCell::new(state(seed.map(|seed| seed.as_object()), vm)?) })
    }
}

#[pyclass(with(Representable))]
impl PyGenerator {}

#[pyclass(with(Constructor, Representable))]
impl PyRandomState {}

/// Runs the body with the generator of either class that is the first argument.
macro_rules! with_random {
    ($args:expr, $vm:expr, $random:ident => $body:expr) => {{
        let object = $args.required(0, $vm)?;
        if let Some(generator) = object.downcast_ref::<PyGenerator>() {
            let $random = &mut *generator.random.borrow_mut();
            $body
        } else if let Some(state) = object.downcast_ref::<PyRandomState>() {
            let $random = &mut *state.random.borrow_mut();
            $body
        } else {
            return Err($vm.new_type_error("this is no random generator"));
        }
    }};
}

const BOTH: &[Entry] = &[
    ("uniform(low=0.0, high=1.0, size=None)", |args, vm| {
        let (low, high) = (parameter(args, "low", 0.0, vm)?, parameter(args, "high", 1.0, vm)?);
        let size = size(args, vm)?;
        let drawn = with_random!(args, vm, random => random.uniform(&low, &high, size.as_deref()));
        floats(args, drawn.or_raise(vm)?, vm)
    }),
    ("normal(loc=0.0, scale=1.0, size=None)", |args, vm| {
        let (loc, scale) = (parameter(args, "loc", 0.0, vm)?, parameter(args, "scale", 1.0, vm)?);
        let size = size(args, vm)?;
        let drawn = with_random!(args, vm, random => random.normal(&loc, &scale, size.as_deref()));
        floats(args, drawn.or_raise(vm)?, vm)
    }),
    ("exponential(scale=1.0, size=None)", |args, vm| {
        let scale = parameter(args, "scale", 1.0, vm)?;
        let size = size(args, vm)?;
        let drawn = with_random!(args, vm, random => random.exponential(&scale, size.as_deref()));
        floats(args, drawn.or_raise(vm)?, vm)
    }),
    ("standard_exponential(size=None)", |args, vm| {
        let size = size(args, vm)?.unwrap_or_default();
        let drawn = with_random!(args, vm, random => random.standard_exponential(&size));
        floats(args, drawn.or_raise(vm)?, vm)
    }),
    ("choice(a, size=None, replace=True, p=None, axis=0, shuffle=True)", choice),
    ("shuffle(x, axis=0)", shuffle),
    ("permutation(x, axis=0)", permutation),
    ("bytes(length)", |args, vm| {
        let length = to_shape(args.required(1, vm)?, vm)?;
        let drawn =
            with_random!(args, vm, random => random.integers(0, 256, &length, DType::U8, false));
        let bytes = drawn.and_then(|drawn| drawn.to_vec::<u8>()).or_raise(vm)?;
        Ok(vm.ctx.new_bytes(bytes).into())
    }),
];

const GENERATOR: &[Entry] = &[
    ("random(size=None, dtype=None, out=None)", |args, vm| {
        let (size, dtype) = (size(args, vm)?.unwrap_or_default(), args.dtype(vm)?);
        let drawn =
            generator(args, vm)?.random.borrow_mut().random_of(&size, dtype.unwrap_or(DType::F64));
        floats(args, drawn.or_raise(vm)?, vm)
    }),
    ("standard_normal(size=None, dtype=None, out=None)", |args, vm| {
        let (size, dtype) = (size(args, vm)?.unwrap_or_default(), args.dtype(vm)?);
        let drawn = generator(args, vm)?
            .random
            .borrow_mut()
            .standard_normal_of(&size, dtype.unwrap_or(DType::F64));
        floats(args, drawn.or_raise(vm)?, vm)
    }),
    ("integers(low, high=None, size=None, dtype=None, endpoint=False)", |args, vm| {
        Ok(unwrap(integers(args, vm)?, vm))
    }),
    ("permuted(x, *, axis=None, out=None)", |args, vm| {
        if args.get("axis", vm).is_some() {
            return Err(vm.new_not_implemented_error(
                "RuaFlow's numpy has no permuted along an axis; nearest: permutation",
            ));
        }
        let array = args.array(1, vm)?;
        let flat = array.ravel().or_raise(vm)?;
        let order =
            with_random!(args, vm, random => random.permutation(flat.size())).or_raise(vm)?;
        let shape: Vec<i64> = array.shape().iter().map(|&n| n as i64).collect();
        let shuffled = rearrange::take(&flat, &order, Some(0), "raise");
        Ok(wrap(shuffled.and_then(|flat| flat.reshape(&shape)).or_raise(vm)?, vm))
    }),
];

const LEGACY: &[Entry] = &[
    ("seed(seed=None)", |args, vm| {
        let fresh = state(args.get("seed", vm).map(|seed| seed.as_object()), vm)?;
        *legacy(args, vm)?.random.borrow_mut() = fresh;
        Ok(vm.ctx.none())
    }),
    ("rand(*dims)", |args, vm| sized(args, |random, shape| random.random(shape), vm)),
    ("randn(*dims)", |args, vm| sized(args, |random, shape| random.standard_normal(shape), vm)),
    ("random(size=None)", uniform_sample),
    ("random_sample(size=None)", uniform_sample),
    ("ranf(size=None)", uniform_sample),
    ("sample(size=None)", uniform_sample),
    ("standard_normal(size=None)", |args, vm| {
        let size = size(args, vm)?.unwrap_or_default();
        let drawn = legacy(args, vm)?.random.borrow_mut().standard_normal(&size);
        floats(args, drawn.or_raise(vm)?, vm)
    }),
    ("randint(low, high=None, size=None, dtype=None)", |args, vm| {
        let drawn = integers(args, vm)?;
        let plain = drawn.ndim() == 0 && args.get("dtype", vm).is_none();
        Ok(if plain { python_number(drawn.get(&[]), vm) } else { unwrap(drawn, vm) })
    }),
];

/// The module: classes, `default_rng`, and the functions of one shared `RandomState`.
pub(crate) fn fill(module: &Py<PyModule>, vm: &VirtualMachine) -> PyResult<()> {
    let generator_class = class_of::<PyGenerator>(&[BOTH, GENERATOR], vm);
    let state_class = class_of::<PyRandomState>(&[BOTH, LEGACY], vm);
    module.set_attr("Generator", generator_class.to_owned(), vm)?;
    module.set_attr("RandomState", state_class.to_owned(), vm)?;
    let (name, default_rng) = function(&("default_rng(seed=None)", default_rng), vm);
    module.set_attr(name, default_rng, vm)?;
    let shared = PyRandomState { random: RefCell::new(RandomState::fresh()) };
    let shared: PyObjectRef = shared.into_ref(&vm.ctx).into();
    for (text, _) in BOTH.iter().chain(LEGACY) {
        let name = text.split('(').next().unwrap_or_default();
        module.set_attr(name, shared.get_attr(name, vm)?, vm)?;
    }
    Ok(())
}

fn class_of<T>(tables: &[&[Entry]], vm: &VirtualMachine) -> &'static Py<PyType>
where
    T: rustpython_vm::class::PyClassImpl + rustpython_vm::class::StaticType,
{
    let _ = T::make_static_type();
    let class = T::static_type();
    for entry in tables.iter().copied().flatten() {
        let (name, method) = method(entry, class, vm);
        class.set_attr(vm.ctx.intern_str(name), method);
    }
    class
}

fn default_rng(args: &Args, vm: &VirtualMachine) -> PyResult {
    let Some(seed) = args.get("seed", vm) else {
        return Ok(made(&SeedSequence::fresh(), vm));
    };
    if seed.downcast_ref::<PyGenerator>().is_some() {
        return Ok(seed.clone());
    }
    let words = integers_of(seed, vm)?
        .into_iter()
        .map(|seed| {
            u128::try_from(seed)
                .map(words_of)
                .map_err(|_| vm.new_value_error("expected non-negative integer"))
        })
        .collect::<PyResult<Vec<_>>>()?
        .concat();
    Ok(made(&SeedSequence::new(&words), vm))
}

fn made(seed: &SeedSequence, vm: &VirtualMachine) -> PyObjectRef {
    PyGenerator { random: RefCell::new(Generator::new(seed)) }.into_ref(&vm.ctx).into()
}

fn state(seed: Option<&PyObject>, vm: &VirtualMachine) -> PyResult<RandomState> {
    let Some(seed) = seed.filter(|seed| !vm.is_none(seed)) else {
        return Ok(RandomState::fresh());
    };
    match weak_of(seed, vm) {
        Some(Weak::Int(seed)) => RandomState::new(seed),
        Some(Weak::Bool(seed)) => RandomState::new(seed.into()),
        _ => match crate::convert::scalar_of(seed) {
            Some(seed) if seed.dtype().is_integer() => RandomState::new(seed.to_i64().into()),
            _ => RandomState::from_integers(&integers_of(seed, vm)?),
        },
    }
    .or_raise(vm)
}

fn integers_of(object: &PyObject, vm: &VirtualMachine) -> PyResult<Vec<i128>> {
    match weak_of(object, vm) {
        Some(Weak::Int(value)) => return Ok(vec![value]),
        Some(Weak::Bool(value)) => return Ok(vec![value.into()]),
        Some(Weak::Float(_)) => {
            return Err(vm.new_type_error(
                "SeedSequence expects int or sequence of ints for entropy not a float",
            ));
        }
        None => {}
    }
    let array = to_array(object, vm)?;
    if !array.dtype().is_integer() {
        return Err(vm.new_type_error("SeedSequence expects int or sequence of ints for entropy"));
    }
    Ok((0..array.size()).map(|at| array.flat(at).to_i64().into()).collect())
}

fn generator<'a>(args: &'a Args, vm: &VirtualMachine) -> PyResult<&'a Py<PyGenerator>> {
    args.required(0, vm)?
        .downcast_ref::<PyGenerator>()
        .ok_or_else(|| vm.new_type_error("this is no random generator"))
}

fn legacy<'a>(args: &'a Args, vm: &VirtualMachine) -> PyResult<&'a Py<PyRandomState>> {
    args.required(0, vm)?
        .downcast_ref::<PyRandomState>()
        .ok_or_else(|| vm.new_type_error("this is no random generator"))
}

fn size(args: &Args, vm: &VirtualMachine) -> PyResult<Option<Vec<usize>>> {
    args.get("size", vm).map(|size| to_shape(size, vm)).transpose()
}

fn parameter(args: &Args, name: &str, default: f64, vm: &VirtualMachine) -> PyResult<Array> {
    let given = args.array_of(name, vm)?;
    let array = given.unwrap_or_else(|| Array::scalar(ruaflow_array::Scalar::F64(default)));
    array.cast(DType::F64).or_raise(vm)
}

/// A draw: a Python float unless a size was asked for.
fn floats(args: &Args, drawn: Array, vm: &VirtualMachine) -> PyResult {
    let plain = drawn.ndim() == 0 && args.get("size", vm).is_none();
    Ok(if plain && drawn.dtype() == DType::F64 {
        python_number(drawn.get(&[]), vm)
    } else {
        unwrap(drawn, vm)
    })
}

fn uniform_sample(args: &Args, vm: &VirtualMachine) -> PyResult {
    let size = size(args, vm)?.unwrap_or_default();
    let drawn = legacy(args, vm)?.random.borrow_mut().random(&size);
    floats(args, drawn.or_raise(vm)?, vm)
}

fn sized(
    args: &Args,
    draw: fn(&mut RandomState, &[usize]) -> ruaflow_array::Result<Array>,
    vm: &VirtualMachine,
) -> PyResult {
    let shape = args.rest.iter().map(|length| {
        usize::try_from(to_index(length, vm)?)
            .map_err(|_| vm.new_value_error("negative dimensions are not allowed"))
    });
    let shape = shape.collect::<PyResult<Vec<usize>>>()?;
    let drawn = draw(&mut legacy(args, vm)?.random.borrow_mut(), &shape).or_raise(vm)?;
    Ok(if shape.is_empty() { python_number(drawn.get(&[]), vm) } else { wrap(drawn, vm) })
}

fn integers(args: &Args, vm: &VirtualMachine) -> PyResult<Array> {
    let dtype = args.dtype(vm)?.unwrap_or(DType::I64);
    let endpoint = args.flag("endpoint", false, vm)?;
    let size = size(args, vm)?;
    let first = args.required(1, vm)?;
    let (low, high) = match args.get("high", vm) {
        Some(high) => (Some(first), high),
        None => (None, first),
    };
    let bound = |object: &PyObjectRef| -> Option<i128> {
        match weak_of(object, vm) {
            Some(Weak::Int(value)) => Some(value),
            Some(Weak::Bool(value)) => Some(value.into()),
            Some(Weak::Float(value)) if value.trunc() == value => Some(value as i128),
            _ => crate::convert::scalar_of(object).map(|value| value.to_i64().into()),
        }
    };
    if let (Some(low), Some(high)) = (low.map_or(Some(0), bound), bound(high)) {
        let shape = size.unwrap_or_default();
        let drawn =
            with_random!(args, vm, random => random.integers(low, high, &shape, dtype, endpoint));
        return drawn.or_raise(vm);
    }
    let array = |object: &PyObjectRef| to_array(object, vm);
    let low = low.map_or(Ok(Array::scalar(ruaflow_array::Scalar::I64(0))), array)?;
    let high = array(high)?;
    with_random!(args, vm, random => random.integers_between(&low, &high, size.as_deref(), dtype, endpoint))
        .or_raise(vm)
}

fn choice(args: &Args, vm: &VirtualMachine) -> PyResult {
    let of = args.array(1, vm)?;
    let size = size(args, vm)?;
    let p = args.array_of("p", vm)?;
    let (replace, shuffle) = (args.flag("replace", true, vm)?, args.flag("shuffle", true, vm)?);
    let axis = args.int("axis", 0, vm)?;
    let population = if of.ndim() == 0 {
        if !of.dtype().is_integer() {
            return Err(
                vm.new_value_error("a must be a sequence or an integer, not <class 'float'>")
            );
        }
        Population::Integers(of.get(&[]).to_i64())
    } else {
        Population::Sequence(of.shape()[of.axis(axis).or_raise(vm)?])
    };
    let shape = size.clone().unwrap_or_default();
    let chosen = with_random!(args, vm, random => random.choice(population, &shape, replace, p.as_ref(), shuffle));
    let chosen = chosen.or_raise(vm)?;
    if of.ndim() == 0 {
        let legacy = args.required(0, vm)?.downcast_ref::<PyRandomState>().is_some();
        return Ok(if size.is_none() && legacy {
            python_number(chosen.get(&[]), vm)
        } else {
            unwrap(chosen, vm)
        });
    }
    Ok(unwrap(rearrange::take(&of, &chosen, Some(axis), "raise").or_raise(vm)?, vm))
}

fn shuffle(args: &Args, vm: &VirtualMachine) -> PyResult {
    let object = args.required(1, vm)?;
    if let Some(list) = object.downcast_ref::<PyList>() {
        let order = with_random!(args, vm, random => random.permutation(list.borrow_vec().len()));
        let order = order.and_then(|order| order.to_vec::<i64>()).or_raise(vm)?;
        let old = list.borrow_vec().to_vec();
        let new = order.into_iter().filter_map(|at| old.get(at as usize).cloned()).collect();
        *list.borrow_vec_mut() = new;
        return Ok(vm.ctx.none());
    }
    let Some(array) = array_of(object) else {
        return Err(vm.new_type_error("shuffle() takes an array or a list"));
    };
    let axis = args.int("axis", 0, vm)?;
    let length = array.shape()[array.axis(axis).or_raise(vm)?];
    let order = with_random!(args, vm, random => random.permutation(length)).or_raise(vm)?;
    let shuffled = rearrange::take(&array, &order, Some(axis), "raise").or_raise(vm)?;
    array.assign(&[ruaflow_array::index::Index::Ellipsis], &shuffled.into()).or_raise(vm)?;
    Ok(vm.ctx.none())
}

fn permutation(args: &Args, vm: &VirtualMachine) -> PyResult {
    let array = args.array(1, vm)?;
    if array.ndim() == 0 {
        let n = usize::try_from(array.get(&[]).to_i64()).unwrap_or(0);
        let order = with_random!(args, vm, random => random.permutation(n));
        return Ok(wrap(order.or_raise(vm)?, vm));
    }
    let axis = args.int("axis", 0, vm)?;
    let length = array.shape()[array.axis(axis).or_raise(vm)?];
    let order = with_random!(args, vm, random => random.permutation(length)).or_raise(vm)?;
    Ok(wrap(rearrange::take(&array, &order, Some(axis), "raise").or_raise(vm)?, vm))
}
