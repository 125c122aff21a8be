use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array as _, ArrayRef, AsArray as _, Int64Array, RecordBatch, StructArray, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Schema};
use ruaflow_schemas::{Frame, Rows, SchemaError, Stamp, encode};

use crate::{RecordError, TopicReader};

/// Columns that stand before a frame's own: the episode (-1 outside one), the
/// count of frames the node has sent on the topic, and Unix time in nanoseconds.
pub const STAMP_COLUMNS: [&str; 3] = ["episode", "seq", "sent_ns"];

/// The frames of a recorded batch, read in place.
///
/// # Errors
/// When the batch is of another topic, a version that this build does not know,
/// or of another shape.
pub fn frame_rows<F: Frame>(batch: &RecordBatch) -> Result<Rows<F>, SchemaError> {
    let schema = batch.schema();
    let meta = |key: &'static str| schema.metadata().get(key).ok_or(SchemaError::Stamp { key });
    let version = meta(Stamp::SCHEMA_VERSION)?
        .parse()
        .map_err(|_| SchemaError::Stamp { key: Stamp::SCHEMA_VERSION })?;
    let (fields, columns): (Vec<_>, Vec<_>) = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .skip(STAMP_COLUMNS.len())
        .map(|(field, column)| (field.clone(), column.clone()))
        .unzip();
    let array: ArrayRef = if fields.is_empty() {
        Arc::new(StructArray::new_empty_fields(batch.num_rows(), None))
    } else {
        Arc::new(StructArray::new(fields.into(), columns, None))
    };
    Rows::read(meta(Stamp::SCHEMA)?, version, array)
}

/// All whole rows of a topic's file, also of one that still grows or was cut.
pub fn read_rows<F: Frame>(path: &Path) -> Result<Vec<F>, RecordError> {
    let mut reader = TopicReader::open(path)?;
    let mut rows = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        let frames = frame_rows::<F>(&batch).map_err(|e| RecordError::content(path, e))?;
        rows.extend(frames.iter().map(F::to_owned));
    }
    Ok(rows)
}

/// A batch of frames with their stamps, as nodes send it to the recorder.
pub fn stamped_batch<F: Frame>(
    episode: i64,
    first_seq: u64,
    sent_ns: u64,
    frames: &[F],
) -> RecordBatch {
    let array = encode(frames);
    let frame = array.as_struct();
    let mut fields: Vec<Arc<Field>> = [DataType::Int64, DataType::UInt64, DataType::UInt64]
        .into_iter()
        .zip(STAMP_COLUMNS)
        .map(|(data_type, name)| Arc::new(Field::new(name, data_type, false)))
        .collect();
    fields.extend(frame.fields().iter().cloned());
    let rows = frames.len();
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![episode; rows])),
        Arc::new(UInt64Array::from_iter_values((first_seq..).take(rows))),
        Arc::new(UInt64Array::from(vec![sent_ns; rows])),
    ];
    columns.extend(frame.columns().iter().cloned());
    let array = StructArray::new(fields.into(), columns, None);
    let metadata = HashMap::from([
        (Stamp::SCHEMA.to_owned(), F::TOPIC.to_owned()),
        (Stamp::SCHEMA_VERSION.to_owned(), F::VERSION.to_string()),
    ]);
    let (fields, columns, _) = array.into_parts();
    debug_assert!(columns.iter().all(|c| c.len() == rows));
    match RecordBatch::try_new(Arc::new(Schema::new_with_metadata(fields, metadata)), columns) {
        Ok(batch) => batch,
        Err(error) => unreachable!("columns made here fit their fields: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::{Cancel, Event};

    use super::*;

    #[test]
    fn frames_come_back_out_of_a_recorded_batch() {
        let frames = [
            Cancel { id: "a".into(), reason: "x".into() },
            Cancel { id: "b".into(), reason: "y".into() },
        ];
        let batch = stamped_batch(2, 7, 1, &frames);
        assert_eq!(
            batch.column(1).as_primitive::<arrow::datatypes::UInt64Type>().values(),
            &[7, 8]
        );
        assert_eq!(frame_rows::<Cancel>(&batch).unwrap().to_vec(), frames);
        assert!(matches!(frame_rows::<Event>(&batch), Err(SchemaError::Topic { .. })));
    }
}
