//! The bounds of a registry.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use jobs::{ConfigError, Kind};
use serde::{Deserialize, Serialize};

/// The longest duration that a field takes: 2,147,483,647 ms.
const MAX_DURATION_MS: u64 = i32::MAX as u64;

/// How much a [`LocalJobRegistry`](crate::LocalJobRegistry) keeps, and how long
/// it waits.
///
/// In files the fields are spelled in camel case, durations in whole
/// milliseconds (`stopGraceMs`); an absent field has its default, and unknown
/// fields are refused.
///
/// ```
/// use std::num::NonZeroU32;
/// use std::time::Duration;
///
/// let config = jobs_local::Config::default()
///     .with_max_concurrent_jobs_per_owner(NonZeroU32::new(4).unwrap())
///     .with_stop_grace(Some(Duration::from_secs(5)));
/// # let _ = config;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// How many jobs of one owner may live at once; unowned jobs share one
    /// such bucket. Default: 10.
    pub max_concurrent_jobs_per_owner: NonZeroU32,
    /// How long a cancelled job may take to settle; `None` = for ever.
    /// Default: 30 s.
    pub stop_grace: Option<Duration>,
    /// How long a job may take to settle once its owner closes. Default: 30 s.
    pub teardown_grace: Duration,
    /// How long an answer may stay undelivered before its completion is
    /// announced by somebody else. Default: 60 s.
    pub share_lease: Duration,
    /// How many finished records an owner keeps; untold ones are never taken.
    /// Default: 1,000.
    pub max_finished_jobs_per_owner: NonZeroU32,
    /// How many bytes of output the finished jobs of an owner keep together.
    /// Default: 8 MiB.
    pub max_finished_output_bytes_per_owner: u64,
    /// Above how many untold completions an owner may start nothing more.
    /// Default: 10,000.
    pub max_untold_completions_per_owner: NonZeroU32,
    /// What callers may do to unowned jobs. Default: everything.
    pub unowned_access: UnownedAccess,
    /// The first ordinal of a kind, for a host that resumes sessions. Default:
    /// 1 for each.
    pub first_ordinals: BTreeMap<Kind, NonZeroU64>,
}

/// What callers may do to unowned jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UnownedAccess {
    /// See, read, wait for and kill them.
    #[default]
    Full,
    /// See, read and wait for them.
    ReadOnly,
    /// Nothing: they are unknown to every caller.
    Nothing,
}

const fn count(n: u32) -> NonZeroU32 {
    match NonZeroU32::new(n) {
        Some(n) => n,
        None => NonZeroU32::MIN,
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_concurrent_jobs_per_owner: count(10),
            stop_grace: Some(Duration::from_secs(30)),
            teardown_grace: Duration::from_secs(30),
            share_lease: Duration::from_secs(60),
            max_finished_jobs_per_owner: count(1_000),
            max_finished_output_bytes_per_owner: 8 * 1024 * 1024,
            max_untold_completions_per_owner: count(10_000),
            unowned_access: UnownedAccess::default(),
            first_ordinals: BTreeMap::new(),
        }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident => $field:ident: $type:ty;)*) => {
        impl Config {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $field: $type) -> Self {
                self.$field = $field;
                self
            })*
        }
    };
}

setters! {
    /// Sets how many jobs of one owner may live at once.
    with_max_concurrent_jobs_per_owner => max_concurrent_jobs_per_owner: NonZeroU32;
    /// Sets how long a cancelled job may take to settle.
    with_stop_grace => stop_grace: Option<Duration>;
    /// Sets how long a job may take to settle once its owner closes.
    with_teardown_grace => teardown_grace: Duration;
    /// Sets how long an answer may stay undelivered.
    with_share_lease => share_lease: Duration;
    /// Sets how many finished records an owner keeps.
    with_max_finished_jobs_per_owner => max_finished_jobs_per_owner: NonZeroU32;
    /// Sets how many bytes of output the finished jobs of an owner keep.
    with_max_finished_output_bytes_per_owner => max_finished_output_bytes_per_owner: u64;
    /// Sets above how many untold completions an owner may start nothing more.
    with_max_untold_completions_per_owner => max_untold_completions_per_owner: NonZeroU32;
    /// Sets what callers may do to unowned jobs.
    with_unowned_access => unowned_access: UnownedAccess;
    /// Sets the first ordinals.
    with_first_ordinals => first_ordinals: BTreeMap<Kind, NonZeroU64>;
}

impl Config {
    /// Refuses what cannot be kept to.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        check_duration("teardownGraceMs", self.teardown_grace)?;
        check_duration("shareLeaseMs", self.share_lease)?;
        self.stop_grace
            .map_or(Ok(()), |grace| check_duration("stopGraceMs", grace))
    }
}

fn check_duration(field: &'static str, duration: Duration) -> Result<(), ConfigError> {
    let millis = duration.as_millis();
    if (1..=u128::from(MAX_DURATION_MS)).contains(&millis) {
        Ok(())
    } else {
        Err(ConfigError::new(
            field,
            format_args!("{millis} ms"),
            "1 to 2147483647 ms",
        ))
    }
}
