use std::collections::{BTreeMap, VecDeque};
use std::str::FromStr;

use ruaflow_schemas::{Camera, Card, FrameRequest};

/// Views that are kept when the robot has them; else its first two.
const VIEWS: [&str; 2] = ["agentview", "wrist"];
/// Longer side of a kept picture, pixels: enough to see what happened, cheap to make.
const SIDE: u32 = 256;
/// Pictures the robot is asked for at once.
const AT_ONCE: usize = 2;
const MAX_WAITING: usize = 4096;

/// When pictures are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    Off,
    /// At the beginning and the end of an episode.
    #[default]
    Ends,
    /// At the beginning and after every call.
    Calls,
}

impl FromStr for Mode {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "off" => Ok(Mode::Off),
            "ends" => Ok(Mode::Ends),
            "calls" => Ok(Mode::Calls),
            _ => Err(()),
        }
    }
}

/// A picture of an episode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Picture {
    pub episode: u32,
    pub control_step: u64,
    pub camera: String,
}

/// Decides which pictures to ask the robot for, a few at a time.
#[derive(Default)]
pub(crate) struct Pictures {
    mode: Mode,
    episode: u32,
    cameras: Vec<Camera>,
    waiting: VecDeque<(Picture, FrameRequest)>,
    /// Asked for and not answered, by request id.
    asked: BTreeMap<String, Picture>,
    last_step: Option<u64>,
}

impl Pictures {
    pub fn new(mode: Mode) -> Self {
        Pictures { mode, ..Pictures::default() }
    }

    /// An episode's scene stands.
    pub fn begin(&mut self, episode: u32, card: &Card) {
        let named: Vec<Camera> = VIEWS
            .iter()
            .filter_map(|name| card.cameras.iter().find(|c| c.name == *name))
            .cloned()
            .collect();
        self.cameras = if named.is_empty() {
            card.cameras.iter().take(VIEWS.len()).cloned().collect()
        } else {
            named
        };
        self.cameras.retain(|camera| is_camera_name(&camera.name));
        self.episode = episode;
        self.last_step = None;
        self.want(0);
    }

    /// A call has ended at this control step.
    pub fn call_ended(&mut self, control_step: u64) {
        if self.mode == Mode::Calls {
            self.want(control_step);
        }
    }

    /// The episode has ended at this control step.
    pub fn end(&mut self, control_step: u64) {
        self.want(control_step);
    }

    /// What to ask for now.
    pub fn requests(&mut self) -> Vec<FrameRequest> {
        let mut requests = Vec::new();
        while self.asked.len() < AT_ONCE
            && let Some((picture, request)) = self.waiting.pop_front()
        {
            self.asked.insert(request.id.clone(), picture);
            requests.push(request);
        }
        requests
    }

    /// The picture that a frame answers, if it was asked for here.
    pub fn answered(&mut self, id: &str) -> Option<Picture> {
        self.asked.remove(id)
    }

    /// Pictures that have not come.
    pub fn missing(&self) -> Vec<Picture> {
        self.asked
            .values()
            .chain(self.waiting.iter().map(|(picture, _)| picture))
            .cloned()
            .collect()
    }

    /// Stops waiting for them.
    pub fn forget(&mut self) {
        self.asked.clear();
        self.waiting.clear();
    }

    fn want(&mut self, control_step: u64) {
        if self.mode == Mode::Off || self.last_step == Some(control_step) {
            return;
        }
        self.last_step = Some(control_step);
        for camera in &self.cameras {
            if self.waiting.len() >= MAX_WAITING {
                return;
            }
            let (width, height) = fit(camera.width, camera.height);
            let request = FrameRequest {
                id: format!("recorder-{}-{control_step}-{}", self.episode, camera.name),
                camera: camera.name.clone(),
                width,
                height,
                // A robot without a past can only show what is now.
                control_step: if camera.any_step { control_step as i64 } else { -1 },
                depth: false,
                segmentation: false,
                preview: false,
            };
            let picture =
                Picture { episode: self.episode, control_step, camera: camera.name.clone() };
            self.waiting.push_back((picture, request));
        }
    }
}

impl Picture {
    /// Name of its file; names sort by step.
    pub fn file_name(&self) -> String {
        format!("{:05}-{}.png", self.control_step, self.camera)
    }
}

/// Size with the camera's shape and no side longer than [`SIDE`]; 0 leaves it to the camera.
fn fit(width: u32, height: u32) -> (u32, u32) {
    let longer = width.max(height);
    if longer <= SIDE {
        return (width, height);
    }
    let scale =
        |side: u32| ((u64::from(side) * u64::from(SIDE)).div_ceil(u64::from(longer)) as u32).max(1);
    (scale(width), scale(height))
}

/// A camera's name becomes part of a file's name.
fn is_camera_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

#[cfg(test)]
mod tests {
    use ruaflow_record::Level;

    use super::*;

    fn camera(name: &str) -> Camera {
        Camera { name: name.into(), width: 1024, height: 768, any_step: true, ..Camera::default() }
    }

    fn card(names: &[&str]) -> Card {
        Card { cameras: names.iter().map(|n| camera(n)).collect(), ..Card::default() }
    }

    fn ask(pictures: &mut Pictures) -> Vec<(String, i64)> {
        pictures.requests().into_iter().map(|r| (r.camera, r.control_step)).collect()
    }

    fn answer_all(pictures: &mut Pictures) {
        while let Some(id) = pictures.asked.keys().next().cloned() {
            assert!(pictures.answered(&id).is_some());
        }
    }

    #[test]
    fn the_ends_of_an_episode_are_pictured_from_two_views() {
        let mut pictures = Pictures::new(Mode::Ends);
        pictures.begin(3, &card(&["top", "wrist", "agentview"]));
        assert_eq!(ask(&mut pictures), [("agentview".into(), 0), ("wrist".into(), 0)]);
        let picture = pictures.answered("recorder-3-0-wrist").unwrap();
        assert_eq!((picture.episode, picture.file_name().as_str()), (3, "00000-wrist.png"));
        assert_eq!(pictures.answered("somebody-else"), None);
        answer_all(&mut pictures);
        pictures.call_ended(12);
        assert!(ask(&mut pictures).is_empty());
        pictures.end(31);
        assert_eq!(ask(&mut pictures), [("agentview".into(), 31), ("wrist".into(), 31)]);
        assert_eq!(pictures.missing().len(), 2);
    }

    #[test]
    fn after_every_call_a_few_are_asked_for_at_a_time() {
        let mut pictures = Pictures::new(Mode::Calls);
        pictures.begin(0, &card(&["agentview"]));
        pictures.call_ended(5);
        pictures.call_ended(5);
        pictures.call_ended(9);
        pictures.end(9);
        assert_eq!(ask(&mut pictures).len(), AT_ONCE);
        assert!(ask(&mut pictures).is_empty());
        answer_all(&mut pictures);
        assert_eq!(ask(&mut pictures), [("agentview".into(), 9)]);
    }

    #[test]
    fn every_level_says_when_in_words_that_are_known() {
        for (level, mode) in
            [(Level::Light, Mode::Off), (Level::Standard, Mode::Ends), (Level::Full, Mode::Calls)]
        {
            assert_eq!(level.pictures().parse(), Ok(mode));
        }
    }

    #[test]
    fn off_asks_for_nothing_and_an_odd_camera_name_is_left_out() {
        let mut pictures = Pictures::new(Mode::Off);
        pictures.begin(0, &card(&["agentview"]));
        pictures.end(4);
        assert!(ask(&mut pictures).is_empty());
        let mut pictures = Pictures::new(Mode::Ends);
        pictures.begin(0, &card(&["../../x", "front"]));
        assert_eq!(ask(&mut pictures), [("front".into(), 0)]);
    }

    #[test]
    fn a_robot_without_a_past_is_asked_for_now() {
        let mut pictures = Pictures::new(Mode::Ends);
        let real = Camera { any_step: false, ..camera("front") };
        pictures.begin(0, &Card { cameras: vec![real], ..Card::default() });
        assert_eq!(ask(&mut pictures), [("front".into(), -1)]);
    }

    #[test]
    fn pictures_keep_the_cameras_shape() {
        assert_eq!(fit(1024, 768), (256, 192));
        assert_eq!(fit(64, 48), (64, 48));
        assert_eq!(fit(0, 0), (0, 0));
        assert_eq!(fit(10_000, 1), (256, 1));
    }
}
