//! A made-up arm without a simulator: copy it to bring your own robot. All that
//! the dataflow asks of a robot is the trait [`Robot`]; `docs/adding-a-robot.md`
//! walks through this file.

mod arm;
mod picture;

use eyre::Result;
use ruaflow_kit::{FrameReply, Robot, StepError};
use ruaflow_schemas::{
    Action, Arm, ArmState, Camera, Card, FrameRequest, Observation, Reset, State,
};

use crate::arm::Pose;

const ARM: &str = "arm";
const JOINTS: [&str; 6] = ["base", "shoulder", "elbow", "roll", "pitch", "yaw"];
const CONTROL_HZ: u64 = 20;

/// Runs the node until the run is over.
///
/// # Errors
/// As [`ruaflow_kit::serve`].
pub fn run() -> Result<()> {
    ruaflow_kit::serve(Template::default())
}

/// The robot: where the arm was at each control step of the episode.
#[derive(Default)]
pub struct Template {
    poses: Vec<Pose>,
}

impl Robot for Template {
    fn reset(&mut self, reset: &Reset) -> Result<Card> {
        let start = Pose::home(reset.seed);
        self.poses = vec![start];
        Ok(Card {
            robot: "template".to_owned(),
            instruction: "wave to the camera".to_owned(),
            cameras: vec![Camera {
                name: "front".to_owned(),
                width: 320,
                height: 240,
                fov_y: picture::FOV_Y,
                depth: true,
                any_step: true,
            }],
            arms: vec![Arm {
                name: ARM.to_owned(),
                joints: JOINTS.map(str::to_owned).to_vec(),
                action_kinds: vec!["osc_pose_delta".to_owned()],
                position_scale: arm::POSITION_SCALE,
                rotation_scale: arm::ROTATION_SCALE,
                gripper_open: arm::GRIPPER_OPEN,
                workspace: Some([-0.6, -0.6, 0.0, 0.6, 0.6, 0.9]),
            }],
            control_hz: CONTROL_HZ as f64,
            clock: "sim".to_owned(),
            max_control_steps: 1000,
            first: self.measure(&start),
            ..Card::default()
        })
    }

    fn step(&mut self, action: &Action) -> Result<Observation, StepError> {
        // The checks have made sure of a scene and of six values.
        let (Some(last), Ok(values)) = (self.poses.last(), action.values.as_slice().try_into())
        else {
            return Err(StepError::Refused("the arm takes 6 values, after a reset".to_owned()));
        };
        let next = last.step(values, action.gripper);
        self.poses.push(next);
        Ok(self.measure(&next))
    }

    fn state(&mut self) -> Option<State> {
        let integration = self.poses.last()?.numbers();
        Some(State { time_ns: self.time_ns(), integration, ..State::default() })
    }

    /// An arm that only moves when told is already still. A real one would stop
    /// its motors here.
    fn hold(&mut self) {}

    fn frame(&mut self, request: FrameRequest, reply: FrameReply) {
        let step = request.control_step as usize;
        let Some(pose) = self.poses.get(step).copied() else {
            return reply.refuse("no such control step");
        };
        let drawing = std::thread::Builder::new().name("draw".to_owned());
        let drawn =
            drawing.spawn(move || reply.send(picture::draw(&pose, &request, time_ns(step))));
        if let Err(error) = drawn {
            tracing::warn!(%error, "no thread to draw on; the asker is told that there is no picture");
        }
    }
}

impl Template {
    fn measure(&self, pose: &Pose) -> Observation {
        Observation {
            time_ns: self.time_ns(),
            arms: vec![ArmState {
                name: ARM.to_owned(),
                joint_pos: pose.joints().to_vec(),
                joint_vel: Vec::new(),
                eef_pos: pose.position,
                eef_quat: pose.quaternion,
                gripper_qpos: vec![pose.opening / 2.0, -pose.opening / 2.0],
                gripper_opening: pose.opening,
            }],
            ..Observation::default()
        }
    }

    fn time_ns(&self) -> u64 {
        time_ns(self.poses.len().saturating_sub(1))
    }
}

fn time_ns(step: usize) -> u64 {
    step as u64 * 1_000_000_000 / CONTROL_HZ
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(values: [f64; 6], gripper: f64) -> Action {
        Action {
            arm: ARM.into(),
            kind: "osc_pose_delta".into(),
            values: values.to_vec(),
            gripper,
            ..Action::default()
        }
    }

    #[test]
    fn the_arm_follows_its_command_with_a_lag() {
        let mut robot = Template::default();
        let start = robot.reset(&Reset::default()).unwrap().first.arms[0].eef_pos;
        let mut at = start;
        for step in 1..=10 {
            let measured = robot.step(&action([0.5, 0.0, -0.2, 0.0, 0.0, 0.0], -1.0)).unwrap();
            assert_eq!(measured.time_ns, step * 50_000_000);
            at = measured.arms[0].eef_pos;
        }
        let commanded = 10.0 * 0.5 * arm::POSITION_SCALE;
        let moved = at[0] - start[0];
        assert!(moved > 0.8 * commanded && moved < commanded, "{moved} of {commanded}");
        assert!(at[1] == start[1] && at[2] < start[2]);
    }

    #[test]
    fn the_gripper_takes_some_steps() {
        let mut robot = Template::default();
        robot.reset(&Reset::default()).unwrap();
        let openings: Vec<f64> = (0..6)
            .map(|_| robot.step(&action([0.0; 6], 1.0)).unwrap().arms[0].gripper_opening)
            .collect();
        assert!(
            openings[0] > 0.05 && openings.is_sorted_by(|a, b| a >= b) && openings[5] == 0.0,
            "{openings:?}"
        );
    }

    #[test]
    fn the_seed_decides_where_the_arm_begins() {
        let begin =
            |seed| Template::default().reset(&Reset { seed, ..Reset::default() }).unwrap().first;
        assert_eq!(begin(3), begin(3));
        assert_ne!(begin(3).arms, begin(4).arms);
    }

    #[test]
    fn the_state_is_whole() {
        let mut robot = Template::default();
        robot.reset(&Reset::default()).unwrap();
        robot.step(&action([0.3, -0.2, 0.1, 0.4, 0.0, -0.3], 1.0)).unwrap();
        let state = robot.state().unwrap();
        let pose = Pose::from_numbers(&state.integration).unwrap();
        assert_eq!(pose, *robot.poses.last().unwrap());
    }
}
