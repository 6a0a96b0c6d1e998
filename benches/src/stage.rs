//! What the rows play on: a runtime, and a registry with its owners.

use std::sync::Arc;

use jobs::{Caller, Hooks, JobId, JobRegistry, JobSpec, Outcome, Owner, Registration, Scope};
use jobs_local::{Config, LocalJobRegistry};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// The runtime of one thread that both sides of a row use.
#[must_use]
pub fn one_thread() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
}

/// A registry that somebody controls.
#[derive(Debug)]
pub struct Stage {
    jobs: Arc<LocalJobRegistry>,
    _controller: Registration,
}

/// An owner and the caller that it is. Methods, for the reason of [`Stage::jobs`].
#[derive(Debug)]
pub struct Actor {
    owner: Owner,
    caller: Caller,
}

impl Actor {
    /// The owner.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Who it is when it calls.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }
}

impl Stage {
    /// A registry with its default bounds.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Config::default())
    }

    /// A registry with these bounds.
    #[must_use]
    pub fn with(config: Config) -> Self {
        let jobs = LocalJobRegistry::new(config).expect("the bounds are valid");
        let controller = jobs.controller("bench", &Scope::root());
        Self {
            _controller: controller.expect("the only controller"),
            jobs,
        }
    }

    /// The registry. A method, so that a closure that uses it keeps the controller too.
    #[must_use]
    pub fn jobs(&self) -> &Arc<LocalJobRegistry> {
        &self.jobs
    }

    /// A new owner.
    pub fn actor(&self, session: impl Into<Arc<str>>) -> Actor {
        let owner = self.jobs.owner(session.into().into(), Scope::root());
        Actor {
            caller: owner.caller(),
            owner,
        }
    }
}

impl Default for Stage {
    fn default() -> Self {
        Self::new()
    }
}

/// The final output of the jobs here.
pub const OUTPUT: &str = "three errors in two files";

/// A job whose work is over at its first poll, and which says so.
pub fn quick_job(over: oneshot::Sender<()>) -> JobSpec {
    JobSpec::new("work", "look for errors", move |_id| {
        Ok(Hooks::new(|_reason| Ok(()), async move {
            // Nobody listens where only the settlement is waited for.
            let _ = over.send(());
            Outcome::completed().with_output(OUTPUT)
        }))
    })
}

/// Starts a job of `actor` and comes back when it has settled, with nobody told.
///
/// On a runtime of one thread the driver settles the job in the same poll in which the work says that it is over.
pub async fn run_one(jobs: &dyn JobRegistry, actor: &Actor) -> JobId {
    let (over, is_over) = oneshot::channel();
    let started = jobs.start(quick_job(over).with_owner(&actor.owner)).await;
    let id = started.expect("a job that may start");
    is_over.await.expect("work that ran");
    id
}

/// Reads a settled job to its end and says that the answer was delivered.
pub async fn read_to_the_end(jobs: &dyn JobRegistry, actor: &Actor, id: &JobId) {
    let read = jobs.read(id, &actor.caller).await.expect("own job");
    let delta = read.commit();
    assert!(delta.job.is_terminal());
    assert_eq!(delta.text, OUTPUT);
}
