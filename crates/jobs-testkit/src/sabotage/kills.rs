//! Faults of kills: C-40 to C-44.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::harness::Settings;
use async_trait::async_trait;
use jobs::{
    Caller, Cause, Delivery, Error, JobId, Kill, KillOutcome, KilledBy, Receipt, Snapshot, State,
    Status,
};
use parking_lot::Mutex;

use super::broken::{Fault, Inner};
use super::committed;

/// C-40: a kill whose cancel fails is accepted.
#[derive(Default)]
pub(super) struct FailedKillsAreAccepted;

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
#[derive(Default)]
pub(super) struct SecondKillsAreIgnored;

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
#[derive(Default)]
pub(super) struct EverybodyIsTheModel;

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
#[derive(Default)]
pub(super) struct KillsTell;

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

/// C-40: the job is shown stopping before its cancel has accepted.
#[derive(Default)]
pub(super) struct KillsShowEarly(AtomicBool);

#[async_trait]
impl Fault for KillsShowEarly {
    async fn get(&self, jobs: &Inner, id: &JobId, caller: &Caller) -> Result<Snapshot, Error> {
        let mut job = jobs.get(id, caller).await?;
        if self.0.load(Ordering::SeqCst) && !job.is_terminal() {
            job.state = State::Stopping { detail: None };
        }
        Ok(job)
    }

    async fn kill(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error> {
        self.0.store(true, Ordering::SeqCst);
        let kill = jobs.kill(id, caller, by, reason).await;
        self.0.store(false, Ordering::SeqCst);
        kill
    }
}

/// C-41: an ended job is said to be stopping.
#[derive(Default)]
pub(super) struct EndedKillsAreRequested;

#[async_trait]
impl Fault for EndedKillsAreRequested {
    async fn kill(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error> {
        let (mut kill, delivery) = jobs.kill(id, caller, by, reason).await?.into_parts();
        kill.outcome = KillOutcome::Requested;
        Ok(Receipt::new(kill, delivery))
    }
}

/// C-42: a kill by the model tells whatever end there is.
#[derive(Default)]
pub(super) struct ModelKillsTellEveryEnd;

#[async_trait]
impl Fault for ModelKillsTellEveryEnd {
    async fn kill(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error> {
        let kill = jobs.kill(id, caller, by, reason).await?;
        if by == KilledBy::Model && kill.outcome == KillOutcome::Requested {
            tell_the_end(jobs, id, caller);
        }
        Ok(kill)
    }
}

pub(super) fn tell_the_end(jobs: &Inner, id: &JobId, caller: &Caller) {
    let (jobs, id, caller) = (Arc::clone(jobs), id.clone(), caller.clone());
    tokio::spawn(async move {
        if let Ok(settled) = jobs.settled(&id, &caller).await {
            settled.commit();
        }
    });
}

/// C-42: a kill by a user names the cause of every end.
#[derive(Default)]
pub(super) struct UserKillsNameEveryCause(Mutex<HashSet<JobId>>);

#[async_trait]
impl Fault for UserKillsNameEveryCause {
    async fn get(&self, jobs: &Inner, id: &JobId, caller: &Caller) -> Result<Snapshot, Error> {
        let mut job = jobs.get(id, caller).await?;
        if let State::Ended(end) = &mut job.state
            && self.0.lock().contains(id)
        {
            end.cause = Cause::User;
        }
        Ok(job)
    }

    async fn kill(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error> {
        let kill = jobs.kill(id, caller, by, reason).await?;
        if by == KilledBy::User && kill.outcome == KillOutcome::Requested {
            self.0.lock().insert(id.clone());
        }
        Ok(kill)
    }
}

/// C-44: a job may be stopping for ever.
#[derive(Default)]
pub(super) struct StoppingHasNoEnd;

impl Fault for StoppingHasNoEnd {
    fn configure(&self, settings: &mut Settings) {
        settings.stop_grace = None;
    }
}

/// C-44: the stop grace is one second, whatever it was set to.
#[derive(Default)]
pub(super) struct TheStopGraceIsShort;

impl Fault for TheStopGraceIsShort {
    fn configure(&self, settings: &mut Settings) {
        settings.stop_grace = Some(Duration::from_secs(1));
    }
}
