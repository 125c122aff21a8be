//! The dora side: frames to the [`Runner`] and back.

use std::time::Duration;

use eyre::{Context as _, Result, bail};
use ruaflow_kit::{Input, Node, Received, Settings};
use ruaflow_robots::Primitives;
use ruaflow_schemas::{CallResult, CameraFrame, Card, Cell, Observation, Segment, event};
use serde_json::json;

use crate::child::{Child, ChildConfig, ChildEvent};
use crate::feedback::{Feedback, Images};
use crate::runner::{Outgoing, Peers, Runner, Spawn};

/// A child's generation and what it said.
type Local = (u64, ChildEvent);

/// Runs the node until the run is over.
///
/// # Errors
/// When dora, the planner or the cell's process fail for good.
pub fn run() -> Result<()> {
    let settings = Settings::load()?;
    let memory_mib: u64 = settings.parse("CELL_MEMORY_MIB", 1024, "a number of MiB")?;
    let call_timeout_s: f64 = settings.parse("CALL_TIMEOUT_S", 100.0, "a number of seconds")?;
    let call_timeout = Duration::try_from_secs_f64(call_timeout_s)
        .with_context(|| format!("setting CALL_TIMEOUT_S is {call_timeout_s}"))?;
    let primitives: Primitives =
        settings.parse("PRIMITIVES", Primitives::Full, "full or no-vla")?;
    let feedback: Feedback = settings.parse("FEEDBACK", Feedback::default(), "pure or rich")?;
    let images: Images =
        settings.parse("IMAGES", Images::default(), "on-demand, on-motion or none")?;
    let config = ChildConfig {
        // Also the right binary after a rebuild has replaced the file.
        program: "/proc/self/exe".into(),
        memory_bytes: memory_mib << 20,
    };

    let mut node = Node::<Local>::open()?;
    let sender = node.sender();
    let spawn: Spawn = Box::new(move |generation| {
        let sender = sender.clone();
        Child::spawn(&config, move |event| {
            // False only when the node has ended.
            let _ = sender.send((generation, event));
        })
    });
    let mut runner = Runner::new(spawn, call_timeout)?;
    runner.offer(primitives);
    runner.report(feedback, images);
    runner.give_guides(settings.text("GUIDES").as_deref() == Some("on"));
    runner.connect(Peers {
        robot: node.peers_of("frame").into_iter().next(),
        perception: node.peers_of("segment").into_iter().next(),
    });
    loop {
        let ended = match step(&mut node, &mut runner) {
            Ok(ended) => ended,
            Err(error) => {
                node.event(event::ERROR, &format!("{error:#}"), json!({}))?;
                return Err(error);
            }
        };
        while let Some(outgoing) = runner.outgoing() {
            match outgoing {
                Outgoing::Call(call) => node.send(&call)?,
                Outgoing::Cancel(cancel) => node.send(&cancel)?,
                // Pictures are recorded with the cell's result, if the agent saw them.
                Outgoing::FrameRequest(request) => node.send_live(&request).map(drop)?,
                Outgoing::SegmentRequest(request) => node.send_live(&*request).map(drop)?,
                Outgoing::CellResult(result) => node.send(&*result)?,
                Outgoing::Warning(text) => node.event(event::WARNING, &text, json!({}))?,
                Outgoing::Layers(layers) => {
                    let standing = layers.iter().filter(|layer| layer.holds);
                    let names: Vec<&str> = standing.map(|layer| layer.wall.name()).collect();
                    let text = format!("cells run behind {}", names.join(", "));
                    node.event(event::SANDBOX, &text, json!({ "layers": layers }))?;
                }
            }
        }
        if ended {
            return Ok(());
        }
    }
}

/// Handles one input; true when the run is over.
fn step(node: &mut Node<Local>, runner: &mut Runner) -> Result<bool> {
    match node.next(runner.deadline()) {
        Input::Frame(frame) => on_frame(runner, &frame)
            .with_context(|| format!("input {:?} from node {:?}", frame.topic, frame.node))?,
        Input::Event { event, .. } => runner.on_event(node.episode(), &event),
        Input::Local((generation, event)) => runner.on_child(generation, event)?,
        Input::Timeout => runner.on_time()?,
        Input::Gone { node } if node == "planner" => bail!("node \"planner\" died"),
        Input::Gone { node } => runner.on_gone(&node)?,
        Input::Shutdown | Input::Stop => return Ok(true),
    }
    Ok(false)
}

fn on_frame(runner: &mut Runner, frame: &Received) -> Result<()> {
    let episode = frame.stamp.episode;
    match frame.topic.as_str() {
        "card" => runner.on_card(episode, frame.row::<Card>()?)?,
        "cell" => runner.on_cell(episode, frame.row::<Cell>()?),
        "result" => runner.on_result(episode, frame.row::<CallResult>()?)?,
        "observation" => runner.on_observation(episode, &frame.row::<Observation>()?),
        "frame" => {
            // Most frames are for others; those are not copied.
            let rows = frame.rows::<CameraFrame>()?;
            if runner.wants_frame(rows.first()?.id()) {
                runner.on_frame(frame.row::<CameraFrame>()?)?;
            }
        }
        "segment" => runner.on_segment(frame.row::<Segment>()?)?,
        topic => tracing::debug!(topic, "input is not used"),
    }
    Ok(())
}
