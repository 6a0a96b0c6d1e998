//! Faults of waits: C-50, C-51, C-64.

use std::sync::Arc;

use async_trait::async_trait;
use jobs::{Caller, Cause, Delivery, Error, JobId, Receipt, Scope, Snapshot, Status};

use super::broken::{Fault, Inner};
use super::kills::tell_the_end;

/// C-50: a wait for a job that a teardown ended never resolves.
#[derive(Default)]
pub(super) struct WaitsMissTeardowns;

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
#[derive(Default)]
pub(super) struct WaitsHoldNoShare;

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

/// C-50: a wait ends when the job is stopping.
#[derive(Default)]
pub(super) struct WaitsEndAtTheStop;

#[async_trait]
impl Fault for WaitsEndAtTheStop {
    async fn settled(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Snapshot>, Error> {
        let mut changes = jobs.changes(&Scope::root());
        let mut settled = jobs.settled(id, caller);
        loop {
            tokio::select! {
                biased;
                settled = &mut settled => return settled,
                Some(_) = changes.next() => {
                    let job = jobs.get(id, caller).await?;
                    if job.status() == Status::Stopping {
                        return Ok(Receipt::new(job, Delivery::none()));
                    }
                }
            }
        }
    }
}

/// C-51: a wait that is dropped goes on, and tells.
#[derive(Default)]
pub(super) struct DroppedWaitsTell;

#[async_trait]
impl Fault for DroppedWaitsTell {
    async fn settled(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Snapshot>, Error> {
        tell_the_end(jobs, id, caller);
        jobs.settled(id, caller).await
    }
}

/// C-64: waiters are released by way of another task, so after the changes.
#[derive(Default)]
pub(super) struct WaitersAreLate;

#[async_trait]
impl Fault for WaitersAreLate {
    async fn settled(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Snapshot>, Error> {
        let (jobs, id, caller) = (Arc::clone(jobs), id.clone(), caller.clone());
        let wait = tokio::spawn(async move { jobs.settled(&id, &caller).await });
        wait.await.expect("the wait ends")
    }
}
