//! Polynomials, the highest power first.

use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::linalg::{LeastSquares, lstsq};
use crate::reduce::{Options, Reduction, reduce};
use crate::ufunc::{Binary, Unary, map1, map2};
use crate::warn::{Warning, warn};

/// What [`polyfit`] finds.
pub struct PolyFit {
    /// Highest power first, a column for each column of `y`.
    pub coefficients: Array,
    /// Of the scaled problem, as numpy's `full=True` gives them.
    pub least_squares: LeastSquares,
    /// Singular values below this times the largest counted as zero.
    pub rcond: f64,
}

/// The polynomial of a degree that fits points best: `np.polyfit`. Weights apply to the
/// residuals before they are squared.
///
/// # Errors
/// [`crate::Error::Value`] for a negative degree, [`crate::Error::Type`] for points that do
/// not fit, [`crate::Error::LinAlg`] for NaN.
pub fn polyfit(
    x: &Array,
    y: &Array,
    degree: i64,
    rcond: Option<f64>,
    weights: Option<&Array>,
) -> Result<PolyFit> {
    let Ok(order) = usize::try_from(degree + 1) else { bail!(Value, "expected deg >= 0") };
    if degree < 0 {
        bail!(Value, "expected deg >= 0");
    }
    if x.ndim() != 1 {
        bail!(Type, "expected 1D vector for x");
    }
    if x.is_empty() {
        bail!(Type, "expected non-empty vector for x");
    }
    if !(1..=2).contains(&y.ndim()) {
        bail!(Type, "expected 1D or 2D array for y");
    }
    if x.shape()[0] != y.shape()[0] {
        bail!(Type, "expected x and y to have same length");
    }
    let (x, mut right) = (x.cast(DType::F64)?, y.cast(DType::F64)?);
    let rcond = rcond.unwrap_or(x.size() as f64 * f64::EPSILON);
    let mut left = powers(&x, order)?;
    if let Some(weights) = weights {
        if weights.ndim() != 1 {
            bail!(Type, "expected a 1-d array for weights");
        }
        if weights.shape()[0] != y.shape()[0] {
            bail!(Type, "expected w and y to have the same length");
        }
        let column = weights.cast(DType::F64)?.expand_dims(&[1])?;
        left = map2(Binary::Multiply, left, &column)?;
        let weights = if right.ndim() == 2 { column } else { weights.clone() };
        right = map2(Binary::Multiply, right, weights)?;
    }
    let squares = map2(Binary::Multiply, &left, &left)?;
    let sums = reduce(Reduction::Sum, &squares, Some(&[0]), &Options::default())?;
    let scale = map1(Unary::Sqrt, sums)?;
    let least_squares = lstsq(&map2(Binary::Divide, left, &scale)?, &right, Some(rcond))?;
    let scale = if right.ndim() == 2 { scale.expand_dims(&[1])? } else { scale };
    let coefficients = map2(Binary::Divide, &least_squares.x, scale)?;
    if least_squares.rank != order {
        warn(Warning::Rank, "Polyfit may be poorly conditioned")?;
    }
    Ok(PolyFit { coefficients, least_squares, rcond })
}

/// The powers of `x` as columns, the highest first: `np.vander`.
fn powers(x: &Array, count: usize) -> Result<Array> {
    let values = x.to_vec::<f64>()?;
    let mut matrix = vec![1.0; values.len() * count];
    for (row, &x) in matrix.chunks_exact_mut(count).zip(&values) {
        for power in (0..count - 1).rev() {
            row[power] = row[power + 1] * x;
        }
    }
    Array::from_vec(matrix, &[values.len(), count])
}

/// The value of a polynomial at each `x`: `np.polyval`.
///
/// # Errors
/// [`crate::Error::Memory`].
pub fn polyval(coefficients: &Array, x: &Array) -> Result<Array> {
    let mut value = Array::zeros(x.shape(), x.dtype())?;
    for i in 0..coefficients.size() {
        let coefficient = Array::scalar(coefficients.flat(i));
        value = map2(Binary::Add, map2(Binary::Multiply, value, x)?, coefficient)?;
    }
    Ok(value)
}
