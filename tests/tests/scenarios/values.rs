//! The values that scenario files spell out: `$repeat`, `$concat`, `$num`, `$i`.

use serde_json::{Map, Number, Value, json};

/// The longest text that a `$repeat` may make, in bytes.
const LONGEST: usize = 256 << 20;

/// Replaces `$repeat`, `$concat` and every `$num` that JSON can hold.
pub(crate) fn resolve(value: &Value) -> Result<Value, String> {
    match value {
        Value::Array(items) => items.iter().map(resolve).collect(),
        Value::Object(fields) => match single(fields) {
            Some(("$repeat", argument)) => repeat(&resolve(argument)?),
            Some(("$concat", argument)) => concat(&resolve(argument)?),
            Some(("$num", argument)) => num(argument),
            _ => fields
                .iter()
                .map(|(key, value)| Ok((key.clone(), resolve(value)?)))
                .collect::<Result<Map<_, _>, String>>()
                .map(Value::Object),
        },
        _ => Ok(value.clone()),
    }
}

/// Replaces `$i` in every text of `value`.
pub(crate) fn numbered(value: &Value, i: u64) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("$i", &i.to_string())),
        Value::Array(items) => items.iter().map(|item| numbered(item, i)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), numbered(value, i)))
            .collect(),
        _ => value.clone(),
    }
}

/// A number, also one that JSON lacks.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Object(fields) => match single(fields) {
            Some(("$num", Value::String(text))) => spelled(text),
            _ => None,
        },
        _ => None,
    }
}

/// `value` as a model could send it: a number that JSON lacks becomes one that
/// no argument takes either.
pub(crate) fn sendable(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sendable).collect(),
        Value::Object(_) if number(value).is_some() => json!(-1),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), sendable(value)))
            .collect(),
        _ => value.clone(),
    }
}

/// The only field of an object.
fn single(fields: &Map<String, Value>) -> Option<(&str, &Value)> {
    let mut all = fields.iter();
    match (all.next(), all.next()) {
        (Some((key, value)), None) => Some((key, value)),
        _ => None,
    }
}

fn repeat(argument: &Value) -> Result<Value, String> {
    let wrong = || format!("$repeat: expected [text, count], got {argument}");
    let (text, count) = match argument.as_array().map(Vec::as_slice) {
        Some([Value::String(text), count]) => (text, count.as_u64().ok_or_else(wrong)?),
        _ => return Err(wrong()),
    };
    let count = usize::try_from(count).map_err(|_| wrong())?;
    if text.len().saturating_mul(count) > LONGEST {
        return Err(format!(
            "$repeat: expected at most {LONGEST} bytes, got more"
        ));
    }
    Ok(Value::String(text.repeat(count)))
}

fn concat(argument: &Value) -> Result<Value, String> {
    let wrong = || format!("$concat: expected an array of texts, got {argument}");
    let parts = argument.as_array().ok_or_else(wrong)?;
    parts
        .iter()
        .map(|part| part.as_str().ok_or_else(wrong))
        .collect::<Result<String, _>>()
        .map(Value::String)
}

/// The number that `argument` spells; one that JSON lacks stays as it is.
fn num(argument: &Value) -> Result<Value, String> {
    if argument.is_number() {
        return Ok(argument.clone());
    }
    let wrong = || format!("$num: expected a number, got {argument}");
    let number = argument.as_str().and_then(spelled).ok_or_else(wrong)?;
    if number.fract() == 0.0 && number.abs() < 1e18 {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
        return Ok(json!(number as i64));
    }
    Ok(Number::from_f64(number).map_or_else(|| json!({ "$num": argument }), Value::Number))
}

/// `NaN`, `Infinity`, `1e3`, `2^53`, `2^31-1`.
fn spelled(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let (base, rest) = text.split_once('^')?;
    let base: f64 = base.trim().parse().ok()?;
    let rest = rest.replace("**", "");
    let at = rest
        .find(['+', '-'])
        .filter(|at| *at > 0)
        .unwrap_or(rest.len());
    let power: f64 = rest[..at].trim().parse().ok()?;
    let plus: f64 = match rest[at..].replace(' ', "").as_str() {
        "" => 0.0,
        plus => plus.parse().ok()?,
    };
    Some(base.powf(power) + plus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_scenarios_are_spelled_out() {
        let value =
            json!({"a": {"$concat": [{"$repeat": ["xy", 2]}, "z"]}, "b": [{"$num": "2^53"}]});
        let resolved = resolve(&value).unwrap();
        assert_eq!(
            resolved,
            json!({"a": "xyxyz", "b": [9_007_199_254_740_992_u64]})
        );
        assert_eq!(spelled("2^31-1"), Some(2_147_483_647.0));
        assert!(
            number(&resolve(&json!({"$num": "NaN"})).unwrap())
                .unwrap()
                .is_nan()
        );
        assert_eq!(sendable(&json!([{"$num": "NaN"}])), json!([-1]));
        assert!(resolve(&json!({"$num": "many"})).is_err());
        assert!(resolve(&json!({"$repeat": ["x", -1]})).is_err());
    }
}
