//! What a card must say.

use std::collections::BTreeSet;

use ruaflow_schemas::{Arm, Camera, Card, Observation, Reset};

use super::report::Found;

const ACTION_KINDS: [&str; 4] = ["osc_pose_delta", "eef_pose", "joint_position", "base_velocity"];
const QUATERNION_TOLERANCE: f64 = 1e-3;

/// Everything about a card but what it repeats from the reset.
pub fn check(card: &Card) -> Found {
    if !card.error.is_empty() {
        return Err(format!("the robot says {:?}", card.error));
    }
    if !(card.control_hz.is_finite() && card.control_hz > 0.0) {
        return Err(format!("control_hz is {}", card.control_hz));
    }
    if !["sim", "monotonic"].contains(&card.clock.as_str()) {
        return Err(format!("clock is {:?}, expected \"sim\" or \"monotonic\"", card.clock));
    }
    if card.robot.is_empty() {
        return Err("robot is empty, expected the kind of robot".to_owned());
    }
    unique("arm", card.arms.iter().map(|arm| &arm.name))?;
    unique("camera", card.cameras.iter().map(|camera| &camera.name))?;
    card.arms.iter().try_for_each(check_arm)?;
    card.cameras.iter().try_for_each(check_camera)?;
    observation(card, &card.first)?;
    if card.first.control_step != 0 || card.first.action_id != 0 {
        return Err(format!(
            "the first observation has control_step {} and action_id {}, expected 0 and 0",
            card.first.control_step, card.first.action_id
        ));
    }
    Ok(format!(
        "{} arms, {} cameras, {} Hz, clock {}",
        card.arms.len(),
        card.cameras.len(),
        card.control_hz,
        card.clock
    ))
}

/// What a card repeats from the reset.
pub fn repeats(card: &Card, reset: &Reset) -> Result<(), String> {
    let same = card.suite == reset.suite && card.task == reset.task && card.seed == reset.seed;
    // A robot without suites may leave the suite empty.
    if same || card.suite.is_empty() && card.seed == reset.seed {
        return Ok(());
    }
    Err(format!(
        "asked for {:?} {} seed {}, the card says {:?} {} seed {}",
        reset.suite, reset.task, reset.seed, card.suite, card.task, card.seed
    ))
}

/// Whether an observation holds what the card announces, in finite numbers.
pub fn observation(card: &Card, observation: &Observation) -> Result<(), String> {
    if observation.arms.len() != card.arms.len() {
        return Err(format!(
            "an observation of {} arms, the card has {}",
            observation.arms.len(),
            card.arms.len()
        ));
    }
    for (arm, state) in card.arms.iter().zip(&observation.arms) {
        let name = &arm.name;
        if state.name != *name {
            return Err(format!("arm {name:?} is called {:?} in the observation", state.name));
        }
        for (field, values) in [("joint_pos", &state.joint_pos), ("joint_vel", &state.joint_vel)] {
            // Not every robot measures velocities.
            let left_out = field == "joint_vel" && values.is_empty();
            if values.len() != arm.joints.len() && !left_out {
                return Err(format!(
                    "arm {name:?}: {} values in {field} for {} joints",
                    values.len(),
                    arm.joints.len()
                ));
            }
        }
        let numbers = state
            .joint_pos
            .iter()
            .chain(&state.joint_vel)
            .chain(&state.eef_pos)
            .chain(&state.eef_quat);
        let numbers = numbers.chain(&state.gripper_qpos).chain([&state.gripper_opening]);
        if numbers.into_iter().any(|number| !number.is_finite()) {
            return Err(format!("arm {name:?}: a number of the observation is not finite"));
        }
        let length = state.eef_quat.iter().map(|q| q * q).sum::<f64>().sqrt();
        if (length - 1.0).abs() > QUATERNION_TOLERANCE {
            return Err(format!("arm {name:?}: eef_quat has length {length:.4}, expected 1"));
        }
    }
    Ok(())
}

fn check_arm(arm: &Arm) -> Result<(), String> {
    let name = &arm.name;
    if arm.action_kinds.is_empty() {
        return Err(format!("arm {name:?} takes no kind of action"));
    }
    if let Some(kind) = arm.action_kinds.iter().find(|kind| !ACTION_KINDS.contains(&kind.as_str()))
    {
        return Err(format!(
            "arm {name:?}: unknown action kind {kind:?}, known are {}",
            ACTION_KINDS.join(", ")
        ));
    }
    unique("joint", &arm.joints)?;
    let scales = [arm.position_scale, arm.rotation_scale];
    if arm.action_kinds.iter().any(|kind| kind == "osc_pose_delta")
        && !scales.iter().all(|s| s.is_finite() && *s > 0.0)
    {
        return Err(format!(
            "arm {name:?}: position_scale and rotation_scale are {scales:?}, expected positive numbers"
        ));
    }
    if !(arm.gripper_open.is_finite() && arm.gripper_open >= 0.0) {
        return Err(format!("arm {name:?}: gripper_open is {}", arm.gripper_open));
    }
    if let Some(corners) = arm.workspace
        && !(0..3).all(|axis| corners[axis].is_finite() && corners[axis] < corners[axis + 3])
    {
        return Err(format!(
            "arm {name:?}: workspace {corners:?} is not a box from a lower to an upper corner"
        ));
    }
    Ok(())
}

fn check_camera(camera: &Camera) -> Result<(), String> {
    let name = &camera.name;
    if camera.width == 0 || camera.height == 0 {
        return Err(format!("camera {name:?}: default size {}x{}", camera.width, camera.height));
    }
    if !(camera.fov_y > 0.0 && camera.fov_y < std::f64::consts::PI) {
        return Err(format!(
            "camera {name:?}: fov_y is {}, expected radians between 0 and pi",
            camera.fov_y
        ));
    }
    Ok(())
}

fn unique<'a>(what: &str, names: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.is_empty() {
            return Err(format!("a {what} without a name"));
        }
        if !seen.insert(name) {
            return Err(format!("two {what}s are called {name:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
pub mod tests {
    use ruaflow_schemas::ArmState;

    use super::*;

    pub fn good() -> Card {
        let arm = Arm {
            name: "arm".to_owned(),
            joints: vec!["a".to_owned(), "b".to_owned()],
            action_kinds: vec!["osc_pose_delta".to_owned()],
            position_scale: 0.05,
            rotation_scale: 0.5,
            gripper_open: 0.08,
            workspace: None,
        };
        let state = ArmState {
            name: "arm".to_owned(),
            joint_pos: vec![0.0; 2],
            joint_vel: vec![0.0; 2],
            eef_quat: [0.0, 0.0, 0.0, 1.0],
            ..ArmState::default()
        };
        let camera = Camera {
            name: "front".to_owned(),
            width: 64,
            height: 48,
            fov_y: 1.0,
            depth: true,
            any_step: true,
        };
        Card {
            robot: "template".to_owned(),
            control_hz: 20.0,
            clock: "sim".to_owned(),
            arms: vec![arm],
            cameras: vec![camera],
            first: Observation { arms: vec![state], ..Observation::default() },
            ..Card::default()
        }
    }

    #[test]
    fn a_good_card_passes() {
        check(&good()).unwrap();
    }

    /// Each change makes one thing wrong; the complaint must name it.
    #[test]
    fn what_is_wrong_is_named() {
        type Change = fn(&mut Card);
        let cases: [(&str, Change); 14] = [
            ("kaput", |c| c.error = "kaput".to_owned()),
            ("control_hz", |c| c.control_hz = f64::NAN),
            ("clock", |c| c.clock = "wall".to_owned()),
            ("two arms", |c| c.arms.push(c.arms[0].clone())),
            ("two cameras", |c| c.cameras.push(c.cameras[0].clone())),
            ("no kind", |c| c.arms[0].action_kinds.clear()),
            ("\"push\"", |c| c.arms[0].action_kinds.push("push".to_owned())),
            ("position_scale", |c| c.arms[0].position_scale = 0.0),
            ("gripper_open", |c| c.arms[0].gripper_open = f64::INFINITY),
            ("workspace", |c| c.arms[0].workspace = Some([0.0; 6])),
            ("fov_y", |c| c.cameras[0].fov_y = 60.0),
            ("joint_vel", |c| c.first.arms[0].joint_vel.truncate(1)),
            ("not finite", |c| c.first.arms[0].eef_pos[1] = f64::NAN),
            ("control_step 3", |c| c.first.control_step = 3),
        ];
        for (words, change) in cases {
            let mut card = good();
            change(&mut card);
            let complaint = check(&card).unwrap_err();
            assert!(complaint.contains(words), "{complaint:?} should name {words:?}");
        }
    }

    #[test]
    fn the_card_is_of_the_scene_that_was_asked_for() {
        let reset = Reset { suite: "s".to_owned(), task: 1, seed: 2, ..Reset::default() };
        let card = Card { suite: "s".to_owned(), task: 1, seed: 2, ..good() };
        repeats(&card, &reset).unwrap();
        repeats(&Card { suite: String::new(), task: 0, ..card.clone() }, &reset).unwrap();
        assert!(repeats(&Card { seed: 3, ..card }, &reset).unwrap_err().contains("seed 3"));
    }
}
