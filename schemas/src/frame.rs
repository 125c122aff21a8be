use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray as _, StructArray};
use arrow::datatypes::{DataType, Fields, Schema};

use crate::SchemaError;
use crate::column::Column;

/// A struct of columns: the row type of a topic, or a group inside one.
pub trait Row: Column {
    fn arrow_fields() -> Fields;

    fn field_docs() -> Vec<FieldDoc>;
}

/// The row type of one topic.
pub trait Frame: Row + Clone + Send + Sync + 'static {
    const TOPIC: &'static str;
    const VERSION: u32;
    /// What one row of the topic is, in a sentence or two.
    const DOC: &'static str;
}

/// One field of a row, for the generated reference.
pub struct FieldDoc {
    pub name: &'static str,
    pub data_type: DataType,
    pub nullable: bool,
    pub doc: String,
    /// Fields of the group, when the field is one or a list of them.
    pub children: Vec<FieldDoc>,
}

/// Builds the Arrow array of some rows.
pub fn encode<F: Frame>(rows: &[F]) -> ArrayRef {
    F::build(&rows.iter().map(Some).collect::<Vec<_>>())
}

/// The topic's Arrow schema, with its name and version in the metadata.
pub fn frame_schema<F: Frame>() -> Schema {
    Schema::new_with_metadata(
        F::arrow_fields(),
        HashMap::from([
            (crate::Stamp::SCHEMA.to_owned(), F::TOPIC.to_owned()),
            (crate::Stamp::SCHEMA_VERSION.to_owned(), F::VERSION.to_string()),
        ]),
    )
}

/// Received rows of one topic, checked once and then read in place.
pub struct Rows<F> {
    array: ArrayRef,
    of: PhantomData<F>,
}

impl<F: Frame> Rows<F> {
    /// Checks that an array holds this frame.
    ///
    /// A sender may say `nullable` where the schema does not, as pyarrow does by
    /// default; a row that really is empty there is refused.
    pub fn read(topic: &str, version: u32, array: ArrayRef) -> Result<Self, SchemaError> {
        if topic != F::TOPIC {
            return Err(SchemaError::Topic { expected: F::TOPIC, found: topic.to_owned() });
        }
        if version != F::VERSION {
            return Err(SchemaError::Version {
                topic: F::TOPIC,
                known: F::VERSION,
                found: version,
            });
        }
        let expected = F::data_type();
        if let Some((field, expected, found)) = difference("", &expected, array.data_type()) {
            return Err(SchemaError::Type {
                topic: F::TOPIC,
                version,
                field,
                expected: Box::new(expected),
                found,
            });
        }
        if let Some(field) = unexpected_null("", &DataType::Struct(F::arrow_fields()), &array) {
            return Err(SchemaError::Null { topic: F::TOPIC, version, field });
        }
        Ok(Rows { array, of: PhantomData })
    }

    pub fn len(&self) -> usize {
        self.array.len()
    }

    pub fn is_empty(&self) -> bool {
        self.array.is_empty()
    }

    /// Row `index`; panics when it is out of range, as a slice does.
    pub fn get(&self, index: usize) -> F::Ref<'_> {
        assert!(index < self.len(), "row {index} of {}", self.len());
        F::get(&self.array, index)
    }

    /// The first row, or an error that names the topic.
    pub fn first(&self) -> Result<F::Ref<'_>, SchemaError> {
        if self.is_empty() {
            return Err(SchemaError::Empty { topic: F::TOPIC });
        }
        Ok(self.get(0))
    }

    pub fn iter(&self) -> impl Iterator<Item = F::Ref<'_>> {
        (0..self.len()).map(|row| F::get(&self.array, row))
    }

    pub fn to_vec(&self) -> Vec<F> {
        self.iter().map(F::to_owned).collect()
    }
}

/// The first place where two types differ: path, expected type, what was found.
fn difference(
    path: &str,
    expected: &DataType,
    found: &DataType,
) -> Option<(String, DataType, String)> {
    let differs = || Some((path.to_owned(), expected.clone(), found.to_string()));
    match (expected, found) {
        (DataType::Struct(want), DataType::Struct(have)) => {
            for (i, field) in want.iter().enumerate() {
                let path = join(path, field.name());
                match have.get(i) {
                    Some(other) if other.name() == field.name() => {
                        if let Some(d) = difference(&path, field.data_type(), other.data_type()) {
                            return Some(d);
                        }
                    }
                    Some(other) => {
                        let found = format!("named {:?} at this place", other.name());
                        return Some((path, field.data_type().clone(), found));
                    }
                    None => return Some((path, field.data_type().clone(), "missing".to_owned())),
                }
            }
            (have.len() > want.len()).then(|| {
                (join(path, have[want.len()].name()), DataType::Null, "not known".to_owned())
            })
        }
        (DataType::List(want), DataType::List(have)) => {
            difference(path, want.data_type(), have.data_type())
        }
        (DataType::FixedSizeList(want, n), DataType::FixedSizeList(have, m)) => {
            if n != m {
                return differs();
            }
            difference(path, want.data_type(), have.data_type())
        }
        _ if expected == found => None,
        _ => differs(),
    }
}

fn unexpected_null(path: &str, expected: &DataType, array: &ArrayRef) -> Option<String> {
    match expected {
        DataType::Struct(fields) => {
            let array = array.as_struct();
            fields.iter().zip(array.columns()).find_map(|(field, column)| {
                let path = join(path, field.name());
                let masked = array.nulls().is_some();
                if !field.is_nullable() && !masked && column.null_count() > 0 {
                    return Some(path);
                }
                unexpected_null(&path, field.data_type(), column)
            })
        }
        DataType::List(item) => {
            let values = array.as_list::<i32>().values();
            if !item.is_nullable() && values.null_count() > 0 {
                return Some(path.to_owned());
            }
            unexpected_null(path, item.data_type(), values)
        }
        _ => None,
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

pub(crate) fn struct_array(array: &ArrayRef) -> &StructArray {
    array.as_struct()
}

pub(crate) fn build_struct(
    fields: Fields,
    columns: Vec<ArrayRef>,
    len: usize,
    nulls: Option<arrow::buffer::NullBuffer>,
) -> ArrayRef {
    let array = if fields.is_empty() {
        StructArray::new_empty_fields(len, nulls)
    } else {
        StructArray::new(fields, columns, nulls)
    };
    Arc::new(array)
}

/// Defines a row type with its Arrow fields, builder and in-place reader.
macro_rules! row {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident / $reader:ident {
            $( $(#[doc = $field_doc:literal])* $field:ident : $ty:ty, )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $( $(#[doc = $field_doc])* pub $field: $ty, )*
        }

        #[doc = concat!("One row of [`", stringify!($name), "`], read in place.")]
        #[derive(Clone, Copy)]
        pub struct $reader<'a> {
            array: &'a arrow::array::ArrayRef,
            row: usize,
        }

        const _: () = {
            use arrow::datatypes::{DataType, Field, Fields};
            use arrow::array::ArrayRef;
            use crate::column::{Column, nulls};
            use crate::frame::{FieldDoc, Row, build_struct, struct_array};

            #[allow(non_camel_case_types)]
            enum Index { $($field),* }

            impl<'a> $reader<'a> {
                $(
                    $(#[doc = $field_doc])*
                    pub fn $field(&self) -> <$ty as Column>::Ref<'a> {
                        let column = struct_array(self.array).column(Index::$field as usize);
                        <$ty as Column>::get(column, self.row)
                    }
                )*

                pub fn to_owned(&self) -> $name {
                    <$name as Column>::to_owned(*self)
                }
            }

            impl Column for $name {
                type Ref<'a> = $reader<'a>;

                fn data_type() -> DataType {
                    DataType::Struct(<Self as Row>::arrow_fields())
                }

                fn build(values: &[Option<&Self>]) -> ArrayRef {
                    let columns = vec![$({
                        let column: Vec<Option<&$ty>> =
                            values.iter().map(|row| row.map(|row| &row.$field)).collect();
                        <$ty as Column>::build(&column)
                    }),*];
                    build_struct(<Self as Row>::arrow_fields(), columns, values.len(), nulls(values))
                }

                fn get(array: &ArrayRef, row: usize) -> $reader<'_> {
                    $reader { array, row }
                }

                fn to_owned(value: $reader<'_>) -> Self {
                    $name { $( $field: <$ty as Column>::to_owned(value.$field()) ),* }
                }

                fn children() -> Vec<FieldDoc> {
                    <Self as Row>::field_docs()
                }
            }

            impl Row for $name {
                fn arrow_fields() -> Fields {
                    static FIELDS: std::sync::LazyLock<Fields> = std::sync::LazyLock::new(|| {
                        Fields::from(vec![$(
                            Field::new(
                                stringify!($field),
                                <$ty as Column>::data_type(),
                                <$ty as Column>::NULLABLE,
                            )
                        ),*])
                    });
                    FIELDS.clone()
                }

                fn field_docs() -> Vec<FieldDoc> {
                    vec![$(FieldDoc {
                        name: stringify!($field),
                        data_type: <$ty as Column>::data_type(),
                        nullable: <$ty as Column>::NULLABLE,
                        doc: [$($field_doc),*].map(str::trim).join(" "),
                        children: <$ty as Column>::children(),
                    }),*]
                }
            }
        };
    };
}

/// Defines the row type of a topic.
macro_rules! frame {
    (
        $(#[doc = $doc:literal])*
        topic $topic:literal version $version:literal
        pub struct $name:ident / $reader:ident { $($fields:tt)* }
    ) => {
        $crate::frame::row! {
            $(#[doc = $doc])*
            pub struct $name / $reader { $($fields)* }
        }

        impl crate::frame::Frame for $name {
            const TOPIC: &'static str = $topic;
            const VERSION: u32 = $version;
            const DOC: &'static str = concat!($($doc, "\n"),*);
        }
    };
}

pub(crate) use {frame, row};
