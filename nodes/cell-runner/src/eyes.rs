//! What the robot's cameras see: asked for by id when somebody looks, and kept
//! for a while, because who looks once looks again.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use depth_world_map::{Camera, DepthError};
use ruaflow_schemas::{CameraFrame, Card, FrameRequest};

use crate::memory::{Memory, Part, Sealed, pack};
use crate::protocol::ArrayInfo;

/// What is kept of pictures, bytes: about a dozen of 1024 x 1024 pixels.
const KEPT_BYTES: usize = 256 << 20;
/// Bytes a pixel may come to: colour and depth, both again for the cell, points.
const PIXEL_BYTES: usize = 3 + 4 + 3 + 12;

/// An unanswered request is sent again this often; the way to a robot may drop it.
const AGAIN: Duration = Duration::from_secs(15);

/// Which picture: a camera at a control step, in a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) camera: String,
    pub(crate) control_step: u64,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl View {
    fn bytes(&self) -> usize {
        self.width as usize * self.height as usize * PIXEL_BYTES
    }
}

/// A picture, and what was made of it so far.
pub(crate) struct Seen {
    pub(crate) frame: CameraFrame,
    color: OnceCell<(Sealed, ArrayInfo)>,
    world: OnceCell<(Sealed, ArrayInfo)>,
}

/// Why a picture gives no array.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SeenError {
    #[error("camera {0:?} measures no depth")]
    NoDepth(String),
    #[error("camera {camera:?}: {source}")]
    Depth { camera: String, source: DepthError },
    #[error("no memory for an array: {0}")]
    Memory(#[from] io::Error),
}

impl Seen {
    pub(crate) fn new(frame: CameraFrame) -> Self {
        Self { frame, color: OnceCell::new(), world: OnceCell::new() }
    }

    /// The picture as a uint8 array for a cell.
    pub(crate) fn color(&self) -> Result<(Sealed, ArrayInfo), SeenError> {
        if let Some(made) = self.color.get() {
            return Ok(made.clone());
        }
        let shape = [self.frame.height as usize, self.frame.width as usize, 3];
        let part = Part { name: "", dtype: "uint8", shape: &shape, bytes: &self.frame.color.0 };
        let (memory, mut arrays) = pack(&[part])?;
        let made = (memory, arrays.remove(0));
        Ok(self.color.get_or_init(|| made).clone())
    }

    /// The world point of each pixel as a float32 array for a cell, metres.
    pub(crate) fn world(&self) -> Result<(Sealed, ArrayInfo), SeenError> {
        if let Some(made) = self.world.get() {
            return Ok(made.clone());
        }
        let shape = vec![self.frame.height as usize, self.frame.width as usize, 3];
        let camera = self.calibrated()?;
        let mut rows = camera.rows(&self.frame.depth).map_err(|error| self.failed(error))?;
        let mut memory = Memory::new()?;
        let mut bytes = vec![0; 12 * self.frame.width as usize];
        while let Some(points) = rows.next_row() {
            for (bytes, value) in bytes.as_chunks_mut().0.iter_mut().zip(points) {
                *bytes = value.to_le_bytes();
            }
            memory.append(&bytes)?;
        }
        let array =
            ArrayInfo { name: String::new(), dtype: "float32".to_owned(), shape, offset: 0 };
        let made = (memory.seal()?, array);
        Ok(self.world.get_or_init(|| made).clone())
    }

    /// The same on this side.
    pub(crate) fn world_map(&self) -> Result<Vec<f32>, SeenError> {
        self.calibrated()?.world_map(&self.frame.depth).map_err(|error| self.failed(error))
    }

    /// The camera that measured the depth.
    pub(crate) fn calibrated(&self) -> Result<Camera, SeenError> {
        let frame = &self.frame;
        if frame.depth.is_empty() {
            return Err(SeenError::NoDepth(frame.camera.clone()));
        }
        Camera::new(
            frame.width as usize,
            frame.height as usize,
            frame.intrinsics,
            frame.camera_to_world,
        )
        .map_err(|error| self.failed(error))
    }

    fn failed(&self, source: DepthError) -> SeenError {
        SeenError::Depth { camera: self.frame.camera.clone(), source }
    }
}

/// Asks for pictures and keeps them, newest last.
pub(crate) struct Eyes {
    /// Node that makes the pictures.
    robot: Option<String>,
    robot_gone: bool,
    episode: i64,
    asked: Vec<Asked>,
    kept: VecDeque<(View, Rc<Seen>)>,
    /// Requests made so far, for ids.
    requests: u64,
    /// How long a robot may take for a picture.
    patience: Duration,
}

struct Asked {
    view: View,
    request: FrameRequest,
    since: Instant,
    again: Instant,
}

/// A view, and its picture or why there is none.
pub(crate) type Sight = (View, Result<Rc<Seen>, String>);

impl Eyes {
    pub(crate) fn new(patience: Duration) -> Self {
        Self {
            robot: None,
            robot_gone: false,
            episode: -1,
            asked: Vec::new(),
            kept: VecDeque::new(),
            requests: 0,
            patience,
        }
    }

    pub(crate) fn connect(&mut self, robot: Option<String>) {
        self.robot = robot;
    }

    /// A new episode: nothing of the last one is looked at any more.
    pub(crate) fn begin(&mut self, episode: i64) {
        self.episode = episode;
        self.asked.clear();
        self.kept.clear();
    }

    /// The picture of a view, or `None` when it will come; a request that has to
    /// be sent is put into `requests`.
    ///
    /// # Errors
    /// Why there can be none, in words.
    pub(crate) fn look(
        &mut self,
        view: &View,
        card: &Card,
        latest: u64,
        requests: &mut Vec<FrameRequest>,
    ) -> Result<Option<Rc<Seen>>, String> {
        if let Some(at) = self.kept.iter().position(|(kept, _)| kept == view)
            && let Some(found) = self.kept.remove(at)
        {
            self.kept.push_back(found.clone());
            return Ok(Some(found.1));
        }
        let Some(robot) = &self.robot else {
            return Err("this dataflow brings no pictures to the cell runner: it needs the \
                        robot's `frame` as an input, and the robot its `frame_request`"
                .to_owned());
        };
        if self.robot_gone {
            return Err(format!("node {robot:?} has died"));
        }
        if self.asked.iter().any(|asked| asked.view == *view) {
            return Ok(None);
        }
        let camera = card.cameras.iter().find(|camera| camera.name == view.camera);
        let only_now = camera.is_some_and(|camera| !camera.any_step) && view.control_step == latest;
        let request = FrameRequest {
            id: format!("look-{}-{}", self.episode, self.requests),
            camera: view.camera.clone(),
            width: view.width,
            height: view.height,
            control_step: if only_now { -1 } else { view.control_step.cast_signed() },
            // One picture serves image() and world_map(), and depth comes with it.
            depth: camera.is_some_and(|camera| camera.depth),
            ..FrameRequest::default()
        };
        self.requests += 1;
        let since = Instant::now();
        let asked = Asked { view: view.clone(), request, since, again: since + AGAIN };
        requests.push(asked.request.clone());
        self.asked.push(asked);
        Ok(None)
    }

    /// Whether a frame was asked for here.
    pub(crate) fn wants(&self, id: &str) -> bool {
        self.asked.iter().any(|asked| asked.request.id == id)
    }

    /// Takes an answer of the robot.
    pub(crate) fn take(&mut self, frame: CameraFrame) -> Option<Sight> {
        let at = self.asked.iter().position(|asked| asked.request.id == frame.id)?;
        let view = self.asked.swap_remove(at).view;
        if !frame.error.is_empty() {
            return Some((view, Err(frame.error)));
        }
        let seen = Rc::new(Seen::new(frame));
        self.kept.push_back((view.clone(), Rc::clone(&seen)));
        let mut bytes: usize = self.kept.iter().map(|(view, _)| view.bytes()).sum();
        while bytes > KEPT_BYTES
            && self.kept.len() > 1
            && let Some((old, _)) = self.kept.pop_front()
        {
            bytes -= old.bytes();
        }
        Some((view, Ok(seen)))
    }

    /// When [`on_time`](Self::on_time) wants to be called.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let due = |asked: &Asked| asked.again.min(asked.since + self.patience);
        self.asked.iter().map(due).min()
    }

    /// Sends again what got lost, gives up what took too long.
    pub(crate) fn on_time(&mut self, now: Instant, requests: &mut Vec<FrameRequest>) -> Vec<Sight> {
        let robot = self.robot.clone().unwrap_or_default();
        let patience = self.patience;
        let (late, waiting): (Vec<_>, Vec<_>) =
            self.asked.drain(..).partition(|asked| asked.since + patience <= now);
        self.asked = waiting;
        for asked in self.asked.iter_mut().filter(|asked| asked.again <= now) {
            asked.again = now + AGAIN;
            requests.push(asked.request.clone());
        }
        let seconds = patience.as_secs_f64();
        let silent = format!("node {robot:?} sent no picture within {seconds} s");
        late.into_iter().map(|asked| (asked.view, Err(silent.clone()))).collect()
    }

    /// A node has died; what it was asked for will not come.
    pub(crate) fn gone(&mut self, node: &str) -> Vec<Sight> {
        if self.robot.as_deref() != Some(node) {
            return Vec::new();
        }
        self.robot_gone = true;
        let died = format!("node {node:?} has died");
        self.asked.drain(..).map(|asked| (asked.view, Err(died.clone()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn view(width: u32) -> View {
        View { camera: "agentview".to_owned(), control_step: 3, width, height: 1024 }
    }

    fn eyes() -> Eyes {
        let mut eyes = Eyes::new(PATIENCE);
        eyes.connect(Some("libero".to_owned()));
        eyes.begin(0);
        eyes
    }

    fn look(eyes: &mut Eyes, view: &View) -> (bool, Vec<FrameRequest>) {
        let mut requests = Vec::new();
        let seen = eyes.look(view, &Card::default(), 7, &mut requests).unwrap();
        (seen.is_some(), requests)
    }

    fn answer(request: &FrameRequest) -> CameraFrame {
        CameraFrame { id: request.id.clone(), ..CameraFrame::default() }
    }

    #[test]
    fn a_picture_is_asked_for_once_and_kept() {
        let mut eyes = eyes();
        let (seen, requests) = look(&mut eyes, &view(1024));
        assert!(!seen && requests[0].control_step == 3);
        assert_eq!(look(&mut eyes, &view(1024)), (false, Vec::new()));
        assert!(
            eyes.take(CameraFrame { id: "other".to_owned(), ..CameraFrame::default() }).is_none()
        );
        assert!(
            eyes.take(answer(&requests[0]))
                .is_some_and(|(of, seen)| of == view(1024) && seen.is_ok())
        );
        assert_eq!(look(&mut eyes, &view(1024)), (true, Vec::new()));
        eyes.begin(1);
        assert!(!look(&mut eyes, &view(1024)).0);
    }

    #[test]
    fn the_pictures_looked_at_last_are_kept() {
        let mut eyes = eyes();
        let at_once = KEPT_BYTES / view(1024).bytes();
        // One more than there is room for.
        for width in 1024..=1024 + at_once as u32 {
            let (_, requests) = look(&mut eyes, &view(width));
            eyes.take(answer(&requests[0]));
            // The first one is looked at again and again.
            assert!(look(&mut eyes, &view(1024)).0);
        }
        assert!(!look(&mut eyes, &view(1025)).0);
        assert!(eyes.kept.iter().map(|(view, _)| view.bytes()).sum::<usize>() <= KEPT_BYTES);
    }

    #[test]
    fn a_lost_request_is_sent_again_and_given_up_in_the_end() {
        let mut eyes = eyes();
        let (_, asked) = look(&mut eyes, &view(64));
        let began = eyes.asked[0].since;
        let mut again = Vec::new();
        assert!(eyes.on_time(began + AGAIN, &mut again).is_empty());
        assert_eq!(again, asked);
        assert_eq!(eyes.deadline(), Some(began + 2 * AGAIN));
        let late = eyes.on_time(began + PATIENCE, &mut Vec::new());
        assert_eq!(late.len(), 1);
        assert_eq!(eyes.deadline(), None);
    }

    #[test]
    fn a_camera_without_a_past_is_asked_for_now() {
        let mut eyes = eyes();
        let camera = ruaflow_schemas::Camera { name: "agentview".to_owned(), ..Default::default() };
        let card = Card { cameras: vec![camera], ..Card::default() };
        let mut requests = Vec::new();
        assert!(eyes.look(&view(8), &card, 3, &mut requests).is_ok());
        assert!(eyes.look(&view(9), &card, 7, &mut requests).is_ok());
        let steps: Vec<(i64, bool)> = requests.iter().map(|r| (r.control_step, r.depth)).collect();
        assert_eq!(steps, [(-1, false), (3, false)]);
    }
}
