//! Puppets: producers that do what a test says, when it says so.
//!
//! A puppet's job does nothing by itself. The test settles it, and says what
//! its starter, `cancel`, `detail` and drop do. Nothing here sleeps, spawns or
//! needs a runtime.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use jobs::{Hooks, JobId, JobSpec, Outcome, OutputSource, ProducerError};
use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};

type Done = Pin<Box<dyn Future<Output = Outcome> + Send>>;
type OnStart = Box<dyn FnOnce(&JobId) -> Result<(), ProducerError> + Send>;
type OnCancel = Arc<dyn Fn(Option<&str>) -> Result<(), ProducerError> + Send + Sync>;
type OnDetail = Arc<dyn Fn() -> Option<String> + Send + Sync>;
type OnRelease = Box<dyn FnOnce() + Send>;

/// The strings of one job. Clones hold the same strings.
///
/// A puppet that is never settled, or whose handles are all dropped, never
/// ends by itself.
///
/// ```
/// use jobs::Outcome;
/// use jobs_testkit::Puppet;
///
/// let (spec, puppet) = Puppet::spec("bash", "a job");
/// puppet.settle(Outcome::completed());
/// let hooks = (spec.starter)(&"bash-1".parse()?)?;
/// (hooks.cancel)(Some("enough"))?;
/// assert_eq!(puppet.cancels(), [Some("enough".to_owned())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Puppet(Arc<Shared>);

struct Shared {
    id: Mutex<Option<JobId>>,
    on_start: Mutex<Option<OnStart>>,
    on_cancel: Mutex<OnCancel>,
    on_detail: Mutex<OnDetail>,
    on_release: Mutex<Option<OnRelease>>,
    end: Mutex<Option<oneshot::Sender<Done>>>,
    cancels: watch::Sender<Vec<Option<String>>>,
    released: watch::Sender<bool>,
}

impl Puppet {
    /// An unowned job whose output is in its outcome.
    #[must_use]
    pub fn spec(kind: &str, label: &str) -> (JobSpec, Self) {
        Self::make(kind, label, None)
    }

    /// An unowned job that reads its output from `source`: the reader of an
    /// [`OutputLog`](jobs::OutputLog), or a
    /// [`ScriptedSource`](crate::ScriptedSource).
    #[must_use]
    pub fn streaming(kind: &str, label: &str, source: Arc<dyn OutputSource>) -> (JobSpec, Self) {
        Self::make(kind, label, Some(source))
    }

    fn make(kind: &str, label: &str, source: Option<Arc<dyn OutputSource>>) -> (JobSpec, Self) {
        let (end, ended) = oneshot::channel();
        let puppet = Self(Arc::new(Shared {
            id: Mutex::new(None),
            on_start: Mutex::new(None),
            on_cancel: Mutex::new(Arc::new(|_| Ok(()))),
            on_detail: Mutex::new(Arc::new(|| None)),
            on_release: Mutex::new(None),
            end: Mutex::new(Some(end)),
            cancels: watch::Sender::default(),
            released: watch::Sender::default(),
        }));
        let shared = Arc::clone(&puppet.0);
        let spec = JobSpec::new(kind.to_owned(), label, move |id| {
            *shared.id.lock() = Some(id.clone());
            let on_start = shared.on_start.lock().take();
            if let Some(on_start) = on_start {
                on_start(id)?;
            }
            Ok(hooks(shared, ended, source))
        });
        (spec, puppet)
    }

    /// Ends the work. Only the first end of a puppet counts.
    pub fn settle(&self, outcome: Outcome) {
        self.settle_with(std::future::ready(outcome));
    }

    /// Lets the work end in a panic with `text`: in `done`, not here.
    #[expect(
        clippy::missing_panics_doc,
        reason = "the panic is inside the future that the registry polls"
    )]
    pub fn panic(&self, text: &'static str) {
        self.settle_with(async move { panic!("{text}") });
    }

    /// Lets the work end as `done` does.
    pub fn settle_with(&self, done: impl Future<Output = Outcome> + Send + 'static) {
        let end = self.0.end.lock().take();
        if let Some(end) = end {
            // The registry may have dropped the hooks: then nobody waits.
            let _unheard = end.send(Box::pin(done));
        }
    }

    /// Sets what the starter does before it returns hooks: it may fail, panic,
    /// or call the registry.
    pub fn on_start(
        &self,
        work: impl FnOnce(&JobId) -> Result<(), ProducerError> + Send + 'static,
    ) {
        *self.0.on_start.lock() = Some(Box::new(work));
    }

    /// Sets what every later `cancel` does; it is recorded in any case.
    pub fn on_cancel(
        &self,
        work: impl Fn(Option<&str>) -> Result<(), ProducerError> + Send + Sync + 'static,
    ) {
        *self.0.on_cancel.lock() = Arc::new(work);
    }

    /// Sets what the live job says of itself.
    pub fn on_detail(&self, work: impl Fn() -> Option<String> + Send + Sync + 'static) {
        *self.0.on_detail.lock() = Arc::new(work);
    }

    /// Sets what happens when the registry drops the hooks.
    pub fn on_release(&self, work: impl FnOnce() + Send + 'static) {
        *self.0.on_release.lock() = Some(Box::new(work));
    }

    /// The id that the starter was called with, if it was called.
    #[must_use]
    pub fn id(&self) -> Option<JobId> {
        self.0.id.lock().clone()
    }

    /// The reasons of all cancels so far.
    #[must_use]
    pub fn cancels(&self) -> Vec<Option<String>> {
        self.0.cancels.borrow().clone()
    }

    /// Resolves when there were `count` cancels.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn cancelled(&self, count: usize) {
        let mut cancels = self.0.cancels.subscribe();
        // The sender lives as long as `self`, so the wait does not fail.
        let _reasons = cancels.wait_for(|reasons| reasons.len() >= count).await;
    }

    /// Whether the registry has dropped the hooks.
    #[must_use]
    pub fn is_released(&self) -> bool {
        *self.0.released.borrow()
    }
}

impl fmt::Debug for Puppet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Puppet")
            .field("id", &self.id())
            .field("cancels", &self.cancels())
            .field("released", &self.is_released())
            .finish_non_exhaustive()
    }
}

fn hooks(
    shared: Arc<Shared>,
    ended: oneshot::Receiver<Done>,
    source: Option<Arc<dyn OutputSource>>,
) -> Hooks {
    let held = Held(Arc::clone(&shared));
    let cancel = move |reason: Option<&str>| {
        let shared = &held.0;
        shared
            .cancels
            .send_modify(|cancels| cancels.push(reason.map(str::to_owned)));
        let on_cancel = Arc::clone(&*shared.on_cancel.lock());
        on_cancel(reason)
    };
    let done = async move {
        match ended.await {
            Ok(done) => done.await,
            Err(_) => std::future::pending().await,
        }
    };
    let hooks = Hooks::new(cancel, done).with_detail(move || {
        let on_detail = Arc::clone(&*shared.on_detail.lock());
        on_detail()
    });
    match source {
        Some(source) => hooks.with_output(source),
        None => hooks,
    }
}

/// Part of the hooks: notices when they are dropped.
struct Held(Arc<Shared>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.released.send_replace(true);
        let on_release = self.0.on_release.lock().take();
        if let Some(on_release) = on_release {
            on_release();
        }
    }
}
