//! The clone that this `rua` belongs to, and what is in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use eyre::{Result, bail};
use ruaflow_kit::nearest;

use crate::dataflow::Dataflow;
use crate::failure::usage;

pub struct Clone {
    root: PathBuf,
}

impl Clone {
    /// `RUAFLOW_ROOT`, else the folder above the `bin/` that this program is in.
    pub fn find() -> Result<Self> {
        let root = match std::env::var_os("RUAFLOW_ROOT").filter(|root| !root.is_empty()) {
            Some(root) => std::path::absolute(root)?,
            None => {
                let program = std::env::current_exe()?;
                program.parent().and_then(Path::parent).map(Path::to_owned).unwrap_or_default()
            }
        };
        if !root.join("dataflows").is_dir() {
            bail!(
                "no dataflows/ in {root:?}: start rua as `./rua` in its clone, or set RUAFLOW_ROOT to the clone"
            );
        }
        Ok(Clone { root })
    }

    /// Where runs go that name no folder.
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// A program that set-up has put into `bin/`.
    pub fn program(&self, name: &str) -> PathBuf {
        self.root.join("bin").join(name)
    }

    /// The models that `PERCEPTION=builtin` looks with.
    pub fn builtin_eyes(&self) -> PathBuf {
        self.root.join("models/perception")
    }

    /// What writes recordings for the Rerun viewer.
    pub fn rerun_script(&self) -> PathBuf {
        self.root.join("export/rerun/to_rrd.py")
    }

    /// What starts a node that is not built, in the node's folder.
    pub fn node_script(&self, name: &str) -> PathBuf {
        self.root.join("nodes").join(name).join(name)
    }

    /// The dora command: `RUAFLOW_DORA`, else the one of the clone's `.venv`.
    pub fn dora(&self) -> Result<PathBuf> {
        let dora = match std::env::var_os("RUAFLOW_DORA").filter(|dora| !dora.is_empty()) {
            Some(dora) => std::path::absolute(dora)?,
            None => self.root.join(".venv/bin/dora"),
        };
        if !dora.is_file() {
            bail!("dora is missing at {dora:?}: run `./rua setup`");
        }
        Ok(dora)
    }

    /// `PATH` with the Python that dora came with first, for nodes in Python.
    pub fn path_variable(dora: &Path) -> OsString {
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let folders =
            dora.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&rest));
        std::env::join_paths(folders).unwrap_or(rest)
    }

    /// The dataflow of a robot.
    pub fn dataflow(&self, robot: &str) -> Result<Dataflow> {
        let robots = self.robots()?;
        if !robots.iter().any(|known| known == robot) {
            let hint = nearest(robot, robots.iter().map(String::as_str)).unwrap_or("none");
            return Err(usage(format!(
                "there is no robot {robot:?}: did you mean {hint:?}? known are {}",
                robots.join(", ")
            )));
        }
        Dataflow::read(&self.flow_path(robot))
    }

    /// Robots that have a dataflow here.
    fn robots(&self) -> Result<Vec<String>> {
        let mut robots = Vec::new();
        for entry in std::fs::read_dir(self.root.join("dataflows"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "yml")
                && let Some(name) = path.file_stem().and_then(|s| s.to_str())
                && Dataflow::read(&path)?.settings().contains_key("ROBOT")
            {
                robots.push(name.to_owned());
            }
        }
        robots.sort();
        Ok(robots)
    }

    fn flow_path(&self, robot: &str) -> PathBuf {
        self.root.join("dataflows").join(format!("{robot}.yml"))
    }
}
