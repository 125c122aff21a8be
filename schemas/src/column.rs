use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray as _, BooleanArray, FixedSizeListArray,
    LargeBinaryArray, ListArray, PrimitiveArray, StringArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    DataType, Field, Float32Type, Float64Type, Int64Type, UInt32Type, UInt64Type,
};

/// A Rust value that fills one Arrow column and can be read back in place.
///
/// [`Column::get`] expects an array of [`Column::data_type`]; [`crate::Rows::read`]
/// has checked that before any row is handed out.
pub trait Column: Sized {
    /// What reading one row borrows from the array.
    type Ref<'a>;

    /// Whether a row may be empty.
    const NULLABLE: bool = false;

    fn data_type() -> DataType;

    /// Builds the column; `None` makes an empty row.
    fn build(values: &[Option<&Self>]) -> ArrayRef;

    /// Builds the child column of a list from its rows' slices.
    fn build_flat(slices: &[&[Self]]) -> ArrayRef {
        let values: Vec<Option<&Self>> = slices.iter().flat_map(|s| s.iter().map(Some)).collect();
        Self::build(&values)
    }

    fn get(array: &ArrayRef, row: usize) -> Self::Ref<'_>;

    fn to_owned(value: Self::Ref<'_>) -> Self;

    /// Docs of the fields inside, for a group of fields or a list of groups.
    fn children() -> Vec<crate::FieldDoc> {
        Vec::new()
    }
}

macro_rules! primitive_column {
    ($($native:ty => $arrow:ty),* $(,)?) => {$(
        impl Column for $native {
            type Ref<'a> = $native;

            fn data_type() -> DataType {
                <$arrow>::DATA_TYPE
            }

            fn build(values: &[Option<&Self>]) -> ArrayRef {
                Arc::new(values.iter().map(|v| v.copied()).collect::<PrimitiveArray<$arrow>>())
            }

            fn build_flat(slices: &[&[Self]]) -> ArrayRef {
                Arc::new(PrimitiveArray::<$arrow>::new(ScalarBuffer::from(slices.concat()), None))
            }

            fn get(array: &ArrayRef, row: usize) -> Self {
                array.as_primitive::<$arrow>().value(row)
            }

            fn to_owned(value: Self) -> Self {
                value
            }
        }

        impl<'a> ListRef<'a, $native> {
            /// The list's values, in place.
            pub fn as_slice(&self) -> &'a [$native] {
                let values: &'a [$native] = self.values.as_primitive::<$arrow>().values();
                &values[self.start..self.end]
            }
        }

        impl<const N: usize> Column for [$native; N] {
            type Ref<'a> = &'a [$native; N];

            fn data_type() -> DataType {
                DataType::FixedSizeList(item_field::<$native>(), N as i32)
            }

            fn build(values: &[Option<&Self>]) -> ArrayRef {
                let flat: Vec<$native> =
                    values.iter().flat_map(|v| v.copied().unwrap_or([<$native>::default(); N])).collect();
                Arc::new(FixedSizeListArray::new(
                    item_field::<$native>(),
                    N as i32,
                    Arc::new(PrimitiveArray::<$arrow>::new(ScalarBuffer::from(flat), None)),
                    nulls(values),
                ))
            }

            fn get(array: &ArrayRef, row: usize) -> &[$native; N] {
                let list = array.as_fixed_size_list();
                let start = list.value_offset(row) as usize;
                let values: &[$native] = list.values().as_primitive::<$arrow>().values();
                match values[start..].first_chunk() {
                    Some(value) => value,
                    None => unreachable!("the list's length was checked with its type"),
                }
            }

            fn to_owned(value: &Self) -> Self {
                *value
            }
        }
    )*};
}

primitive_column! {
    u32 => UInt32Type,
    u64 => UInt64Type,
    i64 => Int64Type,
    f32 => Float32Type,
    f64 => Float64Type,
}

impl Column for bool {
    type Ref<'a> = bool;

    fn data_type() -> DataType {
        DataType::Boolean
    }

    fn build(values: &[Option<&Self>]) -> ArrayRef {
        Arc::new(values.iter().map(|v| v.copied()).collect::<BooleanArray>())
    }

    fn get(array: &ArrayRef, row: usize) -> bool {
        array.as_boolean().value(row)
    }

    fn to_owned(value: bool) -> Self {
        value
    }
}

impl Column for String {
    type Ref<'a> = &'a str;

    fn data_type() -> DataType {
        DataType::Utf8
    }

    fn build(values: &[Option<&Self>]) -> ArrayRef {
        Arc::new(values.iter().copied().collect::<StringArray>())
    }

    fn get(array: &ArrayRef, row: usize) -> &str {
        array.as_string::<i32>().value(row)
    }

    fn to_owned(value: &str) -> Self {
        value.to_owned()
    }
}

/// Raw bytes, such as pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Column for Bytes {
    type Ref<'a> = &'a [u8];

    fn data_type() -> DataType {
        DataType::LargeBinary
    }

    fn build(values: &[Option<&Self>]) -> ArrayRef {
        Arc::new(LargeBinaryArray::from_iter(values.iter().map(|v| v.map(|b| &b.0))))
    }

    fn get(array: &ArrayRef, row: usize) -> &[u8] {
        array.as_binary::<i64>().value(row)
    }

    fn to_owned(value: &[u8]) -> Self {
        Bytes(value.to_vec())
    }
}

impl<T: Column> Column for Option<T> {
    type Ref<'a> = Option<T::Ref<'a>>;

    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        T::data_type()
    }

    fn build(values: &[Option<&Self>]) -> ArrayRef {
        let inner: Vec<Option<&T>> = values.iter().map(|v| v.and_then(Option::as_ref)).collect();
        T::build(&inner)
    }

    fn get(array: &ArrayRef, row: usize) -> Self::Ref<'_> {
        array.is_valid(row).then(|| T::get(array, row))
    }

    fn to_owned(value: Self::Ref<'_>) -> Self {
        value.map(T::to_owned)
    }

    fn children() -> Vec<crate::FieldDoc> {
        T::children()
    }
}

impl<T: Column> Column for Vec<T> {
    type Ref<'a> = ListRef<'a, T>;

    fn data_type() -> DataType {
        DataType::List(item_field::<T>())
    }

    fn build(values: &[Option<&Self>]) -> ArrayRef {
        let slices: Vec<&[T]> =
            values.iter().map(|v| v.map(Vec::as_slice).unwrap_or_default()).collect();
        Arc::new(ListArray::new(
            item_field::<T>(),
            OffsetBuffer::from_lengths(slices.iter().map(|s| s.len())),
            T::build_flat(&slices),
            nulls(values),
        ))
    }

    fn get(array: &ArrayRef, row: usize) -> ListRef<'_, T> {
        let list = array.as_list::<i32>();
        let offsets = list.value_offsets();
        ListRef {
            values: list.values(),
            start: offsets[row] as usize,
            end: offsets[row + 1] as usize,
            of: PhantomData,
        }
    }

    fn to_owned(value: ListRef<'_, T>) -> Self {
        value.iter().map(T::to_owned).collect()
    }

    fn children() -> Vec<crate::FieldDoc> {
        T::children()
    }
}

/// One row of a list column, read in place.
pub struct ListRef<'a, T> {
    values: &'a ArrayRef,
    start: usize,
    end: usize,
    of: PhantomData<T>,
}

impl<T> Clone for ListRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ListRef<'_, T> {}

impl<'a, T: Column> ListRef<'a, T> {
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub fn get(&self, index: usize) -> Option<T::Ref<'a>> {
        (index < self.len()).then(|| T::get(self.values, self.start + index))
    }

    pub fn iter(&self) -> impl Iterator<Item = T::Ref<'a>> + use<'a, T> {
        let values = self.values;
        (self.start..self.end).map(move |row| T::get(values, row))
    }
}

pub(crate) fn item_field<T: Column>() -> Arc<Field> {
    Arc::new(Field::new_list_field(T::data_type(), T::NULLABLE))
}

pub(crate) fn nulls<T>(values: &[Option<&T>]) -> Option<NullBuffer> {
    values.iter().any(Option::is_none).then(|| values.iter().map(Option::is_some).collect())
}
