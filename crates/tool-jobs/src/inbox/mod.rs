//! The inbox of an agent: where completions join its running turn or wake it
//! (spec/tools.md, The inbox).
//!
//! Whether a message joins or wakes is decided in the same step that puts it
//! in, so none is stranded between the last look of a turn and its end. The
//! decisions and their invariants are in `state`; here are the lock and the
//! wakers.

mod budget;
mod message;
mod state;
#[cfg(test)]
mod tests;
mod turn;

use std::fmt;
use std::future::poll_fn;
use std::task::{Poll, Waker};

pub use budget::WakeBudget;
pub use message::Message;
pub use turn::Turn;

use crate::notice::Notice;
use crate::sync::{Arc, Mutex};
use state::{Payer, Phase, State};

/// The inbox of one agent. Clones are the same inbox.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use tool_jobs::Inbox;
///
/// let inbox = Inbox::new();
/// inbox.send_user("build the release");
///
/// inbox.woken().await;
/// let mut turn = inbox.begin_turn();
/// loop {
///     for message in turn.claim() {
///         assert_eq!(message.text(), "build the release");
///     }
///     match turn.close() {
///         Ok(()) => break,
///         Err(more) => turn = more,
///     }
/// }
/// assert!(!inbox.is_busy());
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Inbox(Arc<Shared>);

struct Shared(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    state: State,
    waiting: Vec<Waker>,
}

impl Default for Shared {
    fn default() -> Self {
        Self(Mutex::new(Inner::default()))
    }
}

impl Inbox {
    /// The empty inbox of an idle agent.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until something has woken the idle owner. A level, not an edge:
    /// it resolves at once, and for everybody, until a turn begins.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn woken(&self) {
        poll_fn(|cx| {
            let mut inner = self.0.0.lock();
            if inner.state.phase() == Phase::Woken {
                return Poll::Ready(());
            }
            if !inner
                .waiting
                .iter()
                .any(|waker| waker.will_wake(cx.waker()))
            {
                inner.waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Begins a turn, woken or not.
    ///
    /// An owner has one turn at a time. A turn that is still open is replaced:
    /// its guard claims and ends nothing any more.
    #[must_use = "dropping a turn aborts it"]
    pub fn begin_turn(&self) -> Turn {
        let id = self.with(State::begin);
        Turn::new(self.clone(), id)
    }

    /// Puts in a message of a user. It always wakes an idle owner, costs no
    /// budget, and restores the budgets when it is claimed.
    pub fn send_user(&self, text: impl Into<String>) -> Lane {
        let message = Message::User(text.into());
        self.with(|state| state.put(message, Payer::User))
    }

    /// Whether the owner is woken or in a turn.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.with(|state| state.phase() != Phase::Idle)
    }

    /// Lets the state machine take one step, then wakes whoever waits for a
    /// woken owner: outside the lock, because a waker is foreign code.
    fn with<T>(&self, step: impl FnOnce(&mut State) -> T) -> T {
        let (result, woken) = {
            let mut inner = self.0.0.lock();
            let result = step(&mut inner.state);
            let woken = match inner.state.phase() {
                Phase::Woken => std::mem::take(&mut inner.waiting),
                Phase::Idle | Phase::Running(_) => Vec::new(),
            };
            (result, woken)
        };
        for waker in woken {
            waker.wake();
        }
        result
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.0.lock().state, f)
    }
}

/// Takes notices for one owner: the end of the line of a completion.
///
/// [`Inbox`] implements it. A host with an inbox of its own implements it
/// there, where one step can both look whether the owner is idle and deliver.
pub trait Deliver: Send + Sync + 'static {
    /// Takes `notice`, and answers whether it opened a turn. Never blocks.
    ///
    /// With `wake` it may open a turn of an idle owner, if
    /// [`WakeBudget::try_take`] grants it; without, it never does.
    ///
    /// # Errors
    ///
    /// The notice was not taken and cost no wake; it will be offered again.
    fn deliver(&self, notice: Notice, wake: Option<&WakeBudget>) -> Result<Lane, DeliverError>;
}

impl Deliver for Inbox {
    fn deliver(&self, notice: Notice, wake: Option<&WakeBudget>) -> Result<Lane, DeliverError> {
        let payer = wake.map_or(Payer::Nobody, |budget| Payer::Budget(budget.clone()));
        Ok(self.with(|state| state.put(Message::Notice(notice), payer)))
    }
}

impl<D: Deliver + ?Sized> Deliver for Arc<D> {
    fn deliver(&self, notice: Notice, wake: Option<&WakeBudget>) -> Result<Lane, DeliverError> {
        (**self).deliver(notice, wake)
    }
}

/// What a delivery did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The message lies in the inbox: of a busy owner, or of an idle one that
    /// it may not wake.
    Joined,
    /// The message woke the idle owner.
    Woke,
}

/// Why a notice was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the owner's inbox did not take the notice: {reason}")]
#[non_exhaustive]
pub struct DeliverError {
    /// The inbox's own words.
    pub reason: Box<str>,
}

impl DeliverError {
    /// A delivery that failed for `reason`.
    #[must_use]
    pub fn new(reason: impl Into<Box<str>>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}
