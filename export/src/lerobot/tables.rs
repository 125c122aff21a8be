//! The Parquet files of a dataset.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Float64Array, Int64Array, ListArray,
    RecordBatch, StringArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

use super::columns::{Columns, DONE, SUCCESS, image};
use super::ledger::{Entry, Ledger, chunk_and_file};
use super::tree::Stage;
use crate::ExportError;

/// Episodes in a file of `meta/episodes/`, some 30 MB of statistics.
const EPISODES: usize = 10_000;

/// Whether a feature is a camera's.
pub(super) fn is_image(feature: &str) -> bool {
    feature.starts_with(&image(""))
}

/// The rows of an episode.
pub(super) fn episode(columns: &Columns, entry: &Entry) -> Result<RecordBatch, ExportError> {
    let mut table: Vec<(String, ArrayRef)> = Vec::new();
    for vector in &columns.vectors {
        let item = Arc::new(Field::new_list_field(DataType::Float32, true));
        let values = Arc::new(Float32Array::from(vector.values.clone()));
        let lists = FixedSizeListArray::new(item, vector.width as i32, values, None);
        table.push((vector.feature.to_owned(), Arc::new(lists)));
    }
    let mut add = |name: &str, array: ArrayRef| table.push((name.to_owned(), array));
    let whole = |values: &mut dyn Iterator<Item = u64>| -> ArrayRef {
        Arc::new(values.map(|value| value as i64).collect::<Int64Array>())
    };
    let rows = || 0..entry.rows;
    add(DONE, Arc::new(BooleanArray::from(columns.done().collect::<Vec<_>>())));
    add(SUCCESS, Arc::new(BooleanArray::from(columns.success.clone())));
    add("timestamp", Arc::new(Float32Array::from_iter_values(columns.timestamps())));
    add("frame_index", whole(&mut rows()));
    add("episode_index", whole(&mut rows().map(|_| entry.index)));
    add("index", whole(&mut rows().map(|row| entry.from + row)));
    add("task_index", whole(&mut rows().map(|_| entry.task as u64)));
    batch(table)
}

/// Writes batches, each as a row group of its own, and syncs nothing.
pub(super) fn write(
    path: &Path,
    batches: &[RecordBatch],
    metadata: Option<(&str, String)>,
) -> Result<(), ExportError> {
    let unwritten = |error: &dyn std::fmt::Display| ExportError::write(path, error);
    let Some(first) = batches.first() else { return Ok(()) };
    // Some readers look into the Arrow schema for it, some into the file's own metadata.
    let mut schema = first.schema().as_ref().clone();
    schema.metadata.extend(metadata.clone().map(|(key, value)| (key.to_owned(), value)));
    let metadata = metadata.map(|(key, value)| vec![KeyValue::new(key.to_owned(), value)]);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(metadata)
        .build();
    let file = File::create(path).map_err(|error| unwritten(&error))?;
    let mut writer = ArrowWriter::try_new(file, Arc::new(schema), Some(properties))
        .map_err(|error| unwritten(&error))?;
    for batch in batches {
        writer.write(batch).map_err(|error| unwritten(&error))?;
        writer.flush().map_err(|error| unwritten(&error))?;
    }
    writer.close().map_err(|error| unwritten(&error))?;
    Ok(())
}

/// Reads a file's row groups, each as one batch.
pub(super) fn read(path: &Path) -> Result<Vec<RecordBatch>, ExportError> {
    let unread = |error: &dyn std::fmt::Display| ExportError::content(path, error);
    let open = || {
        let file = File::open(path).map_err(|error| unread(&error))?;
        ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| unread(&error))
    };
    let mut batches = Vec::new();
    let groups = open()?.metadata().num_row_groups();
    for group in 0..groups {
        let reader = open()?.with_row_groups(vec![group]).with_batch_size(usize::MAX >> 1);
        for batch in reader.build().map_err(|error| unread(&error))? {
            batches.push(batch.map_err(|error| unread(&error))?);
        }
    }
    Ok(batches)
}

/// Writes the tasks. LeRobot finds a task's words by the index of the data frame, which
/// only pandas' own metadata tells; without it a task would be a number.
pub(super) fn write_tasks(path: &Path, tasks: &[String]) -> Result<(), ExportError> {
    let column = |name: Value, kind: &str, numpy: &str, metadata: Value| {
        json!({
            "name": name, "field_name": name, "pandas_type": kind, "numpy_type": numpy,
            "metadata": metadata,
        })
    };
    let pandas = json!({
        "index_columns": ["task"],
        "column_indexes": [column(Value::Null, "unicode", "object", json!({"encoding": "UTF-8"}))],
        "columns": [
            column("task_index".into(), "int64", "int64", Value::Null),
            column("task".into(), "unicode", "object", Value::Null),
        ],
        "creator": {"library": "ruaflow", "version": env!("CARGO_PKG_VERSION")},
        "pandas_version": "2.2.3",
    });
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..tasks.len() as i64));
    let words: ArrayRef = Arc::new(StringArray::from_iter_values(tasks));
    let table = batch(vec![("task_index".to_owned(), numbers), ("task".to_owned(), words)])?;
    write(path, &[table], Some(("pandas", pandas.to_string())))
}

/// Writes what each episode is and where its rows and pictures are.
pub(super) fn write_episodes(stage: &mut Stage, ledger: &Ledger) -> Result<(), ExportError> {
    for (file, entries) in ledger.episodes.chunks(EPISODES).enumerate() {
        let (chunk, file) = chunk_and_file(file as u64);
        let path = format!("meta/episodes/chunk-{chunk:03}/file-{file:03}.parquet");
        let table = episodes(ledger, entries, (chunk, file))?;
        write(&stage.create(&path)?, &[table], None)?;
    }
    Ok(())
}

fn episodes(
    ledger: &Ledger,
    entries: &[Entry],
    own_file: (u64, u64),
) -> Result<RecordBatch, ExportError> {
    let mut table: Vec<(String, ArrayRef)> = Vec::new();
    let whole = |value: &dyn Fn(&Entry) -> u64| -> ArrayRef {
        Arc::new(entries.iter().map(|entry| value(entry) as i64).collect::<Int64Array>())
    };
    let mut add = |name: &str, array: ArrayRef| table.push((name.to_owned(), array));
    add("episode_index", whole(&|entry| entry.index));
    let tasks = StringArray::from_iter_values(entries.iter().map(|e| &ledger.tasks[e.task]));
    add("tasks", lists(Arc::new(tasks), 1));
    add("length", whole(&|entry| entry.rows));
    add("data/chunk_index", whole(&|entry| chunk_and_file(entry.data).0));
    add("data/file_index", whole(&|entry| chunk_and_file(entry.data).1));
    add("dataset_from_index", whole(&|entry| entry.from));
    add("dataset_to_index", whole(&|entry| entry.from + entry.rows));
    let fps = f64::from(ledger.recipe.fps);
    let seconds = |pictures: &dyn Fn(&Entry) -> u64| -> ArrayRef {
        let seconds = entries.iter().map(|entry| pictures(entry) as f64 / fps);
        Arc::new(Float64Array::from_iter_values(seconds))
    };
    for camera in &ledger.recipe.cameras {
        let key = format!("videos/{}", image(camera));
        add(&format!("{key}/chunk_index"), whole(&|entry| chunk_and_file(entry.video).0));
        add(&format!("{key}/file_index"), whole(&|entry| chunk_and_file(entry.video).1));
        add(&format!("{key}/from_timestamp"), seconds(&|entry| entry.video_from));
        add(&format!("{key}/to_timestamp"), seconds(&|entry| entry.video_from + entry.rows));
    }
    let features = entries.first().map(|entry| entry.stats.keys()).into_iter().flatten();
    for feature in features {
        let stats = || entries.iter().filter_map(|entry| entry.stats.get(feature));
        let count = stats().map(|stats| stats.count as i64).collect::<Int64Array>();
        add(&format!("stats/{feature}/count"), lists(Arc::new(count), 1));
        let named: Vec<_> = stats().map(|stats| stats.named()).collect();
        let names = named.first().map_or(0, Vec::len);
        for at in 0..names {
            let (name, width) = (named[0][at].0, named[0][at].1.len());
            let values = named.iter().flat_map(|all| all[at].1.iter().copied());
            let mut values: ArrayRef = Arc::new(Float64Array::from_iter_values(values));
            if is_image(feature) {
                values = lists(lists(values, 1), 1);
            }
            add(&format!("stats/{feature}/{name}"), lists(values, width));
        }
    }
    add("meta/episodes/chunk_index", whole(&|_| own_file.0));
    add("meta/episodes/file_index", whole(&|_| own_file.1));
    batch(table)
}

/// The values in lists of one length.
fn lists(values: ArrayRef, length: usize) -> ArrayRef {
    let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    let lists = values.len() / length;
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(length, lists));
    Arc::new(ListArray::new(item, offsets, values, None))
}

fn batch(table: Vec<(String, ArrayRef)>) -> Result<RecordBatch, ExportError> {
    let nullable = table.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(nullable)
        .map_err(|error| ExportError::content(Path::new("the dataset's table"), error))
}
