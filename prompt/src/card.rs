//! The task: the first message of an episode.

use std::fmt::Write as _;

use ruaflow_schemas::Card;

use crate::contract::{plural, seconds};
use crate::rules::{Arm, Budgets, Rules};

/// The task as the agent may know it, with what it may use up if the rules show it.
/// Markdown.
#[must_use]
pub fn card(card: &Card, rules: &Rules) -> String {
    let mut text = format!("# Task\n\n{}\n\n", card.instruction.trim());
    // `write!` to a String cannot fail.
    if !card.object_names.is_empty() {
        let _ = writeln!(
            text,
            "- Movable objects, by the scene's names: {}.",
            card.object_names.join(", ")
        );
    }
    if card.control_hz > 0.0 {
        let _ = writeln!(text, "- One control step is {} s.", 1.0 / card.control_hz);
    }
    if rules.show_budgets {
        budgets(&mut text, card, rules);
    }
    if rules.transfer {
        text.push_str(
            "- The layout is only an example: the same code will run in other layouts of this \
             task. Find every place anew; write down no pixel and no position.\n",
        );
    }
    if rules.arm == Arm::SingleShot {
        text.push_str("\nReply with the program.\n");
    }
    text
}

fn budgets(text: &mut String, card: &Card, rules: &Rules) {
    let Budgets { time, steps, turns, calls, tokens, dollars } = rules.budgets;
    let steps = steps.or(Some(u64::from(card.max_control_steps)).filter(|steps| *steps > 0));
    let alone = rules.arm == Arm::SingleShot;
    let acts = match rules.arm {
        Arm::Cells => "cell",
        Arm::Program => "program call",
        Arm::Tools | Arm::SingleShot => "tool call",
    };
    let parts = [
        time.map(|time| {
            let thinking = if alone { "" } else { ", thinking included" };
            format!("{} of wall-clock time{thinking}", seconds(time))
        }),
        steps.map(|steps| format!("{steps} control steps")),
        turns.filter(|_| !alone).map(|turns| format!("{turns} {acts}{}", plural(turns))),
        calls
            .filter(|_| !alone)
            .map(|calls| format!("{calls} repl{}", if calls == 1 { "y" } else { "ies" })),
        tokens.map(|tokens| format!("{tokens} tokens, sent and received")),
        dollars.map(|dollars| format!("${dollars}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return;
    }
    let end = match rules.arm {
        Arm::SingleShot => "",
        _ => " When one of them is used up the robot holds, and you may only call `finish`.",
    };
    let _ = writeln!(text, "- Budget: {}.{end}", parts.join("; "));
}
