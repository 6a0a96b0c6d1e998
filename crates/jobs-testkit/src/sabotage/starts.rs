//! Faults of starts: C-05, C-10 to C-15.

use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use crate::harness::Settings;
use crate::puppet::Puppet;
use async_trait::async_trait;
use jobs::{
    Caller, Delta, Error, Hooks, JobId, JobSpec, Outcome, OwnerKey, Receipt, Scope, Snapshot,
};
use parking_lot::Mutex;

use super::broken::{Fault, Inner};

/// C-05: after a panic of a source no job starts any more.
#[derive(Default)]
pub(super) struct PanicsPoison(AtomicBool);

#[async_trait]
impl Fault for PanicsPoison {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        if self.0.load(Ordering::SeqCst) {
            return Err(unavailable());
        }
        jobs.start(spec).await
    }

    async fn read(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Delta>, Error> {
        let read = jobs.read(id, caller).await;
        if matches!(read, Err(Error::Producer(_))) {
            self.0.store(true, Ordering::SeqCst);
        }
        read
    }
}

pub(super) fn unavailable() -> Error {
    Error::Unavailable {
        reason: jobs::text::Echo::new("sabotage"),
    }
}

/// C-10: the label is checked before everything else.
#[derive(Default)]
pub(super) struct LabelComesFirst;

#[async_trait]
impl Fault for LabelComesFirst {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        if spec.label.is_empty() {
            return Err(Error::InvalidLabel);
        }
        jobs.start(spec).await
    }
}

/// C-11: the starter of a refused start runs all the same.
#[derive(Default)]
pub(super) struct RefusedStartersRun;

#[async_trait]
impl Fault for RefusedStartersRun {
    async fn start(&self, jobs: &Inner, mut spec: JobSpec) -> Result<JobId, Error> {
        let starter = Arc::new(Mutex::new(Some(spec.starter)));
        let inside = Arc::clone(&starter);
        spec.starter = Box::new(move |id| {
            let starter = inside.lock().take().expect("it is called once");
            starter(id)
        });
        let started = jobs.start(spec).await;
        let left = starter.lock().take();
        if let Some(left) = left {
            drop(left(&"refused-1".parse().expect("an id")));
        }
        started
    }
}

/// C-12: a failed starter leaves an ended record.
#[derive(Default)]
pub(super) struct FailedStartersLeaveRecords;

#[async_trait]
impl Fault for FailedStartersLeaveRecords {
    async fn start(&self, jobs: &Inner, mut spec: JobSpec) -> Result<JobId, Error> {
        let failure = Arc::new(Mutex::new(None));
        let (inside, starter) = (Arc::clone(&failure), spec.starter);
        spec.starter = Box::new(move |id| {
            starter(id).or_else(|error| {
                *inside.lock() = Some(error);
                Ok(Hooks::new(
                    |_| Ok(()),
                    std::future::ready(Outcome::failed()),
                ))
            })
        });
        let started = jobs.start(spec).await;
        let failed = failure.lock().take();
        match failed {
            Some(error) => Err(Error::Producer(error)),
            None => started,
        }
    }
}

/// C-13: the start of a job that is over before it returns fails.
#[derive(Default)]
pub(super) struct QuickJobsFailToStart;

#[async_trait]
impl Fault for QuickJobsFailToStart {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        let caller = spec.owner.clone().map_or(Caller::Anonymous, Caller::Owner);
        let id = jobs.start(spec).await?;
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        match jobs.get(&id, &caller).await {
            Ok(job) if job.is_terminal() => Err(unavailable()),
            _ => Ok(id),
        }
    }
}

/// C-14: every kind but the first one starts to count at 2.
#[derive(Default)]
pub(super) struct LaterKindsCountFromTwo(Mutex<Vec<String>>);

#[async_trait]
impl Fault for LaterKindsCountFromTwo {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        let later = {
            let mut kinds = self.0.lock();
            let known = kinds.iter().any(|kind| *kind == spec.kind);
            if !known {
                kinds.push(spec.kind.to_string());
            }
            !known && kinds.len() > 1
        };
        if later {
            burn(jobs, &spec.kind).await;
        }
        jobs.start(spec).await
    }
}

/// Uses an ordinal up and leaves no record.
async fn burn(jobs: &Inner, kind: &str) {
    let owner = jobs.owner("burner".into(), Scope::root());
    let (burnt, puppet) = Puppet::spec(kind, "burnt");
    puppet.settle(Outcome::completed());
    drop(jobs.start(burnt.with_owner(&owner)).await);
    owner.close().await;
}

/// C-10: ended unowned jobs count as untold.
#[derive(Default)]
pub(super) struct UnownedCountAsUntold;

#[async_trait]
impl Fault for UnownedCountAsUntold {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        let listed = jobs.list(&Caller::Anonymous).await.unwrap_or_default();
        let untold = |job: &&Snapshot| job.is_terminal() && !job.reported();
        if spec.owner.is_none() && listed.iter().filter(untold).count() > 1 {
            return Err(Error::TooManyUntold {
                limit: NonZeroU32::MIN,
            });
        }
        jobs.start(spec).await
    }
}

/// C-11: the starter runs with the call, not with its first poll.
#[derive(Default)]
pub(super) struct StartsRunAtOnce;

impl Fault for StartsRunAtOnce {
    fn start<'life0, 'life1, 'async_trait>(
        &'life0 self,
        jobs: &'life1 Inner,
        spec: JobSpec,
    ) -> Pin<Box<dyn Future<Output = Result<JobId, Error>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        Self: 'async_trait,
    {
        let mut start = jobs.start(spec);
        match start.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(started) => Box::pin(std::future::ready(started)),
            Poll::Pending => start,
        }
    }
}

/// C-14: a starter is told another id than the caller.
#[derive(Default)]
pub(super) struct StartersAreToldAnotherId;

#[async_trait]
impl Fault for StartersAreToldAnotherId {
    async fn start(&self, jobs: &Inner, mut spec: JobSpec) -> Result<JobId, Error> {
        let starter = spec.starter;
        spec.starter = Box::new(move |_| starter(&"another-7".parse().expect("an id")));
        jobs.start(spec).await
    }
}

/// C-14: the second owner of a session gets no id in its turn.
#[derive(Default)]
pub(super) struct SecondOwnersSkipAnOrdinal(Mutex<Vec<OwnerKey>>);

#[async_trait]
impl Fault for SecondOwnersSkipAnOrdinal {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        let second = spec.owner.as_ref().is_some_and(|owner| {
            let mut seen = self.0.lock();
            let known = seen.contains(owner);
            let other = seen.iter().any(|one| one.session == owner.session);
            seen.push(owner.clone());
            other && !known
        });
        if second {
            burn(jobs, &spec.kind).await;
        }
        jobs.start(spec).await
    }
}

/// C-15: an owner may have one job more than its limit.
#[derive(Default)]
pub(super) struct LimitIsOffByOne;

impl Fault for LimitIsOffByOne {
    fn configure(&self, settings: &mut Settings) {
        settings.max_live_per_owner = settings.max_live_per_owner.saturating_add(1);
    }
}
