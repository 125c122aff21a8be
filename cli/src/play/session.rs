//! A run from start to end: dora, what the planner tells, what a person wishes.

use std::time::{Duration, Instant};

use eyre::Result;
use ruaflow_kit::Command;
use ruaflow_record::{Happening, ProgressReader};

use super::keys::{Wish, Wishes};
use super::person::{HELP, Person};
use super::request::Request;
use super::view::View;
use crate::flow::{Flow, Output};

const TICK: Duration = Duration::from_millis(40);
/// What the nodes get for an orderly end: after a node has died, and after the
/// verdict or when a person asked for it, who may still press Ctrl-C.
const END_AFTER_DEATH: Duration = Duration::from_secs(8);
const END_IN_ORDER: Duration = Duration::from_secs(20);
/// What dora gets to stop the nodes after that.
const DORA_STOP: Duration = Duration::from_secs(1);

/// How a run came to its end.
pub struct Ending {
    /// Whether a person asked for it.
    pub asked: bool,
    /// Why it had to be killed, if it had.
    pub killed: Option<&'static str>,
    pub output: Output,
}

pub fn run(request: &Request, view: &mut View, interactive: bool) -> Result<Ending> {
    // First, so that a Ctrl-C while dora starts ends it in good order, too.
    let wishes = if interactive { Wishes::signals()? } else { Wishes::listen()? };
    let person = if interactive { Some(Person::listen()?) } else { None };
    let flow = Flow::start(&request.dora, &request.dataflow, request.settings.path())?;
    view.starting(wishes.keys());
    if interactive {
        view.note(HELP);
    }
    Session {
        request,
        view,
        wishes,
        person,
        flow,
        progress: ProgressReader::new(&request.dir.join("progress.jsonl")),
        asked: false,
        heard: false,
        stopped: false,
        end_by: None,
        interrupted: false,
    }
    .run()
}

struct Session<'a> {
    request: &'a Request,
    view: &'a mut View,
    wishes: Wishes,
    person: Option<Person>,
    flow: Flow,
    progress: ProgressReader,
    /// Whether a clean end was asked for: the next time it is a kill.
    asked: bool,
    /// Whether a controller has taken that. A dora that is only starting may not
    /// know what an interrupt means yet, so each controller to come is asked, too.
    heard: bool,
    stopped: bool,
    /// When the run must be over, and why, once something has happened that ends it.
    end_by: Option<(Instant, &'static str)>,
    interrupted: bool,
}

impl Session<'_> {
    fn run(mut self) -> Result<Ending> {
        let mut killed = None;
        while self.flow.ended()?.is_none() {
            self.follow()?;
            for wish in self.wishes.poll() {
                match wish {
                    Wish::EmergencyStop => self.stop_now(),
                    Wish::End if self.asked => killed = Some("a second Ctrl-C"),
                    Wish::End => self.ask_to_end(),
                }
            }
            let heeds = |person: &mut Person| person.heed(&self.request.run, self.view);
            if self.person.as_mut().is_some_and(heeds) && !self.asked {
                self.ask_to_end();
            }
            if self.asked && !self.heard {
                self.heard = ruaflow_kit::ask(&self.request.run, Command::Stop).is_ok();
            }
            if !self.flow.output().failures().is_empty() {
                self.must_end(END_AFTER_DEATH, "a node has died and the others did not end");
            }
            killed = killed.or_else(|| self.overdue());
            if killed.is_some() {
                self.flow.kill();
                break;
            }
            std::thread::sleep(TICK);
        }
        self.follow()?;
        // Removes the socket of a controller that was killed.
        let _ = ruaflow_kit::live_runs();
        Ok(Ending { asked: self.asked || self.stopped, killed, output: self.flow.output().clone() })
    }

    /// Shows what the planner has told since the last time.
    fn follow(&mut self) -> Result<()> {
        if self.request.dir.join("result.json").exists() {
            // Not worth ending a run for; a full disk is reported by who needs it.
            let _ = self.flow.output().keep_in(&self.request.dir.join("dora.log"));
        }
        for line in self.progress.poll()? {
            if let Happening::Verdict { .. } = line.what {
                self.must_end(END_IN_ORDER, "the nodes did not end after the verdict");
            }
            match (&line.what, &mut self.person) {
                (Happening::Episode { episode, .. }, Some(person)) => {
                    let name = format!("episodes/{episode:03}");
                    person.turn_to(&self.request.dir.join(name));
                }
                // It is shown in whole.
                (Happening::Turn { .. }, Some(_)) => continue,
                _ => {}
            }
            self.view.show(&line.what);
        }
        match &mut self.person {
            Some(person) => person.read_along(self.view),
            None => Ok(()),
        }
    }

    fn ask_to_end(&mut self) {
        self.asked = true;
        self.view.note("ending the run; Ctrl-C again kills it");
        self.heard = ruaflow_kit::ask(&self.request.run, Command::Stop).is_ok();
        if !self.heard {
            // No controller yet, or none any more.
            self.flow.interrupt();
        }
        self.must_end(END_IN_ORDER, "it did not end when asked to");
    }

    fn stop_now(&mut self) {
        self.stopped = true;
        match ruaflow_kit::ask(&self.request.run, Command::StopNow) {
            Ok(answer) => self.view.note(&format!("emergency stop: {answer}")),
            Err(_) => {
                self.view.note("emergency stop: the controller does not answer, ending all nodes");
                self.flow.interrupt();
            }
        }
        self.must_end(END_IN_ORDER, "it did not end after an emergency stop");
    }

    /// The earliest end that was asked for counts.
    fn must_end(&mut self, within: Duration, why: &'static str) {
        let end_by = Instant::now() + within;
        if self.end_by.is_none_or(|(earlier, _)| end_by < earlier) {
            self.end_by = Some((end_by, why));
        }
    }

    /// Interrupts dora when the time for an orderly end is over; a little later says why to kill.
    fn overdue(&mut self) -> Option<&'static str> {
        let (end_by, why) = self.end_by?;
        if Instant::now() >= end_by && !self.interrupted {
            self.interrupted = true;
            self.flow.interrupt();
        }
        (Instant::now() >= end_by + DORA_STOP).then_some(why)
    }
}
