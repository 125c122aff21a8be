//! What a child may say when. The node counts on nothing that comes from a
//! child, so that a cell which has taken over its process gains nothing: it can
//! only ask while its cell runs, one question after the other, and end that
//! cell once.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::protocol::FromChild;

/// No cell runs.
const IDLE: u64 = u64::MAX;

/// Questions without an answer at most. A cell waits for each; one that was
/// interrupted while it waited may ask again.
const MAX_OPEN: usize = 8;

/// Printed bytes of one cell at most. A child leaves out what nobody would
/// read, long before that.
const MAX_PRINTED: usize = 128 << 20;

#[derive(Debug)]
pub(crate) struct Conduct {
    /// Index of the running cell, or [`IDLE`].
    running: AtomicU64,
    open: AtomicUsize,
}

impl Default for Conduct {
    fn default() -> Self {
        Self { running: AtomicU64::new(IDLE), open: AtomicUsize::new(0) }
    }
}

impl Conduct {
    pub(crate) fn cell_begins(&self, index: u32) {
        self.open.store(0, Ordering::Relaxed);
        self.running.store(index.into(), Ordering::Relaxed);
    }

    pub(crate) fn answered(&self) {
        let less = |open: usize| open.checked_sub(1);
        // At zero already when the cell had ended.
        let _ = self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Whether a question may be asked, and notes it.
    fn asks(&self) -> Result<(), &'static str> {
        if self.running.load(Ordering::Relaxed) == IDLE {
            return Err("asked for something although no cell runs");
        }
        if self.open.fetch_add(1, Ordering::Relaxed) >= MAX_OPEN {
            return Err("asked without waiting for answers");
        }
        Ok(())
    }

    fn cell_ends(&self, index: u32) -> Result<(), &'static str> {
        let running = self.running.swap(IDLE, Ordering::Relaxed);
        if running != u64::from(index) {
            return Err("ended a cell that does not run");
        }
        Ok(())
    }
}

/// What the listener remembers of one child.
#[derive(Debug, Default)]
pub(crate) struct Record {
    ready: bool,
    printed: usize,
}

impl Record {
    /// # Errors
    /// What no child of ours would do, to follow "because it".
    pub(crate) fn check(
        &mut self,
        conduct: &Conduct,
        message: &FromChild,
        bytes: &[u8],
    ) -> Result<(), &'static str> {
        match message {
            FromChild::Ready { .. } if std::mem::replace(&mut self.ready, true) => {
                return Err("came up twice");
            }
            FromChild::Ready { .. } => {}
            FromChild::Output { text, .. } => {
                self.printed = self.printed.saturating_add(text.len());
                if self.printed > MAX_PRINTED {
                    return Err("flooded the node with text");
                }
            }
            FromChild::Done(done) => {
                self.printed = 0;
                conduct.cell_ends(done.index)?;
                if done.finish.as_ref().is_some_and(|finish| !finish.is_valid()) {
                    return Err("finished with a status that there is not");
                }
            }
            FromChild::Display { picture, .. } => {
                conduct.asks()?;
                if picture.size() != Some(bytes.len()) {
                    return Err("sent a picture whose size is not that of its bytes");
                }
            }
            FromChild::Call { .. } | FromChild::Attribute { .. } | FromChild::File { .. } => {
                conduct.asks()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::protocol::{Done, Picture, Stream};

    fn call() -> FromChild {
        FromChild::Call { id: 0, method: "move_to".to_owned(), arguments: Map::new() }
    }

    fn done(index: u32) -> FromChild {
        FromChild::Done(Done { index, value: None, error: None, finish: None })
    }

    #[test]
    fn a_child_asks_only_while_its_cell_runs() {
        let (conduct, mut record) = (Conduct::default(), Record::default());
        assert!(record.check(&conduct, &call(), b"").is_err());
        conduct.cell_begins(3);
        assert_eq!(record.check(&conduct, &call(), b""), Ok(()));
        assert_eq!(record.check(&conduct, &done(3), b""), Ok(()));
        assert!(record.check(&conduct, &call(), b"").is_err());
    }

    #[test]
    fn a_cell_ends_once_and_by_its_own_number() {
        let (conduct, mut record) = (Conduct::default(), Record::default());
        assert!(record.check(&conduct, &done(0), b"").is_err());
        conduct.cell_begins(3);
        assert!(record.check(&conduct, &done(4), b"").is_err());
        conduct.cell_begins(5);
        assert_eq!(record.check(&conduct, &done(5), b""), Ok(()));
        assert!(record.check(&conduct, &done(5), b"").is_err());
    }

    #[test]
    fn questions_without_end_are_cut_off() {
        let (conduct, mut record) = (Conduct::default(), Record::default());
        conduct.cell_begins(1);
        for _ in 0..10_000 {
            assert_eq!(record.check(&conduct, &call(), b""), Ok(()));
            conduct.answered();
        }
        let cut = (0..MAX_OPEN + 1).find(|_| record.check(&conduct, &call(), b"").is_err());
        assert_eq!(cut, Some(MAX_OPEN));
    }

    #[test]
    fn text_without_end_is_cut_off() {
        let (conduct, mut record) = (Conduct::default(), Record::default());
        conduct.cell_begins(1);
        let text = "x".repeat(MAX_PRINTED / 4);
        let output = FromChild::Output { stream: Stream::Stdout, skipped: 0, text };
        for _ in 0..4 {
            assert_eq!(record.check(&conduct, &output, b""), Ok(()));
        }
        assert!(record.check(&conduct, &output, b"").is_err());
    }

    #[test]
    fn a_picture_has_the_bytes_it_says() {
        let (conduct, mut record) = (Conduct::default(), Record::default());
        conduct.cell_begins(1);
        let mut show = |shape: &[usize], bytes: &[u8]| {
            let picture = Picture { shape: shape.to_vec(), caption: String::new() };
            let checked = record.check(&conduct, &FromChild::Display { id: 0, picture }, bytes);
            conduct.answered();
            checked.is_ok()
        };
        assert!(show(&[1, 2, 3], &[0; 6]));
        assert!(show(&[2, 3], &[0; 6]));
        for shape in [&[6][..], &[1, 3, 2], &[2, 4], &[0, 6], &[usize::MAX, 2, 3], &[1, 1, 1, 6]] {
            assert!(!show(shape, &[0; 6]), "{shape:?}");
        }
        assert!(!show(&[0, 0], &[]));
    }

    #[test]
    fn a_child_comes_up_once() {
        let (conduct, mut record) = (Conduct::default(), Record::default());
        let ready = FromChild::Ready { layers: Vec::new() };
        assert_eq!(record.check(&conduct, &ready, b""), Ok(()));
        assert!(record.check(&conduct, &ready, b"").is_err());
    }
}
