//! What a change under locks has to do once they are released.
//!
//! Waking, routing and dropping of foreign values happen here and nowhere
//! else, in the order in which news of a settlement must go out: waiters,
//! changes, then reporters.

use std::sync::Arc;
use std::task::Waker;

use jobs::{OutputSource, contain};

use crate::room::Room;

#[derive(Default)]
pub(crate) struct Effects {
    /// Waiters and drivers.
    pub(crate) wake: Vec<Waker>,
    /// Rooms whose visible jobs moved.
    pub(crate) changed: Vec<Arc<Room>>,
    /// Rooms that have something to offer.
    pub(crate) offering: Vec<Arc<Room>>,
    /// Rooms that are closed now.
    pub(crate) closed: Vec<Arc<Room>>,
    /// Sources whose drop may run a producer's code.
    pub(crate) dropped: Vec<Arc<dyn OutputSource>>,
}

impl Effects {
    /// Does everything, with no lock held.
    pub(crate) fn fire(self) {
        wake(self.wake);
        for room in self.changed {
            room.core.changes.moved(&room);
        }
        for room in self.offering {
            room.core.offers.route(&room);
        }
        for room in self.closed {
            room.core.closed(&room);
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
