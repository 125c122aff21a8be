//! What the node does, apart from dora: cells in, calls out, results back.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use ruaflow_robots::{Primitives, UnknownRobot};
use ruaflow_schemas::{
    Call, Cancel, Card, Cell, CellResult, Event, FrameRequest, Observation, SegmentRequest, event,
};
use serde_json::Value;

use crate::audit::Audit;
use crate::child::{ChildEvent, Exit, SpawnError};
use crate::children::Children;
use crate::episode::Episode;
use crate::eyes::Eyes;
use crate::running::{End, GRACE, Running, Stop, Why};
use crate::sandbox::{Layer, Wall};
use crate::segments::Segments;
use crate::state;
use crate::turn::Turns;

pub use crate::children::Spawn;

/// What the node sends.
#[derive(Debug, Clone)]
pub enum Outgoing {
    Call(Call),
    Cancel(Cancel),
    FrameRequest(FrameRequest),
    SegmentRequest(Box<SegmentRequest>),
    CellResult(Box<CellResult>),
    Warning(String),
    /// The walls around the cells.
    Layers(Vec<Layer>),
}

/// The nodes that serve cells beside the controller, as the dataflow has them.
#[derive(Debug, Clone, Default)]
pub struct Peers {
    /// Makes pictures.
    pub robot: Option<String>,
    /// Finds things in them.
    pub perception: Option<String>,
}

/// Why the node cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    #[error("the cell's process does not come up: {0}")]
    NeverReady(Exit),
    #[error("the card names a robot this build does not know: {0}")]
    Robot(#[from] UnknownRobot),
}

/// The node that finds things in pictures.
#[derive(Default)]
pub(crate) struct Perception {
    pub(crate) node: Option<String>,
    pub(crate) gone: bool,
}

/// Runs the cells of one episode after the other.
pub struct Runner {
    pub(crate) child: Children,
    /// The child has got its robot, so it belongs to the present episode.
    initialised: bool,
    /// The walls around cells, until an episode's records have them.
    layers: Option<Vec<Layer>>,
    /// It has run a cell of the present episode.
    used: bool,
    /// Its namespace went between two cells.
    lost: bool,
    pub(crate) call_timeout: Duration,
    pub(crate) primitives: Primitives,
    pub(crate) episode: Option<Episode>,
    pub(crate) running: Option<Running>,
    /// A cell that overtook the card of its episode.
    early: Option<(i64, Cell)>,
    /// Calls sent by this process, for ids.
    pub(crate) calls: u64,
    pub(crate) controller_gone: bool,
    pub(crate) eyes: Eyes,
    pub(crate) perception: Perception,
    pub(crate) segments: Segments,
    pub(crate) turns: Turns,
    pub(crate) out: VecDeque<Outgoing>,
}

impl Runner {
    /// Starts the first child, so that the first cell need not wait for it.
    ///
    /// # Errors
    /// [`RunnerError::Spawn`].
    pub fn new(spawn: Spawn, call_timeout: Duration) -> Result<Self, RunnerError> {
        Ok(Self {
            child: Children::new(spawn)?,
            initialised: false,
            layers: None,
            used: false,
            lost: false,
            call_timeout,
            primitives: Primitives::Full,
            episode: None,
            running: None,
            early: None,
            calls: 0,
            controller_gone: false,
            eyes: Eyes::new(call_timeout),
            perception: Perception::default(),
            segments: Segments::default(),
            turns: Turns::default(),
            out: VecDeque::new(),
        })
    }

    /// Says which methods the cells have; before the first card.
    pub fn offer(&mut self, primitives: Primitives) {
        self.primitives = primitives;
    }

    /// Says which nodes there are; before the first card.
    pub fn connect(&mut self, peers: Peers) {
        self.eyes.connect(peers.robot);
        self.perception.node = peers.perception;
    }

    /// What is to be sent, oldest first.
    pub fn outgoing(&mut self) -> Option<Outgoing> {
        self.out.pop_front()
    }

    /// When [`on_time`](Self::on_time) wants to be called.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let running = self.running.as_ref().and_then(Running::deadline);
        running.into_iter().chain(self.eyes.deadline()).min()
    }

    /// A new episode, with an empty namespace. `number` is the frame's episode,
    /// here as in all that follow.
    ///
    /// # Errors
    /// When its robot is unknown or a process cannot be started.
    pub fn on_card(&mut self, number: i64, card: Card) -> Result<(), RunnerError> {
        if !card.error.is_empty() {
            return Ok(());
        }
        let api = ruaflow_robots::find(&card.robot)?;
        self.cancel_call("a new episode began");
        if let Some(running) = self.running.take() {
            let mut result = running.into_result();
            "a new episode began".clone_into(&mut result.error);
            self.out.push_back(Outgoing::CellResult(Box::new(result)));
        }
        if self.initialised {
            self.respawn()?;
        }
        self.lost = false;
        self.child.init(api.name, self.primitives);
        self.initialised = true;
        self.eyes.begin(number);
        self.segments = Segments::default();
        self.episode = Some(Episode::new(number, card, api));
        self.tell_layers();
        if let Some((number, cell)) = self.early.take() {
            self.on_cell(number, cell);
        }
        Ok(())
    }

    /// Runs a cell; one that comes before the card of its episode waits for it.
    pub fn on_cell(&mut self, number: i64, cell: Cell) {
        let current = self.episode.as_ref().map_or(-1, |episode| episode.number);
        if number > current {
            self.early = Some((number, cell));
            return;
        }
        let refusal = if number < current {
            "its episode is over".to_owned()
        } else if self.running.is_some() {
            "another cell still runs".to_owned()
        } else if let Err(error) = self.clear_for(&cell) {
            error.to_string()
        } else {
            let timeout = Duration::from_millis(cell.timeout_ms);
            self.open_workspace(&cell.workspace);
            self.used = true;
            self.child.run(cell.index, &cell.code);
            let audit = Audit::start(&cell.code);
            self.running = Some(Running::new(&cell.id, cell.index, timeout, audit));
            return;
        };
        self.out.push_back(Outgoing::CellResult(Box::new(CellResult {
            id: cell.id,
            index: cell.index,
            status: "error".to_owned(),
            error: format!("the cell was not run: {refusal}"),
            ..CellResult::default()
        })));
    }

    pub fn on_observation(&mut self, number: i64, observation: &Observation) {
        if let Some(episode) = self.current(number) {
            episode.see(observation);
        }
    }

    /// Planner and controller events that end a cell.
    pub fn on_event(&mut self, number: i64, event: &Event) {
        let reason = match event.kind.as_str() {
            event::ENDED => {
                let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
                data["reason"].as_str().unwrap_or("ended").to_owned()
            }
            event::STOPPED => "stopped".to_owned(),
            event::SKIP => return self.stop(Why::Cancelled, "the cell was ended early"),
            _ => return,
        };
        let Some(episode) = self.current(number) else {
            return;
        };
        episode.over.get_or_insert_with(|| reason.clone());
        self.stop(Why::Cancelled, &format!("the episode is over ({reason})"));
    }

    /// Another node has died.
    ///
    /// # Errors
    /// As [`on_child`](Self::on_child).
    pub fn on_gone(&mut self, node: &str) -> Result<(), RunnerError> {
        let died = format!("node {node:?} has died");
        if node == "controller" {
            self.controller_gone = true;
            return self.give_up_call(|call| call.is_at_controller(), &died);
        }
        if self.perception.node.as_deref() == Some(node) {
            self.perception.gone = true;
            self.give_up_call(|call| call.is_at_perception(), &died)?;
        }
        for sight in self.eyes.gone(node) {
            self.saw(sight)?;
        }
        Ok(())
    }

    /// Something the child said; `generation` tells which child.
    ///
    /// # Errors
    /// When a child has died and a new one cannot be started.
    pub fn on_child(&mut self, generation: u64, event: ChildEvent) -> Result<(), RunnerError> {
        let Some(event) = self.child.hear(generation, event) else {
            return Ok(());
        };
        // A cell that asks without a pause must not put off its own deadline.
        if self.deadline().is_some_and(|at| at <= Instant::now()) {
            self.on_time()?;
        }
        match event {
            ChildEvent::Ready { layers } => {
                self.layers = Some(layers);
                self.tell_layers();
            }
            ChildEvent::Attribute { id, name } => {
                let answer = self.attribute(&name);
                self.child.reply(id, answer);
            }
            ChildEvent::Call { id, method, arguments } => self.call(id, &method, arguments),
            ChildEvent::Display { id, picture, bytes } => self.display(id, &picture, &bytes),
            ChildEvent::File { id, request, bytes } => self.file(id, &request, &bytes),
            // It ended in the moment in which it was killed.
            ChildEvent::Done { output, .. } if self.is_killed() => {
                self.exited(Exit::Killed, output)?;
            }
            ChildEvent::Done { done, output } => {
                if let Some(running) = &mut self.running {
                    running.end = Some(End::Done(done, output));
                }
                // Only open when the cell was interrupted in it.
                self.cancel_call("the cell ended");
                self.finish_if_ended()?;
            }
            ChildEvent::Exited { exit, output } => self.exited(exit, output)?,
        }
        Ok(())
    }

    /// A deadline may have passed.
    ///
    /// # Errors
    /// As [`on_child`](Self::on_child).
    pub fn on_time(&mut self) -> Result<(), RunnerError> {
        let now = Instant::now();
        if let Some(running) = &mut self.running {
            let timeout = running.timeout;
            let expired = running.expires().is_some_and(|at| at <= now);
            match &mut running.stop {
                Some(stop) if stop.kill_at <= now && !stop.killed => {
                    stop.killed = true;
                    if running.end.is_none() {
                        self.child.kill();
                    }
                }
                None if expired && running.end.is_none() => {
                    let seconds = timeout.as_secs_f64();
                    let reason = format!("the cell's deadline of {seconds} s has passed");
                    self.stop(Why::Deadline, &reason);
                }
                _ => {}
            }
        }
        let mut requests = Vec::new();
        let late = self.eyes.on_time(now, &mut requests);
        self.out.extend(requests.into_iter().map(Outgoing::FrameRequest));
        for sight in late {
            self.saw(sight)?;
        }
        let silent = self.running.as_ref().and_then(|running| running.call.as_ref());
        let Some(call) = silent.filter(|call| call.deadline.is_some_and(|at| at <= now)) else {
            return Ok(());
        };
        let node = match &self.perception.node {
            Some(node) if call.is_at_perception() => node.as_str(),
            _ => "controller",
        };
        let seconds = call.timeout.as_secs_f64();
        let text = format!("node {node:?} did not answer within {seconds} s");
        self.give_up_call(|_| true, &text)
    }

    /// Whether the running cell's process has been killed.
    fn is_killed(&self) -> bool {
        let stop = self.running.as_ref().and_then(|running| running.stop.as_ref());
        stop.is_some_and(|stop| stop.killed)
    }

    pub(crate) fn current(&mut self, number: i64) -> Option<&mut Episode> {
        self.episode.as_mut().filter(|episode| episode.number == number)
    }

    /// Asks the running cell to end: its motion at once, itself within [`GRACE`].
    fn stop(&mut self, why: Why, reason: &str) {
        let Some(running) = &mut self.running else {
            return;
        };
        if running.stop.is_some() {
            return;
        }
        let kill_at = Instant::now() + GRACE;
        running.stop = Some(Stop { why, reason: reason.to_owned(), kill_at, killed: false });
        self.child.interrupt(running.index, reason);
        self.cancel_call(reason);
    }

    fn exited(&mut self, exit: Exit, output: crate::child::Output) -> Result<(), RunnerError> {
        if !self.child.is_ready() && self.running.is_none() {
            return Err(RunnerError::NeverReady(exit));
        }
        tracing::info!(%exit, "a cell's process ended");
        self.respawn()?;
        if let Some(episode) = &self.episode {
            self.child.init(episode.api.name, self.primitives);
            self.initialised = true;
        }
        match &mut self.running {
            Some(running) if running.end.is_none() => {
                running.end = Some(End::Exited(exit, output));
                // Nobody waits for its motion any more.
                self.cancel_call("the cell's process ended");
            }
            _ => self.lost = true,
        }
        self.finish_if_ended()
    }

    /// Reports the running cell once the child is done with it, no call is open
    /// and its pictures are there.
    pub(crate) fn finish_if_ended(&mut self) -> Result<(), RunnerError> {
        self.look_after_motion();
        let ended = |running: &mut Running| {
            running.end.is_some() && running.call.is_none() && !running.shown.waits()
        };
        let Some(running) = self.running.take_if(ended) else {
            return Ok(());
        };
        if running.unlisted > 0 {
            self.out.push_back(Outgoing::Warning(format!(
                "cell {} made {} calls more than its ledger holds",
                running.index, running.unlisted
            )));
        }
        let mut result = running.into_result();
        if std::mem::take(&mut self.lost) {
            result.namespace_lost = true;
            result.stderr.push_str(
                "(the process died before this cell: names of earlier cells were gone)\n",
            );
        }
        if let Some(episode) = &self.episode {
            result.state_summary = state::summary(&episode.latest, episode.step());
        }
        self.tell(&mut result);
        self.out.push_back(Outgoing::CellResult(Box::new(result)));
        Ok(())
    }

    /// Sees to it that a cell that wants an empty namespace gets one.
    fn clear_for(&mut self, cell: &Cell) -> Result<(), RunnerError> {
        if !cell.fresh || !self.used {
            return Ok(());
        }
        self.respawn()?;
        if let Some(episode) = &self.episode {
            self.child.init(episode.api.name, self.primitives);
            self.initialised = true;
        }
        Ok(())
    }

    fn respawn(&mut self) -> Result<(), RunnerError> {
        self.child.replace()?;
        self.initialised = false;
        self.used = false;
        Ok(())
    }

    /// Says once an episode knows it and once the child has told it.
    fn tell_layers(&mut self) {
        if self.episode.is_none() {
            return;
        }
        let Some(layers) = self.layers.take() else {
            return;
        };
        // Namespaces are an addition that many containers do not allow.
        for Layer { wall, note, .. } in
            layers.iter().filter(|layer| !layer.holds && layer.wall != Wall::Namespaces)
        {
            let text = format!("cells run without {}: {note}", wall.name());
            self.out.push_back(Outgoing::Warning(text));
        }
        self.out.push_back(Outgoing::Layers(layers));
    }
}
