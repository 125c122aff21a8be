//! `rua play` from the command line to the records, on the template robot.

use std::collections::BTreeSet;

use end_to_end::policies::THREE_CELLS;
use end_to_end::{Place, wait_until};
use ruaflow_record::{Reason, Status};
use ruaflow_schemas::{Action, Call, CallResult, Cell, CellResult, Observation, State};

#[test]
fn a_script_runs_to_its_end_with_whole_records() {
    let place = Place::default();
    let ended = place.run(place.play(THREE_CELLS, []));
    ended.assert_code(0);
    place.assert_nothing_left();
    assert_eq!(ended.err, "", "{ended}");
    for words in [
        "cell 1",
        "look",
        "at 0.40 m",
        "cell 2",
        "reached",
        "cell 3",
        "closed True",
        "✓ done (policy_finished)",
    ] {
        assert!(ended.out.contains(words), "no {words:?}; {ended}");
    }
    assert!(ended.out.contains(&place.path("out").display().to_string()), "{ended}");

    let records = place.records();
    let result = records.result();
    assert_eq!((result.status, result.reason), (Status::Completed, Some(Reason::PolicyFinished)));
    assert_eq!((result.cells, result.calls, result.error), (3, 4, None));

    let observations = records.rows::<Observation>(0);
    let steps: Vec<u64> = observations.iter().map(|o| o.control_step).collect();
    assert_eq!(steps, (0..=result.env_steps).collect::<Vec<_>>());
    assert!(result.env_steps > 5);
    let states: Vec<u64> = records.rows::<State>(0).iter().map(|s| s.control_step).collect();
    assert_eq!(states, steps);
    assert_eq!(records.rows::<Action>(0).len() as u64, result.env_steps);

    let asked: Vec<String> = records.rows::<Call>(0).into_iter().map(|call| call.id).collect();
    let answered: Vec<String> =
        records.rows::<CallResult>(0).into_iter().map(|result| result.id).collect();
    assert_eq!(asked, answered);
    let cells: Vec<u32> = records.rows::<Cell>(0).iter().map(|cell| cell.index).collect();
    assert_eq!(cells, [1, 2, 3]);
    assert!(records.rows::<CellResult>(0).iter().all(|cell| cell.status == "ok"));
    for name in [
        "dora.log",
        "settings.json",
        "progress.jsonl",
        "episodes/000/card.json",
        "episodes/000/cells/002.py",
    ] {
        assert!(records.path(name).is_file(), "no {name}");
    }
    let printed = std::fs::read_to_string(records.path("episodes/000/cells/001.txt")).unwrap();
    assert!(printed.contains("at 0.40 m"), "{printed}");
}

#[test]
fn three_episodes_run_in_one_set_of_processes() {
    let place = Place::default();
    place.run(place.play(THREE_CELLS, ["--episodes", "3", "--seed", "4"])).assert_code(0);
    place.assert_nothing_left();
    let records = place.records();
    let result = records.result();
    let seeds: Vec<u64> = result.episodes.iter().map(|episode| episode.seed).collect();
    assert_eq!(seeds, [4, 5, 6]);
    for episode in &result.episodes {
        assert_eq!(
            (episode.status, episode.recorded, episode.cells),
            (Status::Completed, true, 3),
            "{episode:?}"
        );
        let steps = records.rows::<Observation>(episode.episode).len() as u64;
        assert_eq!(steps, episode.env_steps + 1);
    }
    let log = std::fs::read_to_string(records.path("dora.log")).unwrap();
    assert_eq!(log.matches("spawned node with pid").count(), 6, "{log}");
}

#[test]
fn the_exit_status_can_ask_for_success() {
    let place = Place::default();
    let ended = place.run(place.play(THREE_CELLS, ["--require-success"]));
    ended.assert_code(3);
    assert!(ended.out.contains("done (policy_finished)"), "{ended}");
}

#[test]
fn a_cell_that_raises_ends_the_episode() {
    let place = Place::default();
    let ended = place.run(place.play("# %% bad\nprint('before')\n1 / 0\n# %% never\n", []));
    ended.assert_code(0);
    assert!(ended.out.contains("ZeroDivisionError"), "{ended}");
    let result = place.records().result();
    assert_eq!((result.reason, result.cells), (Some(Reason::CellError), 1));
}

#[test]
fn a_cell_without_end_is_killed_and_the_episode_goes_on_to_its_own() {
    let place = Place::default();
    let ended = place.run(place.play("# %% hang\nwhile True: pass\n", ["--cell-timeout", "2"]));
    ended.assert_code(0);
    place.assert_nothing_left();
    let records = place.records();
    assert_eq!(records.rows::<CellResult>(0)[0].status, "timeout");
    assert_eq!(records.result().status, Status::Completed);
}

#[test]
fn the_result_can_be_had_as_json_alone() {
    let place = Place::default();
    let ended = place.run(place.play(THREE_CELLS, ["--json"]));
    ended.assert_code(0);
    let printed: serde_json::Value =
        serde_json::from_str(&ended.out).unwrap_or_else(|e| panic!("{e}; {ended}"));
    assert_eq!(printed["result"]["status"], "completed");
    assert_eq!(printed["dir"], place.path("out").display().to_string());
}

#[test]
fn a_run_without_a_folder_goes_to_runs_under_its_own_name() {
    let place = Place::default();
    place.write("policy.py", "# %%\nprint(1)\n");
    let ended =
        place.run(place.rua(["play", "--robot", "template", "--policy", "policy.py", "--json"]));
    ended.assert_code(0);
    let printed: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let dir = std::path::PathBuf::from(printed["dir"].as_str().unwrap());
    assert_eq!(dir.parent(), Some(end_to_end::root().join("runs").as_path()));
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn settings_of_the_callers_shell_do_not_get_in() {
    let place = Place::default();
    let mut command = place.play(THREE_CELLS, []);
    for (name, value) in [
        ("EPISODES", "7"),
        ("SEED", "x"),
        ("RUN_ID", "../x"),
        ("CELL_TIMEOUT_S", "0.001"),
        ("OUT", "elsewhere"),
    ] {
        command.env(name, value);
    }
    place.run(command).assert_code(0);
    assert_eq!(place.records().result().seeds, [0]);
    assert!(!place.path("elsewhere").exists());
}

#[test]
fn what_a_node_reads_is_nowhere_shown() {
    let place = Place::default();
    let running = place.start(place.play("# %%\ntime.sleep(3)\n", []));
    wait_until("the settings file", || settings_file(&place).is_some());
    let file = settings_file(&place).unwrap();
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    running.wait().assert_code(0);
    assert!(!file.exists());
    let words: BTreeSet<String> =
        place.processes().into_iter().map(|process| process.command).collect();
    assert!(words.is_empty(), "{words:?}");
}

fn settings_file(place: &Place) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(place.path("run/ruaflow")).ok()?;
    entries
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|e| e == "json"))
}
