//! A child of the host: waited for by its pidfd, reaped only when it is said so.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, WaitId, WaitIdOptions, WaitOptions, getrlimit, pidfd_open,
    pidfd_send_signal, prlimit, waitid,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::platform::{Exit, Signal};

/// Children whose runtime ended before they did. They are reaped when the next one is started:
/// nobody may wait in a drop.
static ABANDONED: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());

/// A child process that is pinned: until it is reaped, its pid belongs to nobody else.
#[derive(Debug)]
pub(crate) struct Pinned {
    pid: Pid,
    pidfd: OwnedFd,
    is_reaped: bool,
}

impl Pinned {
    /// Pins a child that was just started.
    ///
    /// # Errors
    ///
    /// The error of `pidfd_open`. The child is ended then.
    pub(crate) fn new(pid: Pid) -> io::Result<Self> {
        ABANDONED
            .lock()
            .retain(|pidfd| matches!(wait(pidfd, WaitIdOptions::empty()), Ok(None)));
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => Ok(Self {
                pid,
                pidfd,
                is_reaped: false,
            }),
            Err(error) => {
                // It is unreaped, so the pid is still its own, and so is the group.
                super::signal::send_group(pid.as_raw_nonzero().get(), Signal::KILL);
                let _ = rustix::process::waitpid(Some(pid), WaitOptions::empty());
                Err(error.into())
            }
        }
    }

    /// It has neither ended nor is it stopped.
    pub(crate) fn is_running(&self) -> bool {
        let options = WaitIdOptions::EXITED
            | WaitIdOptions::STOPPED
            | WaitIdOptions::NOHANG
            | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::PidFd(self.pidfd.as_fd()), options), Ok(None))
    }

    /// Kills it and reaps it. Blocks until it has ended, but no longer than `patience`; one that
    /// takes longer is reaped when the next child is started.
    pub(crate) fn kill(mut self, patience: Duration) {
        // It may have ended already.
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
        // An error leaves it as it is.
        let _ = poll(&mut fds, Timespec::try_from(patience).ok().as_ref());
        let _ = self.reap();
    }

    /// Gives the pid back, if the child has ended.
    fn reap(&mut self) -> io::Result<()> {
        self.is_reaped |= wait(&self.pidfd, WaitIdOptions::empty())?.is_some();
        Ok(())
    }
}

impl AsRawFd for Pinned {
    fn as_raw_fd(&self) -> RawFd {
        self.pidfd.as_raw_fd()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if !self.is_reaped
            && matches!(wait(&self.pidfd, WaitIdOptions::empty()), Ok(None))
            && let Ok(pidfd) = self.pidfd.try_clone()
        {
            ABANDONED.lock().push(pidfd);
        }
    }
}

/// A pinned child whose end can be awaited.
#[derive(Debug)]
pub(crate) struct Child(AsyncFd<Pinned>);

impl Child {
    /// Watches a child from the runtime that runs here.
    ///
    /// # Errors
    ///
    /// The error of registering it with the runtime. The child is ended then.
    pub(crate) fn new(child: Pinned) -> io::Result<Self> {
        let pid = child.pid;
        register(child).map(Self).inspect_err(|_| {
            // Dropping does not reap what runs, so the pid is still its own, and so is the group.
            super::signal::send_group(pid.as_raw_nonzero().get(), Signal::KILL);
        })
    }

    /// Ends the watching, not the child.
    pub(crate) fn into_pinned(self) -> Pinned {
        self.0.into_inner()
    }

    pub(crate) fn pid(&self) -> i32 {
        self.0.get_ref().pid.as_raw_nonzero().get()
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
            if let Some(exit) = wait(&self.0.get_ref().pidfd, WaitIdOptions::NOWAIT)? {
                return Ok(exit);
            }
            self.0.readable().await?.clear_ready();
        }
    }

    /// Sends it a signal. One that has ended does not mind.
    pub(crate) fn send(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.0.get_ref().pidfd, signal);
    }

    /// How it ended, if it has; it stays pinned.
    pub(crate) fn peek(&self) -> Option<Exit> {
        wait(&self.0.get_ref().pidfd, WaitIdOptions::NOWAIT)
            .ok()
            .flatten()
    }

    /// Gives the pid back, if the child has ended.
    pub(crate) fn reap(&mut self) -> io::Result<()> {
        self.0.get_mut().reap()
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
fn register(child: Pinned) -> io::Result<AsyncFd<Pinned>> {
    // SAFETY: the OwnedFd in it is an open descriptor, always the same one, and stays open until
    // it is dropped, which the AsyncFd does.
    Ok(unsafe { AsyncFd::register_with_interest(child, Interest::READABLE)? })
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
