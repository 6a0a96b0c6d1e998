//! Configurations and the snapshot checker, outside of any world.

use jobs::{Checker, Completion, InstanceId, NoticeId, OwnerKey, SessionId, Snapshot};
use jobs_local::LocalJobRegistry;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::{Value, json};
use tool_jobs::ToolsConfig;

use crate::op::Op;
use crate::record::{Failure, Outcome};
use crate::{tools, values};

/// `config`
pub(crate) fn parse(op: &Op) -> Outcome {
    let value = op.given("value").cloned().unwrap_or_else(|| json!({}));
    Ok(match op.text("plugin") {
        Some("jobs" | "jobsLocal") => {
            json!({"maxConcurrentJobsPerOwner": read::<jobs_local::Config>(&value)?.max_concurrent_jobs_per_owner})
        }
        _ => json!(read::<ToolsConfig>(&value)?),
    })
}

/// `load`
pub(crate) fn load(op: &Op) -> Outcome {
    let value = op.given("config").cloned().unwrap_or_else(|| json!({}));
    match op.text("plugin") {
        Some("jobs" | "jobsLocal") => {
            registry(&value)?;
        }
        _ => {
            let jobs = registry(&json!({}))?;
            tools::mount(jobs, jobs::Scope::root(), &value)?;
        }
    }
    Ok(json!("loaded"))
}

/// A registry with the configuration of a scenario.
pub(crate) fn registry(config: &Value) -> Result<std::sync::Arc<LocalJobRegistry>, Failure> {
    let config = if config.is_null() { &json!({}) } else { config };
    LocalJobRegistry::new(read(config)?).map_err(Failure::from)
}

/// Reads a configuration as a file would be read, except that it may hold
/// numbers that JSON lacks.
pub(crate) fn read<'a, T: Deserialize<'a>>(value: &'a Value) -> Result<T, Failure> {
    T::deserialize(Loose(value)).map_err(|error| {
        let text = error.to_string();
        // What serde itself refuses, such as a missing field, names no situation.
        match text.starts_with("invalid configuration") {
            true => Failure::refused(text),
            false => Failure::refused(format!("invalid configuration: {text}")),
        }
    })
}

/// A value whose numbers may be `NaN` or infinite.
#[derive(Clone, Copy)]
struct Loose<'a>(&'a Value);

type Unread = serde_json::Error;

impl<'de> Deserializer<'de> for Loose<'de> {
    type Error = Unread;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self.0 {
            Value::Object(_) if values::number(self.0).is_some() => {
                visitor.visit_f64(values::number(self.0).unwrap_or(f64::NAN))
            }
            Value::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(key, value)| (key.as_str(), Loose(value)));
                visitor.visit_map(MapDeserializer::new(fields))
            }
            Value::Array(items) => visitor.visit_seq(SeqDeserializer::new(items.iter().map(Loose))),
            plain => plain.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unread> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unread> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unread> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Unread> for Loose<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// `invariant`
pub(crate) fn invariant(op: &Op) -> Outcome {
    let broken =
        |rule: &dyn ToString| Failure::refused(format!("invariant violated: {}", rule.to_string()));
    let read = |value: &Value| Snapshot::deserialize(value).map_err(|error| broken(&error));
    let mut checker = Checker::default();
    if op.get("existing").is_some() {
        let existing = op.list("existing");
        let jobs = existing.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        checker
            .see_list(&jobs)
            .map_err(|violation| broken(&violation))?;
    }
    let Some(value) = op.get("snapshot") else {
        return Ok(json!("accepted"));
    };
    let job = read(value)?;
    checker.see(&job).map_err(|violation| broken(&violation))?;
    match op.text("owner_id").map(SessionId::new) {
        Some(owner) if job.is_terminal() => {
            let notice = NoticeId::new(InstanceId::fresh(), job.id.clone());
            let completion = Completion::new(job, OwnerKey::fresh(owner.clone()), notice);
            let told = checker.told(&completion, &owner);
            told.map_err(|violation| broken(&violation))?;
        }
        // Nobody is told of live and of unowned jobs, so ours has no word for a
        // completion of one.
        owner if owner != job.owner => return Err(broken(&"its owner is not the one to tell")),
        _ => {}
    }
    Ok(json!("accepted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_can_configure_what_json_cannot_say() {
        let value = json!({"waitTimeoutMs": {"$num": "NaN"}});
        assert!(
            read::<ToolsConfig>(&value)
                .unwrap_err()
                .text
                .contains("NaN")
        );
        assert!(read::<ToolsConfig>(&json!({"waitTimeoutMs": 5})).is_ok());
        let value = json!({"maxConcurrentJobsPerOwner": {"$num": "Infinity"}});
        assert!(read::<jobs_local::Config>(&value).is_err());
    }
}
