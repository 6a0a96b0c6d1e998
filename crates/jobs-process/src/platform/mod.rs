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

mod child;
mod inherit;
mod signal;
mod spawn;

pub(crate) use child::{Child, Exit, Pinned, forbid_core};
pub(crate) use inherit::{SignalQueue, adopt};
pub(crate) use signal::{Signal, send, send_group, signal_name};
pub(crate) use spawn::{Image, spawn};
