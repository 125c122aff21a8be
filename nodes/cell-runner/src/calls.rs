//! The calls a cell makes on its robot: each is answered at once, or waits for
//! the controller, a picture or the perception node.

use std::rc::Rc;
use std::time::{Duration, Instant};

use ruaflow_robots::{Method, RobotApi};
use ruaflow_schemas::{
    Call, CallResult, CameraFrame, Cancel, FrameRequest, LedgerEntry, Segment, SegmentRequest,
};
use serde_json::{Map, Value};

use crate::episode::Episode;
use crate::eyes::{Seen, Sight, View};
use crate::looking::{Look, Reply};
use crate::protocol::{Answer, Refusal};
use crate::runner::{Outgoing, Perception, Runner, RunnerError};
use crate::running::{PendingCall, Wait, nanoseconds};
use crate::shown::Crop;
use crate::state;

/// Who holds the lease that this node calls with.
const CALLER: &str = "cell";

/// How long the controller may take beyond a call's own limit before it counts
/// as silent.
const CALL_MARGIN: Duration = Duration::from_secs(2);

/// Things that one `segment` call may find.
const MAX_SEGMENTS: u64 = 20;

/// What has to be sent before a call can be answered.
enum Begun {
    Answered(Reply),
    Waits(Wait),
}

impl Runner {
    /// Reads an attribute of the robot.
    pub(crate) fn attribute(&self, name: &str) -> Answer {
        let Some(episode) = &self.episode else {
            return Answer::refused(Refusal::Tool, "there is no episode");
        };
        match name {
            "task" => Answer::Value(Value::from(episode.card.instruction.as_str())),
            "done" => Answer::Value(Value::from(episode.end_reason().is_some())),
            _ => Answer::refused(Refusal::Tool, "there is no such attribute"),
        }
    }

    /// Begins a call of the running cell.
    pub(crate) fn call(&mut self, child_id: u64, method: &str, arguments: Map<String, Value>) {
        let (Some(running), Some(episode)) = (&self.running, &self.episode) else {
            return;
        };
        let known = episode.api.method(method);
        let started = Instant::now();
        let left = running.expires().map_or(self.call_timeout, |at| {
            at.saturating_duration_since(started).min(self.call_timeout)
        });
        let call = PendingCall {
            id: format!("cell-{}-{}", running.index, self.calls),
            child_id,
            method: method.to_owned(),
            arguments: Value::Object(arguments).to_string(),
            stateful: known.is_none_or(Method::stateful),
            started,
            deadline: None,
            timeout: left,
            cancelled: false,
            wait: Wait::Controller,
        };
        let begun = if running.call.is_some() {
            refused(Refusal::Tool, "one call at a time")
        } else if known.is_none() {
            // Our child asks for no other; one that has been taken over may.
            refused(Refusal::Tool, "there is no such method")
        } else if let Some(hidden) = known.filter(|method| !method.is_in(self.primitives)) {
            refused(Refusal::Hidden, hidden.hidden())
        } else if let Some(reading) = known.filter(|method| !method.stateful()) {
            self.read(reading, &call)
        } else if let Some(reason) = episode.end_reason() {
            refused(Refusal::EpisodeFinished, reason)
        } else if let Some(stop) = &running.stop {
            // What it does after its deadline is for tidying up, not for moving.
            refused(Refusal::Tool, &stop.reason)
        } else if self.controller_gone {
            refused(Refusal::Tool, "node \"controller\" has died")
        } else {
            self.calls += 1;
            self.out.push_back(Outgoing::Call(Call {
                id: call.id.clone(),
                caller: CALLER.to_owned(),
                method: call.method.clone(),
                arguments: call.arguments.clone(),
                // 0 would mean no limit.
                timeout_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX).max(1),
            }));
            Begun::Waits(Wait::Controller)
        };
        self.proceed(call, begun);
    }

    /// The controller's answer to any call; those of other callers only move the robot on.
    ///
    /// # Errors
    /// As [`on_child`](Self::on_child).
    pub fn on_result(&mut self, number: i64, result: CallResult) -> Result<(), RunnerError> {
        if let Some(episode) = self.current(number) {
            episode.see(&result.observation);
            if result.error.is_empty() || result.error == "cancelled" {
                episode.record(result.step, result.observation.clone());
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

    /// Whether a frame was asked for here.
    #[must_use]
    pub fn wants_frame(&self, id: &str) -> bool {
        self.eyes.wants(id)
    }

    /// A picture from the robot, or why there is none.
    ///
    /// # Errors
    /// As [`on_child`](Self::on_child).
    pub fn on_frame(&mut self, frame: CameraFrame) -> Result<(), RunnerError> {
        match self.eyes.take(frame) {
            Some(sight) => self.saw(sight),
            None => Ok(()),
        }
    }

    /// The perception node's answer.
    ///
    /// # Errors
    /// As [`on_child`](Self::on_child).
    pub fn on_segment(&mut self, segment: Segment) -> Result<(), RunnerError> {
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        let asked = |call: &mut PendingCall| call.is_at_perception() && call.id == segment.id;
        let Some(call) = running.call.take_if(asked) else {
            return Ok(());
        };
        if let Wait::Perception { look, seen } = &call.wait {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            let min_score = arguments["min_score"].as_f64().unwrap_or_default();
            let reply = self.segments.answer(look, seen, segment, min_score);
            self.reply(&call, reply);
        }
        self.finish_if_ended()
    }

    /// Shows the agent what cameras see now, beside what its cell asked to show.
    pub fn queue_views(&mut self, cameras: &[String]) {
        let Some(episode) = &self.episode else { return };
        let (width, height) = episode.api.resolutions.high;
        let control_step = episode.latest.control_step;
        for camera in cameras {
            let view = View { camera: camera.clone(), control_step, width, height };
            // What can't be shown is told with the other pictures.
            if let Err(why) = self.show(camera, &view, None)
                && let Some(running) = &mut self.running
            {
                running.shown.fail(camera, &why);
            }
        }
    }

    /// Answers every call and picture that waits for a view.
    pub(crate) fn saw(&mut self, (view, sight): Sight) -> Result<(), RunnerError> {
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        running.shown.saw(&view, &sight);
        let waits =
            |call: &mut PendingCall| matches!(&call.wait, Wait::Picture(look) if look.view == view);
        if let Some(call) = running.call.take_if(waits) {
            self.go_on(call, sight);
        }
        self.finish_if_ended()
    }

    /// A look has its picture, or will not get one.
    fn go_on(&mut self, mut call: PendingCall, sight: Result<Rc<Seen>, String>) {
        let Wait::Picture(look) = std::mem::replace(&mut call.wait, Wait::Controller) else {
            return;
        };
        match sight {
            Err(why) => self.reply(&call, Reply::refused(Refusal::Tool, why)),
            Ok(seen) if look.is_segment() => {
                let begun = self.segment(&call, look, seen);
                self.proceed(call, begun);
            }
            Ok(seen) => {
                let reply = look.answer(&seen);
                self.reply(&call, reply);
            }
        }
    }

    /// Answers a call, or keeps it until it can be answered.
    fn proceed(&mut self, mut call: PendingCall, begun: Begun) {
        match begun {
            Begun::Answered(reply) => self.reply(&call, reply),
            Begun::Waits(wait) => {
                call.wait = wait;
                call.deadline =
                    (!call.is_at_eyes()).then(|| call.started + call.timeout + CALL_MARGIN);
                if let Some(running) = &mut self.running {
                    running.call = Some(call);
                }
            }
        }
    }

    /// Begins a call that reads: from memory, from a picture, or from a file.
    fn read(&mut self, method: &'static Method, call: &PendingCall) -> Begun {
        let Some(episode) = &self.episode else {
            return refused(Refusal::Tool, "there is no episode");
        };
        let arguments: Map<String, Value> =
            serde_json::from_str(&call.arguments).unwrap_or_default();
        let step = arguments.get("step").and_then(Value::as_i64).unwrap_or(-1);
        let (step, observation) = match episode.at(method.name, step) {
            Ok(found) => found,
            Err(error) => return refused(Refusal::Value, error.to_string()),
        };
        if method.name == "state" {
            let measured = state::measured(&episode.card, observation, step);
            return Begun::Answered(Reply::Answer(complete(episode.api, "state", &measured)));
        }
        let control_step = observation.control_step;
        if method.name == "show" {
            return self.show_call(&arguments, control_step);
        }
        if method.name == "artifact"
            && let Some(name) = arguments.get("name").and_then(Value::as_str)
            && let Some(file) = self.segments.file(step, name)
        {
            return Begun::Answered(file);
        }
        // Before anybody makes a picture for it.
        if method.name == "segment"
            && let Err(why) = self.perception.ask()
        {
            return refused(Refusal::Tool, why);
        }
        let look = match Look::new(episode.api, method, &arguments, (step, control_step)) {
            Ok(look) => look,
            Err(reply) => return Begun::Answered(reply),
        };
        match self.see(&look.view) {
            Err(why) => refused(Refusal::Tool, why),
            Ok(None) => Begun::Waits(Wait::Picture(look)),
            Ok(Some(seen)) if look.is_segment() => self.segment(call, look, seen),
            Ok(Some(seen)) => Begun::Answered(look.answer(&seen)),
        }
    }

    /// `show`: the picture is made while the cell goes on.
    fn show_call(&mut self, arguments: &Map<String, Value>, control_step: u64) -> Begun {
        let Some(episode) = &self.episode else {
            return refused(Refusal::Tool, "there is no episode");
        };
        let null = Value::Null;
        let get = |name: &str| arguments.get(name).unwrap_or(&null);
        let (Some(camera), Some((width, height))) =
            (get("camera").as_str(), episode.api.pixels(get("size")))
        else {
            return refused(Refusal::Value, "show(): there is no such camera or size");
        };
        let view = View { camera: camera.to_owned(), control_step, width, height };
        let crop: Option<[i64; 4]> = serde_json::from_value(get("crop").clone()).unwrap_or(None);
        let part = match crop.map(|crop| Crop::new(crop, &view)).transpose() {
            Ok(part) => part,
            Err(error) => return refused(Refusal::Value, format!("show(): {error}")),
        };
        let name = match part {
            Some(part) => format!("{camera} {part}"),
            None => camera.to_owned(),
        };
        match self.show(&name, &view, part) {
            Ok(()) => Begun::Answered(Reply::Answer(Answer::Value(Value::Null))),
            Err(why) => refused(Refusal::Tool, why),
        }
    }

    /// Queues a picture for the agent.
    fn show(&mut self, name: &str, view: &View, part: Option<Crop>) -> Result<(), String> {
        if !self.shows() {
            return Ok(());
        }
        let sight = self.see(view)?;
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        running.shown.push_view(name, view, part).map_err(|error| error.to_string())?;
        if let Some(seen) = sight {
            running.shown.saw(view, &Ok(seen));
        }
        Ok(())
    }

    /// The picture of a view, or `None` when it was asked for.
    fn see(&mut self, view: &View) -> Result<Option<Rc<Seen>>, String> {
        let Some(episode) = &self.episode else {
            return Err("there is no episode".to_owned());
        };
        let mut requests: Vec<FrameRequest> = Vec::new();
        let latest = episode.latest.control_step;
        let sight = self.eyes.look(view, &episode.card, latest, &mut requests);
        self.out.extend(requests.into_iter().map(Outgoing::FrameRequest));
        sight
    }

    /// Asks the perception node for a mask.
    fn segment(&mut self, call: &PendingCall, look: Look, seen: Rc<Seen>) -> Begun {
        if let Err(why) = self.perception.ask() {
            return refused(Refusal::Tool, why);
        }
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let prompt = arguments["prompt"].as_str();
        if prompt.is_some_and(|prompt| prompt.trim().is_empty()) {
            return refused(Refusal::Value, "segment(): prompt is empty");
        }
        let top_k = arguments["top_k"].as_u64().unwrap_or(1);
        if top_k > MAX_SEGMENTS {
            let text = format!("segment(): top_k must be 1 to {MAX_SEGMENTS}, got {top_k}");
            return refused(Refusal::Value, text);
        }
        let min_score = arguments["min_score"].as_f64().unwrap_or_default();
        if !(0.0..=1.0).contains(&min_score) {
            let text = format!("segment(): min_score must be 0 to 1, got {min_score}");
            return refused(Refusal::Value, text);
        }
        let point: Option<[u32; 2]> =
            serde_json::from_value(arguments["point"].clone()).unwrap_or(None);
        let outside = |[row, col]: [u32; 2]| row >= look.view.height || col >= look.view.width;
        if !arguments["point"].is_null() && point.is_none_or(outside) {
            let text = format!("segment(): point {} is outside the picture", arguments["point"]);
            return refused(Refusal::Value, text);
        }
        self.calls += 1;
        self.out.push_back(Outgoing::SegmentRequest(Box::new(SegmentRequest {
            id: call.id.clone(),
            prompt: prompt.unwrap_or_default().to_owned(),
            point,
            top_k: top_k as u32,
            min_score,
            camera: look.view.camera.clone(),
            control_step: seen.frame.control_step,
            width: seen.frame.width,
            height: seen.frame.height,
            color: seen.frame.color.clone(),
            depth: seen.frame.depth.clone(),
            intrinsics: seen.frame.intrinsics,
            camera_to_world: seen.frame.camera_to_world,
        })));
        Begun::Waits(Wait::Perception { look, seen })
    }

    /// Answers a call and writes it down.
    fn reply(&mut self, call: &PendingCall, reply: Reply) {
        let step = self.episode.as_ref().map_or(0, Episode::step);
        if let Some(running) = &mut self.running {
            let (ok, outcome) = reply.outcome();
            running.log(LedgerEntry { ok, outcome, step, ..entry(running.started, call) });
        }
        match reply {
            Reply::Answer(answer) => self.child.reply(call.child_id, answer),
            Reply::Arrays { value, arrays, memory } => {
                self.child.reply_arrays(call.child_id, value, arrays, &memory);
            }
        }
    }

    /// Ends the motion of the pending call; it is still answered, with how far it
    /// came. A call that waits for something else is dropped.
    pub(crate) fn cancel_call(&mut self, reason: &str) {
        let Some(running) = &mut self.running else { return };
        if running.call.take_if(|call| !call.is_at_controller()).is_some() {
            return;
        }
        if let Some(call) = running.call.as_mut().filter(|call| !call.cancelled) {
            call.cancelled = true;
            let patience = Instant::now() + CALL_MARGIN;
            call.deadline = Some(call.deadline.map_or(patience, |at| at.min(patience)));
            self.out.push_back(Outgoing::Cancel(Cancel {
                id: call.id.clone(),
                reason: reason.to_owned(),
            }));
        }
    }

    /// Answers the pending call, if it is such a one, in place of a node that does not.
    pub(crate) fn give_up_call(
        &mut self,
        such: impl Fn(&PendingCall) -> bool,
        message: &str,
    ) -> Result<(), RunnerError> {
        let pending = self.running.as_mut().and_then(|running| running.call.take_if(|c| such(c)));
        let Some(call) = pending else {
            return Ok(());
        };
        if call.is_at_controller() {
            let cancel = Cancel { id: call.id.clone(), reason: message.to_owned() };
            self.out.push_back(Outgoing::Cancel(cancel));
        }
        self.reply(&call, Reply::refused(Refusal::Tool, message));
        self.finish_if_ended()
    }
}

const NO_PERCEPTION: &str = "no perception node is configured in this run: add one to the \
    dataflow that takes `segment_request` from the cell runner and gives it `segment` (see \
    schemas/README.md), or find the thing by image(), world_map() and back_project()";

fn refused(kind: Refusal, message: impl Into<String>) -> Begun {
    Begun::Answered(Reply::refused(kind, message))
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
    let Some(record) = api.method(method).and_then(Method::record) else {
        return Answer::refused(Refusal::Tool, format!("{} has no such method", api.name));
    };
    match record.complete(measured) {
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

impl Perception {
    /// Whether it can be asked.
    fn ask(&self) -> Result<(), String> {
        match &self.node {
            None => Err(NO_PERCEPTION.to_owned()),
            Some(node) if self.gone => Err(format!("node {node:?} has died")),
            Some(_) => Ok(()),
        }
    }
}

impl PendingCall {
    pub(crate) fn is_at_eyes(&self) -> bool {
        matches!(self.wait, Wait::Picture(_))
    }

    pub(crate) fn is_at_controller(&self) -> bool {
        matches!(self.wait, Wait::Controller)
    }

    pub(crate) fn is_at_perception(&self) -> bool {
        matches!(self.wait, Wait::Perception { .. })
    }
}
