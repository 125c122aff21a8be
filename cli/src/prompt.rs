//! `rua prompt`: what an agent is told, with its token count.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use eyre::{Result, eyre};
use ruaflow_prompt::{Budgets, Rules, tokens};
use ruaflow_record::read_rows;
use ruaflow_schemas::{Card, Frame as _};

use crate::args::Prompt;
use crate::clone::Clone;
use crate::failure::usage;
use crate::print;
use crate::recorded::open_run;

pub fn run(args: &Prompt) -> Result<ExitCode> {
    let api = ruaflow_robots::find(&args.robot).map_err(|error| usage(error.to_string()))?;
    let rules = rules(args);
    let system = ruaflow_prompt::system(api, &rules);
    print::line(system.trim_end());
    if args.system_only {
        return Ok(ExitCode::SUCCESS);
    }
    let tools = ruaflow_prompt::tools(api, &rules);
    let tools = if tools.is_empty() { String::new() } else { serde_json::to_string(&tools)? };
    let mut counts = vec![("system", tokens(&system)), ("tools", tokens(&tools))];
    if let Some(run) = &args.card {
        let card = ruaflow_prompt::card(&recorded_card(run)?, &rules);
        print::line(format_args!("\n{}", card.trim_end()));
        counts.push(("task", tokens(&card)));
    }
    for guide in ruaflow_prompt::guides(api, &rules) {
        let (name, hash) = (guide.name, guide.sha256);
        eprintln!("guides/{name}: {} tokens, sha256 {hash}", tokens(guide.text));
    }
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    let parts: Vec<String> = counts.iter().map(|(what, count)| format!("{what} {count}")).collect();
    eprintln!("tokens (o200k_base): {}, in all {all}", parts.join(", "));
    Ok(ExitCode::SUCCESS)
}

fn rules(args: &Prompt) -> Rules {
    let agent = &args.agent;
    let arm = agent.arm.unwrap_or_default();
    Rules {
        arm,
        primitives: args.primitives,
        feedback: agent.feedback.unwrap_or_default(),
        images: agent.images.unwrap_or_else(|| arm.images()),
        max_programs: agent.max_programs,
        cell_timeout: Some(Duration::from_secs(args.cell_timeout.into())),
        budgets: Budgets {
            time: Some(Duration::from_secs(args.budget.into())),
            steps: None,
            turns: agent.max_turns,
            calls: agent.budget_calls,
            tokens: agent.budget_tokens,
            dollars: agent.budget_dollars,
        },
        show_budgets: !agent.hide_budgets,
        transfer: agent.transfer,
        guides: agent.guides,
        perception: there(args.perception.as_deref(), &args.robot, "PERCEPTION"),
        vla: there(args.vla.as_deref(), &args.robot, "VLA"),
    }
}

/// Whether a run has it: as it is asked for, else as the robot's dataflow has it.
fn there(asked: Option<&str>, robot: &str, setting: &str) -> bool {
    let flow = Clone::find().and_then(|clone| clone.dataflow(robot)).ok();
    let word = asked.or_else(|| flow.as_ref()?.setting(setting));
    word.is_some_and(|word| word != "none")
}

/// The card of a run's first episode, as its agent knew it.
fn recorded_card(run: &Path) -> Result<Card> {
    let dir = open_run(run)?;
    let cards = read_rows::<Card>(&dir.topic_path(Some(0), Card::TOPIC))?;
    cards
        .into_iter()
        .rfind(|card| card.error.is_empty())
        .ok_or_else(|| eyre!("{run:?} holds no card"))
}
