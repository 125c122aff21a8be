//! What a person sees of a run: a line a cell and a bar in control steps.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ruaflow_record::Happening;

use super::Manner;
use crate::mcp::ways_in;
use crate::print::{self, cut};

const BAR: &str = "{bar:30} {pos}/{len} control steps  {elapsed}  {wide_msg}";
/// For a robot without a limit of control steps.
const COUNTER: &str = "{spinner} {pos} control steps  {elapsed}  {wide_msg}";
const BUSY: &str = "{spinner} {elapsed}  {wide_msg}";
/// Characters of a line about a cell, and of its title in it.
const LINE_WIDTH: usize = 150;
const TITLE_WIDTH: usize = 40;

pub enum View {
    /// Lines with a bar below them.
    Terminal(ProgressBar),
    /// Lines.
    Plain,
    /// Nothing.
    Silent,
}

impl View {
    pub fn new(manner: Manner) -> Self {
        if manner == Manner::Silent {
            View::Silent
        } else if manner == Manner::Shown && std::io::stdout().is_terminal() {
            View::Terminal(ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout()))
        } else {
            View::Plain
        }
    }

    pub fn starting(&mut self, keys: bool) {
        if let View::Terminal(bar) = self {
            style(bar, BUSY);
            bar.enable_steady_tick(Duration::from_millis(100));
            let hint = if keys { ", s or space: emergency stop" } else { "" };
            bar.set_message(format!("starting; Ctrl-C: end{hint}"));
        }
    }

    pub fn show(&mut self, what: &Happening) {
        match what {
            Happening::Run { dir, .. } => self.line(&format!("run {}", dir.display())),
            Happening::Episode { max_control_steps, .. } => {
                self.line(&episode_line(what));
                if let View::Terminal(bar) = self {
                    style(bar, if *max_control_steps > 0 { BAR } else { COUNTER });
                    bar.set_length((*max_control_steps).into());
                    bar.set_position(0);
                }
            }
            Happening::Serving { url, token_file, .. } => {
                for line in ways_in(url, token_file) {
                    self.line(&line);
                }
            }
            Happening::Cell { status, index, title, .. } if status == "started" => {
                if let View::Terminal(bar) = self {
                    bar.set_message(format!("cell {index} {title}"));
                }
            }
            Happening::Cell { .. } => self.line(&cell_line(what)),
            Happening::Turn { .. } => self.line(&turn_line(what)),
            Happening::Progress { control_steps, .. } => {
                if let View::Terminal(bar) = self {
                    bar.set_position(*control_steps);
                }
            }
            Happening::Note { text } => self.note(text),
            Happening::Warning { node, message } => self.line(&format!("! {node}: {message}")),
            Happening::Ended { .. } => self.line(&ended_line(what)),
            // The verdict is taken from result.json.
            Happening::Verdict { .. } => self.close(),
        }
    }

    /// A line about what was just wished.
    pub fn note(&self, text: &str) {
        self.line(&format!("· {text}"));
    }

    /// Takes the bar away.
    pub fn close(&mut self) {
        if let View::Terminal(bar) = self {
            bar.finish_and_clear();
        }
    }

    /// A line, or several.
    pub fn line(&self, text: &str) {
        match self {
            View::Terminal(bar) => bar.suspend(|| print::line(text)),
            View::Plain => print::line(text),
            View::Silent => {}
        }
    }
}

fn style(bar: &ProgressBar, template: &str) {
    // The templates are ours; a wrong one would only look plain.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸ "));
    }
}

fn episode_line(what: &Happening) -> String {
    let Happening::Episode { suite, task, seed, instruction, .. } = what else {
        return String::new();
    };
    let scene = if suite.is_empty() {
        format!("seed {seed}")
    } else {
        format!("{suite} {task}, seed {seed}")
    };
    format!("{scene}: {instruction}")
}

fn cell_line(what: &Happening) -> String {
    let Happening::Cell { index, status, title, seconds, control_steps, printed, error, .. } = what
    else {
        return String::new();
    };
    let mark =
        if matches!(status.as_str(), "ok" | "finished" | "episode_finished") { ' ' } else { '✗' };
    let last = match (error.is_empty(), printed.is_empty()) {
        (false, _) => format!("{status}: {error}"),
        (true, false) => printed.clone(),
        (true, true) if mark == '✗' => status.clone(),
        (true, true) => String::new(),
    };
    let words = [cut(title, TITLE_WIDTH), last]
        .into_iter()
        .filter(|words| !words.is_empty())
        .collect::<Vec<_>>()
        .join(" | ");
    let line = format!(
        "{mark} cell {index:<3} {:6.2} s {:5} steps  {words}",
        seconds.unwrap_or_default(),
        control_steps.unwrap_or_default(),
    );
    cut(line.trim_end(), LINE_WIDTH)
}

fn turn_line(what: &Happening) -> String {
    let Happening::Turn { turn, text, input, output, dollars, seconds, .. } = what else {
        return String::new();
    };
    let dollars = dollars.map_or(String::new(), |dollars| format!("  ${dollars:.4}"));
    let words = text.lines().next().unwrap_or_default();
    cut(
        &format!("  turn {turn:<3} {seconds:6.2} s {input:6} in {output:5} out{dollars}  {words}"),
        LINE_WIDTH,
    )
}

fn ended_line(what: &Happening) -> String {
    let Happening::Ended { reason, control_steps, calls, cells, seconds, .. } = what else {
        return String::new();
    };
    format!(
        "  ended: {}; {cells} cells, {calls} calls, {control_steps} control steps, {seconds:.1} s",
        reason.as_str()
    )
}
