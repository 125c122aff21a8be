//! `where`, `select`, and the places of what is not zero.

use ruaflow_array::shape::broadcast_shapes;
use ruaflow_array::{
    Array, DType, Element, Operand, Result as ArrayResult, result_type, with_dtype,
};
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

use crate::convert::{to_arrays, wrap};
use crate::error::OrRaise as _;
use crate::operators::to_operand;
use crate::signature::Entry;

pub(crate) const CHOOSE: &[Entry] = &[
    ("where(condition, x=None, y=None, /)", |args, vm| {
        let condition = args.array(0, vm)?;
        match (args.given("x"), args.given("y")) {
            (Some(x), Some(y)) => {
                let chosen = choose(&condition, &to_operand(x, vm)?, &to_operand(y, vm)?);
                Ok(wrap(chosen.or_raise(vm)?, vm))
            }
            (None, None) => nonzero(&condition, vm),
            _ => Err(vm.new_value_error("either both or neither of x and y should be given")),
        }
    }),
    ("nonzero(a)", |args, vm| nonzero(&args.array(0, vm)?, vm)),
    ("flatnonzero(a)", |args, vm| {
        let places = places(&args.array(0, vm)?).or_raise(vm)?;
        Ok(wrap(Array::vector(places), vm))
    }),
    ("argwhere(a)", |args, vm| {
        let array = args.array(0, vm)?;
        let shape = array.shape().to_vec();
        let places = places(&array).or_raise(vm)?;
        let rows = [places.len(), shape.len()];
        let numbers = places.into_iter().flat_map(|place| unravel(place, &shape)).collect();
        Ok(wrap(Array::from_vec::<i64>(numbers, &rows).or_raise(vm)?, vm))
    }),
    ("select(condlist, choicelist, default=0)", |args, vm| {
        let conditions = to_arrays(args.required(0, vm)?, vm)?;
        let choices: Vec<PyObjectRef> = args.required(1, vm)?.try_to_value(vm)?;
        if conditions.len() != choices.len() {
            return Err(
                vm.new_value_error("list of cases must be same length as list of conditions")
            );
        }
        if conditions.is_empty() {
            return Err(vm.new_value_error("select with an empty condition list is not possible"));
        }
        if conditions.iter().any(|condition| condition.dtype() != DType::Bool) {
            return Err(vm.new_type_error("invalid entry 0 in condlist: should be boolean ndarray"));
        }
        let default = args.operand_of("default", vm)?.unwrap_or_else(|| Operand::from(0));
        let choices =
            choices.iter().map(|one| to_operand(one, vm)).collect::<PyResult<Vec<_>>>()?;
        let dtype = result_type(choices.iter().chain([&default]));
        let mut chosen = Operand::from(default.to_array(dtype).or_raise(vm)?);
        for (condition, choice) in conditions.iter().zip(&choices).rev() {
            let choice = choice.to_array(dtype).or_raise(vm)?;
            chosen = choose(condition, &choice.into(), &chosen).or_raise(vm)?.into();
        }
        Ok(wrap(chosen.to_array(dtype).or_raise(vm)?, vm))
    }),
];

/// `x` where the condition is true, else `y`.
fn choose(condition: &Array, x: &Operand, y: &Operand) -> ArrayResult<Array> {
    let dtype = result_type([x, y]);
    let shape = broadcast_shapes(&[condition.shape(), x.shape(), y.shape()])?;
    let condition = condition.cast(DType::Bool)?.broadcast_to(&shape)?;
    let (x, y) = (x.to_array(dtype)?, y.to_array(dtype)?);
    with_dtype!(dtype, T => pick::<T>(&condition, &x.broadcast_to(&shape)?, &y.broadcast_to(&shape)?))
}

fn pick<T: Element>(condition: &Array, x: &Array, y: &Array) -> ArrayResult<Array> {
    Array::build(condition.shape(), |out: &mut [T]| {
        let constant = |array: &Array| {
            let whole = !array.is_empty() && array.strides().iter().all(|&stride| stride == 0);
            whole.then(|| array.flat(0).to::<T>())
        };
        if let (Some(condition), Some(x), Some(y)) =
            (condition.as_cells::<bool>(), x.as_cells::<T>(), constant(y))
        {
            for ((out, condition), x) in out.iter_mut().zip(condition).zip(x) {
                *out = if condition.get() { x.get() } else { y };
            }
            return Ok(());
        }
        let values = condition.iter::<bool>().zip(x.iter::<T>()).zip(y.iter::<T>());
        for (out, ((condition, x), y)) in out.iter_mut().zip(values) {
            *out = if condition { x } else { y };
        }
        Ok(())
    })
}

/// The numbers, in C order, of the elements that are not zero.
fn places(array: &Array) -> ArrayResult<Vec<i64>> {
    let truth = array.cast(DType::Bool)?.ravel()?;
    let mut places = Vec::new();
    if let Some(cells) = truth.as_cells::<bool>() {
        places.extend(
            cells.iter().enumerate().filter(|(_, cell)| cell.get()).map(|(at, _)| at as i64),
        );
    }
    Ok(places)
}

fn unravel(place: i64, shape: &[usize]) -> Vec<i64> {
    let mut rest = place;
    let mut index: Vec<i64> = shape
        .iter()
        .rev()
        .map(|&length| {
            let at = rest % length as i64;
            rest /= length as i64;
            at
        })
        .collect();
    index.reverse();
    index
}

fn nonzero(array: &Array, vm: &VirtualMachine) -> PyResult {
    if array.ndim() == 0 {
        return Err(vm.new_value_error(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead. If the context of this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`.",
        ));
    }
    let shape = array.shape().to_vec();
    let places = places(array).or_raise(vm)?;
    let mut columns: Vec<Vec<i64>> = Vec::new();
    // From the fastest dimension on, so that one division a place and dimension is enough.
    let mut rest = places;
    for &length in shape.iter().rev() {
        let length = length.max(1) as i64;
        columns.push(rest.iter().map(|place| place % length).collect());
        rest.iter_mut().for_each(|place| *place /= length);
    }
    let columns = columns.into_iter().rev().map(|column| wrap(Array::vector(column), vm));
    Ok(vm.ctx.new_tuple(columns.collect()).into())
}
