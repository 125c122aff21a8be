//! The life of a run as a state machine: what comes in, what goes out, no
//! dataflow and no clock of its own.

mod ending;
mod episode;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ruaflow_prompt::{Limit, Rules};
use ruaflow_record::{Bill, EpisodeResult, Failure, Finish, Happening, Reason, RunResult};
use ruaflow_schemas::{CallResult, Card, Cell, CellResult, Event, Reset, event};
use serde_json::Value;

use self::episode::Live;
use crate::asked::{Asked, Scene};
use crate::backend::{Backend, Ending, Over, Why};
use crate::control::{Clock, Control};
use crate::mind::{Answer, Saying, Word};

const CALL_EVERY: Duration = Duration::from_millis(200);
const GREETING_LIMIT: Duration = Duration::from_secs(15);
/// A robot that has answered a reset answers it again with the same card.
const RESET_AGAIN: Duration = Duration::from_secs(5);
const RESET_LIMIT: Duration = Duration::from_secs(120);
/// The cell runner keeps the deadline; this much later it does not answer.
const CELL_GRACE: Duration = Duration::from_secs(5);
/// The result of a call and that of its cell come from different nodes.
const SETTLE_LIMIT: Duration = Duration::from_secs(1);
/// The recorder gives up on late pictures by itself after 15 s.
const RECORDED_LIMIT: Duration = Duration::from_secs(20);
const LEAVING_LIMIT: Duration = Duration::from_secs(5);
/// What an agent gets to say `finish` in once a budget is used up.
pub const LAST_WORDS: Duration = Duration::from_secs(60);
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
const MAX_WARNINGS: usize = 100;
/// Characters of a cell's last line that are told.
const MAX_PRINTED: usize = 200;

/// Who is who in the dataflow.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    pub robot: String,
    pub cell_runner: String,
    pub recorder: String,
    /// Nodes that answer `run` with `ready`.
    pub answering: BTreeSet<String>,
}

/// What the session wants done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Out {
    /// Send `event run`.
    Call,
    /// From here on frames belong to this episode; send `event started`.
    Begin {
        episode: u32,
    },
    Reset(Reset),
    Card(Box<Card>),
    Cell(Cell),
    /// End the running cell early.
    Skip,
    /// Send `event ended`, with what has been recorded so far.
    Ended {
        episode: u32,
        reason: Reason,
        success: bool,
    },
    Shutdown,
    /// Start the backend of an episode.
    Meet {
        episode: u32,
        card: Box<Card>,
    },
    /// Tell it what its cell did, or why there is no further one.
    Answer(Box<Answer>),
    Tell(Happening),
    /// Write `result.json`.
    Save,
}

enum State {
    Greeting {
        waiting: BTreeSet<String>,
        again: Instant,
        until: Instant,
    },
    Resetting {
        reset: Reset,
        since: Instant,
        again: Instant,
    },
    Thinking,
    Running {
        until: Instant,
    },
    /// A budget is used up; the backend may say how it ends.
    LastWords {
        reason: Reason,
        until: Instant,
    },
    /// The cell is done, the last call's result is not here.
    Settling {
        until: Instant,
        result: Box<CellResult>,
    },
    Closing {
        until: Instant,
    },
    Leaving {
        until: Instant,
        waiting: BTreeSet<String>,
    },
    Left,
}

/// Why the run does not go to its end.
#[derive(Clone, Debug)]
enum Broken {
    Failed(Failure),
    Interrupted,
}

pub(crate) struct Session {
    asked: Asked,
    peers: Peers,
    gone: BTreeSet<String>,
    started: Instant,
    state: State,
    live: Live,
    control: Control,
    broken: Option<Broken>,
    result: RunResult,
    out: Vec<Out>,
}

impl Session {
    pub fn new(
        asked: Asked,
        peers: Peers,
        created_at: String,
        started: Instant,
        now: Instant,
    ) -> Self {
        let first = asked.scenes.first();
        let result = RunResult {
            schema: RunResult::SCHEMA.to_owned(),
            system: "ruaflow".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            run: asked.run.clone(),
            robot: asked.robot.clone(),
            suite: first.suite.clone(),
            task: first.task,
            seed: first.seed,
            planner: asked.planner.name().to_owned(),
            privileged: asked.others.get("PERCEPTION").is_some_and(|eyes| eyes == "oracle"),
            record: asked.record,
            model: asked.planner.model().to_owned(),
            arm: asked.rules.arm.word().to_owned(),
            feedback: asked.rules.feedback.word().to_owned(),
            images: asked.rules.images.word().to_owned(),
            policy: asked.planner.policy().cloned(),
            settings: asked.to_json(),
            budget_s: asked.rules.budgets.time.map_or(0.0, |b| b.as_secs_f64()),
            max_episode_steps: asked.max_steps,
            settle: asked.settle,
            seeds: asked.scenes.iter().map(|scene| scene.seed).collect(),
            created_at,
            ..RunResult::default()
        };
        let state = State::Greeting {
            waiting: peers.answering.clone(),
            again: now,
            until: now + GREETING_LIMIT,
        };
        Session {
            asked,
            peers,
            gone: BTreeSet::new(),
            started,
            state,
            live: Live::default(),
            control: Control::default(),
            broken: None,
            result,
            out: vec![Out::Save],
        }
    }

    pub fn result(&self) -> &RunResult {
        &self.result
    }

    pub fn rules(&self) -> Arc<Rules> {
        self.asked.rules.clone()
    }

    /// A backend for one episode.
    pub fn backend(&self) -> Box<dyn Backend> {
        self.asked.planner.backend()
    }

    /// What the present episode's backend is steered by.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    pub fn take_out(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.out)
    }

    /// Whether there is nothing more to do.
    pub fn has_left(&self) -> bool {
        matches!(self.state, State::Left)
    }

    /// When `tick` has something to do.
    pub fn due(&self) -> Option<Instant> {
        let state = match &self.state {
            State::Greeting { again, until, .. } => Some(*again.min(until)),
            State::Resetting { since, again, .. } => Some((*again).min(*since + RESET_LIMIT)),
            State::Thinking | State::Left => None,
            State::Running { until }
            | State::LastWords { until, .. }
            | State::Settling { until, .. }
            | State::Closing { until }
            | State::Leaving { until, .. } => Some(*until),
        };
        let budget = if matches!(self.state, State::Thinking) { self.budget_end() } else { None };
        state.into_iter().chain(budget).min()
    }

    /// Does what time demands.
    pub fn tick(&mut self, now: Instant) {
        let budget_spent = self.budget_end().is_some_and(|end| now >= end);
        match &mut self.state {
            State::Greeting { waiting, again, until } => {
                if now >= *until {
                    let names: Vec<String> = waiting.iter().map(|n| format!("{n:?}")).collect();
                    let node = waiting.first().cloned().unwrap_or_default();
                    let limit = GREETING_LIMIT.as_secs();
                    self.fail(
                        now,
                        Reason::NodeDied,
                        &node,
                        format!("no answer within {limit} s from {}", names.join(", ")),
                    );
                } else if now >= *again {
                    *again = now + CALL_EVERY;
                    self.out.push(Out::Call);
                }
            }
            State::Resetting { reset, since, again } => {
                if now >= *since + RESET_LIMIT {
                    let robot = self.peers.robot.clone();
                    let message = format!(
                        "the robot did not answer the reset within {} s",
                        RESET_LIMIT.as_secs()
                    );
                    self.fail(now, Reason::NodeDied, &robot, message);
                } else if now >= *again {
                    *again = now + RESET_AGAIN;
                    self.out.push(Out::Reset(reset.clone()));
                }
            }
            State::Running { until } if now >= *until => {
                let runner = self.peers.cell_runner.clone();
                self.fail(
                    now,
                    Reason::NodeDied,
                    &runner,
                    "the cell runner did not answer in time".to_owned(),
                );
            }
            State::Thinking if budget_spent => {
                self.last_words(now, Reason::Budget, Limit::Time, None);
            }
            State::LastWords { reason, until } if now >= *until => {
                let reason = *reason;
                self.end(now, reason);
            }
            State::Settling { until, .. } if now >= *until => self.settle(now),
            State::Closing { until } if now >= *until => {
                let recorder = self.peers.recorder.clone();
                let limit = RECORDED_LIMIT.as_secs();
                self.note_failure(
                    Reason::NodeDied,
                    &recorder,
                    format!("no confirmation within {limit} s that the episode is recorded"),
                );
                self.close(now, None);
            }
            State::Leaving { until, .. } if now >= *until => self.state = State::Left,
            _ => {}
        }
    }

    /// A robot's answer to a reset.
    pub fn card(&mut self, now: Instant, card: Card) {
        let State::Resetting { reset, since, .. } = &self.state else { return };
        if card.id != reset.id {
            return;
        }
        let reset_s = (now - *since).as_secs_f64();
        let robot = self.peers.robot.clone();
        if !card.error.is_empty() {
            self.fail(now, Reason::Error, &robot, card.error);
            return;
        }
        if !self.asked.robot.is_empty() && card.robot != self.asked.robot {
            let message = format!(
                "setting ROBOT is {:?}, this dataflow's robot is {:?}",
                self.asked.robot, card.robot
            );
            self.fail(now, Reason::Error, &robot, message);
            return;
        }
        let budget_ms = self.asked.rules.budgets.time.map_or(0, |b| b.as_millis() as u64);
        let card = Box::new(Card { budget_ms, ..card });
        self.control = Control::default();
        self.live.begin(now, &card);
        let Some(episode) = self.result.episodes.last_mut() else { return };
        episode.reset_s = reset_s;
        episode.task_language.clone_from(&card.instruction);
        episode.judged = card.judged;
        let told = Happening::Episode {
            episode: episode.episode,
            suite: episode.suite.clone(),
            task: episode.task,
            seed: episode.seed,
            instruction: card.instruction.clone(),
            max_control_steps: card.max_control_steps,
            reset_s,
        };
        if episode.episode == 0 {
            self.result.startup_s = (now - self.started).as_secs_f64();
            self.result.robot.clone_from(&card.robot);
            self.result.task_language.clone_from(&card.instruction);
        }
        let episode = self.episode();
        self.out.push(Out::Card(card.clone()));
        self.out.push(Out::Tell(told));
        self.out.push(Out::Save);
        self.out.push(Out::Meet { episode, card });
        self.state = State::Thinking;
    }

    /// What a backend says.
    pub fn word(&mut self, now: Instant, word: Word) {
        if word.episode != self.episode() {
            return;
        }
        match word.saying {
            Saying::Cell { code, title, fresh } => {
                // In another state the episode has ended; why is on its way.
                if matches!(self.state, State::Thinking) {
                    self.run_cell(now, code, title, fresh);
                }
            }
            Saying::Interrupt => {
                if matches!(self.state, State::Running { .. }) {
                    self.out.push(Out::Skip);
                }
            }
            Saying::Spent { bill, what } => self.book(*bill, what.map(|what| *what)),
            Saying::Ended { ending, spent } => self.backend_ended(now, ending, spent),
        }
    }

    fn run_cell(&mut self, now: Instant, code: String, title: String, fresh: bool) {
        let left = self.budget_end().map(|end| end.saturating_duration_since(now));
        if left.is_some_and(|left| left.is_zero()) {
            self.last_words(now, Reason::Budget, Limit::Time, None);
            return;
        }
        // 0 would mean no deadline at all.
        let timeout =
            left.map_or(self.asked.cell_timeout, |left| left.min(self.asked.cell_timeout));
        let timeout = timeout.max(Duration::from_millis(1));
        let (id, index) = self.live.begin_cell(&self.asked.run, self.episode(), title);
        self.tell_cell("started", None);
        self.state = State::Running { until: now + timeout + CELL_GRACE };
        self.out.push(Out::Cell(Cell {
            id,
            index,
            code,
            timeout_ms: timeout.as_millis() as u64,
            fresh,
            ..Cell::default()
        }));
    }

    fn book(&mut self, bill: Bill, what: Option<Happening>) {
        if let Some(episode) = self.result.episodes.last_mut() {
            episode.bill = bill;
        }
        self.result.sum_up();
        self.out.push(Out::Save);
        // The verdict is the last that is told.
        if let Some(what) = what.filter(|_| self.in_episode()) {
            self.out.push(Out::Tell(what));
        }
    }

    fn backend_ended(
        &mut self,
        now: Instant,
        ending: Result<Ending, String>,
        spent: Option<Limit>,
    ) {
        let budget = match self.state {
            State::Thinking => None,
            State::LastWords { reason, .. } => Some(reason),
            // The episode had ended first.
            _ => return,
        };
        let ending = match ending {
            Ok(ending) => ending,
            Err(message) => return self.fail(now, Reason::Error, "planner", message),
        };
        if let Some(limit) = spent {
            self.live.limit.get_or_insert(limit);
        }
        let budget = budget.or(spent.map(|_| Reason::Budget));
        let reason = match ending {
            Ending::Played => Reason::PolicyFinished,
            Ending::CellFailed => Reason::CellError,
            Ending::Finished { status, summary } => {
                self.live.finish = Some(Finish { status, summary });
                Reason::Finish
            }
            Ending::GaveUp { why } => {
                self.warn("planner", &format!("the agent gave up: {why}"));
                Reason::GaveUp
            }
            Ending::Over => Reason::Stopped,
        };
        self.end(now, budget.unwrap_or(reason));
    }

    /// The controller's answer to a call: where the episode stands.
    pub fn call_result(&mut self, now: Instant, result: &CallResult) {
        if !self.acting() && !matches!(self.state, State::Closing { .. }) {
            return;
        }
        self.live.call_ended(result);
        if let State::Settling { result: cell, .. } = &self.state
            && self.live.knows(cell)
        {
            self.settle(now);
        } else if self.live.may_tell(now, PROGRESS_EVERY) {
            let (episode, control_steps, calls) =
                (self.episode(), self.live.control_step, self.live.calls());
            self.out.push(Out::Tell(Happening::Progress { episode, control_steps, calls }));
        }
    }

    /// What a cell did.
    pub fn cell_result(&mut self, now: Instant, result: CellResult) {
        if !self.live.end_cell(&result) {
            return;
        }
        self.tell_cell(&result.status, Some(&result));
        if matches!(self.state, State::Running { .. }) {
            self.state = State::Settling { until: now + SETTLE_LIMIT, result: Box::new(result) };
            if let State::Settling { result, .. } = &self.state
                && self.live.knows(result)
            {
                self.settle(now);
            }
        }
    }

    pub fn event(&mut self, now: Instant, node: &str, event: &Event) {
        match event.kind.as_str() {
            event::READY => {
                if let State::Greeting { waiting, .. } = &mut self.state {
                    waiting.remove(node);
                    if waiting.is_empty() {
                        self.begin(now, 0);
                    }
                }
            }
            event::RECORDED => {
                let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
                if node == self.peers.recorder
                    && matches!(self.state, State::Closing { .. })
                    && data["episode"].as_u64() == Some(self.episode().into())
                {
                    self.close(now, Some(&data));
                }
            }
            event::WARNING => self.warn(node, &event.message),
            event::ERROR => self.fail(now, Reason::Error, node, event.message.clone()),
            event::STOPPED | event::STOP => self.interrupt(now),
            _ => {}
        }
    }

    /// A node has gone.
    pub fn gone(&mut self, now: Instant, node: &str) {
        self.gone.insert(node.to_owned());
        if let State::Leaving { waiting, .. } = &mut self.state {
            waiting.remove(node);
            if waiting.is_empty() {
                self.state = State::Left;
            }
            return;
        }
        self.fail(now, Reason::NodeDied, node, format!("node {node:?} died"));
        if node == self.peers.recorder && matches!(self.state, State::Closing { .. }) {
            self.close(now, None);
        }
    }

    /// dora stops everything, at once.
    pub fn stop(&mut self, now: Instant) {
        if matches!(self.state, State::Leaving { .. } | State::Left) {
            self.state = State::Left;
            return;
        }
        self.broken.get_or_insert(Broken::Interrupted);
        if self.in_episode() {
            self.sum_up_episode(now, Reason::Stopped);
        }
        self.finish(now);
        self.state = State::Left;
    }

    fn begin(&mut self, now: Instant, n: u32) {
        let Scene { suite, task, seed } = self.asked.scenes.get(n).clone();
        self.live = Live::default();
        self.result.episodes.push(EpisodeResult {
            episode: n,
            suite: suite.clone(),
            task,
            seed,
            ..EpisodeResult::default()
        });
        let reset = Reset {
            id: format!("{}-{n}-reset", self.asked.run),
            suite,
            task,
            seed,
            settle: self.asked.settle,
            max_control_steps: self.asked.max_steps,
            state: self.asked.from.as_ref().map(|from| from.state.clone()),
        };
        self.out.push(Out::Begin { episode: n });
        self.out.push(Out::Save);
        self.out.push(Out::Reset(reset.clone()));
        self.state = State::Resetting { reset, since: now, again: now + RESET_AGAIN };
    }

    /// The cell is done and everything it did is known.
    fn settle(&mut self, now: Instant) {
        let State::Settling { result, .. } = std::mem::replace(&mut self.state, State::Thinking)
        else {
            return;
        };
        if self.live.terminated {
            self.release(Over { why: Why::Solved, last: Some(result) });
            self.end(now, Reason::Success);
        } else if self.live.truncated {
            self.last_words(now, Reason::Truncated, Limit::Steps, Some(result));
        } else if result.status == "finished" {
            self.release(Over { why: Why::Finished, last: Some(result) });
            self.end(now, Reason::Finish);
        } else if self.budget_end().is_some_and(|end| now >= end) {
            self.last_words(now, Reason::Budget, Limit::Time, Some(result));
        } else {
            self.out.push(Out::Answer(Box::new(Ok(*result))));
        }
    }

    /// A budget is used up: nothing runs any more, the backend may say how it ends.
    fn last_words(
        &mut self,
        now: Instant,
        reason: Reason,
        limit: Limit,
        last: Option<Box<CellResult>>,
    ) {
        self.live.limit.get_or_insert(limit);
        self.state = State::LastWords { reason, until: now + LAST_WORDS };
        self.release(Over { why: Why::Budget(limit), last });
    }

    /// Tells the backend, once, that the episode is over.
    fn release(&mut self, over: Over) {
        if !std::mem::replace(&mut self.live.released, true) {
            self.out.push(Out::Answer(Box::new(Err(over))));
        }
    }

    fn tell_cell(&mut self, status: &str, result: Option<&CellResult>) {
        let told = Happening::Cell {
            episode: self.episode(),
            index: self.live.cells as u32,
            status: status.to_owned(),
            title: self.live.title.clone(),
            seconds: result.map(|r| r.elapsed_ns as f64 / 1e9),
            control_steps: result.map(|r| r.control_steps),
            printed: result
                .map(|r| last_line(&r.stdout).chars().take(MAX_PRINTED).collect())
                .unwrap_or_default(),
            error: result.map(|r| last_line(&r.error).to_owned()).unwrap_or_default(),
        };
        self.out.push(Out::Tell(told));
    }

    fn episode(&self) -> u32 {
        self.result.episodes.last().map_or(0, |e| e.episode)
    }

    fn in_episode(&self) -> bool {
        self.acting() || matches!(self.state, State::Resetting { .. } | State::Closing { .. })
    }

    /// Whether the robot may be moving.
    fn acting(&self) -> bool {
        matches!(
            self.state,
            State::Thinking
                | State::Running { .. }
                | State::LastWords { .. }
                | State::Settling { .. }
        )
    }

    fn budget_end(&self) -> Option<Instant> {
        let (began, budget) = (self.live.began?, self.asked.rules.budgets.time);
        Clock { began, budget, control: self.control() }.end()
    }
}

impl Peers {
    fn all(&self) -> BTreeSet<String> {
        let named = [&self.robot, &self.cell_runner, &self.recorder].into_iter().cloned();
        self.answering.iter().cloned().chain(named).filter(|name| !name.is_empty()).collect()
    }
}

/// Where a traceback says what went wrong.
fn last_line(text: &str) -> &str {
    text.trim_end().lines().last().unwrap_or_default()
}
