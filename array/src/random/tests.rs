//! Golden values made with numpy 2.4.6: a fold over the bits of each result.

use super::*;
use crate::array::Array;
use crate::dtype::DType;
use crate::error::{Error, Result};

const INTEGERS: Population = Population::Integers(10);

#[test]
fn the_generator_draws_what_numpy_draws() {
    let mut g = generator();
    check("random", g.random(&[7]), 0x4b74b2c1e4bbe41b);
    check("normal tails", g.standard_normal(&[200_000]), 0xcf08e4461432320c);
    check("exponential tails", g.standard_exponential(&[200_000]), 0x1d8f674b86d08d7d);
    check("float32 uniform", g.random_of(&[5], DType::F32), 0x94ca1be24e502cf5);
    check("float32 normal", g.standard_normal_of(&[200_000], DType::F32), 0x158da1063b1c9129);
    check("int64", g.integers(0, 10, &[11], DType::I64, false), 0x3bfa075b1b962d6b);
    check("wide int64", g.integers(-5, 1 << 40, &[11], DType::I64, false), 0xbcd97d3cebb40d86);
    check(
        "all int64",
        g.integers(i64::MIN.into(), i64::MAX.into(), &[3], DType::I64, true),
        0xc4fc501b18f0e2ee,
    );
    check("int32", g.integers(-3, 1000, &[11], DType::I32, true), 0x4e47d7b13378ef43);
    check("uint8", g.integers(0, 200, &[101], DType::U8, false), 0x26393de9b22e8f1f);
    check("whole uint8", g.integers(0, 256, &[11], DType::U8, false), 0x3920b2417e70a392);
    check("bool", g.integers(0, 2, &[37], DType::Bool, false), 0xc6b48eea77e0ffef);
    check(
        "per element",
        g.integers_between(&int(&[0, 5, 7]), &int(&[9]), Some(&[2, 3]), DType::I64, false),
        0x3c3b0065413667d3,
    );
    check(
        "uniform",
        g.uniform(&float(&[1.0, 2.0, 3.0]), &float(&[5.0]), Some(&[2, 3])),
        0x823eb086e57b6b9c,
    );
    check("normal", g.normal(&float(&[1.0, -2.0]), &float(&[0.5]), None), 0xa9dd8391dbf0b8d7);
    check("exponential", g.exponential(&float(&[3.0]), Some(&[4])), 0xba9f5adcbe871edf);
    check("permutation", g.permutation(100), 0x0df70758cb5bee76);
    check("choice", g.choice(INTEGERS, &[7], true, None, true), 0x23db42a3e91aa864);
    check(
        "choice without replacement",
        g.choice(INTEGERS, &[7], false, None, true),
        0x8d9e7f17609b8be7,
    );
    check("choice unshuffled", g.choice(INTEGERS, &[7], false, None, false), 0x4e9819dd74e0bbc0);
    check(
        "large choice",
        g.choice(Population::Integers(20_000), &[500], false, None, true),
        0x2c6ab2dbd15d4b9f,
    );
    check(
        "weighted choice",
        g.choice(INTEGERS, &[2, 4], true, Some(&weights()), true),
        0x62bee7c56231854b,
    );
    check(
        "weighted choice without replacement",
        g.choice(INTEGERS, &[8], false, Some(&weights()), true),
        0x0447d351e5f28687,
    );
    check("one", g.random(&[]), 0x3fead0259d17179a);
}

#[test]
fn the_legacy_generator_draws_what_numpy_draws() {
    let mut g = RandomState::new(7).unwrap();
    check("rand", g.random(&[700]), 0xf0533f375b3cc428);
    check("randn", g.standard_normal(&[701]), 0xe8ba976f093f40a1);
    check("normal", g.normal(&float(&[1.0]), &float(&[2.0]), Some(&[3])), 0x6cfbf27e13b99360);
    check("uniform", g.uniform(&float(&[5.0]), &float(&[1.0]), Some(&[3])), 0xfcbef86792090805);
    check("exponential", g.standard_exponential(&[9]), 0x0027e98c434f79ff);
    check("randint", g.integers(0, 10, &[50], DType::I64, false), 0xd18496b2e05193ef);
    check("wide randint", g.integers(0, 1 << 45, &[50], DType::I64, false), 0xe59a1a519796992e);
    check("uint8 randint", g.integers(0, 200, &[51], DType::U8, false), 0x8d1584a36360609e);
    check("int32 randint", g.integers(-9, 200, &[51], DType::I32, false), 0x0fa99c75397a4e0a);
    check("bool randint", g.integers(0, 2, &[51], DType::Bool, false), 0x0cebe21d9af0cc4b);
    check("permutation", g.permutation(50), 0x88d08b77e6557a09);
    check("choice", g.choice(INTEGERS, &[7], true, None, true), 0xc80eb0be20a0fbe5);
    check(
        "choice without replacement",
        g.choice(INTEGERS, &[7], false, None, true),
        0x21ebeb1bc93faf74,
    );
    check(
        "weighted choice",
        g.choice(INTEGERS, &[2, 4], true, Some(&weights()), true),
        0xa2b7bc0bd89fba76,
    );
    check(
        "weighted choice without replacement",
        g.choice(INTEGERS, &[8], false, Some(&weights()), true),
        0x1d4030ecc809eb74,
    );
    let mut g = RandomState::from_integers(&[1, 2, 3, 4]).unwrap();
    check("array seed", g.random(&[3]), 0x82c5405d9eeb7806);
}

#[test]
fn mistakes_are_named_as_numpy_names_them() {
    let mut g = generator();
    let value = |text: &str| Error::Value(text.to_owned());
    let mut integers = |low, high, dtype| g.integers(low, high, &[], dtype, false).unwrap_err();
    assert_eq!(integers(5, 3, DType::I64), value("low >= high"));
    assert_eq!(integers(0, -5, DType::I64), value("high <= 0"));
    assert_eq!(integers(0, 300, DType::U8), value("high is out of bounds for uint8"));
    assert_eq!(
        integers(0, 3, DType::F64),
        Error::Type("Unsupported dtype dtype('float64') for integers".to_owned())
    );
    assert_eq!(g.normal(&float(&[0.0]), &float(&[-1.0]), None).unwrap_err(), value("scale < 0"));
    assert_eq!(
        g.uniform(&float(&[0.0]), &float(&[f64::INFINITY]), None).unwrap_err(),
        Error::Overflow("high - low range exceeds valid bounds".to_owned())
    );
    assert_eq!(
        g.uniform(&float(&[1.0, 2.0, 3.0]), &float(&[5.0]), Some(&[2])).unwrap_err(),
        value(
            "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between \
             arg 0 with shape (2,) and arg 1 with shape (3,)."
        )
    );
    assert_eq!(
        g.choice(INTEGERS, &[11], false, None, true).unwrap_err(),
        value("Cannot take a larger sample than population when replace is False")
    );
    assert_eq!(RandomState::new(-1).unwrap_err(), value("Seed must be between 0 and 2**32 - 1"));
}

fn generator() -> Generator {
    Generator::new(&SeedSequence::from_u64(42))
}

fn float(values: &[f64]) -> Array {
    Array::vector(values.to_vec())
}

fn int(values: &[i64]) -> Array {
    Array::vector(values.to_vec())
}

fn weights() -> Array {
    Array::vector((0..10).map(|i| f64::from(i) / 45.0).collect())
}

fn check(name: &str, drawn: Result<Array>, golden: u64) {
    let drawn = drawn.unwrap();
    let bits: Vec<u64> = match drawn.dtype() {
        DType::F64 => drawn.iter::<f64>().map(f64::to_bits).collect(),
        DType::F32 => drawn.iter::<f32>().map(|value| value.to_bits().into()).collect(),
        _ => drawn.to_vec::<i64>().unwrap().into_iter().map(|value| value as u64).collect(),
    };
    let fold = bits
        .iter()
        .fold(0u64, |fold, &bits| fold.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(bits));
    assert_eq!(fold, golden, "{name}");
}
