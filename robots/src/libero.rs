//! LIBERO and LIBERO-PRO: a Franka Panda with a two-finger gripper.
//!
//! Method names, arguments, defaults and result fields are those of PyRUA-Lean's
//! `libero` robot, so that code and models made for it run here; `stalled`,
//! `stall_reason` and `gripper="hold"` are additions.

use crate::api::{
    Attribute, Camera, Constant, Default, Field, Limits, Method, Mount, Param, Record, RobotApi,
    Type,
};
use crate::geometry::{pitch_of_record, yaw_of_record};
use crate::motion::{
    GRIPPER_DOC, GRIPPER_RESULT, MOTION_ERRORS, READ_ERRORS, RELEASE_RESULT, STALL_REASON, STALLED,
    STEP, STEPS_USED, TERMINATED, TRUNCATED, XYZ,
};

pub(crate) static API: RobotApi = RobotApi {
    name: "libero",
    doc: "A Franka Panda arm with a two-finger gripper in a LIBERO scene. World frame: x and y \
          along the table, z up; metres, radians, quaternions xyzw. One control step is 1/20 s.",
    constants: &[
        Constant { name: "OPEN", value: -1.0, unit: "", doc: "gripper command that opens" },
        Constant { name: "CLOSE", value: 1.0, unit: "", doc: "gripper command that closes" },
        Constant {
            name: "MAX_PLANAR_MOVE_M",
            value: MAX_PLANAR_MOVE_M,
            unit: "m",
            doc: "longest x/y travel of one move_to or move_pose; vertical travel is free",
        },
    ],
    attributes: &[
        Attribute { name: "task", ty: Type::Str, doc: "the instruction of this episode" },
        Attribute {
            name: "done",
            ty: Type::Bool,
            doc: "whether the episode is over; stays True once it was",
        },
    ],
    methods: &[
        Method {
            name: "state",
            doc: "Reads the robot's state without moving.",
            params: &[STEP],
            exactly_one_of: &[],
            result: &STATE,
            stateful: false,
            errors: READ_ERRORS,
        },
        Method {
            name: "move_to",
            doc: "Moves the gripper in a straight line to xyz and keeps its orientation, unless \
                  target_yaw is given. Ends when within tol, or after max_steps.",
            params: &[
                XYZ,
                gripper(-1.0),
                Param::keyword(
                    "tol",
                    Type::Float,
                    Default::Float(0.012),
                    "m",
                    "distance at which the target counts as reached",
                ),
                Param::keyword(
                    "step_clip",
                    Type::Float,
                    Default::Float(0.025),
                    "m",
                    "largest commanded move per control step and axis; smaller is slower and gentler",
                ),
                Param::keyword(
                    "max_steps",
                    Type::Int,
                    Default::Int(80),
                    "",
                    "control steps at most",
                ),
                Param::keyword(
                    "target_yaw",
                    Type::Float,
                    Default::None,
                    "rad",
                    "yaw to turn to on the way",
                ),
                Param::keyword(
                    "yaw_step_clip",
                    Type::Float,
                    Default::Float(0.10),
                    "rad",
                    "largest commanded turn per control step",
                ),
                ACTION_SCALE,
            ],
            exactly_one_of: &[],
            result: &MOVE,
            stateful: true,
            errors: MOTION_ERRORS,
        },
        Method {
            name: "move_pose",
            doc: "Moves to xyz while turning to target_pitch and target_yaw. Ends when position \
                  and the given angles are within tol and ori_tol, or after max_steps.",
            params: &[
                XYZ,
                Param::keyword(
                    "target_pitch",
                    Type::Float,
                    Default::None,
                    "rad",
                    "tilt to reach; 0 points straight down",
                ),
                Param::keyword("target_yaw", Type::Float, Default::None, "rad", "yaw to reach"),
                Param::keyword("gripper", Type::Gripper, Default::Float(-1.0), "", GRIPPER_DOC),
                Param::keyword(
                    "step_clip",
                    Type::Float,
                    Default::Float(0.02),
                    "m",
                    "largest commanded move per control step and axis",
                ),
                Param::keyword(
                    "pitch_step",
                    Type::Float,
                    Default::Float(0.08),
                    "rad",
                    "largest commanded tilt per control step",
                ),
                Param::keyword(
                    "yaw_step",
                    Type::Float,
                    Default::Float(0.08),
                    "rad",
                    "largest commanded turn per control step",
                ),
                Param::keyword(
                    "tol",
                    Type::Float,
                    Default::Float(0.012),
                    "m",
                    "distance at which the position counts as reached",
                ),
                Param::keyword(
                    "ori_tol",
                    Type::Float,
                    Default::Float(0.05),
                    "rad",
                    "angle at which an orientation counts as reached",
                ),
                Param::keyword(
                    "max_steps",
                    Type::Int,
                    Default::Int(150),
                    "",
                    "control steps at most",
                ),
                ACTION_SCALE,
            ],
            exactly_one_of: &[],
            result: &MOVE_POSE,
            stateful: true,
            errors: MOTION_ERRORS,
        },
        Method {
            name: "rotate_wrist",
            doc: "Turns the gripper about the vertical axis, to target_yaw or by delta_yaw.",
            params: &[
                Param::any("target_yaw", Type::Float, Default::None, "rad", "yaw to reach"),
                Param::any(
                    "delta_yaw",
                    Type::Float,
                    Default::None,
                    "rad",
                    "turn from the present yaw",
                ),
                gripper(1.0),
                ROTATION_STEPS,
                ROTATION_TOL,
                ROTATION_CLIP,
            ],
            exactly_one_of: &["target_yaw", "delta_yaw"],
            result: &ROTATION,
            stateful: true,
            errors: MOTION_ERRORS,
        },
        Method {
            name: "rotate_pitch",
            doc: "Tilts the gripper, to target_pitch or by delta_pitch; 0 points straight down.",
            params: &[
                Param::any("target_pitch", Type::Float, Default::None, "rad", "tilt to reach"),
                Param::any(
                    "delta_pitch",
                    Type::Float,
                    Default::None,
                    "rad",
                    "tilt from the present one",
                ),
                gripper(1.0),
                ROTATION_STEPS,
                ROTATION_TOL,
                ROTATION_CLIP,
            ],
            exactly_one_of: &["target_pitch", "delta_pitch"],
            result: &ROTATION,
            stateful: true,
            errors: MOTION_ERRORS,
        },
        Method {
            name: "set_gripper",
            doc: "Opens or closes the gripper in place. A firm grip takes 8 to 12 steps.",
            params: &[
                Param::any(
                    "gripper",
                    Type::Gripper,
                    Default::Required,
                    "",
                    "gripper command; \"hold\" repeats the last non-zero command",
                ),
                Param::any("steps", Type::Int, Default::Int(5), "", "control steps to apply it"),
            ],
            exactly_one_of: &[],
            result: &GRIPPER_RESULT,
            stateful: true,
            errors: MOTION_ERRORS,
        },
        Method {
            name: "release",
            doc: "Opens the gripper in place; returns early when the task is solved.",
            params: &[Param::any(
                "max_steps",
                Type::Int,
                Default::Int(20),
                "",
                "control steps at most",
            )],
            exactly_one_of: &[],
            result: &RELEASE_RESULT,
            stateful: true,
            errors: MOTION_ERRORS,
        },
    ],
    cameras: &[
        Camera {
            name: "agentview",
            mount: Mount::Fixed,
            doc: "looks at the scene from the front: +y, the robot's left, is on the right of the picture",
        },
        Camera { name: "wrist", mount: Mount::Wrist, doc: "looks along the gripper" },
    ],
    limits: Limits { gripper: (-1.0, 1.0), max_planar_move_m: Some(MAX_PLANAR_MOVE_M) },
};

const MAX_PLANAR_MOVE_M: f64 = 0.30;

const fn gripper(default: f64) -> Param {
    Param::any("gripper", Type::Gripper, Default::Float(default), "", GRIPPER_DOC)
}

const ACTION_SCALE: Param = Param::keyword(
    "action_scale",
    Type::Float,
    Default::Float(0.05),
    "m",
    "metres that a full action of 1.0 commands",
)
.positive();

const ROTATION_STEPS: Param =
    Param::any("max_steps", Type::Int, Default::Int(40), "", "control steps at most");

const ROTATION_TOL: Param = Param::any(
    "tol",
    Type::Float,
    Default::Float(0.02),
    "rad",
    "angle at which the target counts as reached",
);

const ROTATION_CLIP: Param = Param::any(
    "step_clip",
    Type::Float,
    Default::Float(0.10),
    "rad",
    "largest commanded turn per control step",
);

static STATE: Record = Record {
    name: "State",
    doc: "The robot at one step.",
    fields: &[
        Field::new("step", Type::Int, "", "recorded step this is the state of"),
        Field::new("task", Type::Str, "", "the instruction"),
        Field::new("eef_pos", Type::Vector(3), "m", "gripper centre in the world frame"),
        Field::new("eef_quat", Type::Vector(4), "", "gripper orientation, xyzw"),
        Field::new("eef_yaw", Type::Float, "rad", "rotation about the vertical axis")
            .derived(yaw_of_record),
        Field::new("eef_pitch", Type::Float, "rad", "tilt; 0 points straight down")
            .derived(pitch_of_record),
        Field::new("gripper_qpos", Type::Vector(2), "m", "finger joint positions"),
        Field::new(
            "gripper_opening",
            Type::Float,
            "m",
            "distance between the fingers: about 0.08 open, about 0 closed on nothing, 0.01 to 0.05 holding something",
        ),
        Field::new("object_names", Type::Strs, "", "movable objects of the scene"),
        TERMINATED,
        TRUNCATED,
    ],
};

static MOVE: Record = Record {
    name: "Move",
    doc: "What move_to did.",
    fields: &[
        Field::new("target_xyz", Type::Vector(3), "m", "the commanded target"),
        Field::new("final_eef_pos", Type::Vector(3), "m", "where the gripper came to"),
        Field::new("final_dist_m", Type::Float, "m", "distance left to the target"),
        Field::new("reached", Type::Bool, "", "final_dist_m <= tol"),
        STEPS_USED,
        Field::new("max_steps", Type::Int, "", "control steps allowed"),
        TERMINATED,
        TRUNCATED,
        STALLED,
        STALL_REASON,
    ],
};

static MOVE_POSE: Record = Record {
    name: "MovePose",
    doc: "What move_pose did.",
    fields: &[
        Field::new("final_eef_pos", Type::Vector(3), "m", "where the gripper came to"),
        Field::new("final_dist_m", Type::Float, "m", "distance left to the target"),
        Field::new("final_pitch", Type::Float, "rad", "tilt at the end"),
        Field::new("reached", Type::Bool, "", "final_dist_m <= tol; says nothing about the angles"),
        STEPS_USED,
        TERMINATED,
        TRUNCATED,
        STALLED,
        STALL_REASON,
    ],
};

static ROTATION: Record = Record {
    name: "Rotation",
    doc: "What rotate_wrist or rotate_pitch did.",
    fields: &[
        Field::new("start", Type::Float, "rad", "angle before"),
        Field::new("target", Type::Float, "rad", "angle commanded"),
        Field::new("final", Type::Float, "rad", "angle after"),
        Field::new("final_err", Type::Float, "rad", "angle left to the target"),
        Field::new("reached", Type::Bool, "", "|final_err| <= tol"),
        STEPS_USED,
        TERMINATED,
        TRUNCATED,
        STALLED,
        STALL_REASON,
    ],
};
