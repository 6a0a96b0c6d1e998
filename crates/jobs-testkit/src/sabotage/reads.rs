//! Faults of reads: C-30 to C-34.

use std::collections::HashSet;

use async_trait::async_trait;
use jobs::{Caller, Delivery, Delta, Error, JobId, Receipt};
use parking_lot::Mutex;

use super::broken::{Fault, Inner};
use super::committed;

/// C-30: a final output is given once only.
#[derive(Default)]
pub(super) struct FinalOutputIsGivenOnce(Mutex<HashSet<JobId>>);

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
#[derive(Default)]
pub(super) struct ReadsUseOutputUp;

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
#[derive(Default)]
pub(super) struct TerminalReadsTell;

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
#[derive(Default)]
pub(super) struct FailedSourcesAreEmpty;

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
#[derive(Default)]
pub(super) struct ObserversMoveTheCursor;

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

/// C-30: nothing is said of output that is gone.
#[derive(Default)]
pub(super) struct LossesAreSilent;

#[async_trait]
impl Fault for LossesAreSilent {
    async fn read(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Delta>, Error> {
        let (mut delta, delivery) = jobs.read(id, caller).await?.into_parts();
        delta.dropped = 0;
        Ok(Receipt::new(delta, delivery))
    }

    async fn observe(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        from: u64,
        max: Option<usize>,
    ) -> Result<Delta, Error> {
        let mut delta = jobs.observe(id, caller, from, max).await?;
        delta.dropped = 0;
        Ok(delta)
    }
}

/// C-30: every read begins at the start.
#[derive(Default)]
pub(super) struct ReadsBeginAtTheStart;

#[async_trait]
impl Fault for ReadsBeginAtTheStart {
    async fn read(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Delta>, Error> {
        let (_, delivery) = jobs.read(id, caller).await?.into_parts();
        let all = jobs.observe(id, caller, 0, None).await?;
        Ok(Receipt::new(all, delivery))
    }
}

/// C-34: an observer gets everything, whatever it asked for.
#[derive(Default)]
pub(super) struct ObserversSeeEverything;

#[async_trait]
impl Fault for ObserversSeeEverything {
    async fn observe(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        _from: u64,
        _max: Option<usize>,
    ) -> Result<Delta, Error> {
        jobs.observe(id, caller, 0, None).await
    }
}

/// C-32: a read holds no share.
#[derive(Default)]
pub(super) struct ReadsHoldNoShare;

#[async_trait]
impl Fault for ReadsHoldNoShare {
    async fn read(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Delta>, Error> {
        let read = jobs.read(id, caller).await?;
        if !read.job.is_terminal() {
            return Ok(read);
        }
        let (delta, delivery) = read.into_parts();
        drop(delivery);
        Ok(Receipt::new(delta, Delivery::none()))
    }
}
