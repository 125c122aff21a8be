//! What everyone must know: beginnings, ends, warnings and errors.

use crate::frame::frame;

frame! {
    /// Any node → those who listen: something happened. [`event`](mod@crate::event) lists the kinds.
    topic "event" version 1
    pub struct Event / EventRef {
        /// What happened; one of the constants in [`event`](mod@crate::event).
        kind: String,
        /// Node that says so.
        node: String,
        /// Text for people; empty when the kind says all.
        message: String,
        /// Details by kind, a JSON object.
        data: String,
    }
}

/// The kinds of events.
pub mod event {
    /// Planner: the run begins; `data` holds `run` and `dir`. Sent until every node has answered `ready`.
    pub const RUN: &str = "run";
    /// Every node: answer to `run`. The recorder answers once it can write.
    pub const READY: &str = "ready";
    /// Planner: an episode began; `data` holds `episode`.
    pub const STARTED: &str = "started";
    /// Planner: the episode is over; `data` holds `episode`, `reason`, `success`.
    pub const ENDED: &str = "ended";
    /// Every node: all its rows of the episode have been sent; `data` holds `episode` and `batches`, the number of batches sent so far.
    pub const FLUSHED: &str = "flushed";
    /// Recorder: the episode is on disk, whole; `data` holds `episode`.
    pub const RECORDED: &str = "recorded";
    /// Planner: the run is over, end cleanly.
    pub const SHUTDOWN: &str = "shutdown";
    /// Robot: a request for a picture was answered; `data` holds `id`, `camera`, `control_step`, `width`, `height`, `preview`, `error`, `rendered` (false when an earlier picture served), and the episode's counts `asked_so_far` and `rendered_so_far`. Recorded, not sent live.
    pub const PICTURE: &str = "picture";
    /// Planner: end the running cell early, the episode goes on.
    pub const SKIP: &str = "skip";
    /// Perception: a question about a picture was answered; `data` holds `id`, `error`, `reason`, `found` (each with `label` and `score`), `source`, `privileged`, and the times `look_ns` and `ask_ns`. Recorded, not sent live.
    pub const SEGMENTED: &str = "segmented";
    /// Robot: an action was refused; `data` holds `action_id`. Nothing moved.
    pub const REFUSED: &str = "refused";
    /// Controller: emergency stop, motion is held and no call is taken.
    pub const STOPPED: &str = "stopped";
    /// Controller: a person asks for a clean end of the run.
    pub const STOP: &str = "stop";
    /// Controller: the lease changed; `data` holds `holder`.
    pub const LEASE: &str = "lease";
    /// Cell runner: the walls around the cells; `data` holds `layers`, each with `wall`, `holds` and `note`.
    pub const SANDBOX: &str = "sandbox";
    /// Robot: what its scene and motion depend on, such as a simulator's version; `data` holds it by name. Recorded only, with each episode.
    pub const VERSIONS: &str = "versions";
    /// Any node: something is wrong, the run goes on.
    pub const WARNING: &str = "warning";
    /// Any node: something failed that ends the run.
    pub const ERROR: &str = "error";
}
