//! The command line.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use eyre::Result;

use crate::{check_robot, demo, play, repair, stop, suites};

#[derive(Parser)]
#[command(
    name = "rua",
    version,
    about = "Runs robot agents that act in code, as dora dataflows.",
    after_help = "Exit status: 0 done, 1 failed, 2 wrong usage, 3 not solved (--require-success)."
)]
pub struct Rua {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run episodes on a robot and show what happens
    Play(Play),
    /// Run the demo episode
    Demo(Demo),
    /// List suites, or the tasks of one
    Suites(Suites),
    /// End a run in good order, or hold its robot at once
    Stop(Stop),
    /// Finish the result of a run that died
    Repair(Repair),
    /// Check that a node is a robot
    CheckRobot(CheckRobot),
    /// The node that `check-robot` puts beside the robot
    #[command(hide = true)]
    RobotChecker,
}

impl Rua {
    pub fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Play(args) => play::run(&args),
            Command::Demo(args) => demo::run(&args),
            Command::Suites(args) => suites::run(&args),
            Command::Stop(args) => stop::run(&args),
            Command::Repair(args) => repair::run(&args),
            Command::CheckRobot(args) => check_robot::run(&args),
            Command::RobotChecker => Ok(check_robot::node()),
        }
    }
}

#[derive(Args, Default)]
pub struct Play {
    /// Robot, a file in dataflows/
    #[arg(long, value_name = "NAME", default_value = "libero")]
    pub robot: String,
    #[command(flatten)]
    pub scene: Scene,
    /// Who writes the cells
    #[arg(long, value_name = "NAME")]
    pub planner: Option<String>,
    /// Python file that the planner `script` plays
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Folder for the run; must not hold anything yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Episodes to run; the seed counts up
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub episodes: Option<u32>,
    /// Time an episode may take
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// Control steps an episode may take; 0 leaves the robot's own limit
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u32>,
    /// Time a cell may take
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub cell_timeout: Option<u32>,
    /// Pictures to record: none, the ends of an episode, or after each call that moved, too
    #[arg(long, value_name = "WHEN")]
    pub pictures: Option<Pictures>,
    /// Exit with 3 when a task was not solved
    #[arg(long)]
    pub require_success: bool,
    /// Print nothing but the result, as JSON
    #[arg(long)]
    pub json: bool,
}

/// What a robot's `reset` asks for.
#[derive(Args, Default)]
pub struct Scene {
    /// Benchmark suite, see `rua suites`
    #[arg(long, value_name = "NAME")]
    pub suite: Option<String>,
    /// Task of the suite, from 0
    #[arg(long, value_name = "N")]
    pub task: Option<u32>,
    /// Seed of the scene
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,
    /// Control steps in which the scene comes to rest before step 0
    #[arg(long, value_name = "N")]
    pub settle: Option<u32>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Pictures {
    Off,
    Ends,
    Calls,
}

impl Pictures {
    pub fn word(self) -> &'static str {
        match self {
            Pictures::Off => "off",
            Pictures::Ends => "ends",
            Pictures::Calls => "calls",
        }
    }
}

#[derive(Args)]
pub struct Demo {
    /// Folder for the run; must not hold anything yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Args)]
pub struct Suites {
    /// Suite whose tasks to list
    pub suite: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Stop {
    /// Id or folder of the run; not needed when only one is live
    pub run: Option<String>,
    /// Hold the robot at once (emergency stop)
    #[arg(long)]
    pub now: bool,
}

#[derive(Args)]
pub struct Repair {
    /// Folder of the run
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
}

#[derive(Args)]
pub struct CheckRobot {
    /// Program in bin/, or path of a program or a .py file
    pub node: String,
    #[command(flatten)]
    pub scene: Scene,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Rua::command().debug_assert();
    }

    #[test]
    fn numbers_out_of_range_are_wrong_usage() {
        for bad in [
            ["--seed", "4294967296"],
            ["--seed", "-1"],
            ["--episodes", "0"],
            ["--task", "x"],
            ["--pictures", "all"],
        ] {
            let error =
                Rua::try_parse_from(["rua", "play"].into_iter().chain(bad)).err().expect("refused");
            assert_eq!(error.exit_code(), 2, "{bad:?}");
        }
    }
}
