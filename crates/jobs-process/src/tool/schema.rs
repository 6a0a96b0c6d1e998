//! What the model is told of the tool. The texts do not change from call to call.

use serde_json::{Value, json};

use super::config::{BackgroundRuns, BashToolConfig, OnTimeLimit};

pub(super) fn description(config: &BashToolConfig) -> String {
    let end = match config.on_time_limit {
        OnTimeLimit::Promote => "becomes a background job",
        OnTimeLimit::Kill => "is ended",
    };
    format!(
        "Run a shell command and get its output and exit code. Each run is a new shell without \
         terminal or input. A run that takes longer than timeout_ms {end}."
    )
}

pub(super) fn input(config: &BashToolConfig) -> Value {
    let mut properties = json!({
        "command": { "type": "string" },
        "description": { "type": "string", "description": "What it does, in a few words" },
        "workdir": { "type": "string" },
        "timeout_ms": { "type": "number" },
    });
    if config.background == BackgroundRuns::Offered {
        properties["run_in_background"] = json!({
            "type": "boolean",
            "description": "Answer at once with a job id",
        });
    }
    json!({ "type": "object", "properties": properties, "required": ["command"] })
}

pub(super) fn output() -> Value {
    let string = json!({ "type": "string" });
    let variant = |kind: &str, properties: Value, required: &[&str]| {
        let mut all = json!({ "kind": { "const": kind } });
        if let (Value::Object(all), Value::Object(more)) = (&mut all, properties) {
            all.extend(more);
        }
        json!({
            "type": "object",
            "properties": all,
            "required": required,
            "additionalProperties": false,
        })
    };
    json!({
        "type": "object",
        "oneOf": [
            variant("background", json!({ "jobId": string }), &["kind", "jobId"]),
            variant(
                "promoted",
                json!({ "jobId": string, "output": string }),
                &["kind", "jobId", "output"],
            ),
            variant(
                "foreground",
                json!({
                    "output": string,
                    "detail": string,
                    "timedOut": { "type": "boolean" },
                    "truncated": { "type": "boolean" },
                    "facts": { "type": "object" },
                }),
                &["kind", "output", "detail", "timedOut", "truncated", "facts"],
            ),
        ],
    })
}
