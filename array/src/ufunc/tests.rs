use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::scalar::Weak;
use crate::warn;

fn floats(values: &[f64]) -> Array {
    Array::vector(values.to_vec())
}

fn warnings(of: impl FnOnce()) -> Vec<String> {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&seen);
    warn::set_sink(Box::new(move |_, text| {
        sink.borrow_mut().push(text.to_owned());
        Ok(())
    }));
    of();
    warn::set_sink(Box::new(|_, _| Ok(())));
    seen.take()
}

#[test]
fn shapes_broadcast() {
    let column = Array::from_vec(vec![1i64, 2], &[2, 1]).unwrap();
    let row = Array::vector(vec![10.0, 20.0, 30.0]);
    let sum = map2(Binary::Add, &column, &row).unwrap();
    assert_eq!((sum.shape(), sum.dtype()), (&[2, 3][..], DType::F64));
    assert_eq!(sum.to_vec::<f64>().unwrap(), [11.0, 21.0, 31.0, 12.0, 22.0, 32.0]);
    let error = map2(Binary::Add, &row, Array::vector(vec![1i64, 2])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operands could not be broadcast together with shapes (3,) (2,) "
    );
}

#[test]
fn trouble_is_told_as_numpy_does() {
    let told = warnings(|| {
        map2(Binary::Divide, floats(&[0.0, 2.0]), 0i64).unwrap();
        map1(Unary::Log, floats(&[0.0, -1.0])).unwrap();
        map1(Unary::Exp, floats(&[1000.0])).unwrap();
        map2(Binary::FloorDivide, Array::vector(vec![1i64]), 0i64).unwrap();
        map2(Binary::Multiply, floats(&[60000.0]).cast(DType::F16).unwrap(), 2i64).unwrap();
        map2(Binary::Add, floats(&[f64::NAN, f64::INFINITY]), 1.0).unwrap();
    });
    assert_eq!(
        told,
        [
            "divide by zero encountered in divide",
            "invalid value encountered in divide",
            "divide by zero encountered in log",
            "invalid value encountered in log",
            "overflow encountered in exp",
            "divide by zero encountered in floor_divide",
            "overflow encountered in multiply",
        ]
    );
}

#[test]
fn masked_places_are_not_computed() {
    let out = floats(&[7.0, 7.0]);
    let mask = Array::vector(vec![true, false]);
    let told = warnings(|| {
        let options = Options { out: Some(&out), mask: Some(&mask), dtype: None };
        binary(Binary::Divide, &floats(&[1.0, 1.0]).into(), &floats(&[2.0, 0.0]).into(), &options)
            .unwrap();
    });
    assert!(told.is_empty());
    assert_eq!(out.to_vec::<f64>().unwrap(), [0.5, 7.0]);
}

#[test]
fn results_go_into_operands_that_overlap() {
    let a = Array::vector((0..3000).map(f64::from).collect());
    let options = |out| Options { out: Some(out), ..Options::default() };
    // a[1:] += a[:-1]
    let (low, high) = (a.slice_axis(0, 0, 2999), a.slice_axis(0, 1, 2999));
    binary(Binary::Add, &(&high).into(), &(&low).into(), &options(&high)).unwrap();
    let expected: Vec<f64> =
        std::iter::once(0.0).chain((1..3000).map(|i| f64::from(2 * i - 1))).collect();
    assert_eq!(a.to_vec::<f64>().unwrap(), expected);
    let whole = Array::vector(vec![1i64]);
    let error = binary(Binary::Add, &(&whole).into(), &1.5.into(), &options(&whole)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Cannot cast ufunc 'add' output from dtype('float64') to dtype('int64') with casting rule 'same_kind'"
    );
}

#[test]
fn python_integers_must_fit_but_comparisons_know_better() {
    let bytes = Array::vector(vec![200u8]);
    assert_eq!(map2(Binary::Add, &bytes, 100i64).unwrap().get(&[0]), crate::Scalar::U8(44));
    assert_eq!(
        map2(Binary::Add, &bytes, 300i64).unwrap_err(),
        Error::Overflow("Python integer 300 out of bounds for uint8".to_owned())
    );
    for (op, value, expected) in [
        (Binary::Less, 300, true),
        (Binary::Equal, -1, false),
        (Binary::Greater, -(1i128 << 80), true),
    ] {
        let answer = map2(op, &bytes, Operand::Weak(Weak::Int(value))).unwrap();
        assert_eq!(answer.get(&[0]), crate::Scalar::Bool(expected));
    }
}

#[test]
fn bools_are_no_numbers_everywhere() {
    let a = Array::vector(vec![true, true]);
    let b = Array::vector(vec![true, false]);
    let of = |op| map2(op, &a, &b).map(|result| result.to_vec::<bool>().unwrap());
    assert_eq!(of(Binary::Add).unwrap(), [true, true]);
    assert_eq!(of(Binary::Multiply).unwrap(), [true, false]);
    assert!(of(Binary::Subtract).unwrap_err().to_string().starts_with("numpy boolean subtract"));
    assert!(matches!(map1(Unary::Invert, floats(&[1.0])), Err(Error::Type(_))));
}

#[test]
fn every_operation_runs_on_some_type() {
    for &op in Unary::ALL {
        let runs = DType::ALL
            .iter()
            .filter(|&&dtype| map1(op, Array::zeros(&[3], dtype).unwrap()).is_ok())
            .count();
        assert!(runs >= 4, "{} runs on {runs} types", op.name());
        assert_eq!(Unary::from_name(op.name()), Some(op));
    }
    for &op in Binary::ALL {
        let runs = DType::ALL
            .iter()
            .filter(|&&dtype| {
                let zeros = Array::zeros(&[3], dtype).unwrap();
                map2(op, &zeros, &zeros).is_ok()
            })
            .count();
        assert!(runs >= 4, "{} runs on {runs} types", op.name());
        assert_eq!(Binary::from_name(op.name()), Some(op));
    }
}

#[test]
fn half_is_rounded_once() {
    // np.float16([0.1, 3]) * np.float16([0.3, 1000]) and its type
    let half = |values: &[f64]| floats(values).cast(DType::F16).unwrap();
    let product = map2(Binary::Multiply, half(&[0.1, 3.0]), half(&[0.3, 1000.0])).unwrap();
    assert_eq!(product.dtype(), DType::F16);
    assert_eq!(product.to_vec::<f64>().unwrap(), [0.029_998_779_296_875, 3000.0]);
}
