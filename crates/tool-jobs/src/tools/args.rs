//! Arguments of the tools: one table for the schema that a model sees and the
//! check of what it sends.

use std::fmt::Write as _;

use jobs::text::Echo;
use serde_json::{Map, Value, json};

use super::Failed;

/// One argument of a tool.
pub(super) struct Param {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) need: Need,
    /// For the model; every request pays for it.
    pub(super) about: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Flag,
    Number,
    Offset,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    Optional,
}

/// The input schema of a tool with these arguments.
pub(super) fn schema(params: &[Param]) -> Value {
    let properties: Map<String, Value> = params
        .iter()
        .map(|param| (param.name.to_owned(), param.schema()))
        .collect();
    let required: Vec<&str> = params
        .iter()
        .filter(|param| param.need == Need::Required)
        .map(|param| param.name)
        .collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Checks the types of all arguments; keys that are not in the table are
/// ignored.
pub(super) fn check<'a>(
    params: &[Param],
    arguments: &'a Value,
) -> Result<&'a Map<String, Value>, Failed> {
    let Value::Object(given) = arguments else {
        return Err(Failed::new(format!(
            "invalid arguments: expected an object, got {}",
            got(Some(arguments))
        )));
    };
    let mut faults = String::new();
    for param in params {
        let value = given.get(param.name);
        let fits = value.map_or(param.need == Need::Optional, |value| {
            param.shape.fits(value)
        });
        if !fits {
            let separator = if faults.is_empty() { "" } else { ";" };
            let expected = param.shape.expected();
            let _infallible = write!(
                faults,
                "{separator} \"{}\": expected {expected}, got {}",
                param.name,
                got(value)
            );
        }
    }
    if faults.is_empty() {
        Ok(given)
    } else {
        Err(Failed::new(format!("invalid arguments:{faults}")))
    }
}

/// The text of an argument that was checked.
pub(super) fn text<'a>(given: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    given.get(name)?.as_str()
}

impl Param {
    fn schema(&self) -> Value {
        let mut schema = json!({ "type": self.shape.json_type() });
        if self.shape == Shape::Offset {
            schema["minimum"] = json!(0);
        }
        if !self.about.is_empty() {
            schema["description"] = json!(self.about);
        }
        schema
    }
}

impl Shape {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Flag => value.is_boolean(),
            Self::Number => value.is_number(),
            Self::Offset => offset(value).is_some(),
        }
    }

    fn json_type(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Flag => "boolean",
            Self::Number => "number",
            Self::Offset => "integer",
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Flag => "a boolean",
            Self::Number => "a number",
            Self::Offset => "a byte offset: a whole number from 0",
        }
    }
}

/// A byte offset. JSON does not tell `3` from `3.0`, so neither does this.
pub(super) fn offset(value: &Value) -> Option<u64> {
    /// Up to here a floating-point number is exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number in this range is the same in both types"
        )]
        (number.fract() == 0.0 && (0.0..=EXACT).contains(&number)).then_some(number as u64)
    })
}

/// What was given, for an error.
fn got(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => format!("\"{}\"", Echo::new(text)),
        Some(Value::Array(_)) => "a list".to_owned(),
        Some(Value::Object(_)) => "an object".to_owned(),
        Some(scalar @ (Value::Null | Value::Bool(_) | Value::Number(_))) => scalar.to_string(),
    }
}
