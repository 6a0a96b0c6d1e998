//! Faults of looks and reads: C-01 to C-04, C-20 to C-34.

use std::collections::HashSet;

use async_trait::async_trait;
use jobs::{
    Caller, Delivery, Delta, Error, JobId, Owner, OwnerKey, Receipt, Scope, SessionId, Snapshot,
    State,
};
use parking_lot::Mutex;

use super::committed;
use crate::broken::{Fault, Inner};

/// C-01: an unknown job is called foreign.
#[derive(Default)]
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
#[derive(Default)]
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
#[derive(Default)]
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
#[derive(Default)]
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

/// C-20: a list tells what it shows.
#[derive(Default)]
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
#[derive(Default)]
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
#[derive(Default)]
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
#[derive(Default)]
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
#[derive(Default)]
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
#[derive(Default)]
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
#[derive(Default)]
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

/// C-02: only owners that the registry knows have access to their session.
#[derive(Default)]
pub(crate) struct SiblingsAreForeign(Mutex<Vec<OwnerKey>>);

#[async_trait]
impl Fault for SiblingsAreForeign {
    async fn get(&self, jobs: &Inner, id: &JobId, caller: &Caller) -> Result<Snapshot, Error> {
        if let Caller::Owner(key) = caller
            && !self.0.lock().contains(key)
        {
            return Err(Error::ForeignJob { id: id.clone() });
        }
        jobs.get(id, caller).await
    }

    fn owner(&self, jobs: &Inner, session: SessionId, scope: Scope) -> Owner {
        let owner = jobs.owner(session, scope);
        self.0.lock().push(owner.key().clone());
        owner
    }
}

/// C-20: a live job says nothing of itself.
#[derive(Default)]
pub(crate) struct LiveJobsSayNothing;

#[async_trait]
impl Fault for LiveJobsSayNothing {
    async fn get(&self, jobs: &Inner, id: &JobId, caller: &Caller) -> Result<Snapshot, Error> {
        let mut job = jobs.get(id, caller).await?;
        if let State::Running { detail } = &mut job.state {
            *detail = None;
        }
        Ok(job)
    }
}

/// C-21: the facts of an end are lost.
#[derive(Default)]
pub(crate) struct FactsAreLost;

#[async_trait]
impl Fault for FactsAreLost {
    async fn get(&self, jobs: &Inner, id: &JobId, caller: &Caller) -> Result<Snapshot, Error> {
        let mut job = jobs.get(id, caller).await?;
        if let State::Ended(end) = &mut job.state {
            end.facts = None;
        }
        Ok(job)
    }
}

/// C-30: nothing is said of output that is gone.
#[derive(Default)]
pub(crate) struct LossesAreSilent;

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
pub(crate) struct ReadsBeginAtTheStart;

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
pub(crate) struct ObserversSeeEverything;

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
pub(crate) struct ReadsHoldNoShare;

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
