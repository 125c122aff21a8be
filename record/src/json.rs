use arrow::array::{Array, AsArray as _, StructArray};
use arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use serde_json::{Map, Value};

/// One row as a JSON object, for the files that people read.
///
/// Bytes are only counted, and what JSON can't hold (not a number, types that
/// no frame uses) becomes `null`.
pub fn row_json(array: &StructArray, row: usize) -> Map<String, Value> {
    array
        .fields()
        .iter()
        .zip(array.columns())
        .map(|(field, column)| (field.name().clone(), value_json(column, row)))
        .collect()
}

fn value_json(array: &dyn Array, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Int8 => array.as_primitive::<Int8Type>().value(row).into(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).into(),
        DataType::UInt16 => array.as_primitive::<UInt16Type>().value(row).into(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).into(),
        DataType::Float32 => array.as_primitive::<Float32Type>().value(row).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into(),
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into(),
        DataType::LargeBinary => {
            format!("{} bytes", array.as_binary::<i64>().value_length(row)).into()
        }
        DataType::Binary => format!("{} bytes", array.as_binary::<i32>().value_length(row)).into(),
        DataType::Struct(_) => Value::Object(row_json(array.as_struct(), row)),
        DataType::List(_) => list_json(&array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list_json(&array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => list_json(&array.as_fixed_size_list().value(row)),
        _ => Value::Null,
    }
}

fn list_json(items: &dyn Array) -> Value {
    (0..items.len()).map(|i| value_json(items, i)).collect()
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::{ArmState, Observation, encode};

    use super::*;

    #[test]
    fn a_row_with_groups_and_lists_reads_like_the_frame() {
        let arm = ArmState {
            name: "right".into(),
            joint_pos: vec![0.5, f64::NAN],
            eef_pos: [1.0, 2.0, 3.0],
            ..ArmState::default()
        };
        let observation = Observation {
            control_step: 4,
            arms: vec![arm],
            success: true,
            ..Observation::default()
        };
        let array = encode(&[Observation::default(), observation]);
        let json = Value::Object(row_json(array.as_struct(), 1));
        assert_eq!(json["control_step"], 4);
        assert_eq!(json["success"], true);
        assert_eq!(json["base_pose"], Value::Null);
        assert_eq!(json["arms"][0]["name"], "right");
        assert_eq!(json["arms"][0]["eef_pos"], serde_json::json!([1.0, 2.0, 3.0]));
        assert_eq!(json["arms"][0]["joint_pos"], serde_json::json!([0.5, null]));
    }
}
