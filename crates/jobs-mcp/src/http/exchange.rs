//! One request outside a session, and whether its answer has reached the client.
//!
//! The protocol without sessions has no message that cancels: a client that wants an answer no
//! more closes the response. So what the answer carries is committed when it was given to the
//! connection, and dropped when the response is dropped before.

use jobs::{CancellationToken, Delivery, Owner};
use parking_lot::Mutex;

use crate::connection::Receipts;

/// A request by itself.
#[derive(Debug)]
pub(crate) struct Exchange {
    owner: Owner,
    over: CancellationToken,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// No answer yet; so many messages were given to the connection.
    Open(u32),
    /// An answer, and so many messages that go before it.
    Answered(Receipts, u32),
    /// The answer was given to the connection, or never will be.
    Over,
}

impl Exchange {
    pub(crate) fn new(owner: Owner) -> Self {
        Self {
            owner,
            over: CancellationToken::new(),
            state: Mutex::new(State::Open(0)),
        }
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    pub(crate) fn over(&self) -> &CancellationToken {
        &self.over
    }

    /// The answer was made, after so many notifications of progress.
    pub(crate) fn answered(&self, receipts: Receipts, told: u32) {
        let mut state = self.state.lock();
        let lost = match *state {
            State::Open(given) => {
                *state = State::Answered(receipts, told.saturating_sub(given));
                None
            }
            State::Answered(..) | State::Over => Some(receipts),
        };
        drop(state);
        drop(lost);
    }

    /// A message was given to the connection.
    pub(super) fn gave(&self) {
        let mut state = self.state.lock();
        let delivered = match &mut *state {
            State::Open(given) => {
                *given += 1;
                None
            }
            State::Answered(_, before @ 1..) => {
                *before -= 1;
                None
            }
            State::Answered(receipts, 0) => {
                let receipts = std::mem::take(receipts);
                *state = State::Over;
                Some(receipts)
            }
            State::Over => None,
        };
        drop(state);
        delivered.into_iter().flatten().for_each(Delivery::commit);
    }

    /// Nothing more will be given to the connection.
    pub(super) fn end(&self) {
        let before = std::mem::replace(&mut *self.state.lock(), State::Over);
        self.over.cancel();
        drop(before);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jobs::{Hooks, JobRegistry, JobSpec, Outcome, Scope};
    use jobs_local::{Config, LocalJobRegistry};

    use super::*;

    /// What becomes of the end of a job that an exchange carries: whether it is told.
    async fn told(fate: impl FnOnce(&Exchange, Receipts)) -> bool {
        let registry: Arc<dyn JobRegistry> =
            LocalJobRegistry::new(Config::default()).expect("a registry");
        let _controller = registry.controller("test", &Scope::root()).expect("free");
        let owner = registry.owner("session".into(), Scope::root());
        let hooks = Hooks::from_future(|_| async { Outcome::completed() });
        let spec = JobSpec::new("work", "x", |_id| Ok(hooks)).with_owner(&owner);
        let id = registry.start(spec).await.expect("started");
        let settled = registry.settled(&id, &owner.caller()).await.expect("ended");
        let exchange = Exchange::new(owner.clone());
        fate(&exchange, vec![settled.into_parts().1]);
        exchange.end();
        let job = registry.get(&id, &owner.caller()).await.expect("the job");
        job.reported()
    }

    #[tokio::test]
    async fn an_answer_counts_when_it_was_given_to_the_connection() {
        assert!(
            told(|exchange, receipts| {
                exchange.answered(receipts, 0);
                exchange.gave();
            })
            .await
        );
        assert!(!told(|exchange, receipts| exchange.answered(receipts, 0)).await);
    }

    #[tokio::test]
    async fn progress_before_it_does_not_count() {
        assert!(
            !told(|exchange, receipts| {
                exchange.gave();
                exchange.answered(receipts, 2);
                exchange.gave();
            })
            .await
        );
        assert!(
            told(|exchange, receipts| {
                exchange.gave();
                exchange.answered(receipts, 2);
                exchange.gave();
                exchange.gave();
            })
            .await
        );
    }

    #[tokio::test]
    async fn an_answer_after_the_end_is_lost() {
        assert!(
            !told(|exchange, receipts| {
                exchange.end();
                exchange.answered(receipts, 0);
                exchange.gave();
            })
            .await
        );
    }
}
