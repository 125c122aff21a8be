//! The topics, grouped by who speaks with whom.

mod camera;
mod cell;
mod episode;
mod events;
mod motion;
mod recording;
mod robot;
mod segment;

pub use camera::*;
pub use cell::*;
pub use episode::*;
pub use events::*;
pub use motion::*;
pub use recording::*;
pub use robot::*;
pub use segment::*;
