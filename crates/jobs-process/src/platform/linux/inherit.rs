//! What the supervisor process finds at its start: its descriptors and its signals.

#![expect(
    unsafe_code,
    reason = "taking over inherited descriptors and signalfd need raw calls"
)]

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Takes over the descriptor that the host handed to a supervisor: the control socket.
///
/// # Errors
///
/// It is not open.
pub(crate) fn adopt() -> io::Result<UnixStream> {
    const SOCKET: i32 = 3;
    // SAFETY: F_GETFD only looks; a number that is not open gives EBADF.
    if unsafe { libc::fcntl(SOCKET, libc::F_GETFD) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open; a supervisor starts with exactly 0 to 3 and has opened nothing yet that
    // is kept, so nobody else owns it.
    Ok(unsafe { UnixStream::from_raw_fd(SOCKET) })
}

/// Every signal that can be blocked, blocked; `SIGCHLD` readable from a descriptor.
#[derive(Debug)]
pub(crate) struct SignalQueue(File);

impl SignalQueue {
    /// Blocks the signals of the calling thread; the process must have no other.
    pub(crate) fn open() -> io::Result<Self> {
        let mut all = MaybeUninit::uninit();
        let mut child = MaybeUninit::uninit();
        // SAFETY: the sets are initialised by sigfillset and sigemptyset before they are used.
        let fd = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::sigemptyset(child.as_mut_ptr());
            libc::sigaddset(child.as_mut_ptr(), libc::SIGCHLD);
            if libc::sigprocmask(libc::SIG_BLOCK, all.as_ptr(), std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
            libc::signalfd(-1, child.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: signalfd just returned it; nobody else owns it.
        Ok(Self(File::from(unsafe { OwnedFd::from_raw_fd(fd) })))
    }

    /// Forgets what is queued.
    pub(crate) fn drain(&mut self) {
        let mut buffer = [0_u8; 1024];
        while io::Read::read(&mut self.0, &mut buffer).is_ok_and(|n| n > 0) {}
    }
}

impl AsFd for SignalQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
