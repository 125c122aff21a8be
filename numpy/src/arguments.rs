//! Arguments as the engine's types.

use ruaflow_array::{Array, DType, Operand, Scalar};
use rustpython_vm::builtins::{PyStr, PyTuple};
use rustpython_vm::{AsObject as _, PyObjectRef, PyResult, VirtualMachine};

use crate::convert::{array_of, to_array, to_array_as, to_index, to_signed_shape, unwrap};
use crate::dtype::dtype_arg;
use crate::error::OrRaise as _;
use crate::operators::to_operand;
use crate::signature::Args;

impl Args {
    /// A required argument as an array.
    pub(crate) fn array(&self, index: usize, vm: &VirtualMachine) -> PyResult<Array> {
        to_array(self.required(index, vm)?, vm)
    }

    /// A required argument as an operand, in which Python numbers have no type.
    pub(crate) fn operand(&self, index: usize, vm: &VirtualMachine) -> PyResult<Operand> {
        to_operand(self.required(index, vm)?, vm)
    }

    /// An optional argument as an operand.
    pub(crate) fn operand_of(&self, name: &str, vm: &VirtualMachine) -> PyResult<Option<Operand>> {
        self.get(name, vm).map(|object| to_operand(object, vm)).transpose()
    }

    /// An optional argument as an array.
    pub(crate) fn array_of(&self, name: &str, vm: &VirtualMachine) -> PyResult<Option<Array>> {
        self.get(name, vm).map(|object| to_array(object, vm)).transpose()
    }

    /// `where=`: a mask, unless it is plain `True`.
    pub(crate) fn mask(&self, vm: &VirtualMachine) -> PyResult<Option<Array>> {
        match self.get("where", vm) {
            Some(mask) if !mask.is(&vm.ctx.true_value) => {
                to_array_as(mask, Some(DType::Bool), vm).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// `axis=`: one, several, or none.
    pub(crate) fn axes(&self, name: &str, vm: &VirtualMachine) -> PyResult<Option<Vec<i64>>> {
        let Some(object) = self.get(name, vm) else { return Ok(None) };
        if object.downcast_ref::<PyTuple>().is_some() || array_of(object).is_some() {
            return to_signed_shape(object, vm).map(Some);
        }
        Ok(Some(vec![to_index(object, vm)?]))
    }

    /// An axis, or none.
    pub(crate) fn axis(&self, name: &str, vm: &VirtualMachine) -> PyResult<Option<i64>> {
        self.get(name, vm).map(|object| to_index(object, vm)).transpose()
    }

    /// An axis with a default that is not `None`.
    pub(crate) fn axis_or(
        &self,
        name: &str,
        default: i64,
        vm: &VirtualMachine,
    ) -> PyResult<Option<i64>> {
        match self.given(name) {
            None => Ok(Some(default)),
            Some(_) => self.axis(name, vm),
        }
    }

    pub(crate) fn int(&self, name: &str, default: i64, vm: &VirtualMachine) -> PyResult<i64> {
        self.get(name, vm).map_or(Ok(default), |object| to_index(object, vm))
    }

    /// An optional number.
    pub(crate) fn float_of(&self, name: &str, vm: &VirtualMachine) -> PyResult<Option<f64>> {
        self.get(name, vm).map(|object| Ok(object.try_float(vm)?.to_f64())).transpose()
    }

    pub(crate) fn float(&self, name: &str, default: f64, vm: &VirtualMachine) -> PyResult<f64> {
        Ok(self.float_of(name, vm)?.unwrap_or(default))
    }

    pub(crate) fn text(&self, name: &str, vm: &VirtualMachine) -> PyResult<Option<String>> {
        let Some(object) = self.get(name, vm) else { return Ok(None) };
        match object.downcast_ref::<PyStr>() {
            Some(text) => Ok(Some(text.to_string_lossy().into_owned())),
            None => Err(vm.new_type_error(format!(
                "{}(): {name} must be str, not {}",
                self.name(),
                object.class().name()
            ))),
        }
    }

    pub(crate) fn dtype(&self, vm: &VirtualMachine) -> PyResult<Option<DType>> {
        dtype_arg(self, "dtype", vm)
    }

    /// An optional number as a scalar.
    pub(crate) fn scalar(&self, name: &str, vm: &VirtualMachine) -> PyResult<Option<Scalar>> {
        self.get(name, vm).map(|object| to_array(object, vm)?.item().or_raise(vm)).transpose()
    }

    /// `out=`: an array, or a tuple of one.
    pub(crate) fn out(&self, vm: &VirtualMachine) -> PyResult<Option<PyObjectRef>> {
        let Some(object) = self.get("out", vm) else { return Ok(None) };
        let object = match object.downcast_ref::<PyTuple>() {
            Some(one) if one.len() == 1 => one.as_slice()[0].clone(),
            _ => object.clone(),
        };
        if vm.is_none(&object) {
            return Ok(None);
        }
        if array_of(&object).is_none() {
            return Err(vm.new_type_error("return arrays must be of ArrayType"));
        }
        Ok(Some(object))
    }

    /// A finished result: written to `out=` if that is given.
    pub(crate) fn finish(&self, result: Array, vm: &VirtualMachine) -> PyResult {
        match self.out(vm)? {
            None => Ok(unwrap(result, vm)),
            Some(object) => {
                if let Some(out) = array_of(&object) {
                    if out.shape() != result.shape() {
                        return Err(vm.new_value_error(format!(
                            "output array does not match result of {}",
                            self.name()
                        )));
                    }
                    out.assign(&[ruaflow_array::index::Index::Ellipsis], &result.into())
                        .or_raise(vm)?;
                }
                Ok(object)
            }
        }
    }
}
