use serde_json::Value;

/// An argument as a caller gave it, before any check.
///
/// JSON cannot say NaN or infinity and a Python caller can, so the checks read
/// this instead of a [`Value`].
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    List(Vec<Arg>),
    /// Anything else, with the name of its type.
    Other(String),
}

impl Arg {
    /// The type's name in the words of a Python programmer, for error messages.
    pub(crate) fn type_name(&self) -> &str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "str",
            Self::List(_) => "list",
            Self::Other(name) => name,
        }
    }

    /// The number it is, if it is one. A bool is not.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "what Python's float() does")]
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }
}

impl From<&Value> for Arg {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::None,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => match number.as_i64() {
                Some(value) => Self::Int(value),
                None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Self::Str(text.clone()),
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(_) => Self::Other("dict".to_owned()),
        }
    }
}
