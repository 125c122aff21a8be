//! Pictures of recorded states: a scene with its renderer.

use eyre::{Context as _, Report, Result, bail};
use libero::data::Data;
use libero::egl::EglDevice;
use libero::gl::Quality;
use libero::render::{BodyPose, Picture, RenderError, Renderer, Want};
use libero::scene::Scene;
use libero::sim::Simulator;
use libero::state::SimState;
use ruaflow_kit::nearest;
use ruaflow_schemas::{Card, State};

use crate::failure::usage;

pub struct Studio {
    renderer: Renderer,
}

impl Studio {
    /// Whether a robot's scenes can be pictured again.
    pub fn knows(card: &Card) -> bool {
        card.robot == "libero"
    }

    /// The scene of a card, drawn by an EGL device.
    pub fn open(card: &Card, egl_device: Option<&str>) -> Result<Self> {
        if !Self::knows(card) {
            bail!(
                "only LIBERO's scenes can be pictured again; this run's robot is {:?}",
                card.robot
            );
        }
        // SAFETY: no other thread of this process uses MuJoCo.
        unsafe { libero::physics::log_to_tracing() };
        let scene = Scene::load(&Data::locate()?, &card.suite, card.task as usize)?;
        let scene = Simulator::new(scene)?.render_scene();
        Ok(Studio { renderer: Renderer::on(scene, EglDevice::parse(egl_device))? })
    }

    /// A state as a camera sees it, in pixels `[width, height]`.
    pub fn picture(
        &mut self,
        state: &State,
        camera: &str,
        size: [u32; 2],
        quality: Quality,
        want: Want,
    ) -> Result<Picture> {
        self.renderer
            .render_in(quality, &SimState::try_from(state)?, camera, size, want)
            .map_err(wrong_usage)
            .wrap_err_with(|| format!("no picture of control step {}", state.control_step))
    }

    /// Where everything is in a state.
    pub fn body_poses(&mut self, state: &State) -> Result<Vec<BodyPose>> {
        Ok(self.renderer.body_poses(&SimState::try_from(state)?)?)
    }
}

/// A camera or a size that can't be is the user's to mend.
fn wrong_usage(error: RenderError) -> Report {
    match &error {
        RenderError::UnknownCamera { name, known } => {
            let names = known.iter().map(String::as_str).chain(["wrist"]);
            match nearest(name, names) {
                Some(near) => usage(format!("{error}; did you mean {near:?}?")),
                None => usage(error.to_string()),
            }
        }
        RenderError::Size { .. } => usage(error.to_string()),
        _ => error.into(),
    }
}
