//! `robo.segment` in whole runs, with the made-up arm, which knows its own parts.
#![allow(clippy::unwrap_used)]

use end_to_end::{Place, root};
use ruaflow_record::Status;
use ruaflow_schemas::{Event, event};
use serde_json::Value;

const POLICY: &str = r#"
for phrase in ("the arm", "a unicorn"):
    found = robo.segment(phrase, resolution=128)
    print(found.found, found.label, found.error, found.mask is not None and found.mask.shape)
try:
    robo.segment("x" * 301)
except ToolError as error:
    print(error)
print(robo.segment("the arm", resolution=128).found)
"#;

/// What the only cell printed, and how its run ended.
fn play(eyes: &str) -> (Place, String) {
    let place = Place::default();
    place.run(place.play(POLICY, ["--perception", eyes])).assert_code(0);
    place.assert_nothing_left();
    let cell = place.records().path("episodes/000/cells/001.txt");
    let printed = std::fs::read_to_string(cell).unwrap();
    (place, printed)
}

#[test]
fn an_oracle_sees_and_the_run_says_that_it_is_one() {
    let (place, printed) = play("oracle");
    for line in [
        "True arm None (128, 128)",
        "False None no mask False",
        "segment: the prompt has 301 characters, 300 at most are allowed: name one thing",
    ] {
        assert!(printed.contains(line), "{line:?} is not in {printed}");
    }
    let records = place.records();
    let result = records.result();
    assert!(result.privileged && result.status == Status::Completed);
    assert!(result.warnings[0].message.contains("privileged"), "{:?}", result.warnings);
    let events: Vec<Event> = records.rows(0);
    let answers: Vec<Value> = events
        .iter()
        .filter(|event| event.kind == event::SEGMENTED)
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect();
    let sources: Vec<&str> = answers.iter().map(|a| a["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["oracle", "oracle", "", "oracle"]);
    assert!(
        answers[0]["look_ns"] != 0 && answers[3]["look_ns"] == 0,
        "looked at once: {answers:?}"
    );
}

#[test]
fn models_that_a_user_brings_look_in_place_of_it() {
    let sam3 = root().join("nodes/perception/tests/sam3/export");
    let (place, printed) = play(sam3.to_str().unwrap());
    // The small models know colours only.
    assert!(printed.contains("False None"), "{printed}");
    assert!(!place.records().result().privileged);
}

#[test]
fn what_can_not_see_is_told_of() {
    let (_place, printed) = play("none");
    assert!(
        printed.contains("ToolError: segment: perception is off in this run: set PERCEPTION"),
        "{printed}"
    );

    let place = Place::default();
    let ended = place.run(place.play(POLICY, ["--perception", "orcale"]));
    ended.assert_code(2).assert_error(&["--perception", "orcale", "did you mean oracle?"]);
    std::fs::create_dir(place.path("empty")).unwrap();
    let ended = place.run(place.play(POLICY, ["--perception", "empty"]));
    ended.assert_code(1).assert_error(&["perception", "sam3_image_encoder.onnx"]);
    place.assert_nothing_left();
}
