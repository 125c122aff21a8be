//! The whole state of a simulation, as it is recorded, resumed and rendered.

/// Everything that a later step, picture or verdict depends on. Stepping on from a
/// restored state is equal, bit for bit, to never having stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct SimState {
    /// Control steps since the episode began, settling not counted.
    pub control_step: u64,
    /// Simulated time, seconds.
    pub time: f64,
    /// MuJoCo's `mjSTATE_INTEGRATION`: positions, velocities, warm start, controls and the like.
    pub integration: Vec<f64>,
    /// Poses `[x y z qw qx qy qz]` of the fixtures drawn at reset, in the scene's
    /// fixture order, metres.
    pub fixtures: Vec<[f64; 7]>,
    /// Visual toggles (a stove's glowing burner) in the scene's order: whether each shows.
    pub visuals: Vec<bool>,
    /// The arm controller: goal position (3), goal orientation by rows (9), and 1
    /// when no step was made since the reset, else 0.
    pub controller: [f64; 13],
    /// Finger commands in [-1, 1].
    pub gripper: [f64; 2],
    /// The success latch.
    pub success: bool,
}
