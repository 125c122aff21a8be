//! The robot's side of the dataflow, once for all robots.
//!
//! A robot author implements [`Robot`] and hands it to [`serve`]; ids, refusals,
//! latches, the journal, pictures, the emergency stop and the end of the run are
//! done here. `docs/adding-a-robot.md` walks through it.

mod frame;
mod session;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::ArrayRef;
use eyre::{Context as _, Result, bail};
use ruaflow_schemas::{
    Action, CameraFrame, Card, Event, FrameRequest, Observation, Reset, State, encode, event,
};
use serde_json::{Value, json};

pub use self::frame::FrameReply;
use self::session::{Out, Session};
use crate::node::{Input, Node, Received};

/// A robot, simulated or real.
///
/// [`serve`] calls these from one thread. It fills in `id`, `suite`, `task`,
/// `seed` and `settle` of the card, `control_step` and `action_id` of an
/// observation and a state, truncates the episode at its step limit, and keeps
/// `terminated`, `truncated` and `success` once they were set.
pub trait Robot {
    /// Sets the scene of an episode and says what there is; the card's `first`
    /// is what the robot measures at control step 0.
    ///
    /// # Errors
    /// The text reaches the person who started the run: say how to mend it.
    fn reset(&mut self, reset: &Reset) -> Result<Card>;

    /// Whether [`Robot::reset`] can begin in a recorded state, `reset.state`.
    fn resumes(&self) -> bool {
        false
    }

    /// Carries out one control step and measures. The action has passed the
    /// checks: its arm and kind are on the card, its length fits, its numbers
    /// are finite and in range.
    ///
    /// # Errors
    /// [`StepError::Refused`] when nothing moved and the next action may be
    /// tried, [`StepError::Failed`] when the robot can't go on.
    fn step(&mut self, action: &Action) -> Result<Observation, StepError>;

    /// The whole state after the last control step, for the recorder; a real
    /// robot has none.
    fn state(&mut self) -> Option<State> {
        None
    }

    /// What the scene and its motion depend on beside the reset, such as a simulator's
    /// version, by name. Recorded with each episode, so that a replay which differs
    /// can say why.
    fn versions(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// When the robot makes its next control step although no action came; one that
    /// only moves when told has none.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// Makes the control step that is [due](Self::due) and measures.
    ///
    /// # Errors
    /// When the robot can't go on; the text ends the run.
    fn advance(&mut self) -> Result<Observation> {
        bail!("this robot only moves when told")
    }

    /// Stands still until the next reset: a person pressed stop, the episode is
    /// over, or who commands the robot is gone.
    fn hold(&mut self);

    /// Makes a picture and answers through `reply`, now or later from another
    /// thread; slow work here would stall control. The camera is on the card,
    /// size and control step are filled in, and that step has been made.
    fn frame(&mut self, request: FrameRequest, reply: FrameReply) {
        drop(request);
        reply.refuse("this robot takes no pictures");
    }
}

/// Why a control step was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// Nothing moved; the call that wanted it gets this text.
    #[error("{0}")]
    Refused(String),
    /// The robot can't go on; the run ends with this text.
    #[error("{0}")]
    Failed(String),
}

/// Runs a robot's node until the run is over.
///
/// # Errors
/// When the robot failed, when the planner or the controller died, and when the
/// dataflow can't be joined.
pub fn serve(robot: impl Robot) -> Result<()> {
    let mut node = Node::<Answer>::open()?;
    let pictures = node.sender();
    let reply = Arc::new(move |frame: CameraFrame, rendered: bool| {
        pictures.send(Answer::new(frame, rendered));
    });
    let mut session = Session::new(robot, reply);
    let planners = node.peers_of("reset");
    let controllers = node.peers_of("action");
    loop {
        match node.next(session.due()) {
            Input::Frame(frame) => {
                // `reset` may overtake the planner's `started`.
                if frame.topic == "reset" {
                    node.set_episode(frame.stamp.episode);
                }
                let outs = match take(&mut session, &frame) {
                    Ok(outs) => outs,
                    Err(error) => {
                        node.frame_ignored(&frame, &error)?;
                        continue;
                    }
                };
                send_all(&mut node, &mut session, outs)?;
            }
            Input::Timeout => {
                let outs = session.advance();
                send_all(&mut node, &mut session, outs)?;
            }
            Input::Local(answer) => {
                node.send_array::<CameraFrame>(answer.array)?;
                let data = session.count_picture(answer.rendered, answer.data);
                let (kind, name) = (event::PICTURE.to_owned(), node.name().to_owned());
                node.record(Event { kind, node: name, message: String::new(), data })?;
            }
            Input::Event { event, .. } if event.kind == event::STOPPED => session.stop(),
            Input::Event { event, .. } if event.kind == event::ENDED => session.end(),
            Input::Gone { node: gone }
                if planners.contains(&gone) || controllers.contains(&gone) =>
            {
                session.hold();
                bail!("node {gone:?} died");
            }
            Input::Shutdown | Input::Stop => {
                session.hold();
                return Ok(());
            }
            _ => {}
        }
    }
}

/// An answered request for a picture, on its way to the node's loop.
struct Answer {
    /// Building it copies the pixels, so that happens on the answering thread.
    array: ArrayRef,
    rendered: bool,
    /// What is recorded of it.
    data: Value,
}

impl Answer {
    fn new(frame: CameraFrame, rendered: bool) -> Self {
        let data = json!({
            "id": frame.id,
            "camera": frame.camera,
            "control_step": frame.control_step,
            "width": frame.width,
            "height": frame.height,
            "preview": frame.preview,
            "error": frame.error,
            "rendered": rendered,
        });
        Answer { array: encode(&[frame]), rendered, data }
    }
}

fn take<R: Robot>(
    session: &mut Session<R>,
    frame: &Received,
) -> Result<Vec<Out>, ruaflow_schemas::SchemaError> {
    Ok(match frame.topic.as_str() {
        "reset" => session.reset(&frame.row()?),
        "action" => session.action(&frame.row()?),
        "frame_request" => {
            session.frame(frame.row()?);
            Vec::new()
        }
        _ => Vec::new(),
    })
}

/// A robot whose words don't arrive must not move on.
fn send_all<R: Robot>(
    node: &mut Node<Answer>,
    session: &mut Session<R>,
    outs: Vec<Out>,
) -> Result<()> {
    outs.into_iter().try_for_each(|out| send(node, out)).inspect_err(|_| session.hold())
}

fn send(node: &mut Node<Answer>, out: Out) -> Result<()> {
    match out {
        Out::Card(card) => node.send(&*card),
        Out::Observation(observation) => node.send(&observation),
        Out::Again(observation) => node.send_live(&observation).map(drop),
        Out::Recorded(observation) => node.record(observation),
        Out::State(state) => node.record(state),
        Out::Versions(versions) => {
            let (kind, name) = (event::VERSIONS.to_owned(), node.name().to_owned());
            let data = serde_json::to_string(&versions)?;
            node.record(Event { kind, node: name, message: String::new(), data })
        }
        Out::Refused { action_id, reason } => {
            node.event(event::REFUSED, &reason, json!({ "action_id": action_id }))
        }
        Out::Failed(reason) => {
            node.event(event::ERROR, &reason, json!({}))
                .context("could not say why the robot failed")?;
            bail!("{reason}")
        }
    }
}
