//! `rua summarize`: success with its interval, and what an episode takes.

use std::process::ExitCode;

use eyre::Result;
use ruaflow_eval::{Summary, number, share, summarize};
use serde_json::json;

use super::args::Summarize;
use super::episodes;
use super::table::Table;
use crate::failure::usage;
use crate::print;

pub fn run(args: &Summarize) -> Result<ExitCode> {
    let trials = episodes(&args.paths);
    if trials.is_empty() {
        return Err(usage("there are no finished episodes there"));
    }
    let summaries = summarize(&trials, args.by.into());
    if args.json {
        print::json(&json!({ "episodes": trials, "summaries": summaries }))?;
        return Ok(ExitCode::SUCCESS);
    }
    for line in lines(&summaries) {
        print::line(line);
    }
    Ok(ExitCode::SUCCESS)
}

/// The table, then why episodes failed.
pub fn lines(summaries: &[Summary]) -> Vec<String> {
    let mut table = Table::new(
        2,
        [
            "group",
            "system",
            "solved",
            "success",
            "95 %",
            "steps",
            "calls",
            "turns",
            "input tokens",
            "seconds",
            "dollars",
        ],
    );
    for summary in summaries {
        let [success, interval] = share(summary.success);
        let mean = |name| number(summary.means.get(name).copied());
        table.row([
            summary.group.clone(),
            summary.system.clone(),
            format!("{} / {}", summary.solved, summary.episodes),
            success,
            interval,
            mean("steps"),
            mean("calls"),
            mean("turns"),
            mean("input"),
            mean("seconds"),
            mean("dollars"),
        ]);
    }
    let mut lines = table.lines();
    for summary in summaries {
        let apart = [
            (summary.infrastructure, "whose infrastructure failed"),
            (summary.unknown, "without a verdict"),
        ];
        for (count, what) in apart.into_iter().filter(|(count, _)| *count > 0) {
            lines.push(format!(
                "{} {}: {count} episodes {what}, not counted",
                summary.group, summary.system
            ));
        }
    }
    for summary in summaries.iter().filter(|summary| !summary.causes.is_empty()) {
        let causes = summary.causes.iter().map(|(cause, count)| format!("{cause} {count}"));
        let causes = causes.collect::<Vec<_>>().join(", ");
        lines.push(format!("{} {} failed by: {causes}", summary.group, summary.system));
    }
    lines
}
