//! Walking over several arrays at once: dimensions sorted and merged so that the inner loops
//! are as long and as contiguous as the strides allow.

use crate::error::Result;
use crate::interrupt;

/// A loop nest over `N` operands that share a shape.
pub(crate) struct Walk<const N: usize> {
    /// Slowest first. Never empty: at least the two innermost dimensions, perhaps of 1.
    dims: Vec<Dim<N>>,
    /// Whether tiles are cut to check for interrupts in between.
    cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Dim<const N: usize> {
    n: usize,
    strides: [isize; N],
}

/// The two innermost loops.
#[derive(Clone, Copy)]
pub(crate) struct Tile<const N: usize> {
    /// Iterations of the inner loop.
    pub n: usize,
    /// Each operand's step in the inner loop.
    pub strides: [isize; N],
    /// Iterations of the loop around it.
    pub rows: usize,
    /// Each operand's step from row to row.
    pub row_strides: [isize; N],
}

impl<const N: usize> Walk<N> {
    /// In whatever order of dimensions has the smallest strides innermost, the first operand's
    /// before the others'. For loops whose result does not depend on the order.
    pub fn any_order(shape: &[usize], strides: [&[isize]; N]) -> Walk<N> {
        let mut dims: Vec<Dim<N>> = shape
            .iter()
            .enumerate()
            .map(|(axis, &n)| Dim { n, strides: strides.map(|strides| strides[axis]) })
            .filter(|dim| dim.n != 1)
            .collect();
        dims.sort_by_key(|dim| {
            let reach = dim.strides.map(isize::unsigned_abs);
            std::cmp::Reverse(reach)
        });
        Walk { dims, cut: true }.merged()
    }

    /// The same with whole tiles, however large: the body checks for interrupts.
    pub fn uncut(self) -> Walk<N> {
        Walk { cut: false, ..self }
    }

    fn merged(self) -> Walk<N> {
        let mut dims: Vec<Dim<N>> = Vec::with_capacity(self.dims.len().max(2));
        for dim in self.dims {
            match dims.last_mut() {
                Some(outer) if outer.follows(&dim) => {
                    *outer = Dim { n: outer.n * dim.n, strides: dim.strides };
                }
                _ => dims.push(dim),
            }
        }
        while dims.len() < 2 {
            dims.insert(0, Dim { n: 1, strides: [0; N] });
        }
        Walk { dims, cut: self.cut }
    }

    /// Calls `body` for each tile with the operands' positions, relative to their first element.
    ///
    /// # Errors
    /// What `body` returns, and [`crate::Error::Interrupted`].
    pub fn run(
        &self,
        // Not generic: one copy of the nest serves all loops.
        body: &mut dyn FnMut([isize; N], &Tile<N>) -> Result<()>,
    ) -> Result<()> {
        if self.dims.iter().any(|dim| dim.n == 0) {
            return Ok(());
        }
        let (outer, inner) = self.dims.split_at(self.dims.len() - 2);
        let [rows, columns] = [inner[0], inner[1]];
        let (most_rows, most_columns) = if self.cut {
            ((interrupt::STRIDE / columns.n).max(1), interrupt::STRIDE.min(columns.n))
        } else {
            (rows.n, columns.n)
        };
        let mut place = vec![0usize; outer.len()];
        let mut at = [0isize; N];
        let mut since_check = 0;
        loop {
            for row in (0..rows.n).step_by(most_rows) {
                for column in (0..columns.n).step_by(most_columns) {
                    let tile = Tile {
                        n: most_columns.min(columns.n - column),
                        strides: columns.strides,
                        rows: most_rows.min(rows.n - row),
                        row_strides: rows.strides,
                    };
                    let start = std::array::from_fn(|i| {
                        at[i]
                            + row as isize * rows.strides[i]
                            + column as isize * columns.strides[i]
                    });
                    body(start, &tile)?;
                    since_check += tile.rows * tile.n;
                    if since_check >= interrupt::STRIDE {
                        interrupt::check()?;
                        since_check = 0;
                    }
                }
            }
            // The next place of the outer dimensions, the last one first.
            let mut axis = outer.len();
            loop {
                if axis == 0 {
                    return Ok(());
                }
                axis -= 1;
                let Dim { n, strides } = outer[axis];
                place[axis] += 1;
                let back = if place[axis] == n { n as isize - 1 } else { -1 };
                for (at, stride) in at.iter_mut().zip(strides) {
                    *at -= back * stride;
                }
                if back < 0 {
                    break;
                }
                place[axis] = 0;
            }
        }
    }
}

impl<const N: usize> Dim<N> {
    /// Whether one step of `self` equals all the steps of `inner`.
    fn follows(&self, inner: &Dim<N>) -> bool {
        self.strides
            .iter()
            .zip(inner.strides)
            .all(|(&outer, stride)| outer == stride * inner.n as isize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contiguous_dimensions_become_one() {
        let walk = Walk::any_order(&[4, 1, 5, 6], [&[30, 7, 6, 1]]);
        assert_eq!(walk.dims, [Dim { n: 1, strides: [0] }, Dim { n: 120, strides: [1] }]);
        let walk = Walk::any_order(&[5, 6], [&[1, 5]]);
        assert_eq!(walk.dims, [Dim { n: 1, strides: [0] }, Dim { n: 30, strides: [1] }]);
    }

    #[test]
    fn every_place_is_visited_in_order() {
        let mut seen = Vec::new();
        let strides: &[isize] = &[-100, 10, 3];
        Walk::any_order(&[2, 3, 2], [strides])
            .run(&mut |[at], tile| {
                for row in 0..tile.rows as isize {
                    for i in 0..tile.n as isize {
                        seen.push(at + row * tile.row_strides[0] + i * tile.strides[0]);
                    }
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(seen, [0, 3, 10, 13, 20, 23, -100, -97, -90, -87, -80, -77]);
    }
}
