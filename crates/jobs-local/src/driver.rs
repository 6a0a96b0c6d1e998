//! The driver: one task a job, which waits for its end and for what the end
//! leaves open.
//!
//! 1. It ends when the completion is told, or when nobody is left to tell.
//! 2. After the end it sets an alarm only for a share that is out; whoever takes
//!    one wakes it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use jobs::Outcome;
use jobs::contain::Contained;

use crate::job::{GiveUp, Job};
use crate::settle::{Verdict, settle};
use crate::sync::{Instant, Sleep, sleep_until};

/// Follows a job from its commit on. The job ends even if the future is dropped
/// before its first poll.
pub(crate) fn drive(
    job: Arc<Job>,
    done: Pin<Box<dyn Future<Output = Outcome> + Send>>,
) -> impl Future<Output = ()> + Send {
    let guard = Abandoned(Some(Arc::clone(&job)));
    follow(job, done, guard)
}

async fn follow(
    job: Arc<Job>,
    done: Pin<Box<dyn Future<Output = Outcome> + Send>>,
    mut guard: Abandoned,
) {
    let mut alarm = Alarm::default();
    let mut done = Contained::new(done);
    let verdict = std::future::poll_fn(|cx| {
        if let Poll::Ready(end) = Pin::new(&mut done).poll(cx) {
            return Poll::Ready(Some(end.map_or_else(Verdict::Panicked, Verdict::Outcome)));
        }
        poll_give_up(&job, &mut alarm, cx)
    })
    .await;
    drop(done);
    if let Some(verdict) = verdict {
        settle(&job, verdict);
    }
    guard.0 = None;
    std::future::poll_fn(|cx| poll_leases(&job, &mut alarm, cx)).await;
}

/// Waits for the moment to give the job up; `None` when somebody else ended it.
fn poll_give_up(job: &Job, alarm: &mut Alarm, cx: &mut Context<'_>) -> Poll<Option<Verdict>> {
    loop {
        let mut state = job.state.lock();
        let Some(live) = state.live() else {
            return Poll::Ready(None);
        };
        let give_up = live.give_up;
        state.driver = Some(cx.waker().clone());
        drop(state);
        let Some(GiveUp { at, after_ms, .. }) = give_up else {
            return Poll::Pending;
        };
        if alarm.poll(at, cx).is_pending() {
            return Poll::Pending;
        }
        // A later cancel may have moved the moment.
        let now = Instant::now();
        let due = job
            .state
            .lock()
            .live()
            .and_then(|live| live.give_up)
            .is_some_and(|give_up| give_up.at <= now);
        if due {
            let detail = format!("did not stop within {after_ms} ms; work may be orphaned");
            tracing::warn!(job = %job.id, "{detail}");
            return Poll::Ready(Some(Verdict::Forced(detail)));
        }
    }
}

/// Ends leases until the completion is told.
fn poll_leases(job: &Arc<Job>, alarm: &mut Alarm, cx: &mut Context<'_>) -> Poll<()> {
    loop {
        let mut state = job.state.lock();
        if state.room.owner.is_none() || state.shares.is_told() {
            // A record that kept it would keep the task.
            let waker = state.driver.take();
            drop(state);
            drop(waker);
            return Poll::Ready(());
        }
        state.driver = Some(cx.waker().clone());
        let expiry = state.shares.next_expiry();
        drop(state);
        let Some(expiry) = expiry else {
            return Poll::Pending;
        };
        if alarm.poll(expiry, cx).is_pending() {
            return Poll::Pending;
        }
        job.expire_shares(Instant::now());
    }
}

/// A timer that is made only when something has to be waited for.
#[derive(Default)]
struct Alarm(Option<(Instant, Pin<Box<Sleep>>)>);

impl Alarm {
    fn poll(&mut self, at: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let (_, sleep) = match &mut self.0 {
            Some(set) if set.0 == at => set,
            unset => unset.insert((at, Box::pin(sleep_until(at)))),
        };
        let polled = sleep.as_mut().poll(cx);
        if polled.is_ready() {
            self.0 = None;
        }
        polled
    }
}

/// Ends the job if its driver goes before it does: the runtime is gone.
struct Abandoned(Option<Arc<Job>>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        if let Some(job) = self.0.take() {
            let detail = "the runtime that drove it ended; work may be orphaned".to_owned();
            settle(&job, Verdict::Forced(detail));
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use jobs::{Caller, Hooks, JobSpec, Scope};
    use tokio::sync::oneshot;
    use tokio::task::yield_now;

    use super::*;
    use crate::config::{Config, UnownedAccess};
    use crate::core::{Access, Core};
    use crate::start::start;

    #[tokio::test]
    async fn a_record_keeps_nothing_of_a_driver_that_is_done() {
        let core = Core::new(Config::default().with_unowned_access(UnownedAccess::Full));
        let controller = ("test".into(), Scope::root());
        core.tables.lock().controllers.push(controller);
        let (end, ended) = oneshot::channel();
        let spec = JobSpec::new("job", "a job", |_| {
            Ok(Hooks::from_future(|_stop| async {
                let _ = ended.await;
                Outcome::completed()
            }))
        });
        let id = start(&core, spec).unwrap();
        let job = core.find(&id, &Caller::Anonymous, Access::Look).unwrap();
        let waits = || job.state.lock().driver.is_some();
        while !waits() {
            yield_now().await;
        }
        end.send(()).unwrap();
        while tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
            > 0
        {
            yield_now().await;
        }
        assert!(job.snapshot().is_terminal() && !waits());
    }
}
