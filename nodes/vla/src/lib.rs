//! The VLA node: asks a vision-language-action policy for action chunks.
//!
//! The controller sends `chunk_request` with what the robot measured last; the
//! node gets the two pictures of that control step from the robot, shows them to
//! the policy, and answers with a `chunk`. A policy that is missing, gone, slow
//! or wrong is an answer too: `chunk.error` says what it was.

pub mod onnx;
pub mod openpi;
pub mod policy;
mod settings;
mod view;
mod waiting;
mod worker;

use std::time::Instant;

use eyre::{Result, bail};
use ruaflow_kit::{Input, Node, Received, Settings};
use ruaflow_schemas::{CameraFrame, Chunk, ChunkRequest, SchemaError, event};
use serde_json::json;

pub use crate::settings::{Choice, ChoiceError, Secret};
pub use crate::view::{Picture, Pictures, policy_state};
use crate::waiting::{Step, Waiting};
use crate::worker::{Done, Worker};

/// The kind of action a LIBERO policy makes.
const ACTION_KIND: &str = "osc_pose_delta";
/// Id of the node that owns the run, in every dataflow.
const PLANNER: &str = "planner";

/// Runs the node until the run is over.
///
/// # Errors
/// When the planner dies, and when the dataflow can't be joined.
pub fn run() -> Result<()> {
    let mut node = Node::<Done>::open()?;
    let mut choice = Some(Choice::read(&Settings::load()?));
    let mut worker = None;
    let mut waiting = Waiting::default();
    loop {
        match node.next(waiting.deadline()) {
            // A choice that can't be carried out ends the run at once, not at the first grasp.
            Input::Event { event, .. } if event.kind == event::RUN => {
                match choice.take().map(|choice| choice.and_then(|choice| choice.open())) {
                    None | Some(Ok(None)) => {}
                    Some(Ok(Some(policy))) => worker = Some(Worker::start(policy, node.sender())?),
                    Some(Err(error)) => node.event(event::ERROR, &error.to_string(), json!({}))?,
                }
            }
            Input::Event { event, .. } if event.kind == event::ENDED => waiting.forget(),
            Input::Frame(frame) => match take(&mut waiting, &frame, worker.is_some()) {
                Ok(step) => carry_out(&mut node, worker.as_ref(), step)?,
                Err(error) => node.frame_ignored(&frame, &error)?,
            },
            Input::Timeout => {
                let step = waiting.give_up(Instant::now());
                carry_out(&mut node, worker.as_ref(), step)?;
            }
            Input::Local(done) => node.send(&chunk(done))?,
            Input::Gone { node: gone } if gone == PLANNER => bail!("node {gone:?} died"),
            Input::Shutdown | Input::Stop => return Ok(()),
            _ => {}
        }
    }
}

fn take(waiting: &mut Waiting, frame: &Received, has_policy: bool) -> Result<Step, SchemaError> {
    Ok(match frame.topic.as_str() {
        "chunk_request" => {
            let request: ChunkRequest = frame.row()?;
            if has_policy {
                waiting.begin(request, Instant::now())
            } else {
                Step::Refuse { request, reason: NO_POLICY.to_owned() }
            }
        }
        "frame" => {
            let rows = frame.rows::<CameraFrame>()?;
            // Pictures that others have asked for come by too; they are not copied.
            match waiting.wants(rows.first()?.id()) {
                true => waiting.picture(frame.row()?),
                false => Step::Nothing,
            }
        }
        _ => Step::Nothing,
    })
}

const NO_POLICY: &str = "no VLA policy is configured: set VLA=openpi (a policy server) or \
                         VLA=onnx (a model file), see the README of node \"vla\"";

fn carry_out(node: &mut Node<Done>, worker: Option<&Worker>, step: Step) -> Result<()> {
    match step {
        Step::Nothing => Ok(()),
        Step::Ask(requests) => requests.iter().try_for_each(|request| node.send(request)),
        Step::Refuse { request, reason } => {
            node.send(&Chunk { error: reason, ..answer_to(&request) })
        }
        Step::Infer { request, pictures } => {
            if let Some(worker) = worker
                && worker.ask(request.clone(), pictures)
            {
                return Ok(());
            }
            let reason = "the policy's thread has ended".to_owned();
            node.send(&Chunk { error: reason, ..answer_to(&request) })
        }
    }
}

fn chunk(done: Done) -> Chunk {
    let answer = answer_to(&done.request);
    match done.outcome {
        Ok(actions) => Chunk {
            source: actions.source,
            length: actions.rows.len() as u32,
            values: actions.rows.concat(),
            inference_ns: done.took.as_nanos() as u64,
            ..answer
        },
        Err(error) => Chunk { error: error.to_string(), ..answer },
    }
}

fn answer_to(request: &ChunkRequest) -> Chunk {
    Chunk {
        id: request.id.clone(),
        kind: ACTION_KIND.to_owned(),
        control_step: request.observation.control_step,
        ..Chunk::default()
    }
}
