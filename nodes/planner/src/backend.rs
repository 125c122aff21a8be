//! What decides on the next cell.

use std::sync::mpsc;

use ruaflow_record::Reason;
use ruaflow_schemas::{Card, CellResult};

/// Decides what an episode does next, one turn at a time.
///
/// It runs on a thread of its own and may take its time: budgets, stops and dead
/// nodes are handled meanwhile.
pub trait Backend: Send {
    /// The next turn. `last` is what the cell of the turn before did, nothing on
    /// the first turn.
    ///
    /// # Errors
    /// The text ends the run and is what the user reads.
    fn next(&mut self, card: &Card, last: Option<&CellResult>) -> Result<Turn, String>;
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    Cell {
        code: String,
        /// A few words for people; may be empty.
        title: String,
    },
    /// End the episode.
    End(Reason),
}

/// A turn that a backend has decided on.
#[derive(Clone, Debug)]
pub(crate) struct Thought {
    pub episode: u32,
    pub turn: Result<Turn, String>,
}

/// A backend at work on one episode.
pub(crate) struct Mind {
    results: mpsc::Sender<Option<CellResult>>,
}

impl Mind {
    /// Starts the backend's thread; `answer` gets each turn.
    pub fn start(
        mut backend: Box<dyn Backend>,
        episode: u32,
        card: Card,
        answer: impl Fn(Thought) -> bool + Send + 'static,
    ) -> std::io::Result<Self> {
        let (results, received) = mpsc::channel::<Option<CellResult>>();
        std::thread::Builder::new().name("backend".to_owned()).spawn(move || {
            for last in received {
                let turn = backend.next(&card, last.as_ref());
                if !answer(Thought { episode, turn }) {
                    return;
                }
            }
        })?;
        Ok(Mind { results })
    }

    /// Asks for the next turn.
    pub fn think(&self, last: Option<CellResult>) {
        // A backend that has ended has given its last answer.
        let _ = self.results.send(last);
    }
}
