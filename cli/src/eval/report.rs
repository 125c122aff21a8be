//! `rua report`: one page with everything.

use std::collections::BTreeMap;
use std::process::ExitCode;

use eyre::{Context as _, Result};
use ruaflow_eval::{Comparison, Trial, compare, html, markdown};

use super::args::Report;
use super::episodes;
use crate::failure::usage;
use crate::print;

pub fn run(args: &Report) -> Result<ExitCode> {
    let trials = episodes(&args.paths);
    if trials.is_empty() {
        return Err(usage("there are no finished episodes there"));
    }
    let comparisons = comparisons(&trials);
    let page = html(&args.title, &trials, &comparisons)?;
    let tables = args.out.with_extension("md");
    let text = format!("# {}\n\n{}", args.title, markdown(&trials, &comparisons));
    for (path, text) in [(&args.out, page), (&tables, text)] {
        std::fs::write(path, text).wrap_err_with(|| format!("can't write {path:?}"))?;
        print::line(path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Every two systems that played the same scenes.
fn comparisons(trials: &[Trial]) -> Vec<Comparison> {
    let mut systems: BTreeMap<&str, Vec<Trial>> = BTreeMap::new();
    for trial in trials {
        systems.entry(&trial.system).or_default().push(trial.clone());
    }
    let sides: Vec<_> = systems.into_iter().collect();
    let mut all = Vec::new();
    for (i, (left, of_left)) in sides.iter().enumerate() {
        for (right, of_right) in &sides[i + 1..] {
            // Systems with other scenes stand in the tables all the same.
            all.extend(compare((left, of_left), (right, of_right), false));
        }
    }
    all
}
