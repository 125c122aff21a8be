//! Memory that arrays share.

use std::alloc::{self, Layout};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use crate::dtype::DType;
use crate::error::{Error, Result, bail};

/// Every own allocation starts at a multiple of this.
const ALIGN: usize = 64;
/// Blocks from this size on are kept for reuse: the system would map and unmap them, and
/// touching fresh pages costs more than the arithmetic on them.
const POOLED: usize = 256 << 10;
/// What the pool may hold altogether.
const POOL_LIMIT: usize = 256 << 20;

/// A block of bytes that any number of arrays look at.
///
/// It belongs to one thread. Reads and writes go through raw pointers, because views of the
/// same block may be written while others are read, as in numpy.
pub struct Buffer {
    data: NonNull<u8>,
    len: usize,
    writeable: bool,
    owner: Owner,
}

enum Owner {
    /// Allocated here with this capacity.
    Pool(usize),
    /// Kept alive by something else, a mapped file for example.
    Foreign(#[allow(dead_code)] Box<dyn Any>),
}

impl Buffer {
    /// A block to be filled at once: zeros, or what an earlier user left there.
    ///
    /// # Errors
    /// [`Error::Memory`] when it exceeds [`memory_limit`] or cannot be had.
    pub(crate) fn uninit(len: usize) -> Result<Buffer> {
        let (data, capacity) = pool_take(len)?;
        Ok(Buffer { data, len, writeable: true, owner: Owner::Pool(capacity) })
    }

    /// A block of zeros.
    ///
    /// # Errors
    /// As [`Buffer::uninit`].
    pub fn zeros(len: usize) -> Result<Buffer> {
        let buffer = Buffer::uninit(len)?;
        // SAFETY: the block is `len` bytes long and nobody else has it yet.
        unsafe { buffer.data.as_ptr().write_bytes(0, len) };
        Ok(buffer)
    }

    /// Memory of somebody else, without a copy.
    ///
    /// # Safety
    /// `data` must be valid for reads of `len` bytes (and writes, when `writeable`) as long as
    /// `owner` lives, and nothing outside this thread may write it meanwhile.
    pub unsafe fn foreign(
        data: NonNull<u8>,
        len: usize,
        owner: Box<dyn Any>,
        writeable: bool,
    ) -> Buffer {
        Buffer { data, len, writeable, owner: Owner::Foreign(owner) }
    }

    /// The elements of a vector, without a copy.
    pub fn from_vec<T: crate::Element>(values: Vec<T>) -> Buffer {
        let mut values = values;
        let len = values.len() * T::DTYPE.itemsize();
        let data = NonNull::new(values.as_mut_ptr().cast()).unwrap_or(NonNull::dangling());
        // SAFETY: the vector is kept, unchanged, as the owner.
        unsafe { Buffer::foreign(data, len, Box::new(values), true) }
    }

    /// Its first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.data.as_ptr()
    }

    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether it may be written at all.
    pub fn is_writeable(&self) -> bool {
        self.writeable
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Owner::Pool(capacity) = self.owner {
            pool_give(self.data, capacity);
        }
    }
}

thread_local! {
    static LIMIT: Cell<usize> = const { Cell::new(1 << 30) };
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { blocks: Vec::new(), bytes: 0 }) };
}

/// The most bytes one array may have, 1 GiB unless set.
pub fn memory_limit() -> usize {
    LIMIT.get()
}

/// Sets [`memory_limit`] for this thread.
pub fn set_memory_limit(bytes: usize) {
    LIMIT.set(bytes);
}

/// Bytes of an array, checked before anything is allocated.
///
/// # Errors
/// [`Error::Memory`] with numpy's text when it exceeds [`memory_limit`], [`Error::Value`]
/// when the size cannot even be written down.
pub(crate) fn array_bytes(shape: &[usize], dtype: DType) -> Result<usize> {
    let bytes = shape
        .iter()
        .try_fold(dtype.itemsize(), |bytes, &n| bytes.checked_mul(n))
        .filter(|&bytes| isize::try_from(bytes).is_ok());
    match bytes {
        Some(bytes) if bytes <= memory_limit() => Ok(bytes),
        Some(bytes) => Err(no_memory(bytes, shape, dtype)),
        None if shape.contains(&0) => Ok(0),
        None => bail!(
            Value,
            "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."
        ),
    }
}

fn no_memory(bytes: usize, shape: &[usize], dtype: DType) -> Error {
    Error::Memory(format!(
        "Unable to allocate {} for an array with shape {} and data type {dtype}",
        human_size(bytes),
        crate::array::shape_text(shape),
    ))
}

/// Bytes as numpy writes them: three digits and a binary unit.
fn human_size(bytes: usize) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    match (unit, value) {
        (0, _) => format!("{bytes} bytes"),
        (_, value) if value < 10.0 => format!("{value:.2} {}", UNITS[unit]),
        (_, value) if value < 100.0 => format!("{value:.1} {}", UNITS[unit]),
        (_, value) => format!("{value:.0}. {}", UNITS[unit]),
    }
}

/// Freed big blocks, the latest last.
struct Pool {
    blocks: Vec<(NonNull<u8>, usize)>,
    bytes: usize,
}

impl Pool {
    fn clear(&mut self) {
        for (data, capacity) in self.blocks.drain(..) {
            free(data, capacity);
        }
        self.bytes = 0;
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Gives a block back to the system. It must come from [`pool_take`].
fn free(data: NonNull<u8>, capacity: usize) {
    // SAFETY: allocated with the same layout; the pool and `Buffer` each give a block up once.
    unsafe { alloc::dealloc(data.as_ptr(), layout(capacity)) };
}

fn layout(capacity: usize) -> Layout {
    // SAFETY: the alignment is a power of two, capacities come from `rounded`.
    unsafe { Layout::from_size_align_unchecked(capacity, ALIGN) }
}

fn pool_take(len: usize) -> Result<(NonNull<u8>, usize)> {
    if len == 0 {
        // An aligned address without memory behind it, as a `Vec` has.
        return Ok((NonNull::<Aligned>::dangling().cast(), 0));
    }
    let too_big = || Error::Memory(format!("Unable to allocate {}", human_size(len)));
    let capacity = len.checked_next_multiple_of(ALIGN).ok_or_else(too_big)?;
    if len > memory_limit() || isize::try_from(capacity).is_err() {
        return Err(too_big());
    }
    if capacity >= POOLED {
        // A block up to a quarter larger will do.
        let fits = |size: usize| size >= capacity && size - capacity <= capacity / 4;
        let found = POOL.try_with(|pool| {
            let mut pool = pool.borrow_mut();
            let at = pool.blocks.iter().rposition(|&(_, size)| fits(size))?;
            let block = pool.blocks.remove(at);
            pool.bytes -= block.1;
            Some(block)
        });
        if let Ok(Some(block)) = found {
            return Ok(block);
        }
    }
    // Zeroed, so that a slice over a block never shows uninitialised memory.
    // SAFETY: the size is not zero.
    let allocate = || NonNull::new(unsafe { alloc::alloc_zeroed(layout(capacity)) });
    let data = allocate().or_else(|| {
        _ = POOL.try_with(|pool| pool.borrow_mut().clear());
        allocate()
    });
    Ok((data.ok_or_else(too_big)?, capacity))
}

#[repr(align(64))]
struct Aligned(#[allow(dead_code)] [u8; ALIGN]);

fn pool_give(data: NonNull<u8>, capacity: usize) {
    if capacity == 0 {
        return;
    }
    if !(POOLED..=POOL_LIMIT / 2).contains(&capacity) {
        return free(data, capacity);
    }
    let kept = POOL.try_with(|pool| {
        let mut pool = pool.borrow_mut();
        pool.blocks.push((data, capacity));
        pool.bytes += capacity;
        while pool.bytes > POOL_LIMIT {
            let (oldest, size) = pool.blocks.remove(0);
            pool.bytes -= size;
            free(oldest, size);
        }
    });
    if kept.is_err() {
        free(data, capacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_numpy_does() {
        assert_eq!(human_size(1000), "1000 bytes");
        assert_eq!(human_size(8 << 40), "8.00 TiB");
        assert_eq!(human_size(80_000_000_000), "74.5 GiB");
        assert_eq!(human_size(800_000_000), "763. MiB");
    }

    #[test]
    fn a_freed_big_block_is_used_again() {
        let first = Buffer::uninit(1 << 20).unwrap();
        let at = first.as_ptr();
        drop(first);
        assert_eq!(Buffer::uninit((1 << 20) - 8).unwrap().as_ptr(), at);
    }

    #[test]
    fn the_limit_holds() {
        assert_eq!(
            array_bytes(&[100_000, 100_000], DType::F64),
            Err(Error::Memory(
                "Unable to allocate 74.5 GiB for an array with shape (100000, 100000) and data type float64"
                    .to_owned()
            ))
        );
        assert_eq!(array_bytes(&[usize::MAX, 2, 0], DType::F64), Ok(0));
    }
}
