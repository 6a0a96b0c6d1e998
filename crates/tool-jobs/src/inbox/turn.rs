//! One turn of an agent, as a guard.

use std::fmt;

use super::state::{Closed, TurnId};
use super::{Inbox, Message};

/// A running turn. Its owner is busy until it is closed or dropped.
///
/// Dropping it unclosed aborts it: the owner is idle again, and what is
/// pending wakes it anew, at the cost of a wake of the budget that came with
/// it. A message of a user wakes for nothing.
#[must_use = "dropping a turn aborts it: close it"]
pub struct Turn {
    inbox: Inbox,
    id: TurnId,
}

impl Turn {
    pub(super) fn new(inbox: Inbox, id: TurnId) -> Self {
        Self { inbox, id }
    }

    /// Takes everything that is pending, for the next step. The messages are
    /// the caller's from here on: append them at once.
    #[must_use = "claimed messages are gone from the inbox"]
    pub fn claim(&mut self) -> Vec<Message> {
        self.inbox.with(|state| state.claim(self.id))
    }

    /// Ends the turn.
    ///
    /// # Errors
    ///
    /// The turn itself, still open, when something has arrived meanwhile: do
    /// one more step.
    pub fn close(self) -> Result<(), Self> {
        match self.inbox.with(|state| state.close(self.id)) {
            Closed::Ended => Ok(()),
            Closed::MoreArrived => Err(self),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Does nothing after a close: the turn is no longer the running one.
        self.inbox.with(|state| state.abort(self.id));
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("id", &self.id).finish()
    }
}
