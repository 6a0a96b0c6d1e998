//! The canonical values of the tools: what programs read. Texts are as the
//! producers gave them.

use jobs::{Cause, Snapshot, Status};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Failed;

/// A background job.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Span {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// What `job_kill` answers.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kill {
    pub(crate) outcome: KillOutcome,
    pub(crate) job: Job,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
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

impl Output {
    /// The value as JSON. The text, which may be long, is moved.
    pub(super) fn into_json(mut self) -> Result<Value, Failed> {
        let text = std::mem::take(&mut self.text);
        let mut value = to_json(&self)?;
        value["text"] = Value::String(text);
        Ok(value)
    }
}

/// A value as JSON.
pub(super) fn to_json<T: Serialize>(value: &T) -> Result<Value, Failed> {
    serde_json::to_value(value).map_err(|error| Failed::new(error.to_string()))
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
