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
///
/// A status line that would leave less than a quarter of the cap to the output
/// is left out: a read that goes on shows it too, and a page has to move on.
pub(super) async fn read(
    registry: &dyn JobRegistry,
    id: &JobId,
    caller: &Caller,
    from: u64,
    cap: Option<NonZeroUsize>,
) -> Result<Page, Error> {
    let Some(cap) = cap.map(NonZeroUsize::get) else {
        let delta = registry.observe(id, caller, from, None).await?;
        let text = assemble(&delta, Some(&status(&delta, None)), None);
        return Ok(Page { text, delta });
    };
    let mut max = cap;
    let mut status_fits = true;
    loop {
        let delta = registry.observe(id, caller, from, Some(max)).await?;
        let next = delta.range.end;
        let rest = registry.observe(id, caller, next, Some(1)).await?;
        let more = (!rest.range.is_empty()).then_some(next);
        let status = status_fits.then(|| status(&delta, Some(cap)));
        let text = assemble(&delta, status.as_deref(), more);
        if text.len() <= cap {
            return Ok(Page { text, delta });
        }
        // What is around the output, and how it is rendered, is known only
        // now: read as much less.
        let read = usize::try_from(next - delta.range.start).unwrap_or(usize::MAX);
        let left = max.min(read).saturating_sub(text.len() - cap);
        if status_fits && left < cap / 4 {
            status_fits = false;
            max = cap;
        } else if max.min(read) <= 1 {
            let text = text::tail(&text, cap).to_owned();
            return Ok(Page { text, delta });
        } else {
            max = left.max(1);
        }
    }
}

fn status(delta: &Delta, cap: Option<usize>) -> String {
    let room = cap.map(|cap| cap / 2);
    line::status_line(delta.job.status(), delta.job.detail(), room)
}

fn assemble(delta: &Delta, status: Option<&str>, more: Option<u64>) -> String {
    let mut page = String::new();
    if delta.dropped > 0 {
        page = format!("[{} bytes before are no longer kept]\n", delta.dropped);
    }
    let body = fit::body(&delta.text);
    page.push_str(body.strip_suffix('\n').unwrap_or(body));
    let more = more.map(|next| format!("[more: from={next}]"));
    for line in [status, more.as_deref()].into_iter().flatten() {
        page.push('\n');
        page.push_str(line);
    }
    page
}
