//! Runs the agent's cells of Python in a child process and carries their calls
//! to the controller.
//!
//! [`child`], [`protocol`] and [`memory`] are the process and what goes to and
//! fro, [`sandbox`] is around it, [`runner`] is what the node does with it, and
//! [`node`] joins that to the dataflow. A call of a cell goes through `calls`;
//! what it sees comes from `eyes` and is measured in `looking`.

mod artifact;
pub mod audit;
mod calls;
pub mod child;
mod children;
mod conduct;
mod episode;
mod exit;
mod eyes;
pub mod feedback;
mod layers;
mod listener;
mod looking;
pub mod memory;
pub mod modules;
pub mod node;
mod npz;
mod outbox;
pub mod protocol;
pub mod runner;
mod running;
pub mod sandbox;
mod segments;
mod shown;
mod state;
mod text;
mod turn;
mod vm;
pub mod workspace;

use std::process::ExitCode;

/// First argument of a process that is a child; the second is its memory limit in bytes.
const CHILD_ARGUMENT: &str = "--child";
/// Asks which walls stand around a cell on this machine.
const LAYERS_ARGUMENT: &str = "--layers";

/// The binary's `main`: a cell's process when started as one, else the dora node.
pub fn main() -> ExitCode {
    // Before anything of dora: a cell's process must not even have tried to join.
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(CHILD_ARGUMENT) => match arguments.next().and_then(|text| text.parse().ok()) {
            Some(memory_bytes) => vm::main(memory_bytes),
            None => {
                eprintln!("{CHILD_ARGUMENT} is for the node's own use");
                ExitCode::from(2)
            }
        },
        Some(sandbox::attempt::ARGUMENT) => sandbox::attempt::main(arguments),
        Some(LAYERS_ARGUMENT) => layers::main(),
        _ => ruaflow_kit::main("cell-runner", env!("CARGO_PKG_VERSION"), node::run),
    }
}
