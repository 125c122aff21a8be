//! The controller's state machine: calls in, actions and results out. It knows
//! neither dora nor a clock; time comes in with every input.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use ruaflow_robots::{Checked, RobotApi};
use ruaflow_schemas::{
    Action, Call, CallResult, Cancel, Card, Chunk, ChunkRequest, Observation, event,
};
use serde_json::{Value, json};

use crate::episode::Episode;
use crate::lease::{CELL, Lease, PERSON};
use crate::motion::{Motion, Start, start};
use crate::servo::Command;

/// The kind of action the servos make.
const ACTION_KIND: &str = "osc_pose_delta";
/// Method by which the holder of the lease gives it to another caller.
const LEASE_METHOD: &str = "lease";

/// How long the robot may take.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// An action without an answer for this long is a failure of the robot.
    pub action: Duration,
    /// An action without an answer is sent again, with the same id, this often.
    pub again: Duration,
    /// A policy without an answer for this long has failed.
    pub chunk: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            action: Duration::from_secs(10),
            again: Duration::from_secs(2),
            chunk: Duration::from_secs(120),
        }
    }
}

/// What the node has to send.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    Action(Action),
    /// An action once more; the recorder has it already.
    Again(Action),
    /// What a policy is asked.
    ChunkRequest(Box<ChunkRequest>),
    Result(Box<CallResult>),
    Event {
        kind: &'static str,
        message: String,
        data: Value,
    },
}

/// How a call ended when it did not simply run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    ValueError,
    ToolError,
    EpisodeFinished,
    Cancelled,
}

impl Failure {
    fn word(self) -> &'static str {
        match self {
            Failure::ValueError => "value_error",
            Failure::ToolError => "tool_error",
            Failure::EpisodeFinished => "episode_finished",
            Failure::Cancelled => "cancelled",
        }
    }
}

/// The state machine.
pub struct Engine {
    /// Name of the robot's node, for messages.
    robot: String,
    /// Name of the policy's node, if there is one.
    policy: Option<String>,
    timing: Timing,
    api: Option<&'static RobotApi>,
    episode: Option<Episode>,
    lease: Lease,
    /// Node from which each caller's calls come.
    callers: BTreeMap<String, String>,
    /// Why no motion is taken any more in this episode.
    over: Option<String>,
    /// A person has stopped the robot; stays so.
    stopped: bool,
    robot_gone: bool,
    running: Option<Running>,
    answered: Option<CallResult>,
    out: VecDeque<Output>,
}

struct Running {
    call: Call,
    /// Node that sent the call.
    from: String,
    arguments: Value,
    motion: Box<dyn Motion>,
    begun: Instant,
    deadline: Option<Instant>,
    control_steps: u64,
    /// The action that waits for its observation.
    action: Action,
    /// Id of the chunk that the motion waits for; no action is on its way then.
    chunk: Option<String>,
    chunks: u32,
    /// When the action or the request for a chunk went out.
    sent: Instant,
    again: Instant,
    cancelled: Option<String>,
}

impl Engine {
    pub fn new(robot: &str, timing: Timing) -> Self {
        Engine {
            robot: robot.to_owned(),
            policy: None,
            timing,
            api: None,
            episode: None,
            lease: Lease::default(),
            callers: BTreeMap::new(),
            over: None,
            stopped: false,
            robot_gone: false,
            running: None,
            answered: None,
            out: VecDeque::new(),
        }
    }

    /// Names the node that answers [`ChunkRequest`]s.
    #[must_use]
    pub fn with_policy(mut self, node: Option<String>) -> Self {
        self.policy = node;
        self
    }

    /// The next thing to send.
    pub fn output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// When [`tick`](Self::tick) must be called.
    pub fn deadline(&self) -> Option<Instant> {
        let running = self.running.as_ref()?;
        let call = running.deadline.filter(|_| running.cancelled.is_none());
        let answer = match running.chunk {
            Some(_) => running.sent + self.timing.chunk,
            None => running.again.min(running.sent + self.timing.action),
        };
        call.into_iter().chain([answer]).min()
    }

    /// A new episode begins.
    pub fn card(&mut self, card: Card, now: Instant) {
        if self.episode.as_ref().is_some_and(|episode| episode.card.id == card.id) {
            return;
        }
        self.fail(Failure::Cancelled, "a new episode has begun", now);
        self.over = None;
        self.episode = None;
        match ruaflow_robots::find(&card.robot) {
            Ok(api) => {
                self.api = Some(api);
                self.episode = Some(Episode::new(card));
                self.set_lease(if self.stopped { PERSON } else { CELL });
            }
            Err(error) => self.say(event::ERROR, error.to_string(), json!({})),
        }
    }

    pub fn call(&mut self, call: Call, from: &str, now: Instant) {
        if self.callers.get(&call.caller).is_none_or(|known| known != from) {
            self.callers.insert(call.caller.clone(), from.to_owned());
        }
        if self.running.as_ref().is_some_and(|running| running.call.id == call.id) {
            return;
        }
        // The answer was lost on its way.
        if let Some(result) =
            self.answered.as_ref().filter(|result| result.id == call.id && !call.id.is_empty())
        {
            self.out.push_back(Output::Result(Box::new(result.clone())));
            return;
        }
        if let Err((failure, message)) = self.begin(&call, from, now) {
            self.refuse(&call, failure, message);
        }
    }

    /// Ends a motion within one control step; its call is answered with what had
    /// happened by then.
    pub fn cancel(&mut self, cancel: &Cancel) {
        if let Some(running) = &mut self.running
            && (cancel.id.is_empty() || cancel.id == running.call.id)
        {
            running.cancelled.get_or_insert_with(|| cancel.reason.clone());
        }
    }

    pub fn observation(&mut self, observation: Observation, now: Instant) {
        let action_id = observation.action_id;
        let Some(episode) = &mut self.episode else { return };
        // An answer that comes twice, or from an episode before.
        if !episode.observe(observation) {
            return;
        }
        let pose = episode.pose();
        let ended = episode.last.terminated || episode.last.truncated;
        let Some(running) = self.running.as_mut().filter(|running| running.action.id == action_id)
        else {
            return;
        };
        running.control_steps += 1;
        running.motion.observe(&pose);
        if ended {
            running.motion.episode_ended(episode.last.terminated);
            self.finish(now);
        } else if let Some(reason) = running.cancelled.take() {
            self.fail(Failure::Cancelled, &reason, now);
        } else {
            self.go_on(now);
        }
    }

    /// A policy's answer.
    pub fn chunk(&mut self, chunk: &Chunk, now: Instant) {
        let wanted = |running: &&mut Running| running.chunk.as_ref() == Some(&chunk.id);
        let Some(running) = self.running.as_mut().filter(wanted) else { return };
        running.chunk = None;
        if let Some(reason) = running.cancelled.take() {
            self.fail(Failure::Cancelled, &reason, now);
            return;
        }
        match commands(chunk) {
            Ok(commands) => {
                running.motion.take_chunk(commands);
                self.go_on(now);
            }
            Err(message) => self.fail(Failure::ToolError, &message, now),
        }
    }

    /// The robot would not carry out an action.
    pub fn refused(&mut self, action_id: u64, reason: &str, now: Instant) {
        let Some(running) = self.running.as_mut().filter(|running| running.action.id == action_id)
        else {
            return;
        };
        match running.cancelled.take() {
            Some(reason) => self.fail(Failure::Cancelled, &reason, now),
            None => {
                let message = format!("node {:?} refused the action: {reason}", self.robot);
                self.fail(Failure::ToolError, &message, now);
            }
        }
    }

    /// The planner has ended the episode.
    pub fn end(&mut self, reason: &str) {
        let reason = if reason.is_empty() {
            "the episode is over".to_owned()
        } else {
            format!("the episode is over: {reason}")
        };
        self.cancel(&Cancel { id: String::new(), reason: reason.clone() });
        self.over.get_or_insert(reason);
    }

    /// A person's emergency stop.
    pub fn stop_now(&mut self) {
        let reason = "a person has stopped the robot";
        self.cancel(&Cancel { id: String::new(), reason: reason.to_owned() });
        if !std::mem::replace(&mut self.stopped, true) {
            self.say(event::STOPPED, reason.to_owned(), json!({}));
            self.set_lease(PERSON);
        }
    }

    /// A person asks for a clean end of the run; the planner sees to it.
    pub fn stop(&mut self) {
        self.say(event::STOP, "a person asks for the end of the run".to_owned(), json!({}));
    }

    pub fn robot_gone(&mut self, now: Instant) {
        self.robot_gone = true;
        let message = self.robot_is_gone();
        self.fail(Failure::ToolError, &message, now);
    }

    pub fn policy_gone(&mut self, now: Instant) {
        let Some(node) = self.policy.take() else { return };
        if self.running.as_ref().is_some_and(|running| running.chunk.is_some()) {
            self.fail(Failure::ToolError, &format!("node {node:?} is gone"), now);
        }
    }

    /// A node that sends calls has gone: nobody waits for its motion.
    pub fn caller_gone(&mut self, node: &str) {
        if self.running.as_ref().is_some_and(|running| running.from == node) {
            self.cancel(&Cancel {
                id: String::new(),
                reason: format!("node {node:?}, which called, is gone"),
            });
        }
        if self.callers.get(self.lease.holder()).is_some_and(|known| known == node) {
            self.set_lease("");
        }
    }

    /// Sees to deadlines that have passed.
    pub fn tick(&mut self, now: Instant) {
        let Some(running) = &mut self.running else { return };
        if running.chunk.is_some() {
            self.tick_chunk(now);
            return;
        }
        if now >= running.sent + self.timing.action {
            let message = format!(
                "node {:?} has not answered action {} within {:?}",
                self.robot, running.action.id, self.timing.action
            );
            self.fail(Failure::ToolError, &message, now);
            return;
        }
        if now >= running.again {
            running.again = now + self.timing.again;
            self.out.push_back(Output::Again(running.action.clone()));
        }
        running.note_deadline(now);
    }

    /// Nothing moves while a policy thinks, so a cancel need not wait for it.
    fn tick_chunk(&mut self, now: Instant) {
        let Some(running) = &mut self.running else { return };
        running.note_deadline(now);
        if let Some(reason) = running.cancelled.take() {
            self.fail(Failure::Cancelled, &reason, now);
        } else if now >= running.sent + self.timing.chunk {
            let node = self.policy.as_deref().unwrap_or_default();
            let message =
                format!("node {node:?} has not sent actions within {:?}", self.timing.chunk);
            self.fail(Failure::ToolError, &message, now);
        }
    }

    /// Starts what a call asks for, or says why not.
    fn begin(&mut self, call: &Call, from: &str, now: Instant) -> Result<(), (Failure, String)> {
        let value_error = |message: String| (Failure::ValueError, message);
        let tool_error = |message: String| (Failure::ToolError, message);
        let arguments: Value = match call.arguments.as_str() {
            "" => json!({}),
            text => serde_json::from_str(text).map_err(|error| {
                value_error(format!("{}(): arguments are not JSON: {error}", call.method))
            })?,
        };
        if call.method == LEASE_METHOD {
            return self.hand_over(call, &arguments);
        }
        let (Some(api), Some(episode)) = (self.api, &self.episode) else {
            return Err(tool_error("no episode has begun".to_owned()));
        };
        let stateful = api.method(&call.method).is_some_and(|method| method.stateful());
        if stateful {
            self.guard(call, episode)?;
        }
        let checked = api
            .check_json(&call.method, &arguments)
            .map_err(|error| value_error(error.to_string()))?;
        if !stateful {
            let step = checked.args.get("step").and_then(Value::as_i64).unwrap_or(-1);
            let outcome = match checked.method.name {
                "state" => episode.state(step).map_err(|error| value_error(error.to_string()))?,
                other => {
                    return Err(tool_error(format!("the controller does not answer {other:?}")));
                }
            };
            self.answer(call, checked.args.into(), outcome);
            return Ok(());
        }
        let motion = self.motion(&checked, api, episode)?;
        self.run(call, from, checked, motion, now);
        Ok(())
    }

    /// What must hold before anything moves.
    fn guard(&self, call: &Call, episode: &Episode) -> Result<(), (Failure, String)> {
        if self.robot_gone {
            return Err((Failure::ToolError, self.robot_is_gone()));
        }
        let finished = |message: &str| Err((Failure::EpisodeFinished, message.to_owned()));
        if self.stopped {
            return finished("a person has stopped the robot");
        }
        if let Some(reason) = &self.over {
            return finished(reason);
        }
        if episode.last.terminated {
            return finished("terminated: the task is solved");
        }
        if episode.last.truncated {
            return finished("truncated: the control steps of the episode are used up");
        }
        self.lease.check(&call.caller).map_err(|error| (Failure::ToolError, error.to_string()))?;
        match &self.running {
            Some(running) => {
                let message =
                    format!("{:?} is still running {}()", running.call.caller, running.call.method);
                Err((Failure::ToolError, message))
            }
            None => Ok(()),
        }
    }

    fn motion(
        &self,
        checked: &Checked,
        api: &RobotApi,
        episode: &Episode,
    ) -> Result<Box<dyn Motion>, (Failure, String)> {
        let arm = episode
            .arm()
            .filter(|arm| arm.action_kinds.iter().any(|kind| kind == ACTION_KIND))
            .ok_or_else(|| {
                (
                    Failure::ToolError,
                    format!("the robot has no arm that takes {ACTION_KIND:?} actions"),
                )
            })?;
        let from = Start {
            pose: episode.pose(),
            held_gripper: episode.held_gripper,
            position_scale: arm.position_scale,
        };
        let motion =
            start(checked, &from).map_err(|error| (Failure::ToolError, error.to_string()))?;
        if let Some(target) = motion.target() {
            api.check_target(checked.method.name, from.pose.position, target, arm.workspace)
                .map_err(|error| (Failure::ValueError, error.to_string()))?;
        }
        Ok(motion)
    }

    fn run(
        &mut self,
        call: &Call,
        from: &str,
        checked: Checked,
        motion: Box<dyn Motion>,
        now: Instant,
    ) {
        self.running = Some(Running {
            call: call.clone(),
            from: from.to_owned(),
            arguments: checked.args.into(),
            motion,
            begun: now,
            deadline: (call.timeout_ms > 0).then(|| now + Duration::from_millis(call.timeout_ms)),
            control_steps: 0,
            action: Action::default(),
            chunk: None,
            chunks: 0,
            sent: now,
            again: now + self.timing.again,
            cancelled: None,
        });
        self.go_on(now);
    }

    /// Does what the motion wants next.
    fn go_on(&mut self, now: Instant) {
        let (Some(running), Some(episode)) = (&mut self.running, &self.episode) else { return };
        if let Some(prompt) = running.motion.wants_chunk() {
            if self.policy.is_none() {
                let message = format!(
                    "{}() needs a VLA policy, and this dataflow has no node for one",
                    running.call.method
                );
                self.fail(Failure::ToolError, &message, now);
                return;
            }
            running.chunks += 1;
            let id = format!("{}-{}", running.call.id, running.chunks);
            let request = ChunkRequest {
                id: id.clone(),
                prompt: prompt.to_owned(),
                observation: episode.last.clone(),
            };
            running.chunk = Some(id);
            running.sent = now;
            self.out.push_back(Output::ChunkRequest(Box::new(request)));
            return;
        }
        match running.motion.next(&episode.pose()) {
            Some(command) => self.act(command, now),
            None => self.finish(now),
        }
    }

    /// Sends the action of one control step.
    fn act(&mut self, command: Command, now: Instant) {
        let (Some(running), Some(episode)) = (&mut self.running, &mut self.episode) else { return };
        if let Err(violation) = action_limits::range("values", &command.values, -1.0, 1.0) {
            self.fail(Failure::ToolError, &format!("the motion can't go on: {violation}"), now);
            return;
        }
        if command.gripper != 0.0 {
            episode.held_gripper = command.gripper;
        }
        let arm = episode.arm().map(|arm| arm.name.clone()).unwrap_or_default();
        running.action = Action {
            id: episode.take_action_id(),
            arm,
            kind: ACTION_KIND.to_owned(),
            values: command.values.to_vec(),
            gripper: command.gripper,
        };
        running.sent = now;
        running.again = now + self.timing.again;
        self.out.push_back(Output::Action(running.action.clone()));
    }

    /// The motion has come to its end: a result, whatever it measured.
    fn finish(&mut self, now: Instant) {
        self.conclude(None, "", now);
    }

    /// The motion, if one runs, ends before its time.
    fn fail(&mut self, failure: Failure, message: &str, now: Instant) {
        self.conclude(Some(failure), message, now);
    }

    fn conclude(&mut self, failure: Option<Failure>, message: &str, now: Instant) {
        let (Some(running), Some(episode)) = (self.running.take(), &mut self.episode) else {
            return;
        };
        // A call that failed before the robot did anything has changed nothing.
        let moved = failure.is_none_or(|f| f == Failure::Cancelled) || running.control_steps > 0;
        if moved {
            episode.record_step();
        }
        let mut outcome = running.motion.outcome(&episode.pose());
        outcome.insert("terminated".to_owned(), episode.last.terminated.into());
        outcome.insert("truncated".to_owned(), episode.last.truncated.into());
        self.send_result(CallResult {
            outcome: Value::from(outcome).to_string(),
            error: failure.map_or("", Failure::word).to_owned(),
            message: message.to_owned(),
            control_steps: running.control_steps,
            elapsed_ns: now.saturating_duration_since(running.begun).as_nanos() as u64,
            ..self.result_of(&running.call, &running.arguments)
        });
    }

    fn refuse(&mut self, call: &Call, failure: Failure, message: String) {
        let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
        self.send_result(CallResult {
            outcome: "{}".to_owned(),
            error: failure.word().to_owned(),
            message,
            ..self.result_of(call, &arguments)
        });
    }

    /// Answers a call that moved nothing.
    fn answer(&mut self, call: &Call, arguments: Value, outcome: Value) {
        self.send_result(CallResult {
            outcome: outcome.to_string(),
            ..self.result_of(call, &arguments)
        });
    }

    fn result_of(&self, call: &Call, arguments: &Value) -> CallResult {
        CallResult {
            id: call.id.clone(),
            caller: call.caller.clone(),
            method: call.method.clone(),
            arguments: arguments.to_string(),
            step: self.episode.as_ref().map_or(0, Episode::step),
            observation: self
                .episode
                .as_ref()
                .map(|episode| episode.last.clone())
                .unwrap_or_default(),
            ..CallResult::default()
        }
    }

    fn send_result(&mut self, result: CallResult) {
        self.answered = Some(result.clone());
        self.out.push_back(Output::Result(Box::new(result)));
    }

    fn hand_over(&mut self, call: &Call, arguments: &Value) -> Result<(), (Failure, String)> {
        let Some(holder) = arguments.get("holder").and_then(Value::as_str) else {
            return Err((
                Failure::ValueError,
                "lease() needs the name of the next holder: {\"holder\": \"…\"}".to_owned(),
            ));
        };
        if self.running.is_some() {
            return Err((
                Failure::ToolError,
                "the lease can't change hands while the robot moves".to_owned(),
            ));
        }
        let changed = self
            .lease
            .hand_over(&call.caller, holder)
            .map_err(|error| (Failure::ToolError, error.to_string()))?;
        if changed {
            self.say_lease();
        }
        self.answer(call, arguments.clone(), json!({ "holder": holder }));
        Ok(())
    }

    fn set_lease(&mut self, holder: &str) {
        if self.lease.set(holder) {
            self.say_lease();
        }
    }

    fn say_lease(&mut self) {
        let holder = self.lease.holder().to_owned();
        let message = if holder.is_empty() {
            "nobody holds the lease".to_owned()
        } else {
            format!("{holder:?} holds the lease")
        };
        self.say(event::LEASE, message, json!({ "holder": holder }));
    }

    fn say(&mut self, kind: &'static str, message: String, data: Value) {
        self.out.push_back(Output::Event { kind, message, data });
    }

    fn robot_is_gone(&self) -> String {
        format!("node {:?} is gone", self.robot)
    }
}

impl Running {
    /// Past its deadline a call counts as cancelled.
    fn note_deadline(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            let allowed = Duration::from_millis(self.call.timeout_ms);
            self.cancelled
                .get_or_insert_with(|| format!("the caller's deadline of {allowed:?} has passed"));
        }
    }
}

/// A policy's actions as commands; what goes beyond an action's range is cut to it,
/// as the benchmark's own controller does.
fn commands(chunk: &Chunk) -> Result<Vec<Command>, String> {
    if !chunk.error.is_empty() {
        return Err(chunk.error.clone());
    }
    if chunk.kind != ACTION_KIND {
        return Err(format!("the policy makes actions of kind {:?}", chunk.kind));
    }
    let (rows, rest) = chunk.values.as_chunks::<7>();
    if rows.is_empty() || !rest.is_empty() || rows.len() != chunk.length as usize {
        let (count, length) = (chunk.values.len(), chunk.length);
        return Err(format!("the policy sent {count} numbers for {length} actions of 7"));
    }
    action_limits::finite("values", &chunk.values)
        .map_err(|violation| format!("the policy's actions can't be used: {violation}"))?;
    Ok(rows
        .iter()
        .map(|row| {
            let [dx, dy, dz, rx, ry, rz, gripper] = row.map(|value| value.clamp(-1.0, 1.0));
            Command { values: [dx, dy, dz, rx, ry, rz], gripper }
        })
        .collect())
}

#[cfg(test)]
mod tests;
