//! The node's end of the socket to a child.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use crate::memory::Sealed;
use crate::protocol::{ToChild, encode};

/// How long a child may leave its socket full. Its main thread does nothing but
/// empty it, so a full socket means that the process is stopped or broken.
const PATIENCE: Duration = Duration::from_secs(2);

/// Writes at once, because a call's answer should not wait for another thread,
/// and never for longer than [`PATIENCE`], because the node has deadlines to keep.
pub(crate) struct Outbox {
    socket: OwnedFd,
}

impl Outbox {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self { socket }
    }

    /// Sends a message, and a memory file with its first byte.
    ///
    /// # Errors
    /// `BrokenPipe` when the process is gone, `TimedOut` when it does not listen.
    pub(crate) fn send(&mut self, message: &ToChild, memory: Option<&Sealed>) -> io::Result<()> {
        let bytes = encode(message, 0)?;
        let end = Instant::now() + PATIENCE;
        let mut memory = memory;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match self.write(rest, memory) {
                Ok(count) => {
                    rest = &rest[count..];
                    memory = None;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(end)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A process that died with something unread.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write(&self, bytes: &[u8], memory: Option<&Sealed>) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        let files = memory.map(|memory| [memory.as_fd()]);
        if let Some(files) = &files {
            beside.push(SendAncillaryMessage::ScmRights(files));
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        Ok(sendmsg(&self.socket, &[IoSlice::new(bytes)], &mut beside, flags)?)
    }

    fn wait(&self, end: Instant) -> io::Result<()> {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.socket, PollFlags::OUT)], Some(&left)) {
            Ok(0) => Err(io::ErrorKind::TimedOut.into()),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::protocol::{TO_CHILD, read_message};

    fn message(size: usize) -> ToChild {
        ToChild::Interrupt { index: 1, reason: "x".repeat(size) }
    }

    #[test]
    fn a_process_that_does_not_listen_does_not_hold_the_node() {
        let (here, there) = UnixStream::pair().unwrap();
        let mut outbox = Outbox::new(here.into());
        outbox.send(&message(1_000), None).unwrap();
        let began = Instant::now();
        let error = outbox.send(&message(10_000_000), None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() < PATIENCE * 3);
        drop(there);
        let error = outbox.send(&message(1), None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_long_message_goes_through_whole() {
        let (here, mut there) = UnixStream::pair().unwrap();
        let reader = std::thread::spawn(move || {
            let read = read_message::<ToChild>(&mut there, TO_CHILD).unwrap().unwrap().0;
            assert_eq!(there.read(&mut [0]).unwrap(), 0);
            read
        });
        let mut outbox = Outbox::new(here.into());
        outbox.send(&message(3_000_000), None).unwrap();
        drop(outbox);
        assert_eq!(reader.join().unwrap(), message(3_000_000));
    }
}
