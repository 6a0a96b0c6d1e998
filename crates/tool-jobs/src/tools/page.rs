//! Reading again, page by page (spec/tools.md, `from`).
//!
//! A page keeps the head of what it reads and names where the next one begins,
//! so that a model which follows the last lines reads every byte.

use std::num::NonZeroUsize;

use jobs::{Caller, Delta, Error, JobId, JobRegistry, text};

use crate::fit;
use crate::line;

pub(super) struct Page {
    /// What the model reads.
    pub(super) text: String,
    pub(super) delta: Delta,
}

/// Reads one page from the absolute byte offset `from` on.
pub(super) async fn read(
    registry: &dyn JobRegistry,
    id: &JobId,
    caller: &Caller,
    from: u64,
    cap: Option<NonZeroUsize>,
) -> Result<Page, Error> {
    let Some(cap) = cap else {
        let delta = registry.observe(id, caller, from, None).await?;
        let text = assemble(&delta, &status(&delta, None), None);
        return Ok(Page { text, delta });
    };
    let mut max = cap.get();
    loop {
        let delta = registry.observe(id, caller, from, Some(max)).await?;
        let next = delta.range.end;
        let rest = registry.observe(id, caller, next, Some(1)).await?;
        let more = (!rest.range.is_empty()).then_some(next);
        let text = assemble(&delta, &status(&delta, Some(cap)), more);
        if text.len() <= cap.get() {
            return Ok(Page { text, delta });
        }
        // What is around the output, and how it is rendered, is known only
        // now: read as much less.
        let excess = text.len() - cap.get();
        let read = usize::try_from(next - delta.range.start).unwrap_or(usize::MAX);
        if max.min(read) <= 1 {
            let text = squeeze(&delta, more, cap);
            return Ok(Page { text, delta });
        }
        max = max.min(read).saturating_sub(excess).max(1);
    }
}

fn status(delta: &Delta, cap: Option<NonZeroUsize>) -> String {
    line::status_line(delta.job.status(), delta.job.detail(), cap)
}

fn assemble(delta: &Delta, status: &str, more: Option<u64>) -> String {
    let mut page = String::new();
    if delta.dropped > 0 {
        page = format!("[{} bytes before are no longer kept]\n", delta.dropped);
    }
    let body = fit::body(&delta.text);
    page.push_str(body.strip_suffix('\n').unwrap_or(body));
    page.push('\n');
    page.push_str(status);
    if let Some(next) = more {
        page.push('\n');
        page.push_str(&more_line(next));
    }
    page
}

fn more_line(next: u64) -> String {
    format!("[more: from={next}]")
}

/// A cap with no room for the status line beside any output: where to go on
/// counts more than how the job stands.
fn squeeze(delta: &Delta, more: Option<u64>, cap: NonZeroUsize) -> String {
    let body = fit::body(&delta.text);
    let body = body.strip_suffix('\n').unwrap_or(body);
    let page = match more {
        Some(next) => format!("{body}\n{}", more_line(next)),
        None => body.to_owned(),
    };
    text::tail(&page, cap.get()).to_owned()
}
