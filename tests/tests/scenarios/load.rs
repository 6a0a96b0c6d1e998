//! Reading a folder of recorded scenarios.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::values;

/// A script of operations with what the reference answered to each.
pub(crate) struct Scenario {
    /// The file name without its ending.
    pub(crate) name: String,
    /// `jobs`, `toolJobs`, `agents`, `observe`.
    pub(crate) config: Value,
    /// The operations, their values resolved.
    pub(crate) ops: Vec<Value>,
    /// One record an operation, as recorded.
    pub(crate) expected: Vec<Value>,
}

/// Every `NAME.json` of `folder` that has a `NAME.expected.json`, by the number
/// that its name begins with.
pub(crate) fn folder(folder: &Path) -> Result<Vec<Scenario>, String> {
    let entries = fs::read_dir(folder)
        .map_err(|error| format!("scenario folder {}: {error}", folder.display()))?;
    let mut scenarios = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|error| format!("scenario folder {}: {error}", folder.display()))?
            .path();
        let Some(name) = name_of(&path) else { continue };
        let expected = folder.join(format!("{name}.expected.json"));
        if expected.is_file() {
            scenarios.push(scenario(name, &path, &expected)?);
        }
    }
    if scenarios.is_empty() {
        return Err(format!(
            "scenario folder {}: expected at least one NAME.json with a NAME.expected.json, got 0",
            folder.display()
        ));
    }
    scenarios.sort_by_key(|scenario| (number(&scenario.name), scenario.name.clone()));
    Ok(scenarios)
}

/// Reads one JSON file.
pub(crate) fn json(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The name of a scenario file; none for any other file.
fn name_of(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    let name = file.strip_suffix(".json")?;
    (!name.ends_with(".expected")).then(|| name.to_owned())
}

fn number(name: &str) -> u64 {
    let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(u64::MAX)
}

fn scenario(name: String, script: &Path, expected: &Path) -> Result<Scenario, String> {
    let wrong = |what: &str| format!("scenario {name}: {what}");
    let script = json(script)?;
    let expected = json(expected)?;
    let ops = script
        .get("ops")
        .and_then(Value::as_array)
        .ok_or_else(|| wrong("expected an array \"ops\""))?;
    let expected = expected
        .get("results")
        .and_then(Value::as_array)
        .ok_or_else(|| wrong("expected an array \"results\" beside it"))?;
    let ops = ops
        .iter()
        .map(values::resolve)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| wrong(&error))?;
    let config = script.get("config").cloned().unwrap_or(Value::Null);
    let config = values::resolve(&config).map_err(|error| wrong(&error))?;
    Ok(Scenario {
        config,
        ops,
        expected: expected.clone(),
        name,
    })
}
