//! Measures what a look costs beyond the render: a frame of 1024 x 1024 pixels
//! with depth goes from its Arrow form through the node into the cell.
//!
//! `./rua cargo run -p cell-runner --example looking`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cell_runner::child::{Child, ChildConfig};
use cell_runner::runner::{Outgoing, Peers, Runner};
use eyre::{OptionExt as _, Result, bail};
use ruaflow_schemas::{
    ArmState, Bytes, Camera, CameraFrame, Card, Cell, Frame as _, FrameRequest, Observation, Rows,
    encode,
};

const SIDE: u32 = 1024;
const LOOKS: u32 = 20;
const DEADLINE: Duration = Duration::from_secs(120);

/// Each look is at a camera and size that were not looked at before, or were.
const CELL: &str = "
def timed(what, look):
    look(0)
    laps = []
    for k in range(1, LOOKS + 1):
        began = time.perf_counter_ns()
        look(k)
        laps.append((time.perf_counter_ns() - began) / 1e6)
    laps.sort()
    print(f'{what}: least {laps[0]:.2f} ms, median {laps[len(laps) // 2]:.2f} ms')

timed('world_map, new picture', lambda k: robo.world_map(resolution=(1024, 1024 - k)))
timed('world_map, new picture, and a sum over it', lambda k: np.nansum(robo.world_map('wrist', resolution=(1024, 1024 - k))))
timed('world_map, again', lambda k: robo.world_map('wrist', resolution=(1024, 1024 - LOOKS)))
timed('image, again', lambda k: robo.image('wrist', resolution=(1024, 1024 - LOOKS)))
timed('back_project, again', lambda k: robo.back_project(k, k, camera='wrist', resolution=(1024, 1024 - LOOKS)))
timed('state', lambda k: robo.state())
";

fn main() -> Result<()> {
    let (sender, events) = crossbeam_channel::unbounded();
    let program: PathBuf = std::env::current_exe()?
        .parent()
        .and_then(std::path::Path::parent)
        .ok_or_eyre("no folder of programs")?
        .join("cell-runner");
    let config = ChildConfig { program, memory_bytes: 1 << 30 };
    let spawn = Box::new(move |generation| {
        let sender = sender.clone();
        Child::spawn(&config, move |event| {
            let _ = sender.send((generation, event));
        })
    });
    let mut runner = Runner::new(spawn, DEADLINE)?;
    runner.connect(Peers { robot: Some("robot".to_owned()), perception: None });
    let camera = |name: &str| Camera {
        name: name.to_owned(),
        depth: true,
        any_step: true,
        ..Camera::default()
    };
    runner.on_card(
        0,
        Card {
            robot: "libero".to_owned(),
            cameras: vec![camera("agentview"), camera("wrist")],
            first: Observation { arms: vec![arm()], ..Observation::default() },
            ..Card::default()
        },
    )?;
    let code = CELL.replace("LOOKS", &LOOKS.to_string());
    runner.on_cell(0, Cell { id: "1".to_owned(), index: 1, code, ..Cell::default() });

    let scene = scene();
    let (mut robot, mut read, mut made) = (Vec::new(), Vec::new(), Vec::new());
    let end = Instant::now() + DEADLINE;
    loop {
        while let Some(outgoing) = runner.outgoing() {
            match outgoing {
                Outgoing::FrameRequest(request) => {
                    let began = Instant::now();
                    let array = encode(&[picture(&scene, &request)]);
                    robot.push(began.elapsed());
                    let began = Instant::now();
                    let rows = Rows::<CameraFrame>::read("frame", CameraFrame::VERSION, array)?;
                    let frames = rows.to_vec();
                    read.push(began.elapsed());
                    let began = Instant::now();
                    for frame in frames {
                        runner.on_frame(frame)?;
                    }
                    made.push(began.elapsed());
                }
                Outgoing::CellResult(result) => {
                    print!("{}{}", result.stdout, result.error);
                    report("of a new picture: the made-up robot", &mut robot);
                    report("of a new picture: reading the frame", &mut read);
                    report("of a new picture: the array", &mut made);
                    return Ok(());
                }
                _ => {}
            }
        }
        let Ok((generation, event)) = events.recv_deadline(end) else {
            bail!("nothing happens");
        };
        runner.on_child(generation, event)?;
    }
}

/// What `state()` tells of.
fn arm() -> ArmState {
    ArmState {
        eef_quat: [1.0, 0.0, 0.0, 0.0],
        gripper_qpos: vec![0.02, -0.02],
        ..ArmState::default()
    }
}

fn report(what: &str, laps: &mut [Duration]) {
    laps.sort();
    let ms = |at: usize| laps.get(at).map_or(0.0, |lap| lap.as_secs_f64() * 1e3);
    println!("{what}: least {:.2} ms, median {:.2} ms", ms(0), ms(laps.len() / 2));
}

/// A picture with depth everywhere.
fn scene() -> CameraFrame {
    let side = SIDE as usize;
    CameraFrame {
        color: Bytes((0..side * side * 3).map(|at| at as u8).collect()),
        depth: (0..side * side).map(|at| 1.0 + (at % side) as f32 / 1e4).collect(),
        intrinsics: [1236.0, 0.0, 512.0, 0.0, 1236.0, 512.0, 0.0, 0.0, 1.0],
        camera_to_world: [
            1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 1.0,
        ],
        ..CameraFrame::default()
    }
}

fn picture(scene: &CameraFrame, request: &FrameRequest) -> CameraFrame {
    let pixels = request.width as usize * request.height as usize;
    CameraFrame {
        id: request.id.clone(),
        camera: request.camera.clone(),
        width: request.width,
        height: request.height,
        color: Bytes(scene.color.0[..pixels * 3].to_vec()),
        depth: scene.depth[..pixels].to_vec(),
        ..scene.clone()
    }
}
