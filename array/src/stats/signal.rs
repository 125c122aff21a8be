//! Sliding products.

use crate::array::Array;
use crate::dtype::with_dtype;
use crate::error::{Result, bail};
use crate::interrupt;
use crate::linalg::Factor;
use crate::promote::promote;

/// Which part of a sliding product is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// Where both overlap wholly.
    Valid,
    /// As long as the longer operand, centred.
    Same,
    /// Wherever they overlap at all.
    Full,
}

impl Overlap {
    /// # Errors
    /// [`crate::Error::Value`] for an unknown name.
    pub fn from_name(name: &str) -> Result<Overlap> {
        match name {
            "valid" => Ok(Overlap::Valid),
            "same" => Ok(Overlap::Same),
            "full" => Ok(Overlap::Full),
            _ => bail!(Value, "mode must be one of 'valid', 'same', or 'full' (got '{name}')"),
        }
    }
}

/// `np.convolve` of two vectors.
///
/// # Errors
/// [`crate::Error::Value`] for an empty operand or more than one dimension.
pub fn convolve(a: &Array, v: &Array, overlap: Overlap) -> Result<Array> {
    let (a, v) = if v.size() > a.size() { (v, a) } else { (a, v) };
    let (a, v) = (vector(a, "a cannot be empty")?, vector(v, "v cannot be empty")?);
    correlate(&a, &crate::rearrange::flip(&v, None)?, overlap)
}

/// `np.correlate` of two vectors: sums of `a[n + k] v[n]`.
///
/// # Errors
/// As [`convolve`].
pub fn correlate(a: &Array, v: &Array, overlap: Overlap) -> Result<Array> {
    let a = vector(a, "first array argument cannot be empty")?;
    let v = vector(v, "second array argument cannot be empty")?;
    let swap = v.size() > a.size();
    let dtype = promote(a.dtype(), v.dtype());
    let (long, short) = if swap { (v, a) } else { (a, v) };
    with_dtype!(dtype, T => {
        let mut products = slide::<T>(&long.to_vec()?, &short.to_vec()?, overlap)?;
        if swap {
            products.reverse();
        }
        Ok(Array::vector(products))
    })
}

fn vector(array: &Array, if_empty: &str) -> Result<Array> {
    if array.is_empty() {
        bail!(Value, "{if_empty}");
    }
    if array.ndim() > 1 {
        bail!(Value, "object too deep for desired array");
    }
    array.at_least(1)
}

fn slide<T: Factor>(long: &[T], short: &[T], overlap: Overlap) -> Result<Vec<T>> {
    let (n, m) = (long.len(), short.len());
    // Places of the short one's end, counted from the long one's start.
    let (from, to) = match overlap {
        Overlap::Valid => (m, n + 1),
        Overlap::Same => (m - m / 2, m - m / 2 + n),
        Overlap::Full => (1, n + m),
    };
    let mut products = Vec::with_capacity(to - from);
    let partly = |end: usize| {
        let (start, skip) = (end.saturating_sub(m), m.saturating_sub(end));
        let stop = end.min(n);
        T::dot(&long[start..stop], &short[skip..skip + stop - start])
    };
    products.extend((from..m).map(partly));
    let piece = interrupt::STRIDE / m + 1;
    for start in (0..n + 1 - m).step_by(piece) {
        interrupt::check()?;
        let windows = long[start..n.min(start + piece + m - 1)].windows(m);
        products.extend(windows.map(|window| T::dot(window, short)));
    }
    products.extend((n + 1..to).map(partly));
    Ok(products)
}
