//! What a control step costs in the controller, without dora. Not a check of
//! anything but a number, so it runs only when asked for:
//!
//! `./rua cargo test -p controller --test cost -- --ignored --nocapture`

use std::time::Instant;

use controller::engine::{Engine, Output, Timing};
use ruaflow_schemas::{Action, Arm, ArmState, Call, Card, Observation, Rows, encode};

const STEPS: u32 = 20_000;

fn observation(control_step: u64) -> Observation {
    Observation {
        control_step,
        action_id: control_step,
        arms: vec![ArmState {
            name: "panda".into(),
            joint_pos: vec![0.1; 7],
            joint_vel: vec![0.1; 7],
            eef_quat: [1.0, 0.0, 0.0, 0.0],
            gripper_qpos: vec![0.04, -0.04],
            gripper_opening: 0.08,
            ..ArmState::default()
        }],
        ..Observation::default()
    }
}

#[test]
#[ignore = "a measurement"]
fn cost_of_a_control_step() {
    let now = Instant::now();
    let mut engine = Engine::new("libero", Timing::default());
    let arm = Arm {
        name: "panda".into(),
        action_kinds: vec!["osc_pose_delta".into()],
        position_scale: 0.05,
        ..Arm::default()
    };
    engine.card(
        Card {
            id: "r".into(),
            robot: "libero".into(),
            arms: vec![arm],
            first: observation(0),
            ..Card::default()
        },
        now,
    );
    let arguments = format!("{{\"gripper\": 1, \"steps\": {STEPS}}}");
    engine.call(
        Call {
            id: "c".into(),
            caller: "cell".into(),
            method: "set_gripper".into(),
            arguments,
            timeout_ms: 0,
        },
        "cell-runner",
        now,
    );

    let measured: Vec<_> =
        (1..=u64::from(STEPS)).map(|step| encode(&[observation(step)])).collect();
    let mut read = std::time::Duration::ZERO;
    let mut think = std::time::Duration::ZERO;
    let mut write = std::time::Duration::ZERO;
    let mut actions = 0;
    for array in measured {
        let begun = Instant::now();
        let rows = Rows::<Observation>::read("observation", 1, array).unwrap();
        let observation = rows.first().unwrap().to_owned();
        read += begun.elapsed();

        let begun = Instant::now();
        engine.observation(observation, now);
        engine.tick(now);
        think += begun.elapsed();

        let begun = Instant::now();
        while let Some(output) = engine.output() {
            if let Output::Action(action) = output {
                actions += 1;
                let array = encode(std::slice::from_ref(&action));
                let rows = Rows::<Action>::read("action", 1, array).unwrap();
                assert_eq!(rows.get(0).id(), action.id);
            }
        }
        write += begun.elapsed();
    }
    assert_eq!(actions, STEPS);
    let begun = Instant::now();
    for step in 0..STEPS {
        std::hint::black_box(encode(&[observation(step.into())]));
    }
    let encode_observation = begun.elapsed();
    println!(
        "per control step: read an observation {:?}, decide {:?}, write and read an action {:?}; write an observation {:?}",
        read / STEPS,
        think / STEPS,
        write / STEPS,
        encode_observation / STEPS
    );
}
