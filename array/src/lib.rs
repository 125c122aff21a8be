//! Strided arrays with numpy's semantics, without Python.
//!
//! The aim is that a program cannot tell the results from numpy's: values, types, shapes,
//! which operations return views, and the texts of errors. `ruaflow-numpy` puts Python's
//! `numpy` module on top.

mod array;
mod blocks;
mod buffer;
mod cast;
pub mod choose;
pub mod create;
mod dtype;
mod error;
pub mod index;
pub mod interrupt;
pub mod join;
mod lanes;
pub mod linalg;
pub mod print;
mod promote;
pub mod random;
pub mod rearrange;
pub mod reduce;
mod scalar;
pub mod shape;
pub mod sort;
pub mod stats;
pub mod ufunc;
mod view;
mod walk;
pub mod warn;

pub use array::{Array, Iter, MAX_DIMS, normalize_axis, shape_text};
pub use buffer::{Buffer, memory_limit, set_memory_limit};
pub use cast::{can_cast_safely, can_cast_same_kind};
pub use dtype::{DType, Element};
pub use error::{Error, Result};
pub use half::f16;
pub use promote::{Operand, promote, result_type};
pub use scalar::{Scalar, Weak};
