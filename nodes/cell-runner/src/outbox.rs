//! The node's end of the pipe to a child.

use std::io::{self, Write as _};
use std::process::ChildStdin;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

use crate::protocol::{ToChild, write_message};

/// How long a child may leave its pipe full. Its main thread does nothing but
/// empty it, so a full pipe means that the process is stopped or broken.
const PATIENCE: Duration = Duration::from_secs(2);

/// Writes at once, because a call's answer should not wait for another thread,
/// and never for longer than [`PATIENCE`], because the node has deadlines to keep.
pub(crate) struct Outbox {
    pipe: ChildStdin,
}

impl Outbox {
    pub(crate) fn new(pipe: ChildStdin) -> io::Result<Self> {
        ioctl_fionbio(&pipe, true)?;
        Ok(Self { pipe })
    }

    /// # Errors
    /// `BrokenPipe` when the process is gone, `TimedOut` when it does not listen.
    pub(crate) fn send(&mut self, message: &ToChild) -> io::Result<()> {
        let mut bytes = Vec::new();
        write_message(&mut bytes, message)?;
        let end = Instant::now() + PATIENCE;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match self.pipe.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(end)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn wait(&self, end: Instant) -> io::Result<()> {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.pipe, PollFlags::OUT)], Some(&left)) {
            Ok(0) => Err(io::ErrorKind::TimedOut.into()),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn message(size: usize) -> ToChild {
        ToChild::Interrupt { index: 1, reason: "x".repeat(size) }
    }

    #[test]
    fn a_process_that_does_not_listen_does_not_hold_the_node() {
        let mut deaf = Command::new("sleep").arg("60").stdin(Stdio::piped()).spawn().unwrap();
        let mut outbox = Outbox::new(deaf.stdin.take().unwrap()).unwrap();
        outbox.send(&message(1_000)).unwrap();
        let began = Instant::now();
        let error = outbox.send(&message(1_000_000)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() < PATIENCE * 3);
        deaf.kill().unwrap();
        deaf.wait().unwrap();
        let error = outbox.send(&message(1)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_long_message_goes_through_whole() {
        let mut reader = Command::new("wc")
            .arg("-c")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut outbox = Outbox::new(reader.stdin.take().unwrap()).unwrap();
        let mut expected = Vec::new();
        write_message(&mut expected, &message(3_000_000)).unwrap();
        outbox.send(&message(3_000_000)).unwrap();
        drop(outbox);
        let counted = reader.wait_with_output().unwrap().stdout;
        assert_eq!(String::from_utf8(counted).unwrap().trim(), expected.len().to_string());
    }
}
