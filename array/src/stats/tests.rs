//! Golden values made with numpy 2.4.6.

use super::*;
use crate::array::Array;
use crate::dtype::DType;
use crate::error::Error;
use crate::f16;
use crate::promote::Operand;

fn vector(values: &[f64]) -> Array {
    Array::vector(values.to_vec())
}

fn matrix(rows: usize, values: &[f64]) -> Array {
    Array::from_vec(values.to_vec(), &[rows, values.len() / rows]).unwrap()
}

fn list(array: &Array) -> Vec<f64> {
    array.to_vec().unwrap()
}

#[track_caller]
fn assert_near(found: &Array, golden: &[f64]) {
    let found = list(found);
    assert_eq!(found.len(), golden.len());
    for (found, golden) in found.iter().zip(golden) {
        assert!((found - golden).abs() < 1e-13 * golden.abs().max(1.0), "{found} for {golden}");
    }
}

#[test]
fn medians_by_axis_and_type() {
    let a = matrix(2, &[3.0, f64::NAN, 1.0, 7.0, 2.0, 5.0]);
    let median_of = |axes: Option<&[i64]>| list(&median(&a, axes, false).unwrap());
    assert!(median_of(None)[0].is_nan());
    assert_eq!(median_of(Some(&[0]))[2], 3.0);
    assert_eq!(list(&nanmedian(&a, Some(&[1]), false).unwrap()), [2.0, 5.0]);
    assert_eq!(nanmedian(&a, Some(&[0, 1]), true).unwrap().shape(), [1, 1]);
    let bytes = Array::vector((0..1000).map(|i| (i * 7 % 251) as u8).collect::<Vec<u8>>());
    assert_eq!(list(&median(&bytes, None, false).unwrap()), [124.5]);
    let halves = Array::vector([1.0, 2.0].map(f16::from_f64).to_vec());
    let middle = median(&halves, None, false).unwrap();
    assert_eq!((middle.dtype(), list(&middle)), (DType::F16, vec![1.5]));
}

#[test]
fn quantiles_by_all_methods() {
    let a = vector(&[1.0, 3.0, 2.0, 10.0, 7.0]);
    let golden = [
        ("inverted_cdf", 2.0),
        ("averaged_inverted_cdf", 2.0),
        ("closest_observation", 2.0),
        ("interpolated_inverted_cdf", 1.85),
        ("hazen", 2.35),
        ("weibull", 2.22),
        ("linear", 2.48),
        ("median_unbiased", 2.306_666_666_666_67),
        ("normal_unbiased", 2.3175),
        ("lower", 2.0),
        ("higher", 3.0),
        ("midpoint", 2.5),
        ("nearest", 2.0),
    ];
    for (name, golden) in golden {
        let method = QuantileMethod::from_name(name).unwrap();
        let quantile = Quantiles::fractions(&0.37.into(), method).unwrap();
        let found = list(&quantile.of(&a, None, false, false).unwrap())[0];
        assert!((found - golden).abs() < 1e-13, "{name}: {found}");
    }
}

#[test]
fn a_python_number_keeps_the_type_and_a_list_does_not() {
    let halves = Array::vector([1.1123, 1.2227, 1.3].map(f16::from_f64).to_vec());
    let linear = QuantileMethod::Linear;
    let low = Quantiles::fractions(&0.02.into(), linear).unwrap();
    let one = low.of(&halves, None, false, false).unwrap();
    assert_eq!((one.dtype(), list(&one)), (DType::F16, vec![1.1171875]));
    let several: Operand = vector(&[10.0, 90.0]).into();
    let several = Quantiles::percents(&several, linear).unwrap();
    let two = several.of(&halves, None, false, false).unwrap();
    assert_eq!((two.dtype(), two.shape()), (DType::F64, &[2][..]));
    assert_eq!(
        Quantiles::percents(&101.0.into(), linear).err(),
        Some(Error::Value("Percentiles must be in the range [0, 100]".to_owned()))
    );
    let flags = Array::vector(vec![true, false]);
    assert!(matches!(low.of(&flags, None, false, false), Err(Error::Type(_))));
}

#[test]
fn means_with_weights() {
    let weights = vector(&[1.0, 3.0]);
    let a = matrix(2, &[1.0, 2.0, 3.0, 4.0]);
    let (mean, sum) = average(&a, Some(&[1]), Some(&weights), false).unwrap();
    assert_eq!((list(&mean), list(&sum)), (vec![1.75, 3.75], vec![4.0, 4.0]));
    assert!(matches!(
        average(&a, Some(&[0]), Some(&vector(&[1.0, -1.0])), false),
        Err(Error::ZeroDivision(_))
    ));
    // One weight for each row; bytes are averaged as float64.
    let bytes = Array::from_vec(vec![10u8, 20, 30, 40], &[2, 2]).unwrap();
    let single = Array::vector(vec![1.0f32, 3.0]);
    let (mean, sum) = average(&bytes, Some(&[0]), Some(&single), false).unwrap();
    assert_eq!(
        (mean.dtype(), list(&mean), list(&sum)),
        (DType::F64, vec![25.0, 35.0], vec![4.0; 2])
    );
}

#[test]
fn counting() {
    let a = vector(&[1.0, 2.0, 1.0, 4.0, 3.5]);
    let (counts, edges) = histogram(&a, &Bins::Count(3), None, false, None).unwrap();
    assert_eq!((list(&counts), list(&edges)), (vec![2.0, 1.0, 2.0], vec![1.0, 2.0, 3.0, 4.0]));
    assert_eq!(counts.dtype(), DType::I64);
    let (density, _) = histogram(&a, &Bins::Edges(edges), None, true, None).unwrap();
    assert_near(&density, &[0.4, 0.2, 0.4]);
    // The range of Python numbers keeps the type of the edges; the last bin has both its edges.
    let single = a.cast(DType::F32).unwrap();
    let range = (1.into(), 2.into());
    let (counts, edges) = histogram(&single, &Bins::Count(2), Some(&range), false, None).unwrap();
    assert_eq!((list(&counts), edges.dtype()), (vec![2.0, 1.0], DType::F32));
    let weights = vector(&[0.5, 1.0, 0.25, 2.0, 4.0]);
    let rising = Bins::Edges(vector(&[0.0, 2.0, 4.0]));
    for bins in [rising, Bins::Count(1)] {
        let (sums, _) = histogram(&a, &bins, None, false, Some(&weights)).unwrap();
        let golden: &[f64] = if sums.size() == 1 { &[7.75] } else { &[0.75, 7.0] };
        assert_eq!(list(&sums), golden);
    }
    let (h, _, _) = histogram2d(
        &vector(&[0.0, 1.0, 2.0]),
        &vector(&[0.0, 1.0, 1.0]),
        [&Bins::Count(2), &Bins::Count(2)],
        [None, None],
        false,
        None,
    )
    .unwrap();
    assert_eq!(list(&h), [1.0, 0.0, 0.0, 2.0]);
    let counted = bincount(&Array::vector(vec![1i64, 3, 1]), None, 6).unwrap();
    assert_eq!(list(&counted), [0.0, 2.0, 0.0, 1.0, 0.0, 0.0]);
    assert!(bincount(&Array::vector(vec![-1i64]), None, 0).is_err());
    let bytes = bincount(&Array::vector(vec![2u8, 0, 2]), None, 2).unwrap();
    assert_eq!((list(&bytes), bytes.dtype()), (vec![1.0, 0.0, 2.0], DType::I64));
}

#[test]
fn differences_and_integrals() {
    let f = vector(&[1.0, 2.0, 4.0, 7.0, 11.0]);
    assert_eq!(list(&diff(&f, 2, -1, None, None).unwrap()), [1.0, 1.0, 1.0]);
    let zero = vector(&[0.0]);
    assert_eq!(list(&diff(&f, 1, 0, Some(&zero), None).unwrap())[0], 1.0);
    let flags = Array::vector(vec![true, true, false]);
    assert_eq!(diff(&flags, 1, 0, None, None).unwrap().to_vec::<bool>().unwrap(), [false, true]);
    assert!(matches!(ediff1d(&flags, None, None), Err(Error::Type(_))));
    assert_eq!(list(&ediff1d(&f, Some(&zero), None).unwrap()), [0.0, 1.0, 2.0, 3.0, 4.0]);
    let x = vector(&[0.0, 1.0, 4.0]);
    let y = vector(&[1.0, 2.0, 3.0]);
    assert_eq!(list(&trapezoid(&y, Some(&x), &1.0.into(), -1).unwrap()), [9.0]);
    let at = vector(&[-1.0, 0.5, 2.0, 9.0]);
    let (xp, fp) = (vector(&[0.0, 1.0, 3.0]), vector(&[0.0, 10.0, 20.0]));
    assert_eq!(list(&interp(&at, &xp, &fp, None, None, None).unwrap()), [0.0, 5.0, 15.0, 20.0]);
    let angles = vector(&[-1.0, 370.0]);
    let (xp, fp) = (vector(&[0.0, 180.0, 270.0]), vector(&[1.0, 2.0, 4.0]));
    let wrapped = interp(&angles, &xp, &fp, None, None, Some(360.0)).unwrap();
    assert_near(&wrapped, &[1.033_333_333_333_33, 1.055_555_555_555_56]);
}

#[test]
fn sliding_products() {
    let (a, v) = (vector(&[1.0, 2.0, 3.0]), vector(&[0.0, 1.0, 0.5]));
    assert_eq!(list(&convolve(&a, &v, Overlap::Full).unwrap()), [0.0, 1.0, 2.5, 4.0, 1.5]);
    assert_eq!(list(&correlate(&a, &v, Overlap::Same).unwrap()), [2.0, 3.5, 3.0]);
    assert_eq!(list(&convolve(&a, &v, Overlap::Valid).unwrap()), [2.5]);
}
