//! `turns.jsonl`: what an agent was sent, what it answered, what that did.

use std::fs::{File, OpenOptions, create_dir_all};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{LineReader, RecordError};

/// One line of `turns.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnLine {
    /// One request to a model and its reply.
    Turn(Box<TurnRecord>),
    /// One tool call that was executed.
    Call(Box<CallRecord>),
    /// Something that happened between: a person spoke, a budget ran out.
    Note { at: f64, text: String },
}

/// One request to a model and its reply. Every field may be left at its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnRecord {
    /// Number within the episode, from 1; given when it is booked.
    pub turn: u32,
    /// When the reply was there, Unix time in seconds; given when it is booked.
    pub at: f64,
    pub model: String,
    /// File in `prompts/` with the system prompt.
    pub system: Option<String>,
    /// File in `prompts/` with the tools.
    pub tools: Option<String>,
    /// Index of the first message in `sent`: those before it were sent with the turn
    /// before, too.
    pub sent_from: usize,
    /// The messages sent from there on.
    pub sent: Vec<MessageRecord>,
    pub reply: Vec<PartRecord>,
    /// Why the reply ended, in the provider's words.
    pub stop: String,
    pub tokens: Tokens,
    /// Dollars by the price list; none for a model that is not on it.
    pub dollars: Option<f64>,
    /// Seconds until the first token and until the whole reply, waits and retries left out.
    pub first_token_s: f64,
    pub total_s: f64,
    /// Seconds spent waiting for a provider that had no room, and on attempts that failed.
    pub waited_s: f64,
    /// What went wrong with attempts before the one that succeeded.
    pub attempts: Vec<String>,
    /// What was done to the conversation to make it fit, and the like.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageRecord {
    pub role: String,
    pub parts: Vec<PartRecord>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum PartRecord {
    Text {
        text: String,
    },
    /// A picture: its file in the episode's folder.
    Image {
        file: String,
        width: u32,
        height: u32,
    },
    /// A tool call of the model, its arguments as it wrote them.
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// The answer to one, which the line of that call holds, with so many of its pictures.
    Answer {
        id: String,
        call: u32,
        pictures: usize,
    },
    /// All that the model said in an earlier turn, unchanged.
    Reply {
        turn: u32,
    },
    /// Reasoning that a provider keeps to itself.
    Opaque {
        bytes: usize,
    },
}

/// Tokens of one reply, or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    /// All that was sent, cached or not.
    pub input: u64,
    /// Of `input`, read from the provider's cache.
    pub cached: u64,
    /// Of `input`, written to it.
    pub cache_written: u64,
    /// All that came back, reasoning included.
    pub output: u64,
    /// Of `output`, reasoning.
    pub reasoning: u64,
}

/// One tool call and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallRecord {
    /// Number within the episode, from 1.
    pub call: u32,
    pub at: f64,
    /// Id the model gave it; empty for a caller that gives none.
    pub id: String,
    pub tool: String,
    /// As they came, JSON or not.
    pub arguments: String,
    /// What the agent read.
    pub answer: String,
    /// Pictures it saw after the text.
    pub images: Vec<PartRecord>,
    /// Whether it was refused or went wrong.
    pub failed: bool,
    /// Cell that it ran, if it ran one.
    pub cell: Option<u32>,
    /// What the sandbox found in that cell, `CellResult::audit`.
    pub audit: Vec<String>,
    /// Seconds it took.
    pub seconds: f64,
}

/// What an episode has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bill {
    /// Replies of a model.
    pub model_calls: u64,
    /// Tool calls executed.
    pub tool_calls: u64,
    pub tokens: Tokens,
    /// Dollars; none when a model is not on the price list.
    pub dollars: Option<f64>,
    /// Seconds the model took, waits left out.
    pub model_s: f64,
    /// Seconds until its first tokens, summed.
    pub first_token_s: f64,
    /// Seconds spent waiting for providers without room, and on failed attempts.
    pub waited_s: f64,
    pub retries: u64,
    /// Seconds that cells ran.
    pub robot_s: f64,
}

impl Tokens {
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input + self.output
    }

    pub fn add(&mut self, other: &Tokens) {
        self.input += other.input;
        self.cached += other.cached;
        self.cache_written += other.cache_written;
        self.output += other.output;
        self.reasoning += other.reasoning;
    }
}

impl Bill {
    /// Adds a turn.
    pub fn add_turn(&mut self, turn: &TurnRecord) {
        let first = self.model_calls == 0;
        self.model_calls += 1;
        self.tokens.add(&turn.tokens);
        self.dollars = sum(first, self.dollars, turn.dollars);
        self.model_s += turn.total_s;
        self.first_token_s += turn.first_token_s;
        self.waited_s += turn.waited_s;
        self.retries += turn.attempts.len() as u64;
    }

    /// Adds another episode's bill.
    pub fn add(&mut self, other: &Bill) {
        if other.model_calls > 0 {
            self.dollars = sum(self.model_calls == 0, self.dollars, other.dollars);
        }
        self.model_calls += other.model_calls;
        self.tool_calls += other.tool_calls;
        self.tokens.add(&other.tokens);
        self.model_s += other.model_s;
        self.first_token_s += other.first_token_s;
        self.waited_s += other.waited_s;
        self.retries += other.retries;
        self.robot_s += other.robot_s;
    }
}

/// One unknown price makes the sum unknown.
fn sum(first: bool, so_far: Option<f64>, more: Option<f64>) -> Option<f64> {
    if first { more } else { Some(so_far? + more?) }
}

/// Appends to an episode's `turns.jsonl` and keeps what it refers to.
#[derive(Debug)]
pub struct TurnWriter {
    path: PathBuf,
    file: File,
    prompts: PathBuf,
}

impl TurnWriter {
    /// `episode` is the episode's folder, `prompts` that of the run's prompts.
    ///
    /// # Errors
    /// When they can't be written.
    pub fn open(episode: &Path, prompts: &Path) -> Result<Self, RecordError> {
        create_dir_all(episode).map_err(|e| RecordError::write(episode, e))?;
        let path = turns_path(episode);
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|e| RecordError::write(&path, e))?;
        Ok(TurnWriter { path, file, prompts: prompts.to_owned() })
    }

    /// Writes a whole line.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn write(&mut self, line: &TurnLine) -> Result<(), RecordError> {
        let mut text =
            serde_json::to_string(line).map_err(|e| RecordError::content(&self.path, e))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(|e| RecordError::write(&self.path, e))
    }

    /// Keeps a text under its hash and returns its file name; the same text is kept once.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn keep(&self, text: &str, extension: &str) -> Result<String, RecordError> {
        let name = format!("{}.{extension}", hash(text.as_bytes()));
        let path = self.prompts.join(&name);
        if !path.exists() {
            create_dir_all(&self.prompts).map_err(|e| RecordError::write(&self.prompts, e))?;
            crate::write_atomically(&path, text.as_bytes())?;
        }
        Ok(name)
    }
}

/// Follows a `turns.jsonl` that is still being written; its file is [`turns_path`].
pub type TurnReader = LineReader<TurnLine>;

/// Where an episode's turns are, given its folder. A script has none.
#[must_use]
pub fn turns_path(episode: &Path) -> PathBuf {
    episode.join("turns.jsonl")
}

/// Reads an episode's `turns.jsonl`; a torn last line is left out.
///
/// # Errors
/// When the file is there and can't be read.
pub fn read_turns(episode: &Path) -> Result<Vec<TurnLine>, RecordError> {
    TurnReader::new(&turns_path(episode)).poll()
}

/// The first 16 digits of the SHA-256.
#[must_use]
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The tools as they are kept: indented JSON.
#[must_use]
pub fn tools_text(tools: &Value) -> String {
    format!("{tools:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(input: u64, dollars: Option<f64>) -> TurnRecord {
        TurnRecord {
            tokens: Tokens { input, output: 5, ..Tokens::default() },
            dollars,
            ..TurnRecord::default()
        }
    }

    #[test]
    fn lines_are_read_back_and_a_torn_one_is_left_out() {
        let tmp = tempfile::tempdir().unwrap();
        let (episode, prompts) = (tmp.path().join("episodes/000"), tmp.path().join("prompts"));
        let mut writer = TurnWriter::open(&episode, &prompts).unwrap();
        let lines = [
            TurnLine::Turn(Box::new(turn(7, None))),
            TurnLine::Call(Box::new(CallRecord { tool: "python".into(), ..Default::default() })),
            TurnLine::Note { at: 1.0, text: "a person spoke".into() },
        ];
        for line in &lines {
            writer.write(line).unwrap();
        }
        writer.file.write_all(b"{\"kind\": \"no").unwrap();
        assert_eq!(read_turns(&episode).unwrap(), lines);
        assert!(read_turns(tmp.path()).unwrap().is_empty());
    }

    #[test]
    fn the_same_text_is_kept_once() {
        let tmp = tempfile::tempdir().unwrap();
        let writer = TurnWriter::open(&tmp.path().join("e"), &tmp.path().join("prompts")).unwrap();
        let name = writer.keep("You control a robot.", "md").unwrap();
        assert_eq!(writer.keep("You control a robot.", "md").unwrap(), name);
        assert_ne!(writer.keep("another", "md").unwrap(), name);
        let kept = std::fs::read_to_string(tmp.path().join("prompts").join(&name)).unwrap();
        assert_eq!(kept, "You control a robot.");
    }

    #[test]
    fn one_unknown_price_makes_the_bill_unknown() {
        let mut bill = Bill::default();
        bill.add_turn(&turn(10, Some(0.5)));
        bill.add_turn(&turn(20, Some(0.25)));
        assert_eq!((bill.dollars, bill.tokens.total(), bill.model_calls), (Some(0.75), 40, 2));
        bill.add_turn(&turn(1, None));
        bill.add_turn(&turn(1, Some(1.0)));
        assert_eq!(bill.dollars, None);
        let mut sum = Bill::default();
        sum.add(&Bill::default());
        sum.add(&Bill { model_calls: 1, dollars: Some(2.0), ..Bill::default() });
        assert_eq!(sum.dollars, Some(2.0));
    }
}
