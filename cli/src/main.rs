//! `rua`, the command people type.

mod args;
mod check_robot;
mod clone;
mod dataflow;
mod demo;
mod failure;
mod flow;
mod nearest;
mod play;
mod print;
mod processes;
mod repair;
mod settings_file;
mod stop;
mod suites;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    failure::report(args::Rua::parse().run())
}
