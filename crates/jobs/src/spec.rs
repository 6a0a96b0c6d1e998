//! What a producer hands to [`JobRegistry::start`](crate::JobRegistry::start).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::error::ProducerError;
use crate::hooks::Hooks;
use crate::id::JobId;
use crate::owner::{Owner, OwnerKey};

/// Starts the work: called at most once, with the job's id.
///
/// It must not block, must not publish its id before it returned, and must not
/// wait for its owner's close. Set-up that takes time belongs inside `done`.
pub type Starter = Box<dyn FnOnce(&JobId) -> Result<Hooks, ProducerError> + Send>;

/// A job to start. Checked by `start`, in its order, not here.
///
/// ```
/// use jobs::{Hooks, JobSpec, Outcome};
///
/// let spec = JobSpec::new("subagent", "summarise the log", |_id| {
///     Ok(Hooks::from_future(|stop| async move {
///         tokio::select! {
///             () = stop.cancelled() => Outcome::killed(),
///             text = async { "three errors".to_owned() } => Outcome::completed().with_output(text),
///         }
///     }))
/// })
/// .with_output_limit(4096);
/// ```
#[non_exhaustive]
pub struct JobSpec {
    /// The producer's namespace; see [`Kind`](crate::Kind).
    pub kind: Cow<'static, str>,
    /// One non-empty line for people and models.
    pub label: Arc<str>,
    /// A cap in bytes on each complete text that the model sees of the job; at
    /// least 1.
    pub output_limit: Option<u64>,
    /// The exact owner instance; none for an unowned job.
    pub owner: Option<OwnerKey>,
    /// Starts the work.
    pub starter: Starter,
}

impl JobSpec {
    /// An unowned job without an output limit.
    pub fn new(
        kind: impl Into<Cow<'static, str>>,
        label: impl Into<Arc<str>>,
        starter: impl FnOnce(&JobId) -> Result<Hooks, ProducerError> + Send + 'static,
    ) -> Self {
        Self {
            kind: kind.into(),
            label: label.into(),
            output_limit: None,
            owner: None,
            starter: Box::new(starter),
        }
    }

    /// Gives the job to `owner`.
    #[must_use]
    pub fn with_owner(self, owner: &Owner) -> Self {
        self.with_owner_key(owner.key().clone())
    }

    /// Gives the job to the owner instance that `key` names.
    #[must_use]
    pub fn with_owner_key(mut self, key: OwnerKey) -> Self {
        self.owner = Some(key);
        self
    }

    /// Caps each complete text that the model sees of the job, in bytes.
    #[must_use]
    pub fn with_output_limit(mut self, bytes: u64) -> Self {
        self.output_limit = Some(bytes);
        self
    }
}

impl fmt::Debug for JobSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobSpec")
            .field("kind", &self.kind)
            .field("label", &self.label)
            .field("output_limit", &self.output_limit)
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}
