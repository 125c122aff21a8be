//! `rua cell` and `rua lint`.

use end_to_end::Place;

#[test]
fn cells_run_without_a_robot() {
    let place = Place::default();
    place.write(
        "sketch.py",
        "# %% one\nx = np.arange(6).reshape(2, 3)\nprint(x)\n# %% two\nx.sum()\n",
    );
    let ended = place.run(place.rua(["cell", "sketch.py"]));
    ended.assert_code(0);
    assert!(ended.out.contains("[[0 1 2]\n [3 4 5]]\n"), "{ended}");
    assert!(ended.out.contains("[value]\nnp.int64(15)\n"), "{ended}");
    place.assert_nothing_left();
}

#[test]
fn a_cell_that_fails_is_told_as_an_agent_would_read_it() {
    let place = Place::default();
    place.write("bad.py", "# %%\nprint('before')\n1 / 0\n# %%\nprint('never')\n");
    let ended = place.run(place.rua(["cell", "bad.py", "--feedback", "pure"]));
    ended.assert_code(1);
    assert!(ended.out.contains("before\n[error]\n"), "{ended}");
    assert!(ended.out.contains("ZeroDivisionError"), "{ended}");
    assert!(!ended.out.contains("never"), "{ended}");
}

#[test]
fn an_endless_cell_ends_at_its_deadline() {
    let place = Place::default();
    place.write("endless.py", "while True:\n    pass\n");
    let ended = place.run(place.rua(["cell", "endless.py", "--timeout", "1"]));
    ended.assert_code(1);
    assert!(ended.out.contains("timeout"), "{ended}");
    place.assert_nothing_left();
}

#[test]
fn pictures_and_files_go_where_they_should() {
    let place = Place::default();
    place.write(
        "draw.py",
        "display(np.zeros((4, 6, 3), dtype=np.uint8), 'black')\nopen('note.txt', 'w').write('hi')\n",
    );
    let args = ["cell", "draw.py", "--pictures", "out", "--workspace", "ws"];
    place.run(place.rua(args)).assert_code(0);
    let png = std::fs::read(place.path("out/001.1-black.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    assert_eq!(std::fs::read_to_string(place.path("ws/note.txt")).unwrap(), "hi");
}

#[test]
fn a_robots_calls_are_refused_in_words() {
    let place = Place::default();
    place.write(
        "robot.py",
        "try:\n    robo.release()\nexcept ToolError as error:\n    print(error)\n",
    );
    let ended = place.run(place.rua(["cell", "robot.py", "--robot", "libero"]));
    ended.assert_code(0);
    assert!(ended.out.contains("runs cells without a robot"), "{ended}");
    place.write("none.py", "robo.release()\n");
    let ended = place.run(place.rua(["cell", "none.py"]));
    ended.assert_code(1);
    assert!(ended.out.contains("there is no robot in this run"), "{ended}");
}

#[test]
fn files_that_are_not_there_are_wrong_usage() {
    let place = Place::default();
    place.run(place.rua(["cell", "none.py"])).assert_code(2).assert_error(&["none.py"]);
    place.run(place.rua(["lint", "none.py"])).assert_code(2).assert_error(&["none.py"]);
    let ended = place.run(place.rua(["lint", "none.py", "--robot", "libro"]));
    ended.assert_code(2).assert_error(&["libro"]);
}

/// Each wrong line, and what is said of it.
const WRONG: &[(&str, &str)] = &[
    (
        "robo.mvoe_to((0, 0, 1))",
        "error: the robot \"libero\" has no robo.mvoe_to; did you mean \"move_to\"?",
    ),
    (
        "robo.move_to((0, 0, 1), stepclip=0.1)",
        "error: move_to() has no argument \"stepclip\"; did you mean \"step_clip\"?",
    ),
    ("robo.move_to()", "error: move_to() lacks the argument \"xyz\""),
    (
        "robo.move_to((0, 0, 1), 1.0, 0.01)",
        "error: move_to() takes 2 positional arguments at most, got 3; by name: tol, ",
    ),
    ("robo.move_to((0, 0, 1), xyz=(0, 0, 1))", "error: move_to() gets the argument \"xyz\" twice"),
    ("robo.move_to((0, 0))", "error: move_to(): xyz"),
    ("robo.set_gripper(3.5)", "error: set_gripper(): gripper"),
    (
        "robo.rotate_wrist(0.1, 0.2)",
        "error: rotate_wrist() takes exactly one of target_yaw and delta_yaw, got 2",
    ),
    (
        "robo.rotate_wrist()",
        "error: rotate_wrist() takes exactly one of target_yaw and delta_yaw, got 0",
    ),
    ("robo.image('agentveiw')", "error: image(): camera"),
    (
        "move = robo.move_to((0, 0, 1)); move.reachd",
        "error: Move has no field \"reachd\"; did you mean \"reached\"?",
    ),
    (
        "robo.state().eef_position",
        "error: State has no field \"eef_position\"; did you mean \"eef_pos\"?",
    ),
    ("import cv2", "error: \"cv2\" is not available in a cell: use PIL.Image"),
    (
        "np.linalg.nrom([1.0])",
        "error: np.linalg.nrom: there is no \"nrom\" in it; did you mean \"norm\"?",
    ),
    (
        "from collections import OrderdDict",
        "error: collections.OrderdDict: there is no \"OrderdDict\" in it",
    ),
    ("print(heigth)", "error: nothing defines \"heigth\""),
    ("finish('done')", "error: finish(): status is"),
    ("getattr(robo, 'x')", "warning: the audit records \"probe:getattr\""),
    ("open('/etc/passwd')", "warning: the audit records \"path:/etc/passwd\""),
];

#[test]
fn each_wrong_line_is_found_at_its_place() {
    let place = Place::default();
    let policy: String = WRONG.iter().map(|(line, _)| format!("{line}\n")).collect();
    place.write("wrong.py", &policy);
    let ended = place.run(place.rua(["lint", "wrong.py"]));
    ended.assert_code(1);
    for (number, (line, said)) in WRONG.iter().enumerate() {
        let place = format!("wrong.py:{}:", number + 1);
        let found: Vec<&str> = ended.out.lines().filter(|l| l.starts_with(&place)).collect();
        assert!(found.len() == 1 && found[0].contains(said), "{line}: {found:?}; {ended}");
    }
    place.assert_nothing_left();
}

#[test]
fn a_good_policy_passes() {
    let place = Place::default();
    let policies = end_to_end::root().join("robots/policies");
    let demo = policies.join("libero_demo.py").display().to_string();
    place.run(place.rua(["lint", demo.as_str()])).assert_code(0);
    let template = policies.join("template_demo.py").display().to_string();
    place.run(place.rua(["lint", template.as_str(), "--robot", "template"])).assert_code(0);
}

#[test]
fn a_syntax_error_names_its_place() {
    let place = Place::default();
    place.write("broken.py", "x = 1\nfor in x:\n    pass\n");
    let ended = place.run(place.rua(["lint", "broken.py", "--json"]));
    ended.assert_code(1);
    let told: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((&told[0]["line"], &told[0]["kind"]), (&2.into(), &"error".into()));
}

#[test]
fn a_skill_is_an_error_without_a_vla() {
    let place = Place::default();
    place.write("skill.py", "robo.pi0_pick('pick up the bowl')\n");
    place.run(place.rua(["lint", "skill.py"])).assert_code(0);
    let ended = place.run(place.rua(["lint", "skill.py", "--primitives", "no-vla"]));
    ended.assert_code(1);
    assert!(ended.out.contains("not available in this run (no-VLA primitive set)"), "{ended}");
}
