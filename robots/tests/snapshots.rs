//! What is made from the tables, as text a person can review.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test` writes the files anew.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use ruaflow_robots::ALL;

#[test]
fn what_is_made_from_the_tables_is_what_was_reviewed() {
    for api in ALL {
        check(&format!("{}.md", api.name), &api.reference());
        check(&format!("{}.py", api.name), &api.python_source());
        let tools = serde_json::to_string_pretty(&api.tools()).unwrap();
        check(&format!("{}.tools.json", api.name), &(tools + "\n"));
    }
}

fn check(file: &str, made: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(file);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, made).unwrap();
        return;
    }
    let reviewed = std::fs::read_to_string(&path).unwrap();
    assert_eq!(made, reviewed, "{file} differs; look at it and run again with UPDATE_SNAPSHOTS=1");
}
