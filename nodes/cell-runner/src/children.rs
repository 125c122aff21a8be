//! The process that runs cells, and one more that is up already to take its place.

use std::ops::Deref;

use crate::child::{Child, ChildEvent, SpawnError};

/// Starts a child whose events carry the given generation.
pub type Spawn = Box<dyn FnMut(u64) -> Result<Child, SpawnError>>;

/// Stands for the child that runs cells now.
pub(crate) struct Children {
    spawn: Spawn,
    current: Slot,
    /// Started when the current one is up, so that it delays nothing.
    spare: Option<Slot>,
    /// Children started so far; the next one's generation.
    started: u64,
}

struct Slot {
    child: Child,
    generation: u64,
    ready: bool,
}

impl Children {
    pub(crate) fn new(mut spawn: Spawn) -> Result<Self, SpawnError> {
        let current = Slot { child: spawn(0)?, generation: 0, ready: false };
        Ok(Self { spawn, current, spare: None, started: 1 })
    }

    /// Whether the current child has come up.
    pub(crate) fn is_ready(&self) -> bool {
        self.current.ready
    }

    /// Takes note of what a child said; gives it back if it is the current one's.
    pub(crate) fn hear(&mut self, generation: u64, event: ChildEvent) -> Option<ChildEvent> {
        if generation == self.current.generation {
            if let ChildEvent::Ready { .. } = event {
                self.current.ready = true;
                self.start_spare();
            }
            return Some(event);
        }
        let spare = self.spare.as_mut().filter(|spare| spare.generation == generation)?;
        match event {
            ChildEvent::Ready { .. } => spare.ready = true,
            ChildEvent::Exited { exit, .. } => {
                tracing::warn!(%exit, "a spare process ended");
                self.spare = None;
            }
            // No cell runs in it.
            _ => {}
        }
        None
    }

    /// Kills the current child and puts the spare in its place.
    ///
    /// # Errors
    /// When there is none and none can be started.
    pub(crate) fn replace(&mut self) -> Result<(), SpawnError> {
        self.current = match self.spare.take() {
            Some(spare) => spare,
            None => self.start()?,
        };
        if self.current.ready {
            self.start_spare();
        }
        Ok(())
    }

    fn start_spare(&mut self) {
        if self.spare.is_some() {
            return;
        }
        match self.start() {
            Ok(spare) => self.spare = Some(spare),
            // There will be one when it is needed, or an error then.
            Err(error) => tracing::warn!(%error, "no spare process"),
        }
    }

    fn start(&mut self) -> Result<Slot, SpawnError> {
        let generation = self.started;
        self.started += 1;
        Ok(Slot { child: (self.spawn)(generation)?, generation, ready: false })
    }
}

impl Deref for Children {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.current.child
    }
}
