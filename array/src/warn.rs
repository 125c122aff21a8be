//! Warnings, as numpy gives them through Python's `warnings`.

use std::cell::RefCell;

use crate::error::Result;

/// Python's class of the warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warning {
    /// `RuntimeWarning`: floating point trouble, means of nothing.
    Runtime,
    /// `DeprecationWarning`.
    Deprecation,
}

/// Takes a warning; an error from it stops the operation.
pub type Sink = Box<dyn Fn(Warning, &str) -> Result<()>>;

thread_local! {
    static SINK: RefCell<Option<Sink>> = const { RefCell::new(None) };
}

/// Installs the sink of this thread. Without one, warnings are dropped.
pub fn set_sink(sink: Sink) {
    SINK.with(|slot| *slot.borrow_mut() = Some(sink));
}

/// Gives a warning.
///
/// # Errors
/// What the sink returns: [`crate::Error::Warning`] when the host raises it.
pub fn warn(kind: Warning, text: &str) -> Result<()> {
    SINK.with(|slot| match &*slot.borrow() {
        Some(sink) => sink(kind, text),
        None => Ok(()),
    })
}
