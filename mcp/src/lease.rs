//! Who holds the robot.

use std::time::{Duration, Instant};

/// The robot's one holder: the client that first moves it, until it leaves or has
/// not called for a while when somebody else wants it.
#[derive(Debug)]
pub(crate) struct Lease {
    idle: Duration,
    holder: Option<Holder>,
}

#[derive(Debug)]
struct Holder {
    key: Key,
    name: String,
    running: u32,
    last: Instant,
}

/// Tells clients apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A session of the server.
    Session(u64),
    /// A client that keeps no session, by its name.
    Named(String),
}

impl Lease {
    pub fn new(idle: Duration) -> Self {
        Lease { idle, holder: None }
    }

    /// Takes the robot for one call, or says why not. `done` is to follow.
    pub fn take(&mut self, key: &Key, name: &str, now: Instant) -> Result<(), String> {
        match &mut self.holder {
            Some(holder) if holder.key == *key => holder.running += 1,
            Some(holder)
                if holder.running > 0 || now < holder.last + holder.patience(self.idle) =>
            {
                return Err(refusal(holder, holder.patience(self.idle), now));
            }
            _ => {
                let name = name.to_owned();
                self.holder = Some(Holder { key: key.clone(), name, running: 1, last: now });
            }
        }
        Ok(())
    }

    /// A call has ended.
    pub fn done(&mut self, key: &Key, now: Instant) {
        if let Some(holder) = self.holder.as_mut().filter(|holder| holder.key == *key) {
            holder.running = holder.running.saturating_sub(1);
            holder.last = now;
        }
    }

    /// A client has left.
    pub fn leave(&mut self, key: &Key) {
        if self.holder.as_ref().is_some_and(|holder| holder.key == *key) {
            self.holder = None;
        }
    }
}

impl Holder {
    /// How long it may be silent. Who keeps no session can't say that it leaves.
    fn patience(&self, idle: Duration) -> Duration {
        match self.key {
            Key::Session(_) => idle,
            Key::Named(_) => idle / 10,
        }
    }
}

fn refusal(holder: &Holder, idle: Duration, now: Instant) -> String {
    let free = if holder.running > 0 {
        "a call of it runs".to_owned()
    } else {
        let silent = now.saturating_duration_since(holder.last);
        format!(
            "it last called {} s ago; the robot is free when it leaves or in {} s",
            silent.as_secs(),
            idle.saturating_sub(silent).as_secs() + 1
        )
    };
    format!("{} holds the robot: {free}. Nothing was done.", holder.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(60);

    fn session(number: u64) -> Key {
        Key::Session(number)
    }

    #[test]
    fn who_moves_first_holds_the_robot_and_others_are_told_who() {
        let (mut lease, now) = (Lease::new(IDLE), Instant::now());
        lease.take(&session(1), "codex 1.0", now).unwrap();
        let refused = lease.take(&session(2), "claude", now).unwrap_err();
        assert!(refused.starts_with("codex 1.0 holds the robot: a call of it runs"), "{refused}");
        lease.done(&session(1), now);
        let later = now + Duration::from_secs(10);
        let refused = lease.take(&session(2), "claude", later).unwrap_err();
        assert!(refused.contains("10 s ago") && refused.contains("in 51 s"), "{refused}");
        lease.take(&session(1), "codex 1.0", later).unwrap();
    }

    #[test]
    fn it_is_free_when_the_holder_leaves_and_only_then() {
        let (mut lease, now) = (Lease::new(IDLE), Instant::now());
        lease.take(&session(1), "one", now).unwrap();
        lease.leave(&session(2));
        lease.done(&session(2), now);
        assert!(lease.take(&session(2), "two", now).is_err());
        lease.leave(&session(1));
        lease.take(&session(2), "two", now).unwrap();
    }

    #[test]
    fn a_silent_holder_loses_it_to_who_asks_but_not_in_mid_call() {
        let (mut lease, now) = (Lease::new(IDLE), Instant::now());
        let named = Key::Named("ide".to_owned());
        lease.take(&named, "ide", now).unwrap();
        lease.take(&named, "ide", now).unwrap();
        lease.done(&named, now);
        assert!(lease.take(&session(2), "two", now + IDLE * 9).is_err(), "one call still runs");
        lease.done(&named, now + IDLE * 9);
        assert!(lease.take(&session(2), "two", now + IDLE * 9).is_err(), "it has just called");
        lease.take(&session(2), "two", now + IDLE * 10).unwrap();
        assert!(lease.take(&named, "ide", now + IDLE * 10).is_err());
    }

    #[test]
    fn who_keeps_no_session_is_waited_for_less() {
        let (mut lease, now) = (Lease::new(IDLE), Instant::now());
        let named = Key::Named("ide".to_owned());
        lease.take(&named, "ide", now).unwrap();
        lease.done(&named, now);
        assert!(lease.take(&session(2), "two", now + IDLE / 20).is_err());
        lease.take(&session(2), "two", now + IDLE / 10).unwrap();
    }
}
