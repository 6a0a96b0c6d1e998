//! The settings of the tool.

use std::num::NonZeroU64;
use std::time::Duration;

use jobs::config::{ConfigError, Setting, check_duration};
use serde::{Deserialize, Serialize};

use crate::config::{bytes, millis};

/// What becomes of a foreground run that passes its time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTimeLimit {
    /// It goes on as a background job.
    #[default]
    Promote,
    /// It is ended.
    Kill,
}

/// Whether a model may ask for a background job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackgroundRuns {
    /// The argument `run_in_background` exists.
    #[default]
    Offered,
    /// It does not, and is refused. Runs that take too long are ended, not promoted.
    Withheld,
}

/// Settings of a [`BashTool`](crate::BashTool); from files in camelCase, durations in milliseconds.
///
/// # Examples
///
/// ```
/// use jobs_process::{BackgroundRuns, BashToolConfig};
///
/// let read: BashToolConfig = serde_json::from_str(r#"{ "runInBackground": "withheld" }"#)?;
/// assert_eq!(read, BashToolConfig::new().with_background_runs(BackgroundRuns::Withheld));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "File")]
pub struct BashToolConfig {
    pub(super) time_limit: Duration,
    pub(super) max_time_limit: Duration,
    pub(super) on_time_limit: OnTimeLimit,
    pub(super) background: BackgroundRuns,
    pub(super) output_limit: Option<NonZeroU64>,
}

impl Default for BashToolConfig {
    fn default() -> Self {
        Self {
            time_limit: Duration::from_secs(120),
            max_time_limit: Duration::from_secs(600),
            on_time_limit: OnTimeLimit::default(),
            background: BackgroundRuns::default(),
            output_limit: None,
        }
    }
}

impl BashToolConfig {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How long a foreground run may take without a `timeout_ms` (2 min).
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// The longest that a `timeout_ms` of a foreground run counts (10 min).
    #[must_use]
    pub fn with_max_time_limit(mut self, limit: Duration) -> Self {
        self.max_time_limit = limit;
        self
    }

    /// What becomes of a run that passes its limit.
    #[must_use]
    pub fn with_on_time_limit(mut self, what: OnTimeLimit) -> Self {
        self.on_time_limit = what;
        self
    }

    /// Whether a model may ask for a background job.
    #[must_use]
    pub fn with_background_runs(mut self, runs: BackgroundRuns) -> Self {
        self.background = runs;
        if runs == BackgroundRuns::Withheld {
            self.on_time_limit = OnTimeLimit::Kill;
        }
        self
    }

    /// The output limit of the jobs that the tool starts, in bytes (none).
    #[must_use]
    pub fn with_output_limit(mut self, bytes: NonZeroU64) -> Self {
        self.output_limit = Some(bytes);
        self
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_duration("timeoutMs", self.time_limit)?;
        check_duration("maxTimeoutMs", self.max_time_limit)?;
        if self.time_limit > self.max_time_limit {
            let got = format!("{} ms", self.time_limit.as_millis());
            return Err(ConfigError::new("timeoutMs", got, "at most maxTimeoutMs"));
        }
        if (self.background, self.on_time_limit) == (BackgroundRuns::Withheld, OnTimeLimit::Promote)
        {
            return Err(ConfigError::new(
                "onTimeLimit",
                "promote",
                "kill, because runInBackground is withheld",
            ));
        }
        Ok(())
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    timeout_ms: Option<Setting>,
    max_timeout_ms: Option<Setting>,
    on_time_limit: Option<OnTimeLimit>,
    run_in_background: Option<BackgroundRuns>,
    output_limit_bytes: Option<Setting>,
}

impl TryFrom<File> for BashToolConfig {
    type Error = ConfigError;

    fn try_from(file: File) -> Result<Self, ConfigError> {
        let mut config =
            Self::default().with_background_runs(file.run_in_background.unwrap_or_default());
        let time_limit = millis("timeoutMs", file.timeout_ms.as_ref())?;
        config.time_limit = time_limit.unwrap_or(config.time_limit);
        let max_time_limit = millis("maxTimeoutMs", file.max_timeout_ms.as_ref())?;
        config.max_time_limit = max_time_limit.unwrap_or(config.max_time_limit);
        config.on_time_limit = file.on_time_limit.unwrap_or(config.on_time_limit);
        config.output_limit = bytes("outputLimitBytes", file.output_limit_bytes.as_ref())?;
        config.check()?;
        Ok(config)
    }
}
