//! One operation of a script, field by field.

use serde_json::{Map, Value};

use crate::record::Failure;

/// The fields of an operation. Reading one never panics; what is not there or
/// of another type is none.
#[derive(Debug, Clone)]
pub(crate) struct Op(Map<String, Value>);

impl Op {
    pub(crate) fn new(value: Value) -> Result<Self, Failure> {
        match value {
            Value::Object(fields) => Ok(Self(fields)),
            other => Err(Failure::unknown(&other.to_string())),
        }
    }

    /// What is to be done.
    pub(crate) fn name(&self) -> &str {
        self.text("op").unwrap_or_default()
    }

    /// A field that is there and not null.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// A field that is there, even if it is null.
    pub(crate) fn given(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_str)
    }

    /// A text that the operation cannot do without.
    pub(crate) fn need(&self, key: &str) -> Result<&str, Failure> {
        self.text(key).ok_or_else(|| {
            Failure::refused(format!("op {}: expected a text \"{key}\"", self.name()))
        })
    }

    /// Whether a field holds anything but false.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.get(key)
            .is_some_and(|value| value != &Value::Bool(false))
    }

    pub(crate) fn count(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(whole)
    }

    pub(crate) fn list(&self, key: &str) -> Vec<Value> {
        self.get(key)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    }
}

/// A whole number that is not negative, however it is spelled.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    if let Some(whole) = value.as_u64() {
        return Some(whole);
    }
    let number = value.as_f64()?;
    let fits = number.fract() == 0.0 && (0.0..1.8e19).contains(&number);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, positive and in range"
    )]
    fits.then_some(number as u64)
}
