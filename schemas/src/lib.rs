//! The frames that RuaFlow's nodes exchange: one Rust type per topic, with its
//! Arrow schema, a builder and a reader that borrows from the received array.
//!
//! A frame is one row of an Arrow struct array. [`encode`] builds the array,
//! [`Rows::read`] checks topic, version and types once and then hands out rows
//! that read in place:
//!
//! ```
//! use ruaflow_schemas::{Cancel, Rows, encode};
//!
//! let array = encode(&[Cancel { id: String::new(), reason: "deadline".into() }]);
//! let rows = Rows::<Cancel>::read("cancel", 1, array)?;
//! assert_eq!(rows.get(0).reason(), "deadline");
//! # Ok::<(), ruaflow_schemas::SchemaError>(())
//! ```
//!
//! Units are SI: metres, seconds, radians. Quaternions are `xyzw`. The world
//! frame has z up. Pixels are `(row, col)` from the top left. Times are integer
//! nanoseconds; the field's doc names the clock.

mod column;
mod error;
mod frame;
mod frames;
pub mod reference;
mod stamp;

pub use crate::column::{Bytes, Column, ListRef};
pub use crate::error::SchemaError;
pub use crate::frame::{FieldDoc, Frame, Row, Rows, encode, frame_schema};
pub use crate::frames::*;
pub use crate::stamp::Stamp;
