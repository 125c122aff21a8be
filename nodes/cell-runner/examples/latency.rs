//! Measures the child process: its start, a cell's round trip, a call's round
//! trip, and the first cell after a process had to be killed.
//!
//! `./rua cargo run -p cell-runner --example latency`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cell_runner::child::{Child, ChildConfig, ChildEvent};
use cell_runner::protocol::Answer;
use cell_runner::runner::{Outgoing, Runner};
use crossbeam_channel::Receiver;
use eyre::{OptionExt as _, Result, bail};
use ruaflow_robots::Primitives;
use ruaflow_schemas::{Card, Cell};
use serde_json::json;

const STARTS: usize = 20;
const CELLS: usize = 500;
const CALLS: usize = 2_000;
const KILLS: u32 = 10;

fn main() -> Result<()> {
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        let (_child, events) = start()?;
        let ChildEvent::Ready { .. } = events.recv()? else {
            bail!("the child did not say that it is ready");
        };
        starts.push(began.elapsed());
    }
    report("start of a child", starts);

    let (child, events) = start()?;
    child.init("libero", Primitives::Full);
    let mut cells = Vec::new();
    for _ in 0..CELLS {
        let began = Instant::now();
        child.run(1, "1 + 1");
        while !matches!(events.recv()?, ChildEvent::Done { .. }) {}
        cells.push(began.elapsed());
    }
    report("round trip of a cell", cells);
    report("first cell after a kill", after_kills()?);

    child.run(
        2,
        &format!(
            "laps = []
for _ in range({CALLS}):
    t = time.perf_counter_ns()
    robo.state()
    laps.append(time.perf_counter_ns() - t)
laps.sort()
print('round trip of robo.state(): median', laps[len(laps) // 2] / 1e6, 'ms, 95 %', laps[len(laps) * 95 // 100] / 1e6, 'ms, worst', laps[-1] / 1e6, f'ms ({{len(laps)}} times)')"
        ),
    );
    let state = json!({
        "step": 0, "task": "pick up the black bowl", "eef_pos": [-0.2085, 0.0, 1.1733],
        "eef_quat": [1.0, 0.0, 0.0, 0.0], "eef_yaw": 0.0, "eef_pitch": 0.0,
        "gripper_qpos": [0.0208, -0.0208], "gripper_opening": 0.0416,
        "object_names": ["bowl_1", "bowl_2", "cookies_1", "ramekin_1", "plate_1"],
        "terminated": false, "truncated": false,
    });
    loop {
        match events.recv()? {
            ChildEvent::Call { id, .. } => child.reply(id, Answer::Value(state.clone())),
            ChildEvent::Done { output, .. } => {
                print!("{}{}", output.stdout, output.stderr);
                return Ok(());
            }
            ChildEvent::Exited { exit, .. } => bail!(exit),
            _ => {}
        }
    }
}

/// From the result of a cell that was killed to the result of the next one.
fn after_kills() -> Result<Vec<Duration>> {
    let (sender, events) = crossbeam_channel::unbounded();
    let config = ChildConfig { program: program()?, memory_bytes: 1 << 30 };
    let spawn = Box::new(move |generation| {
        let sender = sender.clone();
        Child::spawn(&config, move |event| {
            let _ = sender.send((generation, event));
        })
    });
    let mut runner = Runner::new(spawn, Duration::from_secs(10))?;
    runner.on_card(0, Card { robot: "libero".to_owned(), ..Card::default() })?;
    let mut times = Vec::new();
    for index in 0..2 * KILLS {
        let (code, timeout_ms) =
            if index % 2 == 0 { ("sum(range(10**12))", 300) } else { ("1 + 1", 10_000) };
        let began = Instant::now();
        let cell = Cell { index, code: code.to_owned(), timeout_ms, ..Cell::default() };
        runner.on_cell(0, cell);
        while !std::iter::from_fn(|| runner.outgoing())
            .any(|outgoing| matches!(outgoing, Outgoing::CellResult(_)))
        {
            let deadline = runner.deadline().unwrap_or_else(|| began + Duration::from_secs(10));
            match events.recv_deadline(deadline) {
                Ok((generation, event)) => runner.on_child(generation, event)?,
                Err(_) => runner.on_time()?,
            }
        }
        if index % 2 == 1 {
            times.push(began.elapsed());
        }
    }
    Ok(times)
}

fn start() -> Result<(Child, Receiver<ChildEvent>)> {
    let (sender, events) = crossbeam_channel::unbounded();
    let config = ChildConfig { program: program()?, memory_bytes: 1 << 30 };
    let child = Child::spawn(&config, move |event| {
        let _ = sender.send(event);
    })?;
    Ok((child, events))
}

/// The node's binary, beside the folder of examples.
fn program() -> Result<PathBuf> {
    let example = std::env::current_exe()?;
    let folder = example.parent().and_then(|folder| folder.parent());
    Ok(folder.ok_or_eyre("this example has no folder")?.join("cell-runner"))
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!(
        "{what}: median {:.3} ms, 95 % {:.3} ms, worst {:.3} ms ({} times)",
        at(50),
        at(95),
        at(100),
        times.len()
    );
}
