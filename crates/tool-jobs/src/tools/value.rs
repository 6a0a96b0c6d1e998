//! The canonical values of the tools: what programs read. Texts are as the
//! producers gave them.

use jobs::{Cause, Snapshot, Status};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::Failed;

/// A background job.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Job {
    pub(crate) id: String,
    /// The namespace of the producer.
    pub(crate) kind: String,
    pub(crate) label: String,
    #[schemars(with = "String", extend("enum" = STATUSES))]
    pub(crate) status: Status,
    /// What the job says of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) detail: Option<String>,
    /// Who or what ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("enum" = CAUSES))]
    pub(crate) cause: Option<Cause>,
    /// The producer's own facts about the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub(crate) facts: Option<Value>,
    /// Unix epoch, milliseconds.
    pub(crate) started_at: u64,
    /// Unix epoch, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub(crate) finished_at: Option<u64>,
}

const STATUSES: [Status; 5] = [
    Status::Running,
    Status::Stopping,
    Status::Completed,
    Status::Killed,
    Status::Failed,
];

const CAUSES: [Cause; 10] = [
    Cause::Itself,
    Cause::Model,
    Cause::User,
    Cause::Host,
    Cause::OwnerClosed,
    Cause::Shutdown,
    Cause::Limit,
    Cause::Signal,
    Cause::Orphaned,
    Cause::Lost,
];

/// What `job_output` answers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Output {
    /// The output, before it was cut for the model.
    pub(crate) text: String,
    pub(crate) job: Job,
    /// Which bytes of the job's output the text shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub(crate) range: Option<Span>,
    /// Where the bytes lie that the model was not shown; of two streams, some of these were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Span")]
    pub(crate) omitted: Option<Span>,
}

/// Byte offsets from the start of the job; `to` is not part of it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Span {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// What `job_kill` answers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kill {
    pub(crate) outcome: KillOutcome,
    pub(crate) job: Job,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KillOutcome {
    CancellationRequested,
    AlreadyFinished,
}

impl From<&Snapshot> for Job {
    fn from(job: &Snapshot) -> Self {
        let end = job.end();
        Self {
            id: job.id.to_string(),
            kind: job.kind().as_str().to_owned(),
            label: job.label.to_string(),
            status: job.status(),
            detail: job.detail().map(str::to_owned),
            cause: end.map(|end| end.cause),
            facts: end.and_then(|end| end.facts.as_deref().cloned()),
            started_at: job.started_at.0,
            finished_at: end.map(|end| end.finished_at.0),
        }
    }
}

/// The JSON Schema of a value, without references. Nor has it formats of numbers (`uint64`): they
/// are none of JSON Schema's, and validators complain of what they do not know.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        let plain = RecursiveTransform(|schema: &mut Schema| drop(schema.remove("format")));
        settings.transforms.push(Box::new(plain));
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}

impl From<Job> for Value {
    fn from(job: Job) -> Self {
        object([
            ("id", Some(job.id.into())),
            ("kind", Some(job.kind.into())),
            ("label", Some(job.label.into())),
            ("status", Some(job.status.as_str().into())),
            ("detail", job.detail.map(Self::from)),
            ("cause", job.cause.map(|cause| json!(cause))),
            ("facts", job.facts),
            ("startedAt", Some(job.started_at.into())),
            ("finishedAt", job.finished_at.map(Self::from)),
        ])
    }
}

impl From<Output> for Value {
    fn from(output: Output) -> Self {
        object([
            ("text", Some(output.text.into())),
            ("job", Some(output.job.into())),
            ("range", output.range.map(Self::from)),
            ("omitted", output.omitted.map(Self::from)),
        ])
    }
}

impl From<Span> for Value {
    fn from(span: Span) -> Self {
        object([
            ("from", Some(span.from.into())),
            ("to", Some(span.to.into())),
        ])
    }
}

impl From<Kill> for Value {
    fn from(kill: Kill) -> Self {
        let outcome = match kill.outcome {
            KillOutcome::CancellationRequested => "cancellation-requested",
            KillOutcome::AlreadyFinished => "already-finished",
        };
        object([
            ("outcome", Some(outcome.into())),
            ("job", Some(kill.job.into())),
        ])
    }
}

/// The object of the fields that are there. Texts, which may be long, are moved into it.
fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let mut object = Map::new();
    for (name, value) in fields {
        if let Some(value) = value {
            object.insert(name.to_owned(), value);
        }
    }
    Value::Object(object)
}

/// Reads a value that a policy put in the place of a tool's own.
pub(super) fn from_json<T: DeserializeOwned>(tool: &str, value: &Value) -> Result<T, Failed> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let at = match path.as_str() {
            "." => "value".to_owned(),
            path if path.starts_with('[') => format!("value{path}"),
            path => format!("value.{path}"),
        };
        Failed::one_line(&format!(
            "tool \"{tool}\" returned invalid output: {at}: {}",
            error.inner()
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    fn job() -> Job {
        Job {
            id: "bash-1".to_owned(),
            kind: "bash".to_owned(),
            label: "a\nlabel".to_owned(),
            status: Status::Killed,
            detail: Some("exit code: 1".to_owned()),
            cause: Some(Cause::OwnerClosed),
            facts: Some(json!({ "exitCode": 1 })),
            started_at: 1,
            finished_at: Some(2),
        }
    }

    /// What is written has the names that are read, and of what is there all.
    #[track_caller]
    fn reads_back<T: Into<Value> + DeserializeOwned + Debug>(value: T, fields: usize) {
        let before = format!("{value:?}");
        let written: Value = value.into();
        assert_eq!(written.as_object().map(Map::len), Some(fields));
        let read: T = from_json("any", &written).expect("of the shape");
        assert_eq!(format!("{read:?}"), before);
    }

    #[test]
    fn what_is_written_reads_back() {
        let span = Span { from: 3, to: 7 };
        let output = |omitted| Output {
            text: "text".to_owned(),
            job: job(),
            range: Some(span),
            omitted,
        };
        reads_back(job(), 9);
        reads_back(span, 2);
        reads_back(output(Some(span)), 4);
        reads_back(output(None), 3);
        for outcome in [
            KillOutcome::CancellationRequested,
            KillOutcome::AlreadyFinished,
        ] {
            reads_back(
                Kill {
                    outcome,
                    job: job(),
                },
                2,
            );
        }
    }
}
