//! LIBERO and LIBERO-PRO: a Franka Panda with a two-finger gripper.
//!
//! Method names, arguments, defaults and result fields are those of PyRUA-Lean's
//! `libero` robot, so that code and models made for it run here. Additions:
//! `stalled`, `stall_reason`, `gripper="hold"`, pictures of any size,
//! `show(size=…, crop=…)` and `camera_meta(resolution=…)`.

mod records;

use self::records::{CONTACT, MOVE_POSE, PICK, ROTATION, STATE};
use crate::api::{
    Camera, Constant, Default, Kind, Limits, Method, Mount, Param, Resolutions, Returns, RobotApi,
    Type,
};
use crate::looking::{
    ARTIFACT, BACK_PROJECT, CAMERA_META, IMAGE, REGION_CENTER, SEGMENT, SHOW, WORLD_MAP,
};
use crate::motion::{
    CLOSE, DONE, GRIPPER_DOC, MAX_STEPS_DOC, MOTION_ERRORS, MOVE, OPEN, RELEASE, SET_GRIPPER,
    STEP_CLIP_DOC, TASK, TOL, TOL_DOC, XYZ, gripper, state,
};

pub(crate) static API: RobotApi = RobotApi {
    name: "libero",
    doc: "A Franka Panda arm with a two-finger gripper in a LIBERO scene, at 20 control steps a \
          second. World frame: x and y along the table, z up; metres, radians, quaternions xyzw. \
          The arm starts above the table, pointing down, open.",
    constants: &[
        OPEN,
        CLOSE,
        Constant {
            name: "MAX_PLANAR_MOVE_M",
            value: MAX_PLANAR_MOVE_M,
            unit: "m",
            doc: "longest x/y travel of one move_to or move_pose; up and down is free",
        },
    ],
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
        MOVE_TO_POSE,
        ROTATE_WRIST,
        ROTATE_PITCH,
        SET_GRIPPER,
        RELEASE,
        PI0_PICK,
        PI0_DOUBLED,
    ],
    cameras: &[
        Camera {
            name: "agentview",
            mount: Mount::Fixed,
            doc: "the whole scene from the front: +y, the robot's left, is on the right",
        },
        Camera { name: "wrist", mount: Mount::Wrist, doc: "along the gripper, for close range" },
    ],
    resolutions: Resolutions { high: (1024, 1024), low: (256, 256) },
    limits: Limits {
        gripper: (-1.0, 1.0),
        max_planar_move_m: Some(MAX_PLANAR_MOVE_M),
        max_picture_side: 2048,
    },
    knowledge: include_str!("../knowledge/libero.md"),
};

const MAX_PLANAR_MOVE_M: f64 = 0.30;

const MOVE_TO: Method = Method {
    name: "move_to",
    doc: "Goes straight to xyz and keeps its orientation, or turns to target_yaw on the way. Ends \
          within tol or after max_steps.",
    params: &[
        XYZ,
        gripper(-1.0),
        TOL,
        Param::keyword("step_clip", Type::Float, Default::Float(0.025), "m", STEP_CLIP_DOC),
        Param::keyword("max_steps", Type::Int, Default::Int(80), "", MAX_STEPS_DOC).plain(),
        TARGET_YAW,
        Param::keyword(
            "yaw_step_clip",
            Type::Float,
            Default::Float(0.10),
            "rad",
            "the same for yaw",
        ),
        ACTION_SCALE,
    ],
    exactly_one_of: &[],
    kind: Kind::Motion,
    returns: Returns::Record(&MOVE),
    errors: MOTION_ERRORS,
};

const MOVE_TO_POSE: Method = Method {
    name: "move_pose",
    doc: "Goes to xyz and turns to the given angles at the same time; gets into low or deep places \
          where move_to stalls. Ends when position and given angles are reached, or after \
          max_steps.",
    params: &[
        XYZ,
        TARGET_PITCH,
        TARGET_YAW,
        Param::keyword("gripper", Type::Gripper, Default::Float(-1.0), "", GRIPPER_DOC),
        Param::keyword("step_clip", Type::Float, Default::Float(0.02), "m", STEP_CLIP_DOC),
        Param::keyword(
            "pitch_step",
            Type::Float,
            Default::Float(0.08),
            "rad",
            "the same for pitch",
        ),
        Param::keyword("yaw_step", Type::Float, Default::Float(0.08), "rad", "the same for yaw"),
        TOL,
        Param::keyword("ori_tol", Type::Float, Default::Float(0.05), "rad", "the same for angles"),
        Param::keyword("max_steps", Type::Int, Default::Int(150), "", MAX_STEPS_DOC).plain(),
        ACTION_SCALE,
    ],
    exactly_one_of: &[],
    kind: Kind::Motion,
    returns: Returns::Record(&MOVE_POSE),
    errors: MOTION_ERRORS,
};

const ROTATE_WRIST: Method = Method {
    name: "rotate_wrist",
    doc: "Turns about the vertical axis in place.",
    params: &[
        Param::any("target_yaw", Type::Float, Default::None, "rad", TARGET_YAW_DOC),
        Param::any("delta_yaw", Type::Float, Default::None, "rad", "turn from the present yaw"),
        gripper(1.0),
        ROTATION_STEPS,
        ROTATION_TOL,
        ROTATION_CLIP,
    ],
    exactly_one_of: &["target_yaw", "delta_yaw"],
    kind: Kind::Motion,
    returns: Returns::Record(&ROTATION),
    errors: MOTION_ERRORS,
};

const ROTATE_PITCH: Method = Method {
    name: "rotate_pitch",
    doc: "Tilts about the world's x axis in place.",
    params: &[
        Param::any("target_pitch", Type::Float, Default::None, "rad", TARGET_PITCH_DOC),
        Param::any("delta_pitch", Type::Float, Default::None, "rad", "turn from the present pitch"),
        gripper(1.0),
        ROTATION_STEPS,
        ROTATION_TOL,
        ROTATION_CLIP,
    ],
    exactly_one_of: &["target_pitch", "delta_pitch"],
    kind: Kind::Motion,
    returns: Returns::Record(&ROTATION),
    errors: MOTION_ERRORS,
};

const PI0_PICK: Method = Method {
    name: "pi0_pick",
    doc: "Lets the Pi0.5 policy grasp, closed loop. Stops once the gripper has gone down by \
          descent_thresh, then up by lift_thresh, with its opening in [gripper_open_thresh, \
          gripper_closed_thresh).",
    params: &[
        PROMPT,
        Param::keyword("max_chunks", Type::Int, Default::Int(24), "", MAX_CHUNKS_DOC),
        Param::keyword("lift_thresh", Type::Float, Default::Float(0.05), "m", "").plain(),
        Param::keyword("gripper_closed_thresh", Type::Float, Default::Float(0.06), "m", "").plain(),
        Param::keyword("gripper_open_thresh", Type::Float, Default::Float(0.0), "m", "").plain(),
        Param::keyword("descent_thresh", Type::Float, Default::Float(0.10), "m", "").plain(),
    ],
    exactly_one_of: &[],
    kind: Kind::Skill,
    returns: Returns::Record(&PICK),
    errors: MOTION_ERRORS,
};

const PI0_DOUBLED: Method = Method {
    name: "pi0_doubled",
    doc: "Lets the Pi0.5 policy do a contact skill that is no pick: a knob, a drawer, a door, a \
          short push. Stops when the task is solved or after max_chunks.",
    params: &[
        PROMPT,
        Param::keyword("max_chunks", Type::Int, Default::Int(20), "", MAX_CHUNKS_DOC),
    ],
    exactly_one_of: &[],
    kind: Kind::Skill,
    returns: Returns::Record(&CONTACT),
    errors: MOTION_ERRORS,
};

const TARGET_YAW: Param =
    Param::keyword("target_yaw", Type::Float, Default::None, "rad", TARGET_YAW_DOC);
const TARGET_YAW_DOC: &str = "yaw to turn to, about the vertical axis";

const TARGET_PITCH: Param =
    Param::keyword("target_pitch", Type::Float, Default::None, "rad", TARGET_PITCH_DOC);
const TARGET_PITCH_DOC: &str =
    "tilt to turn to: 0 points straight down, +pi/2 along +y, -pi/2 along -y";

const ACTION_SCALE: Param = Param::keyword(
    "action_scale",
    Type::Float,
    Default::Float(0.05),
    "m",
    "what an action of 1.0 commands; leave it",
)
.positive();

const ROTATION_STEPS: Param =
    Param::any("max_steps", Type::Int, Default::Int(40), "", MAX_STEPS_DOC).plain();
const ROTATION_TOL: Param = Param::any("tol", Type::Float, Default::Float(0.02), "rad", TOL_DOC);
const ROTATION_CLIP: Param =
    Param::any("step_clip", Type::Float, Default::Float(0.10), "rad", STEP_CLIP_DOC);

const PROMPT: Param =
    Param::any("prompt", Type::Str, Default::Required, "", "what the policy is told to do");
const MAX_CHUNKS_DOC: &str = "action chunks at most, 5 control steps each";
