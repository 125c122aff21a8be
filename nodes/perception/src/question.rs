//! A request, checked: what came over the network is not trusted to be a picture.

use depth_world_map::Camera;
use grounding::{PhraseError, Query};
use ruaflow_schemas::SegmentRequest;

use crate::eyes::Picture;

/// Largest side of a picture, pixels.
const MAX_SIDE: u32 = 4096;
/// Things an answer may hold.
const MAX_ANSWERS: u32 = 20;

/// What is asked, about what.
#[derive(Clone, Debug)]
pub struct Question {
    pub picture: Picture,
    /// Depth by pixel, metres, and the camera that measured it; empty and none when
    /// there is no depth.
    pub depth: Vec<f32>,
    pub camera: Option<Camera>,
    pub what: What,
    /// 1 or more.
    pub top_k: usize,
    pub min_score: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Prompt(Query),
    Point { row: u32, col: u32 },
}

/// Why a request can't be answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QuestionError {
    #[error("a picture of {width} x {height} pixels with {bytes} bytes of colour is none")]
    Picture { width: u32, height: u32, bytes: usize },
    #[error("a picture of {width} x {height} pixels has no depth map of {found} values")]
    Depth { width: u32, height: u32, found: usize },
    #[error("the camera's calibration is none: {0}")]
    Camera(depth_world_map::DepthError),
    #[error("point ({row}, {col}) is outside the picture of {height} rows and {width} columns")]
    Outside { row: u32, col: u32, height: u32, width: u32 },
    #[error("a request needs exactly one of prompt and point")]
    What,
    #[error(transparent)]
    Phrase(#[from] PhraseError),
    #[error("min_score is {0}, expected a number from 0 to 1")]
    MinScore(f64),
    #[error("top_k is {0}, expected 1 to {MAX_ANSWERS}")]
    TopK(u32),
}

impl Question {
    /// # Errors
    /// [`QuestionError`] says what is wrong with the request.
    pub fn check(request: SegmentRequest) -> Result<Self, QuestionError> {
        let SegmentRequest { width, height, .. } = request;
        let sides = 1..=MAX_SIDE;
        let pixels = width as usize * height as usize;
        let bytes = request.color.0.len();
        if !sides.contains(&width) || !sides.contains(&height) || bytes != 3 * pixels {
            return Err(QuestionError::Picture { width, height, bytes });
        }
        let found = request.depth.len();
        if found != 0 && found != pixels {
            return Err(QuestionError::Depth { width, height, found });
        }
        let camera = (found != 0)
            .then(|| {
                let [width, height] = [width, height].map(|side| side as usize);
                Camera::new(width, height, request.intrinsics, request.camera_to_world)
            })
            .transpose()
            .map_err(QuestionError::Camera)?;
        if !(0.0..=1.0).contains(&request.min_score) {
            return Err(QuestionError::MinScore(request.min_score));
        }
        if !(1..=MAX_ANSWERS).contains(&request.top_k) {
            return Err(QuestionError::TopK(request.top_k));
        }
        let what = match (request.prompt.as_str(), request.point) {
            (prompt, None) => What::Prompt(Query::parse(prompt)?),
            ("", Some([row, col])) if row < height && col < width => What::Point { row, col },
            ("", Some([row, col])) => {
                return Err(QuestionError::Outside { row, col, height, width });
            }
            _ => return Err(QuestionError::What),
        };
        Ok(Question {
            picture: Picture { width, height, rgb: request.color.0 },
            depth: request.depth,
            camera,
            what,
            top_k: request.top_k as usize,
            min_score: request.min_score,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use ruaflow_schemas::Bytes;

    use super::*;

    fn request() -> SegmentRequest {
        SegmentRequest {
            prompt: "the bowl".to_owned(),
            top_k: 1,
            min_score: 0.2,
            width: 4,
            height: 3,
            color: Bytes(vec![0; 36]),
            depth: vec![f32::NAN; 12],
            intrinsics: [4.0, 0.0, 2.0, 0.0, 4.0, 1.5, 0.0, 0.0, 1.0],
            camera_to_world: [
                1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0,
            ],
            ..SegmentRequest::default()
        }
    }

    fn refused(change: impl FnOnce(&mut SegmentRequest)) -> String {
        let mut request = request();
        change(&mut request);
        Question::check(request).unwrap_err().to_string()
    }

    #[test]
    fn a_sound_request_is_taken() {
        let question = Question::check(request()).unwrap();
        assert_eq!((question.top_k, question.camera.is_some()), (1, true));
        let point = SegmentRequest { prompt: String::new(), point: Some([2, 3]), ..request() };
        assert_eq!(Question::check(point).unwrap().what, What::Point { row: 2, col: 3 });
        let flat = SegmentRequest { depth: Vec::new(), intrinsics: [0.0; 9], ..request() };
        assert!(Question::check(flat).unwrap().camera.is_none());
    }

    #[test]
    fn what_can_not_be_meant_is_refused_in_words() {
        assert!(refused(|r| r.color.0.truncate(35)).contains("4 x 3 pixels with 35 bytes"));
        assert!(refused(|r| r.width = 0).contains("0 x 3 pixels"));
        assert!(refused(|r| (r.width, r.height) = (1 << 31, 1 << 31)).contains("pixels"));
        assert!(refused(|r| r.depth.truncate(11)).contains("no depth map of 11 values"));
        assert!(refused(|r| r.intrinsics[0] = f64::NAN).contains("calibration"));
        assert!(refused(|r| r.min_score = f64::NAN).contains("min_score"));
        assert!(refused(|r| r.top_k = 0).contains("top_k is 0"));
        assert!(refused(|r| r.top_k = u32::MAX).contains("1 to 20"));
        assert!(refused(|r| r.prompt = "  ".to_owned()).contains("prompt is empty"));
        assert!(refused(|r| r.prompt = "x".repeat(1 << 20)).contains("1048576 characters"));
        assert!(refused(|r| r.point = Some([0, 0])).contains("exactly one"));
        let outside = refused(|r| {
            r.prompt.clear();
            r.point = Some([3, 0]);
        });
        assert_eq!(outside, "point (3, 0) is outside the picture of 3 rows and 4 columns");
    }
}
