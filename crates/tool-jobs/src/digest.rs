//! What an agent should know of its jobs when its context starts afresh
//! (spec/tools.md, After a compaction).

use jobs::{Caller, Error, JobRegistry, Snapshot};

use crate::config::ToolsConfig;
use crate::fit;
use crate::line;

const LIVE: &str = "Background jobs still live:";
const UNREAD: &str = "Finished, with output not read yet:";
const UNTOLD: &str = "Finished, not announced yet:";

/// Lists what is live, what has ended unread and what nobody has told.
/// Changes nothing: reads are looked at and dropped.
pub(crate) async fn digest(
    registry: &dyn JobRegistry,
    config: &ToolsConfig,
    caller: &Caller,
) -> Result<String, Error> {
    let mut live = Vec::new();
    let mut unread = Vec::new();
    let mut untold = Vec::new();
    for job in registry.list(caller).await? {
        if !job.is_terminal() {
            live.push(job);
        } else if !job.reported() {
            untold.push(job);
        } else if has_unread(registry, caller, &job).await? {
            unread.push(job);
        }
    }
    let cap = config.list_limit();
    let mut entries = Vec::new();
    for (heading, jobs) in [(LIVE, live), (UNREAD, unread), (UNTOLD, untold)] {
        let mut heading = Some(heading);
        entries.extend(jobs.iter().map(|job| {
            let id = job.id.to_string();
            let row = line::row(&id, job.kind().as_str(), job.status(), &job.label, cap);
            // With its first job, so that what is left out is counted in jobs.
            match heading.take() {
                Some(heading) => format!("{heading}\n{row}"),
                None => row,
            }
        }));
    }
    Ok(fit::fit_rows(entries, cap))
}

async fn has_unread(
    registry: &dyn JobRegistry,
    caller: &Caller,
    job: &Snapshot,
) -> Result<bool, Error> {
    match registry.read(&job.id, caller).await {
        Ok(receipt) => Ok(!receipt.text.is_empty()),
        Err(Error::ShutDown) => Err(Error::ShutDown),
        // Gone meanwhile, or its source fails: nothing that could be read.
        Err(_) => Ok(false),
    }
}
