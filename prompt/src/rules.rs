//! How an agent acts in a run and what it may use up: all that a prompt depends on
//! beside the robot and its task.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use ruaflow_robots::{Feedback, Images, Primitives};
use serde::{Deserialize, Serialize};

/// What holds for an agent in every episode of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    pub arm: Arm,
    pub primitives: Primitives,
    pub feedback: Feedback,
    pub images: Images,
    /// Programs an episode may run; the arm `program` only.
    pub max_programs: Option<u32>,
    /// Deadline of a cell.
    pub cell_timeout: Option<Duration>,
    pub budgets: Budgets,
    /// Whether the agent is told its budgets.
    pub show_budgets: bool,
    /// Whether the code is to work in other layouts of the scene, too.
    pub transfer: bool,
    /// Whether the robot's guides lie in the workspace.
    pub guides: bool,
    /// Whether there is something that finds things in pictures.
    pub perception: bool,
    /// Whether there is a VLA policy for the skills of `primitives`.
    pub vla: bool,
}

impl Rules {
    /// The methods an agent is told of. Those that need a policy exist without one,
    /// too, so that code that calls them is answered by what is missing.
    #[must_use]
    pub fn told(&self) -> Primitives {
        if self.vla { self.primitives } else { Primitives::NoVla }
    }
}

/// How an agent acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// Cell after cell of Python, in one namespace.
    #[default]
    Cells,
    /// Whole programs, each in a namespace of its own.
    Program,
    /// One program in one reply, without feedback.
    SingleShot,
    /// Each method of the robot is a tool.
    Tools,
}

impl Arm {
    pub const ALL: [Self; 4] = [Self::Cells, Self::Program, Self::SingleShot, Self::Tools];

    /// The word for it in settings and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cells => "cells",
            Self::Program => "program",
            Self::SingleShot => "single-shot",
            Self::Tools => "tools",
        }
    }

    /// The pictures it shows when nobody says otherwise: the tool-calling baseline
    /// shows them after each motion, as it is common there.
    #[must_use]
    pub fn images(self) -> Images {
        match self {
            Self::Tools => Images::OnMotion,
            _ => Images::OnDemand,
        }
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Arm {
    type Err = UnknownArm;

    fn from_str(text: &str) -> Result<Self, UnknownArm> {
        Self::ALL
            .into_iter()
            .find(|arm| arm.word() == text)
            .ok_or_else(|| UnknownArm(text.to_owned()))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no way of acting {0:?}; there are cells, program, single-shot and tools")]
pub struct UnknownArm(pub String);

/// What an episode may use up; `None` is without limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budgets {
    /// Wall-clock time, thinking and acting. Waiting for a provider that has no
    /// room does not count.
    pub time: Option<Duration>,
    /// Control steps.
    pub steps: Option<u64>,
    /// Tool calls that run code or move the robot, failed ones included.
    pub turns: Option<u32>,
    /// Replies of the model.
    pub calls: Option<u32>,
    /// Tokens sent and received, cached ones included.
    pub tokens: Option<u64>,
    pub dollars: Option<f64>,
}

/// One of [`Budgets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Time,
    Steps,
    Turns,
    Calls,
    Tokens,
    Money,
}

impl Limit {
    /// The word for it in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Limit::Time => "time",
            Limit::Steps => "steps",
            Limit::Turns => "turns",
            Limit::Calls => "calls",
            Limit::Tokens => "tokens",
            Limit::Money => "money",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Time => "wall-clock time",
            Limit::Steps => "control steps",
            Limit::Calls => "model calls",
            other => other.word(),
        })
    }
}
