//! The methods that look, for every robot whose cameras measure depth.

use crate::api::{Default, ErrorDoc, Field, Kind, Method, Param, Record, Returns, Type};
use crate::motion::{NO_SUCH_STEP, READ_ERRORS, STEP_DOC};

pub(crate) const IMAGE: Method = Method {
    name: "image",
    doc: "A picture.",
    params: &[CAMERA, RESOLUTION, STEP],
    exactly_one_of: &[],
    kind: Kind::Read,
    returns: Returns::Array("uint8 array (height, width, 3), RGB"),
    errors: READ_ERRORS,
};

pub(crate) const WORLD_MAP: Method = Method {
    name: "world_map",
    doc: "The world point seen at each pixel of image(); NaN where no depth was measured.",
    params: &[CAMERA, RESOLUTION, STEP],
    exactly_one_of: &[],
    kind: Kind::Read,
    returns: Returns::Array("float32 array (height, width, 3), m"),
    errors: READ_ERRORS,
};

pub(crate) const SHOW: Method = Method {
    name: "show",
    doc: "Adds the camera's picture of this moment to what you see after the cell. Pictures cost \
          tokens: show one when a decision depends on it.",
    params: &[
        CAMERA,
        Param::keyword("size", Type::Size, Default::Str("high"), "", "as resolution in image()"),
        Param::keyword(
            "crop",
            Type::Ints(4),
            Default::None,
            "",
            "(row0, col0, row1, col1): only this part of the picture",
        ),
    ],
    exactly_one_of: &[],
    kind: Kind::Read,
    returns: Returns::Nothing,
    errors: READ_ERRORS,
};

pub(crate) const CAMERA_META: Method = Method {
    name: "camera_meta",
    doc: "The camera's calibration.",
    params: &[
        CAMERA,
        STEP,
        Param::keyword("resolution", Type::Size, Default::Str("low"), "", RESOLUTION_DOC),
    ],
    exactly_one_of: &[],
    kind: Kind::Read,
    returns: Returns::Dict(
        "camera_name, height, width, intrinsic_K (3 x 3), extrinsic_cam2world (4 x 4; camera axes \
         x right, y down, z forward), depth_near, depth_far (m, or None)",
    ),
    errors: READ_ERRORS,
};

pub(crate) const BACK_PROJECT: Method = Method {
    name: "back_project",
    doc: "The world point seen at one pixel.",
    params: &[
        Param::any("row", Type::Int, Default::Required, "", "pixel row, 0 at the top").plain(),
        Param::any("col", Type::Int, Default::Required, "", "pixel column, 0 at the left").plain(),
        CAMERA_KEYWORD,
        RESOLUTION,
        STEP,
    ],
    exactly_one_of: &[],
    kind: Kind::Read,
    returns: Returns::Record(&BACK_PROJECTION),
    errors: &[
        NO_SUCH_STEP,
        ErrorDoc {
            exception: "ToolError",
            when: "the pixel is outside the picture or has no depth",
        },
    ],
};

pub(crate) const REGION_CENTER: Method = Method {
    name: "region_center",
    doc: "The world centre of a pixel window, such as the inside of a basket, whose median would \
          lean towards the rim.",
    params: &[
        Param::any("row_range", Type::Ints(2), Default::Required, "", "(first, end) rows"),
        Param::any("col_range", Type::Ints(2), Default::Required, "", "(first, end) columns"),
        CAMERA_KEYWORD,
        RESOLUTION,
        Param::keyword("z_min", Type::Float, Default::None, "m", "only points at least so high"),
        Param::keyword("z_max", Type::Float, Default::None, "m", "only points at most so high"),
        STEP,
    ],
    exactly_one_of: &[],
    kind: Kind::Read,
    returns: Returns::Record(&REGION),
    errors: &[
        NO_SUCH_STEP,
        ErrorDoc {
            exception: "ToolError",
            when: "fewer than 8 pixels of the window have a point in the z band",
        },
    ],
};

pub(crate) const SEGMENT: Method = Method {
    name: "segment",
    doc: "Finds one thing, or the top_k best, by a description or a pixel on it.",
    params: &[
        Param::any(
            "prompt",
            Type::Str,
            Default::None,
            "",
            "what it looks like, and where it is among others: \"black bowl\", \"left plate\", \
             \"the black bowl next to the ramekin\", \"bowl between the plate and the stove\", \
             \"top drawer of the cabinet\"; left, right, front and back as the fixed camera sees \
             them; brands and internal names score badly",
        ),
        CAMERA_KEYWORD,
        Param::keyword(
            "point",
            Type::Ints(2),
            Default::None,
            "",
            "(row, col) on it in the picture",
        ),
        Param::keyword("min_score", Type::Float, Default::Float(0.2), "", "least score to accept")
            .plain(),
        STEP,
        Param::keyword("top_k", Type::Int, Default::Int(1), "", "results at most, 1 to 20")
            .positive(),
        RESOLUTION,
    ],
    exactly_one_of: &["prompt", "point"],
    kind: Kind::Read,
    returns: Returns::Record(&SEGMENTED),
    errors: &[
        NO_SUCH_STEP,
        ErrorDoc { exception: "ToolError", when: "the run has no perception, or it failed" },
    ],
};

pub(crate) const ARTIFACT: Method = Method {
    name: "artifact",
    doc: "A file about a recorded step: CAMERA.png, CAMERA_high.png, CAMERA_depth.npz, \
          CAMERA_world.npz, CAMERA_world_high.npz, CAMERA_metadata.json, CAMERA_policy.png \
          (mirrored, as policies take it).",
    params: &[
        Param::any("name", Type::Str, Default::Required, "", "name of the file").plain(),
        STEP,
    ],
    exactly_one_of: &[],
    kind: Kind::Read,
    returns: Returns::Bytes,
    errors: &[
        NO_SUCH_STEP,
        ErrorDoc { exception: "ToolError", when: "there is no file of that name" },
    ],
};

const CAMERA: Param =
    Param::any("camera", Type::Camera, Default::FirstCamera, "", CAMERA_DOC).plain();
const CAMERA_KEYWORD: Param =
    Param::keyword("camera", Type::Camera, Default::FirstCamera, "", CAMERA_DOC).plain();
const CAMERA_DOC: &str = "which camera";

const RESOLUTION: Param =
    Param::keyword("resolution", Type::Size, Default::Str("high"), "", RESOLUTION_DOC);
const RESOLUTION_DOC: &str =
    "picture size: \"high\", \"low\", n (square) or (width, height); pixels count in it";

const STEP: Param = Param::keyword("step", Type::Int, Default::Int(-1), "", STEP_DOC);

const OF_CAMERA: Field = Field::new("camera", Type::Camera, "", CAMERA_DOC).plain();
const OF_STEP: Field = Field::new("step", Type::Int, "", "recorded step it is from");

static BACK_PROJECTION: Record = Record {
    name: "BackProjection",
    doc: "What back_project found.",
    fields: &[
        Field::new("world_xyz", Type::Vector(3), "m", "the point, to 0.1 mm"),
        Field::new("pixel", Type::Ints(2), "", "(row, col)").plain(),
        OF_CAMERA,
        Field::new("resolution", Type::Size, "", "as given").plain(),
        OF_STEP,
        Field::new("image_size", Type::Ints(2), "", "(height, width)"),
    ],
};

static REGION: Record = Record {
    name: "RegionCenter",
    doc: "What region_center found.",
    fields: &[
        Field::new("center_xyz", Type::Vector(3), "m", "middle of the x and y extent, median z"),
        Field::new("median_xyz", Type::Vector(3), "m", "median of each axis"),
        Field::new("n_valid", Type::Int, "", "pixels that counted"),
        OF_CAMERA,
        OF_STEP,
    ],
};

static SEGMENTED: Record = Record {
    name: "Segment",
    doc: "What segment found.",
    fields: &[
        Field::new("found", Type::Bool, "", "there is a mask of at least min_score"),
        WORLD_XYZ,
        Field::new("score", Type::Float, "", SCORE_DOC).optional(),
        Field::new("box", Type::Vector(4), "", BOX_DOC).optional(),
        OF_CAMERA,
        OF_STEP,
        Field::new("overlay_artifact", Type::Str, "", OVERLAY_DOC).optional(),
        Field::new("error", Type::Str, "", "why there is no mask or no point").optional(),
        Field::new("label", Type::Str, "", LABEL_DOC).optional(),
        EXTENT,
        Field::new("pixels", Type::Int, "", PIXELS_DOC).plain(),
        SEEN,
        Field::new(
            "reason",
            Type::Str,
            "",
            "how words that relate (next to, left, between) were decided",
        )
        .optional(),
        Field::new("mask", Type::Mask, "", MASK_DOC).optional(),
        Field::new("others", Type::Records(&INSTANCE), "", "the next best, top_k - 1 at most"),
    ],
};

static INSTANCE: Record = Record {
    name: "SegmentInstance",
    doc: "One of several things that segment found.",
    fields: &[
        WORLD_XYZ,
        Field::new("score", Type::Float, "", SCORE_DOC),
        Field::new("box", Type::Vector(4), "", BOX_DOC),
        Field::new("overlay_artifact", Type::Str, "", OVERLAY_DOC),
        Field::new("label", Type::Str, "", LABEL_DOC).optional(),
        EXTENT,
        Field::new("pixels", Type::Int, "", PIXELS_DOC).plain(),
        SEEN,
        Field::new("mask", Type::Mask, "", MASK_DOC),
    ],
};

const WORLD_XYZ: Field =
    Field::new("world_xyz", Type::Vector(3), "m", "median of the visible surface").optional();
const EXTENT: Field = Field::new(
    "extent",
    Type::Vector(3),
    "m",
    "size of the visible surface along x, y and z, without its outermost hundredths",
)
.optional();
const SEEN: Field = Field::new(
    "seen",
    Type::Float,
    "",
    "share of the mask's outline that nothing nearer hides and no border cuts, 0 to 1",
)
.optional();
const SCORE_DOC: &str = "0 to 1";
const BOX_DOC: &str = "(col0, row0, col1, row1) in the picture";
const OVERLAY_DOC: &str = "name of a picture with the mask in red";
const LABEL_DOC: &str = "what the eyes take it for";
const PIXELS_DOC: &str = "pixels of the mask";
const MASK_DOC: &str =
    "where it is in the picture; fits image() and world_map() of that resolution";
