//! A runner whose robot has cameras.

use std::time::{Duration, Instant};

use cell_runner::child::{Child, ChildEvent};
use cell_runner::runner::{Outgoing, Peers, Runner};
use crossbeam_channel::Receiver;
use ruaflow_robots::Primitives;
use ruaflow_schemas::{
    Bytes, Call, CallResult, Camera, CameraFrame, Card, Cell, CellResult, FrameRequest,
    Observation, Segment, SegmentRequest,
};
use serde_json::json;

/// A camera 1 m above a table at z = 0, looking down; row 0 is at +y. A box of
/// 0.25 m height stands under the rows and columns from a quarter to a half.
fn photograph(request: &FrameRequest) -> CameraFrame {
    let (width, height) = (request.width as usize, request.height as usize);
    let on_box = |row: usize, col: usize| {
        (height / 4..height / 2).contains(&row) && (width / 4..width / 2).contains(&col)
    };
    let mut frame = CameraFrame {
        id: request.id.clone(),
        camera: request.camera.clone(),
        control_step: request.control_step as u64,
        width: request.width,
        height: request.height,
        // One metre wide at one metre.
        intrinsics: [
            width as f64,
            0.0,
            width as f64 / 2.0, //
            0.0,
            height as f64,
            height as f64 / 2.0, //
            0.0,
            0.0,
            1.0,
        ],
        camera_to_world: [
            1.0, 0.0, 0.0, 0.0, //
            0.0, -1.0, 0.0, 0.0, //
            0.0, 0.0, -1.0, 1.0, //
            0.0, 0.0, 0.0, 1.0,
        ],
        depth_range: Some([0.01, 50.0]),
        ..CameraFrame::default()
    };
    let mut color = Vec::new();
    for row in 0..height {
        for col in 0..width {
            color.extend(if on_box(row, col) {
                [200, 40, 40]
            } else {
                [90, 90, request.control_step as u8]
            });
            frame.depth.push(match (row, col) {
                (0, 0) => f32::NAN,
                _ if on_box(row, col) => 0.75,
                _ => 1.0,
            });
        }
    }
    frame.color = Bytes(color);
    frame
}

/// A runner with a child, between a made-up robot, controller and perception node.
pub struct Flow {
    pub runner: Runner,
    events: Receiver<(u64, ChildEvent)>,
    pub looks: Vec<FrameRequest>,
    pub segments: Vec<SegmentRequest>,
    pub calls: Vec<Call>,
    results: Vec<CellResult>,
    index: u32,
    /// The robot answers.
    pub pictures: bool,
    /// The controller cuts calls short.
    pub cancelled: bool,
    /// What the perception node answers.
    pub found: Option<Segment>,
}

impl Flow {
    pub fn new() -> Self {
        Self::with(Primitives::Full, Duration::from_secs(30), &["libero", "perception"])
    }

    pub fn with(primitives: Primitives, patience: Duration, nodes: &[&str]) -> Self {
        let (sender, events) = crossbeam_channel::unbounded();
        let spawn = Box::new(move |generation| {
            let sender = sender.clone();
            Child::spawn(&super::config(), move |event| {
                let _ = sender.send((generation, event));
            })
        });
        let mut runner = Runner::new(spawn, patience).unwrap();
        runner.offer(primitives);
        let node = |name: &str| nodes.contains(&name).then(|| name.to_owned());
        runner.connect(Peers { robot: node("libero"), perception: node("perception") });
        let camera = |name: &str| Camera {
            name: name.to_owned(),
            width: 256,
            height: 256,
            depth: true,
            any_step: true,
            ..Camera::default()
        };
        let card = Card {
            robot: "libero".to_owned(),
            instruction: "pick up the box".to_owned(),
            cameras: vec![camera("agentview"), camera("wrist")],
            first: Observation::default(),
            ..Card::default()
        };
        runner.on_card(0, card).unwrap();
        Self {
            runner,
            events,
            looks: Vec::new(),
            segments: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
            index: 0,
            pictures: true,
            cancelled: false,
            found: None,
        }
    }

    pub fn run(&mut self, code: &str) -> CellResult {
        self.index += 1;
        let cell = Cell {
            id: format!("cell {}", self.index),
            index: self.index,
            code: code.to_owned(),
            ..Cell::default()
        };
        self.runner.on_cell(0, cell);
        let limit = Instant::now() + Duration::from_secs(60);
        let seen = self.results.len();
        while self.results.len() == seen {
            self.send();
            if self.results.len() > seen {
                break;
            }
            assert!(Instant::now() < limit, "nothing happens");
            let deadline = self.runner.deadline().unwrap_or(limit).min(limit);
            match self.events.recv_deadline(deadline) {
                Ok((generation, event)) => self.runner.on_child(generation, event).unwrap(),
                Err(_) => self.runner.on_time().unwrap(),
            }
        }
        self.results[seen].clone()
    }

    fn send(&mut self) {
        while let Some(outgoing) = self.runner.outgoing() {
            match outgoing {
                Outgoing::FrameRequest(request) => {
                    self.looks.push(request.clone());
                    if self.pictures {
                        assert!(self.runner.wants_frame(&request.id));
                        self.runner.on_frame(photograph(&request)).unwrap();
                    }
                }
                Outgoing::SegmentRequest(request) => {
                    self.segments.push(*request.clone());
                    if let Some(found) = &self.found {
                        let answer = Segment { id: request.id, ..found.clone() };
                        self.runner.on_segment(answer).unwrap();
                    }
                }
                Outgoing::Call(call) => {
                    self.calls.push(call.clone());
                    let step = self.calls.len() as u64;
                    let error = if self.cancelled { "cancelled" } else { "" };
                    let result = CallResult {
                        id: call.id,
                        error: error.to_owned(),
                        control_steps: 7,
                        method: call.method,
                        outcome: json!({
                            "steps_used": 7, "start_gripper_opening": 0.0,
                            "peak_gripper_opening": 0.08, "final_gripper_opening": 0.08,
                            "terminated": false, "truncated": false,
                        })
                        .to_string(),
                        step,
                        observation: Observation {
                            control_step: 7 * step,
                            ..Observation::default()
                        },
                        ..CallResult::default()
                    };
                    self.runner.on_result(0, result).unwrap();
                }
                Outgoing::CellResult(result) => self.results.push(*result),
                Outgoing::Cancel(_) | Outgoing::Warning(_) | Outgoing::Layers(_) => {}
            }
        }
    }

    pub fn stdout(&mut self, code: &str) -> String {
        let result = self.run(code);
        assert_eq!(result.error, "", "{code}");
        result.stdout
    }

    pub fn error(&mut self, code: &str) -> String {
        self.run(code).error.trim_end().lines().last().unwrap_or_default().to_owned()
    }
}
