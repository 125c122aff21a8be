//! Recordings played again: the actions of one in its simulator, checked bit for bit
//! ([`rerun`]), or what was measured then as a robot of the dataflow ([`run`]).

mod album;
mod difference;
mod pace;
mod player;
mod rerun;
mod simulators;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod staged;
mod theatre;

pub use crate::difference::{Difference, difference, parting};
pub use crate::pace::Pace;
pub use crate::player::{Player, run};
pub use crate::rerun::{Original, Outcome, ReplayError, Rerun, rerun};
pub use crate::simulators::{SIMULATORS, Simulators};
