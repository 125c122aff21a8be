//! A recording as a robot of the dataflow: what was measured is measured again.

use std::path::Path;
use std::time::{Duration, Instant};

use eyre::{Result, WrapErr as _, bail, eyre};
use libero::egl::EglDevice;
use ruaflow_kit::{FrameReply, Robot, Settings, StepError};
use ruaflow_record::{Recording, RecordingAddress, RunDir, Trajectory};
use ruaflow_schemas::{Action, Camera, Card, FrameRequest, Observation, Reset};

use crate::album::Album;
use crate::pace::Pace;
use crate::theatre::Theatre;

/// Runs the node until the run is over.
///
/// # Errors
/// As [`ruaflow_kit::serve`].
pub fn run() -> Result<()> {
    // SAFETY: nothing in this process uses MuJoCo yet.
    unsafe { libero::physics::log_to_tracing() };
    ruaflow_kit::serve(Player::new(Settings::load()?))
}

/// A robot that measures what another one did, in the order and at the pace of then.
///
/// Nobody judges a recording: it is never solved, and its end is the end of its
/// control steps.
pub struct Player {
    settings: Settings,
    theatre: Theatre,
    /// Resets so far: each plays the next recorded episode.
    resets: u32,
    playing: Option<Playing>,
}

/// An episode that is played.
struct Playing {
    card: Card,
    /// What was measured, from control step 0 on; there is one at least.
    observations: Vec<Observation>,
    /// The last one that was told.
    at: usize,
    pace: Pace,
    began: Instant,
    held: bool,
    album: Album,
    /// Whether it was said that actions don't matter.
    warned: bool,
}

impl Player {
    /// With the settings `RECORDING`, `SPEED` and `EGL_DEVICE`.
    pub fn new(settings: Settings) -> Self {
        let device = EglDevice::parse(settings.text("EGL_DEVICE").as_deref());
        Player { settings, theatre: Theatre::new(device), resets: 0, playing: None }
    }

    /// The episode whose turn it is.
    fn recorded(&self) -> Result<(RunDir, u32)> {
        let text = self.settings.text("RECORDING").ok_or_else(|| {
            eyre!("setting RECORDING is empty: name the folder of a run, or RUN:EPISODE")
        })?;
        let address: RecordingAddress =
            text.parse().map_err(|reason| eyre!("setting RECORDING is {text:?}: {reason}"))?;
        let (dir, episodes) = address.open(Path::new("")).wrap_err("setting RECORDING")?;
        let wanted = if address.episode.is_some() { 0 } else { self.resets as usize };
        match episodes.get(wanted) {
            Some(&episode) => Ok((dir, episode)),
            None => bail!("the recording has {} episodes, and they are played", episodes.len()),
        }
    }

    /// Cameras of which there are pictures.
    fn cameras(&self, card: &Card, album: &Album) -> Vec<Camera> {
        if self.theatre.is_open() {
            return card.cameras.clone();
        }
        let pictured = card.cameras.iter().filter(|camera| album.has(&camera.name));
        pictured.map(|camera| Camera { depth: false, any_step: false, ..camera.clone() }).collect()
    }
}

impl Robot for Player {
    fn reset(&mut self, reset: &Reset) -> Result<Card> {
        let pace = self.settings.parse("SPEED", Pace::default(), Pace::WORDS)?;
        let (dir, episode) = self.recorded()?;
        let Recording { card, mut observations, .. } = Recording::read(&dir, episode)?;
        if !reset.suite.is_empty() && (&reset.suite, reset.task) != (&card.suite, card.task) {
            let Card { suite, task, .. } = card;
            bail!("the recording is of suite {suite:?}, task {task}: ask for no other scene");
        }
        if observations.first().is_none_or(|first| first.control_step > 0) {
            observations.insert(0, card.first.clone());
        }
        if observations.len() < 2 {
            bail!("nothing moved in episode {episode} of {:?}", dir.root());
        }
        let shown = Trajectory::read(&dir, episode).map_err(Into::into);
        if let Err(error) = shown.and_then(|states| self.theatre.show(&card, states)) {
            self.theatre.close();
            tracing::warn!("only recorded pictures can be shown: {error:#}");
        }
        let album = Album::open(&dir.pictures_dir(episode));
        self.resets += 1;
        let card = Card {
            cameras: self.cameras(&card, &album),
            judged: false,
            max_control_steps: u32::try_from(observations.len() - 1).unwrap_or(u32::MAX),
            first: unjudged(&observations[0]),
            ..card
        };
        self.playing = Some(Playing {
            card: card.clone(),
            observations,
            at: 0,
            pace,
            began: Instant::now(),
            held: false,
            album,
            warned: false,
        });
        Ok(card)
    }

    fn step(&mut self, _: &Action) -> Result<Observation, StepError> {
        let refused = |reason: &str| StepError::Refused(reason.to_owned());
        let playing = self.playing.as_mut().ok_or_else(|| refused("nothing is played"))?;
        if !std::mem::replace(&mut playing.warned, true) {
            tracing::warn!("an action is answered with what was measured next, whatever it says");
        }
        if let Some(due) = playing.due() {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        playing.next().ok_or_else(|| refused("the recording is over"))
    }

    fn due(&self) -> Option<Instant> {
        self.playing.as_ref()?.due()
    }

    fn advance(&mut self) -> Result<Observation> {
        let next = self.playing.as_mut().and_then(Playing::next);
        next.ok_or_else(|| eyre!("the recording is over"))
    }

    fn hold(&mut self) {
        if let Some(playing) = &mut self.playing {
            playing.held = true;
        }
    }

    fn frame(&mut self, request: FrameRequest, reply: FrameReply) {
        let Some(playing) = &self.playing else { return reply.refuse("nothing is played") };
        let index = usize::try_from(request.control_step).unwrap_or(usize::MAX);
        let Some(pictured) = playing.observations.get(index) else {
            return reply.refuse("the recording has no such control step");
        };
        if self.theatre.is_open() {
            return self.theatre.picture(pictured.control_step, request, reply);
        }
        let camera = playing.card.cameras.iter().find(|camera| camera.name == request.camera);
        let Some(camera) = camera else { return reply.refuse("no such camera") };
        match playing.album.picture(pictured.control_step, camera, &request) {
            Ok(mut frame) => {
                frame.time_ns = playing.time_of(frame.control_step);
                reply.send_kept(frame);
            }
            Err(reason) => reply.refuse(&reason),
        }
    }
}

impl Playing {
    /// Goes on by a control step.
    fn next(&mut self) -> Option<Observation> {
        let next = self.observations.get(self.at + 1).map(unjudged)?;
        self.at += 1;
        Some(next)
    }

    fn due(&self) -> Option<Instant> {
        let Pace::Times(times) = self.pace else { return None };
        let next = self.observations.get(self.at + 1).filter(|_| !self.held)?;
        let ns = next.time_ns.saturating_sub(self.observations.first()?.time_ns);
        let after = Duration::try_from_secs_f64(ns as f64 / 1e9 / times).ok()?;
        self.began.checked_add(after)
    }

    /// When a control step was measured, nanoseconds; 0 when its row is missing.
    fn time_of(&self, control_step: u64) -> u64 {
        let found = self.observations.iter().find(|o| o.control_step == control_step);
        found.map_or(0, |observation| observation.time_ns)
    }
}

/// Nobody judges it again.
fn unjudged(observation: &Observation) -> Observation {
    Observation { terminated: false, truncated: false, success: false, ..observation.clone() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
