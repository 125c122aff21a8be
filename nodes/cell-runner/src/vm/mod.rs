//! The child process: RustPython, one namespace, and a pipe to the node.
//!
//! Three threads: `cell` runs Python, the main thread reads what the node says,
//! `flush` sends printed text that no newline has sent.

mod cell;
mod confine;
mod convert;
mod interpreter;
mod link;
mod native;

use std::fs::File;
use std::mem::ManuallyDrop;
use std::thread;

use rustpython_vm::signal::user_signal_channel;

use crate::protocol::{FromChild, MAX_TO_CHILD, ToChild, read_message};
use cell::Session;
use link::Link;

/// The interpreter's stack. Deep recursion in native code (`map` over `map`,
/// comparisons of nested lists) needs more than the usual 8 MiB.
const STACK_BYTES: usize = 256 << 20;

/// The child's `main`: serves cells until the node goes away.
///
/// `memory_bytes` is what cells may allocate.
pub fn main(memory_bytes: u64) -> ! {
    match confine::enter() {
        Ok((from_node, to_node)) => serve(from_node, to_node, memory_bytes),
        Err(error) => {
            eprintln!("cell: {error}");
            std::process::exit(1)
        }
    }
}

fn serve(mut from_node: File, to_node: File, memory_bytes: u64) -> ! {
    let (interrupts, interrupted) = user_signal_channel();
    link::open(to_node, interrupts);
    let started = thread::Builder::new()
        .name("cell".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let _end = EndOfProcess;
            // Finalizing one that ran foreign code would be a risk without a gain.
            let interpreter = ManuallyDrop::new(interpreter::build(interrupted));
            interpreter.enter(|vm| {
                let mut session = Session::new(vm);
                if let Err(error) = confine::limit_memory(memory_bytes) {
                    eprintln!("cell: {error}");
                    return;
                }
                link::get().send(&FromChild::Ready);
                session.serve();
            });
        })
        .and_then(|_| {
            thread::Builder::new().name("flush".to_owned()).spawn(|| link::get().flush_in_time())
        });
    if let Err(error) = started {
        eprintln!("cell: could not start a thread: {error}");
        std::process::exit(1);
    }
    loop {
        match read_message::<ToChild>(&mut from_node, MAX_TO_CHILD) {
            Ok(Some(message)) => Link::deliver(message),
            Ok(None) => std::process::exit(0),
            Err(error) => {
                eprintln!("cell: {error}");
                std::process::exit(1);
            }
        }
    }
}

/// Ends the process with the interpreter's thread, also when that panics.
struct EndOfProcess;

impl Drop for EndOfProcess {
    fn drop(&mut self) {
        std::process::exit(1);
    }
}
