//! `rua replay`: a recorded run once more.

mod actions;
mod armed;
mod cells;

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use clap::Args;
use eyre::Result;
use ruaflow_record::{RecordingAddress, RunDir};

pub use self::armed::node as mover;
use crate::failure::usage;

#[derive(Args)]
pub struct Replay {
    /// Folders of the runs
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Episode of each run, from 0, or all
    #[arg(long, value_name = "N", default_value = "all")]
    episode: Which,
    /// Episodes at once [default: one a core, 4 at most]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Run the recorded cells again, in a live scene and into a new run
    #[arg(long)]
    cells: bool,
    /// Folder for the run of --cells; must not hold anything yet
    #[arg(long, value_name = "DIR", requires = "cells")]
    out: Option<PathBuf>,
    /// Live robot: a node that gets the actions, or with --cells a file in dataflows/
    #[arg(long, value_name = "ROBOT")]
    robot: Option<String>,
    /// Let a live robot move
    #[arg(long)]
    arm_robot: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Which episodes of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Which {
    All,
    One(u32),
}

impl FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(number) => Ok(Which::One(number)),
            Err(_) if text == "all" => Ok(Which::All),
            Err(_) => Err("expected a number from 0, or all".to_owned()),
        }
    }
}

pub fn run(args: &Replay) -> Result<ExitCode> {
    let runs = args.runs.iter().map(|run| open(run, args.episode));
    let runs: Vec<Recorded> = runs.collect::<Result<_>>()?;
    if args.robot.is_some() && !args.arm_robot {
        return Err(usage("--robot moves a live robot: add --arm-robot if that is what you want"));
    }
    match (&args.robot, args.cells) {
        (_, true) => cells::run(args, &runs),
        (Some(robot), false) => armed::run(args, &runs, robot),
        (None, false) if args.arm_robot => {
            Err(usage("--arm-robot is for --robot and --cells: nothing else moves a robot"))
        }
        (None, false) => actions::run(args, runs),
    }
}

/// A run that was named, and its episodes that are meant.
struct Recorded {
    /// As it was named.
    name: PathBuf,
    dir: RunDir,
    episodes: Vec<u32>,
}

fn open(run: &std::path::Path, which: Which) -> Result<Recorded> {
    let episode = match which {
        Which::All => None,
        Which::One(number) => Some(number),
    };
    let address = RecordingAddress { run: run.to_owned(), episode };
    let opened = address.open(std::path::Path::new(""));
    let (dir, episodes) = opened.map_err(|error| usage(error.to_string()))?;
    Ok(Recorded { name: run.to_owned(), dir, episodes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_is_a_number_or_all() {
        assert_eq!("all".parse(), Ok(Which::All));
        assert_eq!("12".parse(), Ok(Which::One(12)));
        assert!("-1".parse::<Which>().is_err() && "some".parse::<Which>().is_err());
    }
}
