//! Runs the agent's cells of Python in a child process and carries their calls
//! to the controller.
//!
//! [`child`] and [`protocol`] are the process and its pipes, [`runner`] is what
//! the node does with them, [`node`] joins that to the dataflow.

pub mod child;
pub mod node;
mod outbox;
pub mod protocol;
pub mod runner;
mod running;
mod state;
mod text;
mod vm;

use std::process::ExitCode;

/// First argument of a process that is a child; the second is its memory limit in bytes.
const CHILD_ARGUMENT: &str = "--child";

/// The binary's `main`: a cell's process when started as one, else the dora node.
pub fn main() -> ExitCode {
    // Before anything of dora: a cell's process must not even have tried to join.
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(CHILD_ARGUMENT) {
        let Some(memory_bytes) = arguments.next().and_then(|text| text.parse().ok()) else {
            eprintln!("{CHILD_ARGUMENT} is for the node's own use");
            return ExitCode::from(2);
        };
        vm::main(memory_bytes);
    }
    ruaflow_kit::main("cell-runner", env!("CARGO_PKG_VERSION"), node::run)
}
