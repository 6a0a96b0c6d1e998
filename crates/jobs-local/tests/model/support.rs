//! What the checks share: how one is run, a world to run it in, and puppets.

use std::future::poll_fn;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use jobs::{
    Caller, Completion, Completions, Error, Hooks, JobId, JobRegistry, JobSpec, Outcome,
    OutputSource, Owner, ProducerError, Receipt, Registration, Scope, Snapshot,
};
use jobs_local::{Config, LocalJobRegistry};
use shuttle::rand::Rng;
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Runner, future::block_on};

/// How many preemptions a priority-based schedule has at most.
const PREEMPTIONS: usize = 3;

/// At how many schedules an exhaustive check gives up.
const MOST_SCHEDULES: usize = 1_000_000;

/// Runs one check under random schedules and under priority-based ones that
/// are exhaustive up to three preemptions in expectation.
pub(crate) fn check<F>(name: &str, body: fn() -> F)
where
    F: Future<Output = ()> + 'static,
{
    if replayed(name, body) {
        return;
    }
    let schedules: usize = std::env::var("JOBS_MODEL_SCHEDULES")
        .map_or(500, |n| n.parse().expect("a number of schedules"));
    let random = schedules.div_ceil(2);
    let mut tried = run(name, RandomScheduler::new(random), body);
    if schedules > random {
        let priorities = PctScheduler::new(PREEMPTIONS, schedules - random);
        tried += run(name, priorities, body);
    }
    println!("check {name}: {tried} schedules passed");
}

/// Runs one check under every schedule there is; it must not use chance. What
/// it gives back is never dropped: its end would multiply the schedules.
pub(crate) fn check_all<F, T>(name: &str, body: fn() -> F)
where
    F: Future<Output = T> + 'static,
    T: 'static,
{
    if replayed(name, body) {
        return;
    }
    let every = DfsScheduler::new(Some(MOST_SCHEDULES), false);
    let tried = run(name, every, body);
    assert!(tried < MOST_SCHEDULES, "{name} has too many schedules");
    println!("check {name}: {tried} schedules passed");
}

fn run<F, T>(name: &str, scheduler: impl Scheduler + 'static, body: fn() -> F) -> usize
where
    F: Future<Output = T> + 'static,
    T: 'static,
{
    // The clock of the shim is a lazy static on purpose: it ends with its execution.
    let mut config = shuttle::Config::default();
    config.silence_warnings = true;
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let tried = catch_unwind(AssertUnwindSafe(|| {
        Runner::new(scheduler, config).run(move || {
            counted.fetch_add(1, Ordering::SeqCst);
            execute(body);
        })
    }));
    tried.unwrap_or_else(|panic| {
        let at = tries.load(Ordering::SeqCst);
        println!("check {name}: FAILED at schedule {at}, printed above");
        resume_unwind(panic)
    })
}

fn execute<F, T>(body: fn() -> F)
where
    F: Future<Output = T> + 'static,
    T: 'static,
{
    let _kept = ManuallyDrop::new(block_on(body()));
}

/// Runs the schedule that `JOBS_MODEL_REPLAY` holds, if it holds one.
fn replayed<F, T>(name: &str, body: fn() -> F) -> bool
where
    F: Future<Output = T> + 'static,
    T: 'static,
{
    let Ok(schedule) = std::env::var("JOBS_MODEL_REPLAY") else {
        return false;
    };
    shuttle::replay(move || execute(body), &schedule);
    println!("check {name}: 1 schedules passed");
    true
}

pub(crate) fn coin() -> bool {
    shuttle::rand::thread_rng().gen_bool(0.5)
}

/// Polls once, and says what came.
pub(crate) async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx))).await
}

/// What a reporter is offered at once.
pub(crate) async fn offered(reporter: &mut Completions) -> Option<Receipt<Completion>> {
    match poll_once(&mut Box::pin(reporter.next())).await {
        Poll::Ready(completion) => completion,
        Poll::Pending => None,
    }
}

/// A registry with one owner.
pub(crate) struct World {
    pub(crate) jobs: Arc<LocalJobRegistry>,
    pub(crate) owner: Owner,
    _controller: Registration,
}

impl World {
    pub(crate) fn new(config: Config) -> Arc<Self> {
        Self::at(config, Scope::root())
    }

    /// A world whose owner is at `scope`.
    pub(crate) fn at(config: Config, scope: Scope) -> Arc<Self> {
        let jobs = LocalJobRegistry::new(config).unwrap();
        let _controller = jobs.controller("model", &Scope::root()).unwrap();
        let owner = jobs.owner("s".into(), scope);
        Arc::new(Self {
            jobs,
            owner,
            _controller,
        })
    }

    pub(crate) fn caller(&self) -> Caller {
        self.owner.caller()
    }

    pub(crate) async fn start(&self, puppet: &Puppet) -> Result<JobId, Error> {
        self.start_for(&self.owner, puppet.hooks()).await
    }

    pub(crate) async fn start_for(&self, owner: &Owner, hooks: Hooks) -> Result<JobId, Error> {
        let spec = JobSpec::new("bash", "work", move |_| Ok(hooks));
        self.jobs.start(spec.with_owner(owner)).await
    }

    pub(crate) async fn get(&self, id: &JobId) -> Snapshot {
        self.jobs.get(id, &self.caller()).await.unwrap()
    }

    /// Waits for the end of a job, and says what it saw, without telling it.
    pub(crate) async fn ended(&self, id: &JobId) -> Snapshot {
        let receipt = self.jobs.settled(id, &self.caller()).await.unwrap();
        receipt.clone()
    }

    /// A reporter of the one owner.
    pub(crate) fn reporter(&self) -> Completions {
        self.jobs
            .completions(self.owner.scope(), Some(self.owner.key()))
    }
}

/// A producer that ends when it is told to. Its own lock is none that a schedule
/// can interleave: it is never held across one that is.
#[derive(Clone, Default)]
pub(crate) struct Puppet(Arc<Mutex<Strings>>);

#[derive(Default)]
struct Strings {
    outcome: Option<Outcome>,
    waker: Option<Waker>,
    cancels: usize,
    on_cancel: OnCancel,
}

#[derive(Clone, Copy, Default)]
pub(crate) enum OnCancel {
    #[default]
    Ignore,
    Die,
    Refuse,
}

impl Puppet {
    pub(crate) fn on_cancel(reaction: OnCancel) -> Self {
        let puppet = Self::default();
        puppet.0.lock().unwrap().on_cancel = reaction;
        puppet
    }

    pub(crate) fn settle(&self, outcome: Outcome) {
        let mut strings = self.0.lock().unwrap();
        strings.outcome.get_or_insert(outcome);
        let waker = strings.waker.take();
        drop(strings);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn cancels(&self) -> usize {
        self.0.lock().unwrap().cancels
    }

    pub(crate) fn hooks(&self) -> Hooks {
        let (cancelled, ended) = (self.clone(), self.clone());
        let cancel = move |_reason: Option<&str>| {
            let reaction = {
                let mut strings = cancelled.0.lock().unwrap();
                strings.cancels += 1;
                strings.on_cancel
            };
            match reaction {
                OnCancel::Ignore => Ok(()),
                OnCancel::Die => {
                    cancelled.settle(Outcome::killed());
                    Ok(())
                }
                OnCancel::Refuse => Err(ProducerError::new("no")),
            }
        };
        let done = poll_fn(move |cx| {
            let mut strings = ended.0.lock().unwrap();
            if let Some(outcome) = strings.outcome.clone() {
                return Poll::Ready(outcome);
            }
            strings.waker = Some(cx.waker().clone());
            Poll::Pending
        });
        Hooks::new(cancel, done)
    }

    /// Hooks whose output is read from `source`.
    pub(crate) fn streaming(&self, source: Arc<dyn OutputSource>) -> Hooks {
        self.hooks().with_output(source)
    }
}
