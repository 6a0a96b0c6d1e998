//! Conveniences over any registry.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use async_trait::async_trait;

use crate::error::Error;
use crate::id::JobId;
use crate::owner::Caller;
use crate::receipt::Receipt;
use crate::registry::{JobRegistry, KilledBy};
use crate::snapshot::Snapshot;

/// What can be built from a [`JobRegistry`], for every one of them.
///
/// It is implemented once and works on `dyn JobRegistry` too.
///
/// ```
/// use jobs::{Caller, JobId, JobRegistry, JobRegistryExt, Waited};
///
/// async fn ended(jobs: &dyn JobRegistry, id: &JobId) -> Result<bool, jobs::Error> {
///     let deadline = std::future::ready(()); // or a timer
///     Ok(match jobs.settled_or(id, &Caller::Anonymous, deadline).await? {
///         Waited::Settled(receipt) => receipt.commit().is_terminal(),
///         Waited::Live(_) => false,
///     })
/// }
/// ```
#[async_trait]
pub trait JobRegistryExt: JobRegistry {
    /// Waits until the job has ended or `until` resolves, whichever is first;
    /// the job wins a tie. Reaching `until` is a success and leaves the job
    /// alone.
    ///
    /// # Errors
    ///
    /// As [`JobRegistry::settled`].
    ///
    /// # Cancel safety
    ///
    /// As [`JobRegistry::settled`].
    async fn settled_or<U>(&self, id: &JobId, caller: &Caller, until: U) -> Result<Waited, Error>
    where
        U: Future<Output = ()> + Send,
    {
        let settled = {
            let mut wait = self.settled(id, caller);
            let mut until = pin!(until);
            poll_fn(|cx| {
                if let Poll::Ready(settled) = wait.as_mut().poll(cx) {
                    return Poll::Ready(Some(settled));
                }
                until.as_mut().poll(cx).map(|()| None)
            })
            .await
        };
        match settled {
            Some(settled) => settled.map(Waited::Settled),
            None => self.get(id, caller).await.map(Waited::Live),
        }
    }

    /// Kills the job for the host and waits until it is gone or `until`
    /// resolves. A snapshot with the cause
    /// [`Orphaned`](crate::Cause::Orphaned) says that it may not be.
    ///
    /// # Errors
    ///
    /// As [`JobRegistry::kill`].
    ///
    /// # Cancel safety
    ///
    /// The kill stays; the wait is dropped.
    async fn kill_and_wait<U>(
        &self,
        id: &JobId,
        caller: &Caller,
        reason: Option<&str>,
        until: U,
    ) -> Result<Waited, Error>
    where
        U: Future<Output = ()> + Send,
    {
        self.kill(id, caller, KilledBy::Host, reason)
            .await?
            .commit();
        self.settled_or(id, caller, until).await
    }
}

impl<R: JobRegistry + ?Sized> JobRegistryExt for R {}

/// How a bounded wait ended.
#[derive(Debug)]
#[must_use = "dropping a settled wait gives its share back"]
pub enum Waited {
    /// The job has ended.
    Settled(Receipt<Snapshot>),
    /// The deadline came first. The snapshot is as of then, so it may be
    /// terminal all the same; no share is held.
    Live(Snapshot),
}

impl Waited {
    /// The job at the end of the wait.
    #[must_use]
    pub fn job(&self) -> &Snapshot {
        match self {
            Self::Settled(receipt) => receipt,
            Self::Live(job) => job,
        }
    }
}
