//! The recorder node: writes every row of a run to disk as it comes.
//!
//! Nodes send what must be recorded in numbered batches; the recorder puts them
//! in order, asks again for what is missing, and confirms an episode only when
//! it is whole and on the disk.

mod arrivals;
mod batch;
mod compactor;
mod pictures;
mod plain;
mod recorder;
mod store;

use std::time::{Duration, Instant};

use eyre::{Context as _, Result, bail};
use ruaflow_kit::{Input, Node, Received, Settings};
use ruaflow_record::Level;
use ruaflow_schemas::CameraFrame;

use crate::batch::Incoming;
pub use crate::pictures::Mode;
use crate::recorder::{Keep, Out, Recorder};

/// What still comes after the end of the run is written for this long.
const LAST_ROWS: Duration = Duration::from_secs(2);
const TOPIC: &str = "record";
/// Id of the node that owns the run, in every dataflow.
const PLANNER: &str = "planner";

/// Runs the node until the run is over.
pub fn run() -> Result<()> {
    let mut node = Node::<()>::open()?;
    node.answer_ready_myself();
    let settings = Settings::load()?;
    let level = settings.parse("RECORD", Level::default(), Level::WORDS)?;
    let mode = level.pictures().parse().unwrap_or_default();
    let mode: Mode = settings.parse("PICTURES", mode, "off, ends or calls")?;
    if !node.peers_of("event").contains(PLANNER) {
        bail!("the dataflow must connect the output \"event\" of a node {PLANNER:?} to it");
    }
    let keep = Keep { level, pictures: mode };
    let mut recorder =
        Recorder::new(node.name(), PLANNER, node.peers_of(TOPIC), node.peers_of("frame"), keep);

    let shutdown = loop {
        match step(&mut node, &mut recorder, None)? {
            Some(Input::Shutdown) => break true,
            Some(Input::Stop) => break false,
            Some(Input::Gone { node }) if node == PLANNER => break false,
            _ => {}
        }
    };
    take_last_rows(&mut node, &mut recorder)?;
    recorder.finish().context("could not end the recorded files")?;

    // A planner that has gone and left a result behind has not died.
    let gone = node.gone().contains(PLANNER);
    let message = format!("node {PLANNER:?} died");
    let died = match recorder.dir() {
        Some(dir) => gone && dir.finish_as_failed(PLANNER, &message)?,
        None => gone && !shutdown,
    };
    if died {
        bail!(message);
    }
    Ok(())
}

/// The other nodes send their last rows when the run ends, then they go.
fn take_last_rows(node: &mut Node, recorder: &mut Recorder) -> Result<()> {
    let until = Instant::now() + LAST_ROWS;
    while !recorder.alone() && Instant::now() < until {
        if let Some(Input::Stop) = step(node, recorder, Some(until))? {
            break;
        }
    }
    Ok(())
}

/// Handles one input; hands back what ends the run.
fn step(node: &mut Node, recorder: &mut Recorder, until: Option<Instant>) -> Result<Option<Input>> {
    let deadline = recorder.due(Instant::now()).into_iter().chain(until).min();
    let input = node.next(deadline);
    let now = Instant::now();
    let mut end = None;
    match input {
        Input::Frame(frame) if frame.topic == TOPIC => {
            recorder.batch(&frame.node, frame.integer("batch"), incoming(&frame), now);
        }
        Input::Frame(frame) => match frame.rows::<CameraFrame>() {
            Ok(rows) => recorder.frame(&rows),
            Err(error) => tracing::warn!(node = frame.node, %error, "frame ignored"),
        },
        Input::Event { node, event } => recorder.event(&node, &event, now),
        Input::Gone { node } => {
            recorder.gone(&node);
            end = Some(Input::Gone { node });
        }
        Input::Shutdown | Input::Stop => end = Some(input),
        Input::Timeout | Input::Local(()) => {}
    }
    recorder.tick(now);
    for out in recorder.take_out() {
        send(node, out)?;
    }
    Ok(end)
}

fn send(node: &mut Node, out: Out) -> Result<()> {
    match out {
        Out::Receipt(receipt) => node.send_live(&receipt).map(|_| ()),
        Out::FrameRequest(request) => node.send_live(&request).map(|_| ()),
        Out::Event { kind, message, data } => node.event(kind, &message, data),
    }
}

fn incoming(frame: &Received) -> Incoming {
    Incoming {
        topic: frame.stamp.schema.clone(),
        version: frame.stamp.schema_version,
        array: frame.array.clone(),
    }
}
