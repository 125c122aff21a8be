//! Cell runner → controller and back: one method call on the robot.

use crate::frame::frame;
use crate::frames::robot::Observation;

frame! {
    /// Cell runner (or another lease holder) → controller: call a motion primitive. Answered by one `result` with the same `id`.
    topic "call" version 1
    pub struct Call / CallRef {
        /// Request id.
        id: String,
        /// Who calls; must hold the lease. `cell` for the cell runner.
        caller: String,
        /// Method of the robot's API, such as `move_to`.
        method: String,
        /// Arguments by name, a JSON object.
        arguments: String,
        /// Time the caller will wait, milliseconds; 0 for no limit. The controller cancels the motion when it has passed.
        timeout_ms: u64,
    }
}

frame! {
    /// Anyone → controller: end a running motion within one control step. The call is still answered, with what had happened by then.
    topic "cancel" version 1
    pub struct Cancel / CancelRef {
        /// Id of the call; empty for whatever runs.
        id: String,
        /// Why, in words that end up in the result.
        reason: String,
    }
}

frame! {
    /// Controller → caller: how a call ended. Broadcast; filter by `id`.
    topic "result" version 1
    pub struct CallResult / CallResultRef {
        /// Id of the call.
        id: String,
        /// Who called.
        caller: String,
        /// Method that was called.
        method: String,
        /// Arguments as they were used, defaults filled in, a JSON object.
        arguments: String,
        /// Measured outcome by field name, a JSON object; `{}` when the call was refused.
        outcome: String,
        /// Empty when the call ran. `value_error`: bad arguments, nothing moved. `tool_error`: the robot or a service refused. `episode_finished`: the episode is over. `cancelled`: ended early by a `cancel`, `outcome` says how far it came.
        error: String,
        /// What went wrong, in words; empty when nothing did.
        message: String,
        /// Recorded step after the call: 0 is the initial scene, each state-changing call adds one, a cancelled one too.
        step: u64,
        /// Control steps the call used.
        control_steps: u64,
        /// Time from call to result, nanoseconds, monotonic.
        elapsed_ns: u64,
        /// What the robot measured last.
        observation: Observation,
    }
}

frame! {
    /// Controller → policy: what to do from here on? Answered by one `chunk` with the same `id`.
    topic "chunk_request" version 1
    pub struct ChunkRequest / ChunkRequestRef {
        /// Request id.
        id: String,
        /// Instruction for the policy.
        prompt: String,
        /// What the robot measured last; the pictures are to be those of its control step.
        observation: Observation,
    }
}

frame! {
    /// Policy → controller: an action chunk with its source and timing.
    topic "chunk" version 2
    pub struct Chunk / ChunkRef {
        /// Request id it answers.
        id: String,
        /// Why there is no action; empty when there are some.
        error: String,
        /// Model that made it.
        source: String,
        /// Action kind of its rows, as in `action`.
        kind: String,
        /// Number of actions.
        length: u32,
        /// `length` actions one after the other, gripper last in each; as the policy gave them, whatever the robot's limits.
        values: Vec<f64>,
        /// Control step of the observation it was made from.
        control_step: u64,
        /// Time the model took, nanoseconds.
        inference_ns: u64,
    }
}
