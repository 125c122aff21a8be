//! The robot of a recorded episode: real cells in a real cell runner, whose calls are
//! answered as they were when the episode was recorded.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use cell_runner::child::{Child, ChildConfig, ChildEvent};
use cell_runner::runner::{Outgoing, Peers, Runner};
use eyre::{Result, bail, eyre};
use planner::{Interrupter, Over, Why, World};
use ruaflow_record::{Bill, Happening};
use ruaflow_robots::{Feedback, Images};
use ruaflow_schemas::{
    ArmState, Bytes, Call, CallResult, Camera, CameraFrame, Card, Cell, CellResult, FrameRequest,
    Observation,
};
use serde::Deserialize;
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(120);
const MEMORY_BYTES: u64 = 1 << 30;

/// A call of a recorded episode, with its answer.
#[derive(Clone, Debug, Deserialize)]
pub struct Recorded {
    pub method: String,
    pub arguments: String,
    outcome: String,
    step: u64,
    control_steps: u64,
    /// Joint positions, position, orientation and fingers as little-endian doubles, in hex.
    arm: String,
}

/// A robot on a thread of its own, which its runner may not leave.
pub struct Far {
    cells: mpsc::Sender<(String, bool)>,
    answers: Receiver<Result<CellResult, Over>>,
}

struct Robot {
    runner: Runner,
    events: Receiver<(u64, ChildEvent)>,
    answers: VecDeque<Recorded>,
    control_step: u64,
    solved: bool,
    index: u32,
}

/// The task, and the robot's cameras.
pub fn card() -> Card {
    let camera = |name: &str| Camera {
        name: name.to_owned(),
        width: 256,
        height: 256,
        depth: true,
        any_step: true,
        ..Camera::default()
    };
    Card {
        robot: "libero".to_owned(),
        // As long as LIBERO's are; the record does not have them.
        instruction: "pick the akita black bowl between the plate and the ramekin and place it on \
                      the plate"
            .to_owned(),
        object_names: ["akita_black_bowl_1", "akita_black_bowl_2", "cookies_1"]
            .into_iter()
            .chain(["glazed_rim_porcelain_ramekin_1", "plate_1"])
            .map(str::to_owned)
            .collect(),
        cameras: vec![camera("agentview"), camera("wrist")],
        control_hz: 20.0,
        max_control_steps: 10_000,
        first: Observation { arms: vec![ArmState::default()], ..Observation::default() },
        ..Card::default()
    }
}

impl Far {
    pub fn start(program: &Path, feedback: Feedback, images: Images, answers: &[Recorded]) -> Self {
        let (cells, asked) = mpsc::channel::<(String, bool)>();
        let (answer, answered) = mpsc::channel();
        let config = ChildConfig { program: program.to_owned(), memory_bytes: MEMORY_BYTES };
        let recorded: VecDeque<Recorded> = answers.iter().cloned().collect();
        std::thread::spawn(move || {
            let mut robot = Robot::new(config, feedback, images, recorded);
            for (code, fresh) in asked {
                let ran = match &mut robot {
                    Ok(robot) => robot.run(&code, fresh),
                    Err(error) => {
                        eprintln!("{error:#}");
                        Err(Over::because(Why::Stopped))
                    }
                };
                if answer.send(ran).is_err() {
                    return;
                }
            }
        });
        Far { cells, answers: answered }
    }
}

impl Robot {
    fn new(
        config: ChildConfig,
        feedback: Feedback,
        images: Images,
        answers: VecDeque<Recorded>,
    ) -> Result<Self> {
        let (sender, events) = mpsc::channel();
        let spawn = Box::new(move |generation| {
            let sender = sender.clone();
            Child::spawn(&config, move |event| {
                // Nobody listens once the episode is over.
                let _ = sender.send((generation, event));
            })
        });
        let mut runner = Runner::new(spawn, PATIENCE)?;
        runner.report(feedback, images);
        runner.connect(Peers { robot: Some("libero".to_owned()), perception: None });
        runner.on_card(0, card())?;
        Ok(Robot { runner, events, answers, control_step: 0, solved: false, index: 0 })
    }

    fn cell(&mut self, code: &str, fresh: bool) -> Result<CellResult> {
        self.index += 1;
        self.runner.on_cell(
            0,
            Cell {
                id: self.index.to_string(),
                index: self.index,
                code: code.to_owned(),
                fresh,
                ..Cell::default()
            },
        );
        loop {
            while let Some(outgoing) = self.runner.outgoing() {
                match outgoing {
                    Outgoing::CellResult(result) => return Ok(*result),
                    Outgoing::Call(call) => {
                        let answer = self.answer(&call)?;
                        self.runner.on_result(0, answer)?;
                    }
                    Outgoing::FrameRequest(request) => self.runner.on_frame(picture(&request))?,
                    _ => {}
                }
            }
            let due = self.runner.deadline().unwrap_or_else(|| Instant::now() + PATIENCE);
            match self.events.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok((generation, event)) => self.runner.on_child(generation, event)?,
                Err(RecvTimeoutError::Timeout) => self.runner.on_time()?,
                Err(RecvTimeoutError::Disconnected) => bail!("the cell's process is gone"),
            }
        }
    }

    fn answer(&mut self, call: &Call) -> Result<CallResult> {
        let next =
            self.answers.pop_front().ok_or_else(|| eyre!("{} was not recorded", call.method))?;
        if next.method != call.method {
            bail!("{} was called where {} was recorded", call.method, next.method);
        }
        self.control_step += next.control_steps;
        let outcome: Value = serde_json::from_str(&next.outcome)?;
        self.solved |= outcome["terminated"] == true;
        let observation = Observation {
            control_step: self.control_step,
            arms: vec![arm(&next.arm)?],
            terminated: self.solved,
            success: self.solved,
            ..Observation::default()
        };
        Ok(CallResult {
            id: call.id.clone(),
            caller: call.caller.clone(),
            method: next.method,
            arguments: next.arguments,
            outcome: next.outcome,
            step: next.step,
            control_steps: next.control_steps,
            observation,
            ..CallResult::default()
        })
    }
}

impl Robot {
    fn run(&mut self, code: &str, fresh: bool) -> Result<CellResult, Over> {
        match self.cell(code, fresh) {
            Ok(result) if self.solved => {
                Err(Over { why: Why::Solved, last: Some(Box::new(result)) })
            }
            Ok(result) => Ok(result),
            Err(error) => {
                eprintln!("{error:#}");
                Err(Over::because(Why::Stopped))
            }
        }
    }
}

impl World for Far {
    fn run(&mut self, code: &str, _title: &str, fresh: bool) -> Result<CellResult, Over> {
        let stopped = || Over::because(Why::Stopped);
        self.cells.send((code.to_owned(), fresh)).map_err(|_| stopped())?;
        self.answers.recv().unwrap_or_else(|_| Err(stopped()))
    }

    fn tell(&mut self, _bill: &Bill, _what: Option<Happening>) {}

    fn interrupter(&self) -> Interrupter {
        Arc::new(|| {})
    }
}

fn arm(hex: &str) -> Result<ArmState> {
    let bytes: Vec<u8> = (0..hex.len() / 2)
        .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16))
        .collect::<Result<_, _>>()?;
    let numbers: Vec<f64> = bytes
        .chunks_exact(8)
        .filter_map(|eight| Some(f64::from_le_bytes(eight.try_into().ok()?)))
        .collect();
    let [joints @ .., x, y, z, qx, qy, qz, qw, left, right] = &numbers[..] else {
        bail!("an arm of {} numbers", numbers.len());
    };
    Ok(ArmState {
        name: "arm".to_owned(),
        joint_pos: joints.to_vec(),
        joint_vel: vec![0.0; joints.len()],
        eef_pos: [*x, *y, *z],
        eef_quat: [*qx, *qy, *qz, *qw],
        gripper_qpos: vec![*left, *right],
        gripper_opening: left - right,
    })
}

/// Grey, a metre away: what a picture costs is decided by its size.
fn picture(request: &FrameRequest) -> CameraFrame {
    let (width, height) = (f64::from(request.width), f64::from(request.height));
    let pixels = request.width as usize * request.height as usize;
    CameraFrame {
        id: request.id.clone(),
        camera: request.camera.clone(),
        control_step: request.control_step.max(0) as u64,
        width: request.width,
        height: request.height,
        color: Bytes(vec![90; pixels * 3]),
        depth: vec![1.0; pixels],
        depth_range: Some([0.01, 50.0]),
        intrinsics: [width, 0.0, width / 2.0, 0.0, height, height / 2.0, 0.0, 0.0, 1.0],
        camera_to_world: [
            1.0, 0.0, 0.0, 0.0, //
            0.0, -1.0, 0.0, 0.0, //
            0.0, 0.0, -1.0, 1.9, //
            0.0, 0.0, 0.0, 1.0,
        ],
        ..CameraFrame::default()
    }
}
