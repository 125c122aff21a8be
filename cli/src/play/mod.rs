//! `rua play`: a dataflow with its settings, what happens in it, its verdict.

mod keys;
mod person;
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
use crate::{print, processes};

pub fn run(args: &Play) -> Result<ExitCode> {
    if args.with_parent {
        processes::end_with_parent()?;
    }
    let request = Request::check(args)?;
    let manner = if args.json { Manner::Silent } else { Manner::of(args.interactive) };
    let verdict = play(&request, manner)?;
    if args.json {
        print::json(&verdict.json(&request.dir))?;
    } else {
        print::line(verdict.line());
        print::line(format_args!("  {}", request.dir.display()));
    }
    verdict.status(args.require_success)
}

/// How a run is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Not at all.
    Silent,
    Shown,
    /// As text to read, by a person who may type.
    Interactive,
}

impl Manner {
    fn of(interactive: bool) -> Self {
        if interactive { Manner::Interactive } else { Manner::Shown }
    }
}

/// Runs what was asked for.
pub fn play(request: &Request, manner: Manner) -> Result<Verdict> {
    let mut view = View::new(manner);
    view.note(&request.space);
    let ending = session::run(request, &mut view, manner == Manner::Interactive);
    view.close();
    Verdict::reach(request, &ending?)
}
