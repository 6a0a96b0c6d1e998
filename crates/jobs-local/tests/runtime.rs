//! What the registry asks of the runtime, and what becomes of jobs without it.

#![expect(clippy::unwrap_used, reason = "a failed check says where")]

use std::sync::Arc;
use std::time::Duration;

use jobs::{
    Caller, Cause, Hooks, JobRegistry, JobSpec, Owner, Registration, Scope, Snapshot,
    TerminalStatus,
};
use jobs_local::{Config, LocalJobRegistry, UnownedAccess};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task::yield_now;

fn registry() -> (Arc<LocalJobRegistry>, Registration) {
    let config = Config::default().with_unowned_access(UnownedAccess::Full);
    let jobs = LocalJobRegistry::new(config).unwrap();
    let controller = jobs.controller("test", &Scope::root()).unwrap();
    (jobs, controller)
}

fn work(end: oneshot::Receiver<()>) -> JobSpec {
    JobSpec::new("bash", "work", move |_| {
        Ok(Hooks::from_future(|_stop| async move {
            let _ = end.await;
            jobs::Outcome::completed()
        }))
    })
}

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
}

/// Waits until no task is left but the one that asks.
async fn no_task_is_left() {
    let tasks = || Handle::current().metrics().num_alive_tasks();
    for _ in 0..100 {
        if tasks() == 0 {
            return;
        }
        yield_now().await;
    }
    panic!("{} tasks are left", tasks());
}

/// Starts a job and lets it end.
async fn ended(jobs: &LocalJobRegistry, owner: Option<&Owner>) -> Snapshot {
    let (end, over) = oneshot::channel();
    let (work, caller) = match owner {
        Some(owner) => (work(over).with_owner(owner), owner.caller()),
        None => (work(over), Caller::Anonymous),
    };
    let id = jobs.start(work).await.unwrap();
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 1);
    end.send(()).unwrap();
    loop {
        let job = jobs.get(&id, &caller).await.unwrap();
        if job.is_terminal() {
            return job;
        }
        yield_now().await;
    }
}

#[test]
fn a_job_of_which_nobody_is_told_leaves_no_task() {
    runtime().block_on(async {
        let (jobs, _controller) = registry();
        ended(&jobs, None).await;
        no_task_is_left().await;
    });
}

#[test]
fn a_told_job_leaves_no_task() {
    runtime().block_on(async {
        let (jobs, _controller) = registry();
        let owner = jobs.owner("s".into(), Scope::root());
        let job = ended(&jobs, Some(&owner)).await;
        let tasks = || Handle::current().metrics().num_alive_tasks();
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(tasks(), 1, "its leases are still watched");
        jobs.read(&job.id, &owner.caller()).await.unwrap().commit();
        no_task_is_left().await;
    });
}

#[test]
fn a_job_of_a_closed_owner_leaves_no_task() {
    runtime().block_on(async {
        let (jobs, _controller) = registry();
        let owner = jobs.owner("s".into(), Scope::root());
        ended(&jobs, Some(&owner)).await;
        owner.close().await;
        no_task_is_left().await;
    });
}

/// Nobody polls the work any more, so the job has to end without it; also if the
/// runtime had no turn for it at all.
#[test]
fn a_runtime_that_ends_fails_its_jobs() {
    for turns in [0, 3] {
        fails_with_its_runtime(turns);
    }
}

fn fails_with_its_runtime(turns: usize) {
    let (jobs, _controller) = registry();
    let owner = jobs.owner("s".into(), Scope::root());
    let first = runtime();
    let (_end, never) = oneshot::channel();
    let id = first.block_on(async {
        let id = jobs.start(work(never).with_owner(&owner)).await.unwrap();
        for _ in 0..turns {
            yield_now().await;
        }
        id
    });
    drop(first);
    let job = runtime().block_on(jobs.get(&id, &owner.caller())).unwrap();
    let end = job.end().unwrap();
    assert_eq!(
        (end.status, end.cause),
        (TerminalStatus::Failed, Cause::Orphaned)
    );
    let detail = "the runtime that drove it ended; work may be orphaned";
    assert_eq!(end.detail.as_deref(), Some(detail));
}
