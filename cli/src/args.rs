//! The command line.

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use eyre::Result;
use replay::Pace;
use ruaflow_prompt::Arm;
use ruaflow_record::{Level, RecordingAddress, StateAddress};
use ruaflow_robots::{Feedback, Images, Primitives};

use crate::mcp::Door;
use crate::model_flags::ModelFlags;
use crate::size::Bytes;
use crate::{
    again, api, cell, check_robot, demo, eval, export, lint, mcp, models, play, prompt, prune,
    render, repair, stop, suites, transcript,
};

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
    Play(Box<Play>),
    /// Run the demo episode
    Demo(Demo),
    /// Make a picture or a video of a recorded run
    Render(Render),
    /// Print what an agent may do with a robot
    Api(Api),
    /// Print what an agent is told, with its token count
    Prompt(Prompt),
    /// Show what an agent was told, said and did
    Transcript(Transcript),
    /// Let MCP clients drive a robot
    Mcp(Mcp),
    /// List suites, or the tasks of one
    Suites(Suites),
    /// List what can see for a run, or bring SAM3's files
    Models(Models),
    /// End a run in good order, or hold its robot at once
    Stop(Stop),
    /// Make the actions of recorded runs again and compare, or their cells
    Replay(again::Replay),
    /// Finish the result of a run that died
    Repair(Repair),
    /// Remove runs, or make them lighter, by rule
    Prune(Prune),
    /// Run cells without a robot, and see what an agent would see
    Cell(Cell),
    /// Find what is wrong with a policy, without running it
    Lint(Lint),
    /// Play many episodes: a plan of suites, tasks, seeds and players
    Eval(eval::args::Eval),
    /// List runs
    Runs(eval::args::Runs),
    /// Tell the story of a run
    Show(eval::args::Show),
    /// Success rates with their intervals
    Summarize(eval::args::Summarize),
    /// Compare two systems on the same scenes
    Compare(eval::args::Compare),
    /// Make a page with tables, plots and pictures
    Report(eval::args::Report),
    /// Hand episodes on: a LeRobot dataset, a Rerun recording, a video
    Export(export::args::Export),
    /// Check that a node is a robot
    CheckRobot(CheckRobot),
    /// The node that `check-robot` puts beside the robot
    #[command(hide = true)]
    RobotChecker,
    /// The node that `replay --arm-robot` puts beside the robot
    #[command(hide = true)]
    RobotMover,
}

impl Rua {
    pub fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Play(args) => play::run(&args),
            Command::Demo(args) => demo::run(&args),
            Command::Render(args) => render::run(&args),
            Command::Api(args) => api::run(&args),
            Command::Prompt(args) => prompt::run(&args),
            Command::Transcript(args) => transcript::run(&args),
            Command::Mcp(args) => mcp::run(args),
            Command::Suites(args) => suites::run(&args),
            Command::Models(args) => models::run(&args),
            Command::Stop(args) => stop::run(&args),
            Command::Replay(args) => again::run(&args),
            Command::Repair(args) => repair::run(&args),
            Command::Prune(args) => prune::run(&args),
            Command::Cell(args) => cell::run(&args),
            Command::Lint(args) => lint::run(&args),
            Command::Eval(args) => eval::eval(&args),
            Command::Runs(args) => eval::runs(&args),
            Command::Show(args) => eval::show(&args),
            Command::Summarize(args) => eval::summarize(&args),
            Command::Compare(args) => eval::compare(&args),
            Command::Report(args) => eval::report(&args),
            Command::Export(args) => export::run(&args),
            Command::CheckRobot(args) => check_robot::run(&args),
            Command::RobotChecker => Ok(check_robot::node()),
            Command::RobotMover => Ok(again::mover()),
        }
    }
}

#[derive(Args, Default)]
pub struct Play {
    /// Who decides: script, builtin, openai (any server that speaks like it), anthropic, codex or
    /// claude [default: script with --policy, whoever asks the model that is configured, else builtin]
    #[arg(long, value_name = "NAME")]
    pub planner: Option<String>,
    /// Program of the planner `codex` or `claude` [default: the one on the PATH]
    #[arg(long, value_name = "PROGRAM")]
    pub cli: Option<PathBuf>,
    /// Where MCP clients find the robot
    #[arg(skip)]
    pub door: Option<Door>,
    /// Python file that the planner `script` plays
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    #[command(flatten)]
    pub stage: Stage,
    /// Recorded state to begin in, such as `runs/…:120`; its scene is played unless another is given
    #[arg(long, value_name = "RUN[:EPISODE]:STEP")]
    pub from: Option<StateAddress>,
    /// Recorded run that the robot `replay` plays; an episode of it with RUN:EPISODE
    #[arg(long, value_name = "RUN[:EPISODE]", conflicts_with = "from")]
    pub recording: Option<RecordingAddress>,
    /// How fast: 1 is as it was, 2 twice as fast, step a control step for each action
    #[arg(long, value_name = "TIMES", requires = "recording")]
    pub speed: Option<Pace>,
    /// Episodes to run; the seed counts up
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub episodes: Option<u32>,
    /// File that lists scenes, one an episode: `[{"suite": …, "task": 3, "seed": 0}, …]`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suite", "task", "seed", "episodes", "from"])]
    pub scenes: Option<PathBuf>,
    /// Time an episode may take
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// Read along, type to the agent, pause, skip and take over
    #[arg(short, long)]
    pub interactive: bool,
    /// End in good order when the process that started this one ends
    #[arg(long, hide = true)]
    pub with_parent: bool,
    /// Exit with 3 when a task was not solved
    #[arg(long)]
    pub require_success: bool,
    /// Print nothing but the result, as JSON
    #[arg(long, conflicts_with = "interactive")]
    pub json: bool,
    // Last, for their headings would go on.
    #[command(flatten)]
    pub model: ModelFlags,
    #[command(flatten)]
    pub agent: Agent,
}

#[derive(Args)]
pub struct Mcp {
    /// Port of 127.0.0.1 [default: one that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// File with the token that clients give; made when it is not there [default: one that goes with the run]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    #[command(flatten)]
    pub stage: Stage,
    /// Time the episode may take; 0 is without limit
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub budget: u32,
    // Last, for its heading would go on.
    #[command(flatten)]
    pub agent: Agent,
}

/// A robot and what is around it, whoever drives it.
#[derive(Args, Default)]
pub struct Stage {
    /// Robot, a file in dataflows/
    #[arg(long, value_name = "NAME", default_value = "libero")]
    pub robot: String,
    #[command(flatten)]
    pub scene: Scene,
    /// VLA policy behind `pi0_pick`: `openpi`, a server's URL (ws://…), or a model file (.onnx)
    #[arg(long, value_name = "POLICY")]
    pub vla: Option<String>,
    /// What sees for `robo.segment`: none, builtin, sam3, oracle, or a folder of SAM3's files
    #[arg(long, value_name = "EYES")]
    pub perception: Option<String>,
    /// Methods of the robot: full, or no-vla without the skills of a VLA policy
    #[arg(long, value_name = "SET")]
    pub primitives: Option<Primitives>,
    /// EGL device that draws: its number or a part of its name
    #[arg(long, value_name = "DEVICE")]
    pub egl_device: Option<String>,
    /// Folder for the run; must not hold anything yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Control steps an episode may take; 0 leaves the robot's own limit
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u32>,
    /// Time a cell may take
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub cell_timeout: Option<u32>,
    /// Pictures to record: none, the ends of an episode, or after each call that moved, too
    #[arg(long, value_name = "WHEN")]
    pub pictures: Option<Pictures>,
    /// How much to record: full, standard, or light without states and pictures
    #[arg(long, value_name = "LEVEL")]
    pub record: Option<Level>,
}

/// How an agent acts, what it is told and what it may use up.
#[derive(Args, Default)]
#[command(next_help_heading = "Agent")]
pub struct Agent {
    /// How it acts: cells, program, single-shot or tools
    #[arg(long, value_name = "HOW")]
    pub arm: Option<Arm>,
    /// What it is told after a cell: pure, or rich (calls and the robot, too)
    #[arg(long, value_name = "KIND")]
    pub feedback: Option<Feedback>,
    /// Pictures it sees besides those it displays: on-demand, on-motion or none
    #[arg(long, value_name = "WHEN")]
    pub images: Option<Images>,
    /// Programs it may run with --arm program
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_programs: Option<u32>,
    /// Tool calls of an episode that run code or move the robot
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_turns: Option<u32>,
    /// Replies of the model in an episode
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget_calls: Option<u32>,
    /// Tokens an episode may cost, sent and received
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget_tokens: Option<u64>,
    /// Dollars an episode may cost
    #[arg(long, value_name = "DOLLARS")]
    pub budget_dollars: Option<f64>,
    /// Do not tell it its budgets
    #[arg(long)]
    pub hide_budgets: bool,
    /// Ask it for code that works in other layouts of the scene, too
    #[arg(long)]
    pub transfer: bool,
    /// Put the robot's guides into its workspace
    #[arg(long)]
    pub guides: bool,
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
    /// Suite of the task, see `rua suites` [default: one of LIBERO-PRO's, by chance]
    #[arg(long, value_name = "NAME")]
    pub suite: Option<String>,
    /// Task of the suite, from 0 [default: by chance]
    #[arg(long, value_name = "N")]
    pub task: Option<u32>,
    /// Seed of the scene [default: by chance]
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,
    /// Folder for the run; must not hold anything yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Args)]
pub struct Render {
    /// Folder of the run
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// File to make: .png for one picture, .mp4 for a video
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
    /// Episode of the run
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub episode: u32,
    /// Control step of the picture; below 0 counts from the end [default: the last]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub step: Option<i64>,
    /// First control step of the video [default: the first]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub from: Option<i64>,
    /// Last control step of the video [default: the last]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub to: Option<i64>,
    /// Camera, by its name in the scene, or `wrist`
    #[arg(long, value_name = "NAME", default_value = "agentview")]
    pub camera: String,
    /// Pixels, one number for a square; a video's sides are even
    #[arg(long, value_name = "WxH", default_value = "512")]
    pub size: Size,
    /// Control steps shown a second [default: as many as were made a second]
    #[arg(long, value_name = "N")]
    pub fps: Option<f64>,
    /// Write the running cell and call into the video
    #[arg(long)]
    pub captions: bool,
    /// `full` is what a policy sees; `preview` is some three times faster
    #[arg(long, value_name = "WHICH", default_value = "full")]
    pub quality: Quality,
    /// EGL device that draws: its number or a part of its name
    #[arg(long, value_name = "DEVICE", env = "EGL_DEVICE")]
    pub egl_device: Option<String>,
}

/// Pixels of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (width, height) = text.split_once(['x', 'X']).unwrap_or((text, text));
        match (width.parse(), height.parse()) {
            (Ok(width), Ok(height)) => Ok(Size { width, height }),
            _ => Err("expected such as 512 or 640x480".to_owned()),
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Quality {
    Full,
    Preview,
}

impl From<Quality> for libero::gl::Quality {
    fn from(quality: Quality) -> Self {
        match quality {
            Quality::Full => Self::Full,
            Quality::Preview => Self::Preview,
        }
    }
}

#[derive(Args)]
pub struct Api {
    /// Robot
    #[arg(long, value_name = "NAME", default_value = "libero")]
    pub robot: String,
    /// Primitive set: full, or no-vla without the skills of a VLA policy
    #[arg(long, value_name = "SET", default_value = "full")]
    pub primitives: Primitives,
    /// Text as an agent reads it, tools with JSON Schema, or the table as JSON
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ApiFormat,
}

#[derive(Args)]
pub struct Prompt {
    /// Robot
    #[arg(long, value_name = "NAME", default_value = "libero")]
    pub robot: String,
    /// Run whose task to add
    #[arg(long, value_name = "RUN")]
    pub card: Option<PathBuf>,
    /// Print nothing but the system prompt
    #[arg(long, conflicts_with = "card")]
    pub system_only: bool,
    /// Methods it has: full or no-vla
    #[arg(long, value_name = "SET", default_value = "full")]
    pub primitives: Primitives,
    /// Eyes behind `robo.segment`, or none [default: as the dataflow has it]
    #[arg(long, value_name = "EYES")]
    pub perception: Option<String>,
    /// VLA policy behind `robo.pi0_pick`, or none [default: as the dataflow has it]
    #[arg(long, value_name = "POLICY")]
    pub vla: Option<String>,
    /// Time an episode may take
    #[arg(long, value_name = "SECONDS", default_value_t = 1200)]
    pub budget: u32,
    /// Time a cell may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub cell_timeout: u32,
    // Last, for its heading would go on.
    #[command(flatten)]
    pub agent: Agent,
}

#[derive(Args)]
pub struct Transcript {
    /// Folder of the run
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Episode of the run
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub episode: u32,
    /// Also show the system prompt
    #[arg(long)]
    pub system: bool,
    /// Write it out instead of showing it in $PAGER
    #[arg(long)]
    pub no_pager: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum ApiFormat {
    Text,
    Tools,
    Json,
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
pub struct Models {
    #[command(subcommand)]
    pub command: Option<ModelsCommand>,
    /// Write the list as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Subcommand)]
pub enum ModelsCommand {
    /// Check the three ONNX files of SAM3 that samexporter wrote, and take them
    Import {
        /// Folder with sam3_image_encoder.onnx, sam3_language_encoder.onnx and sam3_decoder.onnx
        dir: PathBuf,
    },
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

/// Rules hold together: a run goes when all of them let it.
#[derive(Args, Default)]
pub struct Prune {
    /// Folders to look for runs in [default: the clone's runs/]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Runs that ended longer ago than this, such as 30d or 12h
    #[arg(long, value_name = "AGE", value_parser = prune::age)]
    pub older_than: Option<Duration>,
    /// All but the last N
    #[arg(long, value_name = "N")]
    pub keep_last: Option<usize>,
    /// Only those that were solved, or those that were not
    #[arg(long, value_name = "WHICH")]
    pub only: Option<Judged>,
    /// The oldest, until all that is found takes no more than this, such as 10GB
    #[arg(long, value_name = "SIZE")]
    pub max_size: Option<Bytes>,
    /// Do not remove them: take away what the level light does without
    #[arg(long)]
    pub to_light: bool,
    /// Do it; without this it is only shown
    #[arg(long)]
    pub yes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Judged {
    Solved,
    Failed,
}

#[derive(Args)]
pub struct Cell {
    /// Python file, cells after lines that begin with `# %%`; `-` is standard input
    pub file: PathBuf,
    /// Robot whose API the cells find; its calls are refused [default: none]
    #[arg(long, value_name = "NAME")]
    pub robot: Option<String>,
    /// Folder whose files the cells see [default: an empty one that goes afterwards]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Folder for the pictures that cells display
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,
    /// What is printed: rich or pure feedback
    #[arg(long, value_name = "KIND", default_value = "rich", value_parser = ["rich", "pure"])]
    pub feedback: String,
    /// Time a cell may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    pub timeout: u32,
}

#[derive(Args)]
pub struct Lint {
    /// Python files, as `rua play --policy` takes them
    #[arg(value_name = "POLICY", required = true)]
    pub policies: Vec<PathBuf>,
    /// Robot whose API they are written for
    #[arg(long, value_name = "NAME", default_value = "libero")]
    pub robot: String,
    /// Methods they may call: full or no-vla
    #[arg(long, value_name = "SET", default_value = "full")]
    pub primitives: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
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
            ["--from", "somewhere"],
        ] {
            let error =
                Rua::try_parse_from(["rua", "play"].into_iter().chain(bad)).err().expect("refused");
            assert_eq!(error.exit_code(), 2, "{bad:?}");
        }
    }

    #[test]
    fn a_size_is_one_number_or_two() {
        assert_eq!("256".parse(), Ok(Size { width: 256, height: 256 }));
        assert_eq!("640x480".parse(), Ok(Size { width: 640, height: 480 }));
        for bad in ["", "x", "640x", "-1", "640x480x3"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
    }
}
