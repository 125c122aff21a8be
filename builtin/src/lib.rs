//! A mind that needs no model: reads an instruction with a grammar, writes cells that
//! use nothing but the public `robo` API, and decides by what they measured.
//!
//! [`parse`] makes goals of an instruction. [`solve`] reaches them over a [`World`],
//! which is whatever runs a cell: the planner in a run, a harness in a test.

mod cells;
mod goal;
mod grammar;
mod skills;
mod solve;
mod words;

pub use goal::{Goal, Level, Part, Phrase, Place, Relation, Side};
pub use grammar::{NotUnderstood, parse};
pub use solve::{Ending, Ran, World, solve};
