//! A backend at work on one episode, on a thread of its own.

use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ruaflow_prompt::Limit;
use ruaflow_record::{Bill, Happening};
use ruaflow_schemas::CellResult;

use crate::backend::{Backend, Ending, Over, Why};
use crate::control::Control;
use crate::episode::{Episode, Interrupter, Setting, World};

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a backend says to the run.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub episode: u32,
    pub saying: Saying,
}

#[derive(Clone, Debug)]
pub(crate) enum Saying {
    /// Run this.
    Cell { code: String, title: String, fresh: bool },
    /// End the running cell early.
    Interrupt,
    /// What was spent, and what those who watch want to read.
    Spent { bill: Box<Bill>, what: Option<Box<Happening>> },
    /// It has come to its end.
    Ended { ending: Result<Ending, String>, spent: Option<Limit> },
}

/// What a backend's cell came to.
pub(crate) type Answer = Result<CellResult, Over>;

/// The run's side of a backend.
pub(crate) struct Mind {
    answers: mpsc::Sender<Answer>,
    control: Control,
    thread: JoinHandle<()>,
}

impl Mind {
    /// Starts the backend's thread; `say` carries its words and is false when nobody listens.
    pub fn start(
        mut backend: Box<dyn Backend>,
        setting: Setting,
        say: impl Fn(Word) -> bool + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let (answers, received) = mpsc::channel();
        let (number, control) = (setting.number, setting.control.clone());
        let say = Arc::new(move |saying| say(Word { episode: number, saying }));
        let far = Far { say: say.clone(), answers: received };
        let thread = std::thread::Builder::new().name("backend".to_owned()).spawn(move || {
            let (ending, spent) = match Episode::new(setting, Box::new(far)) {
                Ok(mut episode) => (backend.play(&mut episode), episode.spent()),
                Err(error) => (Err(error), None),
            };
            // Nobody may be left to hear it.
            let _ = say(Saying::Ended { ending, spent });
        })?;
        Ok(Mind { answers, control, thread })
    }

    /// A cell's result, or why it was the last.
    pub fn answer(&self, answer: Answer) {
        if let Err(over) = &answer {
            self.control.end(over.why);
        }
        // A backend that has ended waits for none.
        let _ = self.answers.send(answer);
    }

    /// The episode is over for good.
    pub fn close(&self) {
        self.control.close();
    }

    /// Waits for the thread to end, so that nothing of it outlives the run.
    pub fn leave(self, within: Duration) {
        self.control.close();
        drop(self.answers);
        let until = Instant::now() + within;
        while !self.thread.is_finished() && Instant::now() < until {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// The run as a backend's episode reaches it.
struct Far<S> {
    say: Arc<S>,
    answers: mpsc::Receiver<Answer>,
}

impl<S: Fn(Saying) -> bool + Send + Sync + 'static> World for Far<S> {
    fn run(&mut self, code: &str, title: &str, fresh: bool) -> Answer {
        // The episode may have ended while the backend thought.
        if let Some(over) = self.answers.try_iter().find_map(Result::err) {
            return Err(over);
        }
        let cell = Saying::Cell { code: code.to_owned(), title: title.to_owned(), fresh };
        if !(self.say)(cell) {
            return Err(Over::because(Why::Stopped));
        }
        self.answers.recv().unwrap_or_else(|_| Err(Over::because(Why::Stopped)))
    }

    fn tell(&mut self, bill: &Bill, what: Option<Happening>) {
        // The run may be over; then nobody reads it.
        let _ = (self.say)(Saying::Spent { bill: Box::new(*bill), what: what.map(Box::new) });
    }

    fn interrupter(&self) -> Interrupter {
        let say = self.say.clone();
        Arc::new(move || {
            // The run may be over; then nothing runs.
            let _ = say(Saying::Interrupt);
        })
    }
}
