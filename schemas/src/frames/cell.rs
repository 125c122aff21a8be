//! Planner → cell runner and back: one cell of Python.

use crate::Bytes;
use crate::frame::{frame, row};

frame! {
    /// Planner → cell runner: run a cell. Answered by one `cell_result` with the same `id`.
    topic "cell" version 3
    pub struct Cell / CellRef {
        /// Request id.
        id: String,
        /// Number of the cell within the episode, from 1; tracebacks say `<cell 3>`.
        index: u32,
        /// Python source.
        code: String,
        /// Deadline, milliseconds; 0 for none. When it passes, the cell's motion is cancelled and the cell is killed.
        timeout_ms: u64,
        /// Whether it starts with an empty namespace, as a program does.
        fresh: bool,
        /// Absolute path of the episode's workspace, the only folder whose files the cell sees; empty for none. The cell runner makes it.
        workspace: String,
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

row! {
    /// A picture for the agent.
    pub struct Picture / PictureRef {
        /// What the agent is told it is: a camera, or a number for one it displayed.
        name: String,
        /// Camera; empty for a picture that the cell made itself.
        camera: String,
        /// Control step pictured.
        control_step: u64,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// The picture as a PNG file.
        png: Bytes,
    }
}

frame! {
    /// Cell runner → planner: how a cell ended.
    topic "cell_result" version 2
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
        /// What the agent reads: everything it should know of the cell, in the run's kind of feedback and at most 20,000 characters.
        feedback: String,
        /// Pictures the agent sees after the text, in order.
        images: Vec<Picture>,
        /// Calls made on the robot, in order.
        ledger: Vec<LedgerEntry>,
        /// Control steps used by the cell.
        control_steps: u64,
        /// What the cell's source tried that a policy has no use for, found without running it: `import:subprocess`, `private-attr:_call`, `escape:__globals__`, `probe:getattr`, `path:/etc/passwd`; at most 40.
        audit: Vec<String>,
        /// Run time of the cell, nanoseconds.
        elapsed_ns: u64,
        /// The robot's last state in a line of words.
        state_summary: String,
    }
}
