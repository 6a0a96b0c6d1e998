//! Which cap a text has (spec/tools.md, Bounded output).

use std::num::NonZeroUsize;

use jobs::contain::Contained;
use jobs::{Caller, JobId, JobRegistry, Snapshot};

/// The job's own output limit.
pub(crate) fn of_job(job: &Snapshot) -> Option<NonZeroUsize> {
    job.output_limit
        .map(|limit| NonZeroUsize::try_from(limit).unwrap_or(NonZeroUsize::MAX))
}

/// The output limit of the job that a call names, as far as `caller` may see
/// it: the limit of a foreign job is never used.
pub(crate) async fn of_call(
    registry: &dyn JobRegistry,
    arguments: &serde_json::Value,
    caller: &Caller,
) -> Option<NonZeroUsize> {
    let id: JobId = arguments.get("job_id")?.as_str()?.parse().ok()?;
    // A registry that panics here will do so again in the body, which says it.
    let looked = Contained::new(registry.get(&id, caller)).await;
    of_job(&looked.ok()?.ok()?)
}
