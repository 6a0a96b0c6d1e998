//! Leases in virtual time, and wakers that do more than wake.

#![expect(clippy::unwrap_used, reason = "a failed check says where")]

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use jobs::{
    Completion, Completions, Hooks, JobId, JobRegistry, JobSpec, KilledBy, Outcome, Receipt, Scope,
};
use jobs_local::{Config, LocalJobRegistry};
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::timeout;

const LEASE: Duration = Duration::from_millis(50);
const GRACE: Duration = Duration::from_secs(600);

fn work(end: oneshot::Receiver<()>) -> JobSpec {
    JobSpec::new("bash", "work", move |_| {
        Ok(Hooks::from_future(|_stop| async move {
            let _ = end.await;
            Outcome::completed()
        }))
    })
}

/// The moment to give up a job that was killed is no alarm for its leases.
#[tokio::test(start_paused = true)]
async fn a_lease_runs_out_in_time_after_a_kill_with_a_longer_grace() {
    let config = Config::default()
        .with_share_lease(LEASE)
        .with_stop_grace(Some(GRACE));
    let jobs = LocalJobRegistry::new(config).unwrap();
    let _controller = jobs.controller("test", &Scope::root()).unwrap();
    let owner = jobs.owner("s".into(), Scope::root());
    let caller = owner.caller();
    let (end, ended) = oneshot::channel();
    let id = jobs.start(work(ended).with_owner(&owner)).await.unwrap();
    let kill = jobs.kill(&id, &caller, KilledBy::User, None).await;
    let _ = kill.unwrap().commit();
    yield_now().await;
    end.send(()).unwrap();
    while !jobs.get(&id, &caller).await.unwrap().is_terminal() {
        yield_now().await;
    }
    // The driver looks once more before it waits.
    for _ in 0..8 {
        yield_now().await;
    }
    let mut reporter = jobs.completions(owner.scope(), Some(owner.key()));
    let held = reporter.next().await.unwrap();
    let again = timeout(2 * LEASE, reporter.next()).await;
    let again = again.expect("the lease runs out").unwrap();
    assert_eq!(again.job.id, id);
    again.commit();
    drop(held);
}

/// A teardown gives the job up when its own grace is over, however long a kill had left it.
#[tokio::test(start_paused = true)]
async fn a_teardown_does_not_wait_for_the_grace_of_a_kill() {
    let teardown = Duration::from_secs(3);
    let config = Config::default()
        .with_teardown_grace(teardown)
        .with_stop_grace(Some(GRACE));
    let jobs = LocalJobRegistry::new(config).unwrap();
    let _controller = jobs.controller("test", &Scope::root()).unwrap();
    let owner = jobs.owner("s".into(), Scope::root());
    let caller = owner.caller();
    let (_end, never) = oneshot::channel();
    let id = jobs.start(work(never).with_owner(&owner)).await.unwrap();
    let kill = jobs.kill(&id, &caller, KilledBy::User, None).await;
    let _ = kill.unwrap().commit();
    // The driver waits for the end of the long grace by now.
    tokio::time::sleep(LEASE).await;
    let from = tokio::time::Instant::now();
    owner.close().await;
    assert_eq!(from.elapsed(), teardown);
}

/// Polls the stream from within the wake-up.
struct Inline {
    reporter: Mutex<Completions>,
    got: Mutex<Vec<Receipt<Completion>>>,
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        let mut reporter = self.reporter.lock().unwrap();
        let next = pin!(reporter.next());
        if let Poll::Ready(Some(completion)) = next.poll(&mut Context::from_waker(&waker)) {
            self.got.lock().unwrap().push(completion);
        }
    }
}

/// A waker is foreign code: it runs with nothing of the registry locked.
#[test]
fn a_waker_may_poll_a_reporter() {
    let (told, heard) = mpsc::channel();
    // On a thread of its own, so that a deadlock fails the test.
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        told.send(runtime.unwrap().block_on(polled_by_its_waker()))
    });
    let (id, got) = heard
        .recv_timeout(Duration::from_secs(30))
        .expect("the waker returns");
    assert_eq!(got, [id]);
}

/// The job that ended, and what the waker of a reporter got meanwhile.
async fn polled_by_its_waker() -> (JobId, Vec<JobId>) {
    let jobs = LocalJobRegistry::new(Config::default()).unwrap();
    let _controller = jobs.controller("test", &Scope::root()).unwrap();
    let owner = jobs.owner("s".into(), Scope::root());
    let inline = Arc::new(Inline {
        reporter: Mutex::new(jobs.completions(owner.scope(), Some(owner.key()))),
        got: Mutex::default(),
    });
    Arc::clone(&inline).wake();
    let (end, ended) = oneshot::channel();
    let id = jobs.start(work(ended).with_owner(&owner)).await.unwrap();
    end.send(()).unwrap();
    while !jobs.get(&id, &owner.caller()).await.unwrap().is_terminal() {
        yield_now().await;
    }
    let got = std::mem::take(&mut *inline.got.lock().unwrap());
    let ids = got.into_iter().map(|receipt| receipt.commit().job.id);
    (id, ids.collect())
}
