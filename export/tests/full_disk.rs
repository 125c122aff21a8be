//! A disk that fills up, played by the process's own file size limit; alone in its
//! process because that limit holds for all of it.
#![allow(clippy::unwrap_used)]

use std::fs;

use ruaflow_export::lerobot::{Dataset, Recipe};
use ruaflow_export::{Episode, ExportError, Source};
use ruaflow_schemas::{Action, Arm, ArmState, Card, Observation};

fn limit_file_size(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: both calls only read their arguments.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
}

fn episode(run: &str) -> Episode {
    let arm = ArmState { gripper_qpos: vec![0.0], ..ArmState::default() };
    let observation = |step| Observation {
        control_step: step,
        action_id: step,
        arms: vec![arm.clone()],
        ..Observation::default()
    };
    let action = |id| Action {
        id,
        kind: "osc_pose_delta".to_owned(),
        values: vec![0.0; 6],
        ..Action::default()
    };
    Episode {
        source: Source { run: run.to_owned(), episode: 0 },
        card: Card { control_hz: 20.0, arms: vec![Arm::default()], ..Card::default() },
        observations: (0..=30).map(observation).collect(),
        actions: (1..=30).map(action).collect(),
    }
}

#[test]
fn a_full_disk_leaves_the_dataset_of_before() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = tmp.path().join("set");
    let recipe = Recipe { fps: 20, size: [64, 64], cameras: vec!["front".to_owned()] };
    let mut dataset = Dataset::open(&dir, recipe, false).unwrap();
    // Noise, which no codec makes small.
    let picture = |step: u64, _: &str| {
        let noise = (0..3 * 64 * 64_u64).map(|at| (((at + step) * 2_654_435_761) >> 13) as u8);
        Ok::<Vec<u8>, ExportError>(noise.collect())
    };
    dataset.append(&episode("a"), picture).unwrap();
    let before = fs::read(dir.join("meta/info.json")).unwrap();

    limit_file_size(8_000);
    let error = dataset.append(&episode("b"), picture).unwrap_err();
    // Where the test's own output goes to a file, the limit would hold for that too.
    limit_file_size(libc::RLIM_INFINITY);
    assert!(error.to_string().contains("could not write"), "{error}");
    assert!(fs::read(dir.join("meta/info.json")).unwrap() == before);
    assert_eq!(dataset.episodes(), 1);

    dataset.append(&episode("b"), picture).unwrap();
    assert_eq!(dataset.episodes(), 2);
    drop(dataset);
    assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 1);
}
