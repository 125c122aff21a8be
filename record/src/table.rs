use std::fs::{self, File};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use ruaflow_schemas::Stamp;

use crate::RecordError;
use crate::atomic::{sync_folder_of, temporary_name};
use crate::run_dir::TABLE;
use crate::stream_reader::{StreamReader, Tail};

/// A row group is written when it has grown to this, compressed.
const ROW_GROUP_BYTES: usize = 32 << 20;
/// Rows are read in batches of about this size.
const BATCH_BYTES: u64 = 4 << 20;
const MAX_BATCH_ROWS: u64 = 8192;

/// Makes a topic's finished stream into a Parquet table beside it, and removes the
/// stream. At every moment one of the two is whole and on the disk.
///
/// # Errors
/// When the stream has no end marker, or the disk is full; the stream then stays.
pub fn compact(stream: &Path) -> Result<(), RecordError> {
    let table = stream.with_extension(TABLE);
    let temporary = temporary_name(&table);
    let made = write_table(stream, &temporary, &table).and_then(|()| {
        fs::rename(&temporary, &table)
            .and_then(|()| sync_folder_of(&table))
            .map_err(|e| RecordError::write(&table, e))
    });
    if made.is_err() {
        // It may not have come into being; the error that counts is the first.
        let _ = fs::remove_file(&temporary);
        return made;
    }
    fs::remove_file(stream).map_err(|e| RecordError::write(stream, e))
}

fn write_table(stream: &Path, temporary: &Path, table: &Path) -> Result<(), RecordError> {
    let mut reader = StreamReader::open(stream)?;
    let first = reader.next_batch()?;
    let (Some(first), Some(schema)) = (first, reader.schema()) else {
        return Err(RecordError::content(stream, "it holds no rows"));
    };
    let fail = |error| write_error(table, error);
    let file = File::create(temporary).map_err(|e| RecordError::write(table, e))?;
    let durable = file.try_clone().map_err(|e| RecordError::write(table, e))?;
    let properties = properties(&schema);
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).map_err(fail)?;
    let mut rows = 0;
    let mut next = Some(first);
    while let Some(batch) = next {
        writer.write(&batch).map_err(fail)?;
        rows += batch.num_rows();
        next = reader.next_batch()?;
    }
    if *reader.tail() != Tail::Ended {
        return Err(RecordError::content(stream, "it has not ended; `rua repair` ends it"));
    }
    let written = writer.close().map_err(fail)?.file_metadata().num_rows();
    if usize::try_from(written) != Ok(rows) {
        let reason = format!("{written} of {rows} rows were written");
        return Err(RecordError::content(table, reason));
    }
    durable.sync_all().map_err(|e| RecordError::write(table, e))
}

/// Files are small and zstd finds what repeats, so dictionaries would only add to them.
fn properties(schema: &Schema) -> WriterProperties {
    let named = [Stamp::SCHEMA, Stamp::SCHEMA_VERSION];
    let named = named.map(|key| KeyValue::new(key.to_owned(), schema.metadata().get(key).cloned()));
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
        .set_key_value_metadata(Some(named.to_vec()))
        .build()
}

fn write_error(path: &Path, error: ParquetError) -> RecordError {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => RecordError::write(path, *source),
            Err(source) => RecordError::content(path, source),
        },
        other => RecordError::content(path, other),
    }
}

/// Reads a topic's table batch by batch.
pub(crate) struct TableReader {
    path: PathBuf,
    schema: SchemaRef,
    batches: ParquetRecordBatchReader,
}

impl TableReader {
    pub fn new(path: &Path, file: File) -> Result<Self, RecordError> {
        let opened = guarded(|| {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
            let schema = builder.schema().clone();
            let rows = batch_rows(builder.metadata());
            Ok::<_, ParquetError>((schema, builder.with_batch_size(rows).build()?))
        });
        let (schema, batches) = opened.map_err(|reason| RecordError::content(path, reason))?;
        Ok(TableReader { path: path.to_owned(), schema, batches })
    }

    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, RecordError> {
        let batches = &mut self.batches;
        let schema = &self.schema;
        let read = guarded(|| {
            // The reader leaves the schema's metadata out, which names the topic.
            let batch = batches.next().transpose()?;
            batch.map(|b| RecordBatch::try_new(schema.clone(), b.columns().to_vec())).transpose()
        });
        read.map_err(|reason| RecordError::content(&self.path, reason))
    }
}

/// Damaged files make the library panic in places.
fn guarded<T, E: ToString>(read: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(read) => read.map_err(|error| error.to_string()),
        Err(_) => Err("it is damaged".to_owned()),
    }
}

fn batch_rows(metadata: &ParquetMetaData) -> usize {
    let rows = metadata.file_metadata().num_rows().max(1).unsigned_abs();
    let bytes: u64 =
        metadata.row_groups().iter().map(|group| group.total_byte_size().unsigned_abs()).sum();
    let row = (bytes / rows).max(1);
    usize::try_from((BATCH_BYTES / row).clamp(1, MAX_BATCH_ROWS)).unwrap_or(1)
}
