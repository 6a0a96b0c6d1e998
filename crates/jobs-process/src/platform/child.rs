//! A child of the host: waited for by its pidfd, reaped only when it is said so.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use parking_lot::Mutex;
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, WaitId, WaitIdOptions, WaitOptions, getrlimit, pidfd_open,
    prlimit, waitid,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// Children whose runtime ended before they did. They are reaped when the next one is started:
/// nobody may wait in a drop.
static ABANDONED: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());

/// A child process that is pinned: until [`Child::reap`], its pid belongs to nobody else.
#[derive(Debug)]
pub(crate) struct Child {
    pid: Pid,
    pidfd: AsyncFd<OwnedFd>,
    is_reaped: bool,
}

impl Child {
    /// Pins a child that was just started.
    ///
    /// # Errors
    ///
    /// The error of `pidfd_open`, or of registering it with the runtime. The child is ended then.
    pub(crate) fn pin(pid: Pid) -> io::Result<Self> {
        ABANDONED
            .lock()
            .retain(|pidfd| matches!(wait(pidfd, WaitIdOptions::empty()), Ok(None)));
        let open = || {
            let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
            register(pidfd)
        };
        match open() {
            Ok(pidfd) => Ok(Self {
                pid,
                pidfd,
                is_reaped: false,
            }),
            Err(error) => {
                // It is unreaped, so the pid is still its own, and so is the group.
                super::signal::send_group(pid.as_raw_nonzero().get(), super::Signal::KILL);
                let _ = rustix::process::waitpid(Some(pid), WaitOptions::empty());
                Err(error)
            }
        }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Waits until the child has ended, and leaves it pinned.
    ///
    /// # Errors
    ///
    /// `ECHILD` when somebody else in this process reaped it (a `waitpid(-1)`, an ignored
    /// `SIGCHLD`).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub(crate) async fn ended(&self) -> io::Result<Exit> {
        loop {
            if let Some(exit) = wait(&self.pidfd, WaitIdOptions::NOWAIT)? {
                return Ok(exit);
            }
            self.pidfd.readable().await?.clear_ready();
        }
    }

    /// How it ended, if it has; it stays pinned.
    pub(crate) fn peek(&self) -> Option<Exit> {
        wait(&self.pidfd, WaitIdOptions::NOWAIT).ok().flatten()
    }

    /// Gives the pid back, if the child has ended.
    pub(crate) fn reap(&mut self) -> io::Result<()> {
        self.is_reaped |= wait(&self.pidfd, WaitIdOptions::empty())?.is_some();
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.is_reaped
            && matches!(wait(&self.pidfd, WaitIdOptions::empty()), Ok(None))
            && let Ok(pidfd) = self.pidfd.as_fd().try_clone_to_owned()
        {
            ABANDONED.lock().push(pidfd);
        }
    }
}

fn wait(pidfd: &impl AsFd, extra: WaitIdOptions) -> io::Result<Option<Exit>> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | extra;
    let Some(status) = waitid(WaitId::PidFd(pidfd.as_fd()), options)? else {
        return Ok(None);
    };
    Ok(match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(Exit::Code(code)),
        (None, Some(signal)) => Some(Exit::Signal(signal)),
        (None, None) => None,
    })
}

#[expect(
    unsafe_code,
    reason = "tokio cannot check by itself that a type keeps its descriptor"
)]
fn register(pidfd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an OwnedFd is an open descriptor, always the same one, and stays open until it is
    // dropped, which the AsyncFd does.
    Ok(unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE)? })
}

/// No core files from `child`; its hard limit stays, so that a command can ask for one.
pub(crate) fn forbid_core(child: Pid) {
    let limit = Rlimit {
        current: Some(0),
        ..getrlimit(Resource::Core)
    };
    // It may have ended already.
    let _ = prlimit(Some(child), Resource::Core, limit);
}
