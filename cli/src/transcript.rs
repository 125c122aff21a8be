//! `rua transcript`: what an agent was told, said and did, in the terminal.

mod paint;

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;

use eyre::Result;
use ruaflow_record::{Bill, RunDir, TurnLine, read_turns};

pub use self::paint::Painter;
use crate::args::Transcript;
use crate::failure::usage;
use crate::pager::Pager;
use crate::recorded::open_run;

pub fn run(args: &Transcript) -> Result<ExitCode> {
    let dir = open_run(&args.run)?;
    let episode = dir.episode_dir(args.episode);
    if !episode.is_dir() {
        return Err(usage(format!("the run has no episode {}", args.episode)));
    }
    let lines = read_turns(&episode)?;
    let mut pager = Pager::open(!args.no_pager);
    let paint = Painter::new(std::io::stdout().is_terminal());
    if lines.is_empty() {
        pager.write("no model was asked in this episode; its cells are in cells/\n");
    }
    for line in &lines {
        if let TurnLine::Turn(turn) = line
            && turn.turn == 1
            && args.system
            && let Some(text) = system(&dir, turn.system.as_deref())
        {
            pager.write(&paint.system(&text));
        }
        pager.write(&paint.line(line));
    }
    let result = dir.result()?;
    let of_episode = result.episodes.iter().find(|e| e.episode == args.episode);
    if let Some(ended) = of_episode {
        let reason = ended.reason.map_or("running", ruaflow_record::Reason::as_str);
        pager.write(&paint.ending(reason, ended.limit.as_deref(), &bill_line(&ended.bill)));
    }
    pager.close();
    Ok(ExitCode::SUCCESS)
}

fn system(dir: &RunDir, file: Option<&str>) -> Option<String> {
    // A name in the record must not lead out of the folder.
    let name = Path::new(file?).file_name()?;
    std::fs::read_to_string(dir.prompts_dir().join(name)).ok()
}

/// What it cost, in a line.
pub fn bill_line(bill: &Bill) -> String {
    let Bill { model_calls, tool_calls, tokens, dollars, model_s, waited_s, robot_s, .. } = bill;
    let dollars = match dollars {
        Some(dollars) => format!("${dollars:.4}"),
        None if *model_calls == 0 => "$0".to_owned(),
        None => "price not known".to_owned(),
    };
    format!(
        "{model_calls} replies, {tool_calls} tool calls, {} tokens in ({} cached), {} out, {dollars}; \
         model {model_s:.1} s, waits {waited_s:.1} s, robot {robot_s:.1} s",
        tokens.input, tokens.cached, tokens.output
    )
}
