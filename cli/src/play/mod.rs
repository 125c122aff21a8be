//! `rua play`: a dataflow with its settings, what happens in it, its verdict.

mod keys;
mod request;
mod session;
mod verdict;
mod view;

use std::process::ExitCode;

use eyre::Result;

pub use self::request::{Request, scene_settings};
pub use self::verdict::Verdict;
use self::view::View;
use crate::args::Play;
use crate::print;

pub fn run(args: &Play) -> Result<ExitCode> {
    let request = Request::check(args)?;
    let verdict = play(&request, args.json)?;
    if args.json {
        print::json(&verdict.json(&request.dir))?;
    } else {
        print::line(verdict.line());
        print::line(format_args!("  {}", request.dir.display()));
    }
    verdict.status(args.require_success)
}

/// Runs what was asked for; with `silent`, shows nothing of it.
pub fn play(request: &Request, silent: bool) -> Result<Verdict> {
    let mut view = View::new(silent);
    let ending = session::run(request, &mut view);
    view.close();
    Verdict::reach(request, &ending?)
}
