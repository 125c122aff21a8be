//! What an agent is told and shown after it has acted.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much an agent is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feedback {
    /// What the cell printed and how it ended, nothing that it did not ask for.
    #[default]
    Pure,
    /// Also every call with its outcome, and where the robot is.
    Rich,
}

/// Which pictures an agent sees without a `display()`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Images {
    /// Those of `robo.show()`.
    #[default]
    OnDemand,
    /// Every camera after a cell that moved the robot, and those of `robo.show()`.
    OnMotion,
    None,
}

impl Feedback {
    pub const ALL: [Self; 2] = [Self::Pure, Self::Rich];

    /// The word for it in settings and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Rich => "rich",
        }
    }
}

impl Images {
    pub const ALL: [Self; 3] = [Self::OnDemand, Self::OnMotion, Self::None];

    /// The word for it in settings and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::OnDemand => "on-demand",
            Self::OnMotion => "on-motion",
            Self::None => "none",
        }
    }
}

/// A setting's value that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{value:?} is no kind of {what}; there are {known}")]
pub struct UnknownKind {
    value: String,
    what: &'static str,
    known: &'static str,
}

impl FromStr for Feedback {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        let known = Self::ALL.into_iter().find(|kind| kind.word() == text);
        known.ok_or_else(|| UnknownKind {
            value: text.to_owned(),
            what: "feedback",
            known: "rich and pure",
        })
    }
}

impl FromStr for Images {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        let known = Self::ALL.into_iter().find(|kind| kind.word() == text);
        known.ok_or_else(|| UnknownKind {
            value: text.to_owned(),
            what: "images",
            known: "on-motion, on-demand and none",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_their_words() {
        assert!(Feedback::ALL.into_iter().all(|kind| kind.word().parse() == Ok(kind)));
        assert!(Images::ALL.into_iter().all(|kind| kind.word().parse() == Ok(kind)));
        assert_eq!(
            "all".parse::<Images>().unwrap_err().to_string(),
            "\"all\" is no kind of images; there are on-motion, on-demand and none"
        );
    }
}
