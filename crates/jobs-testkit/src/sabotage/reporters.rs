//! Faults of controllers and reporters: C-60 to C-65, C-73, C-80.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::harness::Settings;
use async_trait::async_trait;
use futures_core::Stream;
use jobs::{
    Caller, Completion, Completions, Delivery, Error, InstanceId, JobId, JobSpec, NoticeId,
    OwnerKey, Receipt, Registration, Scope, Snapshot,
};
use parking_lot::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::broken::{Fault, Inner};
use super::changed;

/// C-60: a controller serves everyone.
#[derive(Default)]
pub(super) struct ControllersServeEveryone(AtomicUsize);

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
#[derive(Default)]
pub(super) struct NarrowingIsIgnored;

#[async_trait]
impl Fault for NarrowingIsIgnored {
    fn completions(&self, jobs: &Inner, scope: &Scope, _owner: Option<&OwnerKey>) -> Completions {
        jobs.completions(scope, None)
    }
}

/// C-62: the latest end is offered first.
#[derive(Default)]
pub(super) struct TheLatestComesFirst;

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
#[derive(Default)]
pub(super) struct OffersTell;

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

/// C-80: reporters outlive the registry.
#[derive(Default)]
pub(super) struct ReportersNeverEnd;

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

/// C-60: a name of a controller can be taken twice.
#[derive(Default)]
pub(super) struct ControllerNamesAreFree(AtomicUsize);

#[async_trait]
impl Fault for ControllerNamesAreFree {
    fn controller(&self, jobs: &Inner, name: &str, scope: &Scope) -> Result<Registration, Error> {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        jobs.controller(&format!("{name} {number}"), scope)
    }
}

/// C-61: what ended before the reporter came is kept from it.
#[derive(Default)]
pub(super) struct LateReportersHearNothing;

#[async_trait]
impl Fault for LateReportersHearNothing {
    fn completions(&self, jobs: &Inner, scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
        let mut news = jobs.completions(scope, owner);
        let mut early = Vec::new();
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(offered)) = Pin::new(&mut news).poll_next(&mut cx) {
            early.push(offered);
        }
        changed(news, move |news, cx| {
            // They are held as long as the reporter lives.
            let _held = &early;
            Pin::new(news).poll_next(cx)
        })
    }
}

/// C-61: completions of unowned jobs are offered.
#[derive(Default)]
pub(super) struct UnownedAreOffered(Arc<Mutex<Vec<JobId>>>);

#[async_trait]
impl Fault for UnownedAreOffered {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        let unowned = spec.owner.is_none();
        let id = jobs.start(spec).await?;
        if unowned {
            self.0.lock().push(id.clone());
        }
        Ok(id)
    }

    fn completions(&self, jobs: &Inner, scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
        let (inside, unowned) = (Arc::downgrade(jobs), Arc::clone(&self.0));
        changed(jobs.completions(scope, owner), move |news, cx| {
            let offered = Pin::new(news).poll_next(cx);
            let Some(jobs) = inside.upgrade().filter(|_| offered.is_pending()) else {
                return offered;
            };
            let ids = unowned.lock().clone();
            let ended = ids.iter().find_map(|id| {
                let mut get = jobs.get(id, &Caller::Anonymous);
                match get.as_mut().poll(cx) {
                    Poll::Ready(Ok(job)) => Some(job).filter(Snapshot::is_terminal),
                    _ => None,
                }
            });
            let Some(job) = ended else {
                return Poll::Pending;
            };
            unowned.lock().retain(|id| *id != job.id);
            let notice = NoticeId::new(InstanceId::fresh(), job.id.clone());
            let completion = Completion::new(job, OwnerKey::fresh("nobody".into()), notice);
            Poll::Ready(Some(Receipt::new(completion, Delivery::none())))
        })
    }
}

/// C-61: a reporter hears of every scope.
#[derive(Default)]
pub(super) struct ReportersHearEverywhere;

#[async_trait]
impl Fault for ReportersHearEverywhere {
    fn completions(&self, jobs: &Inner, _scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
        jobs.completions(&Scope::root(), owner)
    }
}

struct Forwarded(UnboundedReceiver<Receipt<Completion>>);

impl Stream for Forwarded {
    type Item = Receipt<Completion>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx)
    }
}

/// C-63: an offer is handed over before anybody polls.
#[derive(Default)]
pub(super) struct OffersAreHandedOver;

#[async_trait]
impl Fault for OffersAreHandedOver {
    fn completions(&self, jobs: &Inner, scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
        let mut news = jobs.completions(scope, owner);
        let (sender, receiver) = unbounded_channel();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = sender.closed() => return,
                    offered = news.next() => match offered {
                        Some(offered) => drop(sender.send(offered)),
                        None => return,
                    },
                }
            }
        });
        Completions::new(Forwarded(receiver))
    }
}

/// C-63: the first completion comes again, told or not, three times.
#[derive(Default)]
pub(super) struct ToldComesAgain;

#[async_trait]
impl Fault for ToldComesAgain {
    fn completions(&self, jobs: &Inner, scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
        let mut first: Option<Completion> = None;
        let mut times = 0;
        changed(jobs.completions(scope, owner), move |news, cx| {
            let offered = Pin::new(news).poll_next(cx);
            match (&offered, &first) {
                (Poll::Ready(Some(offered)), None) => first = Some((**offered).clone()),
                (Poll::Pending, Some(first)) if times < 3 => {
                    times += 1;
                    let again = Receipt::new(first.clone(), Delivery::none());
                    return Poll::Ready(Some(again));
                }
                _ => {}
            }
            offered
        })
    }
}

/// C-73: a registry lives on when its last handle is gone.
#[derive(Default)]
pub(super) struct RegistriesNeverDrop;

#[async_trait]
impl Fault for RegistriesNeverDrop {
    fn controller(&self, jobs: &Inner, name: &str, scope: &Scope) -> Result<Registration, Error> {
        // It never ends: a leak is the fault.
        Box::leak(Box::new(Arc::clone(jobs)));
        jobs.controller(name, scope)
    }
}

/// C-65: a share holds reporters back for ever.
#[derive(Default)]
pub(super) struct LeasesNeverEnd;

impl Fault for LeasesNeverEnd {
    fn configure(&self, settings: &mut Settings) {
        settings.share_lease = Duration::from_secs(20 * 24 * 60 * 60);
    }
}
