//! The benchmark's initial states: a `.npz` with one array `states`.

use std::{
    fs::File,
    io::{BufReader, Read, Seek},
    path::{Path, PathBuf},
};

use thiserror::Error;
use zip::{ZipArchive, result::ZipError};

/// Why initial states could not be read.
#[derive(Debug, Error)]
pub enum InitStatesError {
    /// The file is missing.
    #[error(
        "initial states are missing at {path:?}: run `./rua setup`, or choose a complete suite (`rua suites`)"
    )]
    Missing {
        /// Where they were looked for.
        path: PathBuf,
    },
    /// The file is not a `.npz` of 64-bit floats, or holds nothing.
    #[error("initial states {path:?} can't be used: {message}: run `./rua setup`")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

/// Rows `[time, qpos, qvel]` to start from.
#[derive(Debug, Clone, PartialEq)]
pub struct InitStates {
    values: Vec<f64>,
    width: usize,
}

impl InitStates {
    /// Reads the array `states`, of shape (n, 1 + nq + nv).
    ///
    /// # Errors
    /// [`InitStatesError`].
    pub fn read(path: &Path) -> Result<Self, InitStatesError> {
        Self::from_reader(open(path)?).map_err(|message| unusable(path, message))
    }

    /// Reads the same from anywhere; the error says what is wrong.
    ///
    /// # Errors
    /// A `.npz` without such an array.
    pub fn from_reader(reader: impl Read + Seek) -> Result<Self, String> {
        let (header, bytes) = read_member(reader, true)?;
        let expected = header.bytes()?;
        if bytes.len() != expected {
            return Err(format!("{} bytes where {expected} belong", bytes.len()));
        }
        let values: Vec<f64> =
            bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err("a number is not finite".to_owned());
        }
        if header.rows == 0 || header.columns == 0 {
            return Err("the array is empty".to_owned());
        }
        Ok(Self { values, width: header.columns })
    }

    /// How many there are; at least one.
    pub fn count(&self) -> usize {
        self.values.len() / self.width
    }

    /// Length of a row: 1 + nq + nv.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Row `index`, modulo their count.
    pub fn row(&self, index: usize) -> &[f64] {
        let start = (index % self.count()) * self.width;
        &self.values[start..start + self.width]
    }
}

/// How many states a file holds, without reading them.
///
/// # Errors
/// [`InitStatesError`].
pub fn count(path: &Path) -> Result<usize, InitStatesError> {
    let (header, _) = read_member(open(path)?, false).map_err(|message| unusable(path, message))?;
    Ok(header.rows)
}

/// An archive that unpacks to more than this is no benchmark's.
const MAX_BYTES: usize = 64 << 20;

struct Header {
    rows: usize,
    columns: usize,
}

impl Header {
    /// Size of the array.
    fn bytes(&self) -> Result<usize, String> {
        let bytes =
            self.rows.checked_mul(self.columns).and_then(|n| n.checked_mul(size_of::<f64>()));
        bytes.filter(|&bytes| bytes <= MAX_BYTES).ok_or_else(|| {
            format!("an array of {} x {} numbers is too large", self.rows, self.columns)
        })
    }
}

fn open(path: &Path) -> Result<BufReader<File>, InitStatesError> {
    match File::open(path) {
        Ok(file) => Ok(BufReader::new(file)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(InitStatesError::Missing { path: path.to_owned() })
        }
        Err(error) => Err(unusable(path, error.to_string())),
    }
}

fn unusable(path: &Path, message: String) -> InitStatesError {
    InitStatesError::Unusable { path: path.to_owned(), message }
}

fn read_member(reader: impl Read + Seek, with_values: bool) -> Result<(Header, Vec<u8>), String> {
    let zip_fault = |error: ZipError| error.to_string();
    let mut archive = ZipArchive::new(reader).map_err(zip_fault)?;
    let mut member = archive.by_name("states.npy").map_err(zip_fault)?;

    let mut read = |buffer: &mut [u8]| member.read_exact(buffer).map_err(|error| error.to_string());
    let mut start = [0; 10];
    read(&mut start)?;
    if start[..6] != *b"\x93NUMPY" {
        return Err("states.npy is no NumPy array".to_owned());
    }
    let length = u16::from_le_bytes([start[8], start[9]]);
    if start[6] > 1 {
        // From version 2 on the length has four bytes; no header of two numbers needs them.
        let mut high = [0; 2];
        read(&mut high)?;
        if high != [0; 2] {
            return Err("states.npy has an endless header".to_owned());
        }
    }
    let mut header = vec![0; length.into()];
    read(&mut header)?;
    let header = parse_header(&String::from_utf8_lossy(&header))?;

    let mut bytes = Vec::new();
    if with_values {
        let room = header.bytes()? as u64 + 1;
        member.take(room).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    }
    Ok((header, bytes))
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (50, 92), }`.
fn parse_header(text: &str) -> Result<Header, String> {
    let wrong = || format!("expected rows of 64-bit floats, found {:?}", text.trim());
    let field =
        |name: &str| text.split_once(&format!("'{name}':")).map(|(_, rest)| rest.trim_start());
    if !field("descr").is_some_and(|rest| rest.starts_with("'<f8'")) {
        return Err(wrong());
    }
    if !field("fortran_order").is_some_and(|rest| rest.starts_with("False")) {
        return Err(wrong());
    }
    let shape = field("shape").and_then(|rest| rest.strip_prefix('(')?.split_once(')'));
    let Some((shape, _)) = shape else { return Err(wrong()) };
    let sizes: Vec<usize> = shape
        .split(',')
        .map(str::trim)
        .filter(|size| !size.is_empty())
        .map(|size| size.parse::<usize>().map_err(|_| wrong()))
        .collect::<Result<_, _>>()?;
    match sizes[..] {
        [rows, columns] => Ok(Header { rows, columns }),
        // An empty list of states is saved with shape (0,).
        [0] => Ok(Header { rows: 0, columns: 0 }),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn understands_numpy_headers() {
        let header =
            parse_header("{'descr': '<f8', 'fortran_order': False, 'shape': (50, 92), }  \n")
                .expect("a header");
        assert_eq!((header.rows, header.columns), (50, 92));
        let empty = parse_header("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }")
            .expect("a header");
        assert_eq!(empty.rows, 0);
        for wrong in [
            "{'descr': '<f4', 'fortran_order': False, 'shape': (50, 92), }",
            "{'descr': '<f8', 'fortran_order': True, 'shape': (50, 92), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (50, 92, 2), }",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (50, -1), }",
            "{}",
        ] {
            assert!(parse_header(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_file_that_is_no_npz_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.pruned_init.npz");
        let missing = InitStates::read(&path).expect_err("missing");
        assert!(matches!(missing, InitStatesError::Missing { .. }), "{missing}");
        std::fs::write(&path, b"not a zip").expect("a file");
        let unusable = InitStates::read(&path).expect_err("no zip");
        assert!(unusable.to_string().contains("./rua setup"), "{unusable}");
    }
}
