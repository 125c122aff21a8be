//! Which files beside it a model keeps its weights in: just enough of ONNX's
//! protobuf to find their names, without reading the weights.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Numbers of the fields that lead to a name: the model's graph, its initializers,
/// their `external_data`, and an entry's key and value.
const GRAPH: u64 = 7;
const INITIALIZER: u64 = 5;
const EXTERNAL_DATA: u64 = 13;
const KEY: u64 = 1;
const VALUE: u64 = 2;

/// A longer name is none.
const MAX_NAME: u64 = 4096;

/// The names, each once.
///
/// # Errors
/// When the file can't be read or is no protobuf.
pub(super) fn files_of(model: &Path) -> io::Result<Vec<String>> {
    let file = File::open(model)?;
    let length = file.metadata()?.len();
    let mut reader = Reader { file: BufReader::new(file), at: 0 };
    let mut names = BTreeSet::new();
    reader.fields(length, &mut |reader, field, end| match field {
        GRAPH => reader.fields(end, &mut |reader, field, end| match field {
            INITIALIZER => reader.fields(end, &mut |reader, field, end| match field {
                EXTERNAL_DATA => {
                    names.extend(reader.location(end)?);
                    Ok(())
                }
                _ => Ok(()),
            }),
            _ => Ok(()),
        }),
        _ => Ok(()),
    })?;
    Ok(names.into_iter().collect())
}

struct Reader {
    file: BufReader<File>,
    at: u64,
}

type Visit<'v> = &'v mut dyn FnMut(&mut Reader, u64, u64) -> io::Result<()>;

impl Reader {
    /// Visits the fields with a length until `end`; what a visit leaves is skipped.
    fn fields(&mut self, end: u64, visit: Visit<'_>) -> io::Result<()> {
        while self.at < end {
            let tag = self.number()?;
            match tag & 7 {
                0 => drop(self.number()?),
                1 => self.skip_to(self.at.saturating_add(8), end)?,
                2 => {
                    let length = self.number()?;
                    let inner = self.at.saturating_add(length);
                    if inner > end {
                        return Err(broken());
                    }
                    visit(self, tag >> 3, inner)?;
                    self.skip_to(inner, end)?;
                }
                5 => self.skip_to(self.at.saturating_add(4), end)?,
                _ => return Err(broken()),
            }
        }
        if self.at == end { Ok(()) } else { Err(broken()) }
    }

    /// The value of an entry whose key is `location`.
    fn location(&mut self, end: u64) -> io::Result<Option<String>> {
        let (mut key, mut value) = (String::new(), String::new());
        self.fields(end, &mut |reader, field, end| {
            match field {
                KEY => key = reader.text(end)?,
                VALUE => value = reader.text(end)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok((key == "location").then_some(value))
    }

    fn text(&mut self, end: u64) -> io::Result<String> {
        let length = end - self.at;
        if length > MAX_NAME {
            return Err(broken());
        }
        let mut bytes = vec![0; length as usize];
        self.file.read_exact(&mut bytes)?;
        self.at = end;
        String::from_utf8(bytes).map_err(|_| broken())
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.file.read_exact(&mut byte)?;
            self.at += 1;
            number |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                return Ok(number);
            }
        }
        Err(broken())
    }

    fn skip_to(&mut self, to: u64, end: u64) -> io::Result<()> {
        let ahead = to.checked_sub(self.at).filter(|_| to <= end).ok_or_else(broken)?;
        self.file.seek_relative(i64::try_from(ahead).map_err(|_| broken())?)?;
        self.at = to;
        Ok(())
    }
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is damaged or no ONNX file")
}
