//! Requests that wait for what only a simulator knows. Knows neither dora nor a clock.

use std::time::{Duration, Instant};

use ruaflow_schemas::{CameraFrame, FrameRequest, SegmentRequest};

use crate::eyes::Labels;

/// A first picture on a slow machine takes some seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request whose wait is over, with the labels or why there are none.
pub(crate) type Over = (SegmentRequest, Result<Labels, String>);

/// Requests whose labels the robot was asked for.
#[derive(Default)]
pub(crate) struct Waiting(Vec<Wait>);

struct Wait {
    request: SegmentRequest,
    until: Instant,
}

impl Waiting {
    /// Takes a request, and says what to ask the robot for.
    pub fn begin(&mut self, request: SegmentRequest, now: Instant) -> FrameRequest {
        let asked = FrameRequest {
            id: labels_id(&request),
            camera: request.camera.clone(),
            width: request.width,
            height: request.height,
            control_step: request.control_step.cast_signed(),
            segmentation: true,
            ..FrameRequest::default()
        };
        self.0.retain(|wait| wait.request.id != request.id);
        self.0.push(Wait { request, until: now + PATIENCE });
        asked
    }

    /// Whether a picture's id is one that was asked for.
    pub fn wants(&self, id: &str) -> bool {
        self.0.iter().any(|wait| labels_id(&wait.request) == id)
    }

    pub fn picture(&mut self, frame: CameraFrame) -> Option<Over> {
        let at = self.0.iter().position(|wait| labels_id(&wait.request) == frame.id)?;
        let request = self.0.swap_remove(at).request;
        let labels = match frame.error.is_empty() {
            true => Ok(Labels { of: frame.segmentation, names: frame.instances }),
            false => Err(format!("camera {:?} has no picture: {}", frame.camera, frame.error)),
        };
        Some((request, labels))
    }

    /// When [`give_up`](Self::give_up) has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.iter().map(|wait| wait.until).min()
    }

    pub fn give_up(&mut self, now: Instant) -> Vec<Over> {
        let why = format!("the robot sent no labels within {} s", PATIENCE.as_secs());
        self.end(|wait| wait.until <= now, &why)
    }

    /// The robot is gone.
    pub fn fail(&mut self, why: &str) -> Vec<Over> {
        self.end(|_| true, why)
    }

    /// The episode is over.
    pub fn forget(&mut self) {
        self.0.clear();
    }

    fn end(&mut self, such: impl Fn(&Wait) -> bool, why: &str) -> Vec<Over> {
        let (ended, kept) = self.0.drain(..).partition(such);
        self.0 = kept;
        let ended: Vec<Wait> = ended;
        ended.into_iter().map(|wait| (wait.request, Err(why.to_owned()))).collect()
    }
}

fn labels_id(request: &SegmentRequest) -> String {
    format!("{}/labels", request.id)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn request(id: &str) -> SegmentRequest {
        SegmentRequest { id: id.to_owned(), control_step: 7, ..SegmentRequest::default() }
    }

    #[test]
    fn labels_come_of_the_step_that_was_looked_at() {
        let mut waiting = Waiting::default();
        let asked = waiting.begin(request("a"), Instant::now());
        assert_eq!((asked.control_step, asked.segmentation), (7, true));
        assert!(waiting.wants(&asked.id) && !waiting.wants("look-0-1"));
        let frame = CameraFrame {
            id: asked.id.clone(),
            segmentation: vec![1],
            instances: vec!["robot".to_owned()],
            ..CameraFrame::default()
        };
        let (request, labels) = waiting.picture(frame.clone()).unwrap();
        assert_eq!((request.id.as_str(), labels.unwrap().of), ("a", vec![1]));
        assert!(waiting.picture(frame).is_none() && waiting.deadline().is_none());
    }

    #[test]
    fn what_does_not_come_is_given_up() {
        let now = Instant::now();
        let mut waiting = Waiting::default();
        let asked = waiting.begin(request("a"), now);
        let frame =
            CameraFrame { id: asked.id, error: "no scene".to_owned(), ..CameraFrame::default() };
        assert!(waiting.picture(frame).unwrap().1.unwrap_err().contains("no scene"));

        waiting.begin(request("b"), now);
        assert!(waiting.give_up(now).is_empty());
        assert_eq!(waiting.give_up(now + PATIENCE)[0].0.id, "b");
        waiting.begin(request("c"), now);
        assert_eq!(waiting.fail("node \"libero\" has died").len(), 1);
        waiting.begin(request("d"), now);
        waiting.forget();
        assert!(waiting.deadline().is_none());
    }
}
