//! What the methods of the LIBERO robot answer with.

use crate::api::{Field, Record, Type};
use crate::geometry::{pitch_of_record, yaw_of_record};
use crate::motion::{
    FINAL_DIST, FINAL_EEF_POS, STALL_REASON, STALLED, STEPS_USED, TERMINATED, TRUNCATED,
};

pub(super) static STATE: Record = Record {
    name: "State",
    doc: "The robot at one step.",
    fields: &[
        Field::new("step", Type::Int, "", "recorded step it is from"),
        Field::new("task", Type::Str, "", "the instruction").plain(),
        Field::new("eef_pos", Type::Vector(3), "m", "the gripper's centre"),
        Field::new("eef_quat", Type::Vector(4), "", "its orientation, xyzw"),
        Field::new("eef_yaw", Type::Float, "rad", "its turn about the vertical axis")
            .derived(yaw_of_record),
        Field::new("eef_pitch", Type::Float, "rad", "its tilt; 0 points straight down")
            .derived(pitch_of_record),
        Field::new("gripper_qpos", Type::Vector(2), "m", "the two finger joints"),
        Field::new(
            "gripper_opening",
            Type::Float,
            "m",
            "between the fingers: about 0.08 open, 0.01 to 0.05 holding something, 0 closed on \
             nothing",
        ),
        Field::new("object_names", Type::Strs, "", "the movable objects, without poses"),
        TERMINATED,
        TRUNCATED,
    ],
};

pub(super) static MOVE_POSE: Record = Record {
    name: "MovePose",
    doc: "What move_pose did.",
    fields: &[
        FINAL_EEF_POS,
        FINAL_DIST,
        Field::new("final_pitch", Type::Float, "rad", "tilt at the end").plain(),
        Field::new("reached", Type::Bool, "", "final_dist_m <= tol; says nothing of the angles"),
        STEPS_USED,
        TERMINATED,
        TRUNCATED,
        STALLED,
        STALL_REASON,
    ],
};

pub(super) static ROTATION: Record = Record {
    name: "Rotation",
    doc: "What rotate_wrist or rotate_pitch did.",
    fields: &[
        Field::new("start", Type::Float, "rad", "angle before").plain(),
        Field::new("target", Type::Float, "rad", "angle commanded").plain(),
        Field::new("final", Type::Float, "rad", "angle after").plain(),
        Field::new("final_err", Type::Float, "rad", "angle left to the target").plain(),
        Field::new("reached", Type::Bool, "", "|final_err| <= tol"),
        STEPS_USED,
        TERMINATED,
        TRUNCATED,
        STALLED,
        STALL_REASON,
    ],
};

const CHUNKS_USED: Field = Field::new("chunks_used", Type::Int, "", "action chunks taken").plain();
const MAX_CHUNKS: Field = Field::new("max_chunks", Type::Int, "", "action chunks allowed").plain();

pub(super) static PICK: Record = Record {
    name: "Pick",
    doc: "What pi0_pick did.",
    fields: &[
        Field::new(
            "success",
            Type::Bool,
            "",
            "it stopped by its rule or the task is solved: a hint, no proof",
        ),
        CHUNKS_USED,
        MAX_CHUNKS,
        Field::new("peak_lift_m", Type::Float, "m", "rise since the lowest point"),
        Field::new("min_gripper_opening", Type::Float, "m", "narrowest opening").plain(),
        Field::new("final_gripper_opening", Type::Float, "m", "opening after").plain(),
        TERMINATED,
        TRUNCATED,
        Field::new("diagnostics", Type::Dict, "", "the heights and thresholds behind it"),
    ],
};

pub(super) static CONTACT: Record = Record {
    name: "Contact",
    doc: "What pi0_doubled did.",
    fields: &[
        Field::new(
            "success",
            Type::Bool,
            "",
            "the task is solved; False says nothing of a step on the way",
        ),
        CHUNKS_USED,
        MAX_CHUNKS,
        TERMINATED,
        TRUNCATED,
    ],
};
