//! Faults of controllers, reporters, observers and owners: C-60 to C-80.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use async_trait::async_trait;
use futures_core::Stream;
use jobs::{
    Change, Changes, Completion, Completions, Delivery, Error, JobId, JobSpec, News, Owner,
    OwnerControl, OwnerKey, Receipt, Registration, Scope, SessionId,
};
use parking_lot::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::broken::{Fault, Inner};

/// News that `change` makes of other news.
struct Changed<T, F> {
    news: News<T>,
    change: F,
}

impl<T, F> Stream for Changed<T, F>
where
    F: FnMut(&mut News<T>, &mut Context<'_>) -> Poll<Option<T>> + Unpin,
{
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Self { news, change } = self.get_mut();
        change(news, cx)
    }
}

fn changed<T: Send + 'static>(
    news: News<T>,
    change: impl FnMut(&mut News<T>, &mut Context<'_>) -> Poll<Option<T>> + Send + Unpin + 'static,
) -> News<T> {
    News::new(Changed { news, change })
}

/// C-60: a controller serves everyone.
#[derive(Default)]
pub(crate) struct ControllersServeEveryone(AtomicUsize);

#[async_trait]
impl Fault for ControllersServeEveryone {
    fn controller(&self, jobs: &Inner, name: &str, scope: &Scope) -> Result<Registration, Error> {
        let own = jobs.controller(name, scope)?;
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        let root = jobs.controller(&format!("sabotage {number}"), &Scope::root())?;
        Ok(Registration::new(move || drop((own, root))))
    }
}

/// C-61: a reporter of one owner hears all of them.
pub(crate) struct NarrowingIsIgnored;

#[async_trait]
impl Fault for NarrowingIsIgnored {
    fn completions(&self, jobs: &Inner, scope: &Scope, _owner: Option<&OwnerKey>) -> Completions {
        jobs.completions(scope, None)
    }
}

/// C-62: the latest end is offered first.
pub(crate) struct TheLatestComesFirst;

#[async_trait]
impl Fault for TheLatestComesFirst {
    fn completions(&self, jobs: &Inner, scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
        let mut held: Vec<Receipt<Completion>> = Vec::new();
        changed(jobs.completions(scope, owner), move |news, cx| {
            loop {
                match Pin::new(&mut *news).poll_next(cx) {
                    Poll::Ready(Some(offered)) => held.push(offered),
                    Poll::Ready(None) => return Poll::Ready(None),
                    Poll::Pending => {
                        return match held.pop() {
                            Some(latest) => Poll::Ready(Some(latest)),
                            None => Poll::Pending,
                        };
                    }
                }
            }
        })
    }
}

/// C-63: an offer tells, delivered or not.
pub(crate) struct OffersTell;

#[async_trait]
impl Fault for OffersTell {
    fn completions(&self, jobs: &Inner, scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
        changed(jobs.completions(scope, owner), |news, cx| {
            Pin::new(news).poll_next(cx).map(|offered| {
                offered.map(|offered| Receipt::new(offered.commit(), Delivery::none()))
            })
        })
    }
}

/// C-64: changes come by way of another task, so after the offer.
pub(crate) struct ChangesAreLate;

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
pub(crate) struct UnownedIsNotHeardOf;

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

/// C-70: a replaced instance starts jobs of the one that replaced it.
#[derive(Default)]
pub(crate) struct ReplacedInstancesStart(Mutex<HashMap<SessionId, OwnerKey>>);

#[async_trait]
impl Fault for ReplacedInstancesStart {
    async fn start(&self, jobs: &Inner, mut spec: JobSpec) -> Result<JobId, Error> {
        if let Some(owner) = &mut spec.owner
            && let Some(current) = self.0.lock().get(&owner.session)
        {
            *owner = current.clone();
        }
        jobs.start(spec).await
    }

    fn owner(&self, jobs: &Inner, session: SessionId, scope: Scope) -> Owner {
        let owner = jobs.owner(session.clone(), scope);
        self.0.lock().insert(session, owner.key().clone());
        owner
    }
}

/// C-71: a teardown gives another reason.
pub(crate) struct TeardownsHaveNoReason;

#[async_trait]
impl Fault for TeardownsHaveNoReason {
    async fn start(&self, jobs: &Inner, mut spec: JobSpec) -> Result<JobId, Error> {
        let starter = spec.starter;
        spec.starter = Box::new(move |id| {
            let mut hooks = starter(id)?;
            let cancel = hooks.cancel;
            hooks.cancel =
                Box::new(move |reason| cancel(reason.filter(|text| *text != "owner disposed")));
            Ok(hooks)
        });
        jobs.start(spec).await
    }
}

/// An owner whose end another fault has in its hands.
struct Control {
    owner: Mutex<Option<Owner>>,
    how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    CloseWithoutWaiting,
    IgnoreDrops,
    HandNothingOver,
}

fn controlled(jobs: &Inner, session: SessionId, scope: Scope, how: How) -> Owner {
    let owner = jobs.owner(session, scope.clone());
    let key = owner.key().clone();
    let control = Control {
        owner: Mutex::new(Some(owner)),
        how,
    };
    Owner::new(key, scope, Arc::new(control))
}

impl Control {
    fn owner(&self) -> Owner {
        let owner = self.owner.lock();
        owner.clone().expect("the handle lives")
    }
}

#[async_trait]
impl OwnerControl for Control {
    async fn close(&self) {
        let owner = self.owner();
        if self.how == How::CloseWithoutWaiting {
            tokio::spawn(async move { owner.close().await });
        } else {
            owner.close().await;
        }
    }

    async fn hand_over(&self, to: &OwnerKey) -> Result<(), Error> {
        if self.how == How::HandNothingOver {
            return Ok(());
        }
        // The key is all there is of the other owner; its own control is not
        // asked for it.
        let to = Owner::new(to.clone(), Scope::root(), Arc::new(Nobody));
        self.owner().hand_over(&to).await
    }

    fn abandon(&self) {
        let owner = self.owner.lock().take();
        if self.how == How::IgnoreDrops {
            // It never ends: a leak is the fault.
            Box::leak(Box::new(owner));
        }
    }
}

/// The control of a handle that only carries a key.
struct Nobody;

#[async_trait]
impl OwnerControl for Nobody {
    async fn close(&self) {}

    async fn hand_over(&self, _to: &OwnerKey) -> Result<(), Error> {
        Ok(())
    }

    fn abandon(&self) {}
}

/// C-72: a close does not wait.
pub(crate) struct ClosesDoNotWait;

#[async_trait]
impl Fault for ClosesDoNotWait {
    fn owner(&self, jobs: &Inner, session: SessionId, scope: Scope) -> Owner {
        controlled(jobs, session, scope, How::CloseWithoutWaiting)
    }
}

/// C-73: the drop of the last handle does nothing.
pub(crate) struct DropsDoNothing;

#[async_trait]
impl Fault for DropsDoNothing {
    fn owner(&self, jobs: &Inner, session: SessionId, scope: Scope) -> Owner {
        controlled(jobs, session, scope, How::IgnoreDrops)
    }
}

/// C-74: a hand-over moves nothing.
pub(crate) struct HandOversMoveNothing;

#[async_trait]
impl Fault for HandOversMoveNothing {
    fn owner(&self, jobs: &Inner, session: SessionId, scope: Scope) -> Owner {
        controlled(jobs, session, scope, How::HandNothingOver)
    }
}

/// C-80: reporters outlive the registry.
pub(crate) struct ReportersNeverEnd;

#[async_trait]
impl Fault for ReportersNeverEnd {
    fn completions(&self, jobs: &Inner, scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
        changed(jobs.completions(scope, owner), |news, cx| {
            match Pin::new(news).poll_next(cx) {
                Poll::Ready(None) => Poll::Pending,
                other => other,
            }
        })
    }
}
