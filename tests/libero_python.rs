//! The Python reference as a robot. Without its environment, which is set up when
//! somebody asks for it, the second test says so and passes.
#![allow(clippy::unwrap_used)]

use end_to_end::{Place, root};

/// One word apart, so that what runs on the one runs on the other.
#[test]
fn its_dataflow_is_that_of_libero() {
    let body = |name: &str| {
        let text = std::fs::read_to_string(root().join(format!("dataflows/{name}.yml"))).unwrap();
        text[text.find("env:\n").unwrap()..].to_owned()
    };
    let path = "path: ../nodes/libero-python/libero-python";
    let renamed = body("libero-python").replace(path, "path: ../bin/libero");
    assert_eq!(renamed.replace("libero-python", "libero"), body("libero"));
}

#[test]
fn it_is_a_robot() {
    if !ruaflow_kit::home().join("libero-python/bin/python").is_file() {
        eprintln!("SKIPPED: no Python reference; `./rua setup --with libero-python` makes one");
        return;
    }
    let place = Place::default();
    let ended = place.run(place.rua(["check-robot", "libero-python"]));
    ended.assert_code(0);
    assert!(!ended.out.contains('✗'), "{ended}");
    place.assert_nothing_left();
}
