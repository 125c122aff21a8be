//! What the node does, apart from dora: cells in, calls out, results back.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use ruaflow_robots::{RobotApi, UnknownRobot};
use ruaflow_schemas::{
    Call, CallResult, Cancel, Card, Cell, CellResult, Event, LedgerEntry, Observation, event,
};
use serde_json::{Map, Value};

use crate::child::{Child, ChildEvent, Exit, SpawnError};
use crate::protocol::{Answer, Refusal};
use crate::running::{End, GRACE, PendingCall, Running, Stop, Why, nanoseconds};
use crate::state;

/// Who holds the lease that this node calls with.
const CALLER: &str = "cell";

/// How long the controller may take beyond a call's own limit before it counts
/// as silent.
const CALL_MARGIN: Duration = Duration::from_secs(2);

/// What the node sends.
#[derive(Debug, Clone)]
pub enum Outgoing {
    Call(Call),
    Cancel(Cancel),
    CellResult(CellResult),
    Warning(String),
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

/// Starts a child whose events carry the given generation.
pub type Spawn = Box<dyn FnMut(u64) -> Result<Child, SpawnError>>;

/// Runs the cells of one episode after the other.
pub struct Runner {
    spawn: Spawn,
    child: Child,
    /// Counts children; events of an earlier one are stale.
    generation: u64,
    /// The child has got its robot, so it belongs to the present episode.
    initialised: bool,
    ready: bool,
    /// Its namespace went between two cells.
    lost: bool,
    call_timeout: Duration,
    episode: Option<Episode>,
    running: Option<Running>,
    /// A cell that overtook the card of its episode.
    early: Option<(i64, Cell)>,
    /// Calls sent by this process, for ids.
    calls: u64,
    controller_gone: bool,
    out: VecDeque<Outgoing>,
}

struct Episode {
    number: i64,
    card: Card,
    api: &'static RobotApi,
    latest: Observation,
    /// Observation at the end of each recorded step.
    steps: BTreeMap<u64, Observation>,
    /// Why nothing may move any more, from the planner or an emergency stop.
    over: Option<String>,
}

impl Runner {
    /// Starts the first child, so that the first cell need not wait for it.
    ///
    /// # Errors
    /// [`RunnerError::Spawn`].
    pub fn new(mut spawn: Spawn, call_timeout: Duration) -> Result<Self, RunnerError> {
        let child = spawn(0)?;
        Ok(Self {
            spawn,
            child,
            generation: 0,
            initialised: false,
            ready: false,
            lost: false,
            call_timeout,
            episode: None,
            running: None,
            early: None,
            calls: 0,
            controller_gone: false,
            out: VecDeque::new(),
        })
    }

    /// What is to be sent, oldest first.
    pub fn outgoing(&mut self) -> Option<Outgoing> {
        self.out.pop_front()
    }

    /// When [`on_time`](Self::on_time) wants to be called.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.running.as_ref().and_then(Running::deadline)
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
            self.out.push_back(Outgoing::CellResult(result));
        }
        if self.initialised {
            self.respawn()?;
        }
        self.lost = false;
        self.child.init(api.name);
        self.initialised = true;
        self.episode = Some(Episode {
            number,
            latest: card.first.clone(),
            steps: BTreeMap::from([(0, card.first.clone())]),
            card,
            api,
            over: None,
        });
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
            "its episode is over"
        } else if self.running.is_some() {
            "another cell still runs"
        } else {
            let timeout = Duration::from_millis(cell.timeout_ms);
            self.running = Some(Running::new(&cell.id, cell.index, timeout));
            self.child.run(cell.index, &cell.code);
            return;
        };
        self.out.push_back(Outgoing::CellResult(CellResult {
            id: cell.id,
            index: cell.index,
            status: "error".to_owned(),
            error: format!("the cell was not run: {refusal}"),
            ..CellResult::default()
        }));
    }

    /// The controller's answer to any call; those of other callers only move the robot on.
    ///
    /// # Errors
    /// As [`on_child`](Self::on_child).
    pub fn on_result(&mut self, number: i64, result: CallResult) -> Result<(), RunnerError> {
        if let Some(episode) = self.current(number) {
            episode.see(&result.observation);
            if result.error.is_empty() || result.error == "cancelled" {
                episode.steps.insert(result.step, result.observation.clone());
            }
        }
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        let Some(call) = running.call.take_if(|call| call.id == result.id) else {
            return Ok(());
        };
        let answer = self.episode.as_ref().map_or_else(
            || Answer::refused(Refusal::Tool, "there is no episode"),
            |episode| answer(episode.api, &result),
        );
        running.log(LedgerEntry {
            ok: result.error.is_empty(),
            outcome: if result.error.is_empty() { result.outcome } else { result.message },
            step: result.step,
            control_steps: result.control_steps,
            ..entry(running.started, &call)
        });
        self.child.reply(call.child_id, answer);
        self.finish_if_ended()
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
        if node != "controller" {
            return Ok(());
        }
        self.controller_gone = true;
        self.give_up_call("node \"controller\" has died")
    }

    /// Something the child said; `generation` tells which child.
    ///
    /// # Errors
    /// When a child has died and a new one cannot be started.
    pub fn on_child(&mut self, generation: u64, event: ChildEvent) -> Result<(), RunnerError> {
        if generation != self.generation {
            return Ok(());
        }
        match event {
            ChildEvent::Ready => self.ready = true,
            ChildEvent::Attribute { id, name } => {
                let answer = self.attribute(&name);
                self.child.reply(id, answer);
            }
            ChildEvent::Call { id, method, arguments } => self.call(id, &method, arguments),
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
        let Some(running) = &mut self.running else {
            return Ok(());
        };
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
                self.stop(Why::Deadline, &format!("the cell's deadline of {seconds} s has passed"));
            }
            _ => {}
        }
        let silent = self
            .running
            .as_ref()
            .and_then(|running| running.call.as_ref())
            .filter(|call| call.deadline <= now)
            .map(|call| call.timeout.as_secs_f64());
        match silent {
            Some(seconds) => {
                self.give_up_call(&format!("node \"controller\" did not answer within {seconds} s"))
            }
            None => Ok(()),
        }
    }

    fn current(&mut self, number: i64) -> Option<&mut Episode> {
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

    /// Ends the motion of the pending call; it is still answered, with how far it came.
    fn cancel_call(&mut self, reason: &str) {
        let call = self.running.as_mut().and_then(|running| running.call.as_mut());
        if let Some(call) = call.filter(|call| !call.cancelled) {
            call.cancelled = true;
            call.deadline = call.deadline.min(Instant::now() + CALL_MARGIN);
            self.out.push_back(Outgoing::Cancel(Cancel {
                id: call.id.clone(),
                reason: reason.to_owned(),
            }));
        }
    }

    /// Answers the pending call in the controller's place.
    fn give_up_call(&mut self, message: &str) -> Result<(), RunnerError> {
        let step = self.episode.as_ref().map_or(0, Episode::step);
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        let Some(call) = running.call.take() else {
            return Ok(());
        };
        self.out.push_back(Outgoing::Cancel(Cancel {
            id: call.id.clone(),
            reason: message.to_owned(),
        }));
        running.log(LedgerEntry {
            outcome: message.to_owned(),
            step,
            ..entry(running.started, &call)
        });
        self.child.reply(call.child_id, Answer::refused(Refusal::Tool, message));
        self.finish_if_ended()
    }

    fn attribute(&self, name: &str) -> Answer {
        let Some(episode) = &self.episode else {
            return Answer::refused(Refusal::Tool, "there is no episode");
        };
        match name {
            "task" => Answer::Value(Value::from(episode.card.instruction.as_str())),
            "done" => Answer::Value(Value::from(episode.end_reason().is_some())),
            _ => Answer::refused(Refusal::Tool, "there is no such attribute"),
        }
    }

    fn call(&mut self, child_id: u64, method: &str, arguments: Map<String, Value>) {
        let (Some(running), Some(episode)) = (&mut self.running, &self.episode) else {
            return;
        };
        let stateful = episode.api.method(method).is_none_or(|method| method.stateful);
        let started = Instant::now();
        let pending = PendingCall {
            id: format!("cell-{}-{}", running.index, self.calls),
            child_id,
            method: method.to_owned(),
            arguments: Value::Object(arguments).to_string(),
            stateful,
            started,
            deadline: started,
            timeout: Duration::ZERO,
            cancelled: false,
        };
        let answer = if running.call.is_some() {
            Answer::refused(Refusal::Tool, "one call at a time")
        } else if state::answers(episode.api, method) {
            episode.state(&pending.arguments)
        } else if let Some(reason) = episode.end_reason().filter(|_| stateful) {
            Answer::refused(Refusal::EpisodeFinished, reason)
        } else if self.controller_gone {
            Answer::refused(Refusal::Tool, "node \"controller\" has died")
        } else {
            self.calls += 1;
            let left = running.expires().map_or(self.call_timeout, |at| {
                at.saturating_duration_since(started).min(self.call_timeout)
            });
            self.out.push_back(Outgoing::Call(Call {
                id: pending.id.clone(),
                caller: CALLER.to_owned(),
                method: pending.method.clone(),
                arguments: pending.arguments.clone(),
                // 0 would mean no limit.
                timeout_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1),
            }));
            running.call = Some(PendingCall {
                deadline: started + left + CALL_MARGIN,
                timeout: left,
                ..pending
            });
            return;
        };
        running.log(LedgerEntry {
            ok: matches!(answer, Answer::Value(_)),
            outcome: match &answer {
                Answer::Value(value) => value.to_string(),
                Answer::Refused { message, .. } => message.clone(),
            },
            step: episode.step(),
            ..entry(running.started, &pending)
        });
        self.child.reply(child_id, answer);
    }

    fn exited(&mut self, exit: Exit, output: crate::child::Output) -> Result<(), RunnerError> {
        if !self.ready && self.running.is_none() {
            return Err(RunnerError::NeverReady(exit));
        }
        tracing::info!(%exit, "a cell's process ended");
        self.respawn()?;
        if let Some(episode) = &self.episode {
            self.child.init(episode.api.name);
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

    /// Reports the running cell once the child is done with it and no call is open.
    fn finish_if_ended(&mut self) -> Result<(), RunnerError> {
        let ended = |running: &mut Running| running.end.is_some() && running.call.is_none();
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
        self.out.push_back(Outgoing::CellResult(result));
        Ok(())
    }

    fn respawn(&mut self) -> Result<(), RunnerError> {
        self.generation += 1;
        self.child = (self.spawn)(self.generation)?;
        self.initialised = false;
        self.ready = false;
        Ok(())
    }
}

impl Episode {
    fn see(&mut self, observation: &Observation) {
        if observation.control_step >= self.latest.control_step {
            self.latest = observation.clone();
        }
    }

    /// The latest recorded step.
    fn step(&self) -> u64 {
        self.steps.keys().next_back().copied().unwrap_or(0)
    }

    /// Why nothing may move, if so: what the planner said, else what the robot measured.
    fn end_reason(&self) -> Option<&str> {
        self.over
            .as_deref()
            .or(self.latest.terminated.then_some("terminated"))
            .or(self.latest.truncated.then_some("truncated"))
    }

    fn state(&self, arguments: &str) -> Answer {
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        let asked = arguments["step"].as_i64().unwrap_or(-1);
        let last = self.step();
        let (observation, step) = match u64::try_from(asked) {
            Ok(step) => (self.steps.get(&step), step),
            Err(_) if asked == -1 => (Some(&self.latest), last),
            Err(_) => (None, last),
        };
        let Some(observation) = observation else {
            return Answer::refused(
                Refusal::Value,
                format!(
                    "state(): there is no step {asked}; steps are 0 to {last}, -1 is the latest"
                ),
            );
        };
        complete(self.api, "state", &state::measured(&self.card, observation, step))
    }
}

/// A controller's result as the cell sees it.
fn answer(api: &RobotApi, result: &CallResult) -> Answer {
    let kind = match result.error.as_str() {
        "" => {
            return match serde_json::from_str(&result.outcome) {
                Ok(outcome) => complete(api, &result.method, &outcome),
                Err(error) => Answer::refused(
                    Refusal::Tool,
                    format!("node \"controller\" answered with no JSON: {error}"),
                ),
            };
        }
        "value_error" => Refusal::Value,
        "episode_finished" => Refusal::EpisodeFinished,
        "cancelled" => return Answer::refused(Refusal::EpisodeFinished, "cancelled"),
        _ => Refusal::Tool,
    };
    Answer::Refused {
        kind,
        message: result.message.clone(),
        payload: serde_json::from_str(&result.outcome).unwrap_or_default(),
    }
}

fn complete(api: &RobotApi, method: &str, measured: &Value) -> Answer {
    let Some(method) = api.method(method) else {
        return Answer::refused(Refusal::Tool, format!("{} has no such method", api.name));
    };
    match method.result.complete(measured) {
        Ok(fields) => Answer::Value(Value::Object(fields)),
        Err(error) => Answer::refused(
            Refusal::Tool,
            format!("node \"controller\" answered with something else: {error}"),
        ),
    }
}

/// A ledger entry with what is known of a call before its answer; a refusal until told otherwise.
fn entry(cell_started: Instant, call: &PendingCall) -> LedgerEntry {
    LedgerEntry {
        method: call.method.clone(),
        arguments: call.arguments.clone(),
        ok: false,
        stateful: call.stateful,
        start_ns: nanoseconds(call.started.saturating_duration_since(cell_started)),
        elapsed_ns: nanoseconds(call.started.elapsed()),
        ..LedgerEntry::default()
    }
}
