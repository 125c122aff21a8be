use std::collections::HashMap;

use arrow::array::AsArray as _;
use arrow::datatypes::UInt64Type;
use ruaflow_record::{RunDir, STAMP_COLUMNS, TopicReader, frame_rows};
use ruaflow_schemas::{Call, CallResult, Cell, CellResult, Event, Frame, Observation};
use serde_json::Value;

use crate::ExportError;

const SENT: &str = STAMP_COLUMNS[2];

/// What an agent did, and when in terms of control steps.
///
/// Frames are laid side by side by the time they were sent at, so it is as exact as
/// the clocks of the machines that sent them.
pub struct Story {
    /// When each control step was measured, Unix nanoseconds, and its number; in order.
    measured: Vec<(u64, u64)>,
    cells: Vec<(u64, String)>,
    calls: Vec<(u64, String)>,
    log: Vec<(u64, Line)>,
}

/// What was going on at a control step; empty where nothing was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment<'a> {
    /// Number, title and first line of the cell.
    pub cell: &'a str,
    /// The call with its arguments.
    pub call: &'a str,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// `cell`, `output`, `call`, `result`, or the kind of an event.
    pub kind: String,
    pub text: String,
    /// Whether something went wrong.
    pub warns: bool,
}

impl Story {
    /// Reads what an episode's planner and controller left.
    ///
    /// # Errors
    /// [`ExportError::Record`] when a file can't be read.
    pub fn read(dir: &RunDir, episode: u32) -> Result<Self, ExportError> {
        let measured: Vec<(u64, Observation)> = sent(dir, episode)?;
        let mut story = Story {
            measured: measured.iter().map(|(at, row)| (*at, row.control_step)).collect(),
            cells: Vec::new(),
            calls: Vec::new(),
            log: Vec::new(),
        };
        story.measured.sort_unstable();
        for (at, cell) in sent::<Cell>(dir, episode)? {
            story.cells.push((at, heading(&cell)));
            story.add(at, "cell", cell.code, false);
        }
        for (at, result) in sent::<CellResult>(dir, episode)? {
            let warns = !matches!(result.status.as_str(), "ok" | "finished" | "episode_finished");
            story.add(at, "output", ruaflow_record::cell_text(&result), warns);
        }
        let mut methods = HashMap::new();
        for (at, call) in sent::<Call>(dir, episode)? {
            let words = format!("{}({})", call.method, arguments(&call.arguments));
            methods.insert(call.id, call.method);
            story.calls.push((at, words.clone()));
            story.add(at, "call", words, false);
        }
        for (at, result) in sent::<CallResult>(dir, episode)? {
            let method = methods.remove(&result.id).unwrap_or(result.method);
            let (text, warns) = match result.error.as_str() {
                "" => (arguments(&result.outcome), false),
                error => (format!("{error}: {}", result.message), true),
            };
            story.add(at, "result", format!("{method}: {text}"), warns);
        }
        for (at, event) in sent::<Event>(dir, episode)? {
            let warns = matches!(event.kind.as_str(), "warning" | "error" | "refused" | "stopped");
            let text = format!("{} {} {}", event.node, event.message, event.data);
            story.add(at, &event.kind, text, warns);
        }
        story.cells.sort();
        story.calls.sort();
        story.log.sort_by_key(|(at, _)| *at);
        Ok(story)
    }

    /// What was going on when a control step was measured.
    pub fn at(&self, control_step: u64) -> Moment<'_> {
        let found = self.measured.iter().find(|(_, step)| *step == control_step);
        let Some(&(measured, _)) = found else { return Moment::default() };
        Moment {
            cell: last_before(&self.cells, measured),
            call: last_before(&self.calls, measured),
        }
    }

    /// Everything that happened, in order, with the control step it happened after.
    pub fn log(&self) -> impl Iterator<Item = (u64, &Line)> {
        self.log.iter().map(|(at, line)| {
            let before = self.measured.partition_point(|(measured, _)| measured <= at);
            (before.checked_sub(1).map_or(0, |index| self.measured[index].1), line)
        })
    }

    fn add(&mut self, at: u64, kind: &str, text: String, warns: bool) {
        self.log.push((at, Line { kind: kind.to_owned(), text, warns }));
    }
}

/// The last of some words that were sent by then.
fn last_before(words: &[(u64, String)], then: u64) -> &str {
    let sent = words.partition_point(|(at, _)| *at <= then);
    words[..sent].last().map_or("", |(_, words)| words)
}

/// The frames of a topic with when they were sent, Unix nanoseconds; none when it was
/// never sent.
fn sent<F: Frame>(dir: &RunDir, episode: u32) -> Result<Vec<(u64, F)>, ExportError> {
    let path = dir.topic_path(Some(episode), F::TOPIC);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let unreadable = |reason: String| ExportError::Content { path: path.clone(), reason };
    let mut reader = TopicReader::open(&path)?;
    let mut all = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        let frames = frame_rows::<F>(&batch).map_err(|error| unreadable(error.to_string()))?;
        let times = batch.column_by_name(SENT).and_then(|column| {
            column.as_primitive_opt::<UInt64Type>().map(|times| times.values().to_vec())
        });
        let times = times.ok_or_else(|| unreadable(format!("it has no column {SENT:?}")))?;
        all.extend(times.into_iter().zip(frames.to_vec()));
    }
    Ok(all)
}

/// `[2] find the bowl: bowl = robo.segment("bowl")`.
fn heading(cell: &Cell) -> String {
    let mut lines = cell.code.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut first = lines.next().unwrap_or_default();
    let mut title = "";
    if let Some(words) = first.strip_prefix("# %%") {
        title = words.trim();
        first = lines.next().unwrap_or_default();
    }
    let number = cell.index;
    match title {
        "" => format!("[{number}] {first}"),
        title => format!("[{number}] {title}: {first}"),
    }
}

/// A JSON object as Python writes arguments: `xyz=[0.1, 0, 0.2], gripper=-1`; what is
/// null is left out.
fn arguments(json: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str(json) else { return String::new() };
    let shown: Vec<String> = fields
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| format!("{name}={}", short(value)))
        .collect();
    shown.join(", ")
}

/// A value with numbers to the millimetre.
fn short(value: &Value) -> String {
    match value {
        Value::Number(number) => {
            let text = format!("{:.3}", number.as_f64().unwrap_or(f64::NAN));
            match text.trim_end_matches('0').trim_end_matches('.') {
                "-0" => "0".to_owned(),
                text => text.to_owned(),
            }
        }
        Value::Array(values) => {
            format!("[{}]", values.iter().map(short).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use ruaflow_record::{TopicWriter, stamped_batch};

    use super::*;

    fn write<F: Frame>(dir: &RunDir, rows: &[(u64, F)]) {
        let path = dir.topic_path(Some(0), F::TOPIC);
        let first = stamped_batch(0, 0, 0, &[rows[0].1.clone()]);
        let mut writer = TopicWriter::create(&path, first.schema()).unwrap();
        for (at, row) in rows {
            writer.append(&stamped_batch(0, 0, *at, std::slice::from_ref(row))).unwrap();
        }
    }

    #[test]
    fn what_ran_is_known_for_each_control_step() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, _lock) = RunDir::create(&tmp.path().join("run"), "r").unwrap();
        std::fs::create_dir_all(dir.episode_dir(0)).unwrap();
        let seen = |step| Observation { control_step: step, ..Observation::default() };
        write(&dir, &[(10, seen(0)), (30, seen(1)), (50, seen(2))]);
        let code = "# %% reach\n\nrobo.move_to(p)\n".to_owned();
        write(&dir, &[(20, Cell { index: 1, code, ..Cell::default() })]);
        let call = Call {
            id: "a".to_owned(),
            method: "move_to".to_owned(),
            arguments: r#"{"xyz": [0.12345, -0.0, 2], "yaw": null, "name": "x"}"#.to_owned(),
            ..Call::default()
        };
        write(&dir, &[(25, call)]);
        let failed = CallResult {
            id: "a".to_owned(),
            error: "tool_error".to_owned(),
            message: "no".to_owned(),
            ..CallResult::default()
        };
        write(&dir, &[(40, failed)]);

        let story = Story::read(&dir, 0).unwrap();
        assert_eq!(story.at(0), Moment::default());
        let moment = story.at(1);
        assert_eq!(moment.cell, "[1] reach: robo.move_to(p)");
        assert_eq!(moment.call, r#"move_to(xyz=[0.123, 0, 2], name="x")"#);
        assert_eq!(story.at(9), Moment::default());
        let log: Vec<(u64, &str)> =
            story.log().map(|(step, line)| (step, line.kind.as_str())).collect();
        assert_eq!(log, [(0, "cell"), (0, "call"), (1, "result")]);
        let (_, last) = story.log().last().unwrap();
        assert_eq!((last.text.as_str(), last.warns), ("move_to: tool_error: no", true));
    }
}
