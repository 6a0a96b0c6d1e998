//! `job_list`: a line a job.

use std::num::NonZeroUsize;

use jobs::Delivery;
use jobs::tool::{
    Effect, Presentation, PresentationKind, Reply, ToolCall, ToolDefinition, ToolResult,
};
use serde_json::Value;

use super::value::{self, Job};
use super::{Failed, Shared, args};
use crate::fit;
use crate::line;

const NAME: &str = "job_list";

const EMPTY: &str = "(no background jobs)";

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition::new(
        NAME,
        "List the background jobs: id, kind, status, label.",
        args::schema(&[]),
        value::schema::<Vec<Job>>(),
        Effect::ReadOnly,
    )
}

pub(super) async fn run(
    shared: &Shared,
    call: &ToolCall,
    cap: Option<NonZeroUsize>,
) -> Result<Reply, Failed> {
    args::check(&[], &call.arguments)?;
    let jobs = shared.registry.list(&call.caller).await?;
    let jobs: Vec<Job> = jobs.iter().map(Job::from).collect();
    let result = ToolResult::success(text(&jobs, cap), value::to_json(&jobs)?);
    Ok(Reply::new(result, Delivery::none()))
}

pub(super) fn render(value: &Value, cap: Option<NonZeroUsize>) -> Result<String, Failed> {
    let jobs: Vec<Job> = value::from_json(NAME, value)?;
    Ok(text(&jobs, cap))
}

pub(super) fn present(arguments: &Value) -> Option<Presentation> {
    args::check(&[], arguments).ok()?;
    Some(Presentation::new(
        "List background jobs",
        PresentationKind::Read,
        None,
    ))
}

fn text(jobs: &[Job], cap: Option<NonZeroUsize>) -> String {
    if jobs.is_empty() {
        return EMPTY.to_owned();
    }
    let rows = jobs
        .iter()
        .map(|job| line::row(&job.id, &job.kind, job.status, &job.label, cap));
    fit::fit_rows(rows, cap)
}
