//! The checker's end of the wires: it stands for planner, controller and recorder.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use eyre::Result;
use ruaflow_kit::{Input, Node, Received};
use ruaflow_schemas::{
    Action, CameraFrame, Card, Event, Frame, FrameRequest, Observation, Receipt, Reset,
    SchemaError, event,
};
use serde_json::{Value, json};

/// Time for an action, an event and the like.
pub const SOON: Duration = Duration::from_secs(5);
/// Time for what may compile a scene or start a renderer.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Silence this long counts as no answer.
pub const SILENCE: Duration = Duration::from_millis(300);

/// Something the robot sent.
pub enum Seen {
    Card(Box<Card>),
    Observation(Observation),
    Picture(Box<CameraFrame>),
    Event(Event),
    /// Its process has gone.
    Gone,
}

pub struct Bench {
    node: Node,
    next_action: u64,
    next_id: u64,
    /// Frames that are not what their topic says.
    pub malformed: Vec<String>,
    /// Numbers of the journal's batches that came, and the topics of their rows.
    pub batches: BTreeSet<u64>,
    pub journal: BTreeSet<String>,
}

/// How an action was answered.
pub enum Answer {
    Observation(Observation),
    /// With these words.
    Refused(String),
}

impl Bench {
    pub fn open() -> Result<Self> {
        let mut node = Node::open()?;
        node.set_run_id("check-robot");
        Ok(Bench {
            node,
            next_action: 0,
            next_id: 0,
            malformed: Vec::new(),
            batches: BTreeSet::new(),
            journal: BTreeSet::new(),
        })
    }

    pub fn event(&mut self, kind: &str, data: Value) -> Result<()> {
        self.node.event(kind, "", data)
    }

    /// The robot's next word that `want` takes; the others are passed over.
    pub fn wait<T>(
        &mut self,
        limit: Duration,
        mut want: impl FnMut(Seen) -> Option<T>,
    ) -> Option<T> {
        let deadline = Instant::now() + limit;
        loop {
            let seen = match self.node.next(Some(deadline)) {
                Input::Timeout | Input::Stop => return None,
                Input::Gone { .. } => Some(Seen::Gone),
                Input::Event { event, .. } => Some(Seen::Event(event)),
                Input::Frame(frame) => self.read(&frame),
                Input::Shutdown | Input::Local(()) => None,
            };
            if let Some(found) = seen.and_then(&mut want) {
                return Some(found);
            }
        }
    }

    /// Says that the run begins until the robot answers.
    pub fn begin_run(&mut self, dir: &str) -> Result<bool> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            self.event(event::RUN, json!({ "run": "check-robot", "dir": dir }))?;
            if self.wait_for_event(Duration::from_millis(200), event::READY).is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub fn wait_for_event(&mut self, limit: Duration, kind: &str) -> Option<Event> {
        self.wait(limit, |seen| match seen {
            Seen::Event(event) if event.kind == kind => Some(event),
            _ => None,
        })
    }

    /// Begins the next episode.
    pub fn begin_episode(&mut self, reset: &Reset) -> Result<Option<Card>> {
        self.node.set_episode(self.node.episode() + 1);
        self.next_action = 0;
        let episode = self.node.episode();
        let started = json!({ "episode": episode, "suite": reset.suite, "task": reset.task, "seed": reset.seed });
        self.event(event::STARTED, started)?;
        self.reset(reset)
    }

    /// Sends a `reset` and waits for its card.
    pub fn reset(&mut self, reset: &Reset) -> Result<Option<Card>> {
        self.node.send(reset)?;
        Ok(self.wait(PATIENCE, |seen| match seen {
            Seen::Card(card) if card.id == reset.id => Some(*card),
            _ => None,
        }))
    }

    /// Sends an action, whose id it sets, and waits for the answer.
    pub fn act(&mut self, action: Action) -> Result<Option<Answer>> {
        self.next_action += 1;
        self.act_again(action)
    }

    /// Sends an action under the last action's id, as the controller does when an answer got lost.
    pub fn act_again(&mut self, mut action: Action) -> Result<Option<Answer>> {
        action.id = self.next_action;
        self.node.send(&action)?;
        Ok(self.wait(SOON, |seen| answer(seen, action.id)))
    }

    /// Sends an action that must lead to an observation.
    pub fn step(&mut self, action: Action) -> Result<Result<Observation, String>> {
        Ok(match self.act(action)? {
            Some(Answer::Observation(observation)) => Ok(observation),
            Some(Answer::Refused(words)) => Err(format!("a good action was refused: {words:?}")),
            None => Err(format!(
                "action {} was not answered within {} s",
                self.next_action,
                SOON.as_secs()
            )),
        })
    }

    /// Whether an observation comes although nobody asked for one.
    pub fn moves_by_itself(&mut self) -> bool {
        self.wait(SILENCE, |seen| matches!(seen, Seen::Observation(_)).then_some(())).is_some()
    }

    /// Asks for a picture, whose id it sets, and waits for it.
    pub fn picture(&mut self, mut request: FrameRequest) -> Result<Option<Box<CameraFrame>>> {
        request.id = self.new_id();
        self.node.send_live(&request)?;
        Ok(self.wait(PATIENCE, |seen| match seen {
            Seen::Picture(frame) if frame.id == request.id => Some(frame),
            _ => None,
        }))
    }

    /// Confirms the journal's batches below a number.
    pub fn confirm(&mut self, robot: &str, through: u64) -> Result<()> {
        let missing = (0..through).filter(|number| !self.batches.contains(number)).collect();
        self.node.send_live(&Receipt { node: robot.to_owned(), through: 0, missing })?;
        Ok(())
    }

    pub fn episode(&self) -> i64 {
        self.node.episode()
    }

    pub fn new_id(&mut self) -> String {
        self.next_id += 1;
        format!("check-{}", self.next_id)
    }

    fn read(&mut self, frame: &Received) -> Option<Seen> {
        let seen = match frame.topic.as_str() {
            Card::TOPIC => frame.row().map(|card| Seen::Card(Box::new(card))),
            Observation::TOPIC => frame.row().map(Seen::Observation),
            CameraFrame::TOPIC => frame.row().map(|frame| Seen::Picture(Box::new(frame))),
            "record" => {
                self.batches.insert(frame.stamp.seq);
                self.journal.insert(frame.stamp.schema.clone());
                return None;
            }
            _ => return None,
        };
        seen.map_err(|error: SchemaError| self.malformed.push(error.to_string())).ok()
    }
}

fn answer(seen: Seen, id: u64) -> Option<Answer> {
    match seen {
        Seen::Observation(observation) if observation.action_id == id => {
            Some(Answer::Observation(observation))
        }
        Seen::Event(event) if event.kind == event::REFUSED => {
            let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
            (data["action_id"].as_u64() == Some(id)).then_some(Answer::Refused(event.message))
        }
        _ => None,
    }
}
