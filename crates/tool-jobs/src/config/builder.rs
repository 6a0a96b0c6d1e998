//! The typed way to a configuration, and its checks.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use jobs::config::{ConfigError, check_duration};

use super::{CompletionDelivery, ToolsConfig};
use crate::fit::Truncation;

/// Builds a [`ToolsConfig`].
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until it builds"]
pub struct ToolsConfigBuilder(ToolsConfig);

impl ToolsConfigBuilder {
    /// See [`ToolsConfig::wait_timeout`].
    pub fn wait_timeout(mut self, timeout: Duration) -> Self {
        self.0.wait_timeout = timeout;
        self
    }

    /// See [`ToolsConfig::max_wait_timeout`].
    pub fn max_wait_timeout(mut self, timeout: Duration) -> Self {
        self.0.max_wait_timeout = timeout;
        self
    }

    /// See [`ToolsConfig::completion_delivery`].
    pub fn completion_delivery(mut self, delivery: CompletionDelivery) -> Self {
        self.0.completion_delivery = delivery;
        self
    }

    /// See [`ToolsConfig::max_consecutive_wakes`].
    pub fn max_consecutive_wakes(mut self, wakes: NonZeroU32) -> Self {
        self.0.max_consecutive_wakes = wakes;
        self
    }

    /// See [`ToolsConfig::wake_regain`].
    pub fn wake_regain(mut self, interval: Option<Duration>) -> Self {
        self.0.wake_regain = interval;
        self
    }

    /// See [`ToolsConfig::default_output_limit`].
    pub fn default_output_limit(mut self, bytes: Option<NonZeroUsize>) -> Self {
        self.0.default_output_limit = bytes;
        self
    }

    /// See [`ToolsConfig::list_limit`].
    pub fn list_limit(mut self, bytes: Option<NonZeroUsize>) -> Self {
        self.0.list_limit = bytes;
        self
    }

    /// See [`ToolsConfig::truncation`].
    pub fn truncation(mut self, truncation: Truncation) -> Self {
        self.0.truncation = truncation;
        self
    }

    /// Checks the whole.
    ///
    /// # Errors
    ///
    /// A duration that is zero, has a fraction of a millisecond or is above
    /// 2,147,483,647 ms; a limit above 2³²−1 bytes; a default wait above the
    /// longest one.
    pub fn build(self) -> Result<ToolsConfig, ConfigError> {
        let config = self.0;
        check_duration("waitTimeoutMs", config.wait_timeout)?;
        check_duration("maxWaitTimeoutMs", config.max_wait_timeout)?;
        if let Some(interval) = config.wake_regain {
            check_duration("wakeRegainMs", interval)?;
        }
        check_bytes("defaultOutputLimitBytes", config.default_output_limit)?;
        check_bytes("listLimitBytes", config.list_limit)?;
        if config.wait_timeout > config.max_wait_timeout {
            return Err(ConfigError::new(
                "waitTimeoutMs",
                config.wait_timeout.as_millis(),
                "at most maxWaitTimeoutMs",
            ));
        }
        Ok(config)
    }
}

fn check_bytes(field: &'static str, bytes: Option<NonZeroUsize>) -> Result<(), ConfigError> {
    match bytes {
        Some(bytes) if u32::try_from(bytes.get()).is_err() => {
            Err(ConfigError::new(field, bytes, "at most 4294967295 bytes"))
        }
        _ => Ok(()),
    }
}
