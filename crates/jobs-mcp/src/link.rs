//! Where a call comes from: whose jobs it works with, and who learns of its answer.

use std::sync::Arc;

use jobs::{CancellationToken, Owner};
use rmcp::model::RequestId;

use crate::connection::{Connection, Receipts};
use crate::http::Exchange;

/// The origin of a call.
#[derive(Debug, Clone)]
pub(crate) enum Link {
    /// A session: standard input and output, or the older HTTP protocol's.
    Connection(Connection),
    /// A request by itself.
    Exchange(Arc<Exchange>),
}

impl Link {
    pub(crate) fn owner(&self) -> &Owner {
        match self {
            Self::Connection(connection) => connection.owner(),
            Self::Exchange(exchange) => exchange.owner(),
        }
    }

    /// Cancelled when nobody can take an answer any more.
    pub(crate) fn over(&self) -> &CancellationToken {
        match self {
            Self::Connection(connection) => connection.over(),
            Self::Exchange(exchange) => exchange.over(),
        }
    }

    /// Whether a call was cancelled before it began.
    pub(crate) fn is_cancelled(&self, id: &RequestId) -> bool {
        match self {
            Self::Connection(connection) => connection.is_cancelled(id),
            Self::Exchange(_) => false,
        }
    }

    /// A call has no answer yet.
    pub(crate) fn open(&self, id: RequestId) -> Pending<'_> {
        Pending {
            link: self,
            id: Some(id),
        }
    }
}

/// A call that has no answer yet. Dropped without one, it leaves nothing behind.
pub(crate) struct Pending<'a> {
    link: &'a Link,
    id: Option<RequestId>,
}

impl Pending<'_> {
    /// The answer is made, after so many notifications of progress.
    pub(crate) fn answered(mut self, receipts: Receipts, told: u32) {
        if let Some(id) = self.id.take() {
            match self.link {
                Link::Connection(connection) => connection.answered(id, receipts),
                Link::Exchange(exchange) => exchange.answered(receipts, told),
            }
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let (Some(id), Link::Connection(connection)) = (&self.id, self.link) {
            connection.abandoned(id);
        }
    }
}
