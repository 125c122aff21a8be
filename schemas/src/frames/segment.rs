//! Cell runner → perception and back: where in a picture a thing is.

use crate::Bytes;
use crate::frame::{frame, row};

frame! {
    /// Cell runner → perception: find a thing in a picture, by `prompt` or by `point`. Answered by one `segment` with the same `id`.
    topic "segment_request" version 2
    pub struct SegmentRequest / SegmentRequestRef {
        /// Request id.
        id: String,
        /// What the thing looks like and where it is among others; empty when `point` is given.
        prompt: String,
        /// `(row, col)` of a pixel on the thing.
        point: Option<[u32; 2]>,
        /// How many things may be answered with, 1 or more.
        top_k: u32,
        /// Least score of what counts as seen, 0 to 1.
        min_score: f64,
        /// Camera of the picture.
        camera: String,
        /// Control step pictured.
        control_step: u64,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// RGB, `height` x `width` x 3 bytes, top row first.
        color: Bytes,
        /// Depth along the optical axis, metres, `height` x `width`; empty for a camera that measures none. Not a number where nothing was seen.
        depth: Vec<f32>,
        /// Intrinsic matrix, as in `frame`.
        intrinsics: [f64; 9],
        /// Camera to world, as in `frame`.
        camera_to_world: [f64; 16],
    }
}

row! {
    /// A thing that was found.
    pub struct SegmentInstance / SegmentInstanceRef {
        /// What the service takes it for; empty when it has no name.
        label: String,
        /// How sure the service is, 0 to 1.
        score: f64,
        /// The mask, `height` x `width` bytes of 0 or 1, top row first.
        mask: Bytes,
    }
}

frame! {
    /// Perception → cell runner: what was found. Broadcast; filter by `id`.
    topic "segment" version 2
    pub struct Segment / SegmentRef {
        /// Id of the request.
        id: String,
        /// Why the service failed; empty when it did not. Finding nothing is no failure.
        error: String,
        /// How words that relate were decided, or why nothing fits; empty when there is nothing to say.
        reason: String,
        /// Best first, `top_k` at most. The first alone may score below `min_score`: it is the best there was.
        instances: Vec<SegmentInstance>,
        /// What looked, such as `sam3`.
        source: String,
        /// Whether it knew what no camera sees. Such a run proves nothing about a robot.
        privileged: bool,
        /// Time spent on the picture, nanoseconds; 0 when it was known already.
        look_ns: u64,
        /// Time spent on the question, nanoseconds.
        ask_ns: u64,
    }
}
