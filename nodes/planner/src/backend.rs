//! What decides how an episode goes on.

use ruaflow_prompt::Limit;
use ruaflow_schemas::CellResult;

use crate::episode::Episode;

/// Decides what an episode does.
///
/// It runs on a thread of its own and may block: stops, budgets and dead nodes are
/// handled meanwhile, and [`Episode::run`] and [`Episode::stopped`] tell of them.
pub trait Backend: Send {
    /// Plays one episode to its end.
    ///
    /// # Errors
    /// The text ends the run as failed and is what the user reads: a provider that
    /// can't be reached, a program that does not start. A task that is not solved
    /// is no error.
    fn play(&mut self, episode: &mut Episode) -> Result<Ending, String>;
}

/// How a backend came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It has played all it had: a script, a program in one reply.
    Played,
    /// A cell of a script failed.
    CellFailed,
    /// The agent called `finish` as a tool. From a cell it ends the episode by itself.
    Finished { status: String, summary: String },
    /// The agent stopped acting and did not say `finish`.
    GaveUp { why: String },
    /// The episode was over first, as an [`Over`] said.
    Over,
}

/// The episode is over; no cell runs any more.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    pub why: Why,
    /// The cell with which it ended, when the one who asks had it run.
    pub last: Option<Box<CellResult>>,
}

impl Over {
    #[must_use]
    pub fn because(why: Why) -> Self {
        Over { why, last: None }
    }
}

impl From<Over> for Ending {
    fn from(_: Over) -> Self {
        Ending::Over
    }
}

/// Why an episode is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The robot reports the task as solved.
    Solved,
    /// A cell called `finish`.
    Finished,
    /// A budget is used up: the robot holds, and the agent may say `finish`, within
    /// [`LAST_WORDS`](crate::LAST_WORDS).
    Budget(Limit),
    /// A person or a failure stopped it.
    Stopped,
}

impl Why {
    /// In words for an agent.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Why::Solved => "the episode is over: the task is solved".to_owned(),
            Why::Finished => "the episode is over: a cell called finish".to_owned(),
            Why::Budget(limit) => format!(
                "the budget of {limit} is used up; the robot holds and runs nothing more: call finish"
            ),
            Why::Stopped => "the episode was stopped".to_owned(),
        }
    }
}
