//! `rua check-robot` on what is a robot and on what is not.

use std::os::unix::fs::PermissionsExt;

use end_to_end::Place;

#[test]
fn the_template_is_a_robot() {
    let place = Place::default();
    let ended = place.run(place.rua(["check-robot", "robot-template"]));
    ended.assert_code(0);
    assert!(!ended.out.contains('✗'), "{ended}");
    for words in [
        "answers `reset` with a card",
        "moves along +x",
        "opens and closes",
        "gives a picture",
        "not a number is refused",
        "like the first: bit for bit",
        "emergency stop holds",
        "exit status 0",
    ] {
        assert!(ended.out.contains(words), "no {words:?}; {ended}");
    }
    place.assert_nothing_left();
}

#[test]
fn libero_is_a_robot() {
    let place = Place::default();
    let ended = place.run(place.rua(["check-robot", "libero", "--task", "3"]));
    ended.assert_code(0);
    assert!(ended.out.contains("can't be done is answered with an error"), "{ended}");
    place.assert_nothing_left();
}

#[test]
fn a_program_that_is_no_node_is_no_robot() {
    let place = Place::default();
    let program = place.write("not-a-robot", "#!/bin/sh\necho 'I am a teapot'\nexit 3\n");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let ended = place.run(place.rua(["check-robot", "./not-a-robot"]));
    ended.assert_code(1);
    assert!(ended.out.contains('✗') && ended.out.contains("I am a teapot"), "{ended}");
    place.assert_nothing_left();
}

#[test]
fn a_name_that_is_not_there_is_wrong_usage() {
    let place = Place::default();
    let ended = place.run(place.rua(["check-robot", "robot-templat"]));
    ended.assert_code(2).assert_error(&["robot-templat", "\"robot-template\""]);
}
