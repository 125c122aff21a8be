//! Planner → cell runner and back: one cell of Python.

use crate::frame::{frame, row};

frame! {
    /// Planner → cell runner: run a cell. Answered by one `cell_result` with the same `id`.
    topic "cell" version 1
    pub struct Cell / CellRef {
        /// Request id.
        id: String,
        /// Number of the cell within the episode, from 1; tracebacks say `<cell 3>`.
        index: u32,
        /// Python source.
        code: String,
        /// Deadline, milliseconds; 0 for none. When it passes, the cell's motion is cancelled and the cell is killed.
        timeout_ms: u64,
    }
}

row! {
    /// One call a cell made on the robot.
    pub struct LedgerEntry / LedgerEntryRef {
        /// Method.
        method: String,
        /// Arguments as given, a JSON object.
        arguments: String,
        /// Whether the call ran. A measured failure (a stall) is still `ok`.
        ok: bool,
        /// Outcome as a JSON object, or the error in words.
        outcome: String,
        /// Whether the call may have changed the scene.
        stateful: bool,
        /// Recorded step after the call.
        step: u64,
        /// Control steps used.
        control_steps: u64,
        /// Start of the call since the cell began, nanoseconds.
        start_ns: u64,
        /// Time the call took, nanoseconds.
        elapsed_ns: u64,
    }
}

frame! {
    /// Cell runner → planner: how a cell ended.
    topic "cell_result" version 1
    pub struct CellResult / CellResultRef {
        /// Id of the cell.
        id: String,
        /// Number of the cell within the episode.
        index: u32,
        /// `ok`; `error`: it raised; `finished`: it called `finish`; `episode_finished`: the episode is over; `timeout`: killed at its deadline; `crashed`: its process died (memory, stack, a crash of the interpreter); `cancelled`.
        status: String,
        /// Captured standard output, cut in the middle when too long.
        stdout: String,
        /// Captured standard error, cut in the middle when too long.
        stderr: String,
        /// `repr` of the last expression; empty when there was none or it was `None`.
        value: String,
        /// Traceback, or what happened to the process; empty when all went well.
        error: String,
        /// Whether the namespace was lost, so that the next cell starts with an empty one.
        namespace_lost: bool,
        /// Status given to `finish`: `success`, `failure` or `stuck`; empty when it was not called.
        finish_status: String,
        /// Summary given to `finish`.
        finish_summary: String,
        /// Names of the pictures the cell asked to show.
        images: Vec<String>,
        /// Calls made on the robot, in order.
        ledger: Vec<LedgerEntry>,
        /// Control steps used by the cell.
        control_steps: u64,
        /// Run time of the cell, nanoseconds.
        elapsed_ns: u64,
        /// The robot's last state in a line of words.
        state_summary: String,
    }
}
