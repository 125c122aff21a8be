use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ruaflow_schemas::{Action, Arm, Card, FrameRequest, Observation, Reset, State};
use serde_json::Value;

use super::frame::{FrameReply, Reply, complete};
use super::{Robot, StepError};

/// How often a last observation that nobody asked for is said again.
const AGAIN: Duration = Duration::from_secs(1);

/// What the node has to send or record.
#[derive(Debug)]
pub(super) enum Out {
    Card(Box<Card>),
    Observation(Observation),
    /// An observation that was sent before; live only, the recorder has it.
    Again(Observation),
    /// An observation that only the recorder lacks.
    Recorded(Observation),
    State(State),
    /// What the episode depends on.
    Versions(BTreeMap<String, String>),
    Refused {
        action_id: u64,
        reason: String,
    },
    /// The robot can't go on.
    Failed(String),
}

/// A robot and where its episode stands. Knows nothing of dora.
pub(super) struct Session<R> {
    robot: R,
    reply: Reply,
    /// The answer to the last reset, an error included.
    answered: Option<Card>,
    episode: Option<Episode>,
    stopped: bool,
    /// When to say the last observation again.
    again: Option<Instant>,
    pictures: Pictures,
}

/// Pictures of the episode.
#[derive(Default)]
struct Pictures {
    asked: u64,
    rendered: u64,
}

struct Episode {
    card: Card,
    last: Observation,
    over: bool,
}

impl<R: Robot> Session<R> {
    pub fn new(robot: R, reply: Reply) -> Self {
        let pictures = Pictures::default();
        Session {
            robot,
            reply,
            answered: None,
            episode: None,
            stopped: false,
            again: None,
            pictures,
        }
    }

    pub fn reset(&mut self, reset: &Reset) -> Vec<Out> {
        if let Some(card) = self.answered.as_ref().filter(|card| card.id == reset.id) {
            return vec![Out::Card(Box::new(card.clone()))];
        }
        self.episode = None;
        self.again = None;
        self.pictures = Pictures::default();
        let made = if self.stopped {
            Err("a person has stopped the robot; start a new run".to_owned())
        } else if reset.state.is_some() && !self.robot.resumes() {
            Err("this robot can't begin in a recorded state".to_owned())
        } else {
            self.robot.reset(reset).map_err(|error| {
                let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
                causes.join(": ")
            })
        };
        let card = match made.and_then(|card| complete_card(card, reset)) {
            Ok(card) => card,
            Err(error) => Card { id: reset.id.clone(), error, ..Card::default() },
        };
        self.answered = Some(card.clone());
        let mut outs = Vec::new();
        if card.error.is_empty() {
            outs.push(Out::Recorded(card.first.clone()));
            outs.extend(self.state(0));
            outs.extend(Some(self.robot.versions()).filter(|v| !v.is_empty()).map(Out::Versions));
            self.episode =
                Some(Episode { last: card.first.clone(), card: card.clone(), over: false });
        }
        outs.insert(0, Out::Card(Box::new(card)));
        outs
    }

    pub fn action(&mut self, action: &Action) -> Vec<Out> {
        let refused = |reason: String| vec![Out::Refused { action_id: action.id, reason }];
        let Some(episode) = &mut self.episode else {
            return refused("no episode: the robot waits for a reset".to_owned());
        };
        // The answer was lost on its way.
        if action.id == episode.last.action_id && action.id > 0 {
            return vec![Out::Again(episode.last.clone())];
        }
        if self.stopped {
            return refused("a person has stopped the robot".to_owned());
        }
        if let Err(reason) = episode.admit(action) {
            // Whoever still acts has missed the end that came by itself.
            let missed = self.again.filter(|_| episode.has_ended());
            let last = missed.map(|_| Out::Again(episode.last.clone()));
            return last.into_iter().chain(refused(reason)).collect();
        }
        match self.robot.step(action).and_then(|observation| episode.take(action.id, observation)) {
            Ok(observation) => self.made(observation),
            Err(StepError::Refused(reason)) => refused(reason),
            Err(StepError::Failed(reason)) => {
                self.hold();
                let mut outs = refused(reason.clone());
                outs.push(Out::Failed(reason));
                outs
            }
        }
    }

    /// When the robot makes its next control step by itself, or says its last one again.
    pub fn due(&self) -> Option<Instant> {
        let episode = self.episode.as_ref().filter(|episode| !episode.over && !self.stopped)?;
        if episode.has_ended() { self.again } else { self.robot.due() }
    }

    /// Makes that control step. The last one is said until the planner ends the episode:
    /// no action led to it, so nobody would ask for it when it got lost.
    pub fn advance(&mut self) -> Vec<Out> {
        let Some(episode) = &mut self.episode else { return Vec::new() };
        self.again = Some(Instant::now() + AGAIN);
        if episode.has_ended() {
            return vec![Out::Again(episode.last.clone())];
        }
        let measured = self.robot.advance().map_err(|error| StepError::Failed(error.to_string()));
        // No action of this episode led here.
        let action_id = episode.last.action_id;
        match measured.and_then(|observation| episode.take(action_id, observation)) {
            Ok(observation) => self.made(observation),
            Err(error) => {
                self.hold();
                vec![Out::Failed(error.to_string())]
            }
        }
    }

    /// A control step was made.
    fn made(&mut self, observation: Observation) -> Vec<Out> {
        let control_step = observation.control_step;
        let mut outs = vec![Out::Observation(observation)];
        outs.extend(self.state(control_step));
        outs
    }

    /// Hands a request to the robot, or answers it right away.
    pub fn frame(&mut self, request: FrameRequest) {
        let episode = self.episode.as_ref();
        let latest = episode.map_or(0, |e| e.last.control_step);
        match complete(request, episode.map(|e| &e.card), latest) {
            Ok(request) => {
                let reply = FrameReply::new(request.clone(), self.reply.clone());
                self.robot.frame(request, reply);
            }
            Err((request, reason)) => FrameReply::new(request, self.reply.clone()).refuse(&reason),
        }
    }

    /// Counts an answered request for a picture; gives what is recorded of it.
    pub fn count_picture(&mut self, rendered: bool, mut data: Value) -> String {
        self.pictures.asked += 1;
        self.pictures.rendered += u64::from(rendered);
        data["asked_so_far"] = self.pictures.asked.into();
        data["rendered_so_far"] = self.pictures.rendered.into();
        data.to_string()
    }

    /// A person's emergency stop: holds until the process ends.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.robot.hold();
    }

    /// The planner has ended the episode; pictures of it can still be made.
    pub fn end(&mut self) {
        if let Some(episode) = &mut self.episode {
            episode.over = true;
            self.robot.hold();
        }
    }

    pub fn hold(&mut self) {
        self.robot.hold();
    }

    fn state(&mut self, control_step: u64) -> Option<Out> {
        let state = self.robot.state()?;
        Some(Out::State(State { control_step, ..state }))
    }
}

impl Episode {
    /// Whether the robot makes no further control step.
    fn has_ended(&self) -> bool {
        self.last.terminated || self.last.truncated
    }

    fn admit(&self, action: &Action) -> Result<(), String> {
        let last = &self.last;
        if self.over || self.has_ended() {
            return Err("the episode is over".to_owned());
        }
        if action.id <= last.action_id {
            return Err(format!(
                "action ids increase within an episode; the last was {}, this is {}",
                last.action_id, action.id
            ));
        }
        let Some(arm) = self.card.arms.iter().find(|arm| arm.name == action.arm) else {
            let names: Vec<&str> = self.card.arms.iter().map(|arm| arm.name.as_str()).collect();
            return Err(format!("no arm {:?}; arms: {}", action.arm, names.join(", ")));
        };
        if !arm.action_kinds.contains(&action.kind) {
            return Err(format!(
                "arm {:?} takes no action of kind {:?}; kinds: {}",
                arm.name,
                action.kind,
                arm.action_kinds.join(", ")
            ));
        }
        let wanted = length(arm, &action.kind);
        if let Some(wanted) = wanted.filter(|&wanted| wanted != action.values.len()) {
            return Err(format!(
                "an action of kind {:?} has {wanted} values, got {}",
                action.kind,
                action.values.len()
            ));
        }
        action_limits::finite("values", &action.values)
            .and_then(|()| match action.kind.as_str() {
                "osc_pose_delta" => action_limits::range("values", &action.values, -1.0, 1.0),
                _ => Ok(()),
            })
            .and_then(|()| action_limits::range("gripper", &[action.gripper], -1.0, 1.0))
            .map_err(|violation| violation.to_string())
    }

    /// Stamps and latches what the robot measured.
    fn take(&mut self, action_id: u64, measured: Observation) -> Result<Observation, StepError> {
        fits(&self.card, &measured).map_err(StepError::Failed)?;
        let control_step = self.last.control_step + 1;
        let limit = u64::from(self.card.max_control_steps);
        let terminated = measured.terminated || self.last.terminated;
        let out_of_steps = limit > 0 && control_step >= limit && !terminated;
        self.last = Observation {
            control_step,
            action_id,
            terminated,
            truncated: measured.truncated || self.last.truncated || out_of_steps,
            success: measured.success || self.last.success,
            ..measured
        };
        Ok(self.last.clone())
    }
}

fn complete_card(card: Card, reset: &Reset) -> Result<Card, String> {
    if card.arms.is_empty() {
        return Err("the robot's card names no arm".to_owned());
    }
    fits(&card, &card.first)?;
    let first = Observation { control_step: 0, action_id: 0, ..card.first };
    // The lower limit counts, and 0 is none.
    let limits = [card.max_control_steps, reset.max_control_steps];
    let max_control_steps = limits.into_iter().filter(|&limit| limit > 0).min().unwrap_or(0);
    Ok(Card {
        id: reset.id.clone(),
        error: String::new(),
        suite: reset.suite.clone(),
        task: reset.task,
        seed: reset.seed,
        settle: if reset.state.is_some() { 0 } else { reset.settle },
        max_control_steps,
        first,
        ..card
    })
}

/// Who steers by an observation must be able to trust its shape.
fn fits(card: &Card, observation: &Observation) -> Result<(), String> {
    let named = card.arms.iter().map(|a| &a.name).eq(observation.arms.iter().map(|a| &a.name));
    if !named {
        return Err(
            "the robot's observation does not have the arms of its card, in the same order"
                .to_owned(),
        );
    }
    for arm in &observation.arms {
        let numbers = [
            arm.eef_pos.as_slice(),
            &arm.eef_quat,
            &arm.joint_pos,
            &arm.gripper_qpos,
            &[arm.gripper_opening],
        ];
        if numbers.iter().any(|n| n.iter().any(|v| !v.is_finite())) {
            return Err(format!(
                "the robot measured a number that is not finite, at arm {:?}",
                arm.name
            ));
        }
    }
    Ok(())
}

/// Number of values of an action; `None` for kinds this build does not know.
fn length(arm: &Arm, kind: &str) -> Option<usize> {
    match kind {
        "osc_pose_delta" => Some(6),
        "eef_pose" => Some(7),
        "joint_position" => Some(arm.joints.len()),
        "base_velocity" => Some(3),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
