//! The configuration as files spell it.

use std::num::NonZeroUsize;
use std::time::Duration;

use jobs::config::{ConfigError, Setting, read_fields};
use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::builder::ToolsConfigBuilder;
use super::{CompletionDelivery, ToolsConfig};
use crate::fit::Truncation;

const KEYS: &str = "one of waitTimeoutMs, maxWaitTimeoutMs, completionDelivery, \
     maxConsecutiveWakes, wakeRegainMs, defaultOutputLimitBytes, listLimitBytes, truncation";

impl<'de> Deserialize<'de> for ToolsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut builder = ToolsConfigBuilder::default();
        read_fields(
            deserializer,
            "the configuration of the job tools",
            &mut builder,
            |builder, key, value| {
                *builder = set(std::mem::take(builder), key, value)?;
                Ok(())
            },
        )?;
        builder.build().map_err(D::Error::custom)
    }
}

fn set(
    builder: ToolsConfigBuilder,
    key: &str,
    value: &Setting,
) -> Result<ToolsConfigBuilder, ConfigError> {
    Ok(match (key, value) {
        ("defaultOutputLimitBytes", value) => {
            builder.default_output_limit(bytes("defaultOutputLimitBytes", value)?)
        }
        ("listLimitBytes", value) => builder.list_limit(bytes("listLimitBytes", value)?),
        (
            "waitTimeoutMs"
            | "maxWaitTimeoutMs"
            | "completionDelivery"
            | "maxConsecutiveWakes"
            | "wakeRegainMs"
            | "truncation",
            Setting::Null,
        ) => builder,
        ("waitTimeoutMs", value) => builder.wait_timeout(value.millis("waitTimeoutMs")?),
        ("maxWaitTimeoutMs", value) => builder.max_wait_timeout(value.millis("maxWaitTimeoutMs")?),
        ("wakeRegainMs", value) => builder.wake_regain(Some(value.millis("wakeRegainMs")?)),
        ("maxConsecutiveWakes", value) => {
            builder.max_consecutive_wakes(value.count("maxConsecutiveWakes")?)
        }
        ("completionDelivery", Setting::Text(text)) if text == "wakeup" => {
            builder.completion_delivery(CompletionDelivery::Wakeup)
        }
        ("completionDelivery", Setting::Text(text)) if text == "quiet" => {
            builder.completion_delivery(CompletionDelivery::Quiet)
        }
        ("completionDelivery", value) => {
            return Err(ConfigError::new(
                "completionDelivery",
                value,
                "\"wakeup\" or \"quiet\"",
            ));
        }
        ("truncation", Setting::Text(text)) if text == "counted" => {
            builder.truncation(Truncation::Counted)
        }
        ("truncation", Setting::Text(text)) if text == "plain" => {
            builder.truncation(Truncation::Plain)
        }
        ("truncation", value) => {
            return Err(ConfigError::new(
                "truncation",
                value,
                "\"counted\" or \"plain\"",
            ));
        }
        (unknown, _) => return Err(ConfigError::new("key", unknown, KEYS)),
    })
}

fn bytes(field: &'static str, value: &Setting) -> Result<Option<NonZeroUsize>, ConfigError> {
    if *value == Setting::Null {
        return Ok(None);
    }
    let expected = "a whole number of bytes from 1 to 4294967295, or null for no limit";
    let bytes = value.whole(field, u32::MAX.into(), expected)?;
    Ok(Some(
        NonZeroUsize::try_from(bytes).unwrap_or(NonZeroUsize::MAX),
    ))
}

/// What is in force, in the form that can be read back.
impl Serialize for ToolsConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let mut wire = serializer.serialize_struct("ToolsConfig", 8)?;
        wire.serialize_field("waitTimeoutMs", &millis(self.wait_timeout))?;
        wire.serialize_field("maxWaitTimeoutMs", &millis(self.max_wait_timeout))?;
        wire.serialize_field("completionDelivery", &self.completion_delivery)?;
        wire.serialize_field("maxConsecutiveWakes", &self.max_consecutive_wakes)?;
        wire.serialize_field("wakeRegainMs", &self.wake_regain.map(millis))?;
        wire.serialize_field("defaultOutputLimitBytes", &self.default_output_limit)?;
        wire.serialize_field("listLimitBytes", &self.list_limit)?;
        wire.serialize_field("truncation", &self.truncation)?;
        wire.end()
    }
}
