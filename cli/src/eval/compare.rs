//! `rua compare`: two systems on the same scenes.

use std::process::ExitCode;

use eyre::Result;
use ruaflow_eval::{Comparison, Difference, compare, interval, share, short};

use super::args::Compare;
use super::sides::Side;
use super::table::Table;
use crate::failure::usage;
use crate::print;

pub fn run(args: &Compare) -> Result<ExitCode> {
    let (left, right) = (Side::read(&args.left)?, Side::read(&args.right)?);
    let comparison =
        compare((&left.name, &left.trials), (&right.name, &right.trials), args.matched)
            .map_err(|error| usage(error.to_string()))?;
    if args.json {
        print::json(&comparison)?;
    } else {
        show(&comparison);
    }
    Ok(ExitCode::SUCCESS)
}

fn show(c: &Comparison) {
    print::line(format_args!("{} against {} on {} scenes", c.left, c.right, c.pairs));
    for (name, success) in [(&c.left, c.left_success), (&c.right, c.right_success)] {
        if success.is_some() {
            let [success, interval] = share(success);
            print::line(format_args!("  {name}: {success} ({interval})"));
        }
    }
    print::line(format_args!(
        "  both {}, only {} {}, only {} {}, neither {}; McNemar's exact test p = {:.4}",
        c.both, c.left, c.left_only, c.right, c.right_only, c.neither, c.p
    ));
    if c.left_out > 0 {
        print::line(format_args!("  {} scenes left out: one side has no verdict", c.left_out));
    }
    for (title, differences) in
        [("scenes that both solved", &c.both_solved), ("all scenes", &c.all)]
    {
        print::line(format_args!("\nmeans of {title}"));
        for line in table(c, differences).lines() {
            print::line(format_args!("  {line}"));
        }
    }
}

fn table(c: &Comparison, differences: &[Difference]) -> Table {
    let mut table =
        Table::new(1, ["per episode", "scenes", &c.left, &c.right, "difference", "95 %"]);
    for d in differences {
        table.row([
            d.name.to_owned(),
            d.pairs.to_string(),
            short(d.left),
            short(d.right),
            short(d.delta.value),
            interval(d.delta),
        ]);
    }
    table
}
