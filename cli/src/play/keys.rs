//! What a person does while a run goes on: keys and signals.

use std::io::{IsTerminal as _, stdin};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd as _;
use std::sync::mpsc::{Receiver, channel};

use eyre::Result;
use rustix::process::getpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Hold the robot at once.
    EmergencyStop,
    /// End the run in good order.
    End,
}

/// Listens until it is dropped, and then leaves the terminal as it was.
pub struct Wishes {
    signals: Signals,
    keys: Option<Keys>,
}

impl Wishes {
    /// Signals alone, for what is typed belongs to somebody else.
    pub fn signals() -> Result<Self> {
        Ok(Wishes { signals: Signals::new([SIGINT, SIGTERM, SIGHUP])?, keys: None })
    }

    pub fn listen() -> Result<Self> {
        Ok(Wishes { signals: Signals::new([SIGINT, SIGTERM, SIGHUP])?, keys: Keys::listen()? })
    }

    /// Whether keys are listened to.
    pub fn keys(&self) -> bool {
        self.keys.is_some()
    }

    /// What was wished since the last call.
    pub fn poll(&mut self) -> Vec<Wish> {
        let ends = self.signals.pending().map(|_| Wish::End);
        let stops = self.keys.iter().flat_map(Keys::pressed).filter(|key| b"sS ".contains(key));
        stops.map(|_| Wish::EmergencyStop).chain(ends).collect()
    }
}

/// Keys as they are pressed, without waiting for Enter.
struct Keys {
    before: libc::termios,
    pressed: Receiver<u8>,
}

impl Keys {
    /// None when there is no terminal to listen on, or it is somebody else's turn there.
    fn listen() -> Result<Option<Self>> {
        if !stdin().is_terminal() || foreground_group() != getpgrp().as_raw_nonzero().get() {
            return Ok(None);
        }
        let before = terminal_modes()?;
        let mut modes = before;
        // Ctrl-C stays a signal.
        modes.c_lflag &= !(libc::ICANON | libc::ECHO);
        set_terminal_modes(&modes)?;
        let (sender, pressed) = channel();
        let keys = Keys { before, pressed };
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || {
            let mut key = [0];
            while let Ok(1) = rustix::io::read(stdin(), &mut key) {
                if sender.send(key[0]).is_err() {
                    return;
                }
            }
        })?;
        Ok(Some(keys))
    }

    fn pressed(&self) -> impl Iterator<Item = u8> {
        self.pressed.try_iter()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // The terminal may have gone away.
        let _ = set_terminal_modes(&self.before);
    }
}

fn foreground_group() -> i32 {
    // SAFETY: takes no memory of ours.
    unsafe { libc::tcgetpgrp(stdin().as_raw_fd()) }
}

fn terminal_modes() -> std::io::Result<libc::termios> {
    let mut modes = MaybeUninit::uninit();
    // SAFETY: the kernel writes the whole structure when it returns 0.
    unsafe {
        match libc::tcgetattr(stdin().as_raw_fd(), modes.as_mut_ptr()) {
            0 => Ok(modes.assume_init()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }
}

fn set_terminal_modes(modes: &libc::termios) -> std::io::Result<()> {
    // SAFETY: reads a whole structure that outlives the call.
    match unsafe { libc::tcsetattr(stdin().as_raw_fd(), libc::TCSANOW, modes) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}
