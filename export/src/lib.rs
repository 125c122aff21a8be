//! Recorded episodes for other programs: LeRobot datasets to train on, what ran at
//! each control step for captions, and tables that the Rerun viewer's script reads.
//!
//! Nothing here draws: whoever exports hands in the pictures.

mod episode;
mod error;
pub mod lerobot;
mod story;
mod view;

pub use crate::episode::{Episode, Source};
pub use crate::error::ExportError;
pub use crate::story::{Moment, Story};
pub use crate::view::{BodyPose, View, ViewWriter};
