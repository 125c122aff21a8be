//! Where the elements are that an index with arrays selects, and how they get in and out.

use super::resolve;
use crate::array::Array;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result, bail};
use crate::interrupt;
use crate::shape::{broadcast_shapes, tight_text};

/// Positions of the selected elements relative to the buffer, as three nested loops: whole
/// dimensions before, the places that index arrays give, whole dimensions behind.
pub(super) struct Places {
    pub before: Vec<(usize, isize)>,
    /// Shape that the index arrays have together.
    pub index_shape: Vec<usize>,
    pub offsets: Vec<isize>,
    pub behind: Vec<(usize, isize)>,
    /// Whether the index is a single mask, which has an error text of its own.
    pub masked_whole: bool,
}

impl Places {
    pub fn of_mask(array: &Array, mask: &Array) -> Result<Places> {
        let mut offsets = true_offsets(mask, array.strides())?;
        offsets.iter_mut().for_each(|offset| *offset += array.offset() as isize);
        Ok(Places {
            before: Vec::new(),
            index_shape: vec![offsets.len()],
            offsets,
            behind: Vec::new(),
            masked_whole: true,
        })
    }

    pub fn shape(&self) -> Vec<usize> {
        let lengths = |dims: &[(usize, isize)]| dims.iter().map(|&(n, _)| n).collect::<Vec<_>>();
        [lengths(&self.before), self.index_shape.clone(), lengths(&self.behind)].concat()
    }

    /// Calls `body` with the number of elements copied so far and the place of the next ones,
    /// which are `run` neighbours.
    fn for_runs(&self, mut body: impl FnMut(usize, isize, usize)) -> Result<()> {
        // Behind dimensions that lie without gaps are one run.
        let mut behind = self.behind.clone();
        let mut run = 1;
        while let Some(&(n, stride)) = behind.last()
            && (stride == run as isize || n == 1)
        {
            run *= n;
            behind.pop();
        }
        let before = dim_offsets(&self.before);
        let behind = dim_offsets(&behind);
        let mut done = 0;
        let mut until_check = interrupt::STRIDE;
        for &outer in &before {
            for &middle in &self.offsets {
                for &inner in &behind {
                    body(done, outer + middle + inner, run);
                    done += run;
                }
                if done > until_check {
                    interrupt::check()?;
                    until_check = done + interrupt::STRIDE;
                }
            }
        }
        Ok(())
    }

    pub fn gather<T: Element>(&self, array: &Array) -> Result<Array> {
        let from = array.buffer().as_ptr().cast::<T>();
        Array::build(&self.shape(), |out: &mut [T]| {
            // SAFETY: every place was checked against the array's shape.
            self.for_runs(|done, at, run| unsafe {
                let from = from.offset(at);
                if run == 1 {
                    out[done] = from.read();
                } else {
                    from.copy_to(out[done..][..run].as_mut_ptr(), run);
                }
            })
        })
    }

    pub fn scatter<T: Element>(&self, array: &Array, value: &Array) -> Result<()> {
        let to = array.buffer().as_ptr().cast::<T>();
        if value.strides().iter().all(|&stride| stride == 0) && !value.is_empty() {
            let value: T = value.get(&vec![0; value.ndim()]).to();
            // SAFETY: every place was checked against the array's shape.
            return self.for_runs(|_, at, run| unsafe {
                let to = to.offset(at);
                (0..run).for_each(|i| to.add(i).write(value));
            });
        }
        let value = value.contiguous()?;
        let Some(cells) = value.as_cells::<T>() else { return Ok(()) };
        // SAFETY: as above; the value was copied if it overlaps.
        self.for_runs(|done, at, run| unsafe {
            let to = to.offset(at);
            for (i, cell) in cells[done..][..run].iter().enumerate() {
                to.add(i).write(cell.get());
            }
        })
    }
}

/// One index array as offsets into the buffer.
pub(super) struct Take {
    shape: Vec<usize>,
    offsets: Vec<isize>,
}

impl Take {
    pub fn positions(positions: &Array, array: &Array, axis: usize) -> Result<Take> {
        if !positions.dtype().is_integer() {
            bail!(Index, "arrays used as indices must be of integer (or boolean) type");
        }
        let (n, stride) = (array.shape()[axis], array.strides()[axis]);
        let mut offsets = Vec::with_capacity(positions.size());
        for position in positions.cast(DType::I64)?.iter::<i64>() {
            offsets.push(resolve(position, n, axis)? as isize * stride);
        }
        Ok(Take { shape: positions.shape().to_vec(), offsets })
    }

    pub fn mask(mask: &Array, array: &Array, axis: usize) -> Result<Take> {
        if mask.dtype() != DType::Bool {
            bail!(Index, "arrays used as indices must be of integer (or boolean) type");
        }
        let covered = &array.shape()[axis..axis + mask.ndim()];
        for (i, (&n, &of_mask)) in covered.iter().zip(mask.shape()).enumerate() {
            if n != of_mask {
                bail!(
                    Index,
                    "boolean index did not match indexed array along axis {}; size of axis is \
                     {n} but size of corresponding boolean axis is {of_mask}",
                    axis + i
                );
            }
        }
        let offsets = true_offsets(mask, &array.strides()[axis..axis + mask.ndim()])?;
        Ok(Take { shape: vec![offsets.len()], offsets })
    }

    /// Repeats all to one shape and adds their offsets.
    pub fn join(takes: Vec<Take>) -> Result<(Vec<usize>, Vec<isize>)> {
        let shapes: Vec<&[usize]> = takes.iter().map(|take| &take.shape[..]).collect();
        let Ok(shape) = broadcast_shapes(&shapes) else {
            let all: String = shapes.iter().map(|shape| tight_text(shape) + " ").collect();
            bail!(
                Index,
                "shape mismatch: indexing arrays could not be broadcast together with shapes {all}"
            )
        };
        let mut joint: Option<Vec<isize>> = None;
        for take in takes {
            let offsets = if take.shape == shape {
                take.offsets
            } else {
                let offsets = take.offsets.iter().map(|&offset| offset as i64).collect();
                Array::from_vec::<i64>(offsets, &take.shape)?
                    .broadcast_to(&shape)?
                    .iter::<i64>()
                    .map(|offset| offset as isize)
                    .collect()
            };
            joint = Some(match joint {
                None => offsets,
                Some(mut joint) => {
                    joint.iter_mut().zip(offsets).for_each(|(sum, offset)| *sum += offset);
                    joint
                }
            });
        }
        Ok((shape, joint.unwrap_or_default()))
    }
}

/// Where a mask is true, with these strides for its dimensions.
fn true_offsets(mask: &Array, strides: &[isize]) -> Result<Vec<isize>> {
    let mask = mask.contiguous()?;
    let Some(cells) = mask.as_cells::<bool>() else { return Ok(Vec::new()) };
    let count = cells.iter().filter(|cell| cell.get()).count();
    let mut offsets = Vec::new();
    offsets
        .try_reserve_exact(count)
        .map_err(|_| Error::Memory("Unable to allocate memory for an index".to_owned()))?;
    let Some((&stride, outer_strides)) = strides.split_last() else {
        offsets.extend(cells.iter().filter(|cell| cell.get()).map(|_| 0));
        return Ok(offsets);
    };
    let row = mask.shape()[mask.ndim() - 1];
    let mut place = vec![0; outer_strides.len()];
    for line in cells.chunks_exact(row.max(1)) {
        let start: isize = place.iter().zip(outer_strides).map(|(&i, &s)| i as isize * s).sum();
        let mut at = start;
        for cell in line {
            if cell.get() {
                offsets.push(at);
            }
            at += stride;
        }
        for (slot, &n) in place.iter_mut().zip(mask.shape()).rev() {
            *slot += 1;
            if *slot < n {
                break;
            }
            *slot = 0;
        }
    }
    Ok(offsets)
}

/// Offsets of all places in these dimensions, in C order.
fn dim_offsets(dims: &[(usize, isize)]) -> Vec<isize> {
    dims.iter().fold(vec![0], |offsets, &(n, stride)| {
        offsets
            .iter()
            .flat_map(|&offset| (0..n as isize).map(move |i| offset + i * stride))
            .collect()
    })
}

/// `a[mask]` where both lie in C order without gaps.
pub(super) fn compress<T: Element>(array: &Array, mask: &Array) -> Result<Array> {
    let (Some(values), Some(mask)) = (array.as_cells::<T>(), mask.as_cells::<bool>()) else {
        bail!(Value, "a mask and its array must both be contiguous")
    };
    let count = mask.iter().filter(|cell| cell.get()).count();
    Array::build(&[count], |out: &mut [T]| {
        let mut done = 0;
        for (values, mask) in values.chunks(interrupt::STRIDE).zip(mask.chunks(interrupt::STRIDE)) {
            for (value, mask) in values.iter().zip(mask) {
                // Without a branch: a place is written again until its value is wanted.
                if done < count {
                    out[done] = value.get();
                }
                done += usize::from(mask.get());
            }
            interrupt::check()?;
        }
        Ok(())
    })
}

/// `a[mask] = value` where both lie in C order without gaps.
pub(super) fn fill_masked<T: Element>(array: &Array, mask: &Array, value: T) -> Result<()> {
    let (Some(values), Some(mask)) = (array.as_cells::<T>(), mask.as_cells::<bool>()) else {
        bail!(Value, "a mask and its array must both be contiguous")
    };
    for (values, mask) in values.chunks(interrupt::STRIDE).zip(mask.chunks(interrupt::STRIDE)) {
        for (cell, mask) in values.iter().zip(mask) {
            cell.set(if mask.get() { value } else { cell.get() });
        }
        interrupt::check()?;
    }
    Ok(())
}

/// Runs the body with `$T` bound to the type of [`Array::as_bits`].
macro_rules! with_bits {
    ($bits:expr, $T:ident => $body:expr) => {
        match $bits.dtype() {
            $crate::DType::U8 => {
                type $T = u8;
                $body
            }
            $crate::DType::F16 => {
                type $T = $crate::f16;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            _ => {
                type $T = i64;
                $body
            }
        }
    };
}
pub(super) use with_bits;
