//! The bounds of a registry.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use jobs::Kind;
use jobs::config::{ConfigError, Setting, check_duration, read_fields};
use serde::{Deserialize, Deserializer};

/// How much a [`LocalJobRegistry`](crate::LocalJobRegistry) keeps, and how long
/// it waits.
///
/// In files the fields are spelled in camel case, durations in whole
/// milliseconds (`stopGraceMs`, which may be `"never"`); an absent or `null`
/// field has its default, and unknown ones are refused. The first ordinals are
/// for the host to set.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
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

const KEYS: &str = "one of maxConcurrentJobsPerOwner, stopGraceMs, teardownGraceMs, shareLeaseMs, \
    maxFinishedJobsPerOwner, maxFinishedOutputBytesPerOwner, maxUntoldCompletionsPerOwner, unownedAccess";

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut config = Self::default();
        read_fields(
            deserializer,
            "the configuration of the registry",
            &mut config,
            Self::set,
        )?;
        Ok(config)
    }
}

impl Config {
    fn set(&mut self, key: &str, value: &Setting) -> Result<(), ConfigError> {
        match (key, value) {
            (
                "maxConcurrentJobsPerOwner"
                | "stopGraceMs"
                | "teardownGraceMs"
                | "shareLeaseMs"
                | "maxFinishedJobsPerOwner"
                | "maxFinishedOutputBytesPerOwner"
                | "maxUntoldCompletionsPerOwner"
                | "unownedAccess",
                Setting::Null,
            ) => {}
            ("maxConcurrentJobsPerOwner", value) => {
                self.max_concurrent_jobs_per_owner = value.count("maxConcurrentJobsPerOwner")?;
            }
            ("stopGraceMs", Setting::Text(text)) if text == "never" => self.stop_grace = None,
            ("stopGraceMs", value) => self.stop_grace = Some(value.millis("stopGraceMs")?),
            ("teardownGraceMs", value) => self.teardown_grace = value.millis("teardownGraceMs")?,
            ("shareLeaseMs", value) => self.share_lease = value.millis("shareLeaseMs")?,
            ("maxFinishedJobsPerOwner", value) => {
                self.max_finished_jobs_per_owner = value.count("maxFinishedJobsPerOwner")?;
            }
            ("maxFinishedOutputBytesPerOwner", value) => {
                let field = "maxFinishedOutputBytesPerOwner";
                let bytes = value.whole(field, u64::MAX, "a whole number of bytes, at least 1")?;
                self.max_finished_output_bytes_per_owner = bytes.get();
            }
            ("maxUntoldCompletionsPerOwner", value) => {
                self.max_untold_completions_per_owner =
                    value.count("maxUntoldCompletionsPerOwner")?;
            }
            ("unownedAccess", value) => {
                self.unowned_access = match value.as_text() {
                    Some("full") => UnownedAccess::Full,
                    Some("readOnly") => UnownedAccess::ReadOnly,
                    Some("nothing") => UnownedAccess::Nothing,
                    _ => {
                        let expected = "\"full\", \"readOnly\" or \"nothing\"";
                        return Err(ConfigError::new("unownedAccess", value, expected));
                    }
                };
            }
            (unknown, _) => return Err(ConfigError::new("key", unknown, KEYS)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn files_are_read_and_defaults_kept() {
        let config = read(
            r#"{"stopGraceMs": "never", "shareLeaseMs": 5, "unownedAccess": "readOnly",
            "maxConcurrentJobsPerOwner": null, "maxFinishedJobsPerOwner": 7}"#,
        )
        .unwrap();
        let expected = Config::default()
            .with_stop_grace(None)
            .with_share_lease(Duration::from_millis(5))
            .with_unowned_access(UnownedAccess::ReadOnly)
            .with_max_finished_jobs_per_owner(count(7));
        assert_eq!(config, expected);
    }

    #[test]
    fn a_refusal_names_field_and_value() {
        for (text, said) in [
            (
                r#"{"teardownGraceMs": 0}"#,
                "teardownGraceMs: expected whole milliseconds from 1 to 2147483647, got 0",
            ),
            (
                r#"{"shareLeaseMs": 1.5}"#,
                "shareLeaseMs: expected whole milliseconds from 1 to 2147483647, got 1.5",
            ),
            (
                r#"{"maxConcurrentJobsPerOwner": -1}"#,
                "maxConcurrentJobsPerOwner: expected a whole number from 1 to",
            ),
            (
                r#"{"unownedAccess": "some"}"#,
                "unownedAccess: expected \"full\", \"readOnly\" or \"nothing\", got \"some\"",
            ),
            (
                r#"{"maxJobs": 1}"#,
                "key: expected one of maxConcurrentJobsPerOwner",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
        let long = Config::default().with_share_lease(Duration::MAX);
        assert!(
            long.check()
                .unwrap_err()
                .to_string()
                .contains("shareLeaseMs")
        );
    }
}
