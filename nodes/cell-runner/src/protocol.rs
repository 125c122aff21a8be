//! What the node and its child process say to each other, over one socket.
//!
//! A message is two little-endian `u32` lengths, as much JSON, and as many raw
//! bytes. Raw bytes go from the child to the node only; arrays for a cell go as
//! a [sealed memory file](crate::memory) beside an [`Answer::Arrays`].

use std::io::{self, Read, Write};

use ruaflow_robots::Primitives;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::sandbox::Layer;

/// What the node accepts from a child. A child only sends text that is already
/// clipped; more means that it is not itself any more. The raw bytes hold a
/// picture of 2048 times 2048 RGBA pixels.
pub const FROM_CHILD: Limits = Limits { json: 1 << 20, bytes: 1 << 24 };

/// What a child accepts from its node.
pub const TO_CHILD: Limits = Limits { json: 1 << 24, bytes: 0 };

/// Longest parts of a message, bytes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub json: usize,
    pub bytes: usize,
}

/// The two lengths before a message.
const HEADER_BYTES: usize = 8;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToChild {
    /// Once, before the first cell: the name of the robot's API, and which of its
    /// methods there are.
    Init {
        robot: String,
        primitives: Primitives,
    },
    Run(Run),
    Reply {
        id: u64,
        answer: Answer,
    },
    /// Raises `KeyboardInterrupt` with this text if cell `index` still runs.
    Interrupt {
        index: u32,
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub index: u32,
    /// Name in tracebacks, `<cell 3>`.
    pub filename: String,
    pub code: String,
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The fields of the method's record, or the attribute's value.
    Value(Value),
    /// The same with arrays in it, which lie in the memory file that comes with
    /// the message. One array without a name is the answer itself; others are
    /// fields beside those of `value`, or within it (`others.0.mask`).
    Arrays { value: Value, arrays: Vec<ArrayInfo> },
    Refused {
        kind: Refusal,
        message: String,
        /// More about a `Tool` refusal, `ToolError.payload`.
        payload: Value,
    },
}

impl Answer {
    #[must_use]
    pub fn refused(kind: Refusal, message: impl Into<String>) -> Self {
        Self::Refused { kind, message: message.into(), payload: Value::Null }
    }
}

/// The type of an array that is no array but Python's `bytes`.
pub const BYTES: &str = "bytes";

/// An array in a memory file: in C order, little endian.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayInfo {
    pub name: String,
    /// As numpy calls it, `float32`; or [`BYTES`].
    pub dtype: String,
    pub shape: Vec<usize>,
    /// Where it begins, bytes.
    pub offset: usize,
}

/// Which exception a refused call raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// `ValueError`: nothing moved.
    Value,
    /// `ToolError`.
    Tool,
    /// `EpisodeFinished`; the message is its reason.
    EpisodeFinished,
    /// `RuntimeError`: the method is not in the run's primitive set.
    Hidden,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromChild {
    /// The interpreter is up, inside these walls.
    Ready {
        layers: Vec<Layer>,
    },
    /// A method of `robo`, its arguments checked and complete.
    Call {
        id: u64,
        method: String,
        arguments: Map<String, Value>,
    },
    /// An attribute of `robo`, such as `done`.
    Attribute {
        id: u64,
        name: String,
    },
    /// A picture for the agent; its bytes come with the message.
    Display {
        id: u64,
        picture: Picture,
    },
    /// Something about a file of the workspace; for a write its bytes come with
    /// the message.
    File {
        id: u64,
        request: FileRequest,
    },
    /// Printed text.
    Output {
        stream: Stream,
        /// Characters left out before `text`, because nobody would read them.
        skipped: usize,
        text: String,
    },
    Done(Done),
}

/// Rows of pixels, in C order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// Height and width, and 3 or 4 channels unless it is grey; `uint8`.
    pub shape: Vec<usize>,
    pub caption: String,
}

impl Picture {
    /// Its bytes; `None` when the shape is not one of a picture.
    pub(crate) fn size(&self) -> Option<usize> {
        let channels = match self.shape[..] {
            [_, _] => 1,
            [_, _, channels] if channels == 3 || channels == 4 => channels,
            _ => return None,
        };
        let [height, width] = [self.shape[0], self.shape[1]];
        height.checked_mul(width)?.checked_mul(channels).filter(|&size| size > 0)
    }
}

/// A path is as the cell wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileRequest {
    Read { path: String },
    Write { path: String, append: bool },
    List { path: String },
    Stat { path: String },
    Remove { path: String },
    MakeFolder { path: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    pub index: u32,
    /// `repr` of the last expression, unless it was `None`.
    pub value: Option<String>,
    pub error: Option<CellError>,
    /// The cell called `finish`.
    pub finish: Option<Finish>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellError {
    pub kind: ErrorKind,
    /// Traceback with source lines, clipped.
    pub traceback: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorKind {
    /// An exception, syntax errors included.
    Raised,
    /// `EpisodeFinished` reached the end of the cell.
    EpisodeFinished,
    /// The `KeyboardInterrupt` of [`ToChild::Interrupt`].
    Interrupted,
    /// The interpreter itself failed; its namespace is still there.
    Interpreter,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finish {
    /// `success`, `failure` or `stuck`.
    pub status: String,
    pub summary: String,
}

impl Finish {
    pub(crate) fn is_valid(&self) -> bool {
        ["success", "failure", "stuck"].contains(&self.status.as_str())
    }
}

/// A message's lengths and JSON; `bytes` raw bytes are to follow.
///
/// # Errors
/// When it is too long for its header.
pub fn encode<T: Serialize>(message: &T, bytes: usize) -> io::Result<Vec<u8>> {
    let mut encoded = vec![0; HEADER_BYTES];
    serde_json::to_writer(&mut encoded, message)?;
    let length = |length: usize| {
        u32::try_from(length)
            .map(u32::to_le_bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "message over 4 GiB"))
    };
    let json = length(encoded.len() - HEADER_BYTES)?;
    encoded[..4].copy_from_slice(&json);
    encoded[4..HEADER_BYTES].copy_from_slice(&length(bytes)?);
    Ok(encoded)
}

/// Writes one message.
///
/// # Errors
/// When the other end is gone.
pub fn write_message<T: Serialize>(
    to: &mut impl Write,
    message: &T,
    bytes: &[u8],
) -> io::Result<()> {
    to.write_all(&encode(message, bytes.len())?)?;
    to.write_all(bytes)
}

/// Reads one message with its raw bytes; `None` when the other end has closed.
///
/// # Errors
/// When a message is longer than `limits`, cut off, or not what was expected.
pub fn read_message<T: DeserializeOwned>(
    from: &mut impl Read,
    limits: Limits,
) -> io::Result<Option<(T, Vec<u8>)>> {
    let mut header = [0; HEADER_BYTES];
    match from.read_exact(&mut header) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let [j0, j1, j2, j3, b0, b1, b2, b3] = header;
    let json = read_part(from, u32::from_le_bytes([j0, j1, j2, j3]), limits.json)?;
    let bytes = read_part(from, u32::from_le_bytes([b0, b1, b2, b3]), limits.bytes)?;
    let message = serde_json::from_slice(&json)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(Some((message, bytes)))
}

fn read_part(from: &mut impl Read, length: u32, limit: usize) -> io::Result<Vec<u8>> {
    let length = length as usize;
    if length > limit {
        let text = format!("message of {length} bytes, at most {limit} are allowed");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    // Grows with what really comes.
    let mut part = Vec::new();
    from.take(length as u64).read_to_end(&mut part)?;
    if part.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_socket() {
        let message =
            ToChild::Reply { id: 7, answer: Answer::refused(Refusal::Tool, "controller is gone") };
        let mut socket = Vec::new();
        write_message(&mut socket, &message, b"").unwrap();
        write_message(&mut socket, &message, b"raw").unwrap();
        let mut socket = socket.as_slice();
        for bytes in [b"".as_slice(), b"raw"] {
            let (read, raw) = read_message::<ToChild>(&mut socket, FROM_CHILD).unwrap().unwrap();
            assert_eq!(read, message);
            assert_eq!(raw, bytes);
        }
        assert!(read_message::<ToChild>(&mut socket, TO_CHILD).unwrap().is_none());
    }

    #[test]
    fn a_message_that_is_too_long_or_no_message_is_an_error() {
        let header = |json: u32, bytes: u32| [json.to_le_bytes(), bytes.to_le_bytes()].concat();
        let mut rubbish = header(3, 0);
        rubbish.extend(b"{{{");
        let mut cut = header(9, 0);
        cut.push(b'1');
        for bad in [header(u32::MAX, 0), header(0, u32::MAX), rubbish, cut] {
            assert!(read_message::<FromChild>(&mut bad.as_slice(), FROM_CHILD).is_err());
        }
    }
}
