//! Arrays from the node, over the memory file that they came in.

use std::os::fd::{AsFd as _, OwnedFd};
use std::rc::Rc;

use ruaflow_array::{Array, Buffer, DType};
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};
use serde_json::Value;

use super::convert::python_from_json;
use crate::memory::Mapping;
use crate::protocol::{ArrayInfo, BYTES};

#[derive(Debug, thiserror::Error)]
enum ArrayError {
    #[error("its memory cannot be mapped: {0}")]
    Memory(#[from] std::io::Error),
    #[error("array {name:?} has the unknown type {dtype:?}")]
    Type { name: String, dtype: String },
    #[error("array {name:?} begins beyond its memory")]
    Place { name: String },
    #[error("array {name:?}: {source}")]
    Array { name: String, source: ruaflow_array::Error },
}

/// An answer with arrays for Python: the only array, or the fields of `value`
/// and one for each array, `others.0.mask` within the first of the `others`.
///
/// What a cell writes into them stays in its process, without a copy beforehand.
pub(super) fn received(
    value: &Value,
    arrays: &[ArrayInfo],
    memory: &OwnedFd,
    vm: &VirtualMachine,
) -> PyResult<PyObjectRef> {
    let mut mapped = map(arrays, memory)
        .map_err(|error| vm.new_runtime_error(format!("the node's answer is broken: {error}")))?;
    if let [ArrayInfo { name, .. }] = arrays
        && name.is_empty()
        && let Some(array) = mapped.pop()
    {
        return value_of(&arrays[0], array, vm);
    }
    let fields = match value {
        Value::Null => vm.ctx.new_dict().into(),
        value => python_from_json(value, vm)?,
    };
    for (info, array) in arrays.iter().zip(mapped) {
        let (within, name) = info.name.rsplit_once('.').unwrap_or(("", &info.name));
        let mut inner = fields.clone();
        for step in within.split('.').filter(|step| !step.is_empty()) {
            inner = match step.parse::<usize>() {
                Ok(index) => inner.get_item(&index, vm)?,
                Err(_) => inner.get_item(step, vm)?,
            };
        }
        inner.set_item(name, value_of(info, array, vm)?, vm)?;
    }
    Ok(fields)
}

/// A file's contents are `bytes`, everything else is an array.
fn value_of(info: &ArrayInfo, array: Array, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
    if info.dtype != BYTES {
        return python_from_array(array, vm);
    }
    let bytes = array.to_vec::<u8>().map_err(|error| vm.new_value_error(error.to_string()))?;
    Ok(vm.ctx.new_bytes(bytes).into())
}

fn python_from_array(array: Array, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
    Ok(ruaflow_numpy::to_python(array, vm))
}

fn map(arrays: &[ArrayInfo], memory: &OwnedFd) -> Result<Vec<Array>, ArrayError> {
    let memory = Rc::new(Mapping::private(memory.as_fd())?);
    arrays.iter().map(|info| array(info, &memory)).collect()
}

fn array(info: &ArrayInfo, memory: &Rc<Mapping>) -> Result<Array, ArrayError> {
    let name = || info.name.clone();
    let dtype = Some(DType::U8)
        .filter(|_| info.dtype == BYTES)
        .or_else(|| DType::from_name(&info.dtype))
        .ok_or_else(|| ArrayError::Type { name: name(), dtype: info.dtype.clone() })?;
    let bytes =
        memory.len().checked_sub(info.offset).ok_or_else(|| ArrayError::Place { name: name() })?;
    // SAFETY: the offset is within the mapping, which the buffer keeps alive and
    // which only this process's copy of the pages is behind.
    let buffer = unsafe {
        let start = memory.start().add(info.offset);
        Buffer::foreign(start, bytes, Box::new(Rc::clone(memory)), true)
    };
    Array::from_buffer(Rc::new(buffer), dtype, &info.shape)
        .map_err(|source| ArrayError::Array { name: name(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Part, pack};

    fn file(parts: &[Part<'_>]) -> (OwnedFd, Vec<ArrayInfo>) {
        let (sealed, infos) = pack(parts).unwrap();
        (sealed.as_fd().try_clone_to_owned().unwrap(), infos)
    }

    #[test]
    fn arrays_look_at_the_memory_they_came_in() {
        let depth: Vec<u8> = [1.5_f32, 2.5].iter().flat_map(|value| value.to_le_bytes()).collect();
        let (memory, infos) = file(&[
            Part { name: "rgb", dtype: "uint8", shape: &[1, 1, 3], bytes: &[7, 8, 9] },
            Part { name: "depth", dtype: "float32", shape: &[1, 2], bytes: &depth },
        ]);
        let arrays = map(&infos, &memory).unwrap();
        assert_eq!(arrays[0].shape(), [1, 1, 3]);
        assert_eq!((arrays[1].dtype(), arrays[1].shape()), (DType::F32, [1, 2].as_slice()));
        assert_eq!(arrays[1].offset(), 0);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (memory, infos) =
            file(&[Part { name: "", dtype: "bool", shape: &[2], bytes: &[1, 2] }]);
        let good = ArrayInfo { dtype: "uint8".to_owned(), ..infos[0].clone() };
        assert!(map(std::slice::from_ref(&good), &memory).is_ok());
        for bad in [
            infos[0].clone(),
            ArrayInfo { shape: vec![3], ..good.clone() },
            ArrayInfo { shape: vec![usize::MAX, 2], ..good.clone() },
            ArrayInfo { offset: 3, ..good.clone() },
            ArrayInfo { dtype: "object".to_owned(), ..good.clone() },
            ArrayInfo { dtype: "float32".to_owned(), shape: vec![0, 1], offset: 99, ..good },
        ] {
            assert!(map(std::slice::from_ref(&bad), &memory).is_err(), "{bad:?}");
        }
    }
}
