//! Big arrays for a cell: memory files that the node fills and seals, and whose
//! descriptor goes over the socket instead of their bytes.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::protocol::ArrayInfo;

/// Where arrays begin in a packed file: a cache line, enough for any vector load.
const ALIGNMENT: usize = 64;

/// A memory file that is being filled.
///
/// It is written, not mapped: the system then takes its pages at once and not one
/// by one as they are touched, which costs twice as much.
pub struct Memory(File);

impl Memory {
    /// An empty file.
    ///
    /// # Errors
    /// When the system has no descriptor for it.
    pub fn new() -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        Ok(Self(memfd_create("cell-array", flags)?.into()))
    }

    /// Puts bytes at its end.
    ///
    /// # Errors
    /// When the system has no memory for them.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Makes it unchangeable for everybody.
    ///
    /// # Errors
    /// When the system refuses the seals.
    pub fn seal(self) -> io::Result<Sealed> {
        let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        fcntl_add_seals(&self.0, seals)?;
        Ok(Sealed(Arc::new(self.0.into())))
    }
}

/// A memory file that nobody can change any more. A clone is the same file, and
/// one file may answer many calls.
#[derive(Debug, Clone)]
pub struct Sealed(Arc<OwnedFd>);

impl AsFd for Sealed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// An array to be packed, in C order and little endian.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// Empty for the only one.
    pub name: &'a str,
    /// As numpy calls it, `float32`.
    pub dtype: &'a str,
    pub shape: &'a [usize],
    pub bytes: &'a [u8],
}

/// Copies arrays into one file.
///
/// # Errors
/// As those of [`Memory`].
pub fn pack(parts: &[Part<'_>]) -> io::Result<(Sealed, Vec<ArrayInfo>)> {
    let mut memory = Memory::new()?;
    let mut end = 0_usize;
    let mut arrays = Vec::with_capacity(parts.len());
    for part in parts {
        let offset = end.next_multiple_of(ALIGNMENT);
        memory.append(&[0; ALIGNMENT][..offset - end])?;
        memory.append(part.bytes)?;
        end = offset + part.bytes.len();
        arrays.push(ArrayInfo {
            name: part.name.to_owned(),
            dtype: part.dtype.to_owned(),
            shape: part.shape.to_vec(),
            offset,
        });
    }
    Ok((memory.seal()?, arrays))
}

/// A mapped file, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    /// Maps a received file for a cell: what the cell writes stays with it.
    pub(crate) fn private(file: BorrowedFd<'_>) -> io::Result<Self> {
        let bytes = usize::try_from(rustix::fs::fstat(file)?.st_size).map_err(io::Error::other)?;
        Self::new(file, bytes, libc::MAP_PRIVATE)
    }

    fn new(file: BorrowedFd<'_>, bytes: usize, sharing: libc::c_int) -> io::Result<Self> {
        use std::os::fd::AsRawFd as _;

        // A mapping of nothing is an error for the system.
        if bytes == 0 {
            return Ok(Self { start: NonNull::dangling(), bytes });
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a place of the system's choice.
        let start = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, protection, sharing, file.as_raw_fd(), 0)
        };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast::<libc::c_void>() != libc::MAP_FAILED => {
                Ok(Self { start, bytes })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: mapped by `new` with this length, and unmapped only here.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
        }
    }
}

// SAFETY: memory of the process, owned by this value alone.
unsafe impl Send for Mapping {}

#[cfg(test)]
mod tests {
    use super::*;

    impl Mapping {
        fn bytes_mut(&mut self) -> &mut [u8] {
            // SAFETY: mapped for reading and writing as long as self lives.
            unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
        }
    }

    #[test]
    fn parts_lie_aligned_and_whole() {
        let (sealed, arrays) = pack(&[
            Part { name: "rgb", dtype: "uint8", shape: &[1, 1, 3], bytes: &[1, 2, 3] },
            Part { name: "none", dtype: "float32", shape: &[0], bytes: &[] },
            Part { name: "mask", dtype: "bool", shape: &[2], bytes: &[0, 1] },
        ])
        .unwrap();
        let mut mapped = Mapping::private(sealed.as_fd()).unwrap();
        let offsets: Vec<usize> = arrays.iter().map(|array| array.offset).collect();
        assert_eq!(offsets, [0, 64, 64]);
        assert_eq!(mapped.bytes_mut()[..3], [1, 2, 3]);
        assert_eq!(mapped.bytes_mut()[64..], [0, 1]);
    }

    #[test]
    fn a_sealed_file_keeps_what_was_in_it() {
        let (sealed, _) =
            pack(&[Part { name: "", dtype: "uint8", shape: &[4], bytes: b"abcd" }]).unwrap();
        assert!(rustix::io::write(&sealed, b"x").is_err());
        assert!(rustix::fs::ftruncate(&sealed, 1).is_err());
        assert!(Mapping::new(sealed.as_fd(), 4, libc::MAP_SHARED).is_err());
        Mapping::private(sealed.as_fd()).unwrap().bytes_mut()[0] = b'X';
        assert_eq!(Mapping::private(sealed.as_fd()).unwrap().bytes_mut(), b"abcd");
    }

    #[test]
    fn nothing_is_a_file_too() {
        let (sealed, _) = pack(&[]).unwrap();
        assert_eq!(Mapping::private(sealed.as_fd()).unwrap().len(), 0);
    }
}
