use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::MetadataVersion;
use arrow::ipc::writer::{IpcWriteOptions, StreamEncoder};

use crate::RecordError;
use crate::atomic::sync_folder_of;

/// Writes one topic's rows as an Arrow IPC stream.
///
/// Each batch reaches the operating system in one piece before `append` comes
/// back, so a reader sees it at once and a kill of the process loses nothing
/// that was appended. A batch that does not fit on the disk is taken back, so
/// that the file stays readable.
pub struct TopicWriter {
    path: PathBuf,
    file: File,
    schema: SchemaRef,
    encoder: StreamEncoder,
    /// End of the last whole batch.
    end: u64,
    synced: u64,
    scratch: Vec<u8>,
}

impl TopicWriter {
    /// Makes the file, which must not exist; it is empty until the first `append`.
    pub fn create(path: &Path, schema: SchemaRef) -> Result<Self, RecordError> {
        let encoder = encode_error(path, write_options()).and_then(|options| {
            encode_error(path, StreamEncoder::try_new_with_options(&schema, options))
        })?;
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|e| RecordError::write(path, e))?;
        Ok(TopicWriter {
            path: path.to_owned(),
            file,
            schema,
            encoder,
            end: 0,
            synced: 0,
            scratch: Vec::new(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Bytes written.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    /// Adds rows of the file's schema.
    ///
    /// # Errors
    /// [`RecordError::DiskFull`] among others; the batch is then not in the
    /// file, and the writer is of no further use.
    pub fn append(&mut self, batch: &RecordBatch) -> Result<(), RecordError> {
        if batch.schema().fields() != self.schema.fields() {
            let other =
                ArrowError::SchemaError("the rows have another schema than the file".to_owned());
            return encode_error(&self.path, Err(other));
        }
        let buffers = encode_error(&self.path, self.encoder.encode(batch))?;
        self.scratch.clear();
        for buffer in &buffers {
            self.scratch.extend_from_slice(buffer);
        }
        self.write_scratch()
    }

    /// Waits until all rows are on the disk.
    pub fn sync(&mut self) -> Result<(), RecordError> {
        if self.synced == self.end {
            return Ok(());
        }
        self.file
            .sync_data()
            .and_then(|()| if self.synced == 0 { sync_folder_of(&self.path) } else { Ok(()) })
            .map_err(|e| RecordError::write(&self.path, e))?;
        self.synced = self.end;
        Ok(())
    }

    /// Writes the end marker and waits until all is on the disk.
    pub fn finish(mut self) -> Result<(), RecordError> {
        self.scratch.clear();
        self.scratch.extend_from_slice(&END_MARKER);
        self.write_scratch()?;
        self.sync()
    }

    fn write_scratch(&mut self) -> Result<(), RecordError> {
        if let Err(error) = self.file.write_all_at(&self.scratch, self.end) {
            // Taking back works on a full disk too; if it fails, a reader still finds the whole batches.
            let _ = self.file.set_len(self.end);
            return Err(RecordError::write(&self.path, error));
        }
        self.end += self.scratch.len() as u64;
        Ok(())
    }
}

/// An Arrow stream ends with a continuation mark and length 0.
pub(crate) const END_MARKER: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Small batches dominate, so buffers are padded to 8 bytes instead of 64.
fn write_options() -> Result<IpcWriteOptions, ArrowError> {
    IpcWriteOptions::try_new(8, false, MetadataVersion::V5)
}

fn encode_error<T>(path: &Path, result: Result<T, ArrowError>) -> Result<T, RecordError> {
    result.map_err(|source| RecordError::Encode { path: path.to_owned(), source })
}
