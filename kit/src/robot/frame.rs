use std::sync::Arc;

use ruaflow_schemas::{CameraFrame, Card, FrameRequest};

/// The largest picture side that is made, pixels.
const MAX_SIDE: u32 = 4096;

/// Where pictures go, with whether each was rendered for its request; called from any thread.
pub(super) type Reply = Arc<dyn Fn(CameraFrame, bool) + Send + Sync>;

/// The answer that a frame request waits for. One is sent in any case: dropping
/// it unanswered says that there is no picture.
pub struct FrameReply {
    request: FrameRequest,
    reply: Option<Reply>,
}

impl FrameReply {
    pub(super) fn new(request: FrameRequest, reply: Reply) -> Self {
        FrameReply { request, reply: Some(reply) }
    }

    /// Answers with a picture made for this request; its `id` and `camera` are
    /// filled in. Whoever sees to another size than the frame says would read past
    /// its rows, so such a frame is refused instead.
    pub fn send(self, frame: CameraFrame) {
        self.send_checked(frame, true);
    }

    /// As [`Self::send`], with a picture that was made for an earlier request.
    pub fn send_kept(self, frame: CameraFrame) {
        self.send_checked(frame, false);
    }

    /// Answers that there is no picture, and why.
    pub fn refuse(mut self, reason: &str) {
        let error = reason.to_owned();
        self.answer(CameraFrame { error, ..CameraFrame::default() }, false);
    }

    fn send_checked(mut self, frame: CameraFrame, rendered: bool) {
        match misfit(&frame) {
            None => self.answer(frame, rendered),
            Some(reason) => self.refuse(&reason),
        }
    }

    fn answer(&mut self, frame: CameraFrame, rendered: bool) {
        let Some(reply) = self.reply.take() else { return };
        let id = std::mem::take(&mut self.request.id);
        let camera = std::mem::take(&mut self.request.camera);
        reply(CameraFrame { id, camera, ..frame }, rendered);
    }
}

impl Drop for FrameReply {
    fn drop(&mut self) {
        if self.reply.is_some() {
            let error = "the robot made no picture".to_owned();
            self.answer(CameraFrame { error, ..CameraFrame::default() }, false);
        }
    }
}

/// Fills in what a request leaves open, or says why there can be no picture.
pub(super) fn complete(
    mut request: FrameRequest,
    card: Option<&Card>,
    latest: u64,
) -> Result<FrameRequest, (FrameRequest, String)> {
    let Some(card) = card else {
        return Err((request, "no scene: the robot has not been reset".to_owned()));
    };
    let Some(camera) = card.cameras.iter().find(|c| c.name == request.camera) else {
        let names: Vec<&str> = card.cameras.iter().map(|c| c.name.as_str()).collect();
        let reason = format!("no camera {:?}; cameras: {}", request.camera, names.join(", "));
        return Err((request, reason));
    };
    if request.width == 0 {
        request.width = camera.width;
    }
    if request.height == 0 {
        request.height = camera.height;
    }
    if request.control_step == -1 {
        request.control_step = latest as i64;
    }
    let reason = if request.width > MAX_SIDE || request.height > MAX_SIDE {
        format!(
            "{} x {} pixels are too many; {MAX_SIDE} a side at most",
            request.width, request.height
        )
    } else if request.control_step < 0 || request.control_step as u64 > latest {
        format!("no control step {}; the latest is {latest}", request.control_step)
    } else if request.depth && !camera.depth {
        format!("camera {:?} measures no depth", camera.name)
    } else {
        return Ok(request);
    };
    Err((request, reason))
}

fn misfit(frame: &CameraFrame) -> Option<String> {
    let pixels = frame.width as usize * frame.height as usize;
    let wrong = |name: &str, length: usize, wanted: usize| {
        Some(format!(
            "the robot's picture of {} x {} has {length} {name} values, not {wanted}",
            frame.width, frame.height
        ))
    };
    if frame.color.0.len() != pixels * 3 {
        wrong("color", frame.color.0.len(), pixels * 3)
    } else if !frame.depth.is_empty() && frame.depth.len() != pixels {
        wrong("depth", frame.depth.len(), pixels)
    } else if !frame.segmentation.is_empty() && frame.segmentation.len() != pixels {
        wrong("segmentation", frame.segmentation.len(), pixels)
    } else {
        None
    }
}
