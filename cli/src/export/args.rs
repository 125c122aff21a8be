use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use crate::args::Size;

#[derive(Args)]
#[command(group(ArgGroup::new("form").required(true).args(["lerobot", "rerun", "mp4"])))]
pub struct Export {
    /// Runs, campaigns or folders with runs; one run for --rerun and --mp4
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Make a LeRobot dataset in this folder
    #[arg(long, value_name = "DIR")]
    pub lerobot: Option<PathBuf>,
    /// Make a recording for the Rerun viewer
    #[arg(long, value_name = "FILE.rrd")]
    pub rerun: Option<PathBuf>,
    /// Make a video
    #[arg(long, value_name = "FILE.mp4")]
    pub mp4: Option<PathBuf>,
    /// Episodes that go into the dataset
    #[arg(long, value_name = "WHICH", default_value = "solved", conflicts_with_all = ["rerun", "mp4"])]
    pub only: Only,
    /// Go on with a dataset that is there: add the episodes it lacks
    #[arg(long, requires = "lerobot")]
    pub resume: bool,
    /// Only this episode of the run [default: all for a dataset, else the first]
    #[arg(long, value_name = "N")]
    pub episode: Option<u32>,
    /// Pixels of a picture, one number for a square [default: 256, 512 for a video]
    #[arg(long, value_name = "WxH")]
    pub size: Option<Size>,
    /// Rows or pictures a second [default: the robot's control steps a second]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub fps: Option<u32>,
    /// Cameras, with commas between them, or `none` [default: those that the agent had]
    #[arg(long, value_name = "NAMES", conflicts_with = "mp4")]
    pub cameras: Option<String>,
    /// Camera of the video
    #[arg(long, value_name = "NAME", default_value = "agentview", conflicts_with_all = ["lerobot", "rerun"])]
    pub camera: String,
    /// Write the running cell and call into the video
    #[arg(long, requires = "mp4")]
    pub captions: bool,
    /// EGL device that draws: its number or a part of its name
    #[arg(long, value_name = "DEVICE", env = "EGL_DEVICE")]
    pub egl_device: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Only {
    /// Those that the benchmark's predicate calls solved
    Solved,
    /// Failed ones, too
    All,
}
