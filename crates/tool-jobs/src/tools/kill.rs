//! `job_kill`: asks a job to stop.

use std::num::NonZeroUsize;

use jobs::KilledBy;
use jobs::text::Echo;
use jobs::tool::{
    Effect, Presentation, PresentationKind, Reply, ToolCall, ToolDefinition, ToolResult,
};
use serde_json::Value;

use super::args::{self, Need, Param, Shape};
use super::output::job_id;
use super::value::{self, Job, Kill, KillOutcome};
use super::{Failed, Shared};
use crate::fit;
use crate::line;

const NAME: &str = "job_kill";

const PARAMS: [Param; 2] = [
    Param {
        name: "job_id",
        shape: Shape::Text,
        need: Need::Required,
        about: "",
    },
    Param {
        name: "reason",
        shape: Shape::Text,
        need: Need::Optional,
        about: "",
    },
];

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition::new(
        NAME,
        "Stop a background job. Its output can still be read.",
        args::schema(&PARAMS),
        value::schema::<Kill>(),
        Effect::Destructive,
    )
}

pub(super) async fn run(
    shared: &Shared,
    call: &ToolCall,
    cap: Option<NonZeroUsize>,
) -> Result<Reply, Failed> {
    let given = args::check(&PARAMS, &call.arguments)?;
    let id = job_id(given)?;
    let reason = args::text(given, "reason");
    let receipt = shared
        .registry
        .kill(&id, &call.caller, KilledBy::Model, reason)
        .await?;
    tracing::info!(
        job = %id,
        reason = %Echo::new(reason.unwrap_or_default()),
        "the model killed a job"
    );
    let (kill, delivery) = receipt.into_parts();
    let kill = Kill {
        outcome: match kill.outcome {
            jobs::KillOutcome::Requested => KillOutcome::CancellationRequested,
            jobs::KillOutcome::AlreadyFinished => KillOutcome::AlreadyFinished,
        },
        job: Job::from(&kill.job),
    };
    let result = ToolResult::success(text(&kill, cap), value::to_json(&kill)?);
    Ok(Reply::new(result, delivery))
}

pub(super) fn render(value: &Value, cap: Option<NonZeroUsize>) -> Result<String, Failed> {
    let kill: Kill = value::from_json(NAME, value)?;
    Ok(text(&kill, cap))
}

pub(super) fn present(arguments: &Value) -> Option<Presentation> {
    let given = args::check(&PARAMS, arguments).ok()?;
    let id = args::text(given, "job_id")?;
    Some(Presentation::new(
        format!("Kill background job {}", Echo::new(id)),
        PresentationKind::Execute,
        Some(id.into()),
    ))
}

fn text(kill: &Kill, cap: Option<NonZeroUsize>) -> String {
    let id = Echo::new(&kill.job.id);
    let text = match kill.outcome {
        KillOutcome::CancellationRequested => format!("requested cancellation of job {id}"),
        KillOutcome::AlreadyFinished => {
            let about = format!("job {id} had already finished ");
            let room = cap.map(|cap| cap.get().saturating_sub(about.len()));
            about + &line::status_line(kill.job.status, kill.job.detail.as_deref(), room)
        }
    };
    fit::fit_result(&text, cap)
}
