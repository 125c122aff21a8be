//! Golden values made with numpy 2.4.6.

use super::*;

fn ints(values: &[i64]) -> Array {
    Array::vector(values.to_vec())
}

fn floats(values: &[f64]) -> Array {
    Array::vector(values.to_vec())
}

fn list(array: &Array) -> Vec<i64> {
    array.to_vec().unwrap()
}

#[test]
fn nan_sorts_last_and_equals_keep_their_order() {
    let a = floats(&[2.0, f64::NAN, -1.0, f64::INFINITY, -f64::NAN, 0.0, -0.0]);
    let sorted = sort(&a, Some(-1)).unwrap().to_vec::<f64>().unwrap();
    assert_eq!(sorted[..5], [-1.0, 0.0, 0.0, 2.0, f64::INFINITY]);
    assert!(sorted[5].is_nan() && sorted[6].is_nan());
    assert_eq!(list(&argsort(&a, None).unwrap()), [2, 5, 6, 0, 3, 1, 4]);
}

#[test]
fn every_axis_can_be_sorted() {
    let a = Array::from_vec(vec![3i64, 1, 2, 0, 5, 4, 9, 7, 8, 6, 11, 10], &[2, 3, 2]).unwrap();
    let middle = sort(&a, Some(1)).unwrap();
    assert_eq!(list(&middle), [2, 0, 3, 1, 5, 4, 8, 6, 9, 7, 11, 10]);
    assert_eq!(list(&argsort(&a, Some(1)).unwrap()), [1, 1, 0, 0, 2, 2, 1, 1, 0, 0, 2, 2]);
    assert_eq!(list(&sort(&a, Some(0)).unwrap())[..6], [3, 1, 2, 0, 5, 4]);
    sort_in_place(&a, -1).unwrap();
    assert_eq!(list(&a), [1, 3, 0, 2, 4, 5, 7, 9, 6, 8, 10, 11]);
    assert_eq!(
        sort(&Array::scalar(crate::Scalar::I64(5)), Some(-1)).unwrap_err(),
        Error::Axis { axis: -1, ndim: 0 }
    );
}

#[test]
fn a_partition_divides() {
    let values: Vec<i64> = (0..101).map(|i| i * 37 % 101).collect();
    let a = ints(&values);
    for kth in [&[50i64][..], &[0, 100], &[-3, 20, 20]] {
        let parted = list(&partition(&a, kth, Some(0)).unwrap());
        let order = list(&argpartition(&a, kth, Some(0)).unwrap());
        for &k in kth {
            let k = if k < 0 { k + 101 } else { k } as usize;
            assert_eq!(parted[k], k as i64);
            assert!(parted[..k].iter().all(|&x| x < k as i64));
            assert_eq!(values[order[k] as usize], k as i64);
        }
    }
    assert_eq!(
        partition(&a, &[101], None).unwrap_err(),
        Error::Value("kth(=101) out of bounds (101)".to_owned())
    );
}

#[test]
fn lexsort_takes_the_last_key_first() {
    let order = lexsort(&[ints(&[3, 1, 2, 1]), ints(&[1, 1, 0, 1])]).unwrap();
    assert_eq!(list(&order), [2, 1, 3, 0]);
}

#[test]
fn places_in_sorted_arrays() {
    let a = floats(&[1.0, 2.0, 2.0, f64::NAN]);
    let v = floats(&[2.0, 0.0, 9.0, f64::NAN]);
    assert_eq!(list(&searchsorted(&a, &v, Side::Left, None).unwrap()), [1, 0, 3, 3]);
    assert_eq!(list(&searchsorted(&a, &v, Side::Right, None).unwrap()), [3, 0, 3, 4]);
    let order = ints(&[1, 2, 0]);
    let two = ints(&[2]);
    assert_eq!(
        list(&searchsorted(&ints(&[3, 1, 2]), &two, Side::Left, Some(&order)).unwrap()),
        [1]
    );
    let x = floats(&[0.2, 6.4, 3.0, 1.6]);
    let bins = floats(&[0.0, 1.0, 2.5, 4.0, 10.0]);
    assert_eq!(list(&digitize(&x, &bins, false).unwrap()), [1, 4, 3, 2]);
    let falling = floats(&[10.0, 4.0, 2.5, 1.0, 0.0]);
    assert_eq!(list(&digitize(&x, &falling, false).unwrap()), [4, 1, 2, 3]);
    assert_eq!(list(&digitize(&floats(&[4.0]), &falling, true).unwrap()), [2]);
    assert!(digitize(&x, &floats(&[0.0, 2.0, 1.0]), false).is_err());
}

#[test]
fn unique_gives_index_inverse_and_counts() {
    let a = Array::from_vec(vec![3i64, 1, 3, 2, 1, 3], &[2, 3]).unwrap();
    let u = unique(&a, None).unwrap();
    assert_eq!(list(&u.values), [1, 2, 3]);
    assert_eq!(list(&u.index), [1, 3, 0]);
    assert_eq!((list(&u.inverse), u.inverse.shape()), (vec![2, 0, 2, 1, 0, 2], &[2, 3][..]));
    assert_eq!(list(&u.counts), [2, 1, 3]);

    let rows = Array::from_vec(vec![1i64, 2, 0, 9, 1, 2], &[3, 2]).unwrap();
    let u = unique(&rows, Some(0)).unwrap();
    assert_eq!((list(&u.values), u.values.shape()), (vec![0, 9, 1, 2], &[2, 2][..]));
    assert_eq!((list(&u.index), list(&u.inverse)), (vec![1, 0], vec![1, 0, 1]));
    let columns = unique(&rows, Some(1)).unwrap();
    assert_eq!(list(&columns.values), [1, 2, 0, 9, 1, 2]);

    let nan = unique(&floats(&[f64::NAN, 1.0, f64::NAN, 0.0, -0.0]), None).unwrap();
    assert_eq!(list(&nan.counts), [2, 1, 2]);
}

#[test]
fn sets_combine() {
    let (a, b) = (ints(&[1, 2, 2, 3]), ints(&[2, 3, 4]));
    assert_eq!(isin(&a, &b, false).unwrap().to_vec::<bool>().unwrap(), [false, true, true, true]);
    let (values, in_a, in_b) = intersect1d(&a, &b).unwrap();
    assert_eq!([list(&values), list(&in_a), list(&in_b)], [[2, 3], [1, 3], [0, 1]]);
    assert_eq!(list(&union1d(&a, &b).unwrap()), [1, 2, 3, 4]);
    assert_eq!(list(&setdiff1d(&a, &b).unwrap()), [1]);
    assert_eq!(list(&setxor1d(&a, &b).unwrap()), [1, 4]);
    let nan = floats(&[f64::NAN]);
    assert_eq!(isin(&nan, &nan, false).unwrap().to_vec::<bool>().unwrap(), [false]);
}
