//! Many scenes in one process: each task is loaded once for all who use it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::data::Data;
use crate::scene::{Scene, SceneError};

/// Loaded scenes, shared for as long as somebody holds them.
///
/// A [`Simulator`](crate::sim::Simulator) of a shared scene has its own state, fixture
/// poses and visible sites; model, task file and initial states are everybody's. The
/// last one to let go of a scene frees it.
pub struct Scenes {
    data: Data,
    loaded: Mutex<BTreeMap<(String, usize), Weak<Scene>>>,
}

impl Scenes {
    /// None are loaded yet.
    pub fn new(data: Data) -> Self {
        Scenes { data, loaded: Mutex::default() }
    }

    /// The scene of a task; loaded now unless somebody holds it. One scene is loaded at
    /// a time, the threads take turns.
    ///
    /// # Errors
    /// As [`Scene::load`].
    pub fn get(&self, suite: &str, task: usize) -> Result<Arc<Scene>, SceneError> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.retain(|_, scene| scene.strong_count() > 0);
        let key = (suite.to_lowercase(), task);
        if let Some(scene) = loaded.get(&key).and_then(Weak::upgrade) {
            return Ok(scene);
        }
        let scene = Arc::new(Scene::load(&self.data, suite, task)?);
        loaded.insert(key, Arc::downgrade(&scene));
        Ok(scene)
    }
}
