//! The child's connection to the node, for its three threads.

use std::fs::File;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};
use ruaflow_robots::RobotApi;
use rustpython_vm::VirtualMachine;
use rustpython_vm::signal::UserSignalSender;

use crate::protocol::{Finish, FromChild, Stream, ToChild, write_message};

/// Printed text is sent at once at each newline, so that it survives a crash;
/// after this many bytes in one cell only in larger pieces, for speed.
const PROMPT_BYTES: usize = 64 << 10;
const PIECE_BYTES: usize = 8 << 10;
/// Longest that text without a newline waits.
const FLUSH_EVERY: Duration = Duration::from_millis(20);

/// No cell runs.
const IDLE: u32 = u32::MAX;

static LINK: OnceLock<Link> = OnceLock::new();

pub(super) struct Link {
    writer: Mutex<File>,
    inbox: Sender<ToChild>,
    messages: Receiver<ToChild>,
    interrupts: UserSignalSender,
    printed: Mutex<Printed>,
    /// Index of the running cell, or [`IDLE`].
    running: AtomicU32,
    /// Cell that was asked to end, and why.
    asked_to_end: Mutex<Option<(u32, String)>>,
    robot: OnceLock<&'static RobotApi>,
    finish: Mutex<Option<Finish>>,
}

#[derive(Default)]
struct Printed {
    stdout: bool,
    text: String,
    sent_bytes: usize,
}

/// Opens the process's link.
pub(super) fn open(writer: File, interrupts: UserSignalSender) {
    let (inbox, messages) = unbounded();
    let link = Link {
        writer: Mutex::new(writer),
        inbox,
        messages,
        interrupts,
        printed: Mutex::default(),
        running: AtomicU32::new(IDLE),
        asked_to_end: Mutex::default(),
        robot: OnceLock::new(),
        finish: Mutex::default(),
    };
    assert!(LINK.set(link).is_ok(), "a process has one link");
}

/// The process's link.
pub(super) fn get() -> &'static Link {
    LINK.get().unwrap_or_else(|| unreachable!("opened before any thread starts"))
}

impl Link {
    /// Sends a message; a node that does not listen any more ends the process.
    pub(super) fn send(&self, message: &FromChild) {
        if write_message(&mut *lock(&self.writer), message).is_err() {
            std::process::exit(0);
        }
    }

    /// Hands over what the node said; interrupts go straight to the interpreter.
    pub(super) fn deliver(message: ToChild) {
        let link = get();
        match message {
            ToChild::Interrupt { index, reason } => {
                *lock(&link.asked_to_end) = Some((index, reason));
                link.interrupt();
            }
            other => {
                let _ = link.inbox.send(other);
            }
        }
    }

    /// Has the interpreter raise `KeyboardInterrupt` if the running cell was asked to end.
    fn interrupt(&self) {
        let raise = |vm: &VirtualMachine| {
            let link = get();
            let running = link.running.load(Ordering::Relaxed);
            match lock(&link.asked_to_end).take_if(|(index, _)| *index == running) {
                Some((_, reason)) => {
                    let kind = vm.ctx.exceptions.keyboard_interrupt.to_owned();
                    Err(vm.new_exception_msg(kind, reason.into()))
                }
                None => Ok(()),
            }
        };
        // Fails only when the interpreter is gone, and the process with it.
        let _ = self.interrupts.send(Box::new(raise));
    }

    /// What the node said, interrupts apart.
    pub(super) fn messages(&self) -> &Receiver<ToChild> {
        &self.messages
    }

    pub(super) fn begin(&self, index: u32) {
        self.running.store(index, Ordering::Relaxed);
        lock(&self.printed).sent_bytes = 0;
        // It may have been asked to end before it began.
        self.interrupt();
    }

    /// Ends the running cell: sends what it printed, forgets late interrupts.
    pub(super) fn end(&self) -> Option<Finish> {
        self.flush();
        self.running.store(IDLE, Ordering::Relaxed);
        lock(&self.finish).take()
    }

    pub(super) fn robot(&self) -> Option<&'static RobotApi> {
        self.robot.get().copied()
    }

    /// Sets the robot; a process serves one.
    pub(super) fn set_robot(&self, robot: &'static RobotApi) {
        let _ = self.robot.set(robot);
    }

    pub(super) fn finish(&self, finish: Finish) {
        *lock(&self.finish) = Some(finish);
    }

    pub(super) fn is_finished(&self) -> bool {
        lock(&self.finish).is_some()
    }

    pub(super) fn print(&self, stream: Stream, text: &str) {
        let mut printed = lock(&self.printed);
        let stdout = stream == Stream::Stdout;
        if printed.stdout != stdout {
            self.send_printed(&mut printed);
            printed.stdout = stdout;
        }
        printed.text.push_str(text);
        let prompt = printed.sent_bytes < PROMPT_BYTES && text.contains('\n');
        if prompt || printed.text.len() >= PIECE_BYTES {
            self.send_printed(&mut printed);
        }
    }

    pub(super) fn flush(&self) {
        self.send_printed(&mut lock(&self.printed));
    }

    /// Sends waiting text every [`FLUSH_EVERY`] for as long as the process lives.
    pub(super) fn flush_in_time(&self) -> ! {
        loop {
            std::thread::sleep(FLUSH_EVERY);
            if self.running.load(Ordering::Relaxed) != IDLE {
                self.flush();
            }
        }
    }

    fn send_printed(&self, printed: &mut Printed) {
        if printed.text.is_empty() {
            return;
        }
        let stream = if printed.stdout { Stream::Stdout } else { Stream::Stderr };
        printed.sent_bytes += printed.text.len();
        // One write of a long text must stay below the limit of a message.
        let mut rest = printed.text.as_str();
        while !rest.is_empty() {
            let end = rest.floor_char_boundary(PIECE_BYTES);
            let text = rest[..end].to_owned();
            self.send(&FromChild::Output { stream, text });
            rest = &rest[end..];
        }
        printed.text.clear();
    }
}

/// A poisoned lock guards plain data that is valid after any panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
