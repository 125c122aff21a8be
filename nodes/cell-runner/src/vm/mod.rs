//! The child process: RustPython, one namespace, and a socket to the node.
//!
//! Three threads: `cell` runs Python, the main thread reads what the node says,
//! `flush` sends printed text that no newline has sent.

mod arrays;
mod cell;
mod closed;
mod convert;
mod host;
mod inbox;
mod interpreter;
mod link;
mod native;
mod pil;
mod pixels;

use std::io;
use std::mem::ManuallyDrop;
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};

use rustpython_vm::signal::{UserSignalReceiver, user_signal_channel};

use crate::protocol::FromChild;
use crate::sandbox::Sandbox;
use cell::Session;
use inbox::Inbox;
use link::Link;

/// The interpreter's stack. Deep recursion in native code (`map` over `map`,
/// comparisons of nested lists) needs more than the usual 8 MiB.
const STACK_BYTES: usize = 256 << 20;

/// The child's `main`: serves cells until the node goes away.
///
/// `memory_bytes` is what cells may allocate.
pub fn main(memory_bytes: u64) -> ! {
    match Sandbox::enter(&[]) {
        Ok((sandbox, socket)) => serve(sandbox, socket, memory_bytes),
        Err(error) => end(&error),
    }
}

fn end(error: &io::Error) -> ! {
    eprintln!("cell: {error}");
    std::process::exit(1)
}

fn serve(sandbox: Sandbox, socket: UnixStream, memory_bytes: u64) -> ! {
    let (interrupts, interrupted) = user_signal_channel();
    // One descriptor, because the sandbox knows it by its number.
    let socket: &'static UnixStream = Box::leak(Box::new(socket));
    link::open(socket, interrupts);
    let mut inbox = Inbox::new(socket);
    // No thread can be made once the sandbox is closed.
    let started = thread::Builder::new()
        .name("flush".to_owned())
        .spawn(|| link::get().flush_in_time())
        .and_then(|_| start_interpreter(sandbox, interrupted, memory_bytes));
    if let Err(error) = started {
        end(&error);
    }
    loop {
        match inbox.next() {
            Ok(Some(delivery)) => Link::deliver(delivery),
            Ok(None) => std::process::exit(0),
            Err(error) => end(&error),
        }
    }
}

fn start_interpreter(
    sandbox: Sandbox,
    interrupted: UserSignalReceiver,
    memory_bytes: u64,
) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("cell".to_owned()).stack_size(STACK_BYTES).spawn(move || {
        let _end = EndOfProcess;
        // Finalizing one that ran foreign code would be a risk without a gain.
        let interpreter = ManuallyDrop::new(interpreter::build(interrupted));
        interpreter.enter(|vm| {
            let mut session = Session::new(vm);
            let layers = sandbox.close(memory_bytes);
            link::get().send(&FromChild::Ready { layers }, b"");
            session.serve();
        });
    })
}

/// Ends the process with the interpreter's thread, also when that panics.
struct EndOfProcess;

impl Drop for EndOfProcess {
    fn drop(&mut self) {
        std::process::exit(1);
    }
}
