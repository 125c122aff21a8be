//! Which of several things a phrase means: "the black bowl next to the plate",
//! "the left moka pot", "the top drawer of the cabinet".
//!
//! [`Query::parse`] takes a phrase apart into a noun and words that relate;
//! [`ground`] asks for the things the nouns name and decides by where they are
//! in the world. What finds things in a picture is not known here.
//!
//! Directions are those of LIBERO's instructions, which speak of the scene as its
//! fixed camera shows it, from across the table: right is +y, left is -y, front
//! is +x (nearer to that camera, farther from the robot), back is -x.
//!
//! ```
//! use grounding::{Body, Query, Thing, ground};
//!
//! let at = |y: f64| Thing {
//!     score: 0.9,
//!     body: Some(Body { center: [0.0, y, 0.9], low: [-0.1, y - 0.1, 0.9], high: [0.1, y + 0.1, 0.92] }),
//! };
//! let query = Query::parse("the left plate")?;
//! let found = ground(&query, |noun| {
//!     assert_eq!(noun, "plate");
//!     Ok::<_, grounding::PhraseError>(vec![at(0.3), at(-0.3)])
//! })?;
//! assert_eq!(found.order, [1, 0], "the left one first");
//! # Ok::<(), grounding::PhraseError>(())
//! ```

mod body;
mod ground;
mod phrase;
mod relation;

pub use crate::body::{Body, Measured, measure};
pub use crate::ground::{Grounded, Thing, ground};
pub use crate::phrase::{Kind, Part, PhraseError, Query, Relation, Side};
