//! Arguments of the commands that are about many episodes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ruaflow_eval::Grouping;

#[derive(Args)]
pub struct Eval {
    /// What to play: suites, tasks, seeds, players (docs/evaluation.md)
    #[arg(value_name = "PLAN.yml")]
    pub plan: PathBuf,
    /// Folder of the campaign; the same one goes on where it was left [default: evals/PLAN]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Episodes at once [default: as the plan says, else what cores and memory allow]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: Option<u16>,
    /// Say what would be played, and play nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Args)]
pub struct Summarize {
    /// Campaigns, runs, or folders with runs; PyRUA-Lean's and RPent's, too
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Rows of the table
    #[arg(long, value_name = "WHAT", default_value = "suite")]
    pub by: By,
    /// Print JSON: every episode and the summaries
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum By {
    Suite,
    /// LIBERO-PRO's: swap, object, lan, task
    Perturbation,
    All,
}

impl From<By> for Grouping {
    fn from(by: By) -> Self {
        match by {
            By::Suite => Grouping::Suite,
            By::Perturbation => Grouping::Dimension,
            By::All => Grouping::All,
        }
    }
}

#[derive(Args)]
pub struct Compare {
    /// Runs of one system: a path, or PATH@SYSTEM where several are in it
    #[arg(value_name = "A")]
    pub left: String,
    /// Runs of the other one, on the same scenes
    #[arg(value_name = "B")]
    pub right: String,
    /// Leave out scenes that only one side has
    #[arg(long)]
    pub matched: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Report {
    /// Campaigns, runs, or folders with runs
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Page to make; its tables lie beside it as Markdown
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub out: PathBuf,
    /// Heading of the page
    #[arg(long, value_name = "TEXT", default_value = "Evaluation")]
    pub title: String,
}

#[derive(Args)]
pub struct Runs {
    /// Where to look [default: the clone's runs/]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only of this suite
    #[arg(long, value_name = "NAME")]
    pub suite: Option<String>,
    /// Only of this task
    #[arg(long, value_name = "N")]
    pub task: Option<String>,
    /// Only with this seed
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Only of systems whose name holds this
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,
    /// Only those that ended so
    #[arg(long, value_name = "HOW")]
    pub outcome: Option<Ended>,
    /// Order of the list
    #[arg(long, value_name = "BY", default_value = "name")]
    pub sort: Sort,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Ended {
    Solved,
    Failed,
    Infrastructure,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// By folder, which begins with the time
    Name,
    Scene,
    Steps,
    Seconds,
    Dollars,
}

#[derive(Args)]
pub struct Show {
    /// Folder of the run
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Only this episode
    #[arg(long, value_name = "N")]
    pub episode: Option<u32>,
    /// Also what each cell printed
    #[arg(long)]
    pub output: bool,
    /// Write it out instead of showing it in $PAGER
    #[arg(long)]
    pub no_pager: bool,
}
