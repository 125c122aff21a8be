//! The simulator against recordings of the Python reference, bit for bit.
//!
//! `tests/reference/golden.py` made them. `./rua test --parity` records anew, more and
//! with pictures, and compares in the same way.

mod recording;

use std::{
    collections::BTreeSet,
    num::NonZero,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use libero::{
    bddl::{Predicate, Problem},
    data::Data,
    suites::{self, Suite},
};

use recording::Recording;

fn data() -> Data {
    Data::locate().expect("the LIBERO data; `./rua setup` fetches it")
}

fn golden() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let files = std::fs::read_dir(folder).expect("the recordings");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    files
}

#[test]
fn recorded_tasks_are_the_references_to_the_bit() {
    let (data, files) = (data(), golden());
    let next = AtomicUsize::new(0);
    let play = || {
        let mut differences = Vec::new();
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let recorded = Recording::read(file).expect("a recording");
            let row = recording::compare(&data, &recorded, Path::new("")).expect("a comparison");
            assert_eq!(row.runs.len(), recorded.runs.len());
            assert!(row.runs.iter().all(|run| run.steps > 0 && run.compared > 0));
            differences.extend(row.differences());
        }
        differences
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(files.len());
    let differences: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(play)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(differences, Vec::<String>::new());
}

#[test]
fn the_recorded_tasks_know_every_workspace_predicate_and_category() {
    let data = data();
    let mut all = BTreeSet::new();
    for suite in suites::all(&data).expect("the suites") {
        if complete(&data, &suite) {
            for task in 0..suite.tasks.len() {
                all.extend(kinds(&suite.task(&data, task).expect("a task").1));
            }
        }
    }
    let mut recorded = BTreeSet::new();
    for file in golden() {
        let Recording { suite, task, .. } = Recording::read(&file).expect("a recording");
        let suite = suites::find(&data, &suite).expect("a suite");
        recorded.extend(kinds(&suite.task(&data, task).expect("a task").1));
    }
    assert!(all.len() > 70, "{all:?}");
    assert_eq!(all.difference(&recorded).collect::<Vec<_>>(), Vec::<&String>::new());
}

fn complete(data: &Data, suite: &Suite) -> bool {
    let tasks = suite.entries(data);
    !tasks.is_empty() && tasks.iter().all(|task| task.missing.is_empty())
}

/// The workspace, the predicates at the start and in the goal, and the categories.
fn kinds(problem: &Problem) -> Vec<String> {
    let name = |predicate: &Predicate| match predicate {
        Predicate::On(..) => "on",
        Predicate::In(..) => "in",
        Predicate::Open(_) => "open",
        Predicate::Close(_) => "close",
        Predicate::TurnOn(_) => "turn on",
        Predicate::TurnOff(_) => "turn off",
    };
    let mut kinds = vec![problem.class.clone()];
    kinds.extend(problem.init.iter().map(|predicate| format!("start: {}", name(predicate))));
    kinds.extend(problem.goal.iter().map(|predicate| format!("goal: {}", name(predicate))));
    kinds.extend(problem.objects.iter().map(|group| format!("object {}", group.category)));
    kinds.extend(problem.fixtures.iter().map(|group| format!("fixture {}", group.category)));
    kinds
}
