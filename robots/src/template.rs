//! A made-up six-axis arm: the smallest robot that has everything a robot needs.

use crate::api::{
    Attribute, Camera, Constant, Default, Field, Limits, Method, Mount, Param, Record, RobotApi,
    Type,
};
use crate::motion::{
    GRIPPER_DOC, GRIPPER_RESULT, MOTION_ERRORS, READ_ERRORS, RELEASE_RESULT, STALL_REASON, STALLED,
    STEP, STEPS_USED, TERMINATED, TRUNCATED, XYZ,
};

pub(crate) static API: RobotApi = RobotApi {
    name: "template",
    doc: "A simulated six-axis arm with a two-finger gripper and nothing else in the scene. World \
          frame: the base is the origin, x forward, z up; metres, radians, quaternions xyzw.",
    constants: &[
        Constant { name: "OPEN", value: -1.0, unit: "", doc: "gripper command that opens" },
        Constant { name: "CLOSE", value: 1.0, unit: "", doc: "gripper command that closes" },
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
            doc: "Moves the gripper in a straight line to xyz and keeps its orientation.",
            params: &[
                XYZ,
                Param::any("gripper", Type::Gripper, Default::Float(-1.0), "", GRIPPER_DOC),
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
                    "largest commanded move per control step and axis",
                ),
                Param::keyword(
                    "max_steps",
                    Type::Int,
                    Default::Int(80),
                    "",
                    "control steps at most",
                ),
            ],
            exactly_one_of: &[],
            result: &MOVE,
            stateful: true,
            errors: MOTION_ERRORS,
        },
        Method {
            name: "set_gripper",
            doc: "Opens or closes the gripper in place.",
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
    cameras: &[Camera {
        name: "front",
        mount: Mount::Fixed,
        doc: "a drawn picture of the arm from the front",
    }],
    limits: Limits { gripper: (-1.0, 1.0), max_planar_move_m: None },
};

static STATE: Record = Record {
    name: "State",
    doc: "The robot at one step.",
    fields: &[
        Field::new("step", Type::Int, "", "recorded step this is the state of"),
        Field::new("task", Type::Str, "", "the instruction"),
        Field::new("joint_pos", Type::Vector(6), "rad", "joint angles"),
        Field::new("eef_pos", Type::Vector(3), "m", "gripper centre in the world frame"),
        Field::new("eef_quat", Type::Vector(4), "", "gripper orientation, xyzw"),
        Field::new("gripper_opening", Type::Float, "m", "distance between the fingers"),
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
