//! Pictures, made when somebody asks.

use crate::Bytes;
use crate::frame::frame;

frame! {
    /// Anyone → robot: make a picture. Answered by one `frame` with the same `id`, straight to the asker.
    topic "frame_request" version 2
    pub struct FrameRequest / FrameRequestRef {
        /// Request id.
        id: String,
        /// Camera of the card.
        camera: String,
        /// Width in pixels; 0 for the camera's default.
        width: u32,
        /// Height in pixels; 0 for the camera's default.
        height: u32,
        /// Control step to picture; -1 for the latest.
        control_step: i64,
        /// Whether to add metric depth.
        depth: bool,
        /// Whether to add instance labels.
        segmentation: bool,
        /// Whether a quicker, coarser picture will do, for people only; a robot that has none makes a full one.
        preview: bool,
    }
}

frame! {
    /// Robot → asker: a picture with what is needed to measure in it. Broadcast; filter by `id`.
    topic "frame" version 2
    pub struct CameraFrame / CameraFrameRef {
        /// Id of the request.
        id: String,
        /// Why there is no picture; empty when there is one.
        error: String,
        /// Camera.
        camera: String,
        /// Control step pictured.
        control_step: u64,
        /// Time pictured, nanoseconds on the card's clock.
        time_ns: u64,
        /// Whether this is the quicker, coarser picture that was asked for; no policy may see it.
        preview: bool,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// RGB, `height` x `width` x 3 bytes, top row first.
        color: Bytes,
        /// Depth along the optical axis, metres, `height` x `width`, top row first; empty when not asked for. Not a number where nothing was seen.
        depth: Vec<f32>,
        /// Nearest and farthest depth the camera can tell, metres; empty for a camera that has no such bounds.
        depth_range: Option<[f64; 2]>,
        /// Instance label per pixel, `height` x `width`; 0 is background; empty when not asked for.
        segmentation: Vec<u32>,
        /// Instance names; label `i + 1` is entry `i`.
        instances: Vec<String>,
        /// Intrinsic matrix, 3 x 3 by rows, pixels; the centre of pixel `(row, col)` is at `(col + 0.5, row + 0.5)`.
        intrinsics: [f64; 9],
        /// Camera to world, 4 x 4 by rows, metres; camera axes x right, y down, z forward.
        camera_to_world: [f64; 16],
    }
}
