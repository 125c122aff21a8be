//! What an agent is told.
//!
//! [`system`] is the same for every episode of a run, byte for byte, so that a
//! provider finds it in its cache; [`card`] is the task. Both are made from the
//! robot's table and the run's [`Rules`]: no sentence promises what the run does not do.

mod card;
mod contract;
mod guides;
mod rules;
mod tools;

use ruaflow_robots::{Images, RobotApi};

pub use crate::card::card;
pub use crate::guides::{Guide, guides};
pub use crate::rules::{Arm, Budgets, Limit, Rules, UnknownArm};
pub use crate::tools::{FINISH, PYTHON, RUN_PROGRAM, Tool, tools};

/// What an agent is told before its task: how it acts, what the robot can do, and what
/// people know of it. Markdown.
#[must_use]
pub fn system(api: &RobotApi, rules: &Rules) -> String {
    let mut text = contract::contract(api, rules);
    let reference = match rules.arm {
        Arm::Tools => {
            format!("{}\n{}", api.setting(), api.results(rules.told(), &hidden(rules)))
        }
        _ => api.reference_without(rules.told(), &hidden(rules)),
    };
    for part in [reference, api.knowledge(rules.told())] {
        if !part.is_empty() {
            text.push('\n');
            text.push_str(&part);
        }
    }
    text
}

/// Tokens of a text, by the public tokenizer `o200k_base`. Models of other providers
/// count a few percent more or less.
#[must_use]
pub fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

/// Methods that would do nothing in this run.
fn hidden(rules: &Rules) -> Vec<&'static str> {
    let shows_nothing = rules.images == Images::None || rules.arm == Arm::SingleShot;
    let all = [("show", shows_nothing), ("segment", !rules.perception)];
    all.into_iter().filter_map(|(name, hidden)| hidden.then_some(name)).collect()
}
