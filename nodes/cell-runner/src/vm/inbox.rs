//! The child's end of the socket, for reading: messages and memory files.

use std::collections::VecDeque;
use std::io::{self, BufReader, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::protocol::{Answer, TO_CHILD, ToChild, read_message};

/// A message with the memory file that its arrays lie in.
pub(super) struct Delivery {
    pub(super) message: ToChild,
    pub(super) memory: Option<OwnedFd>,
}

pub(super) struct Inbox(BufReader<Socket>);

impl Inbox {
    pub(super) fn new(socket: &'static UnixStream) -> Self {
        Self(BufReader::with_capacity(1 << 16, Socket { socket, files: VecDeque::new() }))
    }

    /// The next message; `None` when the node has closed its end.
    pub(super) fn next(&mut self) -> io::Result<Option<Delivery>> {
        let Some((message, _)) = read_message(&mut self.0, TO_CHILD)? else {
            return Ok(None);
        };
        let has_arrays = matches!(&message, ToChild::Reply { answer: Answer::Arrays { .. }, .. });
        // A file arrives with the first byte of its message, so it is here.
        let memory = has_arrays.then(|| self.0.get_mut().files.pop_front()).flatten();
        if has_arrays && memory.is_none() {
            return Err(io::Error::other("arrays came without their memory"));
        }
        Ok(Some(Delivery { message, memory }))
    }
}

struct Socket {
    socket: &'static UnixStream,
    /// Received, and not yet asked for.
    files: VecDeque<OwnedFd>,
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = recvmsg(self.socket, &mut [IoSliceMut::new(buffer)], &mut beside, flags)?;
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.files.extend(files);
            }
        }
        Ok(received.bytes)
    }
}
