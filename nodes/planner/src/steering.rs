//! A person's wishes, from the steering socket to the episode that runs.

use std::sync::{Arc, Mutex, PoisonError};

use ruaflow_kit::{Steer, SteerServer};

use crate::control::{Control, Wish};
use crate::mind::{Saying, Word};

/// Listens for wishes until it is dropped.
pub(crate) struct Steering {
    current: Current,
    _server: Option<SteerServer>,
}

/// The episode that runs.
type Current = Arc<Mutex<Option<(u32, Control)>>>;

impl Steering {
    /// Listens for the run; `say` reaches its loop. A run that nobody can steer goes on.
    pub fn open(run: &str, say: impl Fn(Word) -> bool + Send + 'static) -> Self {
        let current = Current::default();
        let steered = current.clone();
        let server = SteerServer::open(run, move |wish| {
            let episode = steered.lock().unwrap_or_else(PoisonError::into_inner).clone();
            match episode {
                Some((number, control)) => steer(number, &control, wish, &say).to_owned(),
                None => "no episode runs yet".to_owned(),
            }
        });
        if let Err(error) = &server {
            tracing::warn!("nobody can steer this run: {error}");
        }
        Steering { current, _server: server.ok() }
    }

    /// From here on wishes are for this episode.
    pub fn turn_to(&self, episode: u32, control: Control) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some((episode, control));
    }
}

fn steer(
    episode: u32,
    control: &Control,
    wish: Steer,
    say: &impl Fn(Word) -> bool,
) -> &'static str {
    match wish {
        Steer::Say(text) => {
            control.wish(Wish::Say(text));
            "the agent reads it with its next turn"
        }
        Steer::Cell(code) => {
            control.wish(Wish::Cell(code));
            "it runs before the agent's next cell"
        }
        Steer::Pause => {
            control.pause(true);
            "paused: what runs goes on to its end, nothing new begins"
        }
        Steer::Resume => {
            control.pause(false);
            "going on"
        }
        Steer::Skip if control.is_running() => {
            say(Word { episode, saying: Saying::Interrupt });
            "the running cell ends"
        }
        Steer::Skip => {
            control.skip_next();
            "the next cell is not run"
        }
    }
}

#[cfg(test)]
mod tests {
    use ruaflow_schemas::CellResult;

    use super::*;
    use crate::rehearsal;

    fn ok(_: &str, index: u32) -> CellResult {
        CellResult {
            index,
            status: "ok".into(),
            feedback: "fine\n".into(),
            ..CellResult::default()
        }
    }

    #[test]
    fn a_person_speaks_takes_over_and_skips() {
        let (mut episode, ran) = rehearsal::episode(ok);
        let control = episode.control();
        let wish = |wish| steer(0, &control, wish, &|_| true);
        wish(Steer::Say("more to the left".to_owned()));
        wish(Steer::Cell("robo.release()".to_owned()));
        episode.run("x = 1", "").unwrap();
        assert_eq!(ran.cells(), ["robo.release()", "x = 1"]);
        let said = episode.said();
        assert_eq!(said[0], "A person says: more to the left");
        assert!(said[1].contains("robo.release()") && said[1].contains("fine"), "{said:?}");
        assert!(episode.said().is_empty());

        assert_eq!(wish(Steer::Skip), "the next cell is not run");
        assert_eq!(episode.run("y = 2", "").unwrap().status, "cancelled");
        assert_eq!(episode.run("y = 2", "").unwrap().status, "ok");
    }

    #[test]
    fn a_running_cell_is_interrupted_by_its_episode() {
        let control = Control::default();
        control.set_running(true);
        let heard = std::cell::RefCell::new(Vec::new());
        let say = |word: Word| {
            heard.borrow_mut().push(word.episode);
            true
        };
        assert_eq!(steer(3, &control, Steer::Skip, &say), "the running cell ends");
        assert_eq!(*heard.borrow(), [3]);
        steer(3, &control, Steer::Pause, &say);
        assert!(control.is_paused());
        steer(3, &control, Steer::Resume, &say);
        assert!(!control.is_paused());
    }
}
