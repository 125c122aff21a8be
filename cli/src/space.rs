//! What runs will take on disk, known before they start.

use std::path::Path;

use eyre::{Context as _, Result, bail};
use ruaflow_record::Level;

use crate::size::Bytes;

/// Control steps of an episode whose robot sets the limit.
const ROBOTS_LIMIT: u64 = libero::sim::HORIZON;

/// Episodes that are to be recorded alike.
#[derive(Clone, Copy, Debug)]
pub struct Episodes {
    pub count: u64,
    pub level: Level,
    /// Control steps that one may use; 0 for the robot's own limit.
    pub max_steps: u64,
}

impl Episodes {
    fn longest(&self) -> u64 {
        if self.max_steps == 0 { ROBOTS_LIMIT } else { self.max_steps }
    }

    fn most(&self) -> u64 {
        self.count.saturating_mul(self.level.episode_bytes(self.longest()))
    }
}

/// Says what episodes take on the disk that `dir` is or will be on, and what is free there.
///
/// # Errors
/// When they surely do not fit.
pub fn check(dir: &Path, episodes: &[Episodes]) -> Result<String> {
    let there = dir.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let disk = rustix::fs::statvfs(there).wrap_err_with(|| format!("can't look at {there:?}"))?;
    let free = disk.f_bavail * disk.f_frsize;
    judge(dir, episodes, free)
}

fn judge(dir: &Path, episodes: &[Episodes], free: u64) -> Result<String> {
    let count: u64 = episodes.iter().map(|alike| alike.count).sum();
    let least = count.saturating_mul(Level::least_bytes());
    if least > free {
        bail!(
            "the disk of {dir:?} is too full: {count} episodes take {} at the least and {} are free; make room, or name a folder elsewhere with --out DIR",
            Bytes(least),
            Bytes(free)
        );
    }
    let most = episodes.iter().map(Episodes::most).fold(0, u64::saturating_add);
    let mut levels: Vec<&str> = episodes.iter().map(|alike| alike.level.word()).collect();
    levels.dedup();
    let longest = episodes.iter().map(Episodes::longest).max().unwrap_or(0);
    let scarce = if most > free { ", which may not be enough" } else { "" };
    Ok(format!(
        "recorded {}: {} at most ({count} x {longest} steps), {} free{scarce}",
        levels.join(" and "),
        Bytes(most),
        Bytes(free)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_surely_does_not_fit_is_refused_and_what_may_not_is_told() {
        let alike = Episodes { count: 100, level: Level::Standard, max_steps: 500 };
        let dir = Path::new("/runs/a");
        let said = judge(dir, &[alike], 1 << 40).unwrap();
        assert!(said.contains("standard") && said.contains("100 x 500"), "{said}");
        assert!(!said.contains("may not"), "{said}");
        let said = judge(dir, &[alike], 100 << 20).unwrap();
        assert!(said.contains("may not be enough"), "{said}");
        let error = judge(dir, &[alike], 1 << 20).unwrap_err().to_string();
        assert!(error.contains("/runs/a") && error.contains("--out"), "{error}");
    }

    #[test]
    fn a_folder_that_is_not_there_yet_is_on_the_disk_of_the_one_above() {
        let tmp = tempfile::tempdir().unwrap();
        let alike = Episodes { count: 1, level: Level::Light, max_steps: 0 };
        let said = check(&tmp.path().join("a/b/c"), &[alike]).unwrap();
        assert!(said.contains("light"), "{said}");
    }
}
