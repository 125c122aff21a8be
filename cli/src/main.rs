//! `rua`, the command people type.

mod again;
mod api;
mod args;
mod cell;
mod check_robot;
mod clone;
mod dataflow;
mod demo;
mod eval;
mod export;
mod failure;
mod flow;
mod lint;
mod mcp;
mod model_flags;
mod models;
mod pager;
mod play;
mod print;
mod processes;
mod prompt;
mod prune;
mod recorded;
mod render;
mod repair;
mod settings_file;
mod size;
mod space;
mod stop;
mod studio;
mod suites;
mod transcript;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    failure::report(args::Rua::parse().run())
}
