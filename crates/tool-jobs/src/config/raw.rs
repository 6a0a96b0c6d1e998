//! The configuration as files spell it.
//!
//! Values are read as whatever they are and checked by hand, so that each
//! refusal names field and value.

use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use jobs::ConfigError;
use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::builder::{MAX_MILLIS, ToolsConfigBuilder};
use super::{CompletionDelivery, ToolsConfig};
use crate::fit::Truncation;

const KEYS: &str = "one of waitTimeoutMs, maxWaitTimeoutMs, completionDelivery, \
     maxConsecutiveWakes, wakeRegainMs, defaultOutputLimitBytes, listLimitBytes, truncation";

impl<'de> Deserialize<'de> for ToolsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = ToolsConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration of the job tools")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ToolsConfig, A::Error> {
        let mut builder = ToolsConfigBuilder::default();
        while let Some((key, value)) = map.next_entry::<String, Raw>()? {
            builder = set(builder, &key, &value).map_err(A::Error::custom)?;
        }
        builder.build().map_err(A::Error::custom)
    }
}

fn set(
    builder: ToolsConfigBuilder,
    key: &str,
    value: &Raw,
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
            Raw::Null,
        ) => builder,
        ("waitTimeoutMs", value) => builder.wait_timeout(millis("waitTimeoutMs", value)?),
        ("maxWaitTimeoutMs", value) => builder.max_wait_timeout(millis("maxWaitTimeoutMs", value)?),
        ("wakeRegainMs", value) => builder.wake_regain(Some(millis("wakeRegainMs", value)?)),
        ("maxConsecutiveWakes", value) => {
            let wakes = whole(
                "maxConsecutiveWakes",
                value,
                u32::MAX,
                "a whole number of turns from 1 to 4294967295",
            )?;
            builder.max_consecutive_wakes(wakes)
        }
        ("completionDelivery", Raw::Text(text)) if text == "wakeup" => {
            builder.completion_delivery(CompletionDelivery::Wakeup)
        }
        ("completionDelivery", Raw::Text(text)) if text == "quiet" => {
            builder.completion_delivery(CompletionDelivery::Quiet)
        }
        ("completionDelivery", value) => {
            return Err(ConfigError::new(
                "completionDelivery",
                value,
                "\"wakeup\" or \"quiet\"",
            ));
        }
        ("truncation", Raw::Text(text)) if text == "counted" => {
            builder.truncation(Truncation::Counted)
        }
        ("truncation", Raw::Text(text)) if text == "plain" => builder.truncation(Truncation::Plain),
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

fn millis(field: &'static str, value: &Raw) -> Result<Duration, ConfigError> {
    let expected = "whole milliseconds from 1 to 2147483647";
    let millis = whole(field, value, MAX_MILLIS, expected)?;
    Ok(Duration::from_millis(millis.get().into()))
}

fn bytes(field: &'static str, value: &Raw) -> Result<Option<NonZeroUsize>, ConfigError> {
    if matches!(value, Raw::Null) {
        return Ok(None);
    }
    let expected = "a whole number of bytes from 1 to 4294967295, or null for no limit";
    let bytes = whole(field, value, u32::MAX, expected)?;
    Ok(Some(
        NonZeroUsize::try_from(bytes).unwrap_or(NonZeroUsize::MAX),
    ))
}

fn whole(
    field: &'static str,
    value: &Raw,
    max: u32,
    expected: &'static str,
) -> Result<NonZeroU32, ConfigError> {
    let number = match value {
        Raw::Unsigned(number) => u32::try_from(*number).ok(),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number in this range is the same in both types"
        )]
        Raw::Float(number) if number.fract() == 0.0 && (0.0..=f64::from(max)).contains(number) => {
            Some(*number as u32)
        }
        _ => None,
    };
    number
        .filter(|number| *number <= max)
        .and_then(NonZeroU32::new)
        .ok_or_else(|| ConfigError::new(field, value, expected))
}

/// Any value of a file, kept for the error that may name it.
enum Raw {
    Null,
    Bool(bool),
    Unsigned(u64),
    Negative(i64),
    Float(f64),
    Text(String),
    List,
    Table,
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Unsigned(value) => value.fmt(f),
            Self::Negative(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Text(value) => write!(f, "\"{value}\""),
            Self::List => f.write_str("a list"),
            Self::Table => f.write_str("a table"),
        }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Raw, D::Error> {
        Raw::deserialize(inner)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(u64::try_from(value).map_or(Raw::Negative(value), Raw::Unsigned))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Raw, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Raw::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Raw, A::Error> {
        while table.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Raw::Table)
    }
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
