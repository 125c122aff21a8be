//! Parameters and fields that several robots share word for word.

use crate::api::{Attribute, Constant, Default, ErrorDoc, Field, Kind, Method, Param, Record};
use crate::api::{Returns, Type};

pub(crate) const OPEN: Constant =
    Constant { name: "OPEN", value: -1.0, unit: "", doc: "gripper command that opens" };

pub(crate) const CLOSE: Constant =
    Constant { name: "CLOSE", value: 1.0, unit: "", doc: "gripper command that closes" };

pub(crate) const TASK: Attribute =
    Attribute { name: "task", ty: Type::Str, doc: "the instruction of this episode" };

pub(crate) const DONE: Attribute = Attribute {
    name: "done",
    ty: Type::Bool,
    doc: "the episode is over, solved or not; stays True",
};

pub(crate) const fn gripper(default: f64) -> Param {
    Param::any("gripper", Type::Gripper, Default::Float(default), "", GRIPPER_DOC)
}

pub(crate) const GRIPPER_DOC: &str = "command during the whole call, from -1 (open) to +1 \
                                      (close); \"hold\" repeats the last one that was not 0";

pub(crate) const XYZ: Param =
    Param::any("xyz", Type::Vector(3), Default::Required, "m", "where the gripper's centre goes");

pub(crate) const TOL: Param =
    Param::keyword("tol", Type::Float, Default::Float(0.012), "m", TOL_DOC);

pub(crate) const TOL_DOC: &str = "error that counts as reached";

pub(crate) const STEP_CLIP_DOC: &str = "cap on what one control step commands, for each axis";

pub(crate) const MAX_STEPS_DOC: &str = "control steps at most";

pub(crate) const TERMINATED: Field =
    Field::new("terminated", Type::Bool, "", "the task is solved and the episode over");

pub(crate) const TRUNCATED: Field =
    Field::new("truncated", Type::Bool, "", "the control steps are used up and the episode over");

pub(crate) const STALLED: Field =
    Field::new("stalled", Type::Bool, "", "it ended short of the target and without progress");

pub(crate) const STALL_REASON: Field =
    Field::new("stall_reason", Type::Str, "", "what was measured when it stalled").optional();

pub(crate) const STEPS_USED: Field =
    Field::new("steps_used", Type::Int, "", "control steps taken").plain();

pub(crate) const FINAL_EEF_POS: Field =
    Field::new("final_eef_pos", Type::Vector(3), "m", "where the gripper came to").plain();

pub(crate) const FINAL_DIST: Field =
    Field::new("final_dist_m", Type::Float, "m", "distance left to the target").plain();

pub(crate) const BAD_ARGUMENT: ErrorDoc =
    ErrorDoc { exception: "ValueError", when: "an argument is not allowed; nothing moved" };

pub(crate) const ENDED: ErrorDoc =
    ErrorDoc { exception: "EpisodeFinished", when: "the episode is over; nothing moved" };

pub(crate) const REFUSED: ErrorDoc = ErrorDoc {
    exception: "ToolError",
    when: "the robot or its controller failed or did not answer in time",
};

pub(crate) const MOTION_ERRORS: &[ErrorDoc] = &[BAD_ARGUMENT, ENDED, REFUSED];

pub(crate) const STEP_DOC: &str = "recorded step: 0 is the initial scene, -1 the latest; each \
                                   call that moves the robot records one";

pub(crate) const STEP: Param = Param::any("step", Type::Int, Default::Int(-1), "", STEP_DOC);

pub(crate) const NO_SUCH_STEP: ErrorDoc =
    ErrorDoc { exception: "ValueError", when: "there is no such step" };

pub(crate) const READ_ERRORS: &[ErrorDoc] = &[NO_SUCH_STEP, REFUSED];

/// `state()` with the robot's own record.
pub(crate) const fn state(record: &'static Record) -> Method {
    Method {
        name: "state",
        doc: "What the robot measures. Free: it costs no step and hardly any time.",
        params: &[STEP],
        exactly_one_of: &[],
        kind: Kind::Read,
        returns: Returns::Record(record),
        errors: READ_ERRORS,
    }
}

pub(crate) const SET_GRIPPER: Method = Method {
    name: "set_gripper",
    doc: "Drives the gripper while the arm stays where it is.",
    params: &[
        Param::any("gripper", Type::Gripper, Default::Required, "", GRIPPER_DOC),
        Param::any("steps", Type::Int, Default::Int(5), "", "control steps to drive it for"),
    ],
    exactly_one_of: &[],
    kind: Kind::Motion,
    returns: Returns::Record(&GRIPPER_RESULT),
    errors: MOTION_ERRORS,
};

pub(crate) const RELEASE: Method = Method {
    name: "release",
    doc: "Opens the gripper where it is; ends early when that solves the task.",
    params: &[Param::any("max_steps", Type::Int, Default::Int(20), "", MAX_STEPS_DOC).plain()],
    exactly_one_of: &[],
    kind: Kind::Motion,
    returns: Returns::Record(&RELEASE_RESULT),
    errors: MOTION_ERRORS,
};

pub(crate) static MOVE: Record = Record {
    name: "Move",
    doc: "What move_to did.",
    fields: &[
        Field::new("target_xyz", Type::Vector(3), "m", "the target").plain(),
        FINAL_EEF_POS,
        FINAL_DIST,
        Field::new("reached", Type::Bool, "", "final_dist_m <= tol"),
        STEPS_USED,
        Field::new("max_steps", Type::Int, "", "control steps allowed").plain(),
        TERMINATED,
        TRUNCATED,
        STALLED,
        STALL_REASON,
    ],
};

static GRIPPER_RESULT: Record = Record {
    name: "Gripper",
    doc: "What set_gripper did.",
    fields: &[
        Field::new("gripper", Type::Float, "", "the command that was applied").plain(),
        Field::new("steps", Type::Int, "", "control steps taken").plain(),
        TERMINATED,
        TRUNCATED,
    ],
};

static RELEASE_RESULT: Record = Record {
    name: "Release",
    doc: "What release did.",
    fields: &[
        STEPS_USED,
        Field::new("start_gripper_opening", Type::Float, "m", "opening before").plain(),
        Field::new("peak_gripper_opening", Type::Float, "m", "widest opening").plain(),
        Field::new("final_gripper_opening", Type::Float, "m", "opening after").plain(),
        TERMINATED,
        TRUNCATED,
    ],
};
