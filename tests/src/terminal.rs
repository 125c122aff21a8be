use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Our end of a pseudo-terminal.
pub struct Terminal(File);

impl Terminal {
    /// Both ends: ours and theirs.
    pub fn open() -> (Self, OwnedFd) {
        let (mut ours, mut theirs) = (-1, -1);
        // SAFETY: it writes two descriptors, which nobody else owns, and reads nothing.
        unsafe {
            let made = libc::openpty(
                &mut ours,
                &mut theirs,
                std::ptr::null_mut(),
                std::ptr::null(),
                std::ptr::null(),
            );
            assert_eq!(made, 0);
            (Terminal(File::from_raw_fd(ours)), OwnedFd::from_raw_fd(theirs))
        }
    }

    /// Makes it the controlling terminal of a command, whose standard input it is.
    pub fn be_controlling(&self, command: &mut Command) {
        // SAFETY: only system calls that are safe between fork and exec.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                match libc::ioctl(0, libc::TIOCSCTTY, 0) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
    }

    /// Copies what is printed, until nobody is left to print.
    pub fn copy_to(&self, mut file: File) {
        let mut terminal = self.0.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = terminal.read(&mut bytes) {
                file.write_all(&bytes[..count]).unwrap();
            }
        });
    }

    pub fn press(&mut self, keys: &str) {
        self.0.write_all(keys.as_bytes()).unwrap();
    }

    /// Whether a key that is pressed shows.
    pub fn echoes(&self) -> bool {
        let mut modes = std::mem::MaybeUninit::uninit();
        // SAFETY: the kernel writes the whole structure when it returns 0.
        unsafe {
            assert_eq!(libc::tcgetattr(self.0.as_raw_fd(), modes.as_mut_ptr()), 0);
            modes.assume_init().c_lflag & libc::ECHO != 0
        }
    }
}
