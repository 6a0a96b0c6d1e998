//! Everything that touches the operating system in a way that could hurt a bystander.
//!
//! Two rules hold nowhere else in this crate: `unsafe` code is permitted here, and signals are
//! sent from here.
//!
//! 1. A signal goes to a process that was pinned first: through a pidfd whose identity (pid, start
//!    time) was read again after the pidfd was open, or to a process group whose leader is our own
//!    child and not reaped yet.
//! 2. No process group id of 1 or below, and never our own.
//! 3. No code runs between fork and exec (`posix_spawn` only), and a child inherits exactly the
//!    descriptors it was given.
//! 4. The host waits for its own children one by one, never for any child.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

use std::ffi::{CStr, CString};
use std::os::fd::BorrowedFd;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::*;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;
pub(crate) use rustix::process::Signal;

use crate::env::Environment;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// What to start: the program file, its arguments, environment and descriptors.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "nothing is started there")
)]
#[derive(Debug)]
pub(crate) struct Image<'a> {
    /// The file to execute; no `PATH` search is done.
    pub(crate) program: &'a CStr,
    /// The arguments, argument 0 included.
    pub(crate) argv: &'a [CString],
    /// The environment.
    pub(crate) env: &'a Environment,
    /// The working directory; the host's own when absent.
    pub(crate) cwd: Option<&'a CStr>,
    /// They become descriptors 0, 1, 2 …; every other one is closed.
    pub(crate) fds: &'a [BorrowedFd<'a>],
}

/// The name of a signal: `SIGTERM`; `signal 34` for one without a fixed name.
pub(crate) fn signal_name(signal: i32) -> String {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
        "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ];
    usize::try_from(signal - 1)
        .ok()
        .and_then(|index| NAMES.get(index))
        .map_or_else(|| format!("signal {signal}"), |name| format!("SIG{name}"))
}
