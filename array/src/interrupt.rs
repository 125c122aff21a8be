//! How a host stops a loop that runs long.

use std::sync::atomic::{AtomicPtr, Ordering};

use crate::error::{Error, Result};

/// Elements that a loop may pass over between two checks.
pub const STRIDE: usize = 1 << 20;

/// Tells whether the work should stop.
pub type Hook = fn() -> bool;

static HOOK: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Installs what [`check`] asks. It is called often and should be cheap.
pub fn set_hook(hook: Hook) {
    HOOK.store(hook as *mut (), Ordering::Release);
}

/// Called by every long loop, at least once in [`STRIDE`] elements.
///
/// # Errors
/// [`Error::Interrupted`] when the hook says so.
pub fn check() -> Result<()> {
    let hook = HOOK.load(Ordering::Acquire);
    if hook.is_null() {
        return Ok(());
    }
    // SAFETY: only `set_hook` stores here, and it stores a `Hook`.
    let hook: Hook = unsafe { std::mem::transmute::<*mut (), Hook>(hook) };
    if hook() { Err(Error::Interrupted) } else { Ok(()) }
}
