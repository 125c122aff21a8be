//! The argument checks, as the controller and a cell use them.
#![allow(clippy::unwrap_used)]

use ruaflow_robots::{Arg, ArgError, GripperCommand, Primitives, Record, RobotApi, find};
use serde::Deserialize;
use serde_json::{Value, json};

fn libero() -> &'static RobotApi {
    find("libero").unwrap()
}

fn refused(method: &str, args: Value) -> String {
    libero().check_json(method, &args).unwrap_err().to_string()
}

#[test]
fn defaults_are_filled_in() {
    #[derive(Deserialize, Debug, PartialEq)]
    struct MoveTo {
        xyz: [f64; 3],
        gripper: GripperCommand,
        tol: f64,
        step_clip: f64,
        max_steps: i64,
        target_yaw: Option<f64>,
        yaw_step_clip: f64,
        action_scale: f64,
    }
    let checked =
        libero().check_json("move_to", &json!({"xyz": [0, 0.1, 1], "gripper": "hold"})).unwrap();
    assert!(checked.method.stateful());
    assert_eq!(
        checked.parse::<MoveTo>().unwrap(),
        MoveTo {
            xyz: [0.0, 0.1, 1.0],
            gripper: GripperCommand::Hold,
            tol: 0.012,
            step_clip: 0.025,
            max_steps: 80,
            target_yaw: None,
            yaw_step_clip: 0.10,
            action_scale: 0.05,
        }
    );
}

#[test]
fn wrong_calls_are_refused_in_plain_words() {
    assert_eq!(refused("fly", json!({})), "libero has no method \"fly\"");
    assert_eq!(
        refused("move_to", json!([1, 2, 3])),
        "move_to() takes its arguments as an object of names and values"
    );
    assert_eq!(
        refused("move_to", json!({"xyz": [0, 0, 1], "gripperr": 1})),
        "move_to() got an unexpected keyword argument \"gripperr\""
    );
    assert_eq!(
        refused("move_to", json!({"tol": 0.1})),
        "move_to() missing 1 required positional argument: \"xyz\""
    );
    assert_eq!(
        refused("move_to", json!({"xyz": [0, 0]})),
        "move_to(): xyz must be 3 numbers, got 2 numbers"
    );
    assert_eq!(
        refused("move_to", json!({"xyz": [0, "a", 1]})),
        "move_to(): xyz must be 3 numbers, got a list with a str in it"
    );
    assert_eq!(
        refused("move_to", json!({"xyz": null})),
        "move_to(): xyz must be 3 numbers, got None"
    );
    assert_eq!(
        refused("move_to", json!({"xyz": [0, 0, 1], "tol": true})),
        "move_to(): tol must be a number, got True"
    );
    assert_eq!(
        refused("move_to", json!({"xyz": [0, 0, 1], "max_steps": 2.5})),
        "move_to(): max_steps must be an integer, got float 2.5"
    );
    assert_eq!(
        refused("move_to", json!({"xyz": [0, 0, 1], "target_yaw": "left"})),
        "move_to(): target_yaw must be a number or None, got str \"left\""
    );
    assert_eq!(
        refused("set_gripper", json!({"gripper": 1.5})),
        "set_gripper(): gripper must be within [-1, 1] or \"hold\", got 1.5"
    );
    assert_eq!(
        refused("set_gripper", json!({"gripper": "shut"})),
        "set_gripper(): gripper must be a number or \"hold\", got str \"shut\""
    );
    assert_eq!(
        refused("move_to", json!({"xyz": [0, 0, 1], "action_scale": 0})),
        "move_to(): action_scale must be greater than 0, got 0.0"
    );
}

#[test]
fn numbers_that_json_cannot_say_are_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let xyz = Arg::List(vec![Arg::Int(0), Arg::Float(bad), Arg::Int(1)]);
        assert!(matches!(
            libero().check("move_to", [("xyz", xyz)]),
            Err(ArgError::NotFinite { name: "xyz", .. })
        ));
        assert!(matches!(
            libero().check("set_gripper", [("gripper", Arg::Float(bad))]),
            Err(ArgError::NotFinite { name: "gripper", .. })
        ));
    }
    let twice = [("gripper", Arg::Int(1)), ("gripper", Arg::Int(-1))];
    assert_eq!(
        libero().check("set_gripper", twice).unwrap_err().to_string(),
        "set_gripper() got multiple values for argument \"gripper\""
    );
}

#[test]
fn a_rotation_wants_one_of_target_and_delta() {
    let both = json!({"target_yaw": 0.1, "delta_yaw": 0.1});
    assert_eq!(
        refused("rotate_wrist", both),
        "rotate_wrist() needs exactly one of target_yaw and delta_yaw"
    );
    assert_eq!(
        refused("rotate_pitch", json!({"delta_pitch": null})),
        "rotate_pitch() needs exactly one of target_pitch and delta_pitch"
    );
    let checked = libero().check_json("rotate_wrist", &json!({"delta_yaw": -1})).unwrap();
    assert_eq!(checked.args["delta_yaw"], json!(-1.0));
    assert_eq!(checked.args["target_yaw"], Value::Null);
}

#[test]
fn a_look_wants_a_camera_and_a_size_that_there_are() {
    let looked = |args: Value| libero().check_json("image", &args).unwrap().args;
    let args = looked(json!({}));
    assert_eq!(
        args,
        *json!({"camera": "agentview", "resolution": "high", "step": -1}).as_object().unwrap()
    );
    for (size, pixels) in [
        (json!("high"), (1024, 1024)),
        (json!("low"), (256, 256)),
        (json!(300), (300, 300)),
        (json!([640, 480.0]), (640, 480)),
    ] {
        let args = looked(json!({"resolution": size}));
        assert_eq!(libero().pixels(&args["resolution"]), Some(pixels));
    }
    assert_eq!(
        refused("image", json!({"camera": "top"})),
        "image(): camera must be \"agentview\" or \"wrist\", got str \"top\""
    );
    assert_eq!(
        refused("image", json!({"resolution": "huge"})),
        "image(): resolution must be \"high\", \"low\", a number of pixels or (width, height), \
         got str \"huge\""
    );
    assert_eq!(
        refused("show", json!({"size": [4096, 10]})),
        "show(): size may have 1 to 2048 pixels a side, got 4096"
    );
    assert_eq!(
        refused("show", json!({"crop": [0, 0, 10]})),
        "show(): crop must be 4 integers or None, got 3 numbers"
    );
    assert_eq!(
        refused("back_project", json!({"row": 1.5, "col": 2})),
        "back_project(): row must be an integer, got float 1.5"
    );
    assert_eq!(refused("segment", json!({})), "segment() needs exactly one of prompt and point");
}

#[test]
fn without_a_policy_its_skills_are_neither_listed_nor_mentioned() {
    let no_vla = Primitives::NoVla;
    assert_eq!("no-vla".parse(), Ok(no_vla));
    assert!("none".parse::<Primitives>().unwrap_err().to_string().contains("full and no-vla"));
    let text = libero().manual(no_vla);
    for word in ["pi0", "VLA)", "Pick(", "Contact(", "chunk"] {
        assert!(!text.contains(word), "{word}");
    }
    let names: Vec<&str> = libero().tools(no_vla).iter().map(|tool| tool.name).collect();
    assert!(names.contains(&"segment") && !names.contains(&"pi0_pick"), "{names:?}");
}

#[test]
fn a_planar_move_has_a_limit_and_a_vertical_one_has_none() {
    let from = [0.1, 0.0, 1.0];
    assert_eq!(libero().check_target("move_to", from, [0.1, 0.1 + 0.2, 0.1], None), Ok(()));
    assert_eq!(
        libero().check_target("move_to", from, [0.4, 0.1, 1.0], None).unwrap_err().to_string(),
        "move_to(): the target is 0.316 m away in x/y, more than 0.3 m (MAX_PLANAR_MOVE_M) in \
         one call; go there in several moves"
    );
}

#[test]
fn a_robot_that_declares_a_workspace_keeps_to_it() {
    let template = find("template").unwrap();
    let from = [0.3, 0.0, 0.3];
    let workspace = Some([-0.6, -0.6, 0.0, 0.6, 0.6, 0.9]);
    assert_eq!(template.check_target("move_to", from, [-0.5, 0.5, 0.3], workspace), Ok(()));
    assert_eq!(
        template
            .check_target("move_to", from, [0.3, 0.0, -0.1], workspace)
            .unwrap_err()
            .to_string(),
        "move_to(): the target's z = -0.1 m is outside the workspace [0, 0.9]"
    );
    assert!(template.check_target("move_to", from, [0.3, 0.0, f64::NAN], workspace).is_err());
}

#[test]
fn a_result_is_completed_in_the_order_of_its_record() {
    let state = libero().method("state").unwrap().record().unwrap();
    let mut measured = json!({
        "truncated": false, "terminated": false, "object_names": ["bowl_1"],
        "gripper_opening": 0.041_600_000_4, "gripper_qpos": [0.0208, -0.0208],
        "eef_quat": [1.0, 0.0, 0.0, 0.0], "eef_pos": [-0.208_500_04, -0.000_000_01, 1.1733],
        "task": "pick up the bowl", "step": 0,
    });
    let complete = state.complete(&measured).unwrap();
    assert_eq!(
        Value::Object(complete).to_string(),
        "{\"step\":0,\"task\":\"pick up the bowl\",\"eef_pos\":[-0.2085,0.0,1.1733],\
         \"eef_quat\":[1.0,0.0,0.0,0.0],\"eef_yaw\":0.0,\"eef_pitch\":0.0,\
         \"gripper_qpos\":[0.0208,-0.0208],\"gripper_opening\":0.0416,\
         \"object_names\":[\"bowl_1\"],\"terminated\":false,\"truncated\":false}"
    );

    measured["eef_pos"] = json!([1, 2]);
    assert_eq!(
        state.complete(&measured).unwrap_err().to_string(),
        "State: \"eef_pos\" should be Vector(3), got [1,2]"
    );
    measured.as_object_mut().unwrap().remove("eef_pos");
    assert_eq!(
        state.complete(&measured).unwrap_err().to_string(),
        "State: the result lacks \"eef_pos\""
    );
}

#[test]
fn a_table_keeps_its_own_rules() {
    for api in ruaflow_robots::ALL {
        for method in api.methods {
            assert!(method.params.is_sorted_by_key(|param| param.kind), "{}", method.name);
            for name in method.exactly_one_of {
                assert!(method.param(name).is_some(), "{name}");
            }
            // Text goes into Python docstrings as it is.
            let texts_of = |record: &'static Record| {
                record.fields.iter().map(|field| field.doc).chain([record.doc])
            };
            let texts = method
                .params
                .iter()
                .map(|param| param.doc)
                .chain(method.record().into_iter().flat_map(texts_of))
                .chain([method.doc]);
            for text in texts {
                assert!(!text.contains("\"\"\"") && !text.contains('\\'), "{text}");
            }
        }
    }
}
