//! Faults of starts, looks, reads, kills and waits: C-01 to C-51.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use jobs::{
    Caller, Cause, Delivery, Delta, Error, Hooks, JobId, JobSpec, Kill, KillOutcome, KilledBy,
    Outcome, Receipt, Snapshot, State, Status,
};
use jobs_testkit::Puppet;
use parking_lot::Mutex;

use crate::broken::{Fault, Inner};

/// The answer, with nothing left to commit.
fn committed<T>(receipt: Receipt<T>) -> Receipt<T> {
    Receipt::new(receipt.commit(), Delivery::none())
}

/// C-01: an unknown job is called foreign.
pub(crate) struct UnknownIsForeign;

#[async_trait]
impl Fault for UnknownIsForeign {
    async fn observe(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        from: u64,
        max: Option<usize>,
    ) -> Result<Delta, Error> {
        match jobs.observe(id, caller, from, max).await {
            Err(Error::UnknownJob { .. }) => Err(Error::ForeignJob { id: id.clone() }),
            other => other,
        }
    }
}

/// C-02: a foreign job is called unknown.
pub(crate) struct ForeignIsUnknown;

#[async_trait]
impl Fault for ForeignIsUnknown {
    async fn observe(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        from: u64,
        max: Option<usize>,
    ) -> Result<Delta, Error> {
        match jobs.observe(id, caller, from, max).await {
            Err(Error::ForeignJob { id }) => Err(Error::UnknownJob {
                id: jobs::text::Echo::new(&id.to_string()),
            }),
            other => other,
        }
    }
}

/// C-03: nobody may observe unowned jobs.
pub(crate) struct UnownedIsClosed;

#[async_trait]
impl Fault for UnownedIsClosed {
    async fn observe(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        from: u64,
        max: Option<usize>,
    ) -> Result<Delta, Error> {
        let seen = jobs.observe(id, caller, from, max).await?;
        match seen.job.owner {
            Some(_) => Ok(seen),
            None => Err(Error::UnownedProtected { id: id.clone() }),
        }
    }
}

/// C-04: after a shutdown the list is empty.
pub(crate) struct ListsAfterShutdown;

#[async_trait]
impl Fault for ListsAfterShutdown {
    async fn list(&self, jobs: &Inner, caller: &Caller) -> Result<Vec<Snapshot>, Error> {
        match jobs.list(caller).await {
            Err(Error::ShutDown) => Ok(Vec::new()),
            other => other,
        }
    }
}

/// C-05: after a panic of a source no job starts any more.
#[derive(Default)]
pub(crate) struct PanicsPoison(AtomicBool);

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

fn unavailable() -> Error {
    Error::Unavailable {
        reason: jobs::text::Echo::new("sabotage"),
    }
}

/// C-06: no call while a source is read.
#[derive(Default)]
pub(crate) struct ReadsExcludeStarts(AtomicBool);

#[async_trait]
impl Fault for ReadsExcludeStarts {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        if self.0.load(Ordering::SeqCst) {
            // What a lock would do; a deadlock would cost a thread.
            return std::future::pending().await;
        }
        jobs.start(spec).await
    }

    async fn read(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Delta>, Error> {
        self.0.store(true, Ordering::SeqCst);
        let read = jobs.read(id, caller).await;
        self.0.store(false, Ordering::SeqCst);
        read
    }
}

/// C-10: the label is checked before everything else.
pub(crate) struct LabelComesFirst;

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
pub(crate) struct RefusedStartersRun;

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
pub(crate) struct FailedStartersLeaveRecords;

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
        match failure.lock().take() {
            Some(error) => Err(Error::Producer(error)),
            None => started,
        }
    }
}

/// C-13: the start of a job that is over before it returns fails.
pub(crate) struct QuickJobsFailToStart;

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
pub(crate) struct LaterKindsCountFromTwo(Mutex<Vec<String>>);

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
            let owner = jobs.owner("burner".into(), jobs::Scope::root());
            let (burnt, puppet) = Puppet::spec(&spec.kind, "burnt");
            puppet.settle(Outcome::completed());
            drop(jobs.start(burnt.with_owner(&owner)).await);
            owner.close().await;
        }
        jobs.start(spec).await
    }
}

/// C-20: a list tells what it shows.
pub(crate) struct ListsTell;

#[async_trait]
impl Fault for ListsTell {
    async fn list(&self, jobs: &Inner, caller: &Caller) -> Result<Vec<Snapshot>, Error> {
        let listed = jobs.list(caller).await?;
        for job in listed.iter().filter(|job| job.is_terminal()) {
            if let Ok(settled) = jobs.settled(&job.id, caller).await {
                settled.commit();
            }
        }
        Ok(listed)
    }
}

/// C-21: the detail of an end is gone once it was told.
pub(crate) struct ToldEndsForget;

#[async_trait]
impl Fault for ToldEndsForget {
    async fn get(&self, jobs: &Inner, id: &JobId, caller: &Caller) -> Result<Snapshot, Error> {
        let mut job = jobs.get(id, caller).await?;
        if let State::Ended(end) = &mut job.state
            && end.reported
        {
            end.detail = None;
        }
        Ok(job)
    }
}

/// C-22: the newest job is listed first.
pub(crate) struct ListsAreReversed;

#[async_trait]
impl Fault for ListsAreReversed {
    async fn list(&self, jobs: &Inner, caller: &Caller) -> Result<Vec<Snapshot>, Error> {
        let mut listed = jobs.list(caller).await?;
        listed.reverse();
        Ok(listed)
    }
}

/// C-30: a final output is given once only.
#[derive(Default)]
pub(crate) struct FinalOutputIsGivenOnce(Mutex<HashSet<JobId>>);

#[async_trait]
impl Fault for FinalOutputIsGivenOnce {
    async fn read(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Delta>, Error> {
        let (mut delta, delivery) = jobs.read(id, caller).await?.into_parts();
        if delta.job.is_terminal() && !self.0.lock().insert(id.clone()) {
            delta.text.clear();
        }
        Ok(Receipt::new(delta, delivery))
    }
}

/// C-31: a read of a live job uses its output up.
pub(crate) struct ReadsUseOutputUp;

#[async_trait]
impl Fault for ReadsUseOutputUp {
    async fn read(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Delta>, Error> {
        let read = jobs.read(id, caller).await?;
        Ok(if read.job.is_terminal() {
            read
        } else {
            committed(read)
        })
    }
}

/// C-32: a read of an ended job tells, delivered or not.
pub(crate) struct TerminalReadsTell;

#[async_trait]
impl Fault for TerminalReadsTell {
    async fn read(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Delta>, Error> {
        let read = jobs.read(id, caller).await?;
        if read.job.is_terminal() {
            jobs.settled(id, caller).await?.commit();
        }
        Ok(read)
    }
}

/// C-33: a source that fails looks like one that has nothing.
pub(crate) struct FailedSourcesAreEmpty;

#[async_trait]
impl Fault for FailedSourcesAreEmpty {
    async fn read(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Delta>, Error> {
        match jobs.read(id, caller).await {
            Err(Error::Producer(_)) => {
                let job = jobs.get(id, caller).await?;
                let nothing = Delta::new(String::new(), 0..0, 0, job);
                Ok(Receipt::new(nothing, Delivery::none()))
            }
            other => other,
        }
    }
}

/// C-34: observing moves the cursor of the model.
pub(crate) struct ObserversMoveTheCursor;

#[async_trait]
impl Fault for ObserversMoveTheCursor {
    async fn observe(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        from: u64,
        max: Option<usize>,
    ) -> Result<Delta, Error> {
        let seen = jobs.observe(id, caller, from, max).await?;
        if let Ok(read) = jobs.read(id, caller).await {
            read.into_parts().1.commit_range();
        }
        Ok(seen)
    }
}

/// C-40: a kill whose cancel fails is accepted.
pub(crate) struct FailedKillsAreAccepted;

#[async_trait]
impl Fault for FailedKillsAreAccepted {
    async fn kill(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error> {
        match jobs.kill(id, caller, by, reason).await {
            Err(Error::Producer(_)) => {
                let job = jobs.get(id, caller).await?;
                let kill = Kill::new(KillOutcome::Requested, job);
                Ok(Receipt::new(kill, Delivery::none()))
            }
            other => other,
        }
    }
}

/// C-41: a second kill cancels nothing.
pub(crate) struct SecondKillsAreIgnored;

#[async_trait]
impl Fault for SecondKillsAreIgnored {
    async fn kill(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error> {
        match jobs.get(id, caller).await {
            Ok(job) if job.status() == Status::Stopping => {
                let kill = Kill::new(KillOutcome::Requested, job);
                Ok(Receipt::new(kill, Delivery::none()))
            }
            _ => jobs.kill(id, caller, by, reason).await,
        }
    }
}

/// C-42: every kill counts as the model's own.
pub(crate) struct EverybodyIsTheModel;

#[async_trait]
impl Fault for EverybodyIsTheModel {
    async fn kill(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        _by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error> {
        jobs.kill(id, caller, KilledBy::Model, reason).await
    }
}

/// C-43: a kill of a live job tells, delivered or not.
pub(crate) struct KillsTell;

#[async_trait]
impl Fault for KillsTell {
    async fn kill(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error> {
        let kill = jobs.kill(id, caller, by, reason).await?;
        Ok(match kill.outcome {
            KillOutcome::Requested => committed(kill),
            KillOutcome::AlreadyFinished => kill,
        })
    }
}

/// C-50: a wait for a job that a teardown ended never resolves.
pub(crate) struct WaitsMissTeardowns;

#[async_trait]
impl Fault for WaitsMissTeardowns {
    async fn settled(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Snapshot>, Error> {
        let settled = jobs.settled(id, caller).await?;
        match settled.end().map(|end| end.cause) {
            Some(Cause::OwnerClosed) => {
                drop(settled);
                std::future::pending().await
            }
            _ => Ok(settled),
        }
    }
}

/// C-51: a wait holds no share.
pub(crate) struct WaitsHoldNoShare;

#[async_trait]
impl Fault for WaitsHoldNoShare {
    async fn settled(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Snapshot>, Error> {
        let (job, share) = jobs.settled(id, caller).await?.into_parts();
        drop(share);
        Ok(Receipt::new(job, Delivery::none()))
    }
}
