use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::RecordError;

/// Follows a file of JSON lines that is still being written.
pub struct LineReader<T> {
    path: PathBuf,
    offset: u64,
    of: PhantomData<T>,
}

impl<T: DeserializeOwned> LineReader<T> {
    pub fn new(path: &Path) -> Self {
        LineReader { path: path.to_owned(), offset: 0, of: PhantomData }
    }

    /// Lines added since the last call; none when the file isn't there yet.
    ///
    /// A line that is not whole yet waits for the next call; one that this
    /// version does not understand is left out.
    pub fn poll(&mut self) -> Result<Vec<T>, RecordError> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(RecordError::read(&self.path, error)),
        };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.offset))
            .and_then(|_| file.read_to_end(&mut bytes))
            .map_err(|e| RecordError::read(&self.path, e))?;
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        self.offset += whole as u64;
        Ok(bytes[..whole]
            .split(|b| *b == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect())
    }
}
