//! The model with its looks, compiled when somebody first wants a picture.

use std::sync::{Arc, OnceLock};

use mujoco_rs::{error::MjModelError, wrappers::MjModel};
use thiserror::Error;

use crate::physics;

/// Why there can be no pictures of a scene.
#[derive(Debug, Error)]
pub enum VisualModelError {
    /// MuJoCo refuses the model, for instance for a missing texture.
    #[error("MuJoCo can't compile the scene with its looks: {0}: run `./rua setup`")]
    Compile(#[from] MjModelError),
    /// The two models don't have the same parts; the data and this program don't fit together.
    #[error("the scene with its looks has other parts than the one without: run `./rua setup`")]
    OtherParts,
}

/// A scene's model with textures and visual meshes.
///
/// Ids and states are those of the [`Scene`](crate::scene::Scene)'s own model, which
/// has everything but the looks: a hundredth of the time to compile, and a
/// thirtieth of the memory. Shared by all who ask; compiled at most once.
pub struct VisualModel {
    xml: String,
    hidden_sites: Vec<usize>,
    parts: [i64; 6],
    compiled: OnceLock<Arc<MjModel>>,
}

impl VisualModel {
    pub(crate) fn new(xml: String, hidden_sites: Vec<usize>, physics: &MjModel) -> Self {
        Self { xml, hidden_sites, parts: parts(physics), compiled: OnceLock::new() }
    }

    /// The compiled model; the first call takes seconds.
    ///
    /// # Errors
    /// [`VisualModelError`].
    pub fn get(&self) -> Result<Arc<MjModel>, VisualModelError> {
        if let Some(model) = self.compiled.get() {
            return Ok(Arc::clone(model));
        }
        let mut model = MjModel::from_xml_string(&self.xml)?;
        if parts(&model) != self.parts {
            return Err(VisualModelError::OtherParts);
        }
        hide_sites(&mut model, &self.hidden_sites);
        physics::release_compiler_memory();
        // Of two threads that compile at once, the first one's model is kept.
        Ok(Arc::clone(self.compiled.get_or_init(|| Arc::new(model))))
    }
}

/// Turns sites invisible, as the reference does at each reset.
pub(crate) fn hide_sites(model: &mut MjModel, sites: &[usize]) {
    for &site in sites {
        let alpha = &mut model.site_rgba_mut()[site][3];
        if *alpha > 0.0 {
            *alpha = -*alpha;
        }
    }
}

fn parts(model: &MjModel) -> [i64; 6] {
    [model.nq(), model.nv(), model.nbody(), model.ngeom(), model.nsite(), model.ncam()]
}
