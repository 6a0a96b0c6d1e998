//! Faults between a registry and the hooks of its jobs.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use jobs::contain::{Contained, call};
use jobs::{
    CancelHook, Error, Hooks, JobId, JobSpec, Outcome, OutputSource, ProducerError, Rendered,
};

use super::broken::{Fault, Inner};
use super::starts::unavailable;

/// Lets `change` have the hooks of a job before the registry gets them.
fn rehooked(mut spec: JobSpec, change: impl FnOnce(Hooks) -> Hooks + Send + 'static) -> JobSpec {
    let starter = spec.starter;
    spec.starter = Box::new(move |id| starter(id).map(change));
    spec
}

/// C-71: a teardown gives no reason.
#[derive(Default)]
pub(super) struct TeardownsHaveNoReason;

#[async_trait]
impl Fault for TeardownsHaveNoReason {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        let start = rehooked(spec, |mut hooks| {
            let cancel = hooks.cancel;
            hooks.cancel =
                Arc::new(move |reason| cancel(reason.filter(|text| *text != "owner disposed")));
            hooks
        });
        jobs.start(start).await
    }
}

/// C-40: no reason reaches the producer.
#[derive(Default)]
pub(super) struct ReasonsAreLost;

#[async_trait]
impl Fault for ReasonsAreLost {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        let start = rehooked(spec, |mut hooks| {
            let cancel = hooks.cancel;
            hooks.cancel = Arc::new(move |_| cancel(None));
            hooks
        });
        jobs.start(start).await
    }
}

/// C-72: a cancel that fails counts as one that was accepted.
#[derive(Default)]
pub(super) struct FailedCancelsAreAccepted;

#[async_trait]
impl Fault for FailedCancelsAreAccepted {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        let start = rehooked(spec, |mut hooks| {
            let cancel = hooks.cancel;
            hooks.cancel = Arc::new(move |reason| {
                drop(call(|| cancel(reason)));
                Ok(())
            });
            hooks
        });
        jobs.start(start).await
    }
}

/// C-71: whatever ends after a teardown's cancel was killed.
#[derive(Default)]
pub(super) struct TeardownsAlwaysKill;

#[async_trait]
impl Fault for TeardownsAlwaysKill {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        let start = rehooked(spec, |mut hooks| {
            let (cancel, done) = (hooks.cancel, hooks.done);
            let disposed = Arc::new(AtomicBool::new(false));
            let seen = Arc::clone(&disposed);
            hooks.cancel = Arc::new(move |reason| {
                seen.fetch_or(reason == Some("owner disposed"), Ordering::SeqCst);
                cancel(reason)
            });
            hooks.done = Box::pin(async move {
                let outcome = done.await;
                match disposed.load(Ordering::SeqCst) {
                    true => Outcome::killed(),
                    false => outcome,
                }
            });
            hooks
        });
        jobs.start(start).await
    }
}

/// C-05: a panic in `done` completes the job.
#[derive(Default)]
pub(super) struct PanicsComplete;

#[async_trait]
impl Fault for PanicsComplete {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        let start = rehooked(spec, |mut hooks| {
            let done = Contained::new(hooks.done);
            hooks.done =
                Box::pin(async move { done.await.unwrap_or_else(|_| Outcome::completed()) });
            hooks
        });
        jobs.start(start).await
    }
}

/// C-05: after a panic in a starter or in the drop of hooks no job starts.
#[derive(Default)]
pub(super) struct PanicsOfOwnersOfHooksPoison(Arc<AtomicBool>);

/// A cancel hook whose drop is watched.
struct Watched {
    cancel: Option<CancelHook>,
    poisoned: Arc<AtomicBool>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        let cancel = self.cancel.take();
        if call(|| drop(cancel)).is_err() {
            self.poisoned.store(true, Ordering::SeqCst);
        }
    }
}

#[async_trait]
impl Fault for PanicsOfOwnersOfHooksPoison {
    async fn start(&self, jobs: &Inner, spec: JobSpec) -> Result<JobId, Error> {
        if self.0.load(Ordering::SeqCst) {
            return Err(unavailable());
        }
        let poisoned = Arc::clone(&self.0);
        let start = rehooked(spec, move |mut hooks| {
            let watched = Watched {
                cancel: Some(hooks.cancel),
                poisoned,
            };
            hooks.cancel = Arc::new(move |reason| match &watched.cancel {
                Some(cancel) => cancel(reason),
                None => Ok(()),
            });
            hooks
        });
        let started = jobs.start(start).await;
        if matches!(started, Err(Error::Producer(_))) {
            self.0.store(true, Ordering::SeqCst);
        }
        started
    }
}

/// C-06: no job starts while a producer's code runs.
#[derive(Default)]
pub(super) struct ProducersExcludeStarts(Arc<AtomicUsize>);

struct Busy(Arc<AtomicUsize>);

impl Busy {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

struct BusyDrop(Option<CancelHook>, Arc<AtomicUsize>);

impl Drop for BusyDrop {
    fn drop(&mut self) {
        let _busy = Busy::new(&self.1);
        drop(self.0.take());
    }
}

struct BusySource(Arc<dyn OutputSource>, Arc<AtomicUsize>);

impl OutputSource for BusySource {
    fn read(&self, from: u64, max: Option<usize>) -> Result<Rendered, ProducerError> {
        let _busy = Busy::new(&self.1);
        self.0.read(from, max)
    }

    fn kept_bytes(&self) -> usize {
        self.0.kept_bytes()
    }
}

#[async_trait]
impl Fault for ProducersExcludeStarts {
    async fn start(&self, jobs: &Inner, mut spec: JobSpec) -> Result<JobId, Error> {
        if self.0.load(Ordering::SeqCst) > 0 {
            // What a lock would do; a deadlock would cost a thread.
            return std::future::pending().await;
        }
        let count = Arc::clone(&self.0);
        let starter = spec.starter;
        spec.starter = Box::new(move |id| {
            let _busy = Busy::new(&count);
            let mut hooks = starter(id)?;
            let cancel = BusyDrop(Some(hooks.cancel), Arc::clone(&count));
            hooks.cancel = Arc::new(move |reason| {
                let _busy = Busy::new(&cancel.1);
                cancel.0.as_ref().map_or(Ok(()), |cancel| cancel(reason))
            });
            let (mut done, polled) = (hooks.done, Arc::clone(&count));
            hooks.done = Box::pin(poll_fn(move |cx| {
                let _busy = Busy::new(&polled);
                Pin::new(&mut done).poll(cx)
            }));
            if let Some(detail) = hooks.detail {
                let count = Arc::clone(&count);
                hooks.detail = Some(Arc::new(move || {
                    let _busy = Busy::new(&count);
                    detail()
                }));
            }
            let source = hooks.output.take();
            hooks.output =
                source.map(|source| Arc::new(BusySource(source, count)) as Arc<dyn OutputSource>);
            Ok(hooks)
        });
        jobs.start(spec).await
    }
}
