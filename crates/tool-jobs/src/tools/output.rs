//! `job_output`: what a job wrote, and how it stands.

use std::num::NonZeroUsize;
use std::time::Duration;

use jobs::text::Echo;
use jobs::tool::{
    Effect, Presentation, PresentationKind, Reply, ToolCall, ToolDefinition, ToolResult,
};
use jobs::{Caller, Delivery, Delta, JobId, JobRegistry, JobRegistryExt as _, Waited};
use serde_json::{Map, Value};

use super::args::{self, Need, Param, Shape};
use super::value::{self, Job, Output, Span};
use super::{Failed, Shared, page, wait};
use crate::config::ToolsConfig;
use crate::fit::{self, Fitted, Truncation};
use crate::line;
use crate::sync::sleep;

const NAME: &str = fit::READER;

const PARAMS: [Param; 4] = [
    Param {
        name: "job_id",
        shape: Shape::Text,
        need: Need::Required,
        about: "",
    },
    Param {
        name: "wait",
        shape: Shape::Flag,
        need: Need::Optional,
        about: "Wait for the end of the job. Only if you are blocked.",
    },
    Param {
        name: "timeout_ms",
        shape: Shape::Number,
        need: Need::Optional,
        about: "Longest wait. The job goes on after it.",
    },
    Param {
        name: "from",
        shape: Shape::Offset,
        need: Need::Optional,
        about: "Byte offset to read again from, as a marker in the output names it. \
             Does not move the place of the next read.",
    },
];

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition::new(
        NAME,
        "Read what a background job wrote since the last read (at its end: its result), \
         then a line with its status.",
        args::schema(&PARAMS),
        value::schema::<Output>(),
        Effect::ReadOnly,
    )
    .bounding_itself()
}

pub(super) async fn run(
    shared: &Shared,
    call: &ToolCall,
    cap: Option<NonZeroUsize>,
) -> Result<Reply, Failed> {
    let given = args::check(&PARAMS, &call.arguments)?;
    let id = job_id(given)?;
    let registry = &*shared.registry;
    let waited = match wait_for(given, &shared.config)? {
        Some(timeout) => Some(settle(registry, &id, call, timeout).await?),
        None => None,
    };
    match given.get("from").and_then(args::offset) {
        None => {
            let receipt = registry.read(&id, &call.caller).await?;
            // Not before the read holds a share of its own: a gap would let a
            // reporter tell what this answer tells.
            drop(waited);
            let (delta, delivery) = receipt.into_parts();
            let (text, output) = fresh(delta, cap, shared.config.truncation());
            let result = ToolResult::success(text, output.into_json()?);
            Ok(Reply::new(result, delivery))
        }
        Some(from) => again(registry, &id, &call.caller, from, cap, waited).await,
    }
}

/// Waits, and keeps the share of the wait.
async fn settle(
    registry: &dyn JobRegistry,
    id: &JobId,
    call: &ToolCall,
    timeout: Duration,
) -> Result<Waited, Failed> {
    tokio::select! {
        biased;
        waited = registry.settled_or(id, &call.caller, sleep(timeout)) => Ok(waited?),
        () = call.cancel.cancelled() => Err(Failed::new("wait aborted")),
    }
}

/// A read that goes on where the last one ended.
fn fresh(delta: Delta, cap: Option<NonZeroUsize>, truncation: Truncation) -> (String, Output) {
    let job = Job::from(&delta.job);
    let range = Span {
        from: delta.range.start,
        to: delta.range.end,
    };
    let fitted = fitted(&delta.text, &job, cap, truncation, range.from);
    let omitted = (fitted.omitted > 0 && !delta.text.is_empty()).then(|| Span {
        from: range.from,
        // A rendering that is not the output itself does not say where its
        // parts come from.
        to: if delta.text.len() as u64 == range.to - range.from {
            range.from + fitted.omitted as u64
        } else {
            range.to
        },
    });
    let output = Output {
        text: delta.text,
        job,
        range: Some(range),
        omitted,
    };
    (fitted.text, output)
}

/// A read of what was read before. It moves nothing; but one that waited tells
/// the end of the job.
async fn again(
    registry: &dyn JobRegistry,
    id: &JobId,
    caller: &Caller,
    from: u64,
    cap: Option<NonZeroUsize>,
    waited: Option<Waited>,
) -> Result<Reply, Failed> {
    let page = page::read(registry, id, caller, from, cap).await?;
    let delivery = match waited {
        Some(Waited::Settled(receipt)) => receipt.into_parts().1,
        Some(Waited::Live(_)) | None => Delivery::none(),
    };
    let output = Output {
        range: Some(Span {
            from: page.delta.range.start,
            to: page.delta.range.end,
        }),
        job: Job::from(&page.delta.job),
        text: page.delta.text,
        omitted: None,
    };
    let result = ToolResult::success(page.text, output.into_json()?);
    Ok(Reply::new(result, delivery))
}

pub(super) fn render(
    value: &Value,
    cap: Option<NonZeroUsize>,
    truncation: Truncation,
) -> Result<String, Failed> {
    let output: Output = value::from_json(NAME, value)?;
    // Without a range there is no offset that a marker could name.
    let (truncation, from) = output
        .range
        .map_or((Truncation::Plain, 0), |range| (truncation, range.from));
    Ok(fitted(&output.text, &output.job, cap, truncation, from).text)
}

fn fitted(
    text: &str,
    job: &Job,
    cap: Option<NonZeroUsize>,
    truncation: Truncation,
    from: u64,
) -> Fitted {
    let body = fit::body(text);
    // What stands before a whole status line: the body, or at least the marker
    // that says that it was cut.
    let content = body.strip_suffix('\n').unwrap_or(body);
    let before = content.len().min(fit::MARKER_BYTES) + 1;
    let room = cap.map(|cap| cap.get().saturating_sub(before));
    let status = line::status_line(job.status, job.detail.as_deref(), room);
    fit::fit_output(body, &status, cap, truncation, from)
}

pub(super) fn present(arguments: &Value) -> Option<Presentation> {
    let given = args::check(&PARAMS, arguments).ok()?;
    let id = args::text(given, "job_id")?;
    Some(Presentation::new(
        format!("Read output from background job {}", Echo::new(id)),
        PresentationKind::Read,
        Some(id.into()),
    ))
}

/// The job that a checked call names.
pub(super) fn job_id(given: &Map<String, Value>) -> Result<JobId, Failed> {
    match args::text(given, "job_id") {
        Some(id) if !id.is_empty() => Ok(id.parse()?),
        _ => Err(Failed::new(
            "invalid job_id: expected a non-empty string, got \"\"",
        )),
    }
}

/// How long a checked call wants to wait, if at all.
fn wait_for(given: &Map<String, Value>, config: &ToolsConfig) -> Result<Option<Duration>, Failed> {
    if given.get("wait").and_then(Value::as_bool) != Some(true) {
        return Ok(None);
    }
    let Some(asked) = given.get("timeout_ms").and_then(Value::as_f64) else {
        return Ok(Some(config.wait_timeout()));
    };
    let asked = wait::wait_timeout(asked).map_err(|invalid| Failed::new(invalid.to_string()))?;
    Ok(Some(asked.min(config.max_wait_timeout())))
}
