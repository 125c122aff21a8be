//! Observations and actions as openpi's msgpack, byte for byte.
//!
//! An array is a map with *binary* keys, `__ndarray__ data dtype shape`; openpi's
//! client does not take text keys for an array.

use rmpv::{Value, ValueRef};

use crate::policy::{ACTION_LENGTH, Actions, PolicyError, Shown};
use crate::view::Picture;

/// Pixels a side of the pictures a LIBERO policy is sent.
const SIDE: u32 = 224;
/// More than any policy plans ahead.
const MAX_LENGTH: usize = 1024;

/// The observation of openpi's LIBERO policies: both pictures as uint8
/// `[224, 224, 3]`, the state as float32 `[8]`, and the prompt.
///
/// # Errors
/// When a picture can't be scaled.
pub fn encode_observation(shown: &Shown) -> Result<Vec<u8>, String> {
    let state: Vec<u8> = shown.state.iter().flat_map(|value| value.to_le_bytes()).collect();
    let observation = Value::Map(vec![
        ("observation/image".into(), picture(&shown.image)?),
        ("observation/wrist_image".into(), picture(&shown.wrist_image)?),
        ("observation/state".into(), array(state, "<f4", &[shown.state.len()])),
        ("prompt".into(), shown.prompt.as_str().into()),
    ]);
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &observation).map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn picture(picture: &Picture) -> Result<Value, String> {
    let side = SIDE as usize;
    Ok(array(picture.fitted(SIDE)?.rgb, "|u1", &[side, side, 3]))
}

fn array(data: Vec<u8>, dtype: &str, shape: &[usize]) -> Value {
    let key = |name: &str| Value::Binary(name.as_bytes().to_vec());
    let shape = shape.iter().map(|&length| Value::from(length)).collect();
    Value::Map(vec![
        (key("__ndarray__"), true.into()),
        (key("data"), Value::Binary(data)),
        (key("dtype"), dtype.into()),
        (key("shape"), Value::Array(shape)),
    ])
}

/// The actions in a server's answer.
///
/// # Errors
/// [`PolicyError::Answer`] when it is not msgpack or holds no array `actions` of
/// numbers, and as [`Actions::new`].
pub fn decode_actions(mut bytes: &[u8]) -> Result<Actions, PolicyError> {
    let answer = |text: &str| PolicyError::Answer(text.to_owned());
    let value = rmpv::decode::read_value_ref(&mut bytes)
        .map_err(|error| answer(&format!("it is not msgpack: {error}")))?;
    let actions = field(&value, "actions").ok_or_else(|| answer("it holds no \"actions\""))?;
    let (shape, values) =
        numbers(actions).map_err(|reason| answer(&format!("\"actions\" {reason}")))?;
    Actions::new("openpi", &shape, &values)
}

fn field<'a, 'b>(value: &'b ValueRef<'a>, name: &str) -> Option<&'b ValueRef<'a>> {
    let ValueRef::Map(fields) = value else { return None };
    let (_, value) = fields.iter().find(|(key, _)| match key {
        ValueRef::String(text) => text.as_bytes() == name.as_bytes(),
        ValueRef::Binary(text) => *text == name.as_bytes(),
        _ => false,
    })?;
    Some(value)
}

fn numbers(array: &ValueRef<'_>) -> Result<(Vec<usize>, Vec<f64>), String> {
    let missing = |name: &str| format!("has no {name:?}");
    let Some(ValueRef::Array(shape)) = field(array, "shape") else {
        return Err(missing("shape"));
    };
    let Some(ValueRef::Binary(data)) = field(array, "data") else { return Err(missing("data")) };
    let Some(ValueRef::String(dtype)) = field(array, "dtype") else {
        return Err(missing("dtype"));
    };
    let shape: Option<Vec<usize>> = shape.iter().map(unsigned).collect();
    let shape = shape.filter(|shape| shape.len() <= 3).ok_or("has a shape that is none")?;
    let count = shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length));
    let count = count
        .filter(|&count| count <= MAX_LENGTH * ACTION_LENGTH)
        .ok_or_else(|| format!("has shape {shape:?}, too many actions"))?;
    let values = match dtype.as_str().unwrap_or_default() {
        "<f4" => read(data, |bytes| f64::from(f32::from_le_bytes(bytes))),
        "<f8" => read(data, f64::from_le_bytes),
        "<i4" => read(data, |bytes| f64::from(i32::from_le_bytes(bytes))),
        "<i8" => read(data, |bytes| i64::from_le_bytes(bytes) as f64),
        "|u1" => read(data, |[byte]: [u8; 1]| f64::from(byte)),
        other => return Err(format!("has dtype {other:?}, expected <f4 or <f8")),
    };
    match values.filter(|values| values.len() == count) {
        Some(values) => Ok((shape, values)),
        None => Err(format!("has {} bytes for shape {shape:?}", data.len())),
    }
}

/// Numbers of `N` bytes each; none when the bytes do not divide.
fn read<const N: usize>(data: &[u8], number: impl Fn([u8; N]) -> f64) -> Option<Vec<f64>> {
    let (numbers, rest) = data.as_chunks::<N>();
    rest.is_empty().then(|| numbers.iter().map(|&bytes| number(bytes)).collect())
}

fn unsigned(value: &ValueRef<'_>) -> Option<usize> {
    match value {
        ValueRef::Integer(number) => usize::try_from(number.as_u64()?).ok(),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn answer(actions: Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &Value::Map(vec![("actions".into(), actions)]))
            .unwrap();
        bytes
    }

    #[test]
    fn an_array_has_binary_keys() {
        let shown = Shown {
            image: Picture { width: 224, height: 224, rgb: vec![7; 224 * 224 * 3] },
            wrist_image: Picture { width: 224, height: 224, rgb: vec![9; 224 * 224 * 3] },
            state: [1.0; 8],
            prompt: "pick up the bowl".to_owned(),
        };
        let bytes = encode_observation(&shown).unwrap();
        // bin 8 of eleven bytes, as Python's msgpack packs b"__ndarray__".
        let key = b"\xc4\x0b__ndarray__\xc3";
        assert_eq!(bytes.windows(key.len()).filter(|window| window == key).count(), 3);
        let value = rmpv::decode::read_value_ref(&mut bytes.as_slice()).unwrap();
        let (shape, values) = numbers(field(&value, "observation/state").unwrap()).unwrap();
        assert_eq!((shape, values), (vec![8], vec![1.0; 8]));
    }

    #[test]
    fn actions_come_in_either_precision() {
        let f4: Vec<u8> = [0.5_f32; 14].iter().flat_map(|v| v.to_le_bytes()).collect();
        let f8: Vec<u8> = [0.5_f64; 14].iter().flat_map(|v| v.to_le_bytes()).collect();
        for actions in [array(f4, "<f4", &[2, 7]), array(f8, "<f8", &[2, 7])] {
            assert_eq!(decode_actions(&answer(actions)).unwrap().rows, [[0.5; 7]; 2]);
        }
    }

    #[test]
    fn what_is_not_an_answer_says_why() {
        let wrong = [
            (b"\x81".to_vec(), "not msgpack"),
            (answer(Value::Nil), "no \"shape\""),
            (answer(array(vec![0; 55], "<f8", &[1, 7])), "55 bytes"),
            (answer(array(vec![0; 56], "<f8", &[7])), "shape [7]"),
            (answer(array(vec![], "<f8", &[1 << 40, 7])), "too many"),
            (answer(array(vec![0; 14], "<f2", &[1, 7])), "dtype"),
            (answer(array(f64::NAN.to_le_bytes().repeat(7), "<f8", &[1, 7])), "not finite"),
        ];
        for (bytes, expected) in wrong {
            let error = decode_actions(&bytes).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
