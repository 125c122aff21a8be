//! A made-up six-axis arm: the smallest robot that has everything a robot needs.

use crate::api::{
    Camera, Default, Field, Kind, Limits, Method, Mount, Param, Record, Resolutions, Returns,
    RobotApi, Type,
};
use crate::looking::{
    ARTIFACT, BACK_PROJECT, CAMERA_META, IMAGE, REGION_CENTER, SEGMENT, SHOW, WORLD_MAP,
};
use crate::motion::{
    CLOSE, DONE, MAX_STEPS_DOC, MOTION_ERRORS, MOVE, OPEN, RELEASE, SET_GRIPPER, STEP_CLIP_DOC,
    TASK, TERMINATED, TOL, TRUNCATED, XYZ, gripper, state,
};

pub(crate) static API: RobotApi = RobotApi {
    name: "template",
    doc: "A simulated six-axis arm with a two-finger gripper and nothing else in the scene. World \
          frame: the base is the origin, x forward, z up; metres, radians, quaternions xyzw.",
    constants: &[OPEN, CLOSE],
    attributes: &[TASK, DONE],
    methods: &[
        state(&STATE),
        IMAGE,
        WORLD_MAP,
        SHOW,
        SEGMENT,
        BACK_PROJECT,
        REGION_CENTER,
        CAMERA_META,
        ARTIFACT,
        MOVE_TO,
        SET_GRIPPER,
        RELEASE,
    ],
    cameras: &[Camera {
        name: "front",
        mount: Mount::Fixed,
        doc: "a drawn picture of the arm from the front",
    }],
    resolutions: Resolutions { high: (640, 480), low: (320, 240) },
    limits: Limits { gripper: (-1.0, 1.0), max_planar_move_m: None, max_picture_side: 2048 },
    knowledge: "",
};

const MOVE_TO: Method = Method {
    name: "move_to",
    doc: "Goes straight to xyz and keeps its orientation. Ends within tol or after max_steps.",
    params: &[
        XYZ,
        gripper(-1.0),
        TOL,
        Param::keyword("step_clip", Type::Float, Default::Float(0.025), "m", STEP_CLIP_DOC),
        Param::keyword("max_steps", Type::Int, Default::Int(80), "", MAX_STEPS_DOC).plain(),
    ],
    exactly_one_of: &[],
    kind: Kind::Motion,
    returns: Returns::Record(&MOVE),
    errors: MOTION_ERRORS,
};

static STATE: Record = Record {
    name: "State",
    doc: "The robot at one step.",
    fields: &[
        Field::new("step", Type::Int, "", "recorded step it is from"),
        Field::new("task", Type::Str, "", "the instruction").plain(),
        Field::new("joint_pos", Type::Vector(6), "rad", "joint angles"),
        Field::new("eef_pos", Type::Vector(3), "m", "the gripper's centre"),
        Field::new("eef_quat", Type::Vector(4), "", "its orientation, xyzw"),
        Field::new("gripper_opening", Type::Float, "m", "distance between the fingers"),
        TERMINATED,
        TRUNCATED,
    ],
};
