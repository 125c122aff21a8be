//! Plays recordings of the Python reference and prints, one line of JSON a task, what differs.
//!
//! `./rua cargo run -p libero --example parity -- FOLDER…`, each a folder that
//! `tests/reference/parity.py` made.

#[path = "../tests/recording/mod.rs"]
mod recording;

use std::path::PathBuf;

use eyre::Result;
use libero::data::Data;

fn main() -> Result<()> {
    let data = Data::locate()?;
    for folder in std::env::args_os().skip(1).map(PathBuf::from) {
        let recorded = recording::Recording::read(&folder.join("recording.json"))?;
        let row = match recording::compare(&data, &recorded, &folder) {
            Ok(row) => {
                let mut value = serde_json::to_value(&row)?;
                value["equal"] = row.differences().is_empty().into();
                value
            }
            Err(error) => serde_json::json!({
                "suite": recorded.suite,
                "task": recorded.task,
                "error": format!("{error:#}"),
            }),
        };
        println!("{row}");
    }
    Ok(())
}
