//! `rua runs`: a line an episode.

use std::cmp::Ordering;
use std::path::Path;
use std::process::ExitCode;

use eyre::Result;
use ruaflow_eval::{Outcome, Trial, number};

use super::args::{Ended, Runs, Sort};
use super::episodes;
use super::table::Table;
use crate::clone::Clone;
use crate::print;

pub fn run(args: &Runs) -> Result<ExitCode> {
    let paths =
        if args.paths.is_empty() { vec![Clone::find()?.runs()] } else { args.paths.clone() };
    let mut trials = episodes(&paths);
    trials.retain(|trial| matches(args, trial));
    trials.sort_by(|a, b| order(args.sort, a, b));
    if args.json {
        print::json(&trials)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(
        4,
        ["run", "scene", "system", "ended", "steps", "calls", "turns", "seconds", "dollars"],
    );
    for trial in &trials {
        let numbers = trial.numbers;
        table.row([
            place(&paths, trial),
            format!("{}:{} seed {}", trial.key.suite, trial.key.task, trial.key.seed),
            trial.system.clone(),
            trial.cause.clone(),
            number(numbers.steps),
            number(numbers.calls),
            number(numbers.turns),
            number(numbers.seconds),
            number(numbers.dollars),
        ]);
    }
    for line in table.lines() {
        print::line(line);
    }
    Ok(ExitCode::SUCCESS)
}

fn matches(args: &Runs, trial: &Trial) -> bool {
    let outcome = match args.outcome {
        None => true,
        Some(Ended::Solved) => trial.outcome == Outcome::Solved,
        Some(Ended::Failed) => trial.outcome == Outcome::Failed,
        Some(Ended::Infrastructure) => trial.outcome == Outcome::Infrastructure,
    };
    outcome
        && args.suite.as_ref().is_none_or(|suite| *suite == trial.key.suite)
        && args.task.as_ref().is_none_or(|task| *task == trial.key.task)
        && args.seed.is_none_or(|seed| seed == trial.key.seed)
        && args.system.as_ref().is_none_or(|part| trial.system.contains(part.as_str()))
}

fn order(by: Sort, a: &Trial, b: &Trial) -> Ordering {
    // Unknown numbers come last.
    let numbers = |a: Option<f64>, b: Option<f64>| {
        a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY))
    };
    let by_name = (&a.source, a.episode).cmp(&(&b.source, b.episode));
    let first = match by {
        Sort::Name => Ordering::Equal,
        Sort::Scene => a.key.cmp(&b.key),
        Sort::Steps => numbers(a.numbers.steps, b.numbers.steps),
        Sort::Seconds => numbers(a.numbers.seconds, b.numbers.seconds),
        Sort::Dollars => numbers(a.numbers.dollars, b.numbers.dollars),
    };
    first.then(by_name)
}

/// The run's folder as short as it can be found by, with the episode when it has several.
fn place(paths: &[std::path::PathBuf], trial: &Trial) -> String {
    let inside = paths.iter().find_map(|path| trial.source.strip_prefix(path).ok());
    let shown = inside.filter(|path| *path != Path::new("")).unwrap_or(&trial.source);
    match trial.episode {
        0 => shown.display().to_string(),
        n => format!("{}:{n}", shown.display()),
    }
}
