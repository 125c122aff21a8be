//! The model with its looks, compiled when somebody first wants a picture.

use std::sync::{Arc, Mutex, PoisonError, Weak};

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
/// thirtieth of the memory. Shared by all who ask, and freed with the last of them.
pub struct VisualModel {
    xml: String,
    hidden_sites: Vec<usize>,
    parts: [i64; 6],
    compiled: Mutex<Weak<MjModel>>,
}

impl VisualModel {
    pub(crate) fn new(xml: String, hidden_sites: Vec<usize>, physics: &MjModel) -> Self {
        Self { xml, hidden_sites, parts: parts(physics), compiled: Mutex::default() }
    }

    /// The compiled model; takes seconds unless somebody holds it.
    ///
    /// # Errors
    /// [`VisualModelError`].
    pub fn get(&self) -> Result<Arc<MjModel>, VisualModelError> {
        // Held while it compiles, so that of two threads one waits.
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = compiled.upgrade() {
            return Ok(model);
        }
        let mut model = MjModel::from_xml_string(&self.xml)?;
        if parts(&model) != self.parts {
            return Err(VisualModelError::OtherParts);
        }
        hide_sites(&mut model, &self.hidden_sites);
        physics::release_compiler_memory();
        let model = Arc::new(model);
        *compiled = Arc::downgrade(&model);
        Ok(model)
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
