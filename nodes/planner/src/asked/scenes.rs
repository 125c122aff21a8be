//! Which scenes are played: one an episode, in this order.

use std::path::{Path, PathBuf};

use ruaflow_kit::{SettingError, Settings};
use serde::Deserialize;
use serde_json::{Value, json};

const MAX_EPISODES: u32 = 100_000;

/// The scene of an episode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    #[serde(default)]
    pub suite: String,
    #[serde(default)]
    pub task: u32,
    #[serde(default)]
    pub seed: u64,
}

/// The scenes of a run; there is one at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenes {
    all: Vec<Scene>,
    /// The file they are from.
    file: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum ScenesError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("setting SCENES, file {path:?}: {reason}")]
    File { path: PathBuf, reason: String },
    #[error("setting SCENES says all of the scenes: leave out {0}")]
    Both(&'static str),
    #[error(
        "settings SEED and EPISODES: seed {seed} and {episodes} episodes go beyond the largest seed"
    )]
    Seeds { seed: u64, episodes: u32 },
}

impl Scenes {
    /// `EPISODES` scenes whose seeds count up, or those that the file `SCENES` lists.
    pub(super) fn read(settings: &Settings, cwd: &Path) -> Result<Self, ScenesError> {
        match settings.text("SCENES") {
            Some(file) => Self::from_file(&cwd.join(file), settings),
            None => Self::counted(settings),
        }
    }

    fn counted(settings: &Settings) -> Result<Self, ScenesError> {
        let suite = settings.text("SUITE").unwrap_or_default();
        let task = settings.parse("TASK", 0, "a task index from 0")?;
        let seed: u64 = settings.parse("SEED", 0, "a whole number from 0")?;
        let episodes = settings.parse("EPISODES", Count(1), "a whole number from 1 to 100000")?.0;
        if seed.checked_add(u64::from(episodes)).is_none() {
            return Err(ScenesError::Seeds { seed, episodes });
        }
        Ok(Self::counting(&suite, task, seed, episodes))
    }

    /// As many scenes of one task, whose seeds count up.
    pub(crate) fn counting(suite: &str, task: u32, seed: u64, episodes: u32) -> Self {
        let scene = |n| Scene { suite: suite.to_owned(), task, seed: seed + u64::from(n) };
        Scenes { all: (0..episodes).map(scene).collect(), file: None }
    }

    fn from_file(path: &Path, settings: &Settings) -> Result<Self, ScenesError> {
        if settings.text("FROM").is_some() {
            return Err(ScenesError::Both("FROM"));
        }
        let fail = |reason: String| ScenesError::File { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| fail(error.to_string()))?;
        let all: Vec<Scene> =
            serde_json::from_str(&text).map_err(|error| fail(error.to_string()))?;
        if !(1..=MAX_EPISODES as usize).contains(&all.len()) {
            return Err(fail(format!(
                "it lists {} scenes, expected 1 to {MAX_EPISODES}",
                all.len()
            )));
        }
        Ok(Scenes { all, file: Some(path.to_owned()) })
    }

    /// The scene of an episode; that of the last one for a number beyond.
    #[must_use]
    pub fn get(&self, episode: u32) -> &Scene {
        &self.all[(episode as usize).min(self.all.len() - 1)]
    }

    /// The scene of the first episode.
    #[must_use]
    pub fn first(&self) -> &Scene {
        self.get(0)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Scene> {
        self.all.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.all.len()).unwrap_or(u32::MAX)
    }

    /// For `settings.json`.
    pub(super) fn to_json(&self) -> Value {
        let Scene { suite, task, seed } = self.first();
        json!({
            "SUITE": suite,
            "TASK": task,
            "SEED": seed,
            "EPISODES": self.count(),
            "SCENES": self.file,
        })
    }
}

struct Count(u32);

impl std::str::FromStr for Count {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.parse().ok().filter(|n| (1..=MAX_EPISODES).contains(n)).map(Count).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_lists_scenes_in_their_order() {
        let tmp = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            std::fs::write(tmp.path().join("s.json"), text).unwrap();
            Scenes::read(&Settings::fixed([("SCENES", "s.json")]), tmp.path())
        };
        let scenes = read(r#"[{"suite": "a", "task": 3, "seed": 7}, {"suite": "b"}]"#).unwrap();
        assert_eq!((scenes.count(), scenes.first().seed), (2, 7));
        assert_eq!(scenes.get(1), &Scene { suite: "b".into(), task: 0, seed: 0 });
        assert!(read("[]").unwrap_err().to_string().contains("0 scenes"));
        assert!(read(r#"[{"sweet": "a"}]"#).unwrap_err().to_string().contains("sweet"));
        let both = Settings::fixed([("SCENES", "s.json"), ("FROM", "r:3")]);
        assert!(Scenes::read(&both, tmp.path()).unwrap_err().to_string().contains("FROM"));
    }

    #[test]
    fn seeds_count_up() {
        let settings = Settings::fixed([("SEED", "4"), ("EPISODES", "3"), ("SUITE", "s")]);
        let scenes = Scenes::read(&settings, Path::new("/")).unwrap();
        let seeds: Vec<u64> = scenes.iter().map(|scene| scene.seed).collect();
        assert_eq!(seeds, [4, 5, 6]);
    }
}
