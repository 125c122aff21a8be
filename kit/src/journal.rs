use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use arrow::array::{Array, ArrayRef, AsArray as _, Int64Array, StructArray, UInt64Array};
use arrow::datatypes::{DataType, Field};
use ruaflow_schemas::{Frame, encode};

/// Rows waiting longer than this are sent.
const MAX_AGE: Duration = Duration::from_millis(100);
/// This many rows of a topic are sent at once.
const MAX_ROWS: usize = 64;
/// Unconfirmed batches are kept up to this size; beyond it the oldest are lost.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// One numbered batch of rows on its way to the recorder.
#[derive(Clone)]
pub(crate) struct Batch {
    pub number: u64,
    pub topic: &'static str,
    pub version: u32,
    pub episode: i64,
    /// Columns `episode`, `seq`, `sent_ns` (Unix time), then the frame's own.
    pub rows: ArrayRef,
}

/// Collects a node's rows into numbered batches and keeps each until the
/// recorder has confirmed it.
#[derive(Default)]
pub(crate) struct Journal {
    waiting: BTreeMap<&'static str, Box<dyn Buffer>>,
    oldest: Option<Instant>,
    next_number: u64,
    kept: BTreeMap<u64, Batch>,
    kept_bytes: usize,
}

impl Journal {
    /// Takes a row; returns a batch if that filled one.
    pub fn push<F: Frame>(&mut self, episode: i64, seq: u64, frame: F) -> Option<Batch> {
        self.oldest.get_or_insert_with(Instant::now);
        let buffer = self.waiting.entry(F::TOPIC).or_insert_with(|| Box::new(Rows::<F>::default()));
        buffer.push(Stamp { episode, seq, sent_ns: now_ns() }, Box::new(frame));
        (buffer.len() >= MAX_ROWS).then(|| self.take(F::TOPIC, episode)).flatten()
    }

    /// When waiting rows must be sent.
    pub fn due(&self) -> Option<Instant> {
        self.oldest.map(|oldest| oldest + MAX_AGE)
    }

    /// Everything that waits, as batches.
    pub fn drain(&mut self, episode: i64) -> Vec<Batch> {
        self.oldest = None;
        let topics: Vec<&'static str> = self.waiting.keys().copied().collect();
        topics.into_iter().filter_map(|topic| self.take(topic, episode)).collect()
    }

    /// Number of batches made so far.
    pub fn batches(&self) -> u64 {
        self.next_number
    }

    /// Forgets what is confirmed; returns what must be sent again.
    pub fn receipt(&mut self, through: u64, missing: &[u64]) -> Vec<Batch> {
        self.kept = self.kept.split_off(&through);
        self.kept_bytes = self.kept.values().map(|b| b.rows.get_array_memory_size()).sum();
        missing.iter().filter_map(|number| self.kept.get(number).cloned()).collect()
    }

    fn take(&mut self, topic: &'static str, episode: i64) -> Option<Batch> {
        let (version, rows) = self.waiting.get_mut(topic)?.take()?;
        let batch = Batch { number: self.next_number, topic, version, episode, rows };
        self.next_number += 1;
        self.kept_bytes += batch.rows.get_array_memory_size();
        self.kept.insert(batch.number, batch.clone());
        while self.kept_bytes > MAX_KEPT_BYTES && self.kept.len() > 1 {
            let Some((number, lost)) = self.kept.pop_first() else { break };
            self.kept_bytes -= lost.rows.get_array_memory_size();
            tracing::warn!(
                number,
                topic = lost.topic,
                "the recorder has not confirmed a batch; it can no longer be sent again"
            );
        }
        Some(batch)
    }
}

struct Stamp {
    episode: i64,
    seq: u64,
    sent_ns: u64,
}

trait Buffer: Send {
    fn push(&mut self, stamp: Stamp, frame: Box<dyn std::any::Any>);
    fn len(&self) -> usize;
    fn take(&mut self) -> Option<(u32, ArrayRef)>;
}

struct Rows<F> {
    stamps: Vec<Stamp>,
    frames: Vec<F>,
}

impl<F> Default for Rows<F> {
    fn default() -> Self {
        Rows { stamps: Vec::new(), frames: Vec::new() }
    }
}

impl<F: Frame> Buffer for Rows<F> {
    fn push(&mut self, stamp: Stamp, frame: Box<dyn std::any::Any>) {
        // The map's key is the frame's topic, so the type is always F.
        if let Ok(frame) = frame.downcast::<F>() {
            self.stamps.push(stamp);
            self.frames.push(*frame);
        }
    }

    fn len(&self) -> usize {
        self.frames.len()
    }

    fn take(&mut self) -> Option<(u32, ArrayRef)> {
        if self.frames.is_empty() {
            return None;
        }
        let stamps = std::mem::take(&mut self.stamps);
        let frames = encode(&std::mem::take(&mut self.frames));
        let frames = frames.as_struct();
        let mut fields = vec![
            Arc::new(Field::new("episode", DataType::Int64, false)),
            Arc::new(Field::new("seq", DataType::UInt64, false)),
            Arc::new(Field::new("sent_ns", DataType::UInt64, false)),
        ];
        fields.extend(frames.fields().iter().cloned());
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(stamps.iter().map(|s| s.episode).collect::<Int64Array>()),
            Arc::new(stamps.iter().map(|s| s.seq).collect::<UInt64Array>()),
            Arc::new(stamps.iter().map(|s| s.sent_ns).collect::<UInt64Array>()),
        ];
        columns.extend(frames.columns().iter().cloned());
        Some((F::VERSION, Arc::new(StructArray::new(fields.into(), columns, None))))
    }
}

fn now_ns() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use ruaflow_schemas::Cancel;

    use super::*;

    fn cancel(reason: &str) -> Cancel {
        Cancel { id: String::new(), reason: reason.to_owned() }
    }

    #[test]
    fn batches_are_numbered_and_kept_until_confirmed() {
        let mut journal = Journal::default();
        for seq in 0..MAX_ROWS as u64 - 1 {
            assert!(journal.push(0, seq, cancel("a")).is_none());
        }
        let full = journal.push(0, 63, cancel("a")).unwrap();
        assert_eq!((full.number, full.rows.len()), (0, MAX_ROWS));
        journal.push(0, 64, cancel("b"));
        let rest = journal.drain(0);
        assert_eq!(rest.len(), 1);
        assert_eq!((rest[0].number, rest[0].rows.len()), (1, 1));

        let again = journal.receipt(1, &[0, 1, 7]);
        assert_eq!(again.iter().map(|b| b.number).collect::<Vec<_>>(), [1]);
        assert!(journal.receipt(2, &[1]).is_empty());
        assert_eq!(journal.batches(), 2);
    }

    #[test]
    fn rows_carry_their_stamp() {
        let mut journal = Journal::default();
        journal.push(3, 17, cancel("x"));
        let batch = &journal.drain(3)[0];
        let names: Vec<&str> = batch.rows.as_struct().column_names();
        assert_eq!(names, ["episode", "seq", "sent_ns", "id", "reason"]);
    }
}
