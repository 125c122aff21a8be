//! `where`, `select`, and the places of what is not zero.

use ruaflow_array::{Array, Operand, choose};
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
                let chosen = choose::choose(&condition, &to_operand(x, vm)?, &to_operand(y, vm)?);
                Ok(wrap(chosen.or_raise(vm)?, vm))
            }
            (None, None) => nonzero(&condition, vm),
            _ => Err(vm.new_value_error("either both or neither of x and y should be given")),
        }
    }),
    ("nonzero(a)", |args, vm| nonzero(&args.array(0, vm)?, vm)),
    ("flatnonzero(a)", |args, vm| {
        Ok(wrap(choose::flatnonzero(&args.array(0, vm)?).or_raise(vm)?, vm))
    }),
    ("argwhere(a)", |args, vm| Ok(wrap(choose::argwhere(&args.array(0, vm)?).or_raise(vm)?, vm))),
    ("select(condlist, choicelist, default=0)", |args, vm| {
        let conditions = to_arrays(args.required(0, vm)?, vm)?;
        let choices: Vec<PyObjectRef> = args.required(1, vm)?.try_to_value(vm)?;
        let choices =
            choices.iter().map(|one| to_operand(one, vm)).collect::<PyResult<Vec<_>>>()?;
        let default = args.operand_of("default", vm)?.unwrap_or_else(|| Operand::from(0));
        Ok(wrap(choose::select(&conditions, &choices, &default).or_raise(vm)?, vm))
    }),
];

fn nonzero(array: &Array, vm: &VirtualMachine) -> PyResult {
    if array.ndim() == 0 {
        return Err(vm.new_value_error(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead. If the context of this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`.",
        ));
    }
    let places = choose::nonzero(array).or_raise(vm)?;
    let places = places.into_iter().map(|one| wrap(one, vm)).collect();
    Ok(vm.ctx.new_tuple(places).into())
}
