//! What a server says of itself, and its bounds.

use std::num::NonZeroUsize;
use std::time::Duration;

use jobs::config::{ConfigError, Setting, check_duration, read_fields};
use serde::{Deserialize, Deserializer};

/// Settings of an [`McpServer`](crate::McpServer).
///
/// In files the fields are camelCase, durations are whole milliseconds, an absent or null field
/// has its default, and unknown keys are refused. Name, version and instructions are for the host
/// to set.
///
/// # Examples
///
/// ```
/// use jobs_mcp::McpConfig;
///
/// let typed = McpConfig::new("my-host", "1.0.0").with_tool_prefix("jobs_");
/// let read: McpConfig = serde_json::from_str(r#"{ "toolPrefix": "jobs_" }"#)?;
/// assert_eq!(typed.tool_prefix(), read.tool_prefix());
/// assert!(serde_json::from_str::<McpConfig>(r#"{ "toolPrefix": "a b" }"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpConfig {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    pub(crate) tool_prefix: String,
    pub(crate) notice_limit: NonZeroUsize,
    pub(crate) progress_interval: Duration,
}

/// Less has no room for a notice that says anything.
const LEAST_NOTICE_LIMIT: usize = 256;

const PREFIX: &str = "at most 32 ASCII letters, digits, \"_\" or \"-\"";

impl Default for McpConfig {
    fn default() -> Self {
        const NOTICE_LIMIT: NonZeroUsize = NonZeroUsize::new(4_096).expect("not zero");
        Self {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            tool_prefix: String::new(),
            notice_limit: NOTICE_LIMIT,
            progress_interval: Duration::from_secs(5),
        }
    }
}

impl McpConfig {
    /// The defaults, under the name and version that clients are told.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::default().with_identity(name, version)
    }

    /// The name and version that clients are told.
    #[must_use]
    pub fn with_identity(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.name = name.into();
        self.version = version.into();
        self
    }

    /// What clients may put into the prompt of a model (nothing).
    #[must_use]
    pub fn with_instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Stands in front of every tool's name, for clients that have a `bash` of their own (nothing).
    #[must_use]
    pub fn with_tool_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.tool_prefix = prefix.into();
        self
    }

    /// What stands in front of every tool's name.
    #[must_use]
    pub fn tool_prefix(&self) -> &str {
        &self.tool_prefix
    }

    /// How many bytes the notices in front of one answer may take together (4,096; at least 256).
    /// Those that have no room come with the next answer.
    #[must_use]
    pub fn with_notice_limit(mut self, bytes: NonZeroUsize) -> Self {
        self.notice_limit = bytes;
        self
    }

    /// How often a client that asked for it is told that a call goes on (5 s).
    #[must_use]
    pub fn with_progress_interval(mut self, interval: Duration) -> Self {
        self.progress_interval = interval;
        self
    }

    /// Refuses what cannot be kept to.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        check_duration("progressIntervalMs", self.progress_interval)?;
        if self.notice_limit.get() < LEAST_NOTICE_LIMIT {
            return Err(ConfigError::new(
                "noticeLimitBytes",
                self.notice_limit,
                "at least 256 bytes",
            ));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        if self.tool_prefix.len() > 32 || !self.tool_prefix.chars().all(plain) {
            return Err(ConfigError::new("toolPrefix", &self.tool_prefix, PREFIX));
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &Setting) -> Result<(), ConfigError> {
        match (key, value) {
            ("toolPrefix" | "noticeLimitBytes" | "progressIntervalMs", Setting::Null) => {}
            ("toolPrefix", Setting::Text(prefix)) => self.tool_prefix.clone_from(prefix),
            ("toolPrefix", other) => return Err(ConfigError::new("toolPrefix", other, PREFIX)),
            ("noticeLimitBytes", value) => {
                let expected = "a whole number of bytes from 256 to 4294967295";
                let bytes = value.whole("noticeLimitBytes", u32::MAX.into(), expected)?;
                self.notice_limit = NonZeroUsize::try_from(bytes).unwrap_or(NonZeroUsize::MAX);
            }
            ("progressIntervalMs", value) => {
                self.progress_interval = value.millis("progressIntervalMs")?;
            }
            (unknown, _) => {
                let keys = "one of toolPrefix, noticeLimitBytes, progressIntervalMs";
                return Err(ConfigError::new("key", unknown, keys));
            }
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for McpConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut config = Self::default();
        read_fields(
            deserializer,
            "the configuration of the server",
            &mut config,
            Self::set,
        )?;
        config.check().map_err(serde::de::Error::custom)?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_kept_to_is_named() {
        for (json, field) in [
            (r#"{"noticeLimitBytes":255}"#, "noticeLimitBytes"),
            (r#"{"noticeLimitBytes":1.5}"#, "noticeLimitBytes"),
            (r#"{"progressIntervalMs":0}"#, "progressIntervalMs"),
            (r#"{"toolPrefix":"a.b"}"#, "toolPrefix"),
            (r#"{"toolPrefix":1}"#, "toolPrefix"),
            (r#"{"prefix":"a"}"#, "key"),
        ] {
            let refused = serde_json::from_str::<McpConfig>(json).expect_err(json);
            let expected = format!("invalid configuration: {field}: expected");
            assert!(refused.to_string().starts_with(&expected), "{refused}");
        }
    }

    #[test]
    fn null_is_the_default() {
        let json = r#"{"toolPrefix":null,"noticeLimitBytes":null,"progressIntervalMs":null}"#;
        let read: McpConfig = serde_json::from_str(json).expect("accepted");
        assert_eq!(read, McpConfig::default());
    }
}
