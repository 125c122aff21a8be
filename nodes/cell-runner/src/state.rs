//! What a cell may read of the robot, from its last observation.

use ruaflow_schemas::{ArmState, Card, Observation};
use serde_json::{Map, Value, json};

/// The fields of a `State` record: everything the robot's table may ask for.
pub(crate) fn measured(card: &Card, observation: &Observation, step: u64) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("step", json!(step));
    put("task", json!(card.instruction));
    put("object_names", json!(card.object_names));
    put("terminated", json!(observation.terminated));
    put("truncated", json!(observation.truncated));
    if let Some(base) = observation.base_pose {
        put("base_pos", json!(base[..3]));
        put("base_quat", json!(base[3..]));
    }
    if let Some(arm) = observation.arms.first() {
        put("joint_pos", json!(arm.joint_pos));
        put("eef_pos", json!(arm.eef_pos));
        put("eef_quat", json!(arm.eef_quat));
        put("gripper_qpos", json!(arm.gripper_qpos));
        put("gripper_opening", json!(arm.gripper_opening));
    }
    Value::Object(fields)
}

/// The robot's state in a line, for the feedback after a cell.
pub(crate) fn summary(observation: &Observation, step: u64) -> String {
    let mut parts = vec![format!("step {step}, control step {}", observation.control_step)];
    parts.extend(observation.arms.iter().map(arm_summary));
    if observation.success {
        parts.push("task solved".to_owned());
    } else if observation.terminated {
        parts.push("terminated".to_owned());
    }
    if observation.truncated {
        parts.push("step budget used up".to_owned());
    }
    parts.join("; ")
}

fn arm_summary(arm: &ArmState) -> String {
    let [x, y, z] = arm.eef_pos;
    format!(
        "{} at ({x:.4}, {y:.4}, {z:.4}) m, yaw {:.3} rad, gripper {:.4} m open",
        arm.name,
        ruaflow_robots::eef_yaw(arm.eef_quat),
        arm.gripper_opening,
    )
}
