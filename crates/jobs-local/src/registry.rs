//! The public face: [`LocalJobRegistry`].

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use jobs::text::Echo;
use jobs::{
    Caller, Changes, Completions, ConfigError, Delta, Error, JobId, JobRegistry, JobSpec, Kill,
    KilledBy, Owner, OwnerKey, Receipt, Registration, Scope, SessionId, Snapshot,
};

use crate::changes::ChangeBoard;
use crate::config::Config;
use crate::core::{Access, Core};
use crate::teardown::{self, RoomControl};
use crate::wait::Settled;
use crate::{kill, offers, read, start};

/// The registry of one process, in memory.
///
/// Share it as an `Arc`. Dropping the last one signals a shutdown: live jobs
/// are cancelled, and nobody waits; [`JobRegistry::shutdown`] waits.
///
/// Jobs are driven by the tokio runtime that `start` was called in; the timers
/// of graces and leases need its `time` feature enabled.
///
/// ```
/// use jobs::{Caller, Hooks, JobRegistry, JobRegistryExt, JobSpec, Outcome, Scope};
/// use jobs_local::{Config, LocalJobRegistry};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let jobs = LocalJobRegistry::new(Config::default())?;
/// let _controller = jobs.controller("example", &Scope::root())?;
/// let owner = jobs.owner("session-1".into(), Scope::root());
///
/// let spec = JobSpec::new("sum", "one and one", |_id| {
///     Ok(Hooks::from_future(|_stop| async { Outcome::completed().with_output("2") }))
/// });
/// let id = jobs.start(spec.with_owner(&owner)).await?;
/// let ended = jobs.settled(&id, &owner.caller()).await?.commit();
/// assert!(ended.is_terminal());
/// assert_eq!(jobs.read(&id, &owner.caller()).await?.commit().text, "2");
/// # Ok(()) }
/// ```
pub struct LocalJobRegistry {
    core: Arc<Core>,
}

impl LocalJobRegistry {
    /// An empty registry.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] names a duration that is zero, has a fraction of a
    /// millisecond, or is above 2,147,483,647 ms.
    pub fn new(config: Config) -> Result<Arc<Self>, ConfigError> {
        config.check()?;
        Ok(Arc::new(Self {
            core: Core::new(config),
        }))
    }
}

#[async_trait]
impl JobRegistry for LocalJobRegistry {
    async fn start(&self, spec: JobSpec) -> Result<JobId, Error> {
        start::start(&self.core, spec)
    }

    async fn get(&self, id: &JobId, caller: &Caller) -> Result<Snapshot, Error> {
        Ok(self.core.find(id, caller, Access::Look)?.snapshot())
    }

    async fn list(&self, caller: &Caller) -> Result<Vec<Snapshot>, Error> {
        Ok(self
            .core
            .visible(caller)?
            .iter()
            .map(|job| job.snapshot())
            .collect())
    }

    async fn read(&self, id: &JobId, caller: &Caller) -> Result<Receipt<Delta>, Error> {
        read::read(&self.core.find(id, caller, Access::Look)?)
    }

    async fn observe(
        &self,
        id: &JobId,
        caller: &Caller,
        from: u64,
        max: Option<usize>,
    ) -> Result<Delta, Error> {
        read::observe(&self.core.find(id, caller, Access::Look)?, from, max)
    }

    async fn kill(
        &self,
        id: &JobId,
        caller: &Caller,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Result<Receipt<Kill>, Error> {
        kill::kill(&self.core.find(id, caller, Access::Change)?, by, reason)
    }

    async fn settled(&self, id: &JobId, caller: &Caller) -> Result<Receipt<Snapshot>, Error> {
        let job = self.core.find(id, caller, Access::Look)?;
        Ok(Settled::new(job).await)
    }

    async fn shutdown(&self) {
        for room in teardown::begin_shutdown(&self.core) {
            teardown::closed(&room).await;
        }
    }

    fn owner(&self, session: SessionId, scope: Scope) -> Owner {
        let key = OwnerKey::fresh(session);
        let room = self.core.open_room(&key, scope.clone());
        Owner::new(key, scope, Arc::new(RoomControl(room)))
    }

    fn controller(&self, name: &str, scope: &Scope) -> Result<Registration, Error> {
        self.core.check_open()?;
        let mut tables = self.core.tables.lock();
        if tables
            .controllers
            .iter()
            .any(|(other, at)| &**other == name && at == scope)
        {
            return Err(Error::ControllerTaken {
                name: Echo::new(name),
            });
        }
        tables.controllers.push((name.into(), scope.clone()));
        drop(tables);
        let (core, name, scope) = (
            Arc::clone(&self.core),
            Box::<str>::from(name),
            scope.clone(),
        );
        Ok(Registration::new(move || {
            core.tables
                .lock()
                .controllers
                .retain(|(other, at)| *other != name || *at != scope);
        }))
    }

    fn completions(&self, scope: &Scope, owner: Option<&OwnerKey>) -> Completions {
        offers::report(&self.core, scope, owner)
    }

    fn changes(&self, scope: &Scope) -> Changes {
        ChangeBoard::observe(&self.core.changes, scope)
    }
}

impl Drop for LocalJobRegistry {
    fn drop(&mut self) {
        drop(teardown::begin_shutdown(&self.core));
    }
}

impl fmt::Debug for LocalJobRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalJobRegistry")
            .field("config", &self.core.config)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use jobs::{Hooks, Outcome};

    use super::*;

    fn rooms(jobs: &LocalJobRegistry) -> (usize, usize) {
        let tables = jobs.core.tables.lock();
        (tables.rooms.len(), tables.sessions.len())
    }

    #[tokio::test]
    async fn an_owner_that_is_closed_and_dropped_leaves_nothing() {
        let jobs = LocalJobRegistry::new(Config::default()).unwrap();
        assert!(format!("{jobs:?}").starts_with("LocalJobRegistry { config: Config"));
        let _controller = jobs.controller("test", &Scope::root()).unwrap();
        let idle = jobs.owner("idle".into(), Scope::root());
        let busy = jobs.owner("busy".into(), Scope::root());
        let spec = JobSpec::new("job", "until it is asked to stop", |_| {
            Ok(Hooks::from_future(|stop| async move {
                stop.cancelled().await;
                Outcome::killed()
            }))
        });
        jobs.start(spec.with_owner(&busy)).await.unwrap();
        assert_eq!(rooms(&jobs), (2, 2));
        idle.close().await;
        assert_eq!(rooms(&jobs), (2, 1), "its handle is left");
        drop(idle);
        assert_eq!(rooms(&jobs), (1, 1));
        drop(busy);
        assert_eq!(rooms(&jobs), (1, 1), "its job is left");
        while rooms(&jobs) != (0, 0) {
            tokio::task::yield_now().await;
        }
    }
}
