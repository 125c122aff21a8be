//! The Python classes that the Rust side must find again.

use std::cell::OnceCell;

use ruaflow_array::DType;
use rustpython_vm::builtins::{PyFloat, PyTuple, PyType, PyTypeRef};
use rustpython_vm::class::{PyClassDef as _, PyClassImpl as _, StaticType as _};
use rustpython_vm::types::{PyTypeFlags, PyTypeSlots};
use rustpython_vm::{AsObject as _, Context, Py, PyObject};

use crate::scalar::PyScalar;

/// The classes of one thread's interpreter.
pub(crate) struct Classes {
    /// The scalar class of each dtype, in the order of [`DType::ALL`].
    scalars: [&'static Py<PyType>; 7],
    pub(crate) number: &'static Py<PyType>,
    pub(crate) integer: &'static Py<PyType>,
    pub(crate) signedinteger: &'static Py<PyType>,
    pub(crate) unsignedinteger: &'static Py<PyType>,
    pub(crate) inexact: &'static Py<PyType>,
    pub(crate) floating: &'static Py<PyType>,
    pub(crate) axis_error: PyTypeRef,
    pub(crate) lin_alg_error: PyTypeRef,
    pub(crate) rank_warning: PyTypeRef,
}

thread_local! {
    static CLASSES: OnceCell<&'static Classes> = const { OnceCell::new() };
}

/// The classes; made at the first call in a thread.
pub(crate) fn classes() -> &'static Classes {
    CLASSES.with(|cell| *cell.get_or_init(|| Box::leak(Box::new(Classes::new(Context::genesis())))))
}

impl Classes {
    fn new(ctx: &'static Context) -> Self {
        let _ = PyScalar::make_static_type();
        let generic = PyScalar::static_type();
        let abstract_class = |name, base: &'static Py<PyType>| class(name, &[base], ctx);
        let number = abstract_class("numpy.number", generic);
        let integer = abstract_class("numpy.integer", number);
        let signedinteger = abstract_class("numpy.signedinteger", integer);
        let unsignedinteger = abstract_class("numpy.unsignedinteger", integer);
        let inexact = abstract_class("numpy.inexact", number);
        let floating = abstract_class("numpy.floating", inexact);
        let scalars = DType::ALL.map(|dtype| match dtype {
            DType::Bool => class("numpy.bool", &[generic], ctx),
            DType::U8 => class("numpy.uint8", &[unsignedinteger], ctx),
            DType::I32 => class("numpy.int32", &[signedinteger], ctx),
            DType::I64 => class("numpy.int64", &[signedinteger], ctx),
            DType::F16 => class("numpy.float16", &[floating], ctx),
            DType::F32 => class("numpy.float32", &[floating], ctx),
            DType::F64 => class("numpy.float64", &[floating, ctx.types.float_type], ctx),
        });
        let errors = &ctx.exceptions;
        let bases = |bases: &[&'static Py<PyType>]| {
            Some(bases.iter().map(|&base| base.to_owned()).collect())
        };
        let axis_bases = bases(&[errors.value_error, errors.index_error]);
        Self {
            scalars,
            number,
            integer,
            signedinteger,
            unsignedinteger,
            inexact,
            floating,
            axis_error: ctx.new_exception_type("numpy.exceptions", "AxisError", axis_bases),
            lin_alg_error: ctx.new_exception_type(
                "numpy.linalg",
                "LinAlgError",
                bases(&[errors.value_error]),
            ),
            rank_warning: ctx.new_exception_type(
                "numpy.exceptions",
                "RankWarning",
                bases(&[errors.runtime_warning]),
            ),
        }
    }

    pub(crate) fn of(&self, dtype: DType) -> &'static Py<PyType> {
        self.scalars[index(dtype)]
    }

    /// The dtype that a scalar class stands for.
    pub(crate) fn dtype(&self, class: &PyObject) -> Option<DType> {
        let at = self.scalars.iter().position(|one| one.as_object().is(class))?;
        DType::ALL.get(at).copied()
    }
}

fn index(dtype: DType) -> usize {
    DType::ALL.iter().position(|&one| one == dtype).unwrap_or_default()
}

/// A class over `numpy.generic` with its behaviour. The second base is `float`, whose
/// memory layout it takes; a static class, because instances of others are tracked by
/// the garbage collector.
fn class(
    name: &'static str,
    bases: &[&'static Py<PyType>],
    ctx: &'static Context,
) -> &'static Py<PyType> {
    let mut slots = PyTypeSlots::new(name, PyTypeFlags::empty());
    PyScalar::extend_slots(&mut slots);
    slots.basicsize = if bases.len() > 1 { PyFloat::BASICSIZE } else { PyScalar::BASICSIZE };
    let made = PyType::new_static(
        bases[0].to_owned(),
        Default::default(),
        slots,
        ctx.types.type_type.to_owned(),
    );
    let made = match made {
        Ok(made) => made,
        Err(text) => unreachable!("{name}: {text}"),
    };
    if let [_, second] = bases {
        // The order of CPython's: the second base's own line before `object`.
        let mut order = made.mro.write();
        let object = order.pop();
        order.push((*second).to_owned());
        order.extend(object);
        drop(order);
        let both = bases.iter().map(|&base| base.to_owned()).collect();
        *made.bases.write() = PyTuple::new_ref_typed(both, ctx);
    }
    made.as_object().make_immortal();
    let made: &'static PyTypeRef = Box::leak(Box::new(made));
    // Operators as attributes, and from `object` what it does not have itself.
    PyScalar::extend_class(ctx, made);
    made
}
