//! The arguments of a call: checked field by field.

use std::time::Duration;

use serde_json::{Map, Value};

use super::config::{BackgroundRuns, BashToolConfig};
use crate::command::JobCommand;

const MAX_MS: f64 = 2_147_483_647.0;

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) command: String,
    description: Option<String>,
    workdir: Option<String>,
}

/// How to run it, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Foreground(Duration),
    Background(Option<Duration>),
}

impl Arguments {
    /// # Errors
    ///
    /// A line that names every field that is wrong.
    pub(super) fn parse(
        arguments: &Value,
        config: &BashToolConfig,
    ) -> Result<(Self, Mode), String> {
        let none = Map::new();
        let mut faults = Vec::new();
        let fields = match arguments {
            Value::Object(fields) => fields,
            Value::Null => &none,
            other => {
                return Err(format!(
                    "invalid arguments: expected an object, got {}",
                    name(other)
                ));
            }
        };
        let command = string(fields, "command", &mut faults);
        if fields.get("command").is_none_or(Value::is_null) {
            faults.push("command: expected a string, got nothing".to_owned());
        } else if command
            .as_deref()
            .is_some_and(|command| command.trim().is_empty())
        {
            faults.push("command: expected a non-empty string, got an empty one".to_owned());
        }
        let description = string(fields, "description", &mut faults);
        let workdir = string(fields, "workdir", &mut faults);
        let limit = limit(fields, &mut faults);
        let background = match fields.get("run_in_background") {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::Bool(true)) => {
                if config.background == BackgroundRuns::Withheld {
                    faults.push("run_in_background: expected no such field, background jobs are switched off".into());
                }
                true
            }
            Some(other) => {
                faults.push(format!(
                    "run_in_background: expected a boolean, got {}",
                    name(other)
                ));
                false
            }
        };
        let (Some(command), []) = (command, faults.as_slice()) else {
            return Err(format!("invalid arguments: {}", faults.join("; ")));
        };
        let mode = if background {
            Mode::Background(limit)
        } else {
            Mode::Foreground(
                limit
                    .unwrap_or(config.time_limit)
                    .min(config.max_time_limit),
            )
        };
        Ok((
            Self {
                command,
                description,
                workdir,
            },
            mode,
        ))
    }

    /// One line for people: the description, or else the command.
    pub(super) fn label(&self) -> String {
        let described = self
            .description
            .as_deref()
            .map(str::trim)
            .filter(|text| !text.is_empty());
        let line = jobs::text::one_line(described.unwrap_or_else(|| self.command.trim()));
        jobs::text::head(&line, 200).to_owned()
    }

    pub(super) fn into_command(self) -> JobCommand {
        let command = JobCommand::shell(self.command);
        match self.workdir {
            Some(workdir) => command.with_cwd(workdir),
            None => command,
        }
    }
}

fn string(fields: &Map<String, Value>, field: &str, faults: &mut Vec<String>) -> Option<String> {
    match fields.get(field) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => {
            faults.push(format!("{field}: expected a string, got {}", name(other)));
            None
        }
    }
}

fn limit(fields: &Map<String, Value>, faults: &mut Vec<String>) -> Option<Duration> {
    match fields.get("timeout_ms") {
        None | Some(Value::Null) => None,
        Some(Value::Number(number)) => {
            let ms = number.as_f64().filter(|ms| (1.0..=MAX_MS).contains(ms));
            if ms.is_none() {
                faults.push(format!(
                    "timeout_ms: expected 1 to {MAX_MS} milliseconds, got {number}"
                ));
            }
            ms.map(|ms| Duration::from_secs_f64(ms.floor() / 1_000.0))
        }
        Some(other) => {
            faults.push(format!(
                "timeout_ms: expected a number, got {}",
                name(other)
            ));
            None
        }
    }
}

fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(arguments: &Value) -> String {
        Arguments::parse(arguments, &BashToolConfig::new()).expect_err("refused")
    }

    #[test]
    fn every_wrong_field_is_named() {
        let text = refused(
            &json!({ "command": 1, "workdir": [], "timeout_ms": "1", "run_in_background": 1 }),
        );
        for field in [
            "command: ",
            "workdir: ",
            "timeout_ms: ",
            "run_in_background: ",
        ] {
            assert!(text.contains(field), "{text}");
        }
        assert!(refused(&json!({})).contains("command: expected a string, got nothing"));
        assert!(refused(&json!([])).contains("expected an object"));
        assert!(refused(&json!({ "command": " " })).contains("non-empty"));
        for limit in [json!(0), json!(-1), json!(2_147_483_648_u64), json!(1e300)] {
            assert!(
                refused(&json!({ "command": "a", "timeout_ms": limit })).contains("timeout_ms")
            );
        }
    }

    #[test]
    fn a_limit_means_what_the_mode_says() {
        let parse = |arguments: Value| {
            Arguments::parse(&arguments, &BashToolConfig::new())
                .expect("accepted")
                .1
        };
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        assert_eq!(
            parse(json!({ "command": "a", "x": 1 })),
            Mode::Foreground(minutes(2))
        );
        let hour = json!({ "command": "a", "timeout_ms": 3_600_000 });
        assert_eq!(parse(hour), Mode::Foreground(minutes(10)));
        let hour = json!({ "command": "a", "timeout_ms": 3_600_000, "run_in_background": true });
        assert_eq!(parse(hour), Mode::Background(Some(minutes(60))));
    }
}
