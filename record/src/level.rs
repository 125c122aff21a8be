use std::fmt;
use std::str::FromStr;

use ruaflow_schemas::{Frame as _, State};
use serde::{Deserialize, Serialize};

/// How much of a run is recorded; `docs/recording.md` says what each level leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// No simulator state, and no pictures but those that the agent saw.
    Light,
    /// Every row, and pictures of an episode's ends.
    #[default]
    Standard,
    /// Every row, and pictures after every call.
    Full,
}

impl Level {
    pub const WORDS: &str = "full, standard or light";

    pub fn word(self) -> &'static str {
        match self {
            Level::Light => "light",
            Level::Standard => "standard",
            Level::Full => "full",
        }
    }

    /// When pictures are kept, the setting `PICTURES`, unless somebody says otherwise.
    pub fn pictures(self) -> &'static str {
        match self {
            Level::Light => "off",
            Level::Standard => "ends",
            Level::Full => "calls",
        }
    }

    /// Whether rows of a topic are kept.
    pub fn keeps(self, topic: &str) -> bool {
        self > Level::Light || topic != State::TOPIC
    }

    /// The most that an episode of so many control steps takes, bytes on disk, while
    /// it runs. Measured by `benches/recording.py`; the agent's own pictures and
    /// words come on top.
    pub fn episode_bytes(self, control_steps: u64) -> u64 {
        let (step, pictures) = match self {
            Level::Light => (STEP, 0),
            Level::Standard => (STEP + STATE, 4),
            Level::Full => (STEP + STATE, CALLS_PICTURED),
        };
        EPISODE + control_steps * step + pictures * PICTURE
    }

    /// The least that an episode takes, bytes: it may end at once.
    pub fn least_bytes() -> u64 {
        LEAST
    }
}

/// Card and events.
const LEAST: u64 = 16 << 10;
/// Also cells and calls.
const EPISODE: u64 = 300 << 10;
/// Action and observation of a control step.
const STEP: u64 = 700;
/// The simulator's state.
const STATE: u64 = 3900;
/// A picture of 256 pixels.
const PICTURE: u64 = 80 << 10;
/// Two views after each of some fifty calls.
const CALLS_PICTURED: u64 = 100;

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Level::Light, Level::Standard, Level::Full];
        let found = all.into_iter().find(|level| level.word() == text);
        found.ok_or_else(|| format!("expected {}", Self::WORDS))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_written_as_it_is_asked_for() {
        for level in [Level::Light, Level::Standard, Level::Full] {
            assert_eq!(level.word().parse(), Ok(level));
            assert_eq!(serde_json::to_value(level).unwrap(), level.word());
        }
        assert_eq!("all".parse::<Level>().unwrap_err(), "expected full, standard or light");
    }

    #[test]
    fn only_light_leaves_the_state_out() {
        assert!(Level::Standard.keeps("state") && Level::Full.keeps("state"));
        assert!(!Level::Light.keeps("state") && Level::Light.keeps("observation"));
        let bytes = [Level::Light, Level::Standard, Level::Full].map(|l| l.episode_bytes(100));
        assert!(bytes.is_sorted() && Level::least_bytes() <= bytes[0], "{bytes:?}");
    }
}
