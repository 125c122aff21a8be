use arrow::datatypes::DataType;

/// Why a received array is not the frame that was expected.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    #[error("expected a frame of topic {expected:?}, got one of topic {found:?}")]
    Topic { expected: &'static str, found: String },

    #[error(
        "topic {topic:?}: this build reads schema version {known}, the sender wrote version {found}; \
         use the same RuaFlow version on both sides"
    )]
    Version { topic: &'static str, known: u32, found: u32 },

    #[error("topic {topic:?} version {version}: field {field:?} is {found}, expected {expected}")]
    Type {
        topic: &'static str,
        version: u32,
        field: String,
        expected: Box<DataType>,
        found: String,
    },

    #[error("topic {topic:?} version {version}: field {field:?} has empty values, and may not")]
    Null { topic: &'static str, version: u32, field: String },

    #[error("topic {topic:?}: no row, expected at least one")]
    Empty { topic: &'static str },

    #[error(
        "metadata key {key:?} is missing or of the wrong type; every frame carries run, episode, seq, schema and schema_version"
    )]
    Stamp { key: &'static str },
}
