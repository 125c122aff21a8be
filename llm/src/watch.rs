//! Looking on while a model answers.

use std::time::Duration;

/// Sees a reply as it comes, and may stop it.
///
/// All methods are called on the thread that waits for the reply.
pub trait Watch {
    /// More text, as the model writes it; before calls are taken out of it.
    fn text(&mut self, _more: &str) {}

    /// An attempt failed and another follows after the pause: text seen so far
    /// is void.
    fn retry(&mut self, _why: &str, _pause: Duration) {}

    /// True to give up. Asked at least every 50 ms.
    fn stopped(&mut self) -> bool {
        false
    }
}

/// Looks away.
impl Watch for () {}
