//! The hooks by which a registry follows and stops work that it does not own.

use std::fmt;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::error::ProducerError;
use crate::outcome::Outcome;
use crate::output::{OutputLog, OutputSource};

/// Asks the work to stop; see [`Hooks::new`].
pub type CancelHook = Arc<dyn Fn(Option<&str>) -> Result<(), ProducerError> + Send + Sync>;

/// Says what a live job would say of itself; see [`Hooks::with_detail`].
pub type DetailHook = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// What a producer leaves with the registry; it keeps the execution resources.
///
/// Most producers need no hooks of their own: [`Hooks::from_future`] serves
/// anything asynchronous, [`Hooks::from_log`] anything that writes
/// output as it goes.
#[non_exhaustive]
pub struct Hooks {
    /// Asks the work to stop.
    pub cancel: CancelHook,
    /// Resolves when the work and its resources are gone.
    pub done: Pin<Box<dyn Future<Output = Outcome> + Send>>,
    /// The output of a stream job; none for a job whose text is in its outcome.
    pub output: Option<Arc<dyn OutputSource>>,
    /// What the live job says of itself.
    pub detail: Option<DetailHook>,
}

impl Hooks {
    /// Hooks of a job whose output is in its outcome.
    ///
    /// - `cancel` gets the reason, if there is one. It is idempotent, callable
    ///   from any thread, and does not block; an error means that nothing was
    ///   asked.
    /// - `done` resolves once, when the work *and its resources* are gone and
    ///   its last output is readable. A panic in it settles the job as failed.
    pub fn new(
        cancel: impl Fn(Option<&str>) -> Result<(), ProducerError> + Send + Sync + 'static,
        done: impl Future<Output = Outcome> + Send + 'static,
    ) -> Self {
        Self {
            cancel: Arc::new(cancel),
            done: Box::pin(done),
            output: None,
            detail: None,
        }
    }

    /// Hooks of a future that stops when its token is cancelled, and then says
    /// how it ended.
    ///
    /// The future is dropped when the job settles in another way.
    pub fn from_future<F>(work: impl FnOnce(CancellationToken) -> F) -> Self
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let done = work(stop.clone());
        Self::new(
            move |_reason| {
                stop.cancel();
                Ok(())
            },
            done,
        )
    }

    /// Hooks of a future that writes its output as it goes, into a log that
    /// keeps the last `budget` bytes.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use jobs::{Hooks, Outcome, Stream};
    ///
    /// let budget = NonZeroUsize::new(64 * 1024).unwrap();
    /// let hooks = Hooks::from_log(budget, |_stop, log| async move {
    ///     log.push(Stream::Stdout, b"one line\n");
    ///     Outcome::completed()
    /// });
    /// assert!(hooks.output.is_some());
    /// ```
    pub fn from_log<F>(
        budget: NonZeroUsize,
        work: impl FnOnce(CancellationToken, OutputLog) -> F,
    ) -> Self
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let log = OutputLog::with_budget(budget);
        let reader = log.reader();
        Self::from_future(|stop| work(stop, log)).with_output(Arc::new(reader))
    }

    /// Makes this a stream job with the given output.
    #[must_use]
    pub fn with_output(mut self, source: Arc<dyn OutputSource>) -> Self {
        self.output = Some(source);
        self
    }

    /// Adds what the live job says of itself
    /// (`leader exited: exit code 0; 2 processes still running`). Called for
    /// each snapshot of a live job; must not block.
    #[must_use]
    pub fn with_detail(
        mut self,
        detail: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.detail = Some(Arc::new(detail));
        self
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("stream", &self.output.is_some())
            .finish_non_exhaustive()
    }
}
