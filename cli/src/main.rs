//! `rua`, the command people type.

mod api;
mod args;
mod cell;
mod check_robot;
mod clone;
mod dataflow;
mod demo;
mod failure;
mod flow;
mod lint;
mod nearest;
mod play;
mod print;
mod processes;
mod render;
mod repair;
mod settings_file;
mod stop;
mod suites;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    failure::report(args::Rua::parse().run())
}
