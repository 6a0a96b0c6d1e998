//! What a case works with: fresh registries, puppets in them, and looks at
//! what did or did not happen.

use std::ops::Deref;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use jobs::{
    Caller, Completion, Error, JobId, JobRegistry, JobSpec, KilledBy, News, Outcome, Owner,
    Receipt, Registration, Scope, SessionId, Snapshot, Status,
};
use parking_lot::Mutex;
use tokio::time::timeout;

use crate::harness::{Harness, Settings};
use crate::puppet::Puppet;

/// Shorter than any grace or lease of the cases.
const TICK: Duration = Duration::from_millis(1);

/// Where a case gets its registries from.
pub(super) struct World {
    harness: Arc<dyn Harness>,
    opened: Opened,
}

/// The registries of a case, held weakly: a case may drop one for good.
#[derive(Clone, Default)]
pub(super) struct Opened(Arc<Mutex<Vec<Weak<dyn JobRegistry>>>>);

impl Opened {
    pub(super) fn live(&self) -> Vec<Arc<dyn JobRegistry>> {
        self.0.lock().iter().filter_map(Weak::upgrade).collect()
    }
}

impl World {
    pub(super) fn new(harness: Arc<dyn Harness>) -> Self {
        Self {
            harness,
            opened: Opened::default(),
        }
    }

    pub(super) fn opened(&self) -> Opened {
        self.opened.clone()
    }

    /// A fresh registry without a controller.
    pub(super) async fn bare(&self, settings: Settings) -> Arc<dyn JobRegistry> {
        let jobs = self.harness.fresh(&settings).await;
        self.opened.0.lock().push(Arc::downgrade(&jobs));
        jobs
    }

    /// A fresh registry with a controller at the root.
    pub(super) async fn stage_with(&self, settings: Settings) -> Stage {
        let jobs = self.bare(settings).await;
        let controller = jobs
            .controller("conformance", &Scope::root())
            .expect("a fresh registry takes a controller");
        Stage { jobs, controller }
    }

    /// A fresh registry with the default settings and a controller at the root.
    pub(super) async fn stage(&self) -> Stage {
        self.stage_with(Settings::default()).await
    }
}

/// A registry that serves everyone.
pub(super) struct Stage {
    pub(super) jobs: Arc<dyn JobRegistry>,
    pub(super) controller: Registration,
}

impl Deref for Stage {
    type Target = dyn JobRegistry;

    fn deref(&self) -> &Self::Target {
        &*self.jobs
    }
}

impl Stage {
    /// An owner at the root.
    pub(super) fn agent(&self, session: &str) -> Owner {
        self.owner(SessionId::new(session), Scope::root())
    }

    /// Starts a job of kind `job` that must start.
    pub(super) async fn begin(&self, owner: &Owner) -> (JobId, Puppet) {
        let (spec, puppet) = Puppet::spec("job", "a job");
        (self.must_start(spec.with_owner(owner)).await, puppet)
    }

    /// Starts an unowned job of kind `job` that must start.
    pub(super) async fn begin_unowned(&self) -> (JobId, Puppet) {
        let (spec, puppet) = Puppet::spec("job", "a job");
        (self.must_start(spec).await, puppet)
    }

    pub(super) async fn must_start(&self, spec: JobSpec) -> JobId {
        self.start(spec).await.expect("the job starts")
    }

    /// A job that ended and that nobody was told of.
    pub(super) async fn ended(&self, owner: &Owner, outcome: Outcome) -> JobId {
        let (id, puppet) = self.begin(owner).await;
        puppet.settle(outcome);
        idle().await;
        id
    }

    /// A job that ended and whose owner was told.
    pub(super) async fn told(&self, owner: &Owner) -> JobId {
        let id = self.ended(owner, Outcome::completed()).await;
        self.must_read(&id, &owner.caller()).await.commit();
        id
    }

    /// The job as its owner sees it.
    pub(super) async fn look(&self, id: &JobId, owner: &Owner) -> Snapshot {
        self.get(id, &owner.caller())
            .await
            .expect("the owner sees its job")
    }

    pub(super) async fn status(&self, id: &JobId, owner: &Owner) -> Status {
        self.look(id, owner).await.status()
    }

    pub(super) async fn must_read(&self, id: &JobId, caller: &Caller) -> Receipt<jobs::Delta> {
        self.read(id, caller).await.expect("the job can be read")
    }

    /// Kills for `by`; `cancel` accepts.
    pub(super) async fn must_kill(
        &self,
        id: &JobId,
        owner: &Owner,
        by: KilledBy,
        reason: Option<&str>,
    ) -> Receipt<jobs::Kill> {
        self.kill(id, &owner.caller(), by, reason)
            .await
            .expect("the kill is accepted")
    }

    /// The completions of all owners.
    pub(super) fn reporter(&self) -> News<Receipt<Completion>> {
        self.completions(&Scope::root(), None)
    }

    /// What each call that names a job answers, in one order: get, read,
    /// observe, kill, settled. `None` where the call did not fail.
    pub(super) async fn refusals(&self, id: &JobId, caller: &Caller) -> [Option<Error>; 5] {
        [
            self.get(id, caller).await.err(),
            self.read(id, caller).await.err(),
            self.observe(id, caller, 0, None).await.err(),
            self.kill(id, caller, KilledBy::Host, None).await.err(),
            match timeout(TICK, self.settled(id, caller)).await {
                Ok(settled) => settled.err(),
                Err(_) => None,
            },
        ]
    }

    /// Shows that the registry still does what it is for.
    pub(super) async fn still_works(&self) {
        let owner = self.agent("still works");
        let (id, puppet) = self.begin(&owner).await;
        puppet.settle(Outcome::completed().with_output("done"));
        let settled = self.settled(&id, &owner.caller()).await;
        assert_eq!(
            settled.expect("a later job settles").status(),
            Status::Completed
        );
        let read = self.must_read(&id, &owner.caller()).await;
        assert_eq!(read.commit().text, "done");
        assert!(self.look(&id, &owner).await.reported());
        owner.close().await;
    }
}

/// The caller that a session is.
pub(super) fn session(name: &str) -> Caller {
    Caller::Session(SessionId::new(name))
}

pub(super) fn count(count: u32) -> std::num::NonZeroU32 {
    std::num::NonZeroU32::new(count).expect("a count of a case is not zero")
}

/// Returns when every task had its turn: the paused clock moves only then.
pub(super) async fn idle() {
    let never = timeout(TICK, std::future::pending::<()>()).await;
    debug_assert!(never.is_err());
}

/// The first poll of `future`, which is then dropped.
pub(super) fn now<F: Future>(future: F) -> Option<F::Output> {
    peek(&mut pin!(future))
}

/// One poll of a future that stays.
pub(super) fn peek<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// The next item of `news`, which must come without time passing.
pub(super) async fn heard<T>(news: &mut News<T>) -> T {
    timeout(TICK, news.next())
        .await
        .expect("news come")
        .expect("the registry lives")
}

/// Asserts that nothing comes, although every task had its turn.
#[track_caller]
pub(super) fn silent<T>(news: &mut News<T>) -> impl Future<Output = ()> + Send + use<'_, T> {
    let at = std::panic::Location::caller();
    async move {
        let came = timeout(TICK, news.next()).await.is_ok();
        assert!(!came, "news came where none were due ({at})");
    }
}

/// The text that a call was refused with.
pub(super) fn text<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("the call is refused"),
        Err(error) => error.to_string(),
    }
}
