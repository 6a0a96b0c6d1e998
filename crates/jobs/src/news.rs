//! News: completions and changes, as receivers (design D3).
//!
//! A receiver is polled in its consumer's own task, so no foreign code runs
//! inside a registry and a consumer may call anything of it. Dropping a
//! receiver unregisters it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::id::JobId;
use crate::owner::{InstanceId, OwnerKey};
use crate::receipt::Receipt;
use crate::snapshot::Snapshot;

/// A stream of completions to tell; see
/// [`JobRegistry::completions`](crate::JobRegistry::completions).
pub type Completions = News<Receipt<Completion>>;

/// A stream of what moved; see
/// [`JobRegistry::changes`](crate::JobRegistry::changes).
pub type Changes = News<Change>;

/// A registered receiver of news.
#[must_use = "dropping a receiver unregisters it"]
pub struct News<T>(Pin<Box<dyn Stream<Item = T> + Send>>);

impl<T> News<T> {
    /// For implementors: news from `stream`, whose drop unregisters.
    pub fn new(stream: impl Stream<Item = T> + Send + 'static) -> Self {
        Self(Box::pin(stream))
    }

    /// The next item, or `None` when no more will come: after a shutdown, or once
    /// the one owner that the news are about has closed.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: an item is taken only by the poll that returns it.
    pub async fn next(&mut self) -> Option<T> {
        std::future::poll_fn(|cx| self.0.as_mut().poll_next(cx)).await
    }
}

impl<T> Stream for News<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl<T> fmt::Debug for News<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("News")
    }
}

/// The end of a job that nobody has told its owner yet.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Completion {
    /// The ended job.
    pub job: Snapshot,
    /// The exact owner instance to tell.
    pub owner: OwnerKey,
    /// The same for every telling of this completion.
    pub notice: NoticeId,
}

impl Completion {
    /// For implementors: the end of `job`, for `owner`.
    #[must_use]
    pub fn new(job: Snapshot, owner: OwnerKey, notice: NoticeId) -> Self {
        Self { job, owner, notice }
    }
}

/// The identity of a completion, so that a consumer can recognise a second
/// telling. Unique among all registries.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NoticeId {
    registry: InstanceId,
    job: JobId,
}

impl NoticeId {
    /// For implementors: the completion of `job` in `registry`.
    #[must_use]
    pub fn new(registry: InstanceId, job: JobId) -> Self {
        Self { registry, job }
    }
}

impl fmt::Display for NoticeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.job)
    }
}

/// Whose visible jobs moved since the last look.
///
/// Coalesced, never missed; carries no delivery meaning.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Change {
    /// Jobs of this owner.
    Owner(OwnerKey),
    /// Unowned jobs; only receivers at the root hear of them.
    Unowned,
    /// More owners than a receiver keeps apart: look at all of them.
    Everything,
}

/// A registration that lasts as long as its guard.
#[must_use = "dropping a registration ends it"]
pub struct Registration(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Registration {
    /// For implementors: `end` runs once, when the guard is dropped.
    pub fn new(end: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(end)))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Registration")
    }
}
