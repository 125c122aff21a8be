//! The run directory: what the planner and the recorder write, what `rua` and
//! people read. `docs/recording.md` describes every file.
//!
//! Three programs share a run directory, so each file has one writer: the
//! planner writes `result.json`, `settings.json`, `progress.jsonl`, `prompts/` and
//! each episode's `turns.jsonl`, the recorder everything else under `episodes/` and
//! `run/`. Whoever is left when one
//! of them dies finishes `result.json` with [`RunDir::finish_as_failed`].

mod atomic;
mod cell_text;
mod error;
mod json;
mod level;
mod lines;
mod progress;
mod prune;
mod recording;
mod repair;
mod result;
mod rows;
mod run_dir;
mod stream_reader;
mod table;
mod topic_reader;
mod topic_writer;
mod trajectory;
mod turns;
mod unfinished;

pub use crate::atomic::write_atomically;
pub use crate::cell_text::{cell_text, picture_name};
pub use crate::error::RecordError;
pub use crate::json::row_json;
pub use crate::level::Level;
pub use crate::lines::LineReader;
pub use crate::progress::{Happening, ProgressReader, ProgressWriter, Stamped};
pub use crate::recording::{Recording, RecordingAddress};
pub use crate::repair::{RepairReport, RepairedFile, repair};
pub use crate::result::{
    EpisodeResult, Failure, Finish, Notice, Policy, Reason, RunResult, Status,
};
pub use crate::rows::{STAMP_COLUMNS, frame_rows, read_rows, stamped_batch};
pub use crate::run_dir::{LiveLock, RunDir};
pub use crate::table::compact;
pub use crate::topic_reader::TopicReader;
pub use crate::topic_writer::TopicWriter;
pub use crate::trajectory::{StateAddress, Trajectory};
pub use crate::turns::{
    Bill, CallRecord, MessageRecord, PartRecord, Tokens, TurnLine, TurnReader, TurnRecord,
    TurnWriter, hash, read_turns, tools_text, turns_path,
};
