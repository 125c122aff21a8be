//! Results: what a node measured, checked against the method's record.

use serde_json::{Map, Value};

use crate::api::{Field, FieldSource, Record, Type};

/// Decimals kept of measured numbers: 1e-6 m and 1e-6 rad are far below what any
/// robot here can do, and each digit costs the agent tokens.
const DECIMALS: i32 = 6;

impl Record {
    /// The record as an agent sees it: every field of the table in its order,
    /// derived fields computed, numbers rounded to six decimals.
    ///
    /// # Errors
    /// [`RecordError`] when a measured field is missing or of another type.
    pub fn complete(&self, measured: &Value) -> Result<Map<String, Value>, RecordError> {
        let values = measured.as_object().ok_or(RecordError::NotAnObject { record: self.name })?;
        let mut complete = Map::new();
        for field in self.fields {
            let value = match field.source {
                // An array comes beside the record and takes this place, if there is one.
                FieldSource::Measured if field.ty == Type::Mask => Value::Null,
                FieldSource::Measured => {
                    let value = values
                        .get(field.name)
                        .ok_or(RecordError::Missing { record: self.name, field: field.name })?;
                    checked(self, field, value)?
                }
                FieldSource::Derived(from) => {
                    from(values).map_or(Value::Null, |number| rounded(&Value::from(number)))
                }
            };
            complete.insert(field.name.to_owned(), value);
        }
        Ok(complete)
    }
}

/// A node answered with something its method's record does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    #[error("{record}: the result is not an object")]
    NotAnObject { record: &'static str },
    #[error("{record}: the result lacks {field:?}")]
    Missing { record: &'static str, field: &'static str },
    #[error("{record}: {field:?} should be {wanted}, got {got}")]
    WrongType { record: &'static str, field: &'static str, wanted: String, got: String },
}

fn checked(record: &Record, field: &Field, value: &Value) -> Result<Value, RecordError> {
    if let Type::Records(inner) = field.ty
        && let Some(items) = value.as_array()
    {
        let items = items.iter().map(|item| inner.complete(item).map(Value::Object));
        return items.collect::<Result<_, _>>().map(Value::Array);
    }
    let fits = match field.ty {
        _ if value.is_null() => field.optional,
        Type::Float => value.is_number(),
        Type::Int => value.is_i64(),
        Type::Bool => value.is_boolean(),
        Type::Str => value.is_string(),
        Type::Strs => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        Type::Vector(len) => value
            .as_array()
            .is_some_and(|items| items.len() == len && items.iter().all(Value::is_number)),
        Type::Gripper => value.is_number() || value.is_string(),
        Type::Ints(len) => value
            .as_array()
            .is_some_and(|items| items.len() == len && items.iter().all(Value::is_i64)),
        Type::Camera => value.is_string(),
        Type::Size => value.is_string() || value.is_i64() || value.is_array(),
        Type::Dict => value.is_object(),
        Type::Records(_) | Type::Mask => false,
    };
    if !fits {
        let got: String = value.to_string().chars().take(80).collect();
        return Err(RecordError::WrongType {
            record: record.name,
            field: field.name,
            wanted: format!("{:?}", field.ty),
            got,
        });
    }
    Ok(match field.ty {
        Type::Float => value.as_f64().map_or(Value::Null, |number| rounded(&Value::from(number))),
        Type::Vector(_) => rounded(value),
        _ => value.clone(),
    })
}

fn rounded(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(rounded).collect()),
        Value::Number(number) => number.as_f64().map_or(Value::Null, |number| {
            let scale = 10_f64.powi(DECIMALS);
            let scaled = (number * scale).round() / scale;
            // A rounded -0.0000001 should not read "-0.0"; and huge numbers
            // overflow the scale.
            Value::from(if scaled.is_finite() { scaled + 0.0 } else { number })
        }),
        other => other.clone(),
    }
}
