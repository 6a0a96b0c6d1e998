//! How an implementation plugs in: a fresh registry for given settings.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jobs::JobRegistry;

/// Makes fresh registries of one implementation.
///
/// A function from [`Settings`] to a registry is a harness. Implement the trait
/// where making one takes time, such as a connection.
#[async_trait]
pub trait Harness: Send + Sync + 'static {
    /// An empty registry that nothing else uses, configured as `settings` says.
    ///
    /// It is called inside a tokio runtime. After the case the registry is shut
    /// down and dropped.
    async fn fresh(&self, settings: &Settings) -> Arc<dyn JobRegistry>;
}

#[async_trait]
impl<F> Harness for F
where
    F: Fn(&Settings) -> Arc<dyn JobRegistry> + Send + Sync + 'static,
{
    async fn fresh(&self, settings: &Settings) -> Arc<dyn JobRegistry> {
        self(settings)
    }
}

/// What the cases want to be configured (spec: registry, §2 to §9).
///
/// An implementation that lacks one of these names the cases that need it as
/// known gaps; see [`conformance!`](crate::conformance!).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// How many jobs of one owner may live at once.
    pub max_live_per_owner: NonZeroU32,
    /// How long a cancelled job may take to settle; none for ever.
    pub stop_grace: Option<Duration>,
    /// How long a job may take to settle when its owner or the registry ends.
    pub teardown_grace: Duration,
    /// How long a share that is neither committed nor dropped holds reporters
    /// back.
    pub share_lease: Duration,
    /// How many finished jobs of one owner are kept.
    pub max_finished_per_owner: NonZeroU32,
    /// How many bytes of output finished jobs of one owner keep.
    pub max_output_kept_per_owner: u64,
    /// How many untold completions of one owner let it still start jobs.
    pub max_untold_per_owner: NonZeroU32,
    /// What callers may do to unowned jobs.
    pub unowned_access: UnownedAccess,
}

impl Default for Settings {
    fn default() -> Self {
        let count = |count| NonZeroU32::new(count).expect("a count of settings is not zero");
        Self {
            max_live_per_owner: count(10),
            stop_grace: Some(Duration::from_secs(30)),
            teardown_grace: Duration::from_secs(30),
            share_lease: Duration::from_secs(60),
            max_finished_per_owner: count(1000),
            max_output_kept_per_owner: 8 << 20,
            max_untold_per_owner: count(10_000),
            unowned_access: UnownedAccess::Full,
        }
    }
}

/// What callers may do to unowned jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum UnownedAccess {
    /// Everything.
    #[default]
    Full,
    /// Everything but a kill.
    ReadOnly,
    /// Nothing: they are unknown to every caller.
    Nothing,
}
