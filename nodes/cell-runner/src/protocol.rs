//! What the node and its child process say to each other: JSON messages behind
//! a four-byte little-endian length, one pipe in each direction.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Longest message the node accepts from a child, bytes. A child only sends
/// text that is already clipped; more means that it is not itself any more.
pub const MAX_FROM_CHILD: usize = 1 << 20;

/// Longest message a child accepts, bytes.
pub const MAX_TO_CHILD: usize = 1 << 24;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToChild {
    /// Once, before the first cell: the name of the robot's API.
    Init {
        robot: String,
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

/// Which exception a refused call raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// `ValueError`: nothing moved.
    Value,
    /// `ToolError`.
    Tool,
    /// `EpisodeFinished`; the message is its reason.
    EpisodeFinished,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromChild {
    /// The interpreter is up.
    Ready,
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
    Output {
        stream: Stream,
        text: String,
    },
    Done(Done),
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

/// Writes one message with a single `write_all`.
///
/// # Errors
/// When the other end is gone.
pub fn write_message<T: Serialize>(to: &mut impl Write, message: &T) -> io::Result<()> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "message over 4 GiB"))?;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    to.write_all(&bytes)
}

/// Reads one message; `None` at the end of the pipe.
///
/// # Errors
/// When a message is longer than `limit`, cut off, or not what was expected.
pub fn read_message<T: DeserializeOwned>(
    from: &mut impl Read,
    limit: usize,
) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > limit {
        let text = format!("message of {length} bytes, at most {limit} are allowed");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(Some(serde_json::from_slice(&bytes)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_pipe() {
        let message =
            ToChild::Reply { id: 7, answer: Answer::refused(Refusal::Tool, "controller is gone") };
        let mut pipe = Vec::new();
        write_message(&mut pipe, &message).unwrap();
        write_message(&mut pipe, &message).unwrap();
        let mut pipe = pipe.as_slice();
        for _ in 0..2 {
            assert_eq!(
                read_message::<ToChild>(&mut pipe, MAX_TO_CHILD).unwrap(),
                Some(message.clone())
            );
        }
        assert_eq!(read_message::<ToChild>(&mut pipe, MAX_TO_CHILD).unwrap(), None);
    }

    #[test]
    fn a_message_that_is_too_long_or_no_message_is_an_error() {
        let long = u32::MAX.to_le_bytes();
        assert!(read_message::<FromChild>(&mut long.as_slice(), MAX_FROM_CHILD).is_err());
        let mut rubbish = 3_u32.to_le_bytes().to_vec();
        rubbish.extend(b"{{{");
        assert!(read_message::<FromChild>(&mut rubbish.as_slice(), MAX_FROM_CHILD).is_err());
        let cut = [9, 0, 0, 0, b'1'];
        assert!(read_message::<FromChild>(&mut cut.as_slice(), MAX_FROM_CHILD).is_err());
    }
}
