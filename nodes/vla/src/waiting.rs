//! Requests that wait for their pictures. Knows neither dora nor a clock.

use std::time::{Duration, Instant};

use ruaflow_schemas::{CameraFrame, ChunkRequest, FrameRequest};

use crate::view::{Picture, Pictures};

const AGENTVIEW: &str = "agentview";
const WRIST: &str = "wrist";
/// Pixels a side of what a policy is shown before it scales: the benchmark's own.
const SIDE: u32 = 256;
/// A first picture on a slow machine takes some seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Step {
    Nothing,
    /// Ask the robot for these pictures.
    Ask(Vec<FrameRequest>),
    /// Ask the policy.
    Infer {
        request: ChunkRequest,
        pictures: Pictures,
    },
    Refuse {
        request: ChunkRequest,
        reason: String,
    },
}

/// At most one request, the last one: the controller has one motion at a time.
#[derive(Default)]
pub(crate) struct Waiting(Option<Wait>);

struct Wait {
    request: ChunkRequest,
    agentview: Option<Picture>,
    wrist: Option<Picture>,
    until: Instant,
}

impl Waiting {
    /// Takes a request. The same one again is a repetition, another one replaces it.
    pub fn begin(&mut self, request: ChunkRequest, now: Instant) -> Step {
        if self.0.as_ref().is_some_and(|wait| wait.request.id == request.id) {
            return Step::Nothing;
        }
        let asked = [AGENTVIEW, WRIST].map(|camera| FrameRequest {
            id: picture_id(&request.id, camera),
            camera: camera.to_owned(),
            width: SIDE,
            height: SIDE,
            control_step: request.observation.control_step as i64,
            ..FrameRequest::default()
        });
        self.0 = Some(Wait { request, agentview: None, wrist: None, until: now + PATIENCE });
        Step::Ask(asked.into())
    }

    /// Whether a picture's id is one that was asked for.
    pub fn wants(&self, id: &str) -> bool {
        self.0.as_ref().is_some_and(|wait| wait.camera_of(id).is_some())
    }

    pub fn picture(&mut self, frame: CameraFrame) -> Step {
        let Some(mut wait) = self.0.take() else { return Step::Nothing };
        let made = if frame.error.is_empty() {
            Picture::mirrored(&frame)
        } else {
            Err(format!("camera {:?} has no picture: {}", frame.camera, frame.error))
        };
        let picture = match made {
            Ok(picture) => picture,
            Err(reason) => return Step::Refuse { request: wait.request, reason },
        };
        match wait.camera_of(&frame.id) {
            Some(AGENTVIEW) => wait.agentview = Some(picture),
            Some(_) => wait.wrist = Some(picture),
            None => {}
        }
        match (wait.agentview.take(), wait.wrist.take()) {
            (Some(agentview), Some(wrist)) => {
                Step::Infer { request: wait.request, pictures: Pictures { agentview, wrist } }
            }
            (agentview, wrist) => {
                self.0 = Some(Wait { agentview, wrist, ..wait });
                Step::Nothing
            }
        }
    }

    /// When [`give_up`](Self::give_up) has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.as_ref().map(|wait| wait.until)
    }

    pub fn give_up(&mut self, now: Instant) -> Step {
        match self.0.take_if(|wait| now >= wait.until) {
            Some(wait) => Step::Refuse {
                request: wait.request,
                reason: format!("the robot sent no pictures within {} s", PATIENCE.as_secs()),
            },
            None => Step::Nothing,
        }
    }

    /// The episode is over.
    pub fn forget(&mut self) {
        self.0 = None;
    }
}

impl Wait {
    fn camera_of(&self, id: &str) -> Option<&'static str> {
        [AGENTVIEW, WRIST].into_iter().find(|camera| picture_id(&self.request.id, camera) == id)
    }
}

fn picture_id(request: &str, camera: &str) -> String {
    format!("{request}/{camera}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn request(id: &str) -> ChunkRequest {
        ChunkRequest { id: id.to_owned(), ..ChunkRequest::default() }
    }

    fn frame(id: &str, error: &str) -> CameraFrame {
        CameraFrame {
            id: id.to_owned(),
            error: error.to_owned(),
            width: 1,
            height: 1,
            color: ruaflow_schemas::Bytes(vec![1, 2, 3]),
            ..CameraFrame::default()
        }
    }

    #[test]
    fn both_pictures_make_an_inference() {
        let mut waiting = Waiting::default();
        let Step::Ask(asked) = waiting.begin(request("c"), Instant::now()) else { panic!() };
        assert_eq!(asked.len(), 2);
        assert!(matches!(waiting.begin(request("c"), Instant::now()), Step::Nothing));
        assert!(waiting.wants(&asked[1].id) && !waiting.wants("recorder-1"));
        assert!(matches!(waiting.picture(frame(&asked[1].id, "")), Step::Nothing));
        let Step::Infer { request, .. } = waiting.picture(frame(&asked[0].id, "")) else {
            panic!()
        };
        assert_eq!(request.id, "c");
        assert!(waiting.deadline().is_none());
    }

    #[test]
    fn a_picture_that_cannot_be_made_or_does_not_come_is_a_refusal() {
        let now = Instant::now();
        let mut waiting = Waiting::default();
        let Step::Ask(asked) = waiting.begin(request("c"), now) else { panic!() };
        let step = waiting.picture(frame(&asked[0].id, "no such camera"));
        assert!(matches!(step, Step::Refuse { reason, .. } if reason.contains("no such camera")));

        let _ = waiting.begin(request("d"), now);
        assert!(matches!(waiting.give_up(now), Step::Nothing));
        let step = waiting.give_up(now + PATIENCE);
        assert!(matches!(step, Step::Refuse { request, .. } if request.id == "d"));
    }
}
