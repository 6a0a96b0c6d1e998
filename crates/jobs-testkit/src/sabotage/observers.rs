//! Faults of observers of changes and of the shutdown: C-64, C-66, C-80.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use async_trait::async_trait;
use futures_core::Stream;
use jobs::{Caller, Change, Changes, Delta, Error, JobId, News, Receipt, Scope};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::broken::{Fault, Inner};
use super::changed;

/// C-64: changes come by way of another task, so after the offer.
#[derive(Default)]
pub(super) struct ChangesAreLate;

struct Forwarded(UnboundedReceiver<Change>);

impl Stream for Forwarded {
    type Item = Change;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        self.0.poll_recv(cx)
    }
}

#[async_trait]
impl Fault for ChangesAreLate {
    fn changes(&self, jobs: &Inner, scope: &Scope) -> Changes {
        let mut changes = jobs.changes(scope);
        let (sender, receiver) = unbounded_channel();
        tokio::spawn(async move {
            while let Some(change) = changes.next().await {
                if sender.send(change).is_err() {
                    return;
                }
            }
        });
        News::new(Forwarded(receiver))
    }
}

/// C-66: nobody hears of unowned jobs.
#[derive(Default)]
pub(super) struct UnownedIsNotHeardOf;

#[async_trait]
impl Fault for UnownedIsNotHeardOf {
    fn changes(&self, jobs: &Inner, scope: &Scope) -> Changes {
        changed(jobs.changes(scope), |news, cx| {
            loop {
                match Pin::new(&mut *news).poll_next(cx) {
                    Poll::Ready(Some(Change::Unowned)) => {}
                    other => return other,
                }
            }
        })
    }
}

/// C-66: a read is a change.
#[derive(Default)]
pub(super) struct ReadsAreChanges(Arc<AtomicBool>);

#[async_trait]
impl Fault for ReadsAreChanges {
    async fn read(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Delta>, Error> {
        self.0.store(true, Ordering::SeqCst);
        jobs.read(id, caller).await
    }

    fn changes(&self, jobs: &Inner, scope: &Scope) -> Changes {
        let read = Arc::clone(&self.0);
        changed(jobs.changes(scope), move |news, cx| {
            match Pin::new(news).poll_next(cx) {
                Poll::Pending if read.swap(false, Ordering::SeqCst) => {
                    Poll::Ready(Some(Change::Everything))
                }
                other => other,
            }
        })
    }
}

/// C-66: only the first observer hears anything.
#[derive(Default)]
pub(super) struct OnlyOneObserverHears(AtomicBool);

#[async_trait]
impl Fault for OnlyOneObserverHears {
    fn changes(&self, jobs: &Inner, scope: &Scope) -> Changes {
        let deaf = self.0.swap(true, Ordering::SeqCst);
        changed(jobs.changes(scope), move |news, cx| match deaf {
            true => Poll::Pending,
            false => Pin::new(news).poll_next(cx),
        })
    }
}

/// C-66: an observer hears of every scope.
#[derive(Default)]
pub(super) struct ObserversHearEverywhere;

#[async_trait]
impl Fault for ObserversHearEverywhere {
    fn changes(&self, jobs: &Inner, _scope: &Scope) -> Changes {
        jobs.changes(&Scope::root())
    }
}

/// C-66: an observer too far behind hears nothing of it.
#[derive(Default)]
pub(super) struct NobodyIsFarBehind;

#[async_trait]
impl Fault for NobodyIsFarBehind {
    fn changes(&self, jobs: &Inner, scope: &Scope) -> Changes {
        changed(jobs.changes(scope), |news, cx| {
            loop {
                match Pin::new(&mut *news).poll_next(cx) {
                    Poll::Ready(Some(Change::Everything)) => {}
                    other => return other,
                }
            }
        })
    }
}

/// C-66: an observer is told to look at everything after 1,000 owners.
#[derive(Default)]
pub(super) struct ObserversAreSoonFarBehind;

#[async_trait]
impl Fault for ObserversAreSoonFarBehind {
    fn changes(&self, jobs: &Inner, scope: &Scope) -> Changes {
        let mut heard = 0;
        changed(jobs.changes(scope), move |news, cx| {
            let change = Pin::new(news).poll_next(cx);
            if let Poll::Ready(Some(Change::Owner(_))) = &change {
                heard += 1;
                if heard > 1000 {
                    return Poll::Ready(Some(Change::Everything));
                }
            }
            change
        })
    }
}

/// C-80: the changes of a shutdown are lost.
#[derive(Default)]
pub(super) struct LastChangesAreLost(Arc<AtomicBool>);

#[async_trait]
impl Fault for LastChangesAreLost {
    async fn shutdown(&self, jobs: &Inner) {
        self.0.store(true, Ordering::SeqCst);
        jobs.shutdown().await;
    }

    fn changes(&self, jobs: &Inner, scope: &Scope) -> Changes {
        let over = Arc::clone(&self.0);
        changed(jobs.changes(scope), move |news, cx| {
            match over.load(Ordering::SeqCst) {
                true => Poll::Ready(None),
                false => Pin::new(news).poll_next(cx),
            }
        })
    }
}

/// C-80: a shutdown does not wait.
#[derive(Default)]
pub(super) struct ShutdownsDoNotWait;

#[async_trait]
impl Fault for ShutdownsDoNotWait {
    async fn shutdown(&self, jobs: &Inner) {
        let jobs = Arc::clone(jobs);
        tokio::spawn(async move { jobs.shutdown().await });
    }
}
