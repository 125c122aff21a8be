//! What is made from the tables, as text a person can review.
//!
//! `UPDATE_SNAPSHOTS=1 ./rua cargo test` writes the files anew.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use ruaflow_robots::{ALL, Primitives};

#[test]
fn what_is_made_from_the_tables_is_what_was_reviewed() {
    for api in ALL {
        let [full, no_vla] = Primitives::ALL;
        snapshot(&format!("{}.py", api.name), &api.python_source(full));
        let tools = serde_json::to_string_pretty(&api.tools(full)).unwrap();
        snapshot(&format!("{}.tools.json", api.name), &(tools + "\n"));
        if api.methods_of(no_vla).count() < api.methods.len() {
            snapshot(&format!("{}.no-vla.md", api.name), &api.manual(no_vla));
            snapshot(&format!("{}.no-vla.py", api.name), &api.python_source(no_vla));
        }
    }
}

#[test]
fn the_pages_in_docs_are_what_agents_read() {
    for api in ALL.iter().filter(|api| !api.name.is_empty()) {
        let made = format!(
            "<!-- Made from robots/ by its tests; `UPDATE_SNAPSHOTS=1 ./rua cargo test -p \
             ruaflow-robots` writes it anew. `rua api --robot {}` prints it. -->\n\n{}",
            api.name,
            api.manual(Primitives::Full)
        );
        compare(&format!("../docs/robots/{}.md", api.name), &made);
    }
}

fn snapshot(file: &str, made: &str) {
    compare(&format!("tests/snapshots/{file}"), made);
}

fn compare(file: &str, made: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, made).unwrap();
        return;
    }
    let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(made, reviewed, "{file} differs; look at it and run again with UPDATE_SNAPSHOTS=1");
}
