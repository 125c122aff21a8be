//! Elementwise work on any mixture of strides and types, in blocks that stay in the first
//! cache: operands that lie contiguous in the right type are used where they are, others are
//! gathered first. So a kernel is one simple loop over slices of one type.

use crate::array::Array;
use crate::cast::converter;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::walk::{Tile, Walk};

/// Elements in a block: three of them, of eight bytes, fit into 32 KiB.
const BLOCK: usize = 1024;

/// What is done to one block of each operand.
pub(crate) type Kernel<'a, A, O, const N: usize> =
    dyn FnMut([&[A]; N], &mut [O]) -> Result<()> + 'a;

/// Calls `kernel` with blocks of the inputs, converted to `A`, and the place for its results,
/// which are converted to the type of `out`. Every input has the shape of `out`.
///
/// An input may be the same view as `out`; otherwise the two must not overlap.
///
/// # Errors
/// What `kernel` returns, and [`crate::Error::Interrupted`].
pub(crate) fn map<A: Element, O: Element, const N: usize>(
    inputs: [&Array; N],
    out: &Array,
    kernel: &mut Kernel<A, O, N>,
) -> Result<()> {
    const { assert!(N <= 3) };
    debug_assert!(inputs.iter().all(|input| input.shape() == out.shape()));
    let still = vec![0; out.ndim()];
    let walk = Walk::<4>::any_order(
        out.shape(),
        std::array::from_fn(|i| match i {
            0 => out.strides(),
            i if i <= N => inputs[i - 1].strides(),
            _ => &still,
        }),
    );
    let apart = !inputs.iter().any(|input| input.may_share_memory(out));
    let mut sources = inputs.map(Source::<A>::new);
    let mut sink = Sink::<O>::new(out, apart);
    walk.run(&mut |at, tile| {
        for_blocks(tile, |row, column, block| {
            let position = |i: usize| at[i] + row * tile.row_strides[i] + column * tile.strides[i];
            for (i, source) in sources.iter_mut().enumerate() {
                source.load(position(i + 1), Lattice::of(tile, i + 1, block));
            }
            let lattice = Lattice::of(tile, 0, block);
            let slices = std::array::from_fn(|i| sources[i].block());
            kernel(slices, sink.block(position(0), lattice))?;
            sink.store(position(0), lattice);
            Ok(())
        })
    })
}

/// Calls `body` with one block after the other of the elements, converted to `A`, in no
/// particular order.
///
/// # Errors
/// What `body` returns, and [`crate::Error::Interrupted`].
pub(crate) fn visit<A: Element>(
    array: &Array,
    body: &mut dyn FnMut(&[A]) -> Result<()>,
) -> Result<()> {
    let mut source = Source::<A>::new(array);
    Walk::any_order(array.shape(), [array.strides()]).run(&mut |at, tile| {
        for_blocks(tile, |row, column, block| {
            let position = at[0] + row * tile.row_strides[0] + column * tile.strides[0];
            source.load(position, Lattice::of(tile, 0, block));
            body(source.block())
        })
    })
}

/// Cuts a tile into blocks of whole rows, or of parts of one row.
fn for_blocks<const N: usize>(
    tile: &Tile<N>,
    mut body: impl FnMut(isize, isize, (usize, usize)) -> Result<()>,
) -> Result<()> {
    let most_rows = (BLOCK / tile.n).max(1);
    for row in (0..tile.rows).step_by(most_rows) {
        let rows = most_rows.min(tile.rows - row);
        for column in (0..tile.n).step_by(BLOCK) {
            let n = BLOCK.min(tile.n - column);
            body(row as isize, column as isize, (rows, n))?;
        }
    }
    Ok(())
}

/// Where the elements of a block lie, from its first one on.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Lattice {
    pub rows: usize,
    pub n: usize,
    pub row_stride: isize,
    pub stride: isize,
}

impl Lattice {
    fn of<const N: usize>(tile: &Tile<N>, operand: usize, (rows, n): (usize, usize)) -> Lattice {
        Lattice { rows, n, row_stride: tile.row_strides[operand], stride: tile.strides[operand] }
    }

    fn len(&self) -> usize {
        self.rows * self.n
    }

    fn is_contiguous(&self) -> bool {
        (self.n == 1 || self.stride == 1) && (self.rows == 1 || self.row_stride == self.n as isize)
    }
}

/// An input, read block by block.
struct Source<A> {
    /// Address of the element at position 0, of type `dtype`.
    base: *const u8,
    dtype: DType,
    /// The current block, when it had to be gathered.
    scratch: Vec<A>,
    /// What `scratch` holds. The same again need not be gathered: a number that meets an
    /// array, or a row that meets a matrix.
    gathered: Option<(isize, Lattice)>,
    /// The current block.
    block: *const A,
    len: usize,
}

impl<A: Element> Source<A> {
    fn new(array: &Array) -> Source<A> {
        Source {
            base: array.first_byte(),
            dtype: array.dtype(),
            scratch: Vec::new(),
            gathered: None,
            block: std::ptr::null(),
            len: 0,
        }
    }

    fn load(&mut self, position: isize, lattice: Lattice) {
        self.len = lattice.len();
        if self.dtype == A::DTYPE && lattice.is_contiguous() {
            self.block = self.base.cast::<A>().wrapping_offset(position);
            return;
        }
        let at_hand = self.gathered.is_some_and(|(at, whole)| {
            at == position && whole.rows >= lattice.rows && Lattice { rows: lattice.rows, ..whole } == lattice
                // A block cut from a constant is the same constant.
                || at == position && lattice.stride == 0 && lattice.rows == 1 && whole.n >= lattice.n
        });
        if !at_hand {
            self.scratch.resize(lattice.len().max(self.scratch.len()), A::ZERO);
            let from = self.base.wrapping_offset(position * self.dtype.itemsize() as isize);
            // SAFETY: the walk stays within the array, and scratch has room.
            unsafe { gather(self.dtype, from, lattice, &mut self.scratch) };
            self.gathered = Some((position, lattice));
        }
        self.block = self.scratch.as_ptr();
    }

    fn block(&self) -> &[A] {
        // SAFETY: `load` set pointer and length to initialised elements: the array's own, which
        // nobody writes before the next `load`, or scratch.
        unsafe { std::slice::from_raw_parts(self.block, self.len) }
    }
}

/// The output, written block by block.
struct Sink<O> {
    base: *mut u8,
    dtype: DType,
    /// Whether blocks may be written in place while inputs are read.
    apart: bool,
    scratch: Vec<O>,
}

impl<O: Element> Sink<O> {
    fn new(array: &Array, apart: bool) -> Sink<O> {
        Sink { base: array.first_byte(), dtype: array.dtype(), apart, scratch: Vec::new() }
    }

    fn in_place(&self, lattice: Lattice) -> bool {
        self.apart && self.dtype == O::DTYPE && lattice.is_contiguous()
    }

    fn block(&mut self, position: isize, lattice: Lattice) -> &mut [O] {
        let len = lattice.len();
        if self.in_place(lattice) {
            let at = self.base.cast::<O>().wrapping_offset(position);
            // SAFETY: within the array, contiguous, and apart from every input.
            return unsafe { std::slice::from_raw_parts_mut(at, len) };
        }
        self.scratch.resize(len.max(self.scratch.len()), O::ZERO);
        &mut self.scratch[..len]
    }

    fn store(&mut self, position: isize, lattice: Lattice) {
        if self.in_place(lattice) {
            return;
        }
        let convert = converter(self.dtype, O::DTYPE);
        for row in 0..lattice.rows {
            let from = self.scratch[row * lattice.n..][..lattice.n].as_ptr().cast();
            let place = position + row as isize * lattice.row_stride;
            let to = self.base.wrapping_offset(place * self.dtype.itemsize() as isize);
            // SAFETY: the walk stays within the array.
            unsafe { convert(to, lattice.stride, from, 1, lattice.n) };
        }
    }
}

/// Brings elements of type `dtype` together as `A`.
///
/// # Safety
/// The lattice must be readable from `from` on.
pub(crate) unsafe fn gather<A: Element>(
    dtype: DType,
    from: *const u8,
    lattice: Lattice,
    to: &mut [A],
) {
    let Lattice { rows, n, row_stride, stride } = lattice;
    let to = &mut to[..rows * n];
    let convert = converter(A::DTYPE, dtype);
    let once = if row_stride == 0 { 1 } else { rows };
    for (row, to) in to.chunks_exact_mut(n).take(once).enumerate() {
        let from = from.wrapping_offset(row as isize * row_stride * dtype.itemsize() as isize);
        // SAFETY: promised by the caller.
        unsafe { convert(to.as_mut_ptr().cast(), 1, from, stride, n) };
    }
    // The same row again and again.
    for row in once..rows {
        to.copy_within(..n, row * n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(a: &Array, b: &Array, out: &Array) {
        map([a, b], out, &mut |[a, b]: [&[i64]; 2], out: &mut [i64]| {
            for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
                *out = a + b;
            }
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn strides_types_and_broadcasts_mix() {
        let n = 700;
        let a = Array::vector((0..3 * n).collect::<Vec<i64>>());
        let a = a.with_layout(vec![n as usize, 3], vec![-3, 1], 3 * (n as usize - 1));
        let b = Array::vector(vec![10i32, 20, 30]).with_layout(vec![n as usize, 3], vec![0, 1], 0);
        let out = Array::zeros(&[3, n as usize], DType::F32).unwrap();
        let out = out.with_layout(vec![n as usize, 3], vec![1, n as isize], 0);
        sum(&a, &b, &out);
        let expected: Vec<f32> = (0..n)
            .rev()
            .flat_map(|row| [1, 2, 3].map(|c: i64| (row * 3 + c - 1 + 10 * c) as f32))
            .collect();
        assert_eq!(out.to_vec::<f32>().unwrap(), expected);
    }

    #[test]
    fn an_output_may_be_an_input() {
        let a = Array::vector((0..5000).collect::<Vec<i64>>());
        let one = Array::vector(vec![1i64]).with_layout(vec![5000], vec![0], 0);
        sum(&a, &one, &a);
        assert_eq!(a.to_vec::<i64>().unwrap(), (1..5001).collect::<Vec<i64>>());
    }

    #[test]
    fn a_long_constant_is_gathered_once_for_every_length() {
        let a = Array::vector((0..2500).collect::<Vec<i64>>());
        let b = Array::vector(vec![7u8]).with_layout(vec![2500], vec![0], 0);
        let out = Array::zeros(&[2500], DType::I64).unwrap();
        sum(&a, &b, &out);
        assert_eq!(out.to_vec::<i64>().unwrap(), (7..2507).collect::<Vec<i64>>());
    }
}
