//! The planner that needs no model plays whole episodes, and admits what it can't.
#![allow(clippy::unwrap_used)]

use end_to_end::{Place, Records};

/// Without a planner, a policy or a model it is this one that plays.
fn play(place: &Place, scene: &[&str]) -> Records {
    let mut rua = place.rua(["play", "--perception", "oracle"]);
    rua.args(scene).args(["--pictures", "off", "--out", "out"]);
    let ended = place.run(rua);
    ended.assert_code(0);
    assert!(ended.out.contains("no model is configured"), "{ended}");
    place.assert_nothing_left();
    let records = place.records();
    assert_eq!(records.result().planner, "builtin");
    records
}

/// A drawer is opened, and what was taken goes into it: eyes, grasp, place and fixtures.
#[test]
fn a_drawer_is_opened_and_filled() {
    let place = Place::default();
    let records = play(&place, &["--suite", "libero_goal_task", "--task", "3", "--seed", "0"]);
    let result = records.result();
    assert!(result.environment_success, "{result:?}");
    let cells = std::fs::read_dir(records.path("episodes/000/cells")).unwrap();
    assert!(cells.count() > 10);
}

#[test]
fn what_it_has_no_skill_for_is_said() {
    let place = Place::default();
    let records = play(&place, &["--suite", "libero_90", "--task", "33", "--seed", "0"]);
    let result = records.result();
    let finish = result.episodes[0].finish.as_ref().unwrap();
    assert_eq!(finish.status, "failure");
    assert!(finish.summary.contains("no skill"), "{}", finish.summary);
    assert!(!result.environment_success);
}
