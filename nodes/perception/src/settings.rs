//! Which eyes look, from the settings.

use std::path::{Path, PathBuf};

use ruaflow_kit::{SettingError, Settings, nearest};

/// Folder of the models that come with RuaFlow, from the dataflow's folder.
const MODELS: &str = "../models/perception";

/// Which eyes look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    None,
    /// The small net that comes with RuaFlow.
    Builtin {
        dir: PathBuf,
    },
    /// Segment Anything 3, from files that the user has.
    Sam3 {
        dir: PathBuf,
    },
    /// The simulator's own knowledge.
    Oracle,
}

impl Choice {
    /// The words of the setting `PERCEPTION`.
    pub const WORDS: [&'static str; 4] = ["none", "builtin", "sam3", "oracle"];

    /// Reads `PERCEPTION`, `BUILTIN_DIR` and `SAM3_DIR`; `cwd` is the dataflow's
    /// folder, from which relative paths count.
    ///
    /// # Errors
    /// A word that is none of [`WORDS`](Self::WORDS), with the nearest.
    pub fn read(settings: &Settings, cwd: &Path) -> Result<Self, SettingError> {
        let dir = |name: &str| settings.text(name).map(|dir| cwd.join(dir));
        match settings.text("PERCEPTION").as_deref() {
            None | Some("none") => Ok(Choice::None),
            Some("builtin") => {
                Ok(Choice::Builtin { dir: dir("BUILTIN_DIR").unwrap_or_else(|| cwd.join(MODELS)) })
            }
            Some("sam3") => Ok(Choice::Sam3 { dir: dir("SAM3_DIR").unwrap_or_else(sam3_dir) }),
            Some("oracle") => Ok(Choice::Oracle),
            Some(other) => Err(SettingError::Value {
                name: "PERCEPTION".to_owned(),
                value: other.to_owned(),
                expected: format!(
                    "none, builtin, sam3 or oracle (did you mean {:?}?)",
                    nearest(&other.to_lowercase(), Choice::WORDS).unwrap_or_default()
                ),
            }),
        }
    }
}

/// Where `rua models import` puts Segment Anything 3.
#[must_use]
pub fn sam3_dir() -> PathBuf {
    ruaflow_kit::home().join("models/sam3")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_word_decides() {
        let read = |word: &str| {
            Choice::read(&Settings::fixed([("PERCEPTION", word)]), Path::new("/flows"))
        };
        assert_eq!(read("").unwrap(), Choice::None);
        assert_eq!(read("oracle").unwrap(), Choice::Oracle);
        let dir = "/flows/../models/perception".into();
        assert_eq!(read("builtin").unwrap(), Choice::Builtin { dir });
        let error = read("SAM2").unwrap_err().to_string();
        assert!(
            error.contains("\"SAM2\"") && error.ends_with("did you mean \"sam3\"?)"),
            "{error}"
        );

        let settings = Settings::fixed([("PERCEPTION", "sam3"), ("SAM3_DIR", "m")]);
        let choice = Choice::read(&settings, Path::new("/flows")).unwrap();
        assert_eq!(choice, Choice::Sam3 { dir: "/flows/m".into() });
    }
}
