//! Ending every process of a set that may still grow: stop, look again, then kill.

use std::collections::HashSet;
use std::io;

use super::scan::Proc;
use crate::platform::{Signal, send};

/// How often one round looks again for processes that were started while it stopped others.
const LOOKS: usize = 64;

/// Asks every one of `members` to end. Those that are stopped are continued, or they would not see
/// it.
///
/// Parents come first: a shell that sees its child end goes on with its next command. What is started
/// after the look is not asked: it may be what a handler cleans up with.
pub(crate) fn terminate(members: &mut [Proc]) {
    members.sort_unstable_by_key(|member| (member.start, member.pid));
    for signal in [Signal::TERM, Signal::CONT] {
        for member in &*members {
            send(member, signal);
        }
    }
}

/// One round of stop-then-kill; returns how many members there were at its last look.
///
/// A stopped process starts no others, so the set stops growing before the first one is killed.
///
/// # Errors
///
/// The process table cannot be read; what was found before is killed.
pub(crate) fn stop_then_kill(
    mut members: impl FnMut() -> io::Result<Vec<Proc>>,
) -> io::Result<usize> {
    let mut stopped = HashSet::new();
    let mut found = Vec::new();
    let mut failure = None;
    for _ in 0..LOOKS {
        match members() {
            Ok(now) => found = now,
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
        let mut grew = false;
        for member in &found {
            if stopped.insert(member.identity()) {
                grew = true;
                send(member, Signal::STOP);
            }
        }
        if !grew {
            break;
        }
    }
    for member in &found {
        send(member, Signal::KILL);
    }
    failure.map_or(Ok(found.len()), Err)
}
