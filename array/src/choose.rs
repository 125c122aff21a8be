//! Choosing elements by conditions, and finding where they hold.

use crate::array::Array;
use crate::blocks;
use crate::dtype::{DType, Element, with_dtype};
use crate::error::{Result, bail};
use crate::interrupt;
use crate::promote::{Operand, result_type};
use crate::shape::broadcast_shapes;

/// `np.where(condition, a, b)`: elements of `a` where the condition holds, else of `b`.
///
/// # Errors
/// [`crate::Error::Value`] for shapes that do not fit, [`crate::Error::Overflow`] for a
/// Python integer without a place in the type.
pub fn choose(condition: &Array, a: &Operand, b: &Operand) -> Result<Array> {
    let dtype = result_type([a, b]);
    let shape = broadcast_shapes(&[condition.shape(), a.shape(), b.shape()])?;
    let condition = condition.cast(DType::Bool)?.broadcast_to(&shape)?;
    let a = a.to_array(dtype)?.broadcast_to(&shape)?;
    let b = b.to_array(dtype)?.broadcast_to(&shape)?;
    let out = Array::uninit(&shape, dtype)?;
    with_dtype!(dtype, T => {
        blocks::map([&condition, &a, &b], &out, &mut |[holds, a, b]: [&[T]; 3], out: &mut [T]| {
            for ((out, &holds), (&a, &b)) in out.iter_mut().zip(holds).zip(a.iter().zip(b)) {
                *out = if holds != T::ZERO { a } else { b };
            }
            Ok(())
        })?;
    });
    Ok(out)
}

/// `np.select`: for each element the choice of the first condition that holds, else the
/// default.
///
/// # Errors
/// [`crate::Error::Value`] for lists that do not fit, [`crate::Error::Type`] for a
/// condition that is not `bool`.
pub fn select(conditions: &[Array], choices: &[Operand], default: &Operand) -> Result<Array> {
    if conditions.len() != choices.len() {
        bail!(Value, "list of cases must be same length as list of conditions");
    }
    if conditions.is_empty() {
        bail!(Value, "select with an empty condition list is not possible");
    }
    if let Some(i) = conditions.iter().position(|condition| condition.dtype() != DType::Bool) {
        bail!(Type, "invalid entry {i} in condlist: should be boolean ndarray");
    }
    let dtype = result_type(choices.iter().chain([default]));
    let shapes: Vec<&[usize]> =
        conditions.iter().map(Array::shape).chain(choices.iter().map(Operand::shape)).collect();
    let shape = broadcast_shapes(&shapes)?;
    let mut out = default.to_array(dtype)?.broadcast_to(&shape)?.copy()?;
    for (condition, choice) in conditions.iter().zip(choices).rev() {
        let choice = choice.to_array(dtype)?;
        out = choose(condition, &choice.into(), &out.into())?;
    }
    Ok(out)
}

/// `np.nonzero`: the positions of elements that are not zero, one array for each dimension.
///
/// # Errors
/// [`crate::Error::Value`] without dimensions, [`crate::Error::Memory`].
pub fn nonzero(array: &Array) -> Result<Vec<Array>> {
    if array.ndim() == 0 {
        bail!(
            Value,
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() \
             instead. If the context of this error is of the form `arr[nonzero(cond)]`, just use \
             `arr[cond]`."
        );
    }
    let flat = positions(array)?;
    if array.ndim() == 1 {
        return Ok(vec![Array::vector(flat)]);
    }
    let mut places = vec![Vec::with_capacity(flat.len()); array.ndim()];
    // Counted up from position to position, which is quicker than divisions.
    let shape = array.shape();
    let mut place = vec![0usize; array.ndim()];
    let mut at = 0;
    for position in flat {
        let last = place.len() - 1;
        place[last] += (position - at) as usize;
        at = position;
        if place[last] >= shape[last] {
            let mut carry = place[last] / shape[last];
            place[last] %= shape[last];
            for axis in (0..last).rev() {
                let sum = place[axis] + carry;
                (place[axis], carry) = (sum % shape[axis], sum / shape[axis]);
                if carry == 0 {
                    break;
                }
            }
        }
        for (places, &index) in places.iter_mut().zip(&place) {
            places.push(index as i64);
        }
    }
    Ok(places.into_iter().map(Array::vector).collect())
}

/// `np.flatnonzero`: positions in the flattened array.
///
/// # Errors
/// [`crate::Error::Memory`].
pub fn flatnonzero(array: &Array) -> Result<Array> {
    Ok(Array::vector(positions(array)?))
}

/// `np.argwhere`: the position of each element that is not zero, as a row.
///
/// # Errors
/// [`crate::Error::Memory`].
pub fn argwhere(array: &Array) -> Result<Array> {
    if array.ndim() == 0 {
        let count = usize::from(array.get(&[]).to_bool());
        return Array::zeros(&[count, 0], DType::I64);
    }
    let places = nonzero(array)?;
    let count = places[0].size();
    let turned = Array::zeros(&[places.len(), count], DType::I64)?;
    for (axis, place) in places.iter().enumerate() {
        turned.index_axis(0, axis).fill_from(place)?;
    }
    turned.transposed().copy()
}

/// Positions of elements that are not zero, in C order.
fn positions(array: &Array) -> Result<Vec<i64>> {
    let array = array.contiguous()?;
    with_dtype!(array.dtype(), T => {
        let cells = array.as_cells::<T>().unwrap_or(&[]);
        let mut found = Vec::new();
        for (block, cells) in cells.chunks(interrupt::STRIDE).enumerate() {
            interrupt::check()?;
            let start = (block * interrupt::STRIDE) as i64;
            let there = cells.iter().filter(|cell| cell.get() != T::ZERO).count();
            found
                .try_reserve(there)
                .map_err(|_| crate::Error::Memory("Unable to allocate memory".to_owned()))?;
            found.extend(
                (start..).zip(cells).filter(|(_, cell)| cell.get() != T::ZERO).map(|(i, _)| i),
            );
        }
        Ok(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Scalar};

    fn list(array: &Array) -> Vec<i64> {
        array.to_vec().unwrap()
    }

    #[test]
    fn elements_are_chosen_with_broadcasting_and_types() {
        let condition = Array::from_vec(vec![true, false, false, true], &[2, 2]).unwrap();
        let a = Array::vector(vec![1u8, 2]);
        let chosen = choose(&condition, &a.clone().into(), &(-1i64).into());
        assert_eq!(
            chosen.unwrap_err(),
            Error::Overflow("Python integer -1 out of bounds for uint8".to_owned())
        );
        let chosen = choose(&condition, &a.into(), &0.5.into()).unwrap();
        assert_eq!(chosen.dtype(), DType::F64);
        assert_eq!(chosen.to_vec::<f64>().unwrap(), [1.0, 0.5, 0.5, 2.0]);
        let numbers = Array::vector(vec![0.0, f64::NAN]);
        let chosen = choose(&numbers, &1i64.into(), &0i64.into()).unwrap();
        assert_eq!(list(&chosen), [0, 1]);
    }

    #[test]
    fn the_first_condition_counts() {
        let x = Array::vector((0..6).collect::<Vec<i64>>());
        let low = Array::vector((0..6).map(|i| i < 3).collect::<Vec<bool>>());
        let high = Array::vector((0..6).map(|i| i > 1 && i < 5).collect::<Vec<bool>>());
        let chosen = select(&[low, high], &[x.into(), 10i64.into()], &(-1i64).into()).unwrap();
        assert_eq!(list(&chosen), [0, 1, 2, 10, 10, -1]);
    }

    #[test]
    fn positions_of_what_is_not_zero() {
        let mut values = vec![0.0f32; 2 * 3 * 4];
        for at in [1, 7, 8, 23] {
            values[at] = -1.0;
        }
        let array = Array::from_vec(values, &[2, 3, 4]).unwrap();
        let places: Vec<Vec<i64>> = nonzero(&array).unwrap().iter().map(list).collect();
        assert_eq!(places, [[0, 0, 0, 1], [0, 1, 2, 2], [1, 3, 0, 3]]);
        assert_eq!(list(&flatnonzero(&array).unwrap()), [1, 7, 8, 23]);
        let rows = argwhere(&array).unwrap();
        assert_eq!((rows.shape(), list(&rows)[3..6].to_vec()), (&[4, 3][..], vec![0, 1, 3]));
        assert!(nonzero(&Array::scalar(Scalar::I64(1))).is_err());
    }
}
