//! The methods that look: what each makes of a picture. Medians, rounding and
//! validity are those of RPent's LIBERO tools, which recorded policies rely on.

use ruaflow_robots::{Method, RobotApi};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::artifact::Artifact;
use crate::eyes::{Seen, SeenError, View};
use crate::memory::{Part, Sealed, pack};
use crate::protocol::{Answer, ArrayInfo, Refusal};

/// Fewer points make no region.
const LEAST_POINTS: usize = 8;

/// Depth beyond which a pixel of the low picture counts for nothing, metres.
const LOW_DEPTH: f32 = 10.0;

/// A look with its arguments, waiting for its picture.
#[derive(Debug)]
pub(crate) struct Look {
    method: &'static Method,
    kind: Kind,
    pub(crate) view: View,
    /// As the caller gave it.
    resolution: Value,
    /// Recorded step looked at.
    pub(crate) step: u64,
}

#[derive(Debug)]
enum Kind {
    Image,
    WorldMap,
    CameraMeta,
    BackProject { row: i64, col: i64 },
    RegionCenter(Region),
    Artifact(Artifact),
    Segment,
}

#[derive(Debug, Deserialize)]
struct Region {
    row_range: [i64; 2],
    col_range: [i64; 2],
    z_min: Option<f64>,
    z_max: Option<f64>,
}

/// An answer, on its way to the child.
pub(crate) enum Reply {
    Answer(Answer),
    Arrays { value: Value, arrays: Vec<ArrayInfo>, memory: Sealed },
}

impl Reply {
    pub(crate) fn refused(kind: Refusal, message: impl Into<String>) -> Self {
        Self::Answer(Answer::refused(kind, message))
    }

    /// Bytes for a cell, as an array of them.
    pub(crate) fn bytes(bytes: &[u8]) -> Self {
        let part = Part { name: "", dtype: "uint8", shape: &[bytes.len()], bytes };
        match pack(&[part]) {
            Ok((memory, arrays)) => Self::Arrays { value: Value::Null, arrays, memory },
            Err(error) => Self::refused(Refusal::Tool, error.to_string()),
        }
    }

    fn array((memory, array): (Sealed, ArrayInfo)) -> Self {
        Self::Arrays { value: Value::Null, arrays: vec![array], memory }
    }

    /// Whether the call ran, and what it came to, for the ledger.
    pub(crate) fn outcome(&self) -> (bool, String) {
        match self {
            Self::Answer(Answer::Value(value) | Answer::Arrays { value, .. }) => {
                (true, value.to_string())
            }
            Self::Answer(Answer::Refused { message, .. }) => (false, message.clone()),
            Self::Arrays { value, .. } if !value.is_null() => (true, value.to_string()),
            Self::Arrays { arrays, .. } => {
                let shapes: Vec<Value> =
                    arrays.iter().map(|a| json!({"dtype": a.dtype, "shape": a.shape})).collect();
                (true, json!({ "arrays": shapes }).to_string())
            }
        }
    }
}

/// Numbers a checked call carries; the child is not trusted to have checked.
#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    camera: String,
    #[serde(default)]
    resolution: Value,
    #[serde(default)]
    row: i64,
    #[serde(default)]
    col: i64,
    #[serde(default)]
    name: String,
}

impl Look {
    /// A call of a reading method; `at` is the recorded step and its control step.
    ///
    /// # Errors
    /// The refusal of a call that makes no sense.
    pub(crate) fn new(
        api: &RobotApi,
        method: &'static Method,
        arguments: &Map<String, Value>,
        (step, control_step): (u64, u64),
    ) -> Result<Self, Reply> {
        let misfit = |error: serde_json::Error| {
            Reply::refused(Refusal::Value, format!("{}(): {error}", method.name))
        };
        let fields = Value::Object(arguments.clone());
        let Arguments { mut camera, mut resolution, row, col, name } =
            Arguments::deserialize(&fields).map_err(misfit)?;
        let kind = match method.name {
            "image" => Kind::Image,
            "world_map" => Kind::WorldMap,
            "camera_meta" => Kind::CameraMeta,
            "back_project" => Kind::BackProject { row, col },
            "region_center" => Kind::RegionCenter(Region::deserialize(&fields).map_err(misfit)?),
            "segment" => Kind::Segment,
            "artifact" => {
                let (artifact, of, size) = Artifact::find(api, &name)
                    .map_err(|error| Reply::refused(Refusal::Tool, error.to_string()))?;
                of.clone_into(&mut camera);
                resolution = json!(size);
                Kind::Artifact(artifact)
            }
            other => {
                let text = format!("the cell runner has no method {other:?}");
                return Err(Reply::refused(Refusal::Tool, text));
            }
        };
        let (width, height) = api.pixels(&resolution).ok_or_else(|| {
            let text = format!("{}(): there is no picture size {resolution}", method.name);
            Reply::refused(Refusal::Value, text)
        })?;
        let view = View { camera, control_step, width, height };
        Ok(Self { method, kind, view, resolution, step })
    }

    pub(crate) fn is_segment(&self) -> bool {
        matches!(self.kind, Kind::Segment)
    }

    /// What the method answers with, from its picture.
    pub(crate) fn answer(&self, seen: &Seen) -> Reply {
        self.made(seen).unwrap_or_else(|error| Reply::refused(Refusal::Tool, error.to_string()))
    }

    fn made(&self, seen: &Seen) -> Result<Reply, LookError> {
        Ok(match &self.kind {
            Kind::Image => Reply::array(seen.color()?),
            Kind::WorldMap => Reply::array(seen.world()?),
            Kind::CameraMeta => Reply::Answer(Answer::Value(camera_meta(seen))),
            Kind::BackProject { row, col } => {
                let xyz = self.back_project(seen, *row, *col)?;
                self.record(json!({ "world_xyz": xyz, "pixel": [row, col] }))?
            }
            Kind::RegionCenter(region) => self.record(region.center(seen, self.limit())?)?,
            Kind::Artifact(artifact) => Reply::bytes(&artifact.bytes(seen)?),
            // Answered once the perception node has.
            Kind::Segment => return Err(LookError::Empty),
        })
    }

    fn back_project(&self, seen: &Seen, row: i64, col: i64) -> Result<[f64; 3], LookError> {
        let (height, width) = (seen.frame.height, seen.frame.width);
        let inside = |at: i64, side: u32| usize::try_from(at).ok().filter(|at| *at < side as usize);
        let (Some(r), Some(c)) = (inside(row, height), inside(col, width)) else {
            return Err(LookError::Outside { row, col, height, width });
        };
        let camera = seen.calibrated()?;
        let depth = seen.frame.depth.get(r * width as usize + c).copied().unwrap_or(f32::NAN);
        let point = camera.point(r, c, depth).ok().filter(|_| depth <= self.limit());
        point.map(round).ok_or(LookError::NoDepth { row, col })
    }

    /// Depth beyond which a point does not count.
    fn limit(&self) -> f32 {
        if self.resolution == json!("low") { LOW_DEPTH } else { f32::INFINITY }
    }

    fn record(&self, fields: Value) -> Result<Reply, LookError> {
        Ok(Reply::Answer(Answer::Value(self.complete(fields)?)))
    }

    /// The method's record with the fields that tell where it was looked.
    pub(crate) fn complete(&self, mut fields: Value) -> Result<Value, LookError> {
        let View { camera, width, height, .. } = &self.view;
        fields["camera"] = json!(camera);
        fields["step"] = json!(self.step);
        fields["resolution"] = self.resolution.clone();
        fields["image_size"] = json!([height, width]);
        let record = self.method.record().ok_or(LookError::Empty)?;
        Ok(Value::Object(record.complete(&fields)?))
    }
}

/// Why a look found nothing. A cell sees it as `ToolError`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookError {
    #[error("pixel ({row}, {col}) is outside the picture of {height} rows and {width} columns")]
    Outside { row: i64, col: i64, height: u32, width: u32 },
    #[error("no depth at pixel ({row}, {col}); try one beside it")]
    NoDepth { row: i64, col: i64 },
    #[error("the window is empty: rows {rows:?}, columns {cols:?}")]
    EmptyWindow { rows: [i64; 2], cols: [i64; 2] },
    #[error(
        "only {found} pixels of the window have a point in the z band, at least {LEAST_POINTS} \
         are needed; widen the window or the band"
    )]
    TooFew { found: usize },
    #[error(transparent)]
    Seen(#[from] SeenError),
    #[error(transparent)]
    Record(#[from] ruaflow_robots::RecordError),
    #[error("its mask has {found} bytes for a picture of {pixels} pixels")]
    Mask { found: usize, pixels: usize },
    #[error("the picture can't be encoded: {0}")]
    Codec(#[from] image_codec::CodecError),
    #[error("there is nothing to answer with")]
    Empty,
}

impl Region {
    fn center(&self, seen: &Seen, limit: f32) -> Result<Value, LookError> {
        let (height, width) = (seen.frame.height as usize, seen.frame.width as usize);
        let clipped = |range: [i64; 2], side: usize| {
            let clip = |at: i64| usize::try_from(at.max(0)).unwrap_or(usize::MAX).min(side);
            clip(range[0].min(range[1]))..clip(range[0].max(range[1]))
        };
        let (rows, cols) = (clipped(self.row_range, height), clipped(self.col_range, width));
        if rows.is_empty() || cols.is_empty() {
            let (rows, cols) = (self.row_range, self.col_range);
            return Err(LookError::EmptyWindow { rows, cols });
        }
        let camera = seen.calibrated()?;
        let mut axes: [Vec<f64>; 3] = Default::default();
        for row in rows {
            for col in cols.clone() {
                let depth = seen.frame.depth.get(row * width + col).copied().unwrap_or(f32::NAN);
                let Ok(point) = camera.point(row, col, depth) else { continue };
                let above = self.z_min.is_none_or(|least| point[2] >= least);
                let below = self.z_max.is_none_or(|most| point[2] <= most);
                if depth <= limit && above && below {
                    axes.iter_mut().zip(point).for_each(|(axis, value)| axis.push(value));
                }
            }
        }
        let found = axes[0].len();
        if found < LEAST_POINTS {
            return Err(LookError::TooFew { found });
        }
        let middle = |axis: &[f64]| {
            let (low, high) = axis
                .iter()
                .fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
            (low + high) / 2.0
        };
        let [x, y] = [middle(&axes[0]), middle(&axes[1])];
        let median = axes.map(|mut axis| median(&mut axis));
        Ok(json!({
            "center_xyz": round([x, y, median[2]]),
            "median_xyz": round(median),
            "n_valid": found,
        }))
    }
}

/// What a camera's calibration is, under the reference's names.
pub(crate) fn camera_meta(seen: &Seen) -> Value {
    let frame = &seen.frame;
    let rows = |matrix: &[f64], width: usize| -> Vec<Value> {
        matrix.chunks(width).map(|row| json!(row)).collect()
    };
    let [near, far] = frame.depth_range.map_or([None, None], |range| range.map(Some));
    json!({
        "camera_name": frame.camera,
        "height": frame.height,
        "width": frame.width,
        "intrinsic_K": rows(&frame.intrinsics, 3),
        "extrinsic_cam2world": rows(&frame.camera_to_world, 4),
        "depth_near": near,
        "depth_far": far,
    })
}

/// The middle value, or the mean of the two middle ones. The order is lost.
fn median(values: &mut [f64]) -> f64 {
    let half = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(lower) if even => (lower + upper) / 2.0,
        _ => upper,
    }
}

/// To a tenth of a millimetre.
pub(crate) fn round(point: [f64; 3]) -> [f64; 3] {
    point.map(|value| (value * 1e4).round() / 1e4)
}
