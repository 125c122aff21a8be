//! Any frame survives a round trip through Arrow and Arrow IPC; anything that
//! is not the frame is refused with an error that names both sides.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arbtest::arbitrary::{Arbitrary, Result, Unstructured};
use arbtest::arbtest;
use arrow::array::{Array, ArrayRef, AsArray as _, RecordBatch, StructArray};
use arrow::datatypes::{Field, Fields};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use ruaflow_schemas::*;

/// What a frame looks like after it has been written to a stream and read back.
fn through_ipc(array: &ArrayRef) -> ArrayRef {
    let batch = RecordBatch::from(array.as_struct().clone());
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    let bytes = writer.into_inner().unwrap();
    let batch = StreamReader::try_new(bytes.as_slice(), None).unwrap().next().unwrap().unwrap();
    Arc::new(StructArray::from(batch))
}

fn survives<F: Frame + PartialEq + std::fmt::Debug>(rows: &[F]) {
    let array = encode(rows);
    let read = |array| Rows::<F>::read(F::TOPIC, F::VERSION, array).unwrap().to_vec();
    assert_eq!(read(array.clone()), rows);
    assert_eq!(read(through_ipc(&array)), rows);
    if rows.len() > 1 {
        assert_eq!(read(array.slice(1, rows.len() - 1)), rows[1..], "a slice reads its own rows");
    }
}

type Source<'a> = Unstructured<'a>;

/// Any number but NaN, which is not equal to itself.
fn number(u: &mut Source) -> Result<f64> {
    let number: f64 = u.arbitrary()?;
    Ok(if number.is_nan() { 0.5 } else { number })
}

fn numbers(u: &mut Source, at_most: usize) -> Result<Vec<f64>> {
    (0..u.int_in_range(0..=at_most)?).map(|_| number(u)).collect()
}

fn array<const N: usize>(u: &mut Source) -> Result<[f64; N]> {
    let mut values = [0.0; N];
    for value in &mut values {
        *value = number(u)?;
    }
    Ok(values)
}

fn maybe<const N: usize>(u: &mut Source) -> Result<Option<[f64; N]>> {
    if u.arbitrary()? { array(u).map(Some) } else { Ok(None) }
}

fn many<T: for<'a> Arbitrary<'a>>(u: &mut Source, at_most: usize) -> Result<Vec<T>> {
    (0..u.int_in_range(0..=at_most)?).map(|_| u.arbitrary()).collect()
}

fn arm(u: &mut Source) -> Result<ArmState> {
    Ok(ArmState {
        name: u.arbitrary()?,
        joint_pos: numbers(u, 8)?,
        joint_vel: numbers(u, 8)?,
        eef_pos: array(u)?,
        eef_quat: array(u)?,
        gripper_qpos: numbers(u, 2)?,
        gripper_opening: number(u)?,
    })
}

fn observation(u: &mut Source) -> Result<Observation> {
    Ok(Observation {
        control_step: u.arbitrary()?,
        action_id: u.arbitrary()?,
        time_ns: u.arbitrary()?,
        arms: (0..u.int_in_range(0..=2)?).map(|_| arm(u)).collect::<Result<_>>()?,
        base_pose: maybe(u)?,
        terminated: u.arbitrary()?,
        truncated: u.arbitrary()?,
        success: u.arbitrary()?,
    })
}

#[test]
fn observations() {
    arbtest(|u| {
        let rows: Vec<Observation> =
            (0..u.int_in_range(0..=3)?).map(|_| observation(u)).collect::<Result<_>>()?;
        survives(&rows);
        Ok(())
    });
}

#[test]
fn cards() {
    arbtest(|u| {
        let text: String = u.arbitrary()?;
        let names: Vec<String> = many(u, 4)?;
        let arm = Arm {
            name: text.clone(),
            joints: names.clone(),
            workspace: maybe(u)?,
            ..Arm::default()
        };
        let camera =
            Camera { name: text.clone(), width: u.arbitrary()?, depth: true, ..Camera::default() };
        let card = Card {
            instruction: text,
            object_names: names,
            arms: vec![arm; 2],
            cameras: vec![camera],
            first: observation(u)?,
            ..Card::default()
        };
        survives(&[card.clone(), Card::default(), card]);
        Ok(())
    });
}

#[test]
fn calls_and_results() {
    arbtest(|u| {
        let result = CallResult {
            outcome: u.arbitrary()?,
            step: u.arbitrary()?,
            observation: observation(u)?,
            ..CallResult::default()
        };
        survives(&[result.clone(), result]);
        survives(&[Call { id: u.arbitrary()?, timeout_ms: u.arbitrary()?, ..Call::default() }]);
        survives(&[Cancel { id: u.arbitrary()?, reason: u.arbitrary()? }]);
        survives(&[Action { id: u.arbitrary()?, values: numbers(u, 8)?, ..Action::default() }]);
        survives(&[Chunk { source: u.arbitrary()?, values: numbers(u, 8)?, ..Chunk::default() }]);
        Ok(())
    });
}

#[test]
fn cells() {
    arbtest(|u| {
        let ledger = many::<(String, bool, u64)>(u, 4)?
            .into_iter()
            .map(|(method, ok, step)| LedgerEntry { method, ok, step, ..LedgerEntry::default() })
            .collect();
        survives(&[CellResult {
            stdout: u.arbitrary()?,
            images: vec![Picture { png: Bytes(many(u, 50)?), ..Picture::default() }],
            audit: many(u, 3)?,
            ledger,
            ..CellResult::default()
        }]);
        survives(&[Cell { code: u.arbitrary()?, index: u.arbitrary()?, ..Cell::default() }]);
        Ok(())
    });
}

#[test]
fn states_and_pictures() {
    arbtest(|u| {
        survives(&[State {
            integration: numbers(u, 500)?,
            fixtures: numbers(u, 30)?,
            success: u.arbitrary()?,
            ..State::default()
        }]);
        survives(&[CameraFrame {
            color: Bytes(many(u, 300)?),
            depth: numbers(u, 100)?.into_iter().map(|d| d as f32).collect(),
            segmentation: many(u, 50)?,
            intrinsics: array(u)?,
            camera_to_world: array(u)?,
            ..CameraFrame::default()
        }]);
        survives(&[FrameRequest {
            camera: u.arbitrary()?,
            control_step: -1,
            ..FrameRequest::default()
        }]);
        Ok(())
    });
}

#[test]
fn small_frames() {
    arbtest(|u| {
        let reset = Reset { id: u.arbitrary()?, seed: u.arbitrary()?, ..Reset::default() };
        let state = Some(State { integration: numbers(u, 20)?, ..State::default() });
        survives(&[Reset { state, ..reset.clone() }, reset]);
        survives(&[Event { kind: u.arbitrary()?, data: u.arbitrary()?, ..Event::default() }]);
        survives(&[Receipt {
            node: u.arbitrary()?,
            through: u.arbitrary()?,
            missing: many(u, 8)?,
        }]);
        Ok(())
    });
}

#[test]
fn lists_read_in_place() {
    let state = State { integration: vec![1.0, 2.0, 3.0], ..State::default() };
    let rows = Rows::<State>::read("state", 1, encode(&[state])).unwrap();
    assert_eq!(rows.get(0).integration().as_slice(), [1.0, 2.0, 3.0]);
    assert_eq!(rows.get(0).integration().get(3), None);
}

#[test]
fn another_version_or_topic_is_refused_by_name() {
    let refuse = |topic, version| {
        Rows::<Cancel>::read(topic, version, encode(&[Cancel::default()]))
            .err()
            .unwrap()
            .to_string()
    };
    assert_eq!(
        refuse("cancel", 2),
        "topic \"cancel\": this build reads schema version 1, the sender wrote version 2; \
         use the same RuaFlow version on both sides"
    );
    assert_eq!(
        refuse("call", 1),
        "expected a frame of topic \"cancel\", got one of topic \"call\""
    );
}

#[test]
fn a_wrong_type_is_refused_by_field() {
    let refuse = |array: ArrayRef| {
        Rows::<Observation>::read("observation", 1, array).err().unwrap().to_string()
    };
    assert_eq!(
        refuse(encode(&[Cancel::default()])),
        "topic \"observation\" version 1: field \"control_step\" is named \"id\" at this place, expected UInt64"
    );
    let numbers: ArrayRef = Arc::new(arrow::array::UInt8Array::from(vec![1, 2]));
    assert!(refuse(numbers).contains("is UInt8, expected Struct"), "a bare array is not a frame");

    let narrow =
        encode(&[Observation { arms: vec![ArmState::default()], ..Observation::default() }]);
    let fields: Fields = Observation::arrow_fields().iter().take(4).cloned().collect();
    let columns = narrow.as_struct().columns()[..4].to_vec();
    assert!(
        refuse(Arc::new(StructArray::new(fields, columns, None)))
            .contains("\"base_pose\" is missing")
    );
}

#[test]
fn nullable_from_another_language_is_accepted_and_a_real_null_is_not() {
    let array = encode(&[Cancel { id: "1".into(), reason: "x".into() }]);
    let loose: Fields =
        Cancel::arrow_fields().iter().map(|f| Field::clone(f).with_nullable(true)).collect();
    let loose_array: ArrayRef =
        Arc::new(StructArray::new(loose.clone(), array.as_struct().columns().to_vec(), None));
    assert_eq!(Rows::<Cancel>::read("cancel", 1, loose_array).unwrap().get(0).reason(), "x");

    let nulls: ArrayRef = Arc::new(arrow::array::StringArray::from(vec![None::<&str>]));
    let holes: ArrayRef = Arc::new(StructArray::new(loose, vec![nulls.clone(), nulls], None));
    assert_eq!(
        Rows::<Cancel>::read("cancel", 1, holes).err().unwrap().to_string(),
        "topic \"cancel\" version 1: field \"id\" has empty values, and may not"
    );
}

#[test]
fn an_empty_message_is_an_error_not_a_panic() {
    let rows = Rows::<Cancel>::read("cancel", 1, encode::<Cancel>(&[])).unwrap();
    assert_eq!(
        rows.first().err().unwrap().to_string(),
        "topic \"cancel\": no row, expected at least one"
    );
}

#[test]
fn the_reference_and_the_python_twin_are_current() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(here.join(name)).unwrap_or_default();
    let stale = "run `./rua cargo run -p ruaflow-schemas --bin schemas-reference`";
    assert!(read("README.md") == reference::markdown(), "schemas/README.md is stale: {stale}");
    assert!(
        read("python/ruaflow_schemas.py") == reference::python(),
        "the Python twin is stale: {stale}"
    );
}
