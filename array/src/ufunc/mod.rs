//! Elementwise operations with broadcasting: numpy's ufuncs.
//!
//! An operation first decides the type it computes in ([`types`]), brings its operands to one
//! shape, and then runs a loop over blocks of that type (`blocks`, `loops`). `float16` is
//! computed in `float32` and rounded once, as numpy does.

mod bits;
mod extra;
mod loops;
mod number;
mod op;
mod sines;
mod status;
mod types;

pub use extra::{allclose, array_equal, clip, divmod, isclose, nan_to_num, power_operator, round};
pub(crate) use number::{Number, Real, fmax, fmin, maximum, minimum};
pub use op::{Binary, Unary};
pub(crate) use status::Status;

use loops::{Loop1, Loop2, bits1, bits2, compare2, number1, number2, real1, real2, shift2, test1};
use op::Class;
use status::{pole1, pole2};
use types::Types;

use crate::array::{Array, shape_text};
use crate::blocks;
use crate::cast::require_same_kind;
use crate::dtype::{DType, Element, with_dtype};
use crate::error::{Error, Result, bail};
use crate::index::Index;
use crate::promote::Operand;
use crate::shape::broadcast_shapes;

/// The keyword arguments of a ufunc.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Where the result goes, instead of a new array. May be an operand.
    pub out: Option<&'a Array>,
    /// `where=`: places that are computed; the others keep what `out` has, or are zero.
    pub mask: Option<&'a Array>,
    /// The type to compute in.
    pub dtype: Option<DType>,
}

/// Applies an operation to every element.
///
/// # Errors
/// [`Error::Type`] when the operation has no loop for the type, [`Error::Value`] for shapes
/// that do not fit, [`Error::Memory`], [`Error::Interrupted`], or what the warning sink returns.
pub fn unary(op: Unary, operand: &Operand, options: &Options<'_>) -> Result<Array> {
    if let Some(mask) = options.mask {
        return masked([operand], mask, options, |[operand], options| unary(op, operand, options));
    }
    let types = types::unary(op, operand, options.dtype)?;
    let call = Call::new(op.name(), [operand], types, options.out)?;
    let status = run1(op, types, &call)?;
    call.finish(status)
}

/// Applies an operation to every pair of elements.
///
/// # Errors
/// As [`unary`], and [`Error::Overflow`] for a Python integer that does not fit the type.
pub fn binary(op: Binary, a: &Operand, b: &Operand, options: &Options<'_>) -> Result<Array> {
    if let Some(mask) = options.mask {
        return masked([a, b], mask, options, |[a, b], options| binary(op, a, b, options));
    }
    let types = types::binary(op, a, b, options.dtype)?;
    let call = Call::new(op.name(), [a, b], types, options.out)?;
    let status = run2(op, types, &call)?;
    call.finish(status)
}

/// [`unary`] without options.
///
/// # Errors
/// As [`unary`].
pub fn map1(op: Unary, operand: impl Into<Operand>) -> Result<Array> {
    unary(op, &operand.into(), &Options::default())
}

/// [`binary`] without options.
///
/// # Errors
/// As [`binary`].
pub fn map2(op: Binary, a: impl Into<Operand>, b: impl Into<Operand>) -> Result<Array> {
    binary(op, &a.into(), &b.into(), &Options::default())
}

/// Operands of one shape, and the place for the result.
pub(crate) struct Call<const N: usize> {
    name: &'static str,
    inputs: [Array; N],
    out: Array,
}

impl<const N: usize> Call<N> {
    pub(crate) fn new(
        name: &'static str,
        operands: [&Operand; N],
        types: Types,
        out: Option<&Array>,
    ) -> Result<Call<N>> {
        let shape = match operands {
            // The usual cases, without the general walk over shapes.
            _ if operands.iter().all(|operand| operand.shape() == operands[0].shape()) => {
                operands[0].shape().to_vec()
            }
            _ => broadcast_shapes(&operands.map(Operand::shape)).map_err(|error| match out {
                Some(out) => cannot_broadcast(&operands, Some(out)),
                None => error,
            })?,
        };
        if let Some(out) = out {
            check_out(name, &operands, &shape, types.result, out)?;
        }
        let mut inputs: Vec<Array> = Vec::with_capacity(N);
        for operand in operands {
            let array = match operand {
                Operand::Array(array) => array.clone(),
                Operand::Weak(weak) => Array::scalar(types::weak_scalar(*weak, types.compute)?),
            };
            let broadcast =
                if array.shape() == shape { array } else { array.broadcast_to(&shape)? };
            inputs.push(match out {
                Some(out) if broadcast.may_share_memory(out) && !broadcast.is_same_view(out) => {
                    broadcast.copy()?
                }
                _ => broadcast,
            });
        }
        let out = match out {
            Some(out) => out.clone(),
            None => new_output(&inputs, &shape, types.result)?,
        };
        let Ok(inputs) = <[Array; N]>::try_from(inputs) else {
            unreachable!("one input for each operand")
        };
        Ok(Call { name, inputs, out })
    }

    /// Runs `kernel` over blocks of the operands as `A`.
    fn map<A: Element, O: Element>(&self, kernel: &mut blocks::Kernel<A, O, N>) -> Result<()> {
        blocks::map(self.inputs.each_ref(), &self.out, kernel)
    }

    fn finish(self, status: Status) -> Result<Array> {
        status.report(self.name)?;
        Ok(self.out)
    }
}

/// A result in the memory order of the operands, C order if they disagree.
fn new_output(inputs: &[Array], shape: &[usize], dtype: DType) -> Result<Array> {
    let mut whole = inputs.iter().filter(|input| !input.strides().contains(&0));
    match whole.next() {
        Some(first) if !first.is_c_contiguous() && whole.all(|other| !other.is_c_contiguous()) => {
            Array::uninit_like(first, dtype)
        }
        _ => Array::uninit(shape, dtype),
    }
}

fn check_out(
    name: &str,
    operands: &[&Operand],
    shape: &[usize],
    result: DType,
    out: &Array,
) -> Result<()> {
    if !out.is_writeable() {
        bail!(Value, "output array is read-only");
    }
    if out.shape() != shape {
        let Ok(joint) = broadcast_shapes(&[shape, out.shape()]) else {
            return Err(cannot_broadcast(operands, Some(out)));
        };
        if joint != out.shape() || out.ndim() != shape.len() {
            bail!(
                Value,
                "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
                shape_text(out.shape()),
                shape_text(&joint)
            );
        }
        return Err(cannot_broadcast(operands, Some(out)));
    }
    require_same_kind(name, result, out.dtype())
}

fn cannot_broadcast(operands: &[&Operand], out: Option<&Array>) -> Error {
    let shapes = operands.iter().map(|operand| operand.shape()).chain(out.map(Array::shape));
    let shapes: String = shapes.map(|shape| shape_text(shape) + " ").collect();
    Error::Value(format!("operands could not be broadcast together with shapes {shapes}"))
}

/// Computes only where the mask is true, so that the other places cause no warnings.
fn masked<const N: usize>(
    operands: [&Operand; N],
    mask: &Array,
    options: &Options<'_>,
    compute: impl FnOnce([&Operand; N], &Options<'_>) -> Result<Array>,
) -> Result<Array> {
    if mask.dtype() != DType::Bool {
        bail!(
            Type,
            "Cannot cast array data from dtype('{}') to dtype('bool') according to the rule 'safe'",
            mask.dtype()
        );
    }
    let mut shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.shape()).collect();
    shapes.push(mask.shape());
    let shape = broadcast_shapes(&shapes)?;
    let at = [Index::Mask(mask.broadcast_to(&shape)?)];
    let mut chosen = Vec::with_capacity(N);
    for operand in operands {
        chosen.push(match operand {
            Operand::Array(array) if array.ndim() > 0 => {
                Operand::Array(array.broadcast_to(&shape)?.index(&at)?)
            }
            single => single.clone(),
        });
    }
    let values = compute(
        std::array::from_fn(|i| &chosen[i]),
        &Options { out: None, mask: None, dtype: options.dtype },
    )?;
    let out = match options.out {
        Some(out) => {
            check_out("where", &operands, &shape, out.dtype(), out)?;
            out.clone()
        }
        None => Array::zeros(&shape, values.dtype())?,
    };
    out.assign(&at, &Operand::Array(values))?;
    Ok(out)
}

fn no_loop(name: &str) -> Error {
    Error::Type(format!(
        "ufunc '{name}' not supported for the input types, and the inputs could not be safely \
         coerced to any supported types according to the casting rule ''safe''"
    ))
}

fn run1(op: Unary, types: Types, call: &Call<1>) -> Result<Status> {
    let name = op.name();
    let found = |found: Option<Loop1<bool, bool>>| found.ok_or_else(|| no_loop(name));
    match (op.class(), types.compute) {
        (Class::Logical, _) => {
            plain1::<bool, bool>(call, Some(not), name)?;
        }
        (Class::Bits, DType::Bool) => plain1(call, Some(found(bits1::<bool>(op))?), name)?,
        (Class::Bits, dtype) => {
            with_dtype!(integer dtype, T => plain1(call, bits1::<T>(op), name)?, else return Err(no_loop(name)))
        }
        (Class::Compare, DType::F64) => plain1(call, test1::<f64>(op), name)?,
        (Class::Compare, dtype) if dtype.is_float() => plain1(call, test1::<f32>(op), name)?,
        (Class::Compare, dtype) => {
            with_dtype!(integer dtype, T => plain1(call, test1::<T>(op), name)?, else return Err(no_loop(name)))
        }
        (_, DType::F64) => return watched1::<f64>(op, call, f64::MAX),
        (_, DType::F32) => return watched1::<f32>(op, call, f32::MAX),
        (_, DType::F16) => return watched1::<f32>(op, call, F16_MAX),
        (_, DType::Bool) => call.out.fill_from(&call.inputs[0])?,
        (_, dtype) => {
            with_dtype!(integer dtype, T => plain1(call, number1::<T>(op), name)?, else return Err(no_loop(name)))
        }
    }
    Ok(Status::default())
}

fn not(a: &[bool], out: &mut [bool]) {
    for (out, a) in out.iter_mut().zip(a) {
        *out = !a;
    }
}

/// What rounds to the largest `float16`, half way to the next one excluded.
const F16_MAX: f32 = 65519.996;

fn plain1<A: Element, O: Element>(
    call: &Call<1>,
    run: Option<Loop1<A, O>>,
    name: &str,
) -> Result<()> {
    let run = run.ok_or_else(|| no_loop(name))?;
    call.map(&mut |[a], out: &mut [O]| {
        run(a, out);
        Ok(())
    })
}

fn watched1<T: Real>(op: Unary, call: &Call<1>, limit: T) -> Result<Status> {
    let run = real1::<T>(op).ok_or_else(|| no_loop(op.name()))?;
    let pole = pole1::<T>(op);
    let mut status = Status::default();
    call.map(&mut |[a], out: &mut [T]| {
        run(a, out);
        status.watch1(pole, a, out, limit);
        Ok(())
    })?;
    Ok(status)
}

fn run2(op: Binary, types: Types, call: &Call<2>) -> Result<Status> {
    let name = op.name();
    match (op.class(), types.compute) {
        (Class::Logical, _) => plain2(call, bits2::<bool>(op), name)?,
        (Class::Compare, DType::F16) => plain2(call, compare2::<f32>(op), name)?,
        (Class::Compare, DType::Bool) => plain2(call, compare2::<u8>(op), name)?,
        (Class::Compare, dtype) => {
            with_dtype!(native dtype, T => plain2(call, compare2::<T>(op), name)?, else return Err(no_loop(name)))
        }
        (Class::Shift, dtype) => {
            with_dtype!(integer dtype, T => plain2(call, shift2::<T>(op), name)?, else return Err(no_loop(name)))
        }
        (_, DType::Bool) => plain2(call, bits2::<bool>(op), name)?,
        (Class::Bits, dtype) => {
            with_dtype!(integer dtype, T => plain2(call, bits2::<T>(op), name)?, else return Err(no_loop(name)))
        }
        (_, DType::F64) => return watched2::<f64>(op, call, f64::MAX),
        (_, DType::F32) => return watched2::<f32>(op, call, f32::MAX),
        (_, DType::F16) => return watched2::<f32>(op, call, F16_MAX),
        (_, dtype) => {
            with_dtype!(integer dtype, T => return integers2::<T>(op, call), else return Err(no_loop(name)))
        }
    }
    Ok(Status::default())
}

fn plain2<A: Element, O: Element>(
    call: &Call<2>,
    run: Option<Loop2<A, O>>,
    name: &str,
) -> Result<()> {
    let run = run.ok_or_else(|| no_loop(name))?;
    call.map(&mut |[a, b], out: &mut [O]| {
        run(a, b, out);
        Ok(())
    })
}

fn integers2<T: Number>(op: Binary, call: &Call<2>) -> Result<Status> {
    let mut run = number2::<T>(op).ok_or_else(|| no_loop(op.name()))?;
    if op == Binary::FloorDivide && is_single(&call.inputs[1]) {
        run = |a, b, out| T::floor_divide_by(a, b[0], out);
    }
    let divides = matches!(op, Binary::FloorDivide | Binary::Remainder | Binary::Fmod);
    let mut status = Status::default();
    call.map(&mut |[a, b]: [&[T]; 2], out: &mut [T]| {
        if divides {
            status.divide |= b.iter().fold(false, |zero, &b| zero | (b == T::ZERO));
        } else if op == Binary::Power && b.iter().any(|&b| b.is_negative()) {
            bail!(Value, "Integers to negative integer powers are not allowed.");
        }
        run(a, b, out);
        Ok(())
    })?;
    Ok(status)
}

fn watched2<T: Real>(op: Binary, call: &Call<2>, limit: T) -> Result<Status> {
    let mut run = real2::<T>(op).ok_or_else(|| no_loop(op.name()))?;
    // Selections and sign changes bring nothing new into the world.
    let watched = !matches!(
        op,
        Binary::Minimum
            | Binary::Maximum
            | Binary::Fmin
            | Binary::Fmax
            | Binary::Copysign
            | Binary::Heaviside
            | Binary::Nextafter
    );
    if op == Binary::Power && is_constant(&call.inputs[1], 2.0) {
        run = |a, _, out| {
            if let Some(square) = number1::<T>(Unary::Square) {
                square(a, out);
            }
        };
    }
    let pole = pole2::<T>(op);
    let mut status = Status::default();
    call.map(&mut |[a, b], out: &mut [T]| {
        run(a, b, out);
        if watched {
            status.watch2(pole, a, b, out, limit);
        }
        Ok(())
    })?;
    Ok(status)
}

/// Whether a broadcast operand is this number everywhere.
fn is_constant(array: &Array, value: f64) -> bool {
    is_single(array) && array.get(&vec![0; array.ndim()]).to_f64() == value
}

/// Whether it is the same number everywhere.
fn is_single(array: &Array) -> bool {
    array.strides().iter().all(|&stride| stride == 0) && !array.is_empty()
}

#[cfg(test)]
mod tests;
