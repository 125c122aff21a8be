//! Recordings of the Python reference (`tests/reference/recording.py`), and how the
//! simulator compares with one.

mod bits;
mod compare;
mod model;
mod pictures;

use std::{collections::BTreeMap, path::Path};

use eyre::{Result, WrapErr as _};
use serde::Deserialize;

use self::pictures::PictureRow;
pub use self::{bits::Numbers, compare::compare};

/// One task as the reference has it.
#[derive(Debug, Clone, Deserialize)]
pub struct Recording {
    pub suite: String,
    pub task: usize,
    pub instruction: String,
    /// Names by kind of part, in the model's order.
    pub names: BTreeMap<String, Vec<Option<String>>>,
    pub things: BTreeMap<String, Thing>,
    pub regions: BTreeMap<String, Region>,
    /// Checksums of the arrays that decide the physics.
    pub physics: BTreeMap<String, u32>,
    /// The whole compiled model; not in the golden recordings, since it holds local paths.
    pub model: Option<Model>,
    pub resets: Vec<Reset>,
    pub runs: Vec<Run>,
    #[serde(default)]
    pub pictures: Vec<SavedPicture>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Thing {
    pub kind: String,
    pub joints: Vec<String>,
    pub contact_geoms: Vec<String>,
    /// Bottom, top and horizontal radius.
    pub extent: Numbers,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Region {
    pub size: Numbers,
    pub parent: Option<String>,
    pub joints: Vec<String>,
}

/// MuJoCo's binary form of a model.
#[derive(Debug, Clone, Deserialize)]
pub struct Model {
    pub bytes: usize,
    pub signature: u64,
    pub checksum: u32,
}

/// What `seed`, one reset and an initial state come to.
#[derive(Debug, Clone, Deserialize)]
pub struct Reset {
    pub seed: u64,
    pub init_state: usize,
    /// Position and orientation (w, x, y, z).
    pub fixtures: BTreeMap<String, Numbers>,
    pub placed_qpos: Option<Numbers>,
    pub placed_warmstart: Option<Numbers>,
    pub qpos: Numbers,
    pub qvel: Numbers,
    pub warmstart: Numbers,
    pub xpos: Option<Numbers>,
    pub xquat: Option<Numbers>,
    pub site_xpos: Option<Numbers>,
}

/// Actions, and what came of them.
#[derive(Debug, Clone, Deserialize)]
pub struct Run {
    pub what: String,
    /// The reset that it begins at, or
    pub reset: Option<usize>,
    /// the state.
    pub start: Option<Snapshot>,
    /// In thousandths.
    pub actions: Vec<[i32; 7]>,
    /// Positions after some steps, counted from 1.
    pub qpos: BTreeMap<usize, Numbers>,
    /// `0` or `1` for each goal predicate, step by step.
    pub verdicts: Vec<String>,
    /// First step at which the robot touches something.
    pub touches: Option<usize>,
    /// Whether each stove's flame shows in the end.
    pub burners: Option<Vec<bool>>,
    /// The state in the end, when pictures were made of it.
    pub end: Option<Snapshot>,
}

/// A state, all but the fixtures' poses.
#[derive(Debug, Clone, Deserialize)]
pub struct Snapshot {
    pub integration: Numbers,
    pub goal: Numbers,
    pub fingers: Numbers,
}

/// Files with a picture's planes, top row first.
#[derive(Debug, Clone, Deserialize)]
pub struct SavedPicture {
    /// `reset` (the first) or `edited` (the end of the last run).
    pub when: String,
    pub camera: String,
    pub color: String,
    pub depth: String,
    pub instances: String,
}

impl Recording {
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read(path).wrap_err_with(|| format!("{path:?} can't be read"))?;
        serde_json::from_slice(&text).wrap_err_with(|| format!("{path:?} is no recording"))
    }
}
