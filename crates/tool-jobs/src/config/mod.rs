//! The configuration of the tools (spec/tools.md, Configuration).

mod builder;
mod raw;
#[cfg(test)]
mod tests;

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use builder::ToolsConfigBuilder;

use crate::fit::Truncation;

/// How the tools wait, cut and tell.
///
/// It is always valid: [`builder`](Self::builder) and deserialisation refuse
/// the rest, naming field and value. In files the fields are camelCase,
/// durations are whole milliseconds, and unknown keys are refused. `null` and
/// absence are the default, except that `null` takes away a limit in bytes.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tool_jobs::ToolsConfig;
///
/// let built = ToolsConfig::builder()
///     .wait_timeout(Duration::from_secs(10))
///     .default_output_limit(None)
///     .build()?;
/// let read: ToolsConfig =
///     serde_json::from_str(r#"{ "waitTimeoutMs": 10000, "defaultOutputLimitBytes": null }"#)
///         .unwrap();
/// assert_eq!(built, read);
///
/// let refused = serde_json::from_str::<ToolsConfig>(r#"{ "waitTimeoutMs": 1.5 }"#);
/// assert!(refused.unwrap_err().to_string().starts_with("invalid configuration: waitTimeoutMs"));
/// # Ok::<(), jobs::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsConfig {
    wait_timeout: Duration,
    max_wait_timeout: Duration,
    completion_delivery: CompletionDelivery,
    max_consecutive_wakes: NonZeroU32,
    wake_regain: Option<Duration>,
    default_output_limit: Option<NonZeroUsize>,
    list_limit: Option<NonZeroUsize>,
    truncation: Truncation,
}

impl ToolsConfig {
    /// Starts from the defaults.
    pub fn builder() -> ToolsConfigBuilder {
        ToolsConfigBuilder::default()
    }

    /// How long `job_output` waits when the call does not say; 30 s.
    #[must_use]
    pub fn wait_timeout(&self) -> Duration {
        self.wait_timeout
    }

    /// How long `job_output` waits at most; 10 min.
    #[must_use]
    pub fn max_wait_timeout(&self) -> Duration {
        self.max_wait_timeout
    }

    /// Whether a completion may wake an idle owner; it may.
    #[must_use]
    pub fn completion_delivery(&self) -> CompletionDelivery {
        self.completion_delivery
    }

    /// How many turns in a row completions may open; 3.
    #[must_use]
    pub fn max_consecutive_wakes(&self) -> NonZeroU32 {
        self.max_consecutive_wakes
    }

    /// After how much time one of those wakes comes back by itself; never.
    #[must_use]
    pub fn wake_regain(&self) -> Option<Duration> {
        self.wake_regain
    }

    /// The cap in bytes on each text about a job that has no limit of its own;
    /// 32,768.
    #[must_use]
    pub fn default_output_limit(&self) -> Option<NonZeroUsize> {
        self.default_output_limit
    }

    /// The cap in bytes on `job_list`; 32,768.
    #[must_use]
    pub fn list_limit(&self) -> Option<NonZeroUsize> {
        self.list_limit
    }

    /// How a read says that its beginning was cut off; counted.
    #[must_use]
    pub fn truncation(&self) -> Truncation {
        self.truncation
    }
}

impl Default for ToolsConfig {
    fn default() -> Self {
        const LIMIT: Option<NonZeroUsize> = NonZeroUsize::new(32_768);
        const WAKES: NonZeroU32 = NonZeroU32::new(3).expect("three is not zero");
        Self {
            wait_timeout: Duration::from_secs(30),
            max_wait_timeout: Duration::from_secs(600),
            completion_delivery: CompletionDelivery::default(),
            max_consecutive_wakes: WAKES,
            wake_regain: None,
            default_output_limit: LIMIT,
            list_limit: LIMIT,
            truncation: Truncation::default(),
        }
    }
}

/// What a completion does to an idle owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CompletionDelivery {
    /// It opens a turn, as long as the wake budget lasts.
    #[default]
    Wakeup,
    /// It lies in the inbox until the next turn.
    Quiet,
}
