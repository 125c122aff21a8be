//! The controller: the only node that commands a robot.
//!
//! It takes calls of motion primitives, runs each as a servo loop of actions and
//! observations, and answers with what really happened. Everything that can
//! happen meanwhile (a cancel, a deadline, an emergency stop, a node that dies)
//! comes through one event loop into one state machine, [`engine`].

pub mod engine;
pub mod episode;
#[cfg(test)]
mod fake;
pub mod lease;
pub mod motion;
pub mod servo;
pub mod stall;

use std::sync::mpsc;
use std::time::{Duration, Instant};

use eyre::{Context as _, Result, bail};
use ruaflow_kit::{Command, ControlServer, Input, Node, Received, Sender, Settings};
use ruaflow_schemas::{SchemaError, event};

use crate::engine::{Engine, Output, Timing};

/// A person waits for this long to hear that the robot is held.
const ORDER_WAIT: Duration = Duration::from_millis(1500);

/// A person's order, on its way from the control socket to the loop.
struct Order {
    command: Command,
    answer: mpsc::Sender<String>,
}

/// Runs the node until the run is over.
///
/// # Errors
/// When the planner dies, when the control socket can't be opened (a robot that
/// can't be stopped must not move), and when the dataflow can't be joined.
pub fn run() -> Result<()> {
    let timing = timing(&Settings::load()?)?;
    let mut node = Node::<Order>::open()?;
    let robots = node.peers_of("observation");
    let planners = node.peers_of("card");
    let callers = node.peers_of("call");
    let robot = robots.first().map_or("robot", String::as_str);
    let policies = node.peers_of("chunk");
    let mut engine = Engine::new(robot, timing).with_policy(policies.first().cloned());
    let mut control = None;
    loop {
        let input = node.next(engine.deadline());
        let now = Instant::now();
        match input {
            Input::Frame(frame) => {
                // `card` may overtake the planner's `started`.
                if frame.topic == "card" {
                    node.set_episode(frame.stamp.episode);
                }
                if let Err(error) = take(&mut engine, &frame, now) {
                    node.frame_ignored(&frame, &error)?;
                }
            }
            Input::Event { event, .. } if event.kind == event::RUN => {
                if control.is_none() && !node.run_id().is_empty() {
                    control = Some(open_control(node.run_id(), node.sender())?);
                }
            }
            Input::Event { event, .. } if event.kind == event::REFUSED => {
                let data: serde_json::Value = serde_json::from_str(&event.data).unwrap_or_default();
                if let Some(action_id) = data["action_id"].as_u64() {
                    engine.refused(action_id, &event.message, now);
                }
            }
            Input::Event { node: from, event }
                if event.kind == event::ENDED && planners.contains(&from) =>
            {
                let data: serde_json::Value = serde_json::from_str(&event.data).unwrap_or_default();
                engine.end(data["reason"].as_str().unwrap_or_default());
            }
            Input::Gone { node: gone } => {
                if planners.contains(&gone) {
                    bail!("node {gone:?} died");
                }
                if robots.contains(&gone) {
                    engine.robot_gone(now);
                }
                if policies.contains(&gone) {
                    engine.policy_gone(now);
                }
                if callers.contains(&gone) {
                    engine.caller_gone(&gone);
                }
            }
            Input::Local(order) => obey(&mut engine, &order),
            Input::Shutdown | Input::Stop => return Ok(()),
            Input::Event { .. } | Input::Timeout => {}
        }
        engine.tick(now);
        while let Some(output) = engine.output() {
            send(&mut node, output)?;
        }
    }
}

fn timing(settings: &Settings) -> Result<Timing> {
    let timing = Timing::default();
    let seconds: f64 =
        settings.parse("ACTION_TIMEOUT_S", timing.action.as_secs_f64(), "a number of seconds")?;
    let action = Duration::try_from_secs_f64(seconds).context("setting ACTION_TIMEOUT_S")?;
    let seconds: f64 =
        settings.parse("CHUNK_TIMEOUT_S", timing.chunk.as_secs_f64(), "a number of seconds")?;
    let chunk = Duration::try_from_secs_f64(seconds).context("setting CHUNK_TIMEOUT_S")?;
    Ok(Timing { action, again: timing.again.min(action / 4), chunk })
}

fn open_control(run: &str, orders: Sender<Order>) -> Result<ControlServer> {
    ControlServer::open(run, move |command| {
        let (answer, held) = mpsc::channel();
        if !orders.send(Order { command, answer }) {
            return "the run is over".to_owned();
        }
        held.recv_timeout(ORDER_WAIT)
            .unwrap_or_else(|_| "the controller does not answer".to_owned())
    })
    .context("no emergency stop without a control socket")
}

fn take(engine: &mut Engine, frame: &Received, now: Instant) -> Result<(), SchemaError> {
    match frame.topic.as_str() {
        "observation" => engine.observation(frame.row()?, now),
        "call" => engine.call(frame.row()?, &frame.node, now),
        "cancel" => engine.cancel(&frame.row()?),
        "chunk" => engine.chunk(&frame.row()?, now),
        "card" => engine.card(frame.row()?, now),
        _ => {}
    }
    Ok(())
}

fn obey(engine: &mut Engine, order: &Order) {
    let text = match order.command {
        Command::StopNow => {
            engine.stop_now();
            "the robot is held"
        }
        Command::Stop => {
            engine.stop();
            "the run ends after the running call"
        }
    };
    // Whoever asked may have hung up; the order stands.
    let _ = order.answer.send(text.to_owned());
}

fn send(node: &mut Node<Order>, output: Output) -> Result<()> {
    match output {
        Output::Action(action) => node.send(&action),
        Output::Again(action) => node.send_live(&action).map(drop),
        Output::ChunkRequest(request) => node.send(&*request),
        Output::Result(result) => node.send(&*result),
        Output::Event { kind, message, data } => node.event(kind, &message, data),
    }
}
