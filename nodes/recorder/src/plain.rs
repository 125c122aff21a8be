//! Rows that people also want as plain files: the card, the cells and what came
//! of them.

use std::path::PathBuf;

use arrow::array::{AsArray as _, RecordBatch, StructArray};
use ruaflow_record::{
    RecordError, RunDir, STAMP_COLUMNS, cell_text, frame_rows, picture_name, row_json,
    write_atomically,
};
use ruaflow_schemas::{Bytes, Card, Cell, CellResult, Frame, encode};
use serde_json::{Map, Value};

use crate::batch::TopicRows;
use crate::store::make_folder;

/// Writes the plain files that some rows of an episode call for; rows of other topics
/// are left alone. Returns the pictures among the files.
pub(crate) fn write(
    dir: &RunDir,
    episode: Option<u32>,
    rows: &TopicRows,
    from_planner: bool,
) -> Result<Vec<PathBuf>, RecordError> {
    let mut pictures = Vec::new();
    let Some(episode) = episode else { return Ok(pictures) };
    match rows.topic.as_str() {
        // The robot's own card has no budgets yet.
        Card::TOPIC if from_planner => {
            for row in 0..rows.rows.num_rows() {
                let card = pretty(frame_json(&rows.rows, row));
                write_atomically(&dir.episode_dir(episode).join("card.json"), card.as_bytes())?;
            }
        }
        Cell::TOPIC => {
            if let Ok(cells) = frame_rows::<Cell>(&rows.rows) {
                for cell in cells.iter() {
                    let path = cell_file(dir, episode, cell.index(), "py")?;
                    write_atomically(&path, cell.code().as_bytes())?;
                }
            }
        }
        CellResult::TOPIC => {
            if let Ok(results) = frame_rows::<CellResult>(&rows.rows) {
                for (row, result) in results.iter().enumerate() {
                    let mut json = frame_json(&rows.rows, row);
                    unfold_ledger(&mut json);
                    write_atomically(
                        &cell_file(dir, episode, result.index(), "json")?,
                        pretty(json).as_bytes(),
                    )?;
                    let result = result.to_owned();
                    write_atomically(
                        &cell_file(dir, episode, result.index, "txt")?,
                        cell_text(&result).as_bytes(),
                    )?;
                    for (number, picture) in result.images.iter().enumerate() {
                        let name = picture_name(number + 1, &picture.name);
                        let path = cell_file(dir, episode, result.index, &name)?;
                        write_atomically(&path, &picture.png.0)?;
                        pictures.push(path);
                    }
                }
            }
        }
        _ => {}
    }
    Ok(pictures)
}

/// The rows of a cell's result without its pictures, which are files beside the cell;
/// nothing for rows that have none.
pub(crate) fn without_pictures(rows: &TopicRows) -> Option<TopicRows> {
    if rows.topic != CellResult::TOPIC {
        return None;
    }
    let mut results = frame_rows::<CellResult>(&rows.rows).ok()?.to_vec();
    for picture in results.iter_mut().flat_map(|result| &mut result.images) {
        picture.png = Bytes(Vec::new());
    }
    let frames = encode(&results);
    let stamps = rows.rows.columns().iter().take(STAMP_COLUMNS.len());
    let columns = stamps.chain(frames.as_struct().columns()).cloned().collect();
    // Rows of another shape are kept as they came.
    let rows_left = RecordBatch::try_new(rows.rows.schema(), columns).ok()?;
    Some(TopicRows { topic: rows.topic.clone(), episode: rows.episode, rows: rows_left })
}

fn cell_file(
    dir: &RunDir,
    episode: u32,
    index: u32,
    extension: &str,
) -> Result<PathBuf, RecordError> {
    let folder = dir.cells_dir(episode);
    make_folder(&folder)?;
    Ok(folder.join(format!("{index:03}.{extension}")))
}

fn frame_json(rows: &RecordBatch, row: usize) -> Map<String, Value> {
    let mut json = row_json(&StructArray::from(rows.clone()), row);
    for name in STAMP_COLUMNS {
        json.shift_remove(name);
    }
    json
}

/// Arguments and outcomes travel as JSON in a string; a reader wants the object.
fn unfold_ledger(result: &mut Map<String, Value>) {
    let Some(Value::Array(ledger)) = result.get_mut("ledger") else { return };
    for entry in ledger {
        for name in ["arguments", "outcome"] {
            if let Some(text) = entry[name].as_str()
                && let Ok(object @ Value::Object(_)) = serde_json::from_str(text)
            {
                entry[name] = object;
            }
        }
    }
}

fn pretty(json: Map<String, Value>) -> String {
    format!("{:#}\n", Value::Object(json))
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::{Bytes, LedgerEntry, Picture};

    use super::*;
    use crate::batch::tests::incoming;

    #[test]
    fn a_cell_and_its_result_become_files() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, _lock) = RunDir::create(&tmp.path().join("r"), "r").unwrap();
        std::fs::create_dir(dir.episode_dir(2)).unwrap();
        let write_rows = |rows: Vec<TopicRows>| {
            for row in &rows {
                write(&dir, Some(2), row, true).unwrap();
            }
        };
        write_rows(
            incoming(2, &[Cell { index: 1, code: "print(1)\n".into(), ..Cell::default() }])
                .check()
                .unwrap(),
        );
        let entry = LedgerEntry {
            method: "move_to".into(),
            arguments: r#"{"xyz": [0, 0, 1]}"#.into(),
            outcome: "a word".into(),
            ..LedgerEntry::default()
        };
        let result = CellResult {
            index: 1,
            status: "ok".into(),
            stdout: "1\n".into(),
            ledger: vec![entry],
            images: vec![Picture {
                name: "../wrist".into(),
                png: Bytes(b"a png".to_vec()),
                ..Picture::default()
            }],
            ..CellResult::default()
        };
        write_rows(incoming(2, &[result]).check().unwrap());

        let read = |name: &str| std::fs::read_to_string(dir.cells_dir(2).join(name)).unwrap();
        assert_eq!(read("001.py"), "print(1)\n");
        assert_eq!(read("001.txt"), "1\n");
        assert_eq!(read("001.1-___wrist.png"), "a png");
        let json: Value = serde_json::from_str(&read("001.json")).unwrap();
        assert_eq!(json["status"], "ok");
        assert_eq!(json["ledger"][0]["arguments"]["xyz"][2], 1);
        assert_eq!(json["ledger"][0]["outcome"], "a word");
        assert!(json.get("seq").is_none());
    }

    #[test]
    fn the_card_is_the_planners() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, _lock) = RunDir::create(&tmp.path().join("r"), "r").unwrap();
        std::fs::create_dir(dir.episode_dir(0)).unwrap();
        let card = Card { instruction: "stack".into(), ..Card::default() };
        let rows = incoming(0, &[card]).check().unwrap().remove(0);
        write(&dir, Some(0), &rows, false).unwrap();
        let path = dir.episode_dir(0).join("card.json");
        assert!(!path.exists());
        write(&dir, Some(0), &rows, true).unwrap();
        let json: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(json["instruction"], "stack");
    }
}
