//! The planner node: owns a run and its episodes.
//!
//! It makes the run's folder, resets the robot, lets a backend decide on one
//! cell after the other, ends each episode and writes the result. [`Backend`] is
//! all that a new way of planning has to be.

mod asked;
mod backend;
mod builtin;
mod control;
mod episode;
mod hands;
mod mind;
mod model;
mod planners;
mod recorded;
#[cfg(test)]
mod rehearsal;
mod report;
mod runtime;
mod scribe;
mod script;
mod session;
mod steering;

use std::time::{Duration, Instant, SystemTime};

use eyre::{Context as _, Result, bail};
use ruaflow_kit::{Input, Node, Received, Settings};
use ruaflow_record::{Happening, LiveLock, ProgressWriter, RunDir, Status};
use ruaflow_schemas::event;
use serde_json::json;

pub use crate::asked::{Asked, AskedError, Scene, Scenes};
pub use crate::backend::{Backend, Ending, Over, Why};
pub use crate::control::{Control, Wish};
pub use crate::episode::{Episode, Interrupter, Left, Setting, World};
pub use crate::hands::{Hands, Outcome, has_tools, pictures, program_cell, program_in};
use crate::mind::{Mind, Word};
pub use crate::model::Model;
pub use crate::planners::{Planner, PlannerError};
pub use crate::recorded::Recorded;
pub use crate::runtime::{Runtime, RuntimeError};
pub use crate::script::{Script, ScriptError};
pub use crate::session::LAST_WORDS;
use crate::session::{Out, Peers, Session};
use crate::steering::Steering;

/// The others get this long to end when the run could not begin.
const GIVE_UP_WITHIN: Duration = Duration::from_secs(3);
/// A backend gets this long to end once its episode is over.
const BACKEND_LEAVES_WITHIN: Duration = Duration::from_secs(5);

/// Runs the node until the run is over.
///
/// # Errors
/// When a setting is wrong, or a node, the robot or the disk failed.
pub fn run() -> Result<()> {
    let started = Instant::now();
    let mut node = Node::<Word>::open()?;
    match prepare(&node) {
        Ok((asked, desk)) => drive(&mut node, asked, desk, started),
        Err(error) => {
            // The others are told, so that this error is the only one that is shown.
            send_home(&mut node);
            Err(error)
        }
    }
}

/// What the planner writes to.
struct Desk {
    dir: RunDir,
    progress: ProgressWriter,
    /// Why writing has failed; the run goes on, the user is told at the end.
    trouble: Option<ruaflow_record::RecordError>,
    _lock: LiveLock,
}

fn prepare(node: &Node<Word>) -> Result<(Asked, Desk)> {
    let cwd = std::env::current_dir().context("the current folder is gone")?;
    let asked = Asked::read(&Settings::load()?, &cwd, SystemTime::now())?;
    for topic in ["card", "cell_result", "result", "event"] {
        if node.peers_of(topic).is_empty() {
            bail!("the dataflow connects no input {topic:?} to the planner");
        }
    }
    let (dir, lock) = RunDir::create(&asked.out, &asked.run)?;
    dir.write_settings(&asked.to_json())?;
    let progress = ProgressWriter::open(&dir.progress_path())?;
    Ok((asked, Desk { dir, progress, trouble: None, _lock: lock }))
}

fn drive(node: &mut Node<Word>, asked: Asked, mut desk: Desk, started: Instant) -> Result<()> {
    node.set_run_id(&asked.run);
    desk.tell(&Happening::Run {
        run: asked.run.clone(),
        dir: desk.dir.root().to_owned(),
        robot: asked.robot.clone(),
        planner: asked.planner.name().to_owned(),
        episodes: asked.scenes.count(),
    });
    if let Some(note) = asked.planner.note() {
        desk.tell(&Happening::Note { text: note.to_owned() });
    }
    let created = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let mut session = Session::new(asked, peers(node), created, started, Instant::now());
    let sender = node.sender();
    let steering = Steering::open(desk.dir.run(), move |word| sender.send(word));
    let mut mind = None;
    loop {
        session.tick(Instant::now());
        for out in session.take_out() {
            if let Out::Meet { episode, .. } = &out {
                steering.turn_to(*episode, session.control());
            }
            perform(node, &mut desk, &mut mind, &session, out)?;
        }
        if session.has_left() {
            break;
        }
        let input = node.next(session.due());
        take(&mut session, input);
    }
    if let Some(mind) = mind {
        mind.leave(BACKEND_LEAVES_WITHIN);
    }
    desk.dir.free_reserve();
    let result = session.result();
    if let (Status::Failed, Some(error)) = (result.status, &result.error) {
        if error.message.contains(&format!("{:?}", error.node)) {
            bail!("{}", error.message);
        }
        bail!("node {:?}: {}", error.node, error.message);
    }
    match desk.trouble {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

fn take(session: &mut Session, input: Input<Word>) {
    let now = Instant::now();
    match input {
        Input::Frame(frame) => {
            if let Err(error) = take_frame(session, now, &frame) {
                tracing::warn!(topic = frame.topic, node = frame.node, %error, "frame ignored");
            }
        }
        Input::Event { node, event } => session.event(now, &node, &event),
        Input::Gone { node } => session.gone(now, &node),
        Input::Local(word) => session.word(now, word),
        Input::Shutdown | Input::Stop => session.stop(now),
        Input::Timeout => {}
    }
}

fn take_frame(
    session: &mut Session,
    now: Instant,
    frame: &Received,
) -> Result<(), ruaflow_schemas::SchemaError> {
    match frame.topic.as_str() {
        "card" => session.card(now, frame.row()?),
        "cell_result" => session.cell_result(now, frame.row()?),
        "result" => session.call_result(now, &frame.row()?),
        _ => {}
    }
    Ok(())
}

fn perform(
    node: &mut Node<Word>,
    desk: &mut Desk,
    mind: &mut Option<Mind>,
    session: &Session,
    out: Out,
) -> Result<()> {
    match out {
        Out::Call => {
            let data = json!({ "run": desk.dir.run(), "dir": desk.dir.root() });
            node.event(event::RUN, "", data)
        }
        Out::Begin { episode } => {
            if let Some(last) = mind.take() {
                last.leave(BACKEND_LEAVES_WITHIN);
            }
            node.flush()?;
            node.set_episode(episode.into());
            let result = session.result();
            let last = result.episodes.last();
            let scene = last.map(|e| (&e.suite, e.task, e.seed));
            let (suite, task, seed) = scene.unwrap_or((&result.suite, result.task, result.seed));
            let data = json!({ "episode": episode, "suite": suite, "task": task, "seed": seed });
            node.event(event::STARTED, "", data)
        }
        Out::Reset(reset) => node.send(&reset),
        Out::Card(card) => node.send(&*card),
        Out::Cell(mut cell) => {
            if let Ok(episode) = u32::try_from(node.episode()) {
                cell.workspace = desk.dir.workspace_dir(episode).display().to_string();
            }
            node.send(&cell)
        }
        Out::Skip => node.event(event::SKIP, "", json!({})),
        Out::Ended { episode, reason, success } => {
            if let Some(mind) = mind {
                mind.close();
            }
            node.flush()?;
            // The event's own row is in the one batch that follows.
            let batches = node.batches() + 1;
            let data = json!({ "episode": episode, "reason": reason.as_str(), "success": success, "batches": batches });
            node.event(event::ENDED, "", data)?;
            node.flush()
        }
        Out::Shutdown => {
            node.expect_end();
            node.event(event::SHUTDOWN, "", json!({}))?;
            node.flush()
        }
        Out::Meet { episode, card } => {
            let setting = Setting {
                number: episode,
                dir: desk.dir.episode_dir(episode),
                card: *card,
                rules: session.rules(),
                control: session.control(),
            };
            let sender = node.sender();
            let say = move |word| sender.send(word);
            *mind = Some(Mind::start(session.backend(), setting, say)?);
            Ok(())
        }
        Out::Answer(answer) => {
            if let Some(mind) = mind {
                mind.answer(*answer);
            }
            Ok(())
        }
        Out::Tell(what) => {
            desk.tell(&what);
            Ok(())
        }
        Out::Save => {
            desk.save(session);
            Ok(())
        }
    }
}

impl Desk {
    fn tell(&mut self, what: &Happening) {
        if let Some(line) = report::line(what) {
            println!("{line}");
        }
        let written = self.progress.write(what);
        self.note(written);
    }

    fn save(&mut self, session: &Session) {
        let mut result = session.result().clone();
        if result.status != Status::Running {
            result.finished_at =
                Some(humantime::format_rfc3339_seconds(SystemTime::now()).to_string());
        }
        let written = self.dir.write_result(&result);
        self.note(written);
    }

    fn note(&mut self, written: Result<(), ruaflow_record::RecordError>) {
        if let Err(error) = written {
            tracing::error!("{error}");
            self.trouble.get_or_insert(error);
        }
    }
}

fn peers(node: &Node<Word>) -> Peers {
    let one = |topic: &str| node.peers_of(topic).into_iter().next().unwrap_or_default();
    Peers {
        robot: one("card"),
        cell_runner: one("cell_result"),
        recorder: one("receipt"),
        answering: node.peers_of("event"),
    }
}

/// Ends a run that has not begun.
fn send_home(node: &mut Node<Word>) {
    node.expect_end();
    if let Err(error) = node.event(event::SHUTDOWN, "", json!({})) {
        tracing::warn!("the other nodes could not be told: {error:#}");
        return;
    }
    let until = Instant::now() + GIVE_UP_WITHIN;
    while node.gone().len() < node.peers().len() && Instant::now() < until {
        if let Input::Stop = node.next(Some(until)) {
            return;
        }
    }
}
