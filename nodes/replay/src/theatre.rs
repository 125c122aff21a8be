use std::collections::BTreeMap;
use std::sync::Arc;

use eyre::{Result, bail};
use libero::data::Data;
use libero::egl::EglDevice;
use libero::node::Painter;
use libero::scene::Scene;
use libero::sim::Simulator;
use libero::state::SimState;
use ruaflow_kit::FrameReply;
use ruaflow_record::Trajectory;
use ruaflow_schemas::{Card, FrameRequest};

/// Pictures any recorded state of a LIBERO scene.
pub struct Theatre {
    device: EglDevice,
    painter: Painter,
    /// Suite and task of the scene that stands.
    scene: Option<(String, u32)>,
    /// By control step.
    states: BTreeMap<u64, Arc<SimState>>,
}

impl Theatre {
    pub fn new(device: EglDevice) -> Self {
        let painter = Painter::new(device.clone());
        Theatre { device, painter, scene: None, states: BTreeMap::new() }
    }

    /// Shows an episode from here on.
    ///
    /// # Errors
    /// When it can't be pictured: another robot, no data, no EGL, states of another
    /// scene's shape.
    pub fn show(&mut self, card: &Card, trajectory: Trajectory) -> Result<()> {
        self.states.clear();
        self.painter.forget_pictures();
        if card.robot != "libero" {
            bail!("only LIBERO's scenes can be pictured again");
        }
        self.device.check()?;
        let scene = (card.suite.clone(), card.task);
        if self.scene.as_ref() != Some(&scene) {
            self.scene = None;
            self.painter.clear();
            let loaded = Scene::load(&Data::locate()?, &card.suite, card.task as usize)?;
            self.painter.show(Simulator::new(loaded)?.render_scene());
            self.scene = Some(scene);
        }
        for state in &trajectory.states {
            self.states.insert(state.control_step, Arc::new(SimState::try_from(state)?));
        }
        Ok(())
    }

    /// Nothing is shown any more.
    pub fn close(&mut self) {
        self.states.clear();
    }

    /// Whether it shows an episode.
    pub fn is_open(&self) -> bool {
        !self.states.is_empty()
    }

    /// Pictures the state of a control step, or the last one before it that was recorded.
    pub fn picture(&mut self, step: u64, request: FrameRequest, reply: FrameReply) {
        match self.states.range(..=step).next_back() {
            Some((_, state)) => self.painter.paint(Arc::clone(state), request, reply),
            None => reply.refuse("no state of this control step was recorded"),
        }
    }
}
