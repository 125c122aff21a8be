//! `numpy.linalg`, and the products that `numpy` has itself.

use ruaflow_array::linalg::{self, Order, QrMode};
use ruaflow_array::{Array, Result as ArrayResult, Scalar};
use rustpython_vm::builtins::{PyStr, PyTuple};
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

use crate::convert::{
    scalar, scalar_of, to_array, to_arrays, to_signed_shape, unwrap, weak_of, wrap,
};
use crate::error::OrRaise as _;
use crate::signature::{Args, Entry};

/// One array in, one out.
macro_rules! one {
    ($function:ident) => {
        |args, vm| Ok(unwrap(linalg::$function(&args.array(0, vm)?).or_raise(vm)?, vm))
    };
}

/// Two arrays in, one out.
macro_rules! two {
    ($function:ident) => {
        |args, vm| {
            let product = linalg::$function(&args.array(0, vm)?, &args.array(1, vm)?);
            args.finish(product.or_raise(vm)?, vm)
        }
    };
}

/// Names in `numpy`; some of them are in `numpy.linalg` too.
pub(crate) const TOP: &[Entry] = &[
    ("dot(a, b, out=None)", two!(dot)),
    ("vdot(a, b, /)", two!(vdot)),
    ("inner(a, b, /)", two!(inner)),
    ("outer(a, b, out=None)", two!(outer)),
    ("matmul(x1, x2, /, out=None)", two!(matmul)),
    ("matvec(x1, x2, /, out=None)", two!(matvec)),
    ("vecdot(x1, x2, /, out=None)", two!(vecdot)),
    ("kron(a, b)", two!(kron)),
    ("tensordot(a, b, axes=2)", tensordot),
    ("einsum(*operands, out=None, optimize=False)", einsum),
    ("cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None)", cross),
];

pub(crate) const TABLE: &[Entry] = &[
    ("norm(x, ord=None, axis=None, keepdims=False)", norm),
    ("inv(a)", one!(inv)),
    ("det(a)", one!(det)),
    ("cholesky(a, /, *, upper=False)", |args, vm| {
        let factor = linalg::cholesky(&args.array(0, vm)?, args.flag("upper", false, vm)?);
        Ok(unwrap(factor.or_raise(vm)?, vm))
    }),
    ("eigvals(a)", one!(eigvals)),
    ("eigvalsh(a, UPLO='L')", |args, vm| {
        let upper = uplo(args, vm)?;
        Ok(unwrap(linalg::eigvalsh(&args.array(0, vm)?, upper).or_raise(vm)?, vm))
    }),
    ("eig(a)", |args, vm| {
        let (values, vectors) = linalg::eig(&args.array(0, vm)?).or_raise(vm)?;
        named("EigResult", &[("eigenvalues", values), ("eigenvectors", vectors)], vm)
    }),
    ("eigh(a, UPLO='L')", |args, vm| {
        let (values, vectors) = linalg::eigh(&args.array(0, vm)?, uplo(args, vm)?).or_raise(vm)?;
        named("EighResult", &[("eigenvalues", values), ("eigenvectors", vectors)], vm)
    }),
    ("slogdet(a)", |args, vm| {
        let (sign, logarithm) = linalg::slogdet(&args.array(0, vm)?).or_raise(vm)?;
        named("SlogdetResult", &[("sign", sign), ("logabsdet", logarithm)], vm)
    }),
    ("qr(a, mode='reduced')", |args, vm| {
        let mode = args.text("mode", vm)?;
        let mode = QrMode::from_name(mode.as_deref().unwrap_or("reduced")).or_raise(vm)?;
        let (q, r) = linalg::qr(&args.array(0, vm)?, mode).or_raise(vm)?;
        match q {
            Some(q) => named("QRResult", &[("Q", q), ("R", r)], vm),
            None => Ok(unwrap(r, vm)),
        }
    }),
    ("svd(a, full_matrices=True, compute_uv=True, hermitian=False)", |args, vm| {
        let array = args.array(0, vm)?;
        if !args.flag("compute_uv", true, vm)? {
            return Ok(unwrap(linalg::svdvals(&array).or_raise(vm)?, vm));
        }
        let (u, s, vh) = linalg::svd(&array, args.flag("full_matrices", true, vm)?).or_raise(vm)?;
        named("SVDResult", &[("U", u), ("S", s), ("Vh", vh)], vm)
    }),
    ("svdvals(x, /)", one!(svdvals)),
    ("solve(a, b)", two!(solve)),
    ("lstsq(a, b, rcond=None)", |args, vm| {
        let rcond = args.float_of("rcond", vm)?;
        let found = linalg::lstsq(&args.array(0, vm)?, &args.array(1, vm)?, rcond).or_raise(vm)?;
        let rank = scalar(Scalar::I32(found.rank as i32), vm);
        let [x, residuals, s] = [found.x, found.residuals, found.s].map(|one| unwrap(one, vm));
        Ok(vm.ctx.new_tuple(vec![x, residuals, rank, s]).into())
    }),
    ("pinv(a, rcond=None, hermitian=False, *, rtol=None)", |args, vm| {
        let rcond = args.float_of("rcond", vm)?.or(args.float_of("rtol", vm)?).unwrap_or(1e-15);
        Ok(unwrap(linalg::pinv(&args.array(0, vm)?, rcond).or_raise(vm)?, vm))
    }),
    ("matrix_rank(A, tol=None, hermitian=False, *, rtol=None)", |args, vm| {
        let limit = |name| args.float_of(name, vm);
        let rank = linalg::matrix_rank(&args.array(0, vm)?, limit("tol")?, limit("rtol")?);
        Ok(unwrap(rank.or_raise(vm)?, vm))
    }),
    ("matrix_power(a, n)", |args, vm| {
        let n = crate::convert::to_index(args.required(1, vm)?, vm)?;
        Ok(unwrap(linalg::matrix_power(&args.array(0, vm)?, n).or_raise(vm)?, vm))
    }),
    ("cond(x, p=None)", |args, vm| {
        let condition = linalg::cond(&args.array(0, vm)?, &order(args, "p", vm)?);
        Ok(unwrap(condition.or_raise(vm)?, vm))
    }),
    ("multi_dot(arrays, *, out=None)", |args, vm| {
        let arrays = to_arrays(args.required(0, vm)?, vm)?;
        args.finish(linalg::multi_dot(&arrays).or_raise(vm)?, vm)
    }),
    ("matmul(x1, x2, /)", two!(matmul)),
    ("outer(x1, x2, /)", two!(outer)),
    ("tensordot(x1, x2, /, *, axes=2)", tensordot),
    ("cross(x1, x2, /, *, axis=-1)", cross),
    ("trace(x, /, *, offset=0, dtype=None)", |args, vm| {
        let trace = vm.import("numpy", 0)?.get_attr("trace", vm)?;
        let offset = vm.ctx.new_int(args.int("offset", 0, vm)?);
        trace.call(
            (args.required(0, vm)?.clone(), offset, vm.ctx.new_int(-2), vm.ctx.new_int(-1)),
            vm,
        )
    }),
    ("vector_norm(x, /, *, axis=None, keepdims=False, ord=2)", |args, vm| {
        let mut array = args.array(0, vm)?;
        let axes = args.axes("axis", vm)?;
        if axes.is_none() {
            array = array.ravel().or_raise(vm)?;
        }
        let keepdims = args.flag("keepdims", false, vm)?;
        let norm = linalg::norm(&array, &order(args, "ord", vm)?, axes.as_deref(), keepdims);
        Ok(unwrap(norm.or_raise(vm)?, vm))
    }),
    ("matrix_norm(x, /, *, keepdims=False, ord='fro')", |args, vm| {
        let (order, keepdims) = (order(args, "ord", vm)?, args.flag("keepdims", false, vm)?);
        let norm = linalg::norm(&args.array(0, vm)?, &order, Some(&[-2, -1]), keepdims);
        Ok(unwrap(norm.or_raise(vm)?, vm))
    }),
];

fn norm(args: &Args, vm: &VirtualMachine) -> PyResult {
    let order = order(args, "ord", vm)?;
    let axes = args.axes("axis", vm)?;
    let keepdims = args.flag("keepdims", false, vm)?;
    let norm: ArrayResult<Array> =
        linalg::norm(&args.array(0, vm)?, &order, axes.as_deref(), keepdims);
    Ok(unwrap(norm.or_raise(vm)?, vm))
}

/// Which norm: a number, `'fro'`, `'nuc'`, or the usual one.
fn order(args: &Args, name: &str, vm: &VirtualMachine) -> PyResult<Order> {
    let Some(object) = args.get(name, vm) else { return Ok(Order::Default) };
    if let Some(name) = object.downcast_ref::<PyStr>() {
        return Ok(Order::Name(name.to_string_lossy().into_owned()));
    }
    if weak_of(object, vm).is_none() && scalar_of(object).is_none() {
        return Err(vm.new_value_error("Invalid norm order for vectors."));
    }
    Ok(Order::Number(object.try_float(vm)?.to_f64()))
}

fn uplo(args: &Args, vm: &VirtualMachine) -> PyResult<bool> {
    match args.text("UPLO", vm)?.as_deref() {
        None | Some("L" | "l") => Ok(false),
        Some("U" | "u") => Ok(true),
        Some(_) => Err(vm.new_value_error("UPLO argument must be 'L' or 'U'")),
    }
}

fn tensordot(args: &Args, vm: &VirtualMachine) -> PyResult {
    let (a, b) = (args.array(0, vm)?, args.array(1, vm)?);
    let (left, right): (Vec<i64>, Vec<i64>) = match args.get("axes", vm) {
        None => ((a.ndim() as i64 - 2..a.ndim() as i64).collect(), vec![0, 1]),
        Some(axes) => match crate::convert::to_index(axes, vm) {
            Ok(count) => {
                ((a.ndim() as i64 - count..a.ndim() as i64).collect(), (0..count).collect())
            }
            Err(_) => {
                let pair: Vec<PyObjectRef> = axes.try_to_value(vm)?;
                let [left, right] = pair.as_slice() else {
                    return Err(vm.new_value_error("axes must be a number or a pair"));
                };
                (to_signed_shape(left, vm)?, to_signed_shape(right, vm)?)
            }
        },
    };
    Ok(unwrap(linalg::tensordot(&a, &b, &left, &right).or_raise(vm)?, vm))
}

fn einsum(args: &Args, vm: &VirtualMachine) -> PyResult {
    let Some((subscripts, operands)) = args.rest.split_first() else {
        return Err(vm.new_value_error(
            "must specify the einstein sum subscripts string and at least one operand, or at least one operand and its corresponding subscripts list",
        ));
    };
    let Some(subscripts) = subscripts.downcast_ref::<PyStr>() else {
        return Err(vm.new_not_implemented_error(
            "RuaFlow's numpy takes einsum's subscripts as a string: einsum('ij,jk->ik', a, b)",
        ));
    };
    let operands = operands.iter().map(|one| to_array(one, vm)).collect::<PyResult<Vec<_>>>()?;
    let sum = linalg::einsum(&subscripts.to_string_lossy(), &operands);
    args.finish(sum.or_raise(vm)?, vm)
}

fn cross(args: &Args, vm: &VirtualMachine) -> PyResult {
    let (a, b) = (args.array(0, vm)?, args.array(1, vm)?);
    let all = args.axis("axis", vm)?;
    let axis = |name| Ok(all.unwrap_or(args.int(name, -1, vm)?));
    let product = linalg::cross(&a, &b, axis("axisa")?, axis("axisb")?, axis("axisc")?);
    Ok(wrap(product.or_raise(vm)?, vm))
}

/// Results with names, as numpy's are; made by a class in Python.
fn named(class: &str, fields: &[(&str, Array)], vm: &VirtualMachine) -> PyResult {
    let values = fields.iter().map(|(_, array)| unwrap(array.clone(), vm)).collect();
    let values: rustpython_vm::PyRef<PyTuple> = vm.ctx.new_tuple(values);
    let made = vm.import("numpy", 0)?.get_attr("linalg", vm)?;
    let class = made.get_attr(vm.ctx.intern_str(class), vm)?;
    class.call(rustpython_vm::function::FuncArgs::from(values.as_slice().to_vec()), vm)
}
