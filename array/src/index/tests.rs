use super::*;
use crate::scalar::Scalar;

fn cube() -> Array {
    Array::vector((0..24).collect::<Vec<i64>>()).reshape(&[2, 3, 4]).unwrap()
}

fn slice(start: impl Into<Option<i64>>, stop: impl Into<Option<i64>>, step: i64) -> Index {
    Index::Slice { start: start.into(), stop: stop.into(), step: Some(step) }
}

fn take(values: &[i64]) -> Index {
    Index::Take(Array::vector(values.to_vec()))
}

fn at(index: &[Index]) -> (Vec<usize>, Vec<i64>) {
    let result = cube().index(index).unwrap();
    (result.shape().to_vec(), result.to_vec().unwrap())
}

#[test]
fn slices_follow_python() {
    // a[::-1, 1, 3:0:-2]
    assert_eq!(
        at(&[slice(None, None, -1), Index::Int(1), slice(3, 0, -2)]),
        (vec![2, 2], vec![19, 17, 7, 5])
    );
    // a[..., None, -1]
    assert_eq!(at(&[Index::Ellipsis, Index::NewAxis, Index::Int(-1)]).0, [2, 3, 1]);
    assert_eq!(at(&[slice(5, 9, 1)]), (vec![0, 3, 4], vec![]));
    assert_eq!(slice_bounds(5, Some(-100), Some(100), Some(2)), Ok((0, 3, 2)));
    assert_eq!(slice_bounds(5, Some(100), Some(-100), Some(-2)), Ok((4, 3, -2)));
    assert_eq!(slice_bounds(0, None, None, Some(-1)).unwrap().1, 0);
}

#[test]
fn views_alias_and_copies_do_not() {
    let a = cube();
    a.index(&[Index::Int(1), slice(None, None, 2)])
        .unwrap()
        .assign(&[Index::Ellipsis], &Operand::from(7i64))
        .unwrap();
    assert_eq!(a.get(&[1, 2, 3]), Scalar::I64(7));
    assert_eq!(a.get(&[1, 1, 3]), Scalar::I64(19));
    assert!(!a.index(&[take(&[0])]).unwrap().may_share_memory(&a));
}

#[test]
fn index_arrays_stand_together_or_go_in_front() {
    // a[:, [0, 2], [1, 3]]
    assert_eq!(at(&[Index::ALL, take(&[0, 2]), take(&[1, 3])]), (vec![2, 2], vec![1, 11, 13, 23]));
    // a[[0, 1], :, [1, 3]]: apart, so their dimension comes first
    assert_eq!(
        at(&[take(&[0, 1]), Index::ALL, take(&[1, 3])]),
        (vec![2, 3], vec![1, 5, 9, 15, 19, 23])
    );
    // a[0, :, [1, 3]]: the position counts as an index array
    assert_eq!(
        at(&[Index::Int(0), Index::ALL, take(&[1, 3])]),
        (vec![2, 3], vec![1, 5, 9, 3, 7, 11])
    );
    // a[:, [[0], [2]], [1, 3]]
    let column = Index::Take(Array::from_vec(vec![0i64, 2], &[2, 1]).unwrap());
    assert_eq!(
        at(&[Index::ALL, column, take(&[1, 3])]),
        (vec![2, 2, 2], vec![1, 3, 9, 11, 13, 15, 21, 23])
    );
}

#[test]
fn masks_select_and_assign() {
    let a = cube();
    let mask = crate::ufunc::map2(crate::ufunc::Binary::Greater, &a, 20i64).unwrap();
    assert_eq!(at(&[Index::Mask(mask.clone())]).1, [21, 22, 23]);
    let rows = Array::from_vec(vec![true, false, false, false, false, true], &[2, 3]).unwrap();
    assert_eq!(at(&[Index::Mask(rows.clone())]), (vec![2, 4], vec![0, 1, 2, 3, 20, 21, 22, 23]));
    // a[rows, 1:3]
    assert_eq!(at(&[Index::Mask(rows.clone()), slice(1, 3, 1)]).1, [1, 2, 21, 22]);
    a.assign(&[Index::Mask(mask.clone())], &Operand::from(-1i64)).unwrap();
    a.assign(&[Index::Mask(rows)], &Array::vector(vec![1.9, 2.0, 3.0, 4.0]).into()).unwrap();
    assert_eq!(a.to_vec::<i64>().unwrap()[18..], [18, 19, 1, 2, 3, 4]);
    assert_eq!(a.to_vec::<i64>().unwrap()[..5], [1, 2, 3, 4, 4]);
    let error = a.assign(&[Index::Mask(mask)], &Array::vector(vec![1i64, 2]).into()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "NumPy boolean array indexing assignment cannot assign 2 input values to the 3 output values where the mask is true"
    );
}

#[test]
fn overlapping_assignment_reads_first() {
    let a = Array::vector(vec![0i64, 1, 2, 3, 4]);
    let value = a.index(&[slice(0, 4, 1)]).unwrap();
    a.assign(&[slice(1, 5, 1)], &value.into()).unwrap();
    assert_eq!(a.to_vec::<i64>().unwrap(), [0, 0, 1, 2, 3]);
}

#[test]
fn mistakes_are_told_as_numpy_does() {
    let text = |index: &[Index]| cube().index(index).unwrap_err().to_string();
    assert_eq!(
        text(&[Index::ALL, Index::Int(3)]),
        "index 3 is out of bounds for axis 1 with size 3"
    );
    assert_eq!(
        text(&[Index::Int(0), Index::Int(0), Index::Int(0), Index::Int(0)]),
        "too many indices for array: array is 3-dimensional, but 4 were indexed"
    );
    assert_eq!(
        text(&[take(&[0, 1]), take(&[0, 1, 2])]),
        "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,) "
    );
    assert_eq!(
        text(&[Index::Mask(Array::vector(vec![true]))]),
        "boolean index did not match indexed array along axis 0; size of axis is 2 but size of corresponding boolean axis is 1"
    );
    let a = cube();
    let assign = |value: Operand| a.assign(&[Index::Int(0)], &value).unwrap_err().to_string();
    assert_eq!(
        assign(Array::vector(vec![1i64, 2]).into()),
        "could not broadcast input array from shape (2,) into shape (3,4)"
    );
    assert_eq!(assign(f64::NAN.into()), "cannot convert float NaN to integer");
}
