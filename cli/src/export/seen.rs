//! The pictures of an episode, rendered again or as they were recorded.

use std::collections::HashMap;
use std::path::PathBuf;

use eyre::{Result, WrapErr as _};
use image_codec::{Filter, Pixels, Rgb};
use libero::gl::Quality;
use libero::render::{Picture, Want};
use ruaflow_export::{BodyPose, Episode, ExportError};
use ruaflow_record::{RunDir, Trajectory};
use ruaflow_schemas::State;

use super::known_camera;
use crate::studio::Studio;

/// Scenes take seconds to compile, and episodes of one task follow each other.
#[derive(Default)]
pub struct Studios {
    last: Option<((String, u32), Studio)>,
    egl_device: Option<String>,
}

/// Where an episode's pictures come from.
pub enum Seen<'a> {
    /// Its recorded states are rendered.
    Rendered { studio: &'a mut Studio, states: HashMap<u64, State> },
    /// Files in its folder, for those control steps that have one.
    Recorded { folder: PathBuf },
}

impl Studios {
    pub fn on(egl_device: Option<String>) -> Self {
        Studios { last: None, egl_device }
    }

    /// The pictures of an episode.
    ///
    /// # Errors
    /// [`ExportError::Record`] when its states were not recorded; those of [`Studio::open`].
    pub fn of(&mut self, run: &RunDir, episode: &Episode) -> Result<Seen<'_>> {
        let (card, number) = (&episode.card, episode.source.episode);
        if !Studio::knows(card) {
            return Ok(Seen::Recorded { folder: run.pictures_dir(number) });
        }
        let trajectory = Trajectory::read(run, number).map_err(ExportError::from)?;
        let states = trajectory.states.into_iter();
        let states = states.map(|state| (state.control_step, state)).collect();
        let scene = (card.suite.clone(), card.task);
        let studio = match self.last.take() {
            Some((last, studio)) if last == scene => studio,
            // The other scene goes before this one comes.
            other => {
                drop(other);
                Studio::open(card, self.egl_device.as_deref())?
            }
        };
        let (_, studio) = self.last.insert((scene, studio));
        Ok(Seen::Rendered { studio, states })
    }
}

impl Seen<'_> {
    /// What a camera saw at a control step; `None` where nothing was recorded. A recorded
    /// picture has no depth and no geometry.
    pub fn picture(
        &mut self,
        episode: &Episode,
        step: u64,
        camera: &str,
        size: [u32; 2],
        want: Want,
    ) -> Result<Option<Picture>> {
        match self {
            Seen::Rendered { studio, states } => match states.get(&step) {
                None => Ok(None),
                Some(state) => studio.picture(state, camera, size, Quality::Full, want).map(Some),
            },
            Seen::Recorded { folder } => {
                known_camera(camera, &episode.card)?;
                let path = folder.join(format!("{step:05}-{camera}.png"));
                let Ok(png) = std::fs::read(&path) else { return Ok(None) };
                let picture = image_codec::decode(&png);
                let picture = picture.wrap_err_with(|| format!("can't read {path:?}"))?;
                Ok(Some(without_geometry(&picture, size)?))
            }
        }
    }

    /// Where everything was at a control step; empty where nobody knows.
    pub fn body_poses(&mut self, step: u64) -> Result<Vec<BodyPose>> {
        let Seen::Rendered { studio, states } = self else { return Ok(Vec::new()) };
        let Some(state) = states.get(&step) else { return Ok(Vec::new()) };
        let poses = studio.body_poses(state)?.into_iter();
        Ok(poses
            .map(|pose| BodyPose {
                path: pose.name,
                position: pose.position,
                quaternion: pose.quaternion,
            })
            .collect())
    }
}

fn without_geometry(picture: &Rgb, [width, height]: [u32; 2]) -> Result<Picture> {
    let pixels = Pixels {
        width: picture.width,
        height: picture.height,
        channels: 3,
        bytes: &picture.pixels,
    };
    Ok(Picture {
        width,
        height,
        color: image_codec::resize(pixels, width, height, Filter::Bilinear)?,
        depth: Vec::new(),
        depth_range: [0.0; 2],
        segmentation: Vec::new(),
        intrinsics: [0.0; 9],
        camera_to_world: [0.0; 16],
    })
}
