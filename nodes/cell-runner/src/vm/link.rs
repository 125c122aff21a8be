//! The child's connection to the node, for its three threads.

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};
use ruaflow_robots::{Primitives, RobotApi};
use rustpython_vm::VirtualMachine;
use rustpython_vm::signal::UserSignalSender;

use super::inbox::Delivery;
use crate::child::MAX_OUTPUT;
use crate::protocol::{Finish, FromChild, Stream, ToChild, write_message};

/// Printed text is sent at once at each newline, so that it survives a crash;
/// after this many bytes in one cell only now and then, and only its end,
/// because nobody would read the rest.
const PROMPT_BYTES: usize = 64 << 10;
/// Longest text of one message.
const PIECE_BYTES: usize = 64 << 10;
/// Longest that text waits, and how many times longer once there is much of it.
const FLUSH_EVERY: Duration = Duration::from_millis(20);
const SLOW: u32 = 10;

/// No cell runs.
const IDLE: u32 = u32::MAX;

static LINK: OnceLock<Link> = OnceLock::new();

pub(super) struct Link {
    writer: Mutex<&'static UnixStream>,
    inbox: Sender<Delivery>,
    messages: Receiver<Delivery>,
    interrupts: UserSignalSender,
    stdout: Mutex<Printed>,
    stderr: Mutex<Printed>,
    /// Index of the running cell, or [`IDLE`].
    running: AtomicU32,
    /// Cell that was asked to end, and why.
    asked_to_end: Mutex<Option<(u32, String)>>,
    robot: OnceLock<(&'static RobotApi, Primitives)>,
    finish: Mutex<Option<Finish>>,
}

/// What is still to be sent of a stream.
#[derive(Default)]
struct Printed {
    text: String,
    /// Characters left out before the text.
    skipped: usize,
    /// Bytes sent in this cell.
    sent: usize,
}

/// Opens the process's link.
pub(super) fn open(writer: &'static UnixStream, interrupts: UserSignalSender) {
    let (inbox, messages) = unbounded();
    let link = Link {
        writer: Mutex::new(writer),
        inbox,
        messages,
        interrupts,
        stdout: Mutex::default(),
        stderr: Mutex::default(),
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
    pub(super) fn send(&self, message: &FromChild, bytes: &[u8]) {
        if write_message(&mut *lock(&self.writer), message, bytes).is_err() {
            std::process::exit(0);
        }
    }

    /// Hands over what the node said; interrupts go straight to the interpreter.
    pub(super) fn deliver(delivery: Delivery) {
        let link = get();
        if let ToChild::Interrupt { index, reason } = delivery.message {
            *lock(&link.asked_to_end) = Some((index, reason));
            link.interrupt();
        } else {
            let _ = link.inbox.send(delivery);
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
    pub(super) fn messages(&self) -> &Receiver<Delivery> {
        &self.messages
    }

    pub(super) fn begin(&self, index: u32) {
        self.running.store(index, Ordering::Relaxed);
        lock(&self.stdout).sent = 0;
        lock(&self.stderr).sent = 0;
        // It may have been asked to end before it began.
        self.interrupt();
    }

    /// Ends the running cell: sends what it printed, forgets late interrupts.
    pub(super) fn end(&self) -> Option<Finish> {
        self.flush_all();
        self.running.store(IDLE, Ordering::Relaxed);
        lock(&self.finish).take()
    }

    pub(super) fn robot(&self) -> Option<(&'static RobotApi, Primitives)> {
        self.robot.get().copied()
    }

    /// Sets the robot; a process serves one.
    pub(super) fn set_robot(&self, robot: &'static RobotApi, primitives: Primitives) {
        let _ = self.robot.set((robot, primitives));
    }

    pub(super) fn finish(&self, finish: Finish) {
        *lock(&self.finish) = Some(finish);
    }

    pub(super) fn is_finished(&self) -> bool {
        lock(&self.finish).is_some()
    }

    pub(super) fn print(&self, stream: Stream, text: &str) {
        let mut printed = lock(self.printed(stream));
        let mut rest = text;
        // A text of any length takes little memory.
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
            printed.text.push_str(piece);
            if printed.sent >= PROMPT_BYTES {
                // Rarely, because it moves what it keeps.
                printed.shorten(PIECE_BYTES);
            } else if piece.contains('\n') || printed.text.len() >= PIECE_BYTES {
                self.send_printed(stream, &mut printed);
            }
            rest = after;
        }
    }

    /// Sends what was printed, unless there is too much of it to do that often.
    pub(super) fn flush(&self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let mut printed = lock(self.printed(stream));
            if printed.sent < PROMPT_BYTES {
                self.send_printed(stream, &mut printed);
            }
        }
    }

    fn flush_all(&self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.send_printed(stream, &mut lock(self.printed(stream)));
        }
    }

    /// Sends waiting text every [`FLUSH_EVERY`] for as long as the process lives.
    pub(super) fn flush_in_time(&self) -> ! {
        for time in 0_u32.. {
            std::thread::sleep(FLUSH_EVERY);
            if self.running.load(Ordering::Relaxed) == IDLE {
                continue;
            }
            if time.is_multiple_of(SLOW) {
                self.flush_all();
            } else {
                self.flush();
            }
        }
        unreachable!("a process does not live so long")
    }

    fn printed(&self, stream: Stream) -> &Mutex<Printed> {
        match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        }
    }

    fn send_printed(&self, stream: Stream, printed: &mut Printed) {
        if printed.sent >= PROMPT_BYTES {
            printed.shorten(MAX_OUTPUT);
        }
        while !printed.text.is_empty() {
            let piece = printed.text.floor_char_boundary(PIECE_BYTES);
            let text = printed.text.drain(..piece).collect();
            let skipped = std::mem::take(&mut printed.skipped);
            self.send(&FromChild::Output { stream, text, skipped }, b"");
            printed.sent += piece;
        }
    }
}

impl Printed {
    /// Keeps the end, of which the node shows at most [`MAX_OUTPUT`] characters,
    /// if there are more than `limit` bytes.
    fn shorten(&mut self, limit: usize) {
        if self.text.len() <= limit {
            return;
        }
        let kept = self.text.char_indices().rev().nth(MAX_OUTPUT - 1).map_or(0, |(at, _)| at);
        self.skipped += self.text[..kept].chars().count();
        self.text.drain(..kept);
    }
}

/// A poisoned lock guards plain data that is valid after any panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
