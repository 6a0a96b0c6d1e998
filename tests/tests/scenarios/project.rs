//! What of an operation's record is compared, and how.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value, json};

use crate::situation::{self, Side};

/// The words of the reference's answers. A key outside of them may be ours
/// alone and is then ignored; one of them must not appear where the reference
/// did not say it.
const KEYS_OF_REFERENCE: &[&str] = &[
    "card",
    "detail",
    "finishedAt",
    "id",
    "isError",
    "job",
    "kind",
    "label",
    "outcome",
    "outputLimitBytes",
    "ownerSession",
    "pending",
    "rawInput",
    "reported",
    "result",
    "snapshot",
    "startedAt",
    "state",
    "status",
    "text",
    "throws",
    "title",
    "value",
];

/// The result of an operation that has none but a word of whoever recorded it.
pub(crate) const DONE: &str = "<done>";

/// The state of a call that has not ended.
pub(crate) const NOT_YET: &str = "<not yet>";

/// How an operation ended, ready to be compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ending {
    Result(Value),
    Throws(String),
}

impl Ending {
    /// Of a record `{ result }` or `{ throws }`.
    pub(crate) fn of(record: &Value, side: Side) -> Self {
        match record.get("throws") {
            Some(Value::String(text)) => Self::Throws(situation::of(text, side)),
            Some(other) => Self::Throws(other.to_string()),
            None => Self::Result(result(record.get("result").unwrap_or(&Value::Null), side)),
        }
    }

    /// Whether `ours` is what this recorded ending asks for.
    pub(crate) fn admits(&self, ours: &Self) -> bool {
        match (self, ours) {
            (Self::Result(expected), Self::Result(ours)) => admits(expected, ours),
            (Self::Throws(expected), Self::Throws(ours)) => expected == ours,
            _ => false,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(value) => write!(f, "result {value}"),
            Self::Throws(situation) => write!(f, "throws {situation:?}"),
        }
    }
}

/// A result without what is not compared: times, the text of a situation, the
/// part of an error that a cut left over.
fn result(value: &Value, side: Side) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| result(item, side)).collect(),
        Value::Object(fields) if fields.contains_key("isError") => tool_result(fields, side),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| {
                let value = match (key.as_str(), value) {
                    ("startedAt" | "finishedAt", Value::Number(_)) => json!("<ts>"),
                    ("throws", Value::String(text)) => json!(situation::of(text, side)),
                    _ => result(value, side),
                };
                (key.clone(), value)
            })
            .collect(),
        _ => value.clone(),
    }
}

fn tool_result(fields: &Map<String, Value>, side: Side) -> Value {
    let mut kept = Map::new();
    let failed = fields.get("isError") == Some(&Value::Bool(true));
    if let Some(text) = fields.get("text") {
        let text = match text.as_str() {
            Some(text) if failed => match cut(text) {
                Some(bytes) => json!(format!("<cut at {bytes} bytes>")),
                None => json!(situation::of(text, side)),
            },
            _ => text.clone(),
        };
        kept.insert("text".to_owned(), text);
    }
    kept.insert("isError".to_owned(), json!(failed));
    if let Some(value) = fields.get("value") {
        kept.insert("value".to_owned(), result(value, side));
    }
    Value::Object(kept)
}

/// The length in bytes of a text that was cut to a cap.
fn cut(text: &str) -> Option<usize> {
    const MARKER: &str = "\n[result truncated]";
    let cut = text.ends_with(MARKER) || (!text.is_empty() && MARKER.ends_with(text));
    cut.then_some(text.len())
}

/// Equality, but for keys that only ours has.
fn admits(expected: &Value, ours: &Value) -> bool {
    match (expected, ours) {
        (Value::Object(expected), Value::Object(ours)) => {
            expected
                .iter()
                .all(|(key, value)| ours.get(key).is_some_and(|ours| admits(value, ours)))
                && ours.keys().all(|key| {
                    expected.contains_key(key) || !KEYS_OF_REFERENCE.contains(&key.as_str())
                })
        }
        (Value::Array(expected), Value::Array(ours)) => {
            expected.len() == ours.len()
                && expected
                    .iter()
                    .zip(ours)
                    .all(|(expected, ours)| admits(expected, ours))
        }
        (Value::String(word), Value::String(ours)) if ours == NOT_YET => {
            !matches!(word.as_str(), "done" | "failed")
        }
        (Value::String(_), Value::String(ours)) if ours == DONE => true,
        (Value::Number(expected), Value::Number(ours)) => expected.as_f64() == ours.as_f64(),
        _ => expected == ours,
    }
}

/// The events of an operation, ready to be compared.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Events {
    /// `run`, `cancel` and `notice`, in order.
    pub(crate) ordered: Vec<Value>,
    /// The handles that completed.
    pub(crate) completed: BTreeSet<String>,
    /// Which observer heard of which owner.
    pub(crate) changed: BTreeSet<(String, String)>,
}

impl Events {
    /// Of a list of events; none for a list that says only how many there were.
    pub(crate) fn of(events: &Value) -> Option<Self> {
        let mut projected = Self::default();
        for event in events.as_array().map(Vec::as_slice).unwrap_or_default() {
            if event.is_string() {
                return None;
            }
            let name = |key: &str| match event.get(key) {
                Some(Value::String(text)) => text.clone(),
                other => other.unwrap_or(&Value::Null).to_string(),
            };
            match event.get("ev").and_then(Value::as_str) {
                Some("run") => projected.keep(event, &["ev", "job"]),
                Some("cancel") => projected.keep(event, &["ev", "job", "reason"]),
                Some("notice") => {
                    projected.keep(event, &["ev", "lane", "agent", "text", "summary"]);
                }
                Some("violation") => projected.keep(event, &["ev", "rule"]),
                Some("completed") => {
                    projected.completed.insert(name("handle"));
                }
                Some("changed") => {
                    projected.changed.insert((name("observer"), name("owner")));
                }
                _ => {}
            }
        }
        Some(projected)
    }

    fn keep(&mut self, event: &Value, keys: &[&str]) {
        let kept = keys
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), event.get(*key)?.clone())));
        self.ordered.push(kept.collect());
    }

    /// Whether `ours` is what these asserted events say. A set of which they
    /// say nothing is empty or as it was recorded; a key of which they say
    /// nothing is free.
    pub(crate) fn assert(&self, ours: &Self, recorded: Option<&Self>) -> bool {
        let set = |asserted: &BTreeSet<_>, ours: &BTreeSet<_>, recorded: Option<&BTreeSet<_>>| {
            asserted == ours || asserted.is_empty() && recorded == Some(ours)
        };
        let names = |events: &Self| -> BTreeSet<(String, String)> {
            let names = events.completed.iter();
            names.map(|name| (name.clone(), String::new())).collect()
        };
        let recorded_names = recorded.map(names);
        self.ordered.len() == ours.ordered.len()
            && self
                .ordered
                .iter()
                .zip(&ours.ordered)
                .all(|(asserted, ours)| {
                    let mut keys = asserted.as_object().into_iter().flatten();
                    keys.all(|(key, value)| ours.get(key) == Some(value))
                })
            && set(&self.changed, &ours.changed, recorded.map(|it| &it.changed))
            && set(&names(self), &names(ours), recorded_names.as_ref())
    }
}

impl fmt::Display for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "events [")?;
        for event in &self.ordered {
            write!(f, "{event} ")?;
        }
        let Self {
            completed, changed, ..
        } = self;
        write!(f, "completed {completed:?} changed {changed:?}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(record: &Value, side: Side) -> Ending {
        Ending::of(record, side)
    }

    #[test]
    fn scenarios_ignore_keys_of_ours_and_no_others() {
        let expected = ending(&json!({"result": {"id": "a-1"}}), Side::Reference);
        let ours = |value| ending(&json!({"result": value}), Side::Ours);
        assert!(expected.admits(&ours(json!({"id": "a-1", "cause": "self"}))));
        assert!(!expected.admits(&ours(json!({"id": "a-1", "detail": "more"}))));
        assert!(!expected.admits(&ours(json!({"cause": "self"}))));
        assert!(!expected.admits(&ours(json!(null))));
    }

    #[test]
    fn scenarios_compare_cut_errors_by_length_and_marker() {
        let result = |text: &str| json!({"result": {"text": text, "isError": true}});
        let expected = ending(&result("esult truncated]"), Side::Reference);
        assert!(expected.admits(&ending(&result("esult truncated]"), Side::Ours)));
        assert!(!expected.admits(&ending(&result("result truncated]"), Side::Ours)));
        assert!(!expected.admits(&ending(&result("Error: bad"), Side::Ours)));
    }

    #[test]
    fn scenarios_compare_order_only_where_it_counts() {
        let run = json!({"ev": "run", "job": "a"});
        let cancel = json!({"ev": "cancel", "job": "a", "reason": null});
        let changed = json!({"ev": "changed", "observer": "host", "owner": null});
        let one = Events::of(&json!([run, changed, cancel, changed])).unwrap();
        assert_eq!(
            Some(&one),
            Events::of(&json!([changed, run, cancel])).as_ref()
        );
        assert_ne!(
            Some(&one),
            Events::of(&json!([changed, cancel, run])).as_ref()
        );
        assert_ne!(Some(&one), Events::of(&json!([run, cancel])).as_ref());
        assert_eq!(Events::of(&json!(["<12 events>"])), None);
    }
}
