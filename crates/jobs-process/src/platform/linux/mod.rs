//! Linux: pidfds, `posix_spawn` of glibc, subreapers, memory files.

mod child;
mod handover;
mod inherit;
mod signal;
mod spawn;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{PidfdFlags, getpid, pidfd_open, set_child_subreaper};
use rustix::rand::{GetRandomFlags, getrandom};

pub(crate) use child::{Child, Pinned, forbid_core};
pub(crate) use handover::{receive_task, send_task};
pub(crate) use inherit::{SignalQueue, adopt};
pub(crate) use signal::{send, send_group};
pub(crate) use spawn::spawn;

/// Jobs can run here.
///
/// # Errors
///
/// What is missing.
pub(crate) fn require() -> Result<(), String> {
    pidfd_open(getpid(), PidfdFlags::empty())
        .map(drop)
        .map_err(|error| format!("no pidfds ({error})"))
}

/// From here on orphans among this process's descendants become its children.
pub(crate) fn become_subreaper() -> io::Result<()> {
    Ok(set_child_subreaper(getpid().into())?)
}

/// A pipe that no child inherits: where to read, where to write.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(pipe_with(PipeFlags::CLOEXEC)?)
}

/// A file without a name, in memory.
pub(crate) fn memory_file() -> io::Result<File> {
    Ok(memfd_create("jobs-task", MemfdFlags::CLOEXEC)?.into())
}

/// Fills `bytes` with what nobody can guess.
pub(crate) fn random(bytes: &mut [u8; 16]) {
    // It cannot fail after the system has started: getrandom(2).
    let _ = getrandom(bytes, GetRandomFlags::empty());
}
