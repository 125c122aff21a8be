//! Golden values made with numpy 2.4.6.

use super::*;
use crate::array::Array;
use crate::dtype::DType;
use crate::error::Error;

fn matrix(rows: usize, values: &[f64]) -> Array {
    Array::from_vec(values.to_vec(), &[rows, values.len() / rows]).unwrap()
}

fn vector(values: &[f64]) -> Array {
    Array::vector(values.to_vec())
}

fn symmetric() -> Array {
    matrix(3, &[2.0, 1.0, 0.0, 1.0, 3.0, -1.0, 0.0, -1.0, 4.0])
}

fn tall() -> Array {
    matrix(3, &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0])
}

#[track_caller]
fn assert_near(found: &Array, golden: &[f64]) {
    let found = found.to_vec::<f64>().unwrap();
    assert_eq!(found.len(), golden.len());
    for (found, golden) in found.iter().zip(golden) {
        assert!((found - golden).abs() < 1e-12 * golden.abs().max(1.0), "{found} for {golden}");
    }
}

#[test]
fn vectors_have_lapacks_signs() {
    let (w, v) = eigh(&symmetric(), false).unwrap();
    let (s, t) = (0.788_675_134_594_813, 0.577_350_269_189_626);
    let r = 0.211_324_865_405_187;
    assert_near(&w, &[1.267_949_192_431_12, 3.0, 4.732_050_807_568_88]);
    assert_near(&v, &[s, -t, -r, -t, -t, -t, -r, -t, s]);

    let (q, r) = qr(&tall(), QrMode::Reduced).unwrap();
    assert_near(&r, &[-5.916_079_783_099_62, -8.282_511_696_339_46, 0.0, 0.632_455_532_033_676]);
    assert_near(&matmul(&q.unwrap(), &r).unwrap(), &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]);

    let (u, s, vt) = svd(&tall(), true).unwrap();
    assert_eq!(u.shape(), [3, 3]);
    assert_near(&s, &[10.191_428_257_097_2, 0.367_137_685_943_899]);
    let (c, d) = (0.579_753_093_094_866, 0.814_792_213_418_204);
    assert_near(&vt, &[-c, -d, -d, c]);
    assert_near(
        &u.index_axis(1, 1),
        &[0.938_922_878_171_111, -0.341_463_904_891_272, -0.042_734_418_251_352_2],
    );
    let (u, s, vt) = svd(&tall().transposed(), false).unwrap();
    assert_near(&u, &[-c, -d, -d, c]);
    assert_near(&s, &[10.191_428_257_097_2, 0.367_137_685_943_9]);
    assert_near(
        &vt.index_axis(0, 0),
        &[-0.216_783_895_661_799, -0.490_454_135_265_737, -0.844_073_150_729_504],
    );

    let (w, v) = eig(&matrix(2, &[1.0, 2.0, 3.0, 4.0])).unwrap();
    assert_near(&w, &[-0.372_281_323_269_014, 5.372_281_323_269_01]);
    let golden = [
        -0.824_564_840_132_394,
        -0.415_973_557_919_284,
        0.565_767_464_968_992,
        -0.909_376_709_132_124,
    ];
    assert_near(&v, &golden);
}

#[test]
fn systems_are_solved() {
    let a = matrix(2, &[1.0, 2.0, 3.0, 4.0]);
    assert_near(&inv(&a).unwrap(), &[-2.0, 1.0, 1.5, -0.5]);
    assert_near(&det(&a).unwrap(), &[-2.0]);
    assert_near(&solve(&a, &vector(&[5.0, 6.0])).unwrap(), &[-4.0, 4.5]);
    let l = cholesky(&symmetric(), false).unwrap();
    assert_near(&matmul(&l, &l.transposed()).unwrap(), &symmetric().to_vec::<f64>().unwrap());
    let found = lstsq(&tall(), &vector(&[1.0, 2.0, 4.0]), None).unwrap();
    assert_near(&found.x, &[0.071_428_571_428_571, 0.5]);
    assert_near(&found.residuals, &[0.071_428_571_428_571_4]);
    assert_eq!(found.rank, 2);
    let back = matmul(&pinv(&tall(), 1e-15).unwrap(), &tall()).unwrap();
    assert_near(&back, &[1.0, 0.0, 0.0, 1.0]);
    let stack = Array::from_vec((0..18).map(|i| f64::from(i * i % 7)).collect(), &[2, 3, 3]);
    assert_eq!(det(&stack.unwrap()).unwrap().shape(), [2]);
}

#[test]
fn what_cannot_be_computed_is_named() {
    let linalg = |text: &str| Error::LinAlg(text.to_owned());
    let ones = matrix(2, &[1.0; 4]);
    assert_eq!(inv(&ones).unwrap_err(), linalg("Singular matrix"));
    assert_eq!(inv(&tall()).unwrap_err(), linalg("Last 2 dimensions of the array must be square"));
    assert_eq!(
        inv(&ones.cast(DType::F16).unwrap()).unwrap_err(),
        Error::Type("array type float16 is unsupported in linalg".to_owned())
    );
    assert_eq!(
        svd(&vector(&[1.0]), true).unwrap_err(),
        linalg("1-dimensional array given. Array must be at least two-dimensional")
    );
    assert_eq!(cholesky(&ones, false).unwrap_err(), linalg("Matrix is not positive definite"));
    let turn = matrix(2, &[0.0, 1.0, -1.0, 0.0]);
    assert!(matches!(eig(&turn), Err(Error::NotImplemented(_))));
    assert_eq!(
        matmul(&ones, &vector(&[1.0, 2.0, 3.0])).unwrap_err(),
        Error::Value(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature \
             (n?,k),(k,m?)->(n?,m?) (size 3 is different from 2)"
                .to_owned()
        )
    );
}

#[test]
fn norms_by_order_and_axis() {
    let a = matrix(2, &[1.0, 2.0, 3.0, 4.0]);
    let of = |order: Order, axes: Option<&[i64]>| norm(&a, &order, axes, false).unwrap();
    assert_near(&of(Order::Default, None), &[30f64.sqrt()]);
    assert_near(&of(Order::Number(2.0), None), &[5.464_985_704_219_043]);
    assert_near(&of(Order::Number(f64::INFINITY), None), &[7.0]);
    assert_near(&of(Order::Name("nuc".to_owned()), None), &[5.830_951_894_845_3]);
    assert_near(&of(Order::Default, Some(&[1])), &[5f64.sqrt(), 5.0]);
    assert_near(&of(Order::Number(3.0), Some(&[0])), &[28f64.cbrt(), 72f64.cbrt()]);
    assert!(norm(&a, &Order::Number(5.0), None, false).is_err());
    assert_near(&cond(&a, &Order::Default).unwrap(), &[14.933_034_373_659_268]);
}

#[test]
fn products_of_all_kinds() {
    let a = Array::from_vec((0..6).collect::<Vec<i64>>(), &[2, 3]).unwrap();
    let b = Array::from_vec((0..12).collect::<Vec<i64>>(), &[2, 3, 2]).unwrap();
    let list = |array: Array| array.to_vec::<i64>().unwrap();
    assert_eq!(list(matmul(&a, &b).unwrap()), [10, 13, 28, 40, 28, 31, 100, 112]);
    assert_eq!(dot(&a, &b).unwrap().shape(), [2, 2, 2]);
    assert_eq!(
        list(einsum("ij,kjl->ikl", &[a.clone(), b.clone()]).unwrap()),
        list(dot(&a, &b).unwrap())
    );
    assert_eq!(list(einsum("ij->", std::slice::from_ref(&a)).unwrap()), [15]);
    assert_eq!(list(einsum("...j->j...", std::slice::from_ref(&a)).unwrap()), [0, 3, 1, 4, 2, 5]);
    assert_eq!(list(tensordot(&a, &b, &[0, 1], &[0, 1]).unwrap()), [110, 125]);
    assert_eq!(
        list(outer(&a.index_axis(0, 0), &a.index_axis(0, 1)).unwrap()),
        [0, 0, 0, 3, 4, 5, 6, 8, 10]
    );
    let wraps = Array::vector(vec![200u8, 200]);
    assert_eq!(list(matmul(&wraps, &Array::vector(vec![2u8, 2])).unwrap()), [32]);
    assert_eq!(
        list(cross(&a, &Array::vector(vec![1i64, 0, 2]), -1, -1, -1).unwrap()),
        [2, 2, -1, 8, -1, -4]
    );
    assert_eq!(list(matrix_power(&a.slice_axis(1, 0, 2), 3).unwrap()), [12, 19, 57, 88]);
    assert!(einsum("ij->k", &[a]).is_err());
}
