//! Faults of access and looks: C-01 to C-04, C-20 to C-22.

use async_trait::async_trait;
use jobs::{Caller, Delta, Error, JobId, Owner, OwnerKey, Scope, SessionId, Snapshot, State};
use parking_lot::Mutex;

use super::broken::{Fault, Inner};

/// C-01: an unknown job is called foreign.
#[derive(Default)]
pub(super) struct UnknownIsForeign;

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
pub(super) struct ForeignIsUnknown;

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
pub(super) struct UnownedIsClosed;

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
pub(super) struct ListsAfterShutdown;

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
pub(super) struct ListsTell;

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
pub(super) struct ToldEndsForget;

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
pub(super) struct ListsAreReversed;

#[async_trait]
impl Fault for ListsAreReversed {
    async fn list(&self, jobs: &Inner, caller: &Caller) -> Result<Vec<Snapshot>, Error> {
        let mut listed = jobs.list(caller).await?;
        listed.reverse();
        Ok(listed)
    }
}

/// C-02: only owners that the registry knows have access to their session.
#[derive(Default)]
pub(super) struct SiblingsAreForeign(Mutex<Vec<OwnerKey>>);

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
pub(super) struct LiveJobsSayNothing;

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
pub(super) struct FactsAreLost;

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
