//! The texts that lie in an agent's workspace.

use ruaflow_robots::RobotApi;
use sha2::{Digest as _, Sha256};

use crate::rules::Rules;

/// A guide to the robot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guide {
    /// Its file in `guides/`.
    pub name: &'static str,
    pub text: &'static str,
    /// Of the text, in hex.
    pub sha256: String,
}

/// The guides that an agent finds; none when the rules give it none.
#[must_use]
pub fn guides(api: &RobotApi, rules: &Rules) -> Vec<Guide> {
    let all = if rules.guides { ruaflow_robots::guides(api.name) } else { &[] };
    let guide = |&(name, text): &(&'static str, &'static str)| {
        let sha256 = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        Guide { name, text, sha256 }
    };
    all.iter().map(guide).collect()
}
