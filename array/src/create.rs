//! Arrays from a rule: ranges, grids, identity.

use half::f16;

use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Error, Result, bail};
use crate::promote::{Operand, result_type};
use crate::scalar::{Scalar, Weak};
use crate::ufunc::{Binary, Number, Unary, map1, map2};

/// `np.arange`: from `start` up to `stop`, excluded, in steps. The type is that of the
/// arguments together unless given.
///
/// # Errors
/// [`Error::ZeroDivision`] for a step of zero, [`Error::Value`] for a length that is no
/// number, [`Error::Memory`].
pub fn arange(
    start: &Operand,
    stop: &Operand,
    step: &Operand,
    dtype: Option<DType>,
) -> Result<Array> {
    let natural = result_type([start, stop, step]);
    let dtype = dtype.unwrap_or(if natural == DType::Bool { DType::I64 } else { natural });
    if natural.is_float() {
        let [start, stop, step] =
            [scalar(start)?, scalar(stop)?, scalar(step)?].map(Scalar::to_f64);
        if step == 0.0 {
            return Err(Error::ZeroDivision("division by zero".to_owned()));
        }
        let length = ((stop - start) / step).ceil();
        if length.is_nan() {
            bail!(Value, "arange: cannot compute length");
        }
        if length > isize::MAX as f64 {
            bail!(Value, "Maximum allowed size exceeded");
        }
        let length = length.max(0.0) as usize;
        return match dtype {
            DType::F64 => ramp::<f64>(length, start, step),
            DType::F32 => ramp::<f32>(length, start, step),
            DType::F16 => {
                let half = |value: f64| f64::from(f16::from_f64(value).to_f32());
                ramp::<f32>(length, half(start), half(start + step) - half(start))
            }
            _ => ramp::<f64>(length, start.trunc(), (start + step).trunc() - start.trunc()),
        }?
        .cast(dtype);
    }
    let [start, stop, step] = [scalar(start)?, scalar(stop)?, scalar(step)?].map(Scalar::to_i64);
    if step == 0 {
        return Err(Error::ZeroDivision("division by zero".to_owned()));
    }
    let span = i128::from(stop) - i128::from(start);
    let length = if (span > 0) == (step > 0) && span != 0 {
        span.unsigned_abs().div_ceil(u128::from(step.unsigned_abs()))
    } else {
        0
    };
    let length = usize::try_from(length)
        .map_err(|_| Error::Value("Maximum allowed size exceeded".to_owned()))?;
    Array::build(&[length], |out: &mut [i64]| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = start.wrapping_add((i as i64).wrapping_mul(step));
        }
        Ok(())
    })?
    .cast(dtype)
}

/// numpy computes two elements and goes on by their difference, in the type itself.
fn ramp<T: Number>(length: usize, start: f64, step: f64) -> Result<Array> {
    let (first, second) = (T::from_f64(start), T::from_f64(start + step));
    let delta = second.subtract(first);
    Array::build(&[length], |out: &mut [T]| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = if i == 1 { second } else { first.add(T::from_i64(i as i64).multiply(delta)) };
        }
        Ok(())
    })
}

fn scalar(operand: &Operand) -> Result<Scalar> {
    match operand {
        Operand::Array(array) => array.item(),
        Operand::Weak(weak) => weak.to_scalar(weak.dtype()),
    }
}

/// `np.linspace`: `count` numbers from `start` to `stop`, which may be arrays, along a new
/// axis; and the step between them.
///
/// # Errors
/// [`Error::Value`] for shapes that do not fit, [`Error::Axis`], [`Error::Memory`].
pub fn linspace(
    start: &Operand,
    stop: &Operand,
    count: usize,
    endpoint: bool,
    dtype: Option<DType>,
    axis: i64,
) -> Result<(Array, Array)> {
    let natural = result_type([start, stop, &1.0.into()]);
    let start = start.to_array(natural)?;
    let span = map2(Binary::Subtract, stop.to_array(natural)?, &start)?;
    let divisions = if endpoint { count.saturating_sub(1) } else { count };
    let column: Vec<i64> = std::iter::once(-1).chain(std::iter::repeat_n(1, span.ndim())).collect();
    let ramp =
        Array::vector((0..count).map(|i| i as f64).collect()).cast(natural)?.reshape(&column)?;
    let (line, step) = if divisions == 0 {
        (map2(Binary::Multiply, &ramp, &span)?, Array::full(&[], Scalar::F64(f64::NAN))?)
    } else {
        let divisor = Operand::Weak(Weak::Int(divisions as i128));
        let step = map2(Binary::Divide, &span, divisor.clone())?;
        let still = step.cast(DType::F64)?.iter::<f64>().any(|step| step == 0.0);
        let line = if still {
            map2(Binary::Multiply, map2(Binary::Divide, &ramp, divisor)?, &span)?
        } else {
            map2(Binary::Multiply, &ramp, &step)?
        };
        (line, step)
    };
    let line = map2(Binary::Add, line, &start)?;
    if endpoint && count > 1 {
        let last = line.index_axis(0, count - 1);
        let stop = stop.to_array(natural)?.broadcast_to(last.shape())?;
        last.fill_from(&stop)?;
    }
    let line = match dtype {
        // Integers are rounded down, not towards zero.
        Some(dtype) if dtype.is_integer() => map1(Unary::Floor, line)?.cast(dtype)?,
        Some(dtype) => line.cast(dtype)?,
        None => line,
    };
    Ok((line.moveaxis(&[0], &[axis])?, step))
}

/// `np.logspace`: powers of `base` with exponents as of [`linspace`].
///
/// # Errors
/// As [`linspace`].
pub fn logspace(
    start: &Operand,
    stop: &Operand,
    count: usize,
    endpoint: bool,
    base: f64,
    dtype: Option<DType>,
) -> Result<Array> {
    let (exponents, _) = linspace(start, stop, count, endpoint, None, 0)?;
    let powers = map2(Binary::Power, base, exponents)?;
    dtype.map_or(Ok(powers.clone()), |dtype| powers.cast(dtype))
}

/// `np.geomspace`: `count` numbers with equal ratios between them, ends exact.
///
/// # Errors
/// [`Error::Value`] when an end is zero; ends of different sign would need complex numbers.
pub fn geomspace(
    start: f64,
    stop: f64,
    count: usize,
    endpoint: bool,
    dtype: Option<DType>,
) -> Result<Array> {
    if start == 0.0 || stop == 0.0 {
        bail!(Value, "Geometric sequence cannot include zero");
    }
    if (start < 0.0) != (stop < 0.0) {
        bail!(NotImplemented, "geomspace between numbers of different sign needs complex numbers");
    }
    let sign = start.signum();
    // From one to the ratio, so that the ends need no correction but for rounding.
    let exponent = (stop / start).log10();
    let powers = logspace(&0.0.into(), &exponent.into(), count, endpoint, 10.0, None)?;
    if count > 0 {
        powers.set(&[0], Scalar::F64(1.0))?;
        if count > 1 && endpoint {
            powers.set(&[count - 1], Scalar::F64(stop / start))?;
        }
    }
    let result = map2(Binary::Multiply, powers, start.abs())?;
    let result = map2(Binary::Multiply, result, sign)?;
    dtype.map_or(Ok(result.clone()), |dtype| result.cast(dtype))
}

/// `np.eye`: ones on the diagonal `offset` places above the main one.
///
/// # Errors
/// [`Error::Memory`].
pub fn eye(rows: usize, columns: usize, offset: i64, dtype: DType) -> Result<Array> {
    let array = Array::zeros(&[rows, columns], dtype)?;
    for row in 0..rows {
        let column = (row as i64).checked_add(offset).and_then(|c| usize::try_from(c).ok());
        if let Some(column) = column.filter(|&column| column < columns) {
            array.set(&[row, column], Scalar::I64(1))?;
        }
    }
    Ok(array)
}

/// `np.indices(shape, sparse=True)`: for each dimension its positions, shaped to broadcast.
///
/// # Errors
/// [`Error::Memory`].
pub fn open_indices(shape: &[usize], dtype: DType) -> Result<Vec<Array>> {
    (0..shape.len())
        .map(|axis| {
            let mut dims = vec![1; shape.len()];
            dims[axis] = shape[axis];
            Array::build(&dims, |out: &mut [i64]| {
                out.iter_mut().enumerate().for_each(|(i, out)| *out = i as i64);
                Ok(())
            })?
            .cast(dtype)
        })
        .collect()
}

/// `np.indices(shape)`: the position of every element, one plane for each dimension.
///
/// # Errors
/// [`Error::Memory`].
pub fn indices(shape: &[usize], dtype: DType) -> Result<Array> {
    let whole: Vec<usize> = std::iter::once(shape.len()).chain(shape.iter().copied()).collect();
    let out = Array::uninit(&whole, dtype)?;
    for (axis, positions) in open_indices(shape, dtype)?.into_iter().enumerate() {
        out.index_axis(0, axis).fill_from(&positions.broadcast_to(shape)?)?;
    }
    Ok(out)
}

/// `np.meshgrid`: one array for each vector, spread over the grid of all of them. With `xy`
/// the first two dimensions are exchanged; `sparse` leaves the others at length one.
///
/// # Errors
/// [`Error::Memory`].
pub fn meshgrid(vectors: &[Array], xy: bool, sparse: bool) -> Result<Vec<Array>> {
    let n = vectors.len();
    let place = |i: usize| if xy && n > 1 && i < 2 { 1 - i } else { i };
    let mut shape = vec![1; n];
    for (i, vector) in vectors.iter().enumerate() {
        shape[place(i)] = vector.size();
    }
    vectors
        .iter()
        .enumerate()
        .map(|(i, vector)| {
            let mut dims = vec![1; n];
            dims[place(i)] = vector.size();
            let open = vector.ravel()?.reshaped(dims)?;
            if sparse { open.copy() } else { open.broadcast_to(&shape)?.copy() }
        })
        .collect()
}

/// `np.diag`: the diagonal of a matrix as a view, or a matrix with this diagonal.
///
/// # Errors
/// [`Error::Value`] for other than one or two dimensions, [`Error::Memory`].
pub fn diag(array: &Array, offset: i64) -> Result<Array> {
    match array.ndim() {
        1 => {
            let skip = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
            let n = array.size().saturating_add(skip);
            let out = Array::zeros(&[n, n], array.dtype())?;
            let start = if offset < 0 { skip * n } else { skip };
            out.with_layout(vec![array.size()], vec![n as isize + 1], start).fill_from(array)?;
            Ok(out)
        }
        2 => array.diagonal(offset, 0, 1),
        _ => bail!(Value, "Input must be 1- or 2-d."),
    }
}

/// `np.tri`: ones at and below a diagonal.
///
/// # Errors
/// [`Error::Memory`].
pub fn tri(rows: usize, columns: usize, offset: i64, dtype: DType) -> Result<Array> {
    Array::build(&[rows, columns], |out: &mut [bool]| {
        for (row, out) in out.chunks_exact_mut(columns.max(1)).enumerate() {
            for (column, out) in out.iter_mut().enumerate() {
                *out = column as i64 <= (row as i64).saturating_add(offset);
            }
        }
        Ok(())
    })?
    .cast(dtype)
}

/// `np.tril` and `np.triu`: a copy with zeros above, or below, a diagonal of the last two
/// dimensions.
///
/// # Errors
/// [`Error::Memory`].
pub fn triangle(array: &Array, offset: i64, lower: bool) -> Result<Array> {
    let array = match array.ndim() {
        // numpy spreads a vector over rows.
        1 => array.broadcast_to(&[array.size(), array.size()])?,
        0 => bail!(Value, "array must have at least one dimension"),
        _ => array.clone(),
    };
    let (rows, columns) = (array.shape()[array.ndim() - 2], array.shape()[array.ndim() - 1]);
    let copy = array.copy()?;
    let mask =
        tri(rows, columns, if lower { offset } else { offset.saturating_sub(1) }, DType::Bool)?;
    let gone = if lower { map1(Unary::LogicalNot, mask)? } else { mask };
    let gone = gone.broadcast_to(copy.shape())?;
    copy.assign(&[crate::index::Index::Mask(gone)], &Operand::Weak(Weak::Int(0)))?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: [f64; 3]) -> Vec<f64> {
        let [start, stop, step] = values.map(Operand::from);
        arange(&start, &stop, &step, None).unwrap().to_vec().unwrap()
    }

    #[test]
    fn ranges_are_numpys() {
        // np.arange(0, 1, 0.3), np.arange(1, 0, -0.25), np.arange(0.1, 0.4, 0.1)
        assert_eq!(of([0.0, 1.0, 0.3]), [0.0, 0.3, 0.6, 0.899_999_999_999_999_9]);
        assert_eq!(of([1.0, 0.0, -0.25]), [1.0, 0.75, 0.5, 0.25]);
        assert_eq!(of([0.1, 0.4, 0.1]), [0.1, 0.2, 0.300_000_000_000_000_04, 0.4]);
        let down = arange(&10i64.into(), &0i64.into(), &(-3i64).into(), None).unwrap();
        assert_eq!(down.to_vec::<i64>().unwrap(), [10, 7, 4, 1]);
        assert!(matches!(
            arange(&0i64.into(), &1i64.into(), &0i64.into(), None),
            Err(Error::ZeroDivision(_))
        ));
    }

    #[test]
    fn lines_end_where_they_should() {
        let (line, step) = linspace(&0i64.into(), &1i64.into(), 4, true, None, 0).unwrap();
        assert_eq!(
            line.to_vec::<f64>().unwrap(),
            [0.0, 0.333_333_333_333_333_3, 0.666_666_666_666_666_6, 1.0]
        );
        assert_eq!(step.item().unwrap(), Scalar::F64(1.0 / 3.0));
        let ends = Array::vector(vec![1.0, 2.0]);
        let (grid, _) = linspace(&0i64.into(), &ends.into(), 3, true, None, -1).unwrap();
        assert_eq!(
            (grid.shape(), grid.to_vec::<f64>().unwrap()),
            (&[2, 3][..], vec![0.0, 0.5, 1.0, 0.0, 1.0, 2.0])
        );
        let (whole, _) =
            linspace(&0i64.into(), &(-5i64).into(), 4, true, Some(DType::I64), 0).unwrap();
        assert_eq!(whole.to_vec::<i64>().unwrap(), [0, -2, -4, -5]);
        // np.geomspace(1, 1000, 4)
        assert_eq!(
            geomspace(1.0, 1000.0, 4, true, None).unwrap().to_vec::<f64>().unwrap(),
            [1.0, 10.0, 100.0, 1000.0]
        );
    }

    #[test]
    fn grids() {
        let grid = indices(&[2, 3], DType::I64).unwrap();
        assert_eq!(grid.to_vec::<i64>().unwrap(), [0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2]);
        let (x, y) = (Array::vector(vec![1i64, 2, 3]), Array::vector(vec![4i64, 5]));
        let mesh = meshgrid(&[x, y], true, false).unwrap();
        assert_eq!(mesh[0].shape(), [2, 3]);
        assert_eq!(mesh[1].to_vec::<i64>().unwrap(), [4, 4, 4, 5, 5, 5]);
    }

    #[test]
    fn triangles_and_diagonals() {
        assert_eq!(eye(2, 3, 1, DType::I64).unwrap().to_vec::<i64>().unwrap(), [0, 1, 0, 0, 0, 1]);
        let a = Array::vector((1..10).collect::<Vec<i64>>()).reshape(&[3, 3]).unwrap();
        assert_eq!(
            triangle(&a, 0, true).unwrap().to_vec::<i64>().unwrap(),
            [1, 0, 0, 4, 5, 0, 7, 8, 9]
        );
        assert_eq!(
            triangle(&a, 1, false).unwrap().to_vec::<i64>().unwrap(),
            [0, 2, 3, 0, 0, 6, 0, 0, 0]
        );
        assert_eq!(diag(&a, -1).unwrap().to_vec::<i64>().unwrap(), [4, 8]);
        assert_eq!(
            diag(&Array::vector(vec![1i64, 2]), 1).unwrap().to_vec::<i64>().unwrap(),
            [0, 1, 0, 0, 0, 2, 0, 0, 0]
        );
    }
}
