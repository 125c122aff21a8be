use std::fs::File;
use std::io;
use std::path::Path;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use crate::RecordError;
use crate::run_dir::TABLE;
use crate::stream_reader::{StreamReader, Tail};
use crate::table::TableReader;

/// Reads a topic's rows batch by batch: from its stream, also while that grows or
/// after a kill, or from the table that the stream has become.
pub struct TopicReader(Source);

enum Source {
    Stream(Box<StreamReader>),
    Table(Box<TableReader>),
}

impl TopicReader {
    /// Opens a topic's file, as [`crate::RunDir::topic_path`] names it. A stream that
    /// was compacted since then is read from its table.
    ///
    /// # Errors
    /// When the file can't be read, or is a table that is not whole.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let is_table = path.extension().is_some_and(|kind| kind == TABLE);
        let source = match File::open(path) {
            Ok(file) if is_table => Source::Table(Box::new(TableReader::new(path, file)?)),
            Ok(file) => Source::Stream(Box::new(StreamReader::new(path, file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_table => {
                let table = path.with_extension(TABLE);
                match File::open(&table) {
                    Ok(file) => Source::Table(Box::new(TableReader::new(&table, file)?)),
                    Err(_) => return Err(RecordError::read(path, error)),
                }
            }
            Err(error) => return Err(RecordError::read(path, error)),
        };
        Ok(TopicReader(source))
    }

    /// The rows' schema; that of a stream is known once its first message has been read.
    pub fn schema(&self) -> Option<SchemaRef> {
        match &self.0 {
            Source::Stream(stream) => stream.schema(),
            Source::Table(table) => Some(table.schema()),
        }
    }

    /// The next whole batch; `None` when there is none yet. A later call finds what a
    /// stream has gained since.
    ///
    /// # Errors
    /// When the file can't be read, or is no stream at all. A stream that was cut
    /// ends with its last whole batch.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, RecordError> {
        match &mut self.0 {
            Source::Table(table) => table.next_batch(),
            Source::Stream(stream) => {
                let batch = stream.next_batch()?;
                if batch.is_none() && *stream.tail() == Tail::Foreign {
                    return Err(RecordError::content(stream.path(), "it is no Arrow stream"));
                }
                Ok(batch)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::Cancel;

    use super::*;
    use crate::{TopicWriter, compact, read_rows, stamped_batch};

    fn stream(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("cancel.arrows");
        let batch = stamped_batch(0, 0, 0, &[Cancel::default()]);
        let mut writer = TopicWriter::create(&path, batch.schema()).unwrap();
        writer.append(&batch).unwrap();
        writer.finish().unwrap();
        path
    }

    #[test]
    fn a_reader_that_comes_late_finds_the_table() {
        let tmp = tempfile::tempdir().unwrap();
        let path = stream(tmp.path());
        let mut early = TopicReader::open(&path).unwrap();
        compact(&path).unwrap();
        assert!(!path.exists());
        assert!(early.next_batch().unwrap().is_some(), "what is open stays readable");
        assert_eq!(read_rows::<Cancel>(&path).unwrap().len(), 1);
        let missing = read_rows::<Cancel>(&tmp.path().join("none.arrows")).unwrap_err();
        assert!(missing.to_string().contains("none.arrows"), "{missing}");
    }

    #[test]
    fn a_table_cut_or_changed_anywhere_is_an_error_and_never_a_panic() {
        let tmp = tempfile::tempdir().unwrap();
        let path = stream(tmp.path());
        compact(&path).unwrap();
        let bytes = std::fs::read(path.with_extension("parquet")).unwrap();
        let part = tmp.path().join("part.parquet");
        for cut in 0..bytes.len() {
            std::fs::write(&part, &bytes[..cut]).unwrap();
            let error = read_rows::<Cancel>(&part).unwrap_err().to_string();
            assert!(error.contains("part.parquet"), "{error}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            std::fs::write(&part, &damaged).unwrap();
            // Some bytes, such as those of a statistic, matter to nobody.
            let _ = read_rows::<Cancel>(&part);
        }
    }

    #[test]
    fn a_file_of_somebody_else_is_named() {
        let tmp = tempfile::tempdir().unwrap();
        for name in ["cancel.arrows", "cancel.parquet"] {
            let path = tmp.path().join(name);
            std::fs::write(&path, "no rows at all").unwrap();
            let error = read_rows::<Cancel>(&path).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("can't be understood"), "{error}");
        }
    }
}
