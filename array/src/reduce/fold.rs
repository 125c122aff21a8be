//! The loops of a reduction, in the order numpy has them, so that sums come out the same to
//! the last bit: dimensions sorted by stride, and the innermost one either summed up in itself
//! or added to a row of sums.

use crate::array::{Array, c_strides};
use crate::blocks::{Lattice, gather};
use crate::dtype::Element;
use crate::error::Result;
use crate::interrupt;
use crate::walk::{Tile, Walk};

/// Elements that are gathered at a time, as in numpy: sums of converted or scattered elements
/// depend on it.
const GATHERED: usize = 8192;

/// How elements are brought together.
pub(super) trait Fold {
    /// What elements are converted to.
    type Item: Element;
    /// What they are brought together in.
    type Sum: Element;

    /// Elements of a lane that are converted at a time.
    const CONVERTED: usize = GATHERED;

    /// Takes in `n` elements at steps of `stride`.
    ///
    /// # Safety
    /// They must be readable.
    unsafe fn lane(sum: Self::Sum, items: *const Self::Item, n: usize, stride: isize) -> Self::Sum;

    /// Takes in one element.
    fn one(sum: Self::Sum, item: Self::Item) -> Self::Sum;

    /// Takes in one element for each sum.
    fn row(sums: &mut [Self::Sum], items: &[Self::Item]);
}

/// Folds the dimensions marked in `reduced`. The sums are those of the other dimensions in
/// C order, each begun with `first`.
///
/// # Errors
/// [`crate::Error::Memory`], [`crate::Error::Interrupted`].
pub(super) fn fold<F: Fold>(array: &Array, reduced: &[bool], first: F::Sum) -> Result<Vec<F::Sum>> {
    let kept_shape: Vec<usize> = array
        .shape()
        .iter()
        .zip(reduced)
        .filter(|&(_, reduced)| !reduced)
        .map(|(&n, _)| n)
        .collect();
    let count = kept_shape.iter().product();
    crate::buffer::array_bytes(&kept_shape, F::Sum::DTYPE)?;
    let mut sums = vec![first; count];
    let mut kept_strides = c_strides(&kept_shape).into_iter();
    let sum_strides: Vec<isize> = reduced
        .iter()
        .map(|&reduced| if reduced { 0 } else { kept_strides.next().unwrap_or(0) })
        .collect();
    let walk = Walk::any_order(array.shape(), [array.strides(), &sum_strides]).uncut();
    let base = array.first_byte();
    let size = array.dtype().itemsize() as isize;
    let mut scratch = Vec::new();
    walk.run(&mut |[at, sum], tile| {
        let converts = array.dtype() != F::Item::DTYPE;
        // Rows with gaps between them that all end in one sum are gathered and summed as one.
        let joins =
            tile.strides[1] == 0 && tile.row_strides[1] == 0 && tile.rows > 1 && tile.n <= GATHERED;
        if !converts && !joins {
            let most_rows = (interrupt::STRIDE / tile.n).max(1);
            for row in (0..tile.rows).step_by(most_rows) {
                let rows = most_rows.min(tile.rows - row);
                let place = |operand: usize| row as isize * tile.row_strides[operand];
                let items = base.cast::<F::Item>().wrapping_offset(at + place(0));
                // SAFETY: the walk stays within the array.
                unsafe {
                    fold_tile::<F>(&mut sums, sum + place(1), items, &Tile { rows, ..*tile });
                }
                interrupt::check()?;
            }
            return Ok(());
        }
        let most_rows = (GATHERED / tile.n).max(1);
        let most_columns = F::CONVERTED.min(tile.n);
        let mut since_check = 0;
        for row in (0..tile.rows).step_by(most_rows) {
            for column in (0..tile.n).step_by(most_columns) {
                let rows = most_rows.min(tile.rows - row);
                let n = most_columns.min(tile.n - column);
                let place = |operand: usize| {
                    row as isize * tile.row_strides[operand]
                        + column as isize * tile.strides[operand]
                };
                let lattice =
                    Lattice { rows, n, row_stride: tile.row_strides[0], stride: tile.strides[0] };
                if scratch.len() < rows * n {
                    scratch.resize(rows * n, F::Item::ZERO);
                }
                let from = base.wrapping_offset((at + place(0)) * size);
                // SAFETY: the walk stays within the array, and scratch has room.
                unsafe { gather(array.dtype(), from, lattice, &mut scratch) };
                let (rows, n) = if joins { (1, rows * n) } else { (rows, n) };
                let tile = Tile {
                    n,
                    strides: [1, tile.strides[1]],
                    rows,
                    row_strides: [n as isize, tile.row_strides[1]],
                };
                // SAFETY: the tile describes what was gathered.
                unsafe { fold_tile::<F>(&mut sums, sum + place(1), scratch.as_ptr(), &tile) };
                since_check += rows * n;
                if since_check >= interrupt::STRIDE {
                    interrupt::check()?;
                    since_check = 0;
                }
            }
        }
        Ok(())
    })?;
    Ok(sums)
}

/// # Safety
/// The tile's places must be readable from `items` on.
unsafe fn fold_tile<F: Fold>(
    sums: &mut [F::Sum],
    sum: isize,
    items: *const F::Item,
    tile: &Tile<2>,
) {
    let Tile { n, strides: [stride, step], rows, row_strides: [row_stride, row_step] } = *tile;
    let row_of = |row: usize| items.wrapping_offset(row as isize * row_stride);
    let sum_of = |row: usize| (sum + row as isize * row_step) as usize;
    // SAFETY: promised by the caller, here and below.
    unsafe {
        if step == 0 {
            for row in 0..rows {
                let sum = &mut sums[sum_of(row)];
                *sum = F::lane(*sum, row_of(row), n, stride);
            }
        } else if step == 1 && stride == 1 && n > 8 {
            for row in 0..rows {
                let items = std::slice::from_raw_parts(row_of(row), n);
                F::row(&mut sums[sum_of(row)..][..n], items);
            }
        } else {
            for row in 0..rows {
                let (items, sum) = (row_of(row), sum_of(row) as isize);
                for i in 0..n as isize {
                    let sum = &mut sums[(sum + i * step) as usize];
                    *sum = F::one(*sum, items.offset(i * stride).read());
                }
            }
        }
    }
}
