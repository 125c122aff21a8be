//! Whatever rows a frame can have, they are the same after compaction.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use arrow::array::{
    ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Float64Array, Int8Array, Int32Array,
    Int64Array, LargeBinaryArray, ListArray, RecordBatch, StringArray, StructArray, UInt8Array,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use ruaflow_record::{TopicReader, TopicWriter, compact, frame_rows, stamped_batch};
use ruaflow_schemas::*;

const MAX_ITEMS: usize = 3;

/// Any rows of a frame: it is known by its Arrow schema alone.
fn rows<F: Frame>(u: &mut Unstructured) -> Result<RecordBatch> {
    let schema: SchemaRef = stamped_batch::<F>(0, 0, 0, &[]).schema();
    let count = u.int_in_range(1..=4)?;
    let columns: Result<Vec<ArrayRef>> =
        schema.fields().iter().map(|field| column(u, field, count)).collect();
    Ok(RecordBatch::try_new(schema, columns?).unwrap())
}

fn column(u: &mut Unstructured, field: &Field, count: usize) -> Result<ArrayRef> {
    let nulls = match field.is_nullable() {
        true => Some(NullBuffer::from(values::<bool>(u, count)?)),
        false => None,
    };
    macro_rules! primitive {
        ($array:ident) => {
            Arc::new($array::new(values(u, count)?.into(), nulls))
        };
    }
    Ok(match field.data_type() {
        DataType::Boolean => primitive!(BooleanArray),
        DataType::Int8 => primitive!(Int8Array),
        DataType::Int32 => primitive!(Int32Array),
        DataType::Int64 => primitive!(Int64Array),
        DataType::UInt8 => primitive!(UInt8Array),
        DataType::UInt16 => primitive!(UInt16Array),
        DataType::UInt32 => primitive!(UInt32Array),
        DataType::UInt64 => primitive!(UInt64Array),
        DataType::Float32 => primitive!(Float32Array),
        // Also what is no number, and both zeros.
        DataType::Float64 => primitive!(Float64Array),
        DataType::Utf8 => {
            Arc::new(StringArray::from_iter_values(values::<String>(u, count)?)) as ArrayRef
        }
        DataType::LargeBinary => {
            Arc::new(LargeBinaryArray::from_iter_values(values::<Vec<u8>>(u, count)?))
        }
        DataType::Struct(fields) => {
            let columns: Result<Vec<ArrayRef>> =
                fields.iter().map(|field| column(u, field, count)).collect();
            Arc::new(StructArray::new(fields.clone(), columns?, nulls))
        }
        DataType::FixedSizeList(item, size) => {
            let items = column(u, item, count * *size as usize)?;
            Arc::new(FixedSizeListArray::new(item.clone(), *size, items, nulls))
        }
        DataType::List(item) => {
            let lengths: Result<Vec<usize>> =
                (0..count).map(|_| u.int_in_range(0..=MAX_ITEMS)).collect();
            let offsets = OffsetBuffer::from_lengths(lengths?);
            let items = column(u, item, offsets.last().map_or(0, |end| *end as usize))?;
            Arc::new(ListArray::new(item.clone(), offsets, items, nulls))
        }
        other => panic!("no rows are made of {other}"),
    })
}

fn values<T: for<'a> arbtest::arbitrary::Arbitrary<'a>>(
    u: &mut Unstructured,
    count: usize,
) -> Result<Vec<T>> {
    (0..count).map(|_| u.arbitrary()).collect()
}

/// The same bytes, so that a NaN equals itself and the two zeros differ.
fn bits(batch: &RecordBatch) -> Vec<u8> {
    let schema = Schema::new(batch.schema().fields().clone());
    let mut writer = arrow::ipc::writer::StreamWriter::try_new(Vec::new(), &schema).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn survives<F: Frame>(u: &mut Unstructured) -> Result<()> {
    let batches = [rows::<F>(u)?, rows::<F>(u)?];
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join(format!("{}.arrows", F::TOPIC));
    let mut writer = TopicWriter::create(&path, batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.append(batch).unwrap());
    writer.finish().unwrap();
    compact(&path).unwrap();

    let mut reader = TopicReader::open(&path.with_extension("parquet")).unwrap();
    let read = reader.next_batch().unwrap().unwrap();
    assert!(reader.next_batch().unwrap().is_none());
    assert_eq!(read.schema().fields(), batches[0].schema().fields());
    assert_eq!(read.schema().metadata()[Stamp::SCHEMA], F::TOPIC);
    let rows = batches[0].num_rows();
    for (batch, from) in batches.iter().zip([0, rows]) {
        let back = read.slice(from, batch.num_rows());
        for row in 0..batch.num_rows() {
            let [wrote, read] = [batch, &back].map(|b| canonical::<F>(&b.slice(row, 1)));
            assert_eq!(wrote, read, "row {row} of {}", F::TOPIC);
        }
    }
    Ok(())
}

/// A row built anew: what lies under an empty value does not count.
fn canonical<F: Frame>(row: &RecordBatch) -> Vec<u8> {
    let frames = frame_rows::<F>(row).unwrap().to_vec();
    bits(&stamped_batch(0, 0, 0, &frames))
}

#[test]
fn the_rows_of_any_frame_survive() {
    arbtest(|u| {
        survives::<Reset>(u)?;
        survives::<Card>(u)?;
        survives::<Cell>(u)?;
        survives::<CellResult>(u)?;
        survives::<Call>(u)?;
        survives::<Cancel>(u)?;
        survives::<CallResult>(u)?;
        survives::<Action>(u)?;
        survives::<Observation>(u)?;
        survives::<State>(u)?;
        survives::<FrameRequest>(u)?;
        survives::<CameraFrame>(u)?;
        survives::<SegmentRequest>(u)?;
        survives::<Segment>(u)?;
        survives::<ChunkRequest>(u)?;
        survives::<Chunk>(u)?;
        survives::<Event>(u)?;
        survives::<Receipt>(u)
    })
    .budget_ms(2_000);
}

#[test]
fn many_rows_of_many_batches_keep_their_order_and_their_stamps() {
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("state.arrows");
    let state =
        |n: u64| State { control_step: n, integration: vec![n as f64; 900], ..State::default() };
    let batch = |first: u64| {
        let states: Vec<State> = (first..first + 64).map(state).collect();
        stamped_batch(3, first, 7, &states)
    };
    let mut writer = TopicWriter::create(&path, batch(0).schema()).unwrap();
    for n in 0..40 {
        writer.append(&batch(64 * n)).unwrap();
    }
    writer.finish().unwrap();
    compact(&path).unwrap();

    let mut reader = TopicReader::open(&path).unwrap();
    let mut next = 0;
    let mut batches = 0;
    while let Some(read) = reader.next_batch().unwrap() {
        batches += 1;
        let rows = read.num_rows() as u64;
        let states: Vec<State> = (next..next + rows).map(state).collect();
        assert_eq!(bits(&read), bits(&stamped_batch(3, next, 7, &states)));
        next += rows;
    }
    assert_eq!(next, 40 * 64);
    assert!(batches > 1, "a long table is not read at once");
}

#[test]
fn a_stream_that_has_not_ended_is_not_compacted() {
    let tmp = tempfile::tempdir().unwrap();
    let path = tmp.path().join("cancel.arrows");
    let batch = stamped_batch(0, 0, 0, &[Cancel::default()]);
    let mut writer = TopicWriter::create(&path, batch.schema()).unwrap();
    writer.append(&batch).unwrap();
    let error = compact(&path).unwrap_err().to_string();
    assert!(error.contains("has not ended"), "{error}");
    assert_eq!(std::fs::read_dir(tmp.path()).unwrap().count(), 1, "nothing half is left");
}
