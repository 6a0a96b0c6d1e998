//! Configuration: what a file says of a field, and how a refusal names it.
//!
//! All crates here spell their fields in camel case and their durations in
//! whole milliseconds, refuse unknown keys, and take `null` or absence as the
//! default (spec/tools.md, Configuration). Values are read as whatever they
//! are and checked one by one, so that each refusal names field and value.

use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::text::Echo;

/// The longest duration: 2,147,483,647 ms, what timers everywhere can take.
pub const MAX_DURATION: Duration = Duration::from_millis(i32::MAX as u64);

const MILLIS: &str = "whole milliseconds from 1 to 2147483647";

/// A value that a configuration refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid configuration: {field}: expected {expected}, got {got}")]
#[non_exhaustive]
pub struct ConfigError {
    /// The field, as it is spelled in configuration files.
    pub field: &'static str,
    /// What was given.
    pub got: Echo,
    /// What is accepted.
    pub expected: &'static str,
}

impl ConfigError {
    /// Refuses `got` for `field`.
    #[must_use]
    pub fn new(field: &'static str, got: impl fmt::Display, expected: &'static str) -> Self {
        Self {
            field,
            got: Echo::new(&got.to_string()),
            expected,
        }
    }
}

/// Checks a duration of a typed configuration.
///
/// # Errors
///
/// [`ConfigError`] for less than a millisecond, a fraction of one, or more
/// than [`MAX_DURATION`].
pub fn check_duration(field: &'static str, duration: Duration) -> Result<(), ConfigError> {
    let whole = duration.subsec_nanos().is_multiple_of(1_000_000);
    if whole && !duration.is_zero() && duration <= MAX_DURATION {
        Ok(())
    } else {
        Err(ConfigError::new(
            field,
            format_args!("{duration:?}"),
            MILLIS,
        ))
    }
}

/// Reads the fields of a table into `config`, one call of `set` for each.
///
/// `what` says what is read (`the configuration of the job tools`).
///
/// # Errors
///
/// The deserializer's own, and what `set` refuses.
///
/// ```
/// use jobs::config::{self, ConfigError, Setting};
///
/// let mut json = serde_json::Deserializer::from_str(r#"{ "retries": 0 }"#);
/// let mut retries = 3;
/// let read = config::read_fields(&mut json, "the retries", &mut retries, |retries, key, value| {
///     match key {
///         "retries" => *retries = value.count("retries")?.get(),
///         unknown => return Err(ConfigError::new("key", unknown, "retries")),
///     }
///     Ok(())
/// });
/// let refusal = read.unwrap_err().to_string();
/// assert!(refusal.starts_with("invalid configuration: retries: expected a whole number from 1"));
/// assert!(refusal.contains("got 0"));
/// ```
pub fn read_fields<'de, D: Deserializer<'de>, C>(
    deserializer: D,
    what: &'static str,
    config: &mut C,
    set: impl FnMut(&mut C, &str, &Setting) -> Result<(), ConfigError>,
) -> Result<(), D::Error> {
    deserializer.deserialize_map(Fields { what, config, set })
}

struct Fields<'a, C, S> {
    what: &'static str,
    config: &'a mut C,
    set: S,
}

impl<'de, C, S> Visitor<'de> for Fields<'_, C, S>
where
    S: FnMut(&mut C, &str, &Setting) -> Result<(), ConfigError>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some((key, value)) = map.next_entry::<String, Setting>()? {
            (self.set)(self.config, &key, &value).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// Any value of a file, kept for the error that may name it.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// Nothing: the default.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Unsigned(u64),
    /// A whole number below zero.
    Negative(i64),
    /// Any other number, or one that the file spells with a point.
    Float(f64),
    /// A text.
    Text(String),
    /// A list, whatever is in it.
    List,
    /// A table, whatever is in it.
    Table,
}

impl Setting {
    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A duration in whole milliseconds.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] for anything but 1 to 2,147,483,647.
    pub fn millis(&self, field: &'static str) -> Result<Duration, ConfigError> {
        let millis = self.whole(field, i32::MAX as u64, MILLIS)?;
        Ok(Duration::from_millis(millis.get()))
    }

    /// A count.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] for anything but 1 to 4,294,967,295.
    pub fn count(&self, field: &'static str) -> Result<NonZeroU32, ConfigError> {
        let expected = "a whole number from 1 to 4294967295";
        let count = self.whole(field, u32::MAX.into(), expected)?;
        NonZeroU32::try_from(count).map_err(|_| ConfigError::new(field, self, expected))
    }

    /// A whole number from 1 to `max`, however the file spells it.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] for anything else, with `expected` in its text.
    pub fn whole(
        &self,
        field: &'static str,
        max: u64,
        expected: &'static str,
    ) -> Result<NonZeroU64, ConfigError> {
        /// Up to here every whole number is a float of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let number = match self {
            Self::Unsigned(number) => Some(*number),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number in this range is the same in both types"
            )]
            Self::Float(number) if number.fract() == 0.0 && (0.0..=EXACT).contains(number) => {
                Some(*number as u64)
            }
            _ => None,
        };
        number
            .filter(|number| *number <= max)
            .and_then(NonZeroU64::new)
            .ok_or_else(|| ConfigError::new(field, self, expected))
    }
}

impl fmt::Display for Setting {
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

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Setting;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Setting, E> {
        Ok(Setting::Null)
    }

    fn visit_none<E>(self) -> Result<Setting, E> {
        Ok(Setting::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Setting, D::Error> {
        Setting::deserialize(inner)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Setting, E> {
        Ok(Setting::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Setting, E> {
        Ok(Setting::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Setting, E> {
        Ok(u64::try_from(value).map_or(Setting::Negative(value), Setting::Unsigned))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Setting, E> {
        Ok(Setting::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Setting, E> {
        Ok(Setting::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Setting, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Setting::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Setting, A::Error> {
        while table.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Setting::Table)
    }
}
