//! A registry that delegates every call to another one, but for what one fault
//! breaks.

use std::pin::Pin;
use std::sync::Arc;

use crate::harness::Settings;
use async_trait::async_trait;
use jobs::{
    Caller, Changes, Completions, Delta, Error, JobId, JobRegistry, JobSpec, Kill, KilledBy, Owner,
    OwnerKey, Receipt, Registration, Scope, SessionId, Snapshot,
};

/// What a fault does to each method; every default does nothing.
#[async_trait]
pub(super) trait Fault: Send + Sync + 'static {
    fn configure(&self, settings: &mut Settings) {
        let _unchanged = settings;
    }

    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        jobs.start(spec).await
    }

    async fn get(&self, jobs: &Inner, id: &JobId, caller: &Caller) -> Result<Snapshot, Error> {
        jobs.get(id, caller).await
    }

    async fn list(&self, jobs: &Inner, caller: &Caller) -> Result<Vec<Snapshot>, Error> {
        jobs.list(caller).await
    }

    async fn read(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Delta>, Error> {
        jobs.read(id, caller).await
    }

    async fn observe(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        from: u64,
        max: Option<usize>,
    ) -> Result<Delta, Error> {
        jobs.observe(id, caller, from, max).await
    }

    async fn kill(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error> {
        jobs.kill(id, caller, by, reason).await
    }

    async fn settled(
        &self,
        jobs: &Inner,
        id: &JobId,
        caller: &Caller,
    ) -> Result<Receipt<Snapshot>, Error> {
        jobs.settled(id, caller).await
    }

    async fn shutdown(&self, jobs: &Inner) {
        jobs.shutdown().await;
    }

    fn owner(&self, jobs: &Inner, session: SessionId, scope: Scope) -> Owner {
        jobs.owner(session, scope)
    }

    fn controller(&self, jobs: &Inner, name: &str, scope: &Scope) -> Result<Registration, Error> {
        jobs.controller(name, scope)
    }

    fn completions(&self, jobs: &Inner, scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
        jobs.completions(scope, owner)
    }

    fn changes(&self, jobs: &Inner, scope: &Scope) -> Changes {
        jobs.changes(scope)
    }
}

/// The registry that works.
pub(super) type Inner = Arc<dyn JobRegistry>;

/// The registry that does not.
pub(super) struct Broken {
    pub(super) jobs: Inner,
    pub(super) fault: Box<dyn Fault>,
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl JobRegistry for Broken {
    // Not `async`: a fault may do something before the first poll.
    fn start<'life0, 'async_trait>(
        &'life0 self,
        spec: JobSpec,
    ) -> Pin<Box<dyn Future<Output = Result<JobId, Error>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        self.fault.start(&self.jobs, spec)
    }

    async fn get(&self, id: &JobId, caller: &Caller) -> Result<Snapshot, Error> {
        self.fault.get(&self.jobs, id, caller).await
    }

    async fn list(&self, caller: &Caller) -> Result<Vec<Snapshot>, Error> {
        self.fault.list(&self.jobs, caller).await
    }

    async fn read(&self, id: &JobId, caller: &Caller) -> Result<Receipt<Delta>, Error> {
        self.fault.read(&self.jobs, id, caller).await
    }

    async fn observe(
        &self,
        id: &JobId,
        caller: &Caller,
        from: u64,
        max: Option<usize>,
    ) -> Result<Delta, Error> {
        self.fault.observe(&self.jobs, id, caller, from, max).await
    }

    async fn kill(
        &self,
        id: &JobId,
        caller: &Caller,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error> {
        self.fault.kill(&self.jobs, id, caller, by, reason).await
    }

    async fn settled(&self, id: &JobId, caller: &Caller) -> Result<Receipt<Snapshot>, Error> {
        self.fault.settled(&self.jobs, id, caller).await
    }

    async fn shutdown(&self) {
        self.fault.shutdown(&self.jobs).await;
    }

    fn owner(&self, session: SessionId, scope: Scope) -> Owner {
        self.fault.owner(&self.jobs, session, scope)
    }

    fn controller(&self, name: &str, scope: &Scope) -> Result<Registration, Error> {
        self.fault.controller(&self.jobs, name, scope)
    }

    fn completions(&self, scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
        self.fault.completions(&self.jobs, scope, owner)
    }

    fn changes(&self, scope: &Scope) -> Changes {
        self.fault.changes(&self.jobs, scope)
    }
}
