//! Parameters and fields that several robots share word for word.

use crate::api::{Default, ErrorDoc, Field, Param, Record, Type};

pub(crate) const GRIPPER_DOC: &str =
    "gripper command during the motion; \"hold\" repeats the last non-zero command";

pub(crate) const XYZ: Param = Param::any(
    "xyz",
    Type::Vector(3),
    Default::Required,
    "m",
    "target of the gripper centre in the world frame",
);

pub(crate) const TERMINATED: Field = Field::new(
    "terminated",
    Type::Bool,
    "",
    "the benchmark's predicate holds: the task is solved and the episode over",
);

pub(crate) const TRUNCATED: Field =
    Field::new("truncated", Type::Bool, "", "the step budget is used up and the episode over");

pub(crate) const STALLED: Field =
    Field::new("stalled", Type::Bool, "", "the arm stopped making progress before it got there");

pub(crate) const STALL_REASON: Field =
    Field::new("stall_reason", Type::Str, "", "what was measured when it stalled").optional();

pub(crate) const STEPS_USED: Field = Field::new("steps_used", Type::Int, "", "control steps taken");

pub(crate) const BAD_ARGUMENT: ErrorDoc =
    ErrorDoc { exception: "ValueError", when: "an argument is not allowed; nothing moved" };

pub(crate) const ENDED: ErrorDoc =
    ErrorDoc { exception: "EpisodeFinished", when: "the episode is over; nothing moved" };

pub(crate) const REFUSED: ErrorDoc = ErrorDoc {
    exception: "ToolError",
    when: "the robot or its controller failed or did not answer in time",
};

pub(crate) const MOTION_ERRORS: &[ErrorDoc] = &[BAD_ARGUMENT, ENDED, REFUSED];

pub(crate) const STEP: Param = Param::any(
    "step",
    Type::Int,
    Default::Int(-1),
    "",
    "recorded step: 0 is the initial scene, -1 the latest; each call that changes the scene adds one",
);

pub(crate) const READ_ERRORS: &[ErrorDoc] =
    &[ErrorDoc { exception: "ValueError", when: "there is no such step" }, REFUSED];

pub(crate) static GRIPPER_RESULT: Record = Record {
    name: "Gripper",
    doc: "What set_gripper did.",
    fields: &[
        Field::new("gripper", Type::Float, "", "the command that was applied"),
        Field::new("steps", Type::Int, "", "control steps taken"),
        TERMINATED,
        TRUNCATED,
    ],
};

pub(crate) static RELEASE_RESULT: Record = Record {
    name: "Release",
    doc: "What release did.",
    fields: &[
        STEPS_USED,
        Field::new("start_gripper_opening", Type::Float, "m", "opening before"),
        Field::new("peak_gripper_opening", Type::Float, "m", "widest opening"),
        Field::new("final_gripper_opening", Type::Float, "m", "opening after"),
        TERMINATED,
        TRUNCATED,
    ],
};
