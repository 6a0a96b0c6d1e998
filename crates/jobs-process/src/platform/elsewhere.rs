//! Where there are no pidfds, no jobs run: a runner cannot be made, and nothing here is reached.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::process::Pid;

use super::{Exit, Image, Signal};
use crate::tree::scan::Proc;

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// No value of it exists.
#[derive(Debug)]
enum Never {}

/// No child is ever pinned here.
#[derive(Debug)]
pub(crate) struct Pinned(Never);

impl Pinned {
    pub(crate) fn new(_pid: Pid) -> io::Result<Self> {
        unsupported()
    }

    pub(crate) fn is_running(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn kill(self, _patience: Duration) {
        match self.0 {}
    }
}

/// No child is ever watched here.
#[derive(Debug)]
pub(crate) struct Child(Never);

impl Child {
    pub(crate) fn new(child: Pinned) -> io::Result<Self> {
        let Pinned(never) = child;
        match never {}
    }

    pub(crate) fn into_pinned(self) -> Pinned {
        match self.0 {}
    }

    pub(crate) fn pid(&self) -> i32 {
        match self.0 {}
    }

    #[expect(
        clippy::unused_async,
        reason = "the signature is that of a system with jobs"
    )]
    pub(crate) async fn ended(&self) -> io::Result<Exit> {
        match self.0 {}
    }

    pub(crate) fn send(&self, _signal: Signal) {
        match self.0 {}
    }

    pub(crate) fn peek(&self) -> Option<Exit> {
        match self.0 {}
    }

    pub(crate) fn reap(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

/// There is none.
#[derive(Debug)]
pub(crate) struct SignalQueue(Never);

impl SignalQueue {
    pub(crate) fn open() -> io::Result<Self> {
        unsupported()
    }

    pub(crate) fn drain(&mut self) {
        match self.0 {}
    }
}

impl AsFd for SignalQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self.0 {}
    }
}

pub(crate) fn require() -> Result<(), String> {
    Err(format!(
        "{}, where there are no pidfds",
        std::env::consts::OS
    ))
}

pub(crate) fn become_subreaper() -> io::Result<()> {
    unsupported()
}

pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    unsupported()
}

pub(crate) fn memory_file() -> io::Result<File> {
    unsupported()
}

pub(crate) fn random(_bytes: &mut [u8; 16]) {}

pub(crate) fn send_task(_socket: impl AsFd, _fds: [BorrowedFd<'_>; 4]) -> io::Result<()> {
    unsupported()
}

pub(crate) fn receive_task(_socket: impl AsFd) -> io::Result<Option<[OwnedFd; 4]>> {
    unsupported()
}

pub(crate) fn adopt() -> io::Result<UnixStream> {
    unsupported()
}

pub(crate) fn spawn(_image: &Image<'_>) -> io::Result<Pid> {
    unsupported()
}

pub(crate) fn forbid_core(_child: Pid) {}

pub(crate) fn send(_target: &Proc, _signal: Signal) {}

pub(crate) fn send_group(_leader: i32, _signal: Signal) {}
