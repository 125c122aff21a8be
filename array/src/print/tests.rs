//! Texts made with numpy 2.4.6.

use super::*;
use crate::f16;

#[test]
fn floats_share_digits_and_width() {
    assert_eq!(text(&[-0.16542451, 0.27499523]), "[-0.16542451  0.27499523]");
    assert_eq!(text(&[-0.0142, -0.006]), "[-0.0142 -0.006 ]");
    assert_eq!(text(&[1.0, f64::NAN, -f64::INFINITY]), "[  1.  nan -inf]");
    assert_eq!(text(&[1e-10, 1.0]), "[1.e-10 1.e+00]");
    assert_eq!(text(&[1.0 / 3.0, 1e8]), "[3.33333333e-01 1.00000000e+08]");
    let halves: Vec<f16> = [-0.05212, 0.2036, 0.06027].map(f16::from_f64).to_vec();
    let halves = Array::vector(halves);
    assert_eq!(array_str(&halves, &Options::default()).unwrap(), "[-0.05212  0.2036   0.06027]");
    let singles = Array::vector(vec![4.126_111_f32, -3.453_785_7, 0.940_569_76]);
    assert_eq!(
        array_repr(&singles, &Options::default()).unwrap(),
        "array([ 4.126111  , -3.4537857 ,  0.94056976], dtype=float32)"
    );
}

#[test]
fn options_change_the_format() {
    let third = Array::vector(vec![1.0 / 3.0, 20.0]);
    let with = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        array_str(&third, &options).unwrap()
    };
    assert_eq!(with(|o| o.precision = 3), "[ 0.333 20.   ]");
    assert_eq!(with(|o| (o.floatmode, o.precision) = (FloatMode::Fixed, 2)), "[ 0.33 20.00]");
    assert_eq!(
        with(|o| o.floatmode = FloatMode::Unique),
        "[ 0.3333333333333333 20.                ]"
    );
    assert_eq!(with(|o| o.floatmode = FloatMode::MaxPrecEqual), "[ 0.33333333 20.00000000]");
    assert_eq!(with(|o| o.sign = Sign::Plus), "[ +0.33333333 +20.        ]");
    assert_eq!(
        with(|o| o.formatter.float = Some(std::rc::Rc::new(|x| Ok(format!("<{:.1}>", x.to_f64()))))),
        "[<0.3> <20.0>]"
    );
    let small = Array::vector(vec![1e-9, 1.0]);
    let options = Options { suppress: true, ..Options::default() };
    assert_eq!(array_str(&small, &options).unwrap(), "[0. 1.]");
}

#[test]
fn long_rows_wrap_and_big_arrays_are_summarised() {
    let row = Array::vector((0..30).collect::<Vec<i64>>());
    assert_eq!(
        array_repr(&row, &Options::default()).unwrap(),
        "array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16,\n       \
         17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])"
    );
    let big = Array::from_vec((0..1200).collect::<Vec<i64>>(), &[300, 4]).unwrap();
    assert_eq!(
        array_str(&big, &Options::default()).unwrap(),
        "[[   0    1    2    3]\n [   4    5    6    7]\n [   8    9   10   11]\n ...\n \
         [1188 1189 1190 1191]\n [1192 1193 1194 1195]\n [1196 1197 1198 1199]]"
    );
    let repr = array_repr(&big, &Options::default()).unwrap();
    assert!(repr.ends_with("[1196, 1197, 1198, 1199]], shape=(300, 4))"), "{repr}");
    let empty = Array::zeros(&[0, 3], DType::F32).unwrap();
    assert_eq!(
        array_repr(&empty, &Options::default()).unwrap(),
        "array([], shape=(0, 3), dtype=float32)"
    );
}

#[test]
fn scalars_print_as_python_numbers() {
    let both = |value| (scalar_str(value), scalar_repr(value));
    let pair = |text: &str, repr: &str| (text.to_owned(), repr.to_owned());
    assert_eq!(both(Scalar::F64(1.5)), pair("1.5", "np.float64(1.5)"));
    assert_eq!(both(Scalar::F64(-0.0)), pair("-0.0", "np.float64(-0.0)"));
    assert_eq!(both(Scalar::F64(1e16)), pair("1e+16", "np.float64(1e+16)"));
    assert_eq!(both(Scalar::F32(1e6)), pair("1e+06", "np.float32(1e+06)"));
    assert_eq!(both(Scalar::F32(1e-4)), pair("1e-04", "np.float32(1e-04)"));
    assert_eq!(both(Scalar::F32(3_814_653.2)), pair("3.8146532e+06", "np.float32(3.8146532e+06)"));
    assert_eq!(both(Scalar::F16(f16::from_f64(0.015625))), pair("0.01563", "np.float16(0.01563)"));
    assert_eq!(both(Scalar::Bool(true)), pair("True", "np.True_"));
    assert_eq!(both(Scalar::U8(3)), pair("3", "np.uint8(3)"));
}

fn text(values: &[f64]) -> String {
    array_str(&Array::vector(values.to_vec()), &Options::default()).unwrap()
}
