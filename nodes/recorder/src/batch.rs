use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray as _, RecordBatch};
use arrow::datatypes::{DataType, Int64Type, Schema};
use ruaflow_record::STAMP_COLUMNS;
use ruaflow_schemas::Stamp;

/// Larger batches than this are refused; nodes send 64 rows at once.
const MAX_BYTES: usize = 32 << 20;
const MAX_NAME: usize = 64;

/// A batch as it came from a node.
#[derive(Clone)]
pub(crate) struct Incoming {
    /// Topic of its rows; what the sender says.
    pub topic: String,
    pub version: u32,
    pub array: ArrayRef,
}

/// Rows of one topic and one episode.
pub(crate) struct TopicRows {
    pub topic: String,
    /// `None` for rows outside an episode.
    pub episode: Option<u32>,
    pub rows: RecordBatch,
}

/// Why a batch is not written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("{0:?} is not the name of a topic")]
    Topic(String),
    #[error("topic {topic:?}: a batch of {bytes} bytes is too large, {MAX_BYTES} are allowed")]
    Size { topic: String, bytes: usize },
    #[error(
        "topic {topic:?}: expected rows with the columns episode, seq, sent_ns first, got {found}"
    )]
    Columns { topic: String, found: String },
    #[error("topic {0:?}: a batch with empty rows")]
    EmptyRows(String),
}

impl Incoming {
    /// Bytes of the rows themselves, also when they are part of a larger message.
    pub fn bytes(&self) -> usize {
        self.array.to_data().get_slice_memory_size().unwrap_or(usize::MAX)
    }

    /// Checks what a node sent and splits it by episode: a batch may span the
    /// moment when one begins.
    pub fn check(&self) -> Result<Vec<TopicRows>, Refusal> {
        if !is_topic_name(&self.topic) {
            return Err(Refusal::Topic(self.topic.chars().take(MAX_NAME).collect()));
        }
        let topic = || self.topic.clone();
        let bytes = self.bytes();
        if bytes > MAX_BYTES {
            return Err(Refusal::Size { topic: topic(), bytes });
        }
        let Some(array) = self.array.as_struct_opt() else {
            return Err(Refusal::Columns {
                topic: topic(),
                found: self.array.data_type().to_string(),
            });
        };
        let types = [DataType::Int64, DataType::UInt64, DataType::UInt64];
        let stamped = array.fields().len() >= STAMP_COLUMNS.len()
            && array.fields().iter().zip(STAMP_COLUMNS.iter().zip(&types)).all(
                |(field, (name, data_type))| field.name() == name && field.data_type() == data_type,
            );
        if !stamped {
            let found: Vec<&str> =
                array.fields().iter().take(4).map(|f| f.name().as_str()).collect();
            return Err(Refusal::Columns { topic: topic(), found: format!("{found:?}") });
        }
        if array.null_count() > 0
            || array.columns()[..STAMP_COLUMNS.len()].iter().any(|c| c.null_count() > 0)
        {
            return Err(Refusal::EmptyRows(topic()));
        }
        let metadata = HashMap::from([
            (Stamp::SCHEMA.to_owned(), topic()),
            (Stamp::SCHEMA_VERSION.to_owned(), self.version.to_string()),
        ]);
        let schema = Arc::new(Schema::new_with_metadata(array.fields().clone(), metadata));
        let rows = RecordBatch::try_new(schema, array.columns().to_vec())
            .map_err(|e| Refusal::Columns { topic: topic(), found: e.to_string() })?;
        let episodes = array.column(0).as_primitive::<Int64Type>().values();
        Ok(runs(episodes)
            .into_iter()
            .map(|(episode, range)| TopicRows {
                topic: topic(),
                episode: u32::try_from(episode).ok(),
                rows: rows.slice(range.start, range.len()),
            })
            .collect())
    }
}

/// A topic's name becomes a file's name, so only what a frame may be called passes.
fn is_topic_name(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Stretches of equal values.
fn runs(values: &[i64]) -> Vec<(i64, Range<usize>)> {
    let mut runs: Vec<(i64, Range<usize>)> = Vec::new();
    for (row, &value) in values.iter().enumerate() {
        match runs.last_mut() {
            Some((last, range)) if *last == value => range.end = row + 1,
            _ => runs.push((value, row..row + 1)),
        }
    }
    runs
}

#[cfg(test)]
pub(crate) mod tests {
    use arrow::array::{Int64Array, StructArray, UInt64Array};
    use ruaflow_record::{frame_rows, stamped_batch};
    use ruaflow_schemas::{Cancel, Frame};

    use super::*;

    pub(crate) fn incoming<F: Frame>(episode: i64, frames: &[F]) -> Incoming {
        let rows = stamped_batch(episode, 0, 0, frames);
        Incoming {
            topic: F::TOPIC.to_owned(),
            version: F::VERSION,
            array: Arc::new(StructArray::from(rows)),
        }
    }

    fn cancel(id: &str) -> Cancel {
        Cancel { id: id.into(), reason: String::new() }
    }

    #[test]
    fn rows_pass_with_their_schema_named() {
        let rows = incoming(3, &[cancel("a"), cancel("b")]).check().unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].episode, Some(3));
        assert_eq!(frame_rows::<Cancel>(&rows[0].rows).unwrap().len(), 2);
    }

    #[test]
    fn a_batch_over_the_start_of_an_episode_is_split() {
        assert_eq!(runs(&[-1, -1, 0, 0, 0, 1]), [(-1, 0..2), (0, 2..5), (1, 5..6)]);
        assert!(runs(&[]).is_empty());
        assert_eq!(incoming(-1, &[cancel("a")]).check().unwrap()[0].episode, None);
    }

    #[test]
    fn names_that_would_leave_the_folder_are_refused() {
        for name in
            ["../x", "/etc/passwd", "a/b", "", ".", "a b", "State", "a\0", "über", &"x".repeat(65)]
        {
            let batch = Incoming { topic: name.to_owned(), ..incoming(0, &[cancel("a")]) };
            assert!(matches!(batch.check(), Err(Refusal::Topic(_))), "{name:?}");
        }
    }

    #[test]
    fn what_is_not_a_batch_of_rows_is_refused() {
        let numbers =
            Incoming { topic: "x".into(), version: 1, array: Arc::new(Int64Array::from(vec![1])) };
        assert!(matches!(numbers.check(), Err(Refusal::Columns { .. })));
        let frames = ruaflow_schemas::encode(&[cancel("a")]);
        let bare = Incoming { topic: "cancel".into(), version: 1, array: frames };
        assert!(matches!(bare.check(), Err(Refusal::Columns { .. })));

        let fields = ["episode", "seq", "sent_ns"].map(|name| {
            Arc::new(arrow::datatypes::Field::new(
                name,
                if name == "episode" { DataType::Int64 } else { DataType::UInt64 },
                true,
            ))
        });
        let number = || Arc::new(UInt64Array::from(vec![Some(1)])) as ArrayRef;
        let columns = vec![Arc::new(Int64Array::from(vec![None])) as ArrayRef, number(), number()];
        let array = Arc::new(StructArray::new(fields.into_iter().collect(), columns, None));
        let holes = Incoming { topic: "x".into(), version: 1, array };
        assert_eq!(holes.check().err(), Some(Refusal::EmptyRows("x".into())));
    }

    #[test]
    fn an_absurdly_large_batch_is_refused() {
        let frame = Cancel { id: "x".repeat(MAX_BYTES), reason: String::new() };
        assert!(matches!(incoming(0, &[frame]).check(), Err(Refusal::Size { .. })));
    }
}
