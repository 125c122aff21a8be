//! `rua play --interactive`: a person reads along, types to the agent and takes over.

use std::io::{BufRead as _, IsTerminal as _, stdin, stdout};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use eyre::Result;
use ruaflow_kit::Steer;
use ruaflow_record::{TurnReader, turns_path};

use super::view::View;
use crate::transcript::Painter;

pub const HELP: &str = "type to the agent, or: /pause /resume /skip (the running or next cell) \
                        /cell (your own, until a line with only a dot) /stop /help";

/// What a person typed comes to.
#[derive(Debug, PartialEq, Eq)]
enum Typed {
    Steer(Steer),
    Stop,
    Help,
    /// More of a cell follows.
    More,
    Unknown(String),
}

pub struct Person {
    lines: Receiver<String>,
    typing: Typing,
    turns: Option<TurnReader>,
    paint: Painter,
}

impl Person {
    /// Listens on standard input, a terminal or not.
    pub fn listen() -> Result<Self> {
        let (sender, lines) = channel();
        std::thread::Builder::new().name("person".to_owned()).spawn(move || {
            for line in stdin().lock().lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        })?;
        let paint = Painter::new(stdout().is_terminal());
        Ok(Person { lines, typing: Typing::default(), turns: None, paint })
    }

    /// From here on the turns of this episode are read.
    pub fn turn_to(&mut self, episode: &Path) {
        self.turns = Some(TurnReader::new(&turns_path(episode)));
    }

    /// Shows what the agent did since the last call.
    pub fn read_along(&mut self, view: &View) -> Result<()> {
        let Some(turns) = &mut self.turns else { return Ok(()) };
        for line in turns.poll()? {
            view.line(self.paint.line(&line).trim_end());
        }
        Ok(())
    }

    /// Does what was typed; true when the run is to end.
    pub fn heed(&mut self, run: &str, view: &View) -> bool {
        while let Ok(line) = self.lines.try_recv() {
            match self.typing.take(&line) {
                Typed::Steer(wish) => match ruaflow_kit::steer(run, &wish) {
                    Ok(answer) => view.note(&answer),
                    Err(_) => view.note("the run does not listen yet, or no more"),
                },
                Typed::Stop => return true,
                Typed::Help => view.note(HELP),
                Typed::More => {}
                Typed::Unknown(word) => view.note(&format!("there is no {word}; {HELP}")),
            }
        }
        false
    }
}

/// Lines on their way to be a wish.
#[derive(Default)]
struct Typing {
    /// The cell that is being typed.
    cell: Option<String>,
}

impl Typing {
    fn take(&mut self, line: &str) -> Typed {
        if let Some(mut cell) = self.cell.take() {
            if line.trim() == "." {
                return Typed::Steer(Steer::Cell(cell));
            }
            cell.push_str(line);
            cell.push('\n');
            self.cell = Some(cell);
            return Typed::More;
        }
        let text = line.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word {
            "" => Typed::More,
            "/pause" => Typed::Steer(Steer::Pause),
            "/resume" => Typed::Steer(Steer::Resume),
            "/skip" => Typed::Steer(Steer::Skip),
            "/cell" if rest.trim().is_empty() => {
                self.cell = Some(String::new());
                Typed::More
            }
            "/cell" => Typed::Steer(Steer::Cell(format!("{}\n", rest.trim()))),
            "/stop" => Typed::Stop,
            "/help" => Typed::Help,
            word if word.starts_with('/') => Typed::Unknown(word.to_owned()),
            _ => Typed::Steer(Steer::Say(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_wishes() {
        let mut typing = Typing::default();
        assert_eq!(typing.take(" more left "), Typed::Steer(Steer::Say("more left".into())));
        assert_eq!(typing.take("/pause"), Typed::Steer(Steer::Pause));
        assert_eq!(
            typing.take("/cell robo.release()"),
            Typed::Steer(Steer::Cell("robo.release()\n".into()))
        );
        assert_eq!(typing.take("/dance now"), Typed::Unknown("/dance".into()));
        assert_eq!(typing.take(""), Typed::More);
    }

    #[test]
    fn a_cell_of_several_lines_ends_with_a_dot() {
        let mut typing = Typing::default();
        for line in ["/cell", "for i in range(2):", "    /pause"] {
            assert_eq!(typing.take(line), Typed::More);
        }
        let cell = "for i in range(2):\n    /pause\n";
        assert_eq!(typing.take("."), Typed::Steer(Steer::Cell(cell.into())));
        assert_eq!(typing.take("/stop"), Typed::Stop);
    }
}
