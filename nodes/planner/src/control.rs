//! What the run and a person want of a backend at work, from other threads.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::backend::Why;

/// How often a wait looks whether the episode is over.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Shared by an episode's backend and those who steer it.
#[derive(Clone, Default)]
pub struct Control(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    over: Option<Why>,
    /// Not even last words are heard.
    closed: bool,
    /// Since when a person has it paused.
    paused: Option<Instant>,
    skip: bool,
    /// A cell runs.
    running: bool,
    wishes: VecDeque<Wish>,
    waited: Duration,
}

impl State {
    fn pause(&mut self, paused: bool) {
        if let Some(since) = self.paused.take() {
            self.waited += since.elapsed();
        }
        self.paused = paused.then(Instant::now);
    }
}

/// What a person wants an agent to know or the robot to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Words to the agent.
    Say(String),
    /// A cell of the person's own, run before the agent's next one.
    Cell(String),
}

impl Control {
    /// The episode is over.
    pub fn end(&self, why: Why) {
        let mut state = self.state();
        state.over.get_or_insert(why);
        state.pause(false);
        self.0.changed.notify_all();
    }

    #[must_use]
    pub fn over(&self) -> Option<Why> {
        self.state().over
    }

    /// Nobody hears the backend any more.
    pub fn close(&self) {
        self.end(Why::Stopped);
        self.state().closed = true;
    }

    /// Whether a backend is to end at once: the episode is over and there are no last words.
    #[must_use]
    pub fn stopped(&self) -> bool {
        let state = self.state();
        state.closed || state.over.is_some_and(|why| !matches!(why, Why::Budget(_)))
    }

    pub fn pause(&self, paused: bool) {
        self.state().pause(paused);
        self.0.changed.notify_all();
    }

    /// The agent's next cell is not run.
    pub fn skip_next(&self) {
        self.state().skip = true;
    }

    pub fn wish(&self, wish: Wish) {
        self.state().wishes.push_back(wish);
        self.0.changed.notify_all();
    }

    pub fn next_wish(&self) -> Option<Wish> {
        self.state().wishes.pop_front()
    }

    /// Told by the episode.
    pub(crate) fn set_running(&self, running: bool) {
        self.state().running = running;
    }

    #[must_use]
    pub fn is_running(&self) -> bool {
        self.state().running
    }

    /// Whether the next cell is to be skipped; asked once for each cell.
    pub fn takes_skip(&self) -> bool {
        std::mem::take(&mut self.state().skip)
    }

    /// Waits while the run is paused; a wish is let through.
    pub fn wait_while_paused(&self) {
        let mut state = self.state();
        while state.paused.is_some() && state.over.is_none() && state.wishes.is_empty() {
            let waited = self.0.changed.wait_timeout(state, LOOK_EVERY);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.state().paused.is_some()
    }

    /// Time that does not count as the episode's.
    pub fn add_waited(&self, time: Duration) {
        self.state().waited += time;
    }

    /// All such time, pauses included.
    #[must_use]
    pub fn waited(&self) -> Duration {
        let state = self.state();
        state.waited + state.paused.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The wall-clock budget of an episode.
#[derive(Clone)]
pub(crate) struct Clock {
    pub began: Instant,
    pub budget: Option<Duration>,
    pub control: Control,
}

impl Clock {
    /// When the time is used up.
    pub fn end(&self) -> Option<Instant> {
        Some(self.began + self.budget? + self.control.waited())
    }

    pub fn left(&self, now: Instant) -> Option<Duration> {
        Some(self.end()?.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_provider_does_not_count() {
        let control = Control::default();
        let (began, second) = (Instant::now(), Duration::from_secs(1));
        let clock = Clock { began, budget: Some(second * 10), control: control.clone() };
        assert_eq!(clock.left(began + second * 4), Some(second * 6));
        control.add_waited(second * 30);
        assert_eq!(clock.left(began + second * 34), Some(second * 6));
        assert_eq!(clock.left(began + second * 99), Some(Duration::ZERO));
    }

    #[test]
    fn a_pause_ends_with_the_episode_and_lets_wishes_through() {
        let control = Control::default();
        control.pause(true);
        let waiting = control.clone();
        let thread = std::thread::spawn(move || {
            waiting.wait_while_paused();
            let wish = waiting.next_wish();
            waiting.wait_while_paused();
            wish
        });
        control.wish(Wish::Say("left".to_owned()));
        control.end(Why::Stopped);
        assert_eq!(thread.join().unwrap(), Some(Wish::Say("left".to_owned())));
        control.end(Why::Solved);
        assert_eq!(control.over(), Some(Why::Stopped), "the first reason stays");
    }

    #[test]
    fn a_used_up_budget_leaves_last_words() {
        let control = Control::default();
        control.end(Why::Budget(ruaflow_prompt::Limit::Time));
        assert!(control.over().is_some() && !control.stopped());
        control.close();
        assert!(control.stopped());
    }
}
