//! The perception node: finds the thing that a phrase names, or that a pixel is on.
//!
//! The cell runner sends `segment_request` with the picture its cell looks at;
//! the node asks interchangeable [eyes](Eyes) what they see, decides by where
//! things are in the world when the phrase relates them ([`grounding`]), and
//! answers with `segment`. Eyes that are missing, broken or wrong are an answer
//! too: `segment.error` says what it was.

pub mod answer;
pub mod builtin;
mod cache;
mod eyes;
mod names;
pub mod oracle;
mod question;
pub mod sam3;
mod settings;
mod waiting;
mod worker;

use std::path::Path;
use std::time::Instant;

use eyre::{Result, bail};
use ruaflow_kit::{Input, Node, Received, Settings};
use ruaflow_schemas::{
    CameraFrame, Event, FrameRequest, SchemaError, Segment, SegmentRequest, event,
};
use serde_json::json;

use crate::builtin::Builtin;
pub use crate::cache::Cache;
pub use crate::eyes::{Asked, Eyes, EyesError, Instance, Labels, Picture, Sight};
use crate::oracle::Oracle;
pub use crate::question::{Question, QuestionError, What};
use crate::sam3::Sam3;
pub use crate::settings::{Choice, sam3_dir};
use crate::waiting::{Over, Waiting};
use crate::worker::{Done, Job, Opening, Worker};

/// Id of the node that owns the run, in every dataflow.
const PLANNER: &str = "planner";

const NO_EYES: &str = "perception is off in this run: set PERCEPTION=builtin (or sam3, see \
                       docs/perception.md), or find the thing by image(), world_map() and \
                       back_project()";

const PRIVILEGED: &str = "PERCEPTION=oracle: segment() answers from the simulator's own \
                          knowledge (privileged); this run says nothing about a robot";

/// Runs the node until the run is over.
///
/// # Errors
/// When the planner dies, and when the dataflow can't be joined.
pub fn run() -> Result<()> {
    let mut node = Node::<Done>::open()?;
    let robots = node.peers_of("frame");
    let mut choice = Some(Choice::read(&Settings::load()?, Path::new("")));
    let mut seat = Seat::default();
    let mut waiting = Waiting::default();
    loop {
        match node.next(waiting.deadline()) {
            // A choice that can't be carried out ends the run at once.
            Input::Event { event, .. } if event.kind == event::RUN => match choice.take() {
                None => {}
                Some(Ok(choice)) => seat = Seat::take(&mut node, choice)?,
                Some(Err(error)) => node.event(event::ERROR, &error.to_string(), json!({}))?,
            },
            Input::Event { event, .. } if event.kind == event::ENDED => waiting.forget(),
            Input::Frame(frame) => match take(&seat, &mut waiting, &frame) {
                Ok(step) => carry_out(&mut node, &seat, step)?,
                Err(error) => node.frame_ignored(&frame, &error)?,
            },
            Input::Timeout => {
                let over = waiting.give_up(Instant::now());
                over.into_iter().try_for_each(|o| carry_out(&mut node, &seat, Step::after(o)))?;
            }
            Input::Local(Done::Answer(answer)) => send(&mut node, &answer)?,
            Input::Local(Done::Failed(error)) => {
                node.event(event::ERROR, &error.to_string(), json!({}))?;
            }
            Input::Gone { node: gone } if gone == PLANNER => bail!("node {gone:?} died"),
            Input::Gone { node: gone } if robots.contains(&gone) => {
                let over = waiting.fail(&format!("node {gone:?} has died"));
                over.into_iter().try_for_each(|o| carry_out(&mut node, &seat, Step::after(o)))?;
            }
            Input::Shutdown | Input::Stop => return Ok(()),
            _ => {}
        }
    }
}

/// Who answers, if anybody does.
#[derive(Default)]
struct Seat {
    worker: Option<Worker>,
    /// The eyes need what only a simulator knows.
    privileged: bool,
}

impl Seat {
    fn take(node: &mut Node<Done>, choice: Choice) -> Result<Self> {
        let sender = node.sender();
        let results = move |done| sender.send(done);
        let worker = match choice {
            Choice::None => return Ok(Self::default()),
            Choice::Builtin { dir } => {
                Worker::start(move || Builtin::open(&dir), Opening::WhenAsked, results)?
            }
            Choice::Sam3 { dir } => {
                Worker::start(move || Sam3::open(&dir), Opening::AtOnce, results)?
            }
            Choice::Oracle => {
                node.event(event::WARNING, PRIVILEGED, json!({ "privileged": true }))?;
                let worker = Worker::start(|| Ok(Oracle), Opening::WhenAsked, results)?;
                return Ok(Self { worker: Some(worker), privileged: true });
            }
        };
        Ok(Self { worker: Some(worker), privileged: false })
    }
}

/// What is to be done.
enum Step {
    Nothing,
    AskRobot(FrameRequest),
    AskEyes(Box<Job>),
    Refuse { id: String, why: String },
}

impl Step {
    /// A request's wait for its labels is over.
    fn after((request, labels): Over) -> Self {
        match labels {
            Ok(labels) => Self::AskEyes(Box::new(Job { request, labels: Some(labels) })),
            Err(why) => Self::Refuse { id: request.id, why },
        }
    }
}

fn take(seat: &Seat, waiting: &mut Waiting, frame: &Received) -> Result<Step, SchemaError> {
    Ok(match frame.topic.as_str() {
        "segment_request" => {
            let request: SegmentRequest = frame.row()?;
            match seat.privileged {
                true => Step::AskRobot(waiting.begin(request, Instant::now())),
                false => Step::AskEyes(Box::new(Job { request, labels: None })),
            }
        }
        "frame" => {
            let rows = frame.rows::<CameraFrame>()?;
            // Pictures that others have asked for come by too; they are not copied.
            match waiting.wants(rows.first()?.id()) {
                true => waiting.picture(frame.row()?).map_or(Step::Nothing, Step::after),
                false => Step::Nothing,
            }
        }
        _ => Step::Nothing,
    })
}

fn carry_out(node: &mut Node<Done>, seat: &Seat, step: Step) -> Result<()> {
    let (id, why) = match step {
        Step::Nothing => return Ok(()),
        Step::AskRobot(request) => return node.send_live(&request).map(drop),
        Step::Refuse { id, why } => (id, why),
        Step::AskEyes(job) => {
            let id = job.request.id.clone();
            match &seat.worker {
                None => (id, NO_EYES.to_owned()),
                Some(worker) if worker.ask(*job) => return Ok(()),
                Some(_) => (id, "the thread of the eyes has ended".to_owned()),
            }
        }
    };
    send(node, &Segment { id, error: why, ..Segment::default() })
}

/// Answers, and records what the answer was but for its masks, which anybody can
/// have again.
fn send(node: &mut Node<Done>, answer: &Segment) -> Result<()> {
    node.send_live(answer)?;
    let found = answer.instances.iter();
    let found: Vec<_> = found.map(|i| json!({ "label": i.label, "score": i.score })).collect();
    let data = json!({
        "id": answer.id,
        "error": answer.error,
        "reason": answer.reason,
        "found": found,
        "source": answer.source,
        "privileged": answer.privileged,
        "look_ns": answer.look_ns,
        "ask_ns": answer.ask_ns,
    });
    node.record(Event {
        kind: event::SEGMENTED.to_owned(),
        node: node.name().to_owned(),
        message: String::new(),
        data: data.to_string(),
    })
}
