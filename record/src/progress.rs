use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::{Failure, LineReader, Reason, RecordError, Status};

/// One line of `progress.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamped {
    /// Unix time, seconds.
    pub t: f64,
    #[serde(flatten)]
    pub what: Happening,
}

/// Something a person who watches a run wants to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Happening {
    /// The run has its folder.
    Run {
        run: String,
        dir: PathBuf,
        robot: String,
        planner: String,
        episodes: u32,
    },
    /// An episode's scene stands.
    Episode {
        episode: u32,
        suite: String,
        task: u32,
        seed: u64,
        instruction: String,
        /// 0 when there is no limit.
        max_control_steps: u32,
        reset_s: f64,
    },
    /// The episode's robot waits for MCP clients.
    Serving {
        episode: u32,
        url: String,
        /// File with the token that lets them in.
        token_file: PathBuf,
    },
    /// A cell `started` or ended, in which case the later fields are there.
    Cell {
        episode: u32,
        index: u32,
        /// `started`, or the status of its result.
        status: String,
        /// What the script calls it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        title: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        control_steps: Option<u64>,
        /// The last line it printed, cut when it is long.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        printed: String,
        /// Last line of its error.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        error: String,
    },
    /// A model has answered.
    Turn {
        episode: u32,
        turn: u32,
        /// What it said and called, cut when it is long.
        text: String,
        /// Tokens sent and received.
        input: u64,
        output: u64,
        /// None for a model without a known price.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dollars: Option<f64>,
        seconds: f64,
    },
    /// Where the episode stands, after a call.
    Progress {
        episode: u32,
        control_steps: u64,
        calls: u64,
    },
    Warning {
        node: String,
        message: String,
    },
    /// How the run came to be as it is, where that is not plain.
    Note {
        text: String,
    },
    /// An episode is over.
    Ended {
        episode: u32,
        reason: Reason,
        success: bool,
        /// Whether a predicate judges it at all.
        judged: bool,
        control_steps: u64,
        calls: u64,
        cells: u64,
        seconds: f64,
    },
    /// The run is over; always the last line.
    Verdict {
        status: Status,
        success: bool,
        judged: bool,
        solved: u32,
        episodes: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
        seconds: f64,
    },
}

/// Appends to `progress.jsonl`, a whole line at a time.
pub struct ProgressWriter {
    path: PathBuf,
    file: File,
}

impl ProgressWriter {
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(|e| RecordError::write(path, e))?;
        Ok(ProgressWriter { path: path.to_owned(), file })
    }

    pub fn write(&mut self, what: &Happening) -> Result<(), RecordError> {
        let t = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
        let line = Stamped { t: (t * 1e3).round() / 1e3, what: what.clone() };
        let mut text =
            serde_json::to_string(&line).map_err(|e| RecordError::content(&self.path, e))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(|e| RecordError::write(&self.path, e))
    }
}

/// Follows a `progress.jsonl` that is still being written.
pub type ProgressReader = LineReader<Stamped>;

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(control_steps: u64) -> Happening {
        Happening::Progress { episode: 0, control_steps, calls: 1 }
    }

    #[test]
    fn a_growing_file_is_followed_line_by_line() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("progress.jsonl");
        let mut reader = ProgressReader::new(&path);
        assert!(reader.poll().unwrap().is_empty());

        let mut writer = ProgressWriter::open(&path).unwrap();
        writer.write(&progress(1)).unwrap();
        let lines = reader.poll().unwrap();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].what, progress(1));

        let mut raw = OpenOptions::new().append(true).open(&path).unwrap();
        raw.write_all(b"{\"t\": 1.0, \"kind\": \"prog").unwrap();
        assert!(reader.poll().unwrap().is_empty());
        raw.write_all(b"ress\", \"episode\": 0, \"control_steps\": 2, \"calls\": 1}\n{\"t\":1,\"kind\":\"new\"}\n").unwrap();
        assert_eq!(
            reader.poll().unwrap().into_iter().map(|l| l.what).collect::<Vec<_>>(),
            [progress(2)]
        );
    }

    #[test]
    fn a_line_says_its_kind_and_leaves_out_what_is_not_known() {
        let started = Happening::Cell {
            episode: 0,
            index: 1,
            status: "started".into(),
            title: String::new(),
            seconds: None,
            control_steps: None,
            printed: String::new(),
            error: String::new(),
        };
        let text = serde_json::to_value(Stamped { t: 1.5, what: started }).unwrap();
        assert_eq!(
            text,
            serde_json::json!({"t": 1.5, "kind": "cell", "episode": 0, "index": 1, "status": "started"})
        );
    }
}
