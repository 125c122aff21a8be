//! No robot: cells that only compute, as `rua cell` runs them.

use crate::api::{Limits, Resolutions, RobotApi};

/// An API without anything in it.
pub static NONE: RobotApi = RobotApi {
    name: "none",
    doc: "There is no robot in this run.",
    constants: &[],
    attributes: &[],
    methods: &[],
    cameras: &[],
    resolutions: Resolutions { high: (0, 0), low: (0, 0) },
    limits: Limits { gripper: (0.0, 0.0), max_planar_move_m: None, max_picture_side: 0 },
    knowledge: "",
};
