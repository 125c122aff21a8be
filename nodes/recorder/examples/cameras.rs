//! Two cameras beside a robot that record RGB-D at 20 Hz, for `benches/recording.py`:
//! 256 x 256 pixels of colour and metric depth, 18 MB a second.

use std::time::{Duration, Instant};

use eyre::Result;
use ruaflow_kit::{Input, Node};
use ruaflow_schemas::{Bytes, CameraFrame, event};
use serde_json::json;

const CAMERAS: [&str; 2] = ["left", "right"];
const SIDE: u32 = 256;
const PERIOD: Duration = Duration::from_millis(50);

fn main() -> Result<()> {
    let mut node = Node::<()>::open()?;
    let mut sent = 0;
    let mut due = None;
    loop {
        match node.next(due) {
            Input::Event { event, .. } if event.kind == event::STARTED => {
                due = Some(Instant::now());
            }
            Input::Event { event, .. } if event.kind == event::ENDED => {
                due = None;
                node.event("pictured", "", json!({ "frames": sent }))?;
            }
            Input::Shutdown | Input::Stop => return Ok(()),
            _ => {}
        }
        while due.is_some_and(|due| due <= Instant::now()) {
            for camera in CAMERAS {
                node.record(frame(camera, sent))?;
                sent += 1;
            }
            due = due.map(|due| due + PERIOD);
        }
    }
}

/// A scene that moves, with the noise that a sensor has.
fn frame(camera: &str, number: u64) -> CameraFrame {
    let mut noise = number | 1;
    let mut random = || {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        noise
    };
    let pixels = (0..SIDE * SIDE).map(|at| (at / SIDE, at % SIDE));
    let color = pixels.clone().flat_map(|(row, column)| {
        let value = (row + column) / 2 + number as u32;
        let grain = random();
        [0, 8, 16].map(|shift| (value as u8).wrapping_add((grain >> shift) as u8 & 3))
    });
    let color = color.collect();
    let depth = pixels.map(|(row, column)| {
        0.5 + (row * column) as f32 / 65_536.0 + (random() & 63) as f32 * 1e-5
    });
    CameraFrame {
        id: format!("{camera}-{number}"),
        camera: camera.to_owned(),
        control_step: number / CAMERAS.len() as u64,
        width: SIDE,
        height: SIDE,
        color: Bytes(color),
        depth: depth.collect(),
        ..CameraFrame::default()
    }
}
