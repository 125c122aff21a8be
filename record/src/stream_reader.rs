use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::{MessageHeader, root_as_message};

use crate::RecordError;

/// Longer message headers than this are not Arrow.
const MAX_HEADER: u64 = 16 << 20;
const PREFIX: u64 = 8;
/// Every message of a stream begins with it.
const MARK: [u8; 4] = [0xff; 4];

/// Reads a topic's stream batch by batch, also while it grows or after a kill.
pub(crate) struct StreamReader {
    path: PathBuf,
    file: File,
    decoder: StreamDecoder,
    /// End of the last whole message.
    offset: u64,
    tail: Tail,
    /// A decoder that has failed is of no further use.
    failed: bool,
}

/// What comes after the last whole batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Nothing; the file may still grow.
    Open,
    /// The end marker.
    Ended,
    /// Something that was never an Arrow stream.
    Foreign,
    /// Something that is not a whole batch: it is being written, was cut or damaged.
    Cut {
        /// Bytes after the last whole batch.
        bytes: u64,
        reason: String,
    },
}

enum Step {
    Message(Vec<u8>),
    Tail(Tail),
}

impl StreamReader {
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let file = File::open(path).map_err(|e| RecordError::read(path, e))?;
        Ok(Self::new(path, file))
    }

    pub fn new(path: &Path, file: File) -> Self {
        StreamReader {
            path: path.to_owned(),
            file,
            decoder: StreamDecoder::new(),
            offset: 0,
            tail: Tail::Open,
            failed: false,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's schema, once its first message has been read.
    pub fn schema(&self) -> Option<SchemaRef> {
        self.decoder.schema()
    }

    /// The next whole batch. `None` when there is none yet; [`StreamReader::tail`]
    /// says why, and a later call finds what has been added since.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, RecordError> {
        while !self.failed {
            let message = match self.step().map_err(|e| RecordError::read(&self.path, e))? {
                Step::Message(message) => message,
                Step::Tail(tail) => {
                    self.tail = tail;
                    return Ok(None);
                }
            };
            let bytes = message.len() as u64;
            match self.decode(message) {
                Ok(batch) => {
                    self.offset += bytes;
                    if batch.is_some() {
                        return Ok(batch);
                    }
                }
                Err(reason) => {
                    self.tail = Tail::Cut { bytes: self.rest()?, reason };
                    self.failed = true;
                }
            }
        }
        Ok(None)
    }

    /// What came after the last whole batch when `next_batch` last gave `None`.
    pub fn tail(&self) -> &Tail {
        &self.tail
    }

    /// Where the last whole batch ends, bytes from the file's start.
    pub fn whole_bytes(&self) -> u64 {
        self.offset
    }

    fn decode(&mut self, message: Vec<u8>) -> Result<Option<RecordBatch>, String> {
        let decoder = &mut self.decoder;
        // arrow panics at some damaged messages; the decoder is given up after a failure.
        let decoded = catch_unwind(AssertUnwindSafe(|| decoder.decode(&mut Buffer::from(message))));
        match decoded {
            Ok(batch) => batch.map_err(|error| error.to_string()),
            Err(_) => Err("a damaged message".to_owned()),
        }
    }

    fn rest(&self) -> Result<u64, RecordError> {
        let length = self.file.metadata().map_err(|e| RecordError::read(&self.path, e))?.len();
        Ok(length.saturating_sub(self.offset))
    }

    fn step(&self) -> std::io::Result<Step> {
        if matches!(self.tail, Tail::Ended) {
            return Ok(Step::Tail(Tail::Ended));
        }
        let rest = self.file.metadata()?.len().saturating_sub(self.offset);
        let cut =
            |reason: &str| Ok(Step::Tail(Tail::Cut { bytes: rest, reason: reason.to_owned() }));
        if rest == 0 {
            return Ok(Step::Tail(Tail::Open));
        }
        let mut prefix = [0; PREFIX as usize];
        let there = prefix.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        self.file.read_exact_at(&mut prefix[..there], self.offset)?;
        let (mark, length) = prefix.split_at(MARK.len());
        let begun = &mark[..there.min(MARK.len())];
        // A power cut may leave zeros.
        if self.offset == 0 && !MARK.starts_with(begun) && begun.iter().any(|byte| *byte != 0) {
            return Ok(Step::Tail(Tail::Foreign));
        }
        if rest < PREFIX {
            return cut("a batch is not whole");
        }
        let header = u64::from(u32::from_le_bytes([length[0], length[1], length[2], length[3]]));
        if mark != MARK || header > MAX_HEADER {
            return cut("no Arrow message starts here");
        }
        if header == 0 {
            return Ok(Step::Tail(Tail::Ended));
        }
        if PREFIX + header > rest {
            return cut("a batch is not whole");
        }
        let mut bytes = vec![0; (PREFIX + header) as usize];
        self.file.read_exact_at(&mut bytes, self.offset)?;
        let body = match body_length(&bytes[PREFIX as usize..]) {
            Ok(body) => body,
            Err(reason) => return cut(&reason),
        };
        if PREFIX + header + body > rest {
            return cut("a batch is not whole");
        }
        bytes.resize(bytes.len() + body as usize, 0);
        self.file.read_exact_at(
            &mut bytes[(PREFIX + header) as usize..],
            self.offset + PREFIX + header,
        )?;
        Ok(Step::Message(bytes))
    }
}

/// Length of the body that follows a message's header; an error if the header
/// points outside of it, which the decoder would not survive.
fn body_length(header: &[u8]) -> Result<u64, String> {
    let message = root_as_message(header).map_err(|e| format!("no Arrow message: {e}"))?;
    let body = message.bodyLength();
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => {
            message.header_as_dictionary_batch().and_then(|d| d.data())
        }
        _ => None,
    };
    let buffers = batch.and_then(|b| b.buffers());
    let inside = buffers.is_none_or(|buffers| {
        buffers.iter().all(|b| {
            b.offset() >= 0
                && b.length() >= 0
                && b.offset().checked_add(b.length()).is_some_and(|end| end <= body)
        })
    });
    if body < 0 || !inside {
        return Err("a message points outside of itself".to_owned());
    }
    Ok(body as u64)
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::Cancel;

    use super::*;
    use crate::{TopicWriter, frame_rows, stamped_batch};

    fn batch(n: u64) -> RecordBatch {
        stamped_batch(0, n, 0, &[Cancel { id: n.to_string(), reason: "because".into() }])
    }

    fn ids(reader: &mut StreamReader) -> Vec<String> {
        let mut ids = Vec::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            ids.extend(frame_rows::<Cancel>(&batch).unwrap().iter().map(|row| row.id().to_owned()));
        }
        ids
    }

    #[test]
    fn a_growing_file_is_read_as_it_grows() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("cancel.arrows");
        let mut writer = TopicWriter::create(&path, batch(0).schema()).unwrap();
        let mut reader = StreamReader::open(&path).unwrap();
        assert!(ids(&mut reader).is_empty());
        assert_eq!(reader.tail(), &Tail::Open);
        writer.append(&batch(0)).unwrap();
        assert_eq!(ids(&mut reader), ["0"]);
        writer.append(&batch(1)).unwrap();
        writer.append(&batch(2)).unwrap();
        assert_eq!(ids(&mut reader), ["1", "2"]);
        assert_eq!(reader.tail(), &Tail::Open);
        writer.finish().unwrap();
        assert!(ids(&mut reader).is_empty());
        assert_eq!(reader.tail(), &Tail::Ended);
    }

    #[test]
    fn a_file_cut_anywhere_gives_its_whole_batches_and_says_what_is_lost() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("cancel.arrows");
        let mut writer = TopicWriter::create(&path, batch(0).schema()).unwrap();
        let mut ends = Vec::new();
        for n in 0..3 {
            writer.append(&batch(n)).unwrap();
            ends.push(writer.bytes());
        }
        let bytes = std::fs::read(&path).unwrap();
        for cut in 0..bytes.len() {
            let part = tmp.path().join("part");
            std::fs::write(&part, &bytes[..cut]).unwrap();
            let mut reader = StreamReader::open(&part).unwrap();
            let whole = ends.iter().filter(|end| **end <= cut as u64).count();
            assert_eq!(ids(&mut reader).len(), whole, "cut at {cut}");
            match reader.tail() {
                Tail::Open => assert_eq!(reader.whole_bytes(), cut as u64),
                Tail::Cut { bytes, .. } => assert_eq!(reader.whole_bytes() + bytes, cut as u64),
                other => panic!("cut at {cut}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_damaged_byte_never_panics_and_keeps_the_batches_before_it() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("cancel.arrows");
        let mut writer = TopicWriter::create(&path, batch(0).schema()).unwrap();
        writer.append(&batch(0)).unwrap();
        let first = writer.bytes() as usize;
        writer.append(&batch(1)).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for at in first..bytes.len() {
            for mask in [0x01, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= mask;
                let part = tmp.path().join("part");
                std::fs::write(&part, &damaged).unwrap();
                let mut reader = StreamReader::open(&part).unwrap();
                let mut batches = 0;
                while reader.next_batch().unwrap().is_some() {
                    batches += 1;
                }
                assert!(batches >= 1, "byte {at}");
            }
        }
    }

    #[test]
    fn zeros_after_a_power_cut_are_a_cut() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("cancel.arrows");
        let mut writer = TopicWriter::create(&path, batch(0).schema()).unwrap();
        writer.append(&batch(0)).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend([0; 100]);
        std::fs::write(&path, bytes).unwrap();
        let mut reader = StreamReader::open(&path).unwrap();
        assert_eq!(ids(&mut reader), ["0"]);
        assert!(matches!(reader.tail(), Tail::Cut { bytes: 100, .. }));
    }

    #[test]
    fn what_was_never_a_stream_is_told_from_one_that_was_cut() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("cancel.arrows");
        for (bytes, foreign) in [
            (b"ARROW1\0\0 another format of Arrow".as_slice(), true),
            (b"x", true),
            (&[0; 12], false),
            (&[0xff; 3], false),
            (b"", false),
        ] {
            std::fs::write(&path, bytes).unwrap();
            let mut reader = StreamReader::open(&path).unwrap();
            assert!(reader.next_batch().unwrap().is_none());
            assert_eq!(reader.tail() == &Tail::Foreign, foreign, "{bytes:?}");
        }
    }
}
