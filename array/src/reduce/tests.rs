//! Expected numbers are numpy 2.4.6's, bit for bit, for the same elements.

use super::*;

/// `((i * 2654435761) % 1000003) / 1000003 - 0.5`
fn numbers(n: i64) -> Array {
    Array::vector(
        (0..n).map(|i| ((i * 2_654_435_761) % 1_000_003) as f64 / 1_000_003.0 - 0.5).collect(),
    )
}

/// The same as an image of three channels.
fn image() -> Array {
    numbers(24_000).reshape(&[40, 200, 3]).unwrap()
}

fn with(op: Reduction, array: &Array, axis: Option<&[i64]>) -> Array {
    reduce(op, array, axis, &Options::default()).unwrap()
}

fn bits(array: &Array, place: &[usize]) -> u64 {
    array.get(place).to_f64().to_bits()
}

fn sum(array: &Array) -> u64 {
    bits(&with(Reduction::Sum, array, None), &[])
}

#[test]
fn sums_are_pairwise() {
    let x = numbers(24_000);
    assert_eq!(sum(&x), 0x4006_7b3c_47c7_fa18);
    for (n, expected) in [
        (3, 0xbfcb_b9c5_f4ce_1e8c),
        (7, 0xbfe0_851a_6c68_b575),
        (8, 0xbf96_2f12_1173_9380),
        (100, 0x4004_ca21_c277_f204),
        (129, 0x4003_2eff_8583_7a34),
        (1000, 0x4007_acf1_905e_d9cb),
        (8193, 0x4014_9ab6_9012_5ed2),
    ] {
        assert_eq!(sum(&x.slice_axis(0, 0, n)), expected, "{n} elements");
    }
    let strided =
        |step| x.index(&[Index::Slice { start: None, stop: None, step: Some(step) }]).unwrap();
    assert_eq!(sum(&strided(-1)), 0x4006_7b3c_47c7_fa3a);
    assert_eq!(sum(&strided(3)), 0x3fcc_5f4c_e1e8_ba40);
}

#[test]
fn sums_over_some_dimensions_keep_numpys_order() {
    let a = image();
    let over = |axis: &[i64], place: &[usize]| bits(&with(Reduction::Sum, &a, Some(axis)), place);
    assert_eq!(over(&[0], &[7, 1]), 0xbfca_7317_facd_e2a8);
    assert_eq!(over(&[1], &[7, 1]), 0xbfea_b6e3_f524_7eda);
    assert_eq!(over(&[2], &[7, 1]), 0xbfbd_7da0_51bb_3900);
    assert_eq!(over(&[0, 1], &[0]), 0x3fcc_5f4c_e1e8_b692);
    assert_eq!(over(&[0, 1], &[2]), 0x3fff_c311_6e22_ddf8);
    assert_eq!(over(&[1, 2], &[5]), 0x3ff2_3baa_2ae4_c939);
    assert_eq!(over(&[0, 2], &[5]), 0x3ff5_da09_b21a_5f5d);
    let turned = with(Reduction::Sum, &a.transposed(), Some(&[0]));
    assert_eq!(bits(&turned, &[5, 7]), 0xbfe6_dd05_e8a1_c2c4);
    assert_eq!(sum(&a.slice_axis(2, 0, 2)), 0x3fea_66ce_42da_2688);
    let part = with(Reduction::Sum, &a.slice_axis(1, 0, 150), Some(&[0, 1]));
    assert_eq!(bits(&part, &[2]), 0x4014_10c3_48ce_d701);
}

#[test]
fn converted_elements_are_summed_in_pieces() {
    let f = numbers(24_000).cast(DType::F32).unwrap();
    let as_f64 = |array: &Array| {
        let options = Options { dtype: Some(DType::F64), ..Options::default() };
        bits(&reduce(Reduction::Sum, array, None, &options).unwrap(), &[])
    };
    assert_eq!(
        with(Reduction::Sum, &f, None).item().unwrap(),
        Scalar::F32(f32::from_bits(0x4033_d9f4))
    );
    assert_eq!(
        with(Reduction::Mean, &f, None).item().unwrap(),
        Scalar::F32(f32::from_bits(0x38f5_8e9d))
    );
    assert_eq!(as_f64(&f), 0x4006_7b3c_0202_5000);
    let strided = f.index(&[Index::Slice { start: None, stop: None, step: Some(2) }]).unwrap();
    assert_eq!(as_f64(&strided), 0x4012_79a3_88a1_b800);
    let gaps = f.reshape(&[40, 600]).unwrap().slice_axis(1, 0, 500);
    assert_eq!(as_f64(&gaps), 0x4015_2ae0_2119_6800);
}

#[test]
fn half_is_rounded_where_numpy_does() {
    let h = numbers(24_000).cast(DType::F16).unwrap();
    let of = |op| with(op, &h, None).item().unwrap();
    assert_eq!(of(Reduction::Sum).to_f64(), 2.810_546_875);
    assert_eq!(of(Reduction::Mean).to_f64(), 0.000_117_123_126_983_642_58);
    assert_eq!(of(Reduction::Std).to_f64(), 0.288_574_218_75);
    assert_eq!(of(Reduction::Std).dtype(), DType::F16);
    let rows = with(Reduction::Sum, &h.reshape(&[40, 600]).unwrap(), Some(&[0]));
    assert_eq!(rows.get(&[3]).to_f64(), 0.665_039_062_5);
}

#[test]
fn variances_and_products() {
    let (x, a) = (numbers(24_000), image());
    assert_eq!(bits(&with(Reduction::Var, &x, None), &[]), 0x3fb5_556b_b2c2_2291);
    let options = Options { ddof: 1.0, ..Options::default() };
    let std = reduce(Reduction::Std, &x, None, &options).unwrap();
    assert_eq!(bits(&std, &[]), 0x3fd2_79ca_2e8a_c200);
    assert_eq!(bits(&with(Reduction::Std, &a, Some(&[1])), &[3, 2]), 0x3fd2_89ba_301a_ac20);
    assert_eq!(bits(&with(Reduction::Var, &a, Some(&[0, 1])), &[1]), 0x3fb5_554d_d359_9ced);
    let factors = map2(Binary::Add, x.slice_axis(0, 0, 300), 1.2).unwrap();
    assert_eq!(bits(&with(Reduction::Prod, &factors, None), &[]), 0x4441_2951_ca23_61e4);
    let running = cumsum(&x, None, None).unwrap();
    assert_eq!(bits(&running, &[23_999]), 0x4006_7b3c_47c7_fffc);
    let running = cumsum(&a, Some(1), None).unwrap();
    assert_eq!(bits(&running, &[3, 100, 2]), 0x3fe5_9d13_c932_5b7e);
}

#[test]
fn nan_is_passed_over() {
    let y = numbers(24_000);
    let every_seventh = [Index::Slice { start: None, stop: None, step: Some(7) }];
    y.assign(&every_seventh, &Operand::from(f64::NAN)).unwrap();
    let of = |op| bits(&with(op, &y, None), &[]);
    assert_eq!(of(Reduction::NanSum), 0xc033_4bc8_44db_08af);
    assert_eq!(of(Reduction::NanMean), 0xbf4e_bcb0_328b_5c2c);
    assert_eq!(of(Reduction::NanStd), 0x3fd2_7afd_29e2_0598);
    assert_eq!(of(Reduction::NanMin), 0xbfdf_ffe2_a3d4_6c7f);
    assert!(f64::from_bits(of(Reduction::Min)).is_nan());
    let image = y.reshape(&[40, 200, 3]).unwrap();
    let mean = with(Reduction::NanMean, &image, Some(&[1]));
    assert_eq!(bits(&mean, &[3, 1]), 0x3f8f_e80c_df62_5103);
    let options = Options { ddof: 1.0, ..Options::default() };
    let var = reduce(Reduction::NanVar, &image, Some(&[0, 1]), &options).unwrap();
    assert_eq!(bits(&var, &[1]), 0x3fb5_5912_c600_6da2);
    assert_eq!(nanargmax(&y, None, false).unwrap().item().unwrap(), Scalar::I64(15_879));
    assert_eq!(argmax(&y, None, false).unwrap().item().unwrap(), Scalar::I64(0));
    let nothing = Array::vector(vec![f64::NAN]);
    assert!(with(Reduction::NanMean, &nothing, None).item().unwrap().is_nan());
    assert!(nanargmin(&nothing, None, false).is_err());
}

#[test]
fn extremes_and_where_they_are() {
    let (x, a) = (numbers(24_000), image());
    assert_eq!(bits(&with(Reduction::Max, &x, None), &[]), 0x3fdf_ff0c_bb29_39d2);
    assert_eq!(bits(&with(Reduction::Min, &x, None), &[]), 0xbfe0_0000_0000_0000);
    assert_eq!(bits(&with(Reduction::Ptp, &x, None), &[]), 0x3fef_ff86_5d94_9ce9);
    assert_eq!(argmax(&a, None, false).unwrap().item().unwrap(), Scalar::I64(15_879));
    let positions = argmin(&a, Some(1), true).unwrap();
    assert_eq!(positions.shape(), [40, 1, 3]);
    assert_eq!(positions.index_axis(0, 3).to_vec::<i64>().unwrap(), [14, 76, 198]);
}

#[test]
fn small_integers_grow_and_bools_are_counted() {
    let bytes = Array::vector(vec![200u8, 100]);
    assert_eq!(with(Reduction::Sum, &bytes, None).item().unwrap(), Scalar::I64(300));
    assert_eq!(with(Reduction::Max, &bytes, None).item().unwrap(), Scalar::U8(200));
    assert_eq!(with(Reduction::Mean, &bytes, None).item().unwrap(), Scalar::F64(150.0));
    let mask = Array::vector((0..70_000).map(|i| i % 3 == 0).collect());
    assert_eq!(with(Reduction::CountNonzero, &mask, None).item().unwrap(), Scalar::I64(23_334));
    assert_eq!(with(Reduction::Sum, &mask, None).item().unwrap(), Scalar::I64(23_334));
    assert_eq!(with(Reduction::Any, &mask, None).item().unwrap(), Scalar::Bool(true));
    assert_eq!(with(Reduction::All, &mask, None).item().unwrap(), Scalar::Bool(false));
    let nan = Array::vector(vec![0.0, f64::NAN]);
    assert_eq!(with(Reduction::Any, &nan, None).item().unwrap(), Scalar::Bool(true));
}

#[test]
fn nothing_has_a_sum_but_no_extreme() {
    let empty = Array::zeros(&[0, 3], DType::F64).unwrap();
    assert_eq!(with(Reduction::Sum, &empty, Some(&[0])).to_vec::<f64>().unwrap(), [0.0; 3]);
    assert_eq!(with(Reduction::Max, &empty, Some(&[1])).shape(), [0]);
    let error = reduce(Reduction::Max, &empty, None, &Options::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "zero-size array to reduction operation maximum which has no identity"
    );
    assert!(with(Reduction::Mean, &empty, None).item().unwrap().is_nan());
    assert!(argmax(&empty, None, false).is_err());
}

#[test]
fn masks_starts_and_outputs() {
    let a = Array::from_vec(vec![1.0, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    let mask = Array::from_vec(vec![true, false, true, true], &[2, 2]).unwrap();
    let options =
        Options { mask: Some(&mask), initial: Some(Scalar::I64(10)), ..Options::default() };
    let of = |op, options: &Options<'_>| {
        reduce(op, &a, Some(&[0]), options).unwrap().to_vec::<f64>().unwrap()
    };
    assert_eq!(of(Reduction::Sum, &options), [14.0, 14.0]);
    assert_eq!(of(Reduction::Max, &options), [10.0, 10.0]);
    assert_eq!(of(Reduction::Min, &options), [1.0, 4.0]);
    let only = Options { mask: Some(&mask), ..Options::default() };
    assert_eq!(of(Reduction::Mean, &only), [2.0, 4.0]);
    assert_eq!(of(Reduction::Var, &only), [1.0, 0.0]);
    let out = Array::zeros(&[2], DType::F32).unwrap();
    reduce(Reduction::Sum, &a, Some(&[-1]), &Options { out: Some(&out), ..Options::default() })
        .unwrap();
    assert_eq!(out.to_vec::<f32>().unwrap(), [3.0, 7.0]);
}
