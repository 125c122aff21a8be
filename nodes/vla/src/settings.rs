//! Which policy is asked, from the settings.

use std::path::PathBuf;
use std::time::Duration;

use ruaflow_kit::{SettingError, Settings};

use crate::onnx::{Onnx, OnnxError};
use crate::openpi::{OpenPi, UrlError};
use crate::policy::Policy;

const DEFAULT_URL: &str = "ws://127.0.0.1:8000";
const DEFAULT_TIMEOUT_S: u64 = 60;

/// A key; its text shows nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// Which policy is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    None,
    /// A policy server that speaks openpi's websocket protocol.
    OpenPi {
        url: String,
        key: Option<Secret>,
        timeout: Duration,
    },
    /// A model file for ONNX Runtime.
    Onnx {
        model: PathBuf,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("VLA=onnx needs a model: set VLA_MODEL to its .onnx file")]
    NoModel,
    #[error(transparent)]
    Url(#[from] UrlError),
    #[error(transparent)]
    Onnx(#[from] OnnxError),
}

impl Choice {
    /// Reads `VLA`, `VLA_URL`, `VLA_KEY`, `VLA_TIMEOUT_S` and `VLA_MODEL`.
    ///
    /// # Errors
    /// A word or number that can't be meant, a model without a name.
    pub fn read(settings: &Settings) -> Result<Self, ChoiceError> {
        match settings.text("VLA").as_deref() {
            None | Some("none") => Ok(Choice::None),
            Some("openpi") => Ok(Choice::OpenPi {
                url: settings.text("VLA_URL").unwrap_or_else(|| DEFAULT_URL.to_owned()),
                key: settings.text("VLA_KEY").map(Secret),
                timeout: Duration::from_secs(settings.parse(
                    "VLA_TIMEOUT_S",
                    DEFAULT_TIMEOUT_S,
                    "a whole number of seconds",
                )?),
            }),
            Some("onnx") => {
                let model = settings.text("VLA_MODEL").ok_or(ChoiceError::NoModel)?;
                Ok(Choice::Onnx { model: model.into() })
            }
            Some(other) => Err(SettingError::Value {
                name: "VLA".to_owned(),
                value: other.to_owned(),
                expected: "none, openpi or onnx".to_owned(),
            }
            .into()),
        }
    }

    /// The policy; a server is only spoken to when it is asked for actions.
    ///
    /// # Errors
    /// A URL or a model file that can't be used.
    pub fn open(self) -> Result<Option<Box<dyn Policy>>, ChoiceError> {
        Ok(match self {
            Choice::None => None,
            Choice::OpenPi { url, key, timeout } => {
                Some(Box::new(OpenPi::new(&url, key, timeout)?))
            }
            Choice::Onnx { model } => Some(Box::new(Onnx::open(&model)?)),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_word_decides() {
        assert_eq!(Choice::read(&Settings::fixed([])).unwrap(), Choice::None);
        let openpi = Choice::read(&Settings::fixed([("VLA", "openpi")])).unwrap();
        assert!(matches!(openpi, Choice::OpenPi { url, .. } if url == DEFAULT_URL));
        let error = Choice::read(&Settings::fixed([("VLA", "onnx")])).unwrap_err();
        assert!(error.to_string().contains("VLA_MODEL"), "{error}");
        let error = Choice::read(&Settings::fixed([("VLA", "pi0")])).unwrap_err();
        assert!(error.to_string().contains("none, openpi or onnx"), "{error}");
    }
}
