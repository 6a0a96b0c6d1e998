//! What a change under locks has to do once they are released.
//!
//! News of a change of a room go out here, in the order in which those of a
//! settlement must: waiters, changes, then reporters.

use std::sync::Arc;
use std::task::Waker;

use jobs::{OutputSource, contain};

use crate::offers::Reporter;
use crate::room::Room;

/// What one room's change leaves to do.
#[derive(Default)]
pub(crate) struct Effects {
    /// Who waited for what happened.
    pub(crate) waiters: Vec<Waker>,
    /// The driver of the one job that changed.
    pub(crate) driver: Option<Waker>,
    /// Visible jobs of the room moved.
    pub(crate) changed: bool,
    /// Whom to tell that the room has something to offer.
    pub(crate) reporter: Option<Arc<Reporter>>,
    /// The room is closed now.
    pub(crate) closed: bool,
    /// Sources whose drop may run a producer's code.
    pub(crate) dropped: Vec<Arc<dyn OutputSource>>,
}

impl Effects {
    /// Does everything, with no lock held.
    pub(crate) fn fire(self, room: &Arc<Room>) {
        wake(self.waiters);
        wake(self.driver);
        if self.changed {
            room.core.changes.moved(room);
        }
        if let Some(reporter) = self.reporter {
            reporter.offer(room);
        }
        if self.closed {
            room.core.closed(room);
        }
        for source in self.dropped {
            contain("dropping an output source", || drop(source));
        }
    }
}

/// Wakes tasks; a waker is foreign code too.
pub(crate) fn wake(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        contain("a waker", || waker.wake());
    }
}

/// Runs foreign code of which nobody needs to hear when it panics.
pub(crate) fn contain(what: &str, work: impl FnOnce()) {
    if let Err(panicked) = contain::call(work) {
        tracing::warn!(%panicked, "{what} panicked");
    }
}
