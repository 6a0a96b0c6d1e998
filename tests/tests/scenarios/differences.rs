//! Where this project differs from the recordings on purpose.

use std::path::Path;

use serde_json::Value;

use crate::load;
use crate::project::{Ending, Events};
use crate::situation::Side;

/// One listed difference.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) scenario: String,
    pub(crate) op: usize,
    pub(crate) field: Field,
    pub(crate) ours: Ours,
}

/// Which part of a record differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Events,
    Result,
    Throws,
}

/// What is asserted instead of the recording.
#[derive(Debug)]
pub(crate) enum Ours {
    /// Nothing: there is nothing of ours to look at.
    Skip,
    /// Exactly this.
    Value(Value),
}

impl Entry {
    /// Whether the entry speaks of how the operation ended, not of its events.
    pub(crate) fn is_of_ending(&self) -> bool {
        self.field != Field::Events
    }

    /// Whether `ours`, an ending, is what the entry asserts.
    pub(crate) fn admits_ending(&self, ours: &Ending) -> bool {
        let Ours::Value(asserted) = &self.ours else {
            return true;
        };
        let whole = asserted.as_object().filter(|fields| {
            fields.len() == 1 && (fields.contains_key("throws") || fields.contains_key("result"))
        });
        let record = match (whole, self.field) {
            (Some(whole), _) => Value::Object(whole.clone()),
            // "Nothing here" is true of the other kind of ending.
            (None, Field::Throws) if asserted.is_null() => {
                return matches!(ours, Ending::Result(_));
            }
            (None, Field::Throws) => serde_json::json!({ "throws": asserted }),
            (None, _) if asserted.is_null() && matches!(ours, Ending::Throws(_)) => return true,
            (None, _) => serde_json::json!({ "result": asserted }),
        };
        let asserted = Ending::of(&record, Side::Ours);
        match (&asserted, ours) {
            // A situation may be named instead of told.
            (Ending::Throws(text), Ending::Throws(ours)) => {
                asserted.admits(&Ending::Throws(ours.clone()))
                    || Ending::of(&record, Side::Reference).admits(&Ending::Throws(ours.clone()))
                    || ours.strip_prefix('<').and_then(|it| it.strip_suffix('>')) == Some(text)
            }
            _ => asserted.admits(ours),
        }
    }

    /// Whether `ours`, the events, are what the entry asserts.
    pub(crate) fn admits_events(&self, ours: &Events, recorded: Option<&Events>) -> bool {
        match &self.ours {
            Ours::Skip => true,
            Ours::Value(asserted) => {
                Events::of(asserted).is_some_and(|asserted| asserted.assert(ours, recorded))
            }
        }
    }
}

/// The list in `file`.
pub(crate) fn list(file: &Path) -> Result<Vec<Entry>, String> {
    let list = load::json(file)?;
    let entries = list
        .as_array()
        .ok_or_else(|| format!("{}: expected an array", file.display()))?;
    entries
        .iter()
        .map(|value| {
            entry(value).ok_or_else(|| {
                format!(
                    "{}: expected {{scenario, op, field, ours or skip, why}}, got {value}",
                    file.display()
                )
            })
        })
        .collect()
}

fn entry(value: &Value) -> Option<Entry> {
    let why = value.get("why")?.as_str()?;
    let skip = value
        .get("skip")
        .is_some_and(|skip| skip == &Value::Bool(true));
    let ours = match (value.get("ours"), skip) {
        (Some(ours), false) => Ours::Value(crate::values::resolve(ours).ok()?),
        (None, true) => Ours::Skip,
        _ => return None,
    };
    let entry = Entry {
        scenario: value.get("scenario")?.as_str()?.to_owned(),
        op: usize::try_from(value.get("op")?.as_u64()?).ok()?,
        field: match value.get("field").map(Value::as_str) {
            Some(Some("events")) => Field::Events,
            Some(Some("result")) => Field::Result,
            Some(Some("throws")) => Field::Throws,
            None if skip => Field::Result,
            _ => return None,
        },
        ours,
    };
    (!why.is_empty()).then_some(entry)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scenarios_refuse_a_difference_without_a_reason_or_a_value() {
        let whole = json!({"scenario": "1", "op": 0, "field": "result", "ours": 1, "why": "row"});
        assert!(entry(&whole).is_some());
        for absent in ["scenario", "op", "field", "ours", "why"] {
            let mut less = whole.clone();
            less.as_object_mut().unwrap().remove(absent);
            assert!(entry(&less).is_none(), "{absent}");
        }
    }
}
