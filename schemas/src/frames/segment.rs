//! Cell runner → perception and back: where in a picture a thing is.

use crate::Bytes;
use crate::frame::frame;

frame! {
    /// Cell runner → perception: find a thing in a picture, by `prompt` or by `point`. Answered by one `segment` with the same `id`.
    topic "segment_request" version 1
    pub struct SegmentRequest / SegmentRequestRef {
        /// Request id.
        id: String,
        /// What the thing looks like; empty when `point` is given.
        prompt: String,
        /// `(row, col)` of a pixel on the thing.
        point: Option<[u32; 2]>,
        /// Camera of the picture. Requests of one episode with the same camera, control step and size show the same picture.
        camera: String,
        /// Control step pictured.
        control_step: u64,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// RGB, `height` x `width` x 3 bytes, top row first.
        color: Bytes,
    }
}

frame! {
    /// Perception → cell runner: the best mask. Broadcast; filter by `id`.
    topic "segment" version 1
    pub struct Segment / SegmentRef {
        /// Id of the request.
        id: String,
        /// Why the service failed; empty when it did not. Finding nothing is no failure.
        error: String,
        /// How sure the service is of the mask, 0 to 1; null when it found nothing.
        score: Option<f64>,
        /// `[col0 row0 col1 row1]` around the mask, pixels; null when it found nothing.
        bounds: Option<[f64; 4]>,
        /// The mask, `height` x `width` bytes of 0 or 1, top row first; empty when it found nothing.
        mask: Bytes,
    }
}
