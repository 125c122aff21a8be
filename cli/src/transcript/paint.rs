//! A transcript's lines as text for people, with colours on a terminal.

use std::fmt::Write as _;

use ruaflow_record::{CallRecord, MessageRecord, PartRecord, TurnLine, TurnRecord};
use serde_json::Value;

/// Lines of an answer that are shown; what a loop prints fills pages.
const MAX_LINES: usize = 60;

const DIM: &str = "2";
const BOLD: &str = "1";
const RED: &str = "31";
const GREEN: &str = "32";
const CYAN: &str = "36";

/// Writes lines of `turns.jsonl` for people.
#[derive(Clone, Copy, Debug)]
pub struct Painter {
    colours: bool,
}

impl Painter {
    #[must_use]
    pub fn new(colours: bool) -> Self {
        Painter { colours }
    }

    /// A line of the record; ends with a line break.
    #[must_use]
    pub fn line(&self, line: &TurnLine) -> String {
        match line {
            TurnLine::Turn(turn) => self.turn(turn),
            TurnLine::Call(call) => self.call(call),
            TurnLine::Note { text, .. } => self.paint(CYAN, &format!("· {text}\n")),
        }
    }

    /// The system prompt.
    #[must_use]
    pub fn system(&self, text: &str) -> String {
        format!("{}{}\n", self.paint(BOLD, "system\n"), self.paint(DIM, &indent(text)))
    }

    /// How the episode ended.
    #[must_use]
    pub fn ending(&self, reason: &str, limit: Option<&str>, bill: &str) -> String {
        let limit = limit.map_or(String::new(), |limit| format!(" (budget of {limit})"));
        format!("{}{bill}\n", self.paint(BOLD, &format!("ended: {reason}{limit}\n")))
    }

    fn turn(&self, turn: &TurnRecord) -> String {
        let mut out = String::new();
        for message in turn.sent.iter().filter(|message| message.role == "user") {
            out.push_str(&self.message(message));
        }
        let tokens = &turn.tokens;
        let dollars = turn.dollars.map_or(String::new(), |dollars| format!(", ${dollars:.4}"));
        let mut head = format!("turn {} · {}", turn.turn, turn.model);
        // `write!` to a String cannot fail.
        let _ = write!(
            head,
            " · {} in ({} cached), {} out{dollars} · {:.1} s ({:.1} s to the first token)",
            tokens.input, tokens.cached, tokens.output, turn.total_s, turn.first_token_s
        );
        if turn.waited_s > 0.0 {
            let _ = write!(head, ", waited {:.1} s", turn.waited_s);
        }
        out.push_str(&self.paint(BOLD, &format!("{head}\n")));
        for note in turn.notes.iter().chain(&turn.attempts) {
            out.push_str(&self.paint(CYAN, &format!("· {}\n", plain(note))));
        }
        for part in &turn.reply {
            out.push_str(&self.part(part));
        }
        if turn.stop != "done" && turn.stop != "calls" {
            out.push_str(&self.paint(RED, &format!("· the reply ended with {:?}\n", turn.stop)));
        }
        out
    }

    fn message(&self, message: &MessageRecord) -> String {
        // Answers are shown with their calls.
        let shown = |part: &&PartRecord| !matches!(part, PartRecord::Answer { .. });
        let parts: String =
            message.parts.iter().filter(shown).map(|part| self.part(part)).collect();
        if parts.is_empty() { parts } else { self.paint(BOLD, "user\n") + &parts }
    }

    fn part(&self, part: &PartRecord) -> String {
        match part {
            PartRecord::Text { text } => indent(text),
            PartRecord::Image { file, width, height } => {
                self.paint(DIM, &format!("  [picture {file}, {width} x {height}]\n"))
            }
            PartRecord::Call { name, arguments, .. } => {
                format!("{}{}", self.paint(GREEN, &format!("  → {name}\n")), code(arguments))
            }
            PartRecord::Opaque { bytes } => {
                self.paint(DIM, &format!("  [reasoning, {bytes} bytes]\n"))
            }
            PartRecord::Answer { call, .. } => {
                self.paint(DIM, &format!("  [answer of call {call}]\n"))
            }
            PartRecord::Reply { turn } => self.paint(DIM, &format!("  [reply of turn {turn}]\n")),
        }
    }

    fn call(&self, call: &CallRecord) -> String {
        let cell = call.cell.map_or(String::new(), |cell| format!(", cell {cell}"));
        let head = format!("  ← {} ({:.2} s{cell})\n", call.tool, call.seconds);
        let mut out = self.paint(if call.failed { RED } else { GREEN }, &head);
        out.push_str(&self.paint(DIM, &indent(&cut(&call.answer))));
        for image in &call.images {
            out.push_str(&self.part(image));
        }
        if !call.audit.is_empty() {
            out.push_str(
                &self.paint(RED, &format!("  audit: {}\n", plain(&call.audit.join(", ")))),
            );
        }
        out
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.colours { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// The code of a call as code, other arguments as they came.
fn code(arguments: &str) -> String {
    let given: Value = serde_json::from_str(arguments).unwrap_or_default();
    match given["code"].as_str() {
        Some(code) => indent(code),
        None => indent(arguments),
    }
}

fn cut(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= MAX_LINES {
        return text.to_owned();
    }
    let half = MAX_LINES / 2;
    let skipped = lines.len() - 2 * half;
    let (head, tail) = (&lines[..half], &lines[lines.len() - half..]);
    format!("{}\n… {skipped} lines …\n{}", head.join("\n"), tail.join("\n"))
}

fn indent(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("  {}\n", plain(line))).collect()
}

/// Without what a terminal would obey: a model's words are not to be trusted.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn() -> TurnLine {
        TurnLine::Turn(Box::new(TurnRecord {
            turn: 2,
            model: "m".into(),
            sent: vec![MessageRecord {
                role: "user".into(),
                parts: vec![PartRecord::Answer { id: "c1".into(), call: 1, pictures: 0 }],
            }],
            reply: vec![
                PartRecord::Text { text: "I look.\u{1b}[2J".into() },
                PartRecord::Call {
                    id: "c2".into(),
                    name: "python".into(),
                    arguments: r#"{"code": "x = 1\nx"}"#.into(),
                },
            ],
            stop: "calls".into(),
            total_s: 1.25,
            ..TurnRecord::default()
        }))
    }

    #[test]
    fn a_turn_shows_words_and_code() {
        assert_eq!(
            Painter::new(false).line(&turn()),
            "turn 2 · m · 0 in (0 cached), 0 out · 1.2 s (0.0 s to the first token)\n  I look.\u{fffd}[2J\n  → python\n  x = 1\n  x\n"
        );
        assert!(Painter::new(true).line(&turn()).contains("\u{1b}[32m  → python"));
    }

    #[test]
    fn a_call_shows_its_answer_and_what_was_found_in_its_code() {
        let call = CallRecord {
            tool: "python".into(),
            answer: (0..100).map(|n| format!("line {n}\n")).collect(),
            audit: vec!["import:os".into()],
            cell: Some(3),
            seconds: 0.5,
            ..CallRecord::default()
        };
        let text = Painter::new(false).line(&TurnLine::Call(Box::new(call)));
        assert!(text.starts_with("  ← python (0.50 s, cell 3)\n  line 0\n"), "{text}");
        assert!(text.contains("… 40 lines …") && text.ends_with("audit: import:os\n"), "{text}");
    }
}
