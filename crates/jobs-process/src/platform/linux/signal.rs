//! Sending signals, only to what is proved to be ours.

use rustix::process::{Pid, PidfdFlags, kill_process_group, pidfd_open, pidfd_send_signal};

use crate::platform::Signal;
use crate::tree::scan::{self, Proc};

/// Sends `signal` to exactly the process that was seen as `target`.
///
/// The pidfd is opened first and the identity read again afterwards, so that a recycled pid is
/// never hit: if the process ended in between, the pidfd is dead or the identity differs.
pub(crate) fn send(target: &Proc, signal: Signal) {
    let Some(pid) = Pid::from_raw(target.pid).filter(|pid| !pid.is_init()) else {
        return;
    };
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    let now = scan::read(target.pid).ok().flatten();
    if now.is_some_and(|now| now.start == target.start) {
        // It may be gone by now, or another user's: what is left is looked for again anyway.
        let _ = pidfd_send_signal(&pidfd, signal);
    }
}

/// Sends `signal` to the process group that `leader`, an unreaped child of ours, was started in.
///
/// It is not our own group: no process gets a pid that is still some group's (`fork(2)`).
pub(crate) fn send_group(leader: i32, signal: Signal) {
    // `kill(2)`: group 1 would mean every process, a negative one a pid.
    let Some(group) = Pid::from_raw(leader).filter(|_| leader > 1) else {
        return;
    };
    // An error means that nobody is left in it, which is what we want.
    let _ = kill_process_group(group, signal);
}
